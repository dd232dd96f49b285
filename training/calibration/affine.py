"""From the outputs of the emotion head to scores, fitted on corpora, and on rated speakers, that heads were not fitted on.

The bias of neutral is chosen on the dev part: acted corpora have few neutral clips, most other speech is neutral.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from training.calibration.intervals import COVERAGE
from training.corpora.corpus import DIMENSIONS, EMOTIONS, PLACES
from training.evaluation.statistics import best_present, pinball_loss, sigmoid, uar
from training.export.head_graph import EmotionScale
from training.heads import emotion

TEMPERATURES = np.geomspace(0.5, 4, 60)
GROWTHS = np.linspace(0, 2, 21)  # of temperature and spread, per unit of distance
GAINS = np.geomspace(0.01, 1000, 51)  # of the variance of the categories over the floor
BIASES = np.arange(0, 1.51, 0.05)  # of neutral
LOST = 0.01  # of the mean UAR, at most, that the bias of neutral may cost
NEAR = 0.9  # quantile of the training recordings' distances, beyond which predictions are less certain
UNLIKE = 0.98  # quantile of the calibration speakers' distances, beyond which the report warns


@dataclass(frozen=True)
class Outputs:
    """Of heads, one row per clip of a corpus, or of a rated speaker, that they were not fitted on."""

    values: np.ndarray  # [n,10]
    distance: np.ndarray  # [n]
    targets: emotion.Targets  # rows in the order of `clips`
    clips: np.ndarray  # [n] clip indices
    corpora: np.ndarray  # [n] names
    rated: np.ndarray  # bool [n]: of the corpus that valence and arousal are calibrated on


@dataclass(frozen=True)
class EmotionCalibration:
    scale: EmotionScale
    low_confidence: float  # top probability below which predictions are mostly wrong
    unlike_distance: float

    def params(self) -> dict[str, float]:
        """What the service reads beside the graph"""
        return {"lowConfidence": self.low_confidence, "unlikeDistance": round(self.unlike_distance, 3)}


def weights_of(corpora: np.ndarray) -> np.ndarray:
    """Corpora weigh alike."""
    owner = np.unique(corpora, return_inverse=True)[1]
    return 1 / np.bincount(owner)[owner] / (owner.max() + 1)


def fit_neutral(logits: np.ndarray, label: np.ndarray, corpora: np.ndarray) -> float:
    """The largest bias of neutral that costs at most LOST of the mean UAR. Acted corpora are balanced, most other speech is neutral.

    logits [n,8], label [n], corpora [n]: names
    """

    def mean_uar(bias: float) -> float:
        best = best_present(logits + bias * np.eye(1, 8), label, corpora)
        return float(np.mean([uar(label[corpora == name], best[corpora == name]) for name in np.unique(corpora)]))

    least = mean_uar(0) - LOST
    return round(float(max(bias for bias in BIASES if mean_uar(bias) >= least)), 2)


def fit_temperature(logits: np.ndarray, distribution: np.ndarray, beyond: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """logits, distribution [n,8], distance beyond NEAR [n] -> temperature and growth of least cross-entropy."""

    def loss(temperature: float, growth: float) -> float:
        scaled = logits / (temperature * (1 + growth * beyond))[:, None]
        return float(-(weight * (distribution * log_softmax(scaled, 1)).sum(1)).sum())

    temperature, growth = min(((t, g) for t in TEMPERATURES for g in GROWTHS), key=lambda pair: loss(*pair))
    return float(temperature), float(growth)


def fit_low_confidence(p: np.ndarray, label: np.ndarray, weight: np.ndarray) -> float:
    """The top probability at which half of the clips are right, by logistic regression on its log odds."""
    top = p.max(1).clip(0.01, 0.99)
    fit = LogisticRegression(C=1e6).fit(np.log(top / (1 - top))[:, None], p.argmax(1) == label, weight)
    return round(float(sigmoid(-fit.intercept_[0] / fit.coef_[0, 0])), 2)


def match_moments(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Slope and intercept that give the predictions the mean and spread of the truth, which raises the concordance."""
    slope = float(truth.std() / predicted.std())
    return slope, float(truth.mean() - slope * predicted.mean())


def variance_of(p: np.ndarray, name: str) -> np.ndarray:
    """p [n,8] -> [n]: variance of the categories' valence or arousal"""
    places = np.array([PLACES[name][label] for label in EMOTIONS])
    return np.maximum(p @ places**2 - (p @ places) ** 2, 0)


def fit_spread(errors: np.ndarray, variance: np.ndarray) -> tuple[float, float]:
    """floor and gain of the half-width sqrt(floor + gain * variance) that holds COVERAGE of the errors with least pinball loss."""

    def fitted(gain: float) -> tuple[float, float, float]:
        shape = np.sqrt(1 + gain * variance)
        half = np.quantile(errors / shape, COVERAGE)
        return pinball_loss(errors, half * shape, COVERAGE), half**2, half**2 * gain

    _, floor, gain = min(fitted(gain) for gain in GAINS)
    return floor, gain


def calibrate_emotion(found: Outputs, neutral: float, training_distance: np.ndarray, speaker_distance: np.ndarray) -> EmotionCalibration:
    """neutral: of `fit_neutral`. training_distance [m]: of the training recordings. speaker_distance [k]: of speakers left out, known corpora."""
    targets = found.targets
    rows = found.clips
    near = float(np.quantile(training_distance, NEAR))
    beyond = np.maximum(found.distance - near, 0)
    known = targets.label[rows] >= 0
    logits = found.values[:, emotion.CATEGORIES] + neutral * np.eye(1, 8)
    weight = weights_of(found.corpora[known])
    label = targets.label[rows[known]]
    temperature, growth = fit_temperature(logits[known], targets.distribution[rows[known]], beyond[known], weight)
    p = softmax(logits / (temperature * (1 + growth * beyond))[:, None], 1)
    lines = []
    spreads = []
    for place, name in enumerate(DIMENSIONS):
        predicted = sigmoid(found.values[found.rated][:, emotion.DIMENSIONS][:, place])
        truth = targets.dimensions[rows[found.rated], place]
        slope, intercept = match_moments(truth, predicted)
        errors = np.abs(truth - np.clip(slope * predicted + intercept, 0, 1))
        lines.append((slope, intercept))
        spreads.append(fit_spread(errors, variance_of(p[found.rated], name)))
    slopes, intercepts = np.array(lines).T
    floors, gains = np.array(spreads).T
    scale = EmotionScale(neutral, temperature, slopes, intercepts, floors, gains, near, growth)
    return EmotionCalibration(scale, fit_low_confidence(p[known], label, weight), float(np.quantile(speaker_distance, UNLIKE)))
