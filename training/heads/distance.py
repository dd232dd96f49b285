"""How far a recording is from the training recordings: Mahalanobis distance of the moments of its embeddings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

DIRECTIONS = 64  # of largest variance; the others are noise


@dataclass(frozen=True)
class Distance:
    centre: np.ndarray  # [2 * width]
    projection: np.ndarray  # [2 * width, directions]; training recordings have variance 1 in each

    def __call__(self, moments: np.ndarray) -> np.ndarray:
        """[n, 2 * width] -> [n], about 1 for training recordings"""
        return np.sqrt(np.mean(((moments - self.centre) @ self.projection) ** 2, 1))


def fit(moments: np.ndarray, corpora: np.ndarray) -> Distance:
    """moments [n, 2 * width], corpora [n]: names. Corpora weigh alike."""
    names, owner = np.unique(corpora, return_inverse=True)
    weight = 1 / np.bincount(owner)[owner] / len(names)
    centre = weight @ moments
    spread = moments - centre
    values, vectors = np.linalg.eigh(spread.T @ (spread * weight[:, None]))
    best = np.argsort(values)[::-1][:DIRECTIONS]
    return Distance(centre.astype(np.float32), (vectors[:, best] / np.sqrt(values[best])).astype(np.float32))
