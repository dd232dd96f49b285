"""Calibration of a head's outputs on held-out speakers.

The trunk is fine-tuned on the training speakers, so folds among them would be optimistic.
"""

from dataclasses import dataclass

import numpy as np

from scipy.special import log_softmax, softmax

from training.calibration.intervals import initial_interval
from training.corpora.labels import DIMENSIONS
from training.evaluation.statistics import sigmoid
from training.heads import emotion

TEMPERATURE_MARGIN = 1.15  # over the optimum of held-out speakers: unknown corpora are predicted less well


@dataclass(frozen=True)
class EmotionCalibration:
    temperature: float
    slopes: np.ndarray  # [2] of valence and arousal
    intercepts: np.ndarray  # [2]
    intervals: dict[str, dict]  # valence, arousal -> rule of the interval
    low_confidence: float  # top probability below which predictions are mostly wrong


def fit_temperature(logits: np.ndarray, label: np.ndarray) -> float:
    """logits [n,8] with the mask added -> temperature of least cross-entropy."""
    grid = np.geomspace(0.5, 3, 60)
    losses = [-np.mean(log_softmax(logits / t, 1)[np.arange(len(label)), label]) for t in grid]
    return float(grid[np.argmin(losses)])


def fit_low_confidence(logits: np.ndarray, label: np.ndarray, temperature: float) -> float:
    """The top probability under which less than half of the clips are right."""
    p = softmax(logits / temperature, 1)
    top, correct = p.max(1), p.argmax(1) == label
    low = 0.2
    for edge in np.arange(0.2, 0.9, 0.02):
        inside = correct[(top >= edge) & (top < edge + 0.06)]
        if inside.size and inside.mean() < 0.5:
            low = edge + 0.03
    return round(float(low), 2)


def match_moments(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Slope and intercept that give the predictions the mean and spread of the truth, which raises the concordance."""
    slope = float(truth.std() / predicted.std())
    return slope, float(truth.mean() - slope * predicted.mean())


def calibrate_emotion(values: np.ndarray, rows: np.ndarray, rated: np.ndarray, targets: emotion.Targets) -> EmotionCalibration:
    """values [n,10]: outputs of the head per clip; rows [n]: the clips; rated [n]: those with ratings by listeners."""
    known = targets.label[rows] >= 0
    logits, label = values[known][:, emotion.CATEGORIES], targets.label[rows[known]]
    temperature = TEMPERATURE_MARGIN * fit_temperature(logits + targets.mask[rows[known]], label)
    affine, intervals = [], {}
    for place, name in enumerate(DIMENSIONS):
        predicted = sigmoid(values[rated][:, emotion.DIMENSIONS][:, place])
        truth = targets.dimensions[rows[rated], place]
        slope, intercept = match_moments(truth, predicted)
        intervals[name] = initial_interval(truth, np.clip(slope * predicted + intercept, 0, 1))
        affine.append((slope, intercept))
    slopes, intercepts = np.array(affine).T
    return EmotionCalibration(temperature, slopes, intercepts, intervals, fit_low_confidence(logits, label, temperature))
