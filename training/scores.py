"""Figures of merit, with bootstrap intervals over speakers.

Each is a function of sums over clips, so that a draw of speakers is a product of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

BINS = 10
ROUNDS = 1000


@dataclass(frozen=True)
class Score:
    """`rows` makes [clips, k] of truth and guess; `of` makes values [...] of sums of rows [..., k]."""

    name: str
    rows: Callable[[np.ndarray, np.ndarray], np.ndarray]
    of: Callable[[np.ndarray], np.ndarray]

    def __call__(self, truth: np.ndarray, guess: np.ndarray) -> float:
        return float(self.of(self.rows(np.asarray(truth), np.asarray(guess)).sum(0)))


def recall_rows(truth: np.ndarray, guess: np.ndarray) -> np.ndarray:
    """Of each label: clips that have it, and those heard as it."""
    said = (truth[:, None] == np.unique(truth)).astype(float)
    return np.concatenate([said, said * (guess == truth)[:, None]], 1)


def mean_recall(sums: np.ndarray) -> np.ndarray:
    said, heard = np.split(sums, 2, axis=-1)
    with np.errstate(invalid="ignore"):
        return np.nanmean(heard / said, axis=-1)


def moment_rows(truth: np.ndarray, guess: np.ndarray) -> np.ndarray:
    x, y = truth.astype(float), guess.astype(float)
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], 1)


def moments(sums: np.ndarray) -> tuple[np.ndarray, ...]:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    x, y = x / n, y / n
    return x, y, xx / n - x * x, yy / n - y * y, xy / n - x * y


def concordance(sums: np.ndarray) -> np.ndarray:
    x, y, xx, yy, xy = moments(sums)
    return 2 * xy / (xx + yy + (x - y) ** 2)


def correlation(sums: np.ndarray) -> np.ndarray:
    _, _, xx, yy, xy = moments(sums)
    return xy / np.sqrt(xx * yy)


def bin_rows(right: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Of each tenth of the confidence: clips, their confidence, how many were right."""
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    inside = np.eye(BINS)[place]
    return np.concatenate([inside, inside * confidence[:, None], inside * right[:, None]], 1)


def calibration_error(sums: np.ndarray) -> np.ndarray:
    count, confidence, right = np.split(sums, 3, axis=-1)
    return np.abs(confidence - right).sum(-1) / count.sum(-1)


uar = Score("UAR", recall_rows, mean_recall)
ccc = Score("CCC", moment_rows, concordance)
pcc = Score("PCC", moment_rows, correlation)
ece = Score("ECE", bin_rows, calibration_error)
error = Score("mean error", lambda truth, guess: np.stack([truth, np.abs(guess - truth)], 1),
              lambda sums: sums[..., 1] / sums[..., 0])  # fmt: skip
share = Score("share", lambda truth, guess: np.stack([np.ones(len(truth)), truth == guess], 1),
              lambda sums: sums[..., 1] / sums[..., 0])  # fmt: skip


def interval(score: Score, truth, guess, speakers, rounds: int = ROUNDS) -> list[float]:
    """95 % bootstrap interval, speakers drawn with replacement; of one speaker, clips."""
    names, owner = np.unique(np.asarray(speakers), return_inverse=True)
    if len(names) == 1:
        owner = np.arange(len(owner))
    rows = score.rows(np.asarray(truth), np.asarray(guess))
    sums = np.zeros((owner.max() + 1, rows.shape[1]))
    np.add.at(sums, owner, rows)
    rng = np.random.default_rng(1)
    draws = rng.multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=rounds)
    with np.errstate(invalid="ignore", divide="ignore"):
        values = score.of(draws @ sums)
    return [round(float(v), 3) for v in np.quantile(values[np.isfinite(values)], [0.025, 0.975])]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def softmax(z: np.ndarray) -> np.ndarray:
    """[n,labels] -> shares of each row"""
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)
