"""The third output of the VAD model: does a recording whose frames pass as speech contain speech? Fitted on the model's own frames.

Speech, also noisy and with music, against music, sounds and vocal bursts without words. One decision per recording:
the mean of the output over the frames that the model takes for speech.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training import settings
from training.augment import synthetic_music, synthetic_noise, telephone_codecs
from training.augment.log_mel import Noises, augment
from training.augment.mix import loud_power, mix_at_snr
from training.corpora.index import read_clips
from training.corpora.recipe import RECIPE
from training.corpora.registry import CORPORA
from training.features import log_mel
from training.features.windows import find_segments
from training.settings import SEED
from training.vad.model import WIDTH, VadNet

CLIPS_PER_CORPUS = 110
MAX_FRAMES, FRAMES_PER_ROW = 100, 2  # rows of the network kept per recording; input frames per row
MAX_INPUT_FRAMES = 1000
BATCH, RATE = 128, 4e-3
MIN_SPEECH_FRAMES = 50  # recordings with less speech are never scored
REJECTED_SPEECH = 0.02  # share of speech below the threshold
OTHER_WEIGHTS, UNSCORED_WEIGHT = {"music": 2.0, "sounds": 1.0}, 0.3


class Examples:
    """Rows of the frozen network, [n,MAX_FRAMES,WIDTH], picked evenly from the frames it takes for speech."""

    def __init__(self, net: VadNet):
        self.net, self.telephone = net, telephone_codecs.features_by_name()
        self.columns = {name: [] for name in ("rows", "used", "name", "held_out", "speech", "scored", "weight")}

    def add_both(self, copy: str, name: str, held_out: bool, speech: bool, rows: np.ndarray) -> None:
        """The recording, and its telephone copy if there is one."""
        self.add(name, held_out, speech, rows)
        if copy in self.telephone:
            self.add(name, held_out, speech, self.telephone[copy][:MAX_INPUT_FRAMES])

    def add(self, name: str, held_out: bool, speech: bool, rows: np.ndarray) -> None:
        with torch.no_grad():
            x = self.net.encode(torch.from_numpy(np.array(rows, np.float32))[None])
            probability = torch.sigmoid(self.net.head(x)[0, 0]).numpy()
        segments = find_segments(np.repeat(probability, FRAMES_PER_ROW)[: len(rows)])
        inside = np.zeros(len(probability), bool)
        for start, end in segments:
            inside[start // FRAMES_PER_ROW : -(-end // FRAMES_PER_ROW)] = True
        places = np.flatnonzero(inside) if inside.sum() >= 10 else np.arange(len(inside))
        places = places[np.linspace(0, len(places) - 1, min(MAX_FRAMES, len(places))).astype(int)]
        kept, used = np.zeros((MAX_FRAMES, WIDTH), np.float32), np.zeros(MAX_FRAMES, np.float32)
        kept[: len(places)], used[: len(places)] = x[0].T.numpy()[places], 1
        scored = sum(end - start for start, end in segments) >= MIN_SPEECH_FRAMES
        weight = CORPORA[name].sampling.speech_check if name in CORPORA else OTHER_WEIGHTS[name]
        row = (kept, used, name, held_out, np.float32(speech), scored, np.float32(weight * (1 if scored else UNSCORED_WEIGHT)))
        for column, value in zip(self.columns.values(), row):
            column.append(value)


def add_music(rows: np.ndarray, music: np.ndarray, snr_db: float) -> np.ndarray:
    """Both [T,80] log10; the music is repeated."""
    speech, other = 10.0**rows, 10.0 ** music[np.arange(len(rows)) % len(music)]
    return np.log10(mix_at_snr(speech, other, snr_db, loud_power(speech.sum(1)), other.sum(1).mean())).astype(np.float32)


def collect_examples(net: VadNet) -> dict[str, np.ndarray]:
    rng, clips, corpora = np.random.default_rng(SEED), read_clips(), log_mel.of_corpora()
    music, noises, found = synthetic_music.features(), Noises(), Examples(net)
    for name in RECIPE.speech:
        own = [clip for clip in clips if clip.corpus == name]
        for place in rng.permutation(len(own))[:CLIPS_PER_CORPUS]:
            clip, rows = own[place], np.array(corpora[own[place].index])[:MAX_INPUT_FRAMES]
            if len(rows) < 30:
                continue
            found.add_both(f"corpora-{clip.index}", name, clip.held_out, True, rows)
            found.add(name, clip.held_out, True, augment(rows, noises, rng))
            if rng.random() < 0.25:
                piece = np.array(music[int(rng.integers(len(music)))])
                found.add(name, clip.held_out, True, add_music(rows, piece, rng.uniform(3, 15)))
    for clip in clips:
        if clip.corpus == "ESC10" or (clip.corpus == "EmoGator" and clip.index % 3 == 0):
            found.add_both(f"corpora-{clip.index}", clip.corpus, clip.held_out, False, corpora[clip.index])
    for name, store in (("music", music), ("sounds", synthetic_noise.features())):
        for index, path in enumerate(store.paths):
            held_out = synthetic_noise.is_held_out(path)
            found.add_both(f"{name}-{index}", name, held_out, path.startswith("speech-"), store[index])
    return {name: np.array(column) for name, column in found.columns.items()}


def masked_mean(head: nn.Module, rows: torch.Tensor, used: torch.Tensor) -> torch.Tensor:
    """rows [B,N,WIDTH], used [B,N] -> mean output [B]"""
    return (head(rows.transpose(1, 2))[:, 0] * used).sum(1) / used.sum(1)


def fit(net: VadNet) -> tuple[float, dict[str, float]]:
    """Fits net.speech_check -> threshold of the mean output, metrics on what was held out."""
    torch.manual_seed(SEED)
    rng, data = np.random.default_rng(SEED), collect_examples(net)
    rows, used, speech, weight = (torch.from_numpy(data[name]) for name in ("rows", "used", "speech", "weight"))
    train = np.flatnonzero(~data["held_out"])
    inside = data["rows"][train][data["used"][train] > 0]
    centre, spread = torch.from_numpy(inside.mean(0)), torch.from_numpy(inside.std(0) + 0.05)
    scaled, head = (rows - centre) / spread, net.speech_check.train()
    optimizer, steps = torch.optim.AdamW(head.parameters(), RATE, weight_decay=0.02), settings.SIZES.speech_check_steps
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = RATE * (0.5 + 0.5 * np.cos(np.pi * step / steps)) + 1e-5
        part = torch.from_numpy(rng.choice(train, BATCH))
        loss = F.binary_cross_entropy_with_logits(masked_mean(head, scaled[part], used[part]), speech[part], reduction="none")
        optimizer.zero_grad()
        (loss * weight[part]).mean().backward()
        optimizer.step()
    with torch.no_grad():  # moves the standardisation into the first layer
        head[0].weight /= spread[None, :, None]
        head[0].bias -= head[0].weight[:, :, 0] @ centre
        means = torch.cat([masked_mean(head, r, u) for r, u in zip(rows.split(500), used.split(500))]).numpy()
    threshold = round(float(np.quantile(means[(data["speech"] > 0) & data["scored"]], REJECTED_SPEECH)), 2)
    return threshold, measure(data, means, threshold)


def measure(data: dict[str, np.ndarray], means: np.ndarray, threshold: float) -> dict[str, float]:
    """Of held-out recordings: sounds that pass as speech without a warning, and speech that gets one."""
    result, held_out, passed = {}, data["held_out"], data["scored"] & (means >= threshold)
    for name in ("ESC10", "EmoGator", "music"):
        result[f"unwarned_{name.lower()}"] = passed[held_out & (data["name"] == name)].mean()
    spoken = held_out & (data["speech"] > 0) & data["scored"]
    result["warned_speech"] = 1 - passed[spoken].mean()
    for name in ("speechocean762", "LibriSpeech"):
        result[f"warned_{name.lower()}"] = 1 - passed[spoken & (data["name"] == name)].mean()
    return {name: round(float(value), 4) for name, value in result.items()}
