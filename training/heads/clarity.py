"""The clarity head: the mean of fluency and prosody as rated by the experts of speechocean762."""

from dataclasses import dataclass, replace

import numpy as np
import torch

from training.calibration.reference import CLARITY_TIMING
from training.corpora.corpus import Clip
from training.encoder.embeddings import EmbeddingStore
from training.heads.attention_head import AttentionHead
from training.heads.fit import FitParams, fit_attention
from training.settings import SEED

MAX_DEVIATIONS = 2  # of a timing measure: beyond them clarity does not change with it


@dataclass(frozen=True)
class TimingLine:
    """Clarity = slope * output of the heads + intercept + weights of bounded, standardised logarithms of timing measures."""

    slope: float
    intercept: float
    mean: np.ndarray  # [3]
    deviation: np.ndarray  # [3]
    weights: np.ndarray  # [3]

    def place(self, timing: np.ndarray) -> np.ndarray:
        """logarithms [n,3] -> [n,3]"""
        return np.clip((timing - self.mean) / self.deviation, -MAX_DEVIATIONS, MAX_DEVIATIONS)

    def predict(self, outputs: np.ndarray, timing: np.ndarray) -> np.ndarray:
        return np.clip(self.slope * outputs + self.intercept + self.place(timing) @ self.weights, 0, 1)

    def params(self) -> dict[str, dict[str, float]]:
        """Measure -> what the service reads"""
        rows = zip(CLARITY_TIMING, self.mean, self.deviation, self.weights)
        return {name: {"mean": round(float(m), 4), "deviation": round(float(d), 4), "weight": round(float(w), 5)} for name, m, d, w in rows}


def fit_timing(outputs: np.ndarray, timing: np.ndarray, truth: np.ndarray) -> TimingLine:
    """Outputs of heads [n], logarithms of timing measures [n,3] and ratings [n] of speakers that the heads were not fitted on"""
    line = TimingLine(1, 0, timing.mean(0), timing.std(0), np.zeros(timing.shape[1]))
    columns = np.c_[outputs, np.ones(len(outputs)), line.place(timing)]
    slope, intercept, *weights = np.linalg.lstsq(columns, truth, rcond=None)[0]
    return replace(line, slope=float(slope), intercept=float(intercept), weights=np.array(weights))


def targets_of(clips: list[Clip]) -> np.ndarray:
    """float32 [n] in [0, 1], NaN without a rating"""
    return np.array([np.nan if clip.clarity is None else clip.clarity for clip in clips], np.float32)


def fit(store: EmbeddingStore, targets: np.ndarray, windows: np.ndarray, count: int) -> list[AttentionHead]:
    """`count` networks, to be averaged."""
    mean = np.nanmean(targets[store.clips[windows]])
    std = np.nanstd(targets[store.clips[windows]])

    def loss(predicted: torch.Tensor, batch: np.ndarray) -> torch.Tensor:
        target = torch.from_numpy((targets[store.clips[batch]] - mean) / std)
        return ((predicted[:, 0] - target) ** 2).mean()

    params = FitParams(1, loss, epochs=6, peak_lr=1e-3, dropout=0.6, weight_decay=0.3)
    heads = [fit_attention(store, windows, params, SEED + i) for i in range(count)]
    with torch.no_grad():  # moves the standardisation of the target into the last layers
        for head in heads:
            for linear in (head.out, head.clip):
                linear.weight *= float(std)
                linear.bias *= float(std)
            head.out.bias += float(mean)
    return heads
