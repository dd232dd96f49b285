"""Scores of predictions, with bootstrap intervals over speakers.

Each score is a function of sums over clips, so that a draw of speakers is a product of matrices.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

CALIBRATION_BINS = 10
ROUNDS = 1000


@dataclass(frozen=True)
class Score:
    """`rows`: truth and prediction [n] -> summands [n,k]. `value`: sums [...,k] -> scores [...]."""

    name: str
    rows: Callable[[np.ndarray, np.ndarray], np.ndarray]
    value: Callable[[np.ndarray], np.ndarray]

    def __call__(self, truth: np.ndarray, predicted: np.ndarray) -> float:
        return float(self.value(self.rows(np.asarray(truth), np.asarray(predicted)).sum(0)))


def recall_rows(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    """For each label: clips that have it, and those of them predicted as it."""
    actual = (truth[:, None] == np.unique(truth)).astype(float)
    return np.concatenate([actual, actual * (predicted == truth)[:, None]], 1)


def mean_recall(sums: np.ndarray) -> np.ndarray:
    actual, hits = np.split(sums, 2, axis=-1)
    with np.errstate(invalid="ignore"):
        return np.nanmean(hits / actual, axis=-1)


def moment_rows(truth: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    x = truth.astype(float)
    y = predicted.astype(float)
    return np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], 1)


def central_moments(sums: np.ndarray) -> tuple[np.ndarray, ...]:
    """-> means of both, variances of both, covariance"""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    x = x / n
    y = y / n
    return x, y, xx / n - x * x, yy / n - y * y, xy / n - x * y


def concordance(sums: np.ndarray) -> np.ndarray:
    """Lin 1989."""
    x, y, xx, yy, xy = central_moments(sums)
    return 2 * xy / (xx + yy + (x - y) ** 2)


def correlation(sums: np.ndarray) -> np.ndarray:
    _, _, xx, yy, xy = central_moments(sums)
    return xy / np.sqrt(xx * yy)


def bin_rows(correct: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """For each tenth of the confidence: clips, their confidence, how many were correct."""
    inside = np.eye(CALIBRATION_BINS)[confidence_bins(confidence)]
    return np.concatenate([inside, inside * confidence[:, None], inside * correct[:, None]], 1)


def confidence_bins(confidence: np.ndarray) -> np.ndarray:
    return np.minimum((confidence * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)


def calibration_error(sums: np.ndarray) -> np.ndarray:
    count, confidence, correct = np.split(sums, 3, axis=-1)
    return np.abs(confidence - correct).sum(-1) / count.sum(-1)


def ratio(sums: np.ndarray) -> np.ndarray:
    return sums[..., 1] / sums[..., 0]


uar = Score("UAR", recall_rows, mean_recall)
ccc = Score("CCC", moment_rows, concordance)
pcc = Score("PCC", moment_rows, correlation)
ece = Score("ECE", bin_rows, calibration_error)
relative_error = Score("mean error", lambda truth, predicted: np.stack([truth, np.abs(predicted - truth)], 1), ratio)
mean = Score("mean", lambda _, values: np.stack([np.ones(len(values)), values], 1), ratio)
accuracy = Score("accuracy", lambda truth, predicted: np.stack([np.ones(len(truth)), truth == predicted], 1), ratio)


def bootstrap_interval(score: Score, truth, predicted, speakers, rounds: int = ROUNDS) -> list[float]:
    """95 % interval, speakers drawn with replacement; clips where there is one speaker."""
    return middle(bootstrap(score, truth, predicted, speakers, rounds))


def paired_interval(score: Score, truth, predicted, other, speakers, rounds: int = ROUNDS) -> list[float]:
    """95 % interval of score(predicted) - score(other) over the same draws."""
    return middle(bootstrap(score, truth, predicted, speakers, rounds) - bootstrap(score, truth, other, speakers, rounds))


def bootstrap(score: Score, truth, predicted, speakers, rounds: int) -> np.ndarray:
    """[rounds] scores, the same draws for the same speakers"""
    names, owner = np.unique(np.asarray(speakers), return_inverse=True)
    if len(names) == 1:
        owner = np.arange(len(owner))
    rows = score.rows(np.asarray(truth), np.asarray(predicted))
    sums = np.zeros((owner.max() + 1, rows.shape[1]))
    np.add.at(sums, owner, rows)
    draws = np.random.default_rng(1).multinomial(len(sums), np.full(len(sums), 1 / len(sums)), size=rounds)
    with np.errstate(invalid="ignore", divide="ignore"):
        return score.value(draws @ sums)


def best_present(values: np.ndarray, label: np.ndarray, corpora: np.ndarray) -> np.ndarray:
    """The highest of the labels that occur in the clip's corpus. values [n,8], label and corpora [n] -> [n]"""
    best = np.empty(len(label), int)
    for name in np.unique(corpora):
        own = corpora == name
        present = np.unique(label[own])
        best[own] = present[values[own][:, present].argmax(1)]
    return best


def pinball_loss(errors: np.ndarray, half_width: np.ndarray, coverage: float) -> float:
    """Least where half of the width is the `coverage` quantile of the errors. Koenker and Bassett 1978."""
    over = errors - half_width
    return float(np.maximum(coverage * over, (coverage - 1) * over).mean())


def middle(values: np.ndarray) -> list[float]:
    return [round(float(v), 3) for v in np.quantile(values[np.isfinite(values)], [0.025, 0.975])]
