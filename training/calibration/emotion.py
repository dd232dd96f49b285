"""From the outputs of the emotion head to scores, fitted on corpora and speakers that heads of the same recipe were not fitted on.

Heads of a recipe with few corpora are much surer of a corpus that they do not know than the shipped head is, because leaving one out leaves few
(three: two). The temperature is therefore fitted on corpora left out by heads of one corpus less and of two less, and the step between both is
taken once more, half as large (`extrapolate`).
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from training.calibration import moments, strangers
from training.calibration.strangers import Answers, Fits, Recordings
from training.encoder.embeddings import Utterances
from training.evaluation.statistics import best_present, sigmoid, uar
from training.export.head_graph import EmotionScale
from training.heads.emotion import Targets

TEMPERATURES = np.geomspace(0.4, 6, 80)
BIASES = np.arange(0, 3.01, 0.1)  # of neutral
LOST = 0.01  # of the mean UAR of corpora left out, at most, that the bias of neutral may cost
UNLIKE = 0.98  # quantile of the distances of speakers left out, beyond which the report warns
FALSE_ALARMS = 0.015  # ordinary speech left out that is negative without a warning
CONFIDENCES = np.arange(0.2, 1.01, 0.01)
NEGATIVE = ("sad", "angry", "fearful", "disgusted")


@dataclass(frozen=True)
class EmotionCalibration:
    scale: EmotionScale
    low_confidence: float  # top probability below which the report warns
    unlike_distance: float
    moments: dict  # without the half-width of log odds
    metrics: dict[str, float]

    def params(self) -> dict[str, float]:
        """What the service reads beside the graph"""
        return {"lowConfidence": self.low_confidence, "unlikeDistance": round(self.unlike_distance, 3)}


def fit_temperature(logits: np.ndarray, distribution: np.ndarray, weight: np.ndarray) -> float:
    """logits, distribution [n, labels], weight [n] -> temperature of least cross-entropy"""

    def loss(temperature: float) -> float:
        return float(-(weight * (distribution * log_softmax(logits / temperature, 1)).sum(1)).sum())

    return float(min(TEMPERATURES, key=loss))


def weights_of(corpora: np.ndarray) -> np.ndarray:
    """Corpora weigh alike."""
    owner = np.unique(corpora, return_inverse=True)[1]
    return 1 / np.bincount(owner)[owner] / (owner.max() + 1)


def fit_neutral(answers: Answers, store: Utterances, targets: Targets, corpora: np.ndarray) -> float:
    """The largest bias of neutral that costs at most LOST of the mean UAR. Acted corpora are balanced, most other speech is neutral."""
    acted = targets.label[store.clips[answers.rows]] >= 0
    label, names = targets.label[store.clips[answers.rows]][acted], corpora[store.clips[answers.rows]][acted]
    logits = answers.logits[acted]

    def mean_uar(bias: float) -> float:
        best = best_present(logits + bias * np.eye(1, logits.shape[1]), label, names)
        return float(np.mean([uar(label[names == name], best[names == name]) for name in np.unique(names)]))

    least = mean_uar(0) - LOST
    return round(float(max(bias for bias in BIASES if mean_uar(bias) >= least)), 2)


def temperature_of(answers: Answers, store: Utterances, targets: Targets, corpora: np.ndarray, bias: np.ndarray) -> float:
    acted = targets.label[store.clips[answers.rows]] >= 0
    owners = store.clips[answers.rows][acted]
    return fit_temperature(answers.logits[acted] + bias, targets.distribution[owners], weights_of(corpora[owners]))


def answered_negative(found: Recordings, ordinary: np.ndarray, labels: tuple[str, ...]) -> np.ndarray:
    """bool [n]: ordinary recordings whose most probable label is negative"""
    return ordinary & np.isin(found.probabilities.argmax(1), [labels.index(name) for name in NEGATIVE])


def fit_low_confidence(found: Recordings, label: np.ndarray, corpora: np.ndarray, ordinary: np.ndarray, labels: tuple[str, ...]) -> float:
    """The least top probability of which half of the acted recordings are right, and above which at most FALSE_ALARMS of ordinary ones are negative.

    label [n], -1 for ordinary speech; corpora [n]: names
    """
    top = found.probabilities.max(1)
    acted = label >= 0
    odds = np.log(top[acted].clip(0.01, 0.99) / (1 - top[acted].clip(0.01, 0.99)))
    right = found.probabilities[acted].argmax(1) == label[acted]
    line = LogisticRegression(C=1e6).fit(odds[:, None], right, weights_of(corpora[acted]))
    half = float(sigmoid(-line.intercept_[0] / line.coef_[0, 0]))
    negative = answered_negative(found, ordinary, labels)
    quiet = [bound for bound in CONFIDENCES if (negative & (top >= bound)).sum() <= FALSE_ALARMS * ordinary.sum()]
    return round(float(max(half, min(quiet))), 2)


def calibrate(fits: Fits) -> EmotionCalibration:
    clips, recipe, store, targets = fits.clips, fits.recipe, fits.store, fits.targets
    corpora = np.array([clip.corpus for clip in clips])
    ordinary = np.array([clip.definition.ordinary for clip in clips])
    unknown = fits.left_out(strangers.corpora_groups(clips, recipe))
    known = fits.left_out(strangers.speakers_groups(clips, recipe))
    neutral = fit_neutral(unknown, store, targets, corpora)
    bias = neutral * np.eye(1, len(recipe.labels))[0]
    temperature = temperature_of(unknown, store, targets, corpora, bias)
    rated = corpora[store.clips[known.rows]] == recipe.rated
    lines = [match_moments(targets.dimensions[store.clips[known.rows[rated]], place], known.dimensions[rated, place]) for place in range(2)]
    slopes, intercepts = np.array(lines).T
    scale = EmotionScale(bias, temperature, slopes, intercepts, np.ones(2))
    found = Recordings.of(unknown, store, scale)
    owner = found.clips
    low = fit_low_confidence(found, targets.label[owner], corpora[owner], ordinary[owner], recipe.labels)
    unlike = float(np.quantile(Recordings.of(known, store).distance, UNLIKE))
    acted = known.where(targets.label[store.clips[known.rows]] >= 0)
    spoken = moments.utterances_of(acted, scale, store, clips, recipe.labels)
    params, share = moments.fit(spoken, recipe.labels)
    return EmotionCalibration(scale, low, unlike, params, {"temperature": temperature, "neutral": neutral, "moments_found_first": share})


def match_moments(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Slope and intercept that give the predictions the mean and spread of the truth, which raises the concordance."""
    slope = float(truth.std() / predicted.std())
    return slope, float(truth.mean() - slope * predicted.mean())
