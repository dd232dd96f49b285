"""Training data of the VAD model: recordings and generated sounds, plain and over telephone codecs, with their labels."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from training.augment import synthetic_music, synthetic_noise, telephone_codecs
from training.augment.mix import loud_power
from training.corpora.corpus import Clip
from training.corpora.index import read_clips
from training.features import log_mel
from training.vad import silero

ABOVE_FLOOR = 1.0  # log10 of power: some of BAVED's rooms hum
SYNTHETIC_SPEECH_WEIGHT = 3.0
MIN_FRAMES = 20


def relative_level(rows: np.ndarray) -> np.ndarray:
    """[T,80] -> log10 of each frame's power over the mean power of the loud frames."""
    power = (10.0**rows).sum(1)
    return np.log10(power) - np.log10(loud_power(power))


def correct_labels(clip: Clip, rows: np.ndarray, silero_labels: np.ndarray) -> np.ndarray:
    """Speech target [T]: Silero's probability. In studio recordings loud frames are speech and silent ones are not."""
    if not clip.definition.is_speech:
        return np.zeros(len(rows), np.float32)
    target = silero_labels.astype(np.float32)
    level = relative_level(rows)
    if clip.definition.studio:
        loud = level > max(-1.5, np.quantile(level, 0.1) + ABOVE_FLOOR)
        target = np.maximum(target, 0.95 * loud)
        target = target * (level > -3.2)
    return (target * (level > -4.5)).astype(np.float32)


@dataclass(frozen=True)
class LabelledRows:
    kind: str  # name of the corpus, or "sounds" or "music"
    rows: np.ndarray  # [T,80] log10 of mel energies
    target: np.ndarray  # [T] speech probability
    syllables: int | None


class Pool:
    """Recordings as they are, or all of them over a telephone."""

    def __init__(self) -> None:
        self.speech: list[LabelledRows] = []
        self.weights: list[float] = []  # of a draw of speech
        self.other: list[LabelledRows] = []

    def add(self, item: LabelledRows, weight: float | None) -> None:
        """`weight`: None for other sounds than speech."""
        if weight is None:
            self.other.append(item)
        else:
            self.speech.append(item)
            self.weights.append(weight)

    @cached_property
    def cumulative(self) -> np.ndarray:
        return np.cumsum(self.weights) / np.sum(self.weights)

    def draw(self, rng: np.random.Generator) -> LabelledRows:
        return self.speech[min(int(np.searchsorted(self.cumulative, rng.random())), len(self.speech) - 1)]


class VadDataset:
    """Everything that is held out, or everything that is not, in memory."""

    def __init__(self, held_out: bool):
        self.plain, self.telephone, self.copies = Pool(), Pool(), telephone_codecs.features_by_name()
        corpora, labels = log_mel.of_corpora(), silero.label_corpora()
        for clip in read_clips():
            rows = np.asarray(corpora[clip.index])
            if len(rows) >= MIN_FRAMES and clip.held_out == held_out and clip.corpus != "RIR":
                own = labels[corpora.offsets[clip.index] : corpora.offsets[clip.index + 1]]
                item = LabelledRows(clip.corpus, rows, correct_labels(clip, rows, own), clip.syllables)
                self.add(f"corpora-{clip.index}", item, clip.definition.sampling.vad if clip.definition.is_speech else None)
        for name, source in (("sounds", synthetic_noise), ("music", synthetic_music)):
            store = source.features()
            for index, path in enumerate(store.paths):
                if synthetic_noise.is_held_out(path) == held_out:
                    speech = path.startswith("speech-")
                    rows = np.asarray(store[index])
                    target = (speech & (relative_level(rows) > -3)).astype(np.float32)
                    item = LabelledRows(name, rows, target, None)
                    self.add(f"{name}-{index}", item, SYNTHETIC_SPEECH_WEIGHT if speech else None)

    def add(self, name: str, item: LabelledRows, weight: float | None) -> None:
        self.plain.add(item, weight)
        if name in self.copies:
            rows = self.copies[name][: len(item.rows)]
            self.telephone.add(replace(item, rows=rows, target=item.target[: len(rows)]), weight)
