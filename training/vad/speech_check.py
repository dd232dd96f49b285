"""The third output of the VAD model: does a recording whose frames pass as speech contain speech? Fitted on the model's own frames.

Speech, also noisy and with music, against music, sounds and vocal bursts without words. One decision per recording:
the mean of the output over the frames that the model takes for speech.
"""

from dataclasses import dataclass, fields

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training import settings
from training.augment import synthetic_music, synthetic_noise, telephone_codecs
from training.augment.mix import gated_power, mix_at_snr
from training.augment.spectral import Noises, augment_log_mel
from training.corpora.corpus import Part
from training.corpora.recipe import SOLD
from training.corpora.registry import CORPORA, sold_clips
from training.features import log_mel
from training.features.windows import find_segments
from training.settings import SEED
from training.vad.dataset import FITTED
from training.vad.model import WIDTH, VadNet
from training.vad.train import cosine_lr

CLIPS_PER_CORPUS = 110
MAX_FRAMES, FRAMES_PER_OUTPUT = 100, 2  # outputs of the network kept per recording; input frames per output
MAX_INPUT_FRAMES = 1000
BATCH, PEAK_LR = 128, 4e-3
MIN_SPEECH_FRAMES = 50  # recordings with less speech are never scored
REJECTED_SPEECH = 0.02  # share of speech below the threshold
OTHER_WEIGHTS, UNSCORED_WEIGHT = {"music": 2.0, "sounds": 1.0, "sweeps": 1.0}, 0.3


@dataclass(frozen=True)
class Example:
    """One recording, or many with a first dimension [n]."""

    encoded: np.ndarray  # float32 [MAX_FRAMES,WIDTH] of the frozen network, picked evenly from the frames it takes for speech
    mask: np.ndarray  # float32 [MAX_FRAMES], 0 for padding
    corpus: np.ndarray  # name of the corpus, or "sounds", "sweeps" or "music"
    part: np.ndarray  # one of Part; generated sounds are in train or test
    speech: np.ndarray  # float32, 1 for speech
    scored: np.ndarray  # bool: whether it has enough speech frames for scores
    weight: np.ndarray  # float32, in the loss


