"""Training data of the VAD model: recordings and generated sounds, plain and over telephone codecs, with their labels."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from training.augment import synthetic_music, synthetic_noise, telephone_codecs
from training.augment.mix import gated_power
from training.corpora.corpus import Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.features.log_mel import of_corpora
from training.vad import silero

ABOVE_FLOOR = 1.0  # log10 of power: some of BAVED's rooms hum
SYNTHETIC_SPEECH_WEIGHT = 3.0
MIN_FRAMES = 20
FITTED = (Part.TRAIN, Part.CALIBRATION)  # parts of the weights; the dev part sets the threshold of the speech check


def is_fitted(clip: Clip) -> bool:
    return clip.part in FITTED and clip.corpus not in RECIPE.unseen


def relative_level(log_mel: np.ndarray) -> np.ndarray:
    """[T,80] -> log10 of each frame's power over the mean power of the loud frames."""
    power = (10.0**log_mel).sum(1)
    return np.log10(power) - np.log10(gated_power(power))


def correct_labels(clip: Clip, log_mel: np.ndarray, silero_labels: np.ndarray) -> np.ndarray:
    """Speech target [T]: Silero's probability. In studio recordings loud frames are speech and silent ones are not."""
    if not clip.definition.is_speech:
        return np.zeros(len(log_mel), np.float32)
    target = silero_labels.astype(np.float32)
    level = relative_level(log_mel)
    if clip.definition.studio:
        loud = level > max(-1.5, np.quantile(level, 0.1) + ABOVE_FLOOR)
        target = np.maximum(target, 0.95 * loud)
        target = target * (level > -3.2)
    return (target * (level > -4.5)).astype(np.float32)


@dataclass(frozen=True)
class LabelledClip:
    corpus: str  # name of the corpus, or "sounds" or "music"
    log_mel: np.ndarray  # [T,80] log10 of mel energies
    target: np.ndarray  # [T] speech probability
    syllables: int | None


class WeightedClips:
    """Clips, drawn in proportion to their weights."""

    def __init__(self) -> None:
        self.clips: list[LabelledClip] = []
        self.weights: list[float] = []

    def add(self, clip: LabelledClip, weight: float) -> None:
        self.clips.append(clip)
        self.weights.append(weight)

    @cached_property
    def cumulative(self) -> np.ndarray:
        return np.cumsum(self.weights) / np.sum(self.weights)

    def draw(self, rng: np.random.Generator) -> LabelledClip:
        return self.clips[min(int(np.searchsorted(self.cumulative, rng.random())), len(self.clips) - 1)]


class LabelledPool:
    """Labelled clips, either plain or as telephone copies."""

    def __init__(self) -> None:
        self.speech, self.other = WeightedClips(), WeightedClips()

    def add(self, clip: LabelledClip, speech: bool, weight: float) -> None:
        (self.speech if speech else self.other).add(clip, weight)


class VadDataset:
    """All clips that the weights are fitted on, or those of the test part, in memory."""

    def __init__(self, tested: bool):
        self.plain, self.telephone, self.copies = LabelledPool(), LabelledPool(), telephone_codecs.features_by_name()
        corpora, labels = of_corpora(), silero.label_corpora()
        for clip in read_clips():
            log_mel = np.asarray(corpora[clip.index])
            if len(log_mel) >= MIN_FRAMES and (clip.tested if tested else is_fitted(clip)) and clip.corpus != "RIR":
                own = labels[corpora.offsets[clip.index] : corpora.offsets[clip.index + 1]]
                item = LabelledClip(clip.corpus, log_mel, correct_labels(clip, log_mel, own), clip.syllables)
                self.add(f"corpora-{clip.index}", item, clip.definition.is_speech, clip.definition.sampling.vad)
        for name, source in (("sounds", synthetic_noise), ("music", synthetic_music)):
            store = source.features()
            for index, path in enumerate(store.paths):
                if synthetic_noise.is_held_out(path) == tested:
                    speech = path.startswith("speech-")
                    log_mel = np.asarray(store[index])
                    target = (speech & (relative_level(log_mel) > -3)).astype(np.float32)
                    item = LabelledClip(name, log_mel, target, None)
                    self.add(f"{name}-{index}", item, speech, SYNTHETIC_SPEECH_WEIGHT if speech else 1)

    def add(self, name: str, item: LabelledClip, speech: bool, weight: float) -> None:
        self.plain.add(item, speech, weight)
        if name in self.copies:
            log_mel = self.copies[name][: len(item.log_mel)]
            self.telephone.add(replace(item, log_mel=log_mel, target=item.target[: len(log_mel)]), speech, weight)
