"""Figures of merit, with bootstrap intervals over speakers."""

from __future__ import annotations

import numpy as np


def uar(truth: np.ndarray, guess: np.ndarray) -> float:
    return float(np.mean([np.mean(guess[truth == label] == label) for label in np.unique(truth)]))


def ccc(truth: np.ndarray, guess: np.ndarray) -> float:
    covariance = np.mean((truth - truth.mean()) * (guess - guess.mean()))
    return float(2 * covariance / (truth.var() + guess.var() + (truth.mean() - guess.mean()) ** 2))


def pcc(truth: np.ndarray, guess: np.ndarray) -> float:
    return float(np.corrcoef(truth, guess)[0, 1])


def interval(score, truth, guess, speakers, rounds: int = 500) -> list[float]:
    """95 % bootstrap interval, speakers drawn with replacement."""
    rng = np.random.default_rng(1)
    names, owner = np.unique(speakers, return_inverse=True)
    groups = [np.flatnonzero(owner == i) for i in range(len(names))]
    values = []
    for _ in range(rounds):
        rows = np.concatenate([groups[i] for i in rng.integers(len(names), size=len(names))])
        values.append(score(truth[rows], guess[rows]))
    return [round(float(v), 3) for v in np.quantile(values, [0.025, 0.975])]


def half_width(truth: np.ndarray, guess: np.ndarray, coverage: float = 0.8) -> float:
    """Split conformal: the error that `coverage` of left-out clips stay within."""
    errors = np.sort(np.abs(truth - guess))
    rank = min(len(errors) - 1, int(np.ceil(coverage * (len(errors) + 1))) - 1)
    return round(float(errors[rank]), 4)