class SpeechCheckDataset:
    def __init__(self, net: VadNet):
        self.net, self.telephone, self.examples = net, telephone_codecs.features_by_name(), []

    def add_both(self, telephone_key: str, corpus: str, part: Part, speech: bool, log_mel: np.ndarray) -> None:
        """The recording, and its telephone copy if there is one."""
        self.add(corpus, part, speech, log_mel)
        if telephone_key in self.telephone:
            self.add(corpus, part, speech, self.telephone[telephone_key][:MAX_INPUT_FRAMES])

    def add(self, corpus: str, part: Part, speech: bool, log_mel: np.ndarray) -> None:
        with torch.no_grad():
            x = self.net.encode(torch.from_numpy(np.array(log_mel, np.float32))[None])
            probability = torch.sigmoid(self.net.head(x)[0, 0]).numpy()
        segments = find_segments(np.repeat(probability, FRAMES_PER_OUTPUT)[: len(log_mel)])
        inside = np.zeros(len(probability), bool)
        for start, end in segments:
            inside[start // FRAMES_PER_OUTPUT : -(-end // FRAMES_PER_OUTPUT)] = True
        places = np.flatnonzero(inside) if inside.sum() >= 10 else np.arange(len(inside))
        places = places[np.linspace(0, len(places) - 1, min(MAX_FRAMES, len(places))).astype(int)]
        encoded, mask = np.zeros((MAX_FRAMES, WIDTH), np.float32), np.zeros(MAX_FRAMES, np.float32)
        encoded[: len(places)], mask[: len(places)] = x[0].T.numpy()[places], 1
        scored = sum(end - start for start, end in segments) >= MIN_SPEECH_FRAMES
        weight = CORPORA[corpus].sampling.speech_check if corpus in CORPORA else OTHER_WEIGHTS[corpus]
        weight = np.float32(weight * (1 if scored else UNSCORED_WEIGHT))
        self.examples.append(Example(encoded, mask, corpus, part, np.float32(speech), scored, weight))

    def stacked(self) -> Example:
        return Example(*(np.array([getattr(one, field.name) for one in self.examples]) for field in fields(Example)))


def add_music(log_mel: np.ndarray, music: np.ndarray, snr_db: float) -> np.ndarray:
    """Both [T,80] log10; the music is repeated."""
    speech, other = 10.0**log_mel, 10.0 ** music[np.arange(len(log_mel)) % len(music)]
    return np.log10(mix_at_snr(speech, other, snr_db, gated_power(speech.sum(1)), other.sum(1).mean())).astype(np.float32)


def collect_examples(net: VadNet) -> Example:
    rng, clips, features = np.random.default_rng(SEED), sold_clips(), log_mel.of_corpora()
    music, noises, dataset = synthetic_music.features(), Noises(), SpeechCheckDataset(net)
    for name in SOLD.speech:
        own = [clip for clip in clips if clip.corpus == name]
        for place in rng.permutation(len(own))[:CLIPS_PER_CORPUS]:
            clip, frames = own[place], np.array(features[own[place].index])[:MAX_INPUT_FRAMES]
            if len(frames) < 30:
                continue
            dataset.add_both(f"corpora-{clip.index}", name, clip.part, True, frames)
            dataset.add(name, clip.part, True, augment_log_mel(frames, noises, rng))
            if rng.random() < 0.25:
                piece = np.array(music[int(rng.integers(len(music)))])
                dataset.add(name, clip.part, True, add_music(frames, piece, rng.uniform(3, 15)))
    for clip in clips:
        if clip.corpus == "ESC10" or (clip.corpus == "EmoGator" and clip.index % 3 == 0):
            dataset.add_both(f"corpora-{clip.index}", clip.corpus, clip.part, False, features[clip.index])
    for name, store in (("music", music), ("sounds", synthetic_noise.features())):
        for index, path in enumerate(store.paths):
            part = Part.TEST if synthetic_noise.is_held_out(path) else Part.TRAIN
            corpus = "sweeps" if path.startswith("sweeps-") else name
            dataset.add_both(f"{name}-{index}", corpus, part, path.startswith("speech-"), store[index])
    return dataset.stacked()


def masked_mean(head: nn.Module, encoded: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """encoded [B,N,WIDTH], mask [B,N] -> mean output [B]"""
    return (head(encoded.transpose(1, 2))[:, 0] * mask).sum(1) / mask.sum(1)


def fit(net: VadNet) -> tuple[float, dict[str, float]]:
    """Fits net.speech_check -> threshold of the mean output, which the dev part sets; metrics on the test part."""
    torch.manual_seed(SEED)
    rng, data = np.random.default_rng(SEED), collect_examples(net)
    train = np.flatnonzero(np.isin(data.part, FITTED))
    inside = data.encoded[train][data.mask[train] > 0]
    mean, std = torch.from_numpy(inside.mean(0)), torch.from_numpy(inside.std(0) + 0.05)
    train_check(net.speech_check.train(), data, train, mean, std, rng)
    fold_standardisation(net.speech_check[0], mean, std)
    outputs = mean_outputs(net.speech_check, data)
    spoken = (data.part == Part.DEV) & (data.speech > 0) & data.scored
    threshold = round(float(np.quantile(outputs[spoken], REJECTED_SPEECH)), 2)
    return threshold, measure_speech_check(data, outputs, threshold)


def train_check(
    head: nn.Module, data: Example, train: np.ndarray, mean: torch.Tensor, std: torch.Tensor, rng: np.random.Generator
) -> None:
    """`train`: indices of the examples to draw from; mean, std [WIDTH]: of their frames."""
    encoded, mask, speech, weight = map(torch.from_numpy, (data.encoded, data.mask, data.speech, data.weight))
    scaled = (encoded - mean) / std
    optimizer, steps = torch.optim.AdamW(head.parameters(), PEAK_LR, weight_decay=0.02), settings.SIZES.speech_check_steps
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = cosine_lr(PEAK_LR, step, steps)
        batch = torch.from_numpy(rng.choice(train, BATCH))
        loss = F.binary_cross_entropy_with_logits(masked_mean(head, scaled[batch], mask[batch]), speech[batch], reduction="none")
        optimizer.zero_grad()
        (loss * weight[batch]).mean().backward()
        optimizer.step()


def fold_standardisation(layer: nn.Conv1d, mean: torch.Tensor, std: torch.Tensor) -> None:
    """Moves the standardisation of its input into the layer."""
    with torch.no_grad():
        layer.weight /= std[None, :, None]
        layer.bias -= layer.weight[:, :, 0] @ mean


def mean_outputs(head: nn.Module, data: Example) -> np.ndarray:
    """[n]"""
    encoded, mask = torch.from_numpy(data.encoded), torch.from_numpy(data.mask)
    with torch.no_grad():
        return torch.cat([masked_mean(head, x, m) for x, m in zip(encoded.split(500), mask.split(500))]).numpy()


def measure_speech_check(data: Example, outputs: np.ndarray, threshold: float) -> dict[str, float]:
    """Shares of recordings of the test part: sounds that pass as speech without a warning, and speech that gets one."""
    result, passed, tested = {}, data.scored & (outputs >= threshold), data.part == Part.TEST
    for name in ("ESC10", "EmoGator", "music", "sweeps"):
        result[f"unwarned_{name.lower()}"] = passed[tested & (data.corpus == name)].mean()
    spoken = tested & (data.speech > 0) & data.scored
    result["warned_speech"] = 1 - passed[spoken].mean()
    for name in ("speechocean762", "LibriSpeech"):
        result[f"warned_{name.lower()}"] = 1 - passed[spoken & (data.corpus == name)].mean()
    return {name: round(float(value), 4) for name, value in result.items()}
