"""Changes to log-mel frames that a microphone, a room, a codec or a telephone could have made."""

from __future__ import annotations

import numpy as np

import features
from corpus import read_clips
from trunk import BINS

TELEPHONE_LOW, TELEPHONE_HIGH = 8, 58  # first and last mel bins between 300 and 3400 Hz


class Noises:
    """ESC10 without its held-out fold, and the made noises."""

    def __init__(self):
        corpora, sounds = features.load("corpora"), features.load("sounds")
        self.rows = [
            np.array(corpora[c.index]) for c in read_clips() if c.corpus == "ESC10" and not c.held_out
        ]
        made = [i for i, path in enumerate(sounds.paths) if path.startswith("noise-")]
        self.rows += [np.array(sounds[i]) for i in made] * 3

    def draw(self, rng: np.random.Generator, frames: int) -> np.ndarray:
        rows = self.rows[rng.integers(len(self.rows))]
        start = rng.integers(0, len(rows))
        return rows[(start + np.arange(frames)) % len(rows)]


def curve(rng: np.random.Generator, spread: float) -> np.ndarray:
    points = rng.normal(0, spread, 5)
    return np.interp(np.arange(BINS), np.linspace(0, BINS - 1, 5), points)


def add_noise(power: np.ndarray, noises: Noises, rng: np.random.Generator) -> np.ndarray:
    noise = 10.0 ** (noises.draw(rng, len(power)) + curve(rng, 0.2))
    loud = power.sum(1)
    voice = loud[loud > 0.1 * loud.mean()].mean()
    return power + noise * (voice / noise.sum(1).mean()) * 10 ** -rng.uniform(0.5, 3)


def add_room(power: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A tail that falls by 60 dB in 0.2 to 0.8 s, a third of the energy at most."""
    fall = 10 ** (-6 / (100 * rng.uniform(0.2, 0.8)))
    tail, share = np.zeros(BINS), rng.uniform(0.03, 0.3) * (1 - fall)
    wet = power.copy()
    for frame in range(1, len(power)):
        tail = fall * tail + power[frame - 1]
        wet[frame] += share * tail
    return wet


def between(rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Rows at the places `at`, linearly between their neighbours."""
    low = at.astype(int)
    share = (at - low)[:, None]
    return rows[low] * (1 - share) + rows[np.minimum(low + 1, len(rows) - 1)] * share


def stretch(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Tempo by up to a tenth, timbre kept."""
    count = int(round(len(rows) * rng.uniform(0.9, 1.1)))
    return between(rows, np.linspace(0, len(rows) - 1, max(count, 2)))


def hertz_of(mel: np.ndarray) -> np.ndarray:
    """Slaney's scale, as the extractor has it: even up to 1 kHz, even ratios above."""
    return np.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((np.maximum(mel, 15) - 15) / 27))


CENTRES = hertz_of(np.linspace(0, 15 + 27 * np.log(8) / np.log(6.4), BINS + 2)[1:-1])


def warp(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another length of the vocal tract: all frequencies by up to a tenth up or down."""
    at = np.interp(CENTRES * rng.uniform(0.9, 1.1), CENTRES, np.arange(BINS))
    return between(rows.T, at).T


def augment(rows: np.ndarray, noises: Noises, rng: np.random.Generator) -> np.ndarray:
    """[T,80] raw log10 mel -> the same, changed."""
    power = 10.0 ** rows.astype(np.float64)
    if rng.random() < 0.3:
        power = add_room(power, rng)
    if rng.random() < 0.7:
        power = add_noise(power, noises, rng)
    changed = np.log10(power)
    if rng.random() < 0.8:
        changed = changed + curve(rng, 0.3)
    if rng.random() < 0.15:
        changed[:, :TELEPHONE_LOW] -= rng.uniform(1, 4)
        changed[:, TELEPHONE_HIGH:] -= rng.uniform(3, 7)
    elif rng.random() < 0.25:
        changed[:, rng.integers(60, BINS) :] -= rng.uniform(2, 6)  # a codec's band ends early
    return np.maximum(changed, -10).astype(np.float32)
