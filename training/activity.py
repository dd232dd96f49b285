"""Speech activity and syllable rate: a small dilated convolutional net over the log-mel frames.

Teacher of the speech output: Silero VAD on the clean recordings. Syllables: known texts. A third output, fitted
afterwards on the same frames (voice.py), tells what is speech from what was only taken for it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from corpus import SEED, SPOKEN
from graph import Graph, level_normalised
from material import Item, Material, Source
from trunk import BINS, FLOOR, OFFSET, normalise

WIDTH, VOICE_WIDTH = 48, 64
DILATIONS = [1, 2, 4, 8, 16, 32]
KERNEL = 5
SHAPES = ((600, 24), (200, 48))  # frames of an example, examples of a batch; words alone are short
LINE_SHARE = 0.25  # of the examples come over a telephone
LINE_BINS = 60  # mel bins below 4 kHz
NOISES = (20, 10, 5)  # dB of speech over noise at which it is judged
MAX_RATE = 12.0  # syllables a second


class Activity(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(BINS, WIDTH, 5, stride=2, padding=2)
        self.depthwise = nn.ModuleList(
            nn.Conv1d(WIDTH, WIDTH, KERNEL, padding=(KERNEL // 2) * d, dilation=d, groups=WIDTH)
            for d in DILATIONS
        )
        self.pointwise = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 1) for _ in DILATIONS)
        self.head = nn.Conv1d(WIDTH, 2, 1)
        self.voice = nn.Sequential(nn.Conv1d(WIDTH, VOICE_WIDTH, 1), nn.ReLU(), nn.Conv1d(VOICE_WIDTH, 1, 1))

    def frames(self, features: torch.Tensor) -> torch.Tensor:
        """[B,T,80] raw log10 mel -> [B,WIDTH,T/2]."""
        x = F.relu(self.stem(normalise(features).transpose(1, 2)))
        for depthwise, pointwise in zip(self.depthwise, self.pointwise):
            x = x + F.relu(pointwise(depthwise(x)))
        return x

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """[B,T,80] raw log10 mel -> speech logits [B,T], syllables a second [B,T]."""
        y = self.head(self.frames(features)).repeat_interleave(2, 2)[:, :, : features.shape[1]]
        return y[:, 0], MAX_RATE * torch.sigmoid(y[:, 1])


def write_activity(net: Activity, path: str) -> None:
    g = Graph("activity")
    x = level_normalised(g, g.input("features", [1, "frames", BINS]), OFFSET, FLOOR)
    length = g.op("Shape", "features", start=1, end=2)
    x = g.op("Transpose", x, perm=[0, 2, 1])
    x = g.op("Relu", write_conv(g, x, net.stem))
    for depthwise, pointwise in zip(net.depthwise, net.pointwise):
        x = g.op("Add", x, g.op("Relu", write_conv(g, write_conv(g, x, depthwise), pointwise)))
    voice = write_conv(g, g.op("Relu", write_conv(g, x, net.voice[0])), net.voice[2])
    y = g.op("Concat", write_conv(g, x, net.head), voice, axis=1)
    y = g.op("Unsqueeze", y, g.constant(np.array([3], np.int64)))
    twice = g.op("Expand", y, g.constant(np.array([1, 1, 1, 2], np.int64)))
    flat = g.op("Reshape", twice, g.constant(np.array([1, 3, -1], np.int64)))
    start, axis = g.constant(np.array([0], np.int64)), g.constant(np.array([2], np.int64))
    logits = g.op("Slice", flat, start, length, axis)
    one = g.constant(np.array([1], np.int64))
    speech, rate, voice = (g.op("Squeeze", part, one) for part in g.op("Split", logits, axis=1, num_outputs=3, outputs=3))
    g.output(g.op("Sigmoid", speech), "speech", [1, "frames"])
    g.output(g.op("Mul", g.op("Sigmoid", rate), g.constant(np.float32(MAX_RATE))), "syllable_rate", [1, "frames"])
    g.output(voice, "voice", [1, "frames"])
    g.save(path)


def write_conv(g: Graph, x: str, conv: nn.Conv1d) -> str:
    pad = conv.padding[0]
    return g.op(
        "Conv", x, g.constant(conv.weight.detach().numpy()), g.constant(conv.bias.detach().numpy()),
        kernel_shape=list(conv.kernel_size), pads=[pad, pad], strides=list(conv.stride),
        dilations=list(conv.dilation), group=conv.groups,
    )  # fmt: skip


def smooth_curve(rng: np.random.Generator, spread: float) -> np.ndarray:
    points = rng.normal(0, spread, 6)
    return np.interp(np.arange(BINS), np.linspace(0, BINS - 1, 6), points).astype(np.float32)


def noise_rows(source: Source, rng: np.random.Generator, frames: int) -> np.ndarray:
    rows = []
    count = 0
    while count < frames:
        part = source.other[rng.integers(len(source.other))].rows
        rows.append(part)
        count += len(part)
    joined = np.concatenate(rows)
    start = rng.integers(0, count - frames + 1)
    return joined[start : start + frames] + smooth_curve(rng, 0.3)


def lay_speech(source: Source, rng: np.random.Generator, rows: np.ndarray, target: np.ndarray):
    """Clips one after the other, some with gaps; returns [(start, end, syllables)] of whole known ones."""
    counts, frames = [], len(rows)
    at = int(rng.integers(0, frames // 4)) if rng.random() < 0.6 else 0
    while at < frames - 60:
        item = source.draw(rng)
        start = int(rng.integers(0, max(1, len(item.rows) - frames)))
        part = item.rows[start : start + frames - at]
        shift = rng.normal(0, 0.3) + smooth_curve(rng, 0.25)
        end = at + len(part)
        rows[at:end] = np.maximum(part + shift, -10)
        target[at:end] = item.target[start : start + len(part)]
        if item.syllables is not None and len(part) == len(item.rows):
            counts.append((at, end, item.syllables))
        at = end + (int(rng.integers(0, 250)) if rng.random() < 0.5 else 0)
    return counts


def mixture(material: Material, rng: np.random.Generator, frames: int):
    """(features, speech target, [(start, end, syllables)]) of one training example."""
    rows = np.full((frames, BINS), -10.0, np.float32)
    target = np.zeros(frames, np.float32)
    over_line = rng.random() < LINE_SHARE
    source = material.line if over_line else material.plain
    spoken = rng.random() > 0.22
    counts = lay_speech(source, rng, rows, target) if spoken else []
    if not spoken or rng.random() < 0.55:
        noise = noise_rows(source, rng, frames)
        level = np.log10((10.0**noise).sum(1).mean())
        voice = np.log10((10.0 ** rows[target > 0.5]).sum(1).mean()) if (target > 0.5).any() else level
        ratio = rng.uniform(0, 3.5) if spoken else 0
        rows = np.log10(10.0**rows + 10.0 ** (noise - level + voice - ratio))
    elif rng.random() < 0.7:
        hiss = rng.uniform(-9, -4) + 0.25 * rng.standard_normal((frames, BINS)) + smooth_curve(rng, 0.5)
        heard = LINE_BINS if over_line else BINS
        rows[:, :heard] = np.log10(10.0 ** rows[:, :heard] + 10.0 ** hiss[:, :heard])
    return np.maximum(rows + rng.normal(0, 0.6), -10).astype(np.float32), target, counts


def train(steps: int, peak: float = 3e-3) -> Activity:
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    material = Material(held_out=False)
    net = Activity()
    optimiser = torch.optim.AdamW(net.parameters(), peak, weight_decay=1e-3)
    for step in range(steps):
        frames, batch = SHAPES[step % len(SHAPES)]
        optimiser.param_groups[0]["lr"] = peak * (0.5 + 0.5 * np.cos(np.pi * step / steps)) + 1e-5
        examples = [mixture(material, rng, frames) for _ in range(batch)]
        x = torch.from_numpy(np.stack([e[0] for e in examples]))
        y = torch.from_numpy(np.stack([e[1] for e in examples]))
        logits, rate = net(x)
        loss = F.binary_cross_entropy_with_logits(logits, y)
        errors = [
            abs((rate[i, a:b] * (y[i, a:b] > 0.5)).sum() / 100 - count) / count
            for i, e in enumerate(examples)
            for a, b, count in e[2]
        ]
        if errors:
            loss = loss + 0.3 * torch.stack(errors).mean() + 0.002 * rate.diff(dim=1).abs().mean()
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        if step % 50 == 0:
            print(f"step {step} of {steps}, loss {loss.item():.4f}", flush=True)
    return net.eval()


def f1(speech: np.ndarray, target: np.ndarray) -> float:
    hit = (speech & target).sum()
    return float(2 * hit / (speech.sum() + target.sum()))


def hear(net: Activity, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with torch.no_grad():
        logits, rate = net(torch.from_numpy(np.array(rows, np.float32))[None])
    return torch.sigmoid(logits)[0].numpy() > 0.5, rate[0].numpy()


def report(net: Activity) -> dict[str, float]:
    """Held-out speakers: frame F1 against the teacher's labels, clean and in noise, and counted syllables."""
    material, rng = Material(held_out=True), np.random.default_rng(3)
    known = [item for item in material.plain.spoken if item.kind in SPOKEN]
    result = {"frame_f1_clean": f1_of(net, known)}
    for decibels in NOISES:
        noisy = [replace(item, rows=beside_noise(material.plain, rng, item.rows, decibels)) for item in known]
        result[f"frame_f1_noise_{decibels}_db"] = f1_of(net, noisy)
    result["frame_f1_telephone"] = f1_of(net, [item for item in material.line.spoken if item.kind in SPOKEN])
    made = [f1_of(net, [item]) for item in material.plain.spoken if item.kind == "sounds"]
    result["frame_f1_synthetic_speech"] = float(np.mean(made))
    counted = [(hear(net, item.rows), item.syllables) for item in known if item.syllables is not None]
    said, wanted = np.array([(rate[speech].sum() / 100, count) for (speech, rate), count in counted]).T
    result["syllable_count_correlation"] = float(np.corrcoef(said, wanted)[0, 1])
    result["syllable_count_relative_error"] = float(np.mean(np.abs(said - wanted) / wanted))
    false: dict[str, list[float]] = {}
    for item in material.plain.other:
        false.setdefault(item.kind, []).append(hear(net, item.rows)[0].mean())
    for kind, shares in false.items():
        result[f"false_speech_{kind.lower()}"] = float(np.mean(shares))
    return {name: round(value, 4) for name, value in result.items()}


def f1_of(net: Activity, items: list[Item]) -> float:
    heard = np.concatenate([hear(net, item.rows)[0] for item in items])
    return f1(heard, np.concatenate([item.target > 0.5 for item in items]))


def beside_noise(source: Source, rng: np.random.Generator, rows: np.ndarray, decibels: float) -> np.ndarray:
    noise = noise_rows(source, rng, len(rows))
    voice, level = (np.log10((10.0**part).sum(1).mean()) for part in (rows, noise))
    return np.log10(10.0**rows + 10.0 ** (noise - level + voice - decibels / 10))
