"""The clarity head: the mean of fluency and prosody as rated by the experts of speechocean762, linear in mean and deviation of the embeddings of a
recording, and in timing measures."""

from dataclasses import dataclass

import numpy as np

from training.calibration.reference import CLARITY_TIMING
from training.corpora.corpus import Clip
from training.encoder.embeddings import Utterances
from training.heads.linear import Linear, fit_ridge

DECAY = 1.0
MAX_DEVIATIONS = 2  # of a timing measure: beyond them clarity does not change with it


@dataclass(frozen=True)
class Timing:
    """Bounded, standardised logarithms of timing measures."""

    mean: np.ndarray  # [3]
    deviation: np.ndarray  # [3]

    def place(self, timing: np.ndarray) -> np.ndarray:
        """logarithms [n,3] -> [n,3]"""
        return np.clip((timing - self.mean) / self.deviation, -MAX_DEVIATIONS, MAX_DEVIATIONS)


@dataclass(frozen=True)
class ClarityHead:
    linear: Linear  # of mean and deviation
    timing: Timing
    weights: np.ndarray  # [3] of the timing measures

    def predict(self, moments: np.ndarray, timing: np.ndarray) -> np.ndarray:
        """[n, 2 * width], logarithms [n,3] -> [n], in [0, 1] as the service bounds it"""
        return np.clip(np.clip(self.linear(moments)[:, 0], 0, 1) + self.timing.place(timing) @ self.weights, 0, 1)

    def params(self) -> dict[str, dict[str, float]]:
        """Measure -> what the service reads"""
        rows = zip(CLARITY_TIMING, self.timing.mean, self.timing.deviation, self.weights)
        return {name: {"mean": round(float(m), 4), "deviation": round(float(d), 4), "weight": round(float(w), 5)} for name, m, d, w in rows}


def targets_of(clips: list[Clip]) -> np.ndarray:
    """float32 [n] in [0, 1], NaN without a rating"""
    return np.array([np.nan if clip.clarity is None else clip.clarity for clip in clips], np.float32)


def moments_of(recordings: Utterances) -> np.ndarray:
    """[n, 2 * width]"""
    return np.concatenate([recordings.means, recordings.deviations], 1)


def fit(moments: np.ndarray, timing: np.ndarray, truth: np.ndarray) -> ClarityHead:
    """moments [n, 2 * width], logarithms of timing measures [n,3] and ratings [n]"""
    measures = Timing(timing.mean(0), timing.std(0))
    columns = np.concatenate([moments, measures.place(timing)], 1)
    found = fit_ridge(columns.astype(np.float32), truth[:, None], np.full((len(truth), 1), 1 / len(truth), np.float32), DECAY)
    width = moments.shape[1]
    return ClarityHead(Linear(found.weight[:width], found.bias), measures, found.weight[width:, 0])
