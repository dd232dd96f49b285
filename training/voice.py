"""What was taken for speech and is none: the third output of the activity model, fitted on its own frames.

Speech, also noisy and over music, against music, sounds and bursts of voice without words. One decision a recording:
the mean of the output over what the model takes for speech.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

import features
import lines
from activity import WIDTH, Activity
from augment import Noises, augment
from corpus import SEED, SPOKEN, read_clips
from sounds import held_out
from windows import find_segments

CLIPS_OF_A_CORPUS = 110
MOST_FRAMES, TOKEN_FRAMES = 100, 2
MOST_ROWS = 1000
STEPS, BATCH, RATE = 2000, 128, 4e-3
MIN_SPEECH = 50  # frames: with less of it a recording is never scored
FALSE_ALARMS = 0.02  # share of speech that the bound gives up
# What children, meetings and readers say must not be lost; a laugh or a cry is hardly a fault.
WEIGHT = {"speechocean762": 2.0, "AMI": 2.0, "LibriSpeech": 2.0, "BAVED": 2.0, "EmoGator": 0.4, "ESC10": 2.0, "music": 2.0}


class Examples:
    """Frames of the fixed net, [n,MOST_FRAMES,WIDTH], evenly picked from what it takes for speech."""

    def __init__(self, net: Activity):
        self.net, self.rows, self.used = net, [], []
        self.names, self.held, self.speech, self.heard = [], [], [], []
        self.copies = lines.rows_by_name()

    def add_both(self, source: str, place: int, name: str, held: bool, speech: bool, rows: np.ndarray) -> None:
        """As it is, and over a telephone where there is a copy."""
        self.add(name, held, speech, rows)
        if f"{source}-{place}" in self.copies:
            self.add(name, held, speech, self.copies[f"{source}-{place}"][:MOST_ROWS])

    def add(self, name: str, held: bool, speech: bool, rows: np.ndarray) -> None:
        with torch.no_grad():
            x = self.net.frames(torch.from_numpy(np.array(rows, np.float32))[None])
            probability = torch.sigmoid(self.net.head(x)[0, 0]).numpy()
        segments = find_segments(np.repeat(probability, TOKEN_FRAMES)[: len(rows)])
        inside = np.zeros(len(probability), bool)
        for start, end in segments:
            inside[start // TOKEN_FRAMES : -(-end // TOKEN_FRAMES)] = True
        places = np.flatnonzero(inside) if inside.sum() >= 10 else np.arange(len(inside))
        places = places[np.linspace(0, len(places) - 1, min(MOST_FRAMES, len(places))).astype(int)]
        frames, used = np.zeros((MOST_FRAMES, WIDTH), np.float32), np.zeros(MOST_FRAMES, np.float32)
        frames[: len(places)], used[: len(places)] = x[0].T.numpy()[places], 1
        self.rows.append(frames)
        self.used.append(used)
        self.names.append(name)
        self.held.append(held)
        self.speech.append(speech)
        self.heard.append(sum(end - start for start, end in segments) >= MIN_SPEECH)

    def stacked(self) -> dict[str, np.ndarray]:
        weight = [WEIGHT.get(n, 1.0) * (1 if h else 0.3) for n, h in zip(self.names, self.heard)]
        return {"rows": np.stack(self.rows), "used": np.stack(self.used), "name": np.array(self.names),
                "held": np.array(self.held), "speech": np.array(self.speech, np.float32),
                "heard": np.array(self.heard), "weight": np.array(weight, np.float32)}  # fmt: skip


def over_music(rows: np.ndarray, music: np.ndarray, decibels: float) -> np.ndarray:
    voice, other = 10.0**rows, 10.0 ** music[np.arange(len(rows)) % len(music)]
    loud = voice.sum(1)
    ratio = loud[loud > 0.1 * loud.mean()].mean() / other.sum(1).mean() * 10 ** (-decibels / 10)
    return np.log10(voice + ratio * other).astype(np.float32)


def read_examples(net: Activity) -> dict[str, np.ndarray]:
    rng, clips, source = np.random.default_rng(SEED), read_clips(), features.load("corpora")
    sounds, music, noises, found = features.load("sounds"), features.load("music"), Noises(), Examples(net)
    for name in SPOKEN:
        own = [clip for clip in clips if clip.corpus == name]
        for place in rng.permutation(len(own))[:CLIPS_OF_A_CORPUS]:
            clip, rows = own[place], np.array(source[own[place].index])[:MOST_ROWS]
            if len(rows) < 30:
                continue
            found.add_both("corpora", clip.index, name, clip.held_out, True, rows)
            found.add(name, clip.held_out, True, augment(rows, noises, rng))
            if rng.random() < 0.25:
                part = np.array(music[int(rng.integers(len(music)))])
                found.add(name, clip.held_out, True, over_music(rows, part, rng.uniform(3, 15)))
    for clip in clips:
        if clip.corpus == "ESC10" or (clip.corpus == "EmoGator" and clip.index % 3 == 0):
            found.add_both("corpora", clip.index, clip.corpus, clip.held_out, False, source[clip.index])
    for name, source in (("music", music), ("sounds", sounds)):
        for index, path in enumerate(source.paths):
            found.add_both(name, index, name, held_out(path), path.startswith("speech-"), source[index])
    return found.stacked()


def mean_over(head: nn.Module, rows: torch.Tensor, used: torch.Tensor) -> torch.Tensor:
    return (head(rows.transpose(1, 2))[:, 0] * used).sum(1) / used.sum(1)


def fit(net: Activity) -> tuple[float, dict[str, float]]:
    """Fits net.voice -> the bound on its mean, and shares measured on what was held out."""
    torch.manual_seed(SEED)
    rng, data = np.random.default_rng(SEED), read_examples(net)
    rows, used, speech, weight = (torch.from_numpy(data[name]) for name in ("rows", "used", "speech", "weight"))
    train = np.flatnonzero(~data["held"])
    inside = data["rows"][train][data["used"][train] > 0]
    centre, spread = torch.from_numpy(inside.mean(0)), torch.from_numpy(inside.std(0) + 0.05)
    scaled, head = (rows - centre) / spread, net.voice.train()
    optimiser = torch.optim.AdamW(head.parameters(), RATE, weight_decay=0.02)
    for step in range(STEPS):
        optimiser.param_groups[0]["lr"] = RATE * (0.5 + 0.5 * np.cos(np.pi * step / STEPS)) + 1e-5
        part = torch.from_numpy(rng.choice(train, BATCH))
        guess = mean_over(head, scaled[part], used[part])
        loss = F.binary_cross_entropy_with_logits(guess, speech[part], reduction="none")
        optimiser.zero_grad()
        (loss * weight[part]).mean().backward()
        optimiser.step()
    fold_scale(head[0], centre, spread)
    with torch.no_grad():
        found = torch.cat([mean_over(head, r, u) for r, u in zip(rows.split(500), used.split(500))]).numpy()
    bound = round(float(np.quantile(found[(data["speech"] > 0) & data["heard"]], FALSE_ALARMS)), 2)
    return bound, shares(data, found, bound)


def fold_scale(first: nn.Conv1d, centre: torch.Tensor, spread: torch.Tensor) -> None:
    with torch.no_grad():
        first.weight /= spread[None, :, None]
        first.bias -= first.weight[:, :, 0] @ centre


def shares(data: dict[str, np.ndarray], found: np.ndarray, bound: float) -> dict[str, float]:
    """Of held-out recordings: sounds that come as speech without a warning, and speech that is warned of."""
    result, held, passed = {}, data["held"], data["heard"] & (found >= bound)
    for name in ("ESC10", "EmoGator", "music"):
        result[f"unwarned_{name.lower()}"] = passed[held & (data["name"] == name)].mean()
    spoken = held & (data["speech"] > 0) & data["heard"]
    result["warned_speech"] = 1 - passed[spoken].mean()
    for name in ("speechocean762", "LibriSpeech"):
        result[f"warned_{name.lower()}"] = 1 - passed[spoken & (data["name"] == name)].mean()
    return {name: round(float(value), 4) for name, value in result.items()}
