"""What the activity model learns from: recordings and sounds, as they are and over telephone lines, with their labels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

import features
import lines
import sounds
from corpus import CACHE, SPOKEN, Clip, known_syllables, read_clips

STUDIO = {"RAVDESS", "TESS", "ASED", "BAVED", "TAVA", "SAVEE"}
ABOVE_FLOOR = 1.0  # log10 of power: some of BAVED's rooms hum
SHARE = {"TESS": 0.4, "nEMO": 0.5, "LibriSpeech": 6, "AMI": 40, "MFA": 6, "TAVA": 2, "speechocean762": 1.5,
         "BAVED": 2.5}


def relative_level(rows: np.ndarray) -> np.ndarray:
    power = (10.0**rows).sum(1)
    gate = power[power > 0.1 * power.mean()]
    return np.log10(power) - np.log10(gate.mean())


def target_of(clip: Clip, rows: np.ndarray, silero: np.ndarray) -> np.ndarray:
    """Silero's probability; in studio recordings loud frames are speech and silent ones are not."""
    if clip.corpus in ("EmoGator", "ESC10", "RIR"):
        return np.zeros(len(rows), np.float32)
    target = silero.astype(np.float32)
    level = relative_level(rows)
    if clip.corpus in STUDIO:
        loud = level > max(-1.5, np.quantile(level, 0.1) + ABOVE_FLOOR)
        target = np.maximum(target, 0.95 * loud)
        target = target * (level > -3.2)
    return (target * (level > -4.5)).astype(np.float32)


@dataclass(frozen=True)
class Item:
    kind: str  # corpus, or `sounds` or `music`
    rows: np.ndarray
    target: np.ndarray
    syllables: int | None


class Source:
    """Recordings as they are, or as a telephone line gave them."""

    def __init__(self) -> None:
        self.spoken: list[Item] = []
        self.other: list[Item] = []
        self.shares: list[float] = []

    def add(self, item: Item, share: float | None) -> None:
        """`share`: how often it is drawn, None for what is no speech."""
        if share is None:
            self.other.append(item)
            return
        self.spoken.append(item)
        self.shares.append(share)

    @cached_property
    def cumulative(self) -> np.ndarray:
        return np.cumsum(self.shares) / np.sum(self.shares)

    def draw(self, rng: np.random.Generator) -> Item:
        return self.spoken[min(int(np.searchsorted(self.cumulative, rng.random())), len(self.spoken) - 1)]


class Material:
    """Clips, targets and syllable counts held in memory, and mixtures drawn from them."""

    def __init__(self, held_out: bool):
        self.plain, self.line, self.copies = Source(), Source(), lines.rows_by_name()
        self.add_corpora(held_out)
        for name in ("sounds", "music"):
            source = features.load(name)
            for index, path in enumerate(source.paths):
                if sounds.held_out(path) == held_out:
                    speech = path.startswith("speech-")
                    rows = np.asarray(source[index])
                    target = (speech & (relative_level(rows) > -3)).astype(np.float32)
                    self.add(f"{name}-{index}", Item(name, rows, target, None), 3.0 if speech else None)

    def add_corpora(self, held_out: bool) -> None:
        corpora, silero = features.load("corpora"), np.load(CACHE / "corpora.speech.npy")
        for clip in read_clips():
            rows = np.asarray(corpora[clip.index])
            if len(rows) < 20 or clip.held_out != held_out or clip.corpus == "RIR":
                continue
            labels = silero[corpora.offsets[clip.index] : corpora.offsets[clip.index + 1]]
            item = Item(clip.corpus, rows, target_of(clip, rows, labels), known_syllables(clip))
            self.add(f"corpora-{clip.index}", item, SHARE.get(clip.corpus, 1.0) if clip.corpus in SPOKEN else None)

    def add(self, name: str, item: Item, share: float | None) -> None:
        self.plain.add(item, share)
        if name in self.copies:
            rows = self.copies[name][: len(item.rows)]
            self.line.add(replace(item, rows=rows, target=item.target[: len(rows)]), share)
