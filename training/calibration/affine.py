"""Calibration of a head's outputs on held-out speakers.

The trunk has seen the training speakers, so folds among them would flatter.
"""

from dataclasses import dataclass

import numpy as np

from training.calibration.intervals import first_rule
from training.corpora.labels import DIMENSIONS
from training.evaluation.statistics import sigmoid, softmax
from training.heads import emotion

TEMPERATURE_MARGIN = 1.15  # softer than held-out speakers ask for: unknown corpora are predicted less well


@dataclass(frozen=True)
class EmotionCalibration:
    temperature: float
    slopes: np.ndarray  # [2] of valence and arousal
    intercepts: np.ndarray  # [2]
    intervals: dict[str, dict]  # valence, arousal -> rule of the interval
    low_confidence: float  # top probability below which predictions are mostly wrong


def fit_temperature(logits: np.ndarray, label: np.ndarray) -> float:
    """logits [n,8] with the mask added -> temperature of least cross-entropy."""

    def cost(temperature: float) -> float:
        z = logits / temperature
        z = z - z.max(1, keepdims=True)
        return float(np.mean(np.log(np.exp(z).sum(1)) - z[np.arange(len(z)), label]))

    grid = np.geomspace(0.5, 3, 60)
    return float(grid[np.argmin([cost(t) for t in grid])])


def fit_low_confidence(logits: np.ndarray, label: np.ndarray, temperature: float) -> float:
    """The top probability under which less than half of the clips are right."""
    p = softmax(logits / temperature)
    top, correct = p.max(1), p.argmax(1) == label
    low = 0.2
    for edge in np.arange(0.2, 0.9, 0.02):
        inside = correct[(top >= edge) & (top < edge + 0.06)]
        if inside.size and inside.mean() < 0.5:
            low = edge + 0.03
    return round(float(low), 2)


def match_moments(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Slope and intercept that give the predictions the mean and spread of the truth, as the concordance asks for."""
    slope = float(truth.std() / predicted.std())
    return slope, float(truth.mean() - slope * predicted.mean())


def calibrate_emotion(values: np.ndarray, rows: np.ndarray, rated: np.ndarray, targets: emotion.Targets) -> EmotionCalibration:
    """values [n,10]: outputs of the head per clip; rows [n]: the clips; rated [n]: those with ratings by listeners."""
    known = targets.label[rows] >= 0
    logits, label = values[known][:, emotion.CATEGORIES], targets.label[rows[known]]
    temperature = TEMPERATURE_MARGIN * fit_temperature(logits + targets.mask[rows[known]], label)
    lines, intervals = [], {}
    for place, name in enumerate(DIMENSIONS):
        predicted = sigmoid(values[rated][:, emotion.DIMENSIONS][:, place])
        truth = targets.dimensions[rows[rated], place]
        slope, intercept = match_moments(truth, predicted)
        intervals[name] = first_rule(truth, np.clip(slope * predicted + intercept, 0, 1))
        lines.append((slope, intercept))
    slopes, intercepts = np.array(lines).T
    return EmotionCalibration(temperature, slopes, intercepts, intervals, fit_low_confidence(logits, label, temperature))
