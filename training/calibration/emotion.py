"""From the outputs of the emotion head to scores, fitted on corpora and speakers that heads of the same recipe were not fitted on.

Heads that lack one of three corpora are poorer than the shipped head, and need another temperature. It is therefore fitted for heads that lack one
group of acted corpora and for heads that lack two, and the step between both is taken once more, half as large.
"""

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.special import log_softmax

from training.calibration import moments, speaker_labels, strangers
from training.calibration.strangers import Answers, Fits, Groups, Recordings
from training.encoder.embeddings import Utterances
from training.export.head_graph import EmotionScale
from training.heads.emotion import Targets

TEMPERATURES = np.geomspace(0.4, 6, 80)
UNLIKE = 0.98  # quantile of the distances of speakers left out, beyond which the report warns
FALSE_ALARMS = 0.02  # of ordinary speech left out, negative without a warning
FULL_WEIGHT = 200  # recordings from which on corpora of ordinary speech weigh alike: one recording of a small one would move the threshold
CONFIDENCES = np.arange(0.2, 1.01, 0.01)
NEGATIVE = ("sad", "angry", "fearful", "disgusted")


@dataclass(frozen=True)
class EmotionCalibration:
    scale: EmotionScale
    low_confidence: float  # top probability below which the report warns
    unlike_distance: float
    moments: dict  # without the half-width of log odds
    speaker_labels: dict
    metrics: dict[str, float]

    def params(self) -> dict[str, float]:
        """What the service reads in addition to the graph"""
        return {"lowConfidence": self.low_confidence, "unlikeDistance": round(self.unlike_distance, 3)}


def fit_temperature(logits: np.ndarray, distribution: np.ndarray, weight: np.ndarray) -> float:
    """logits, distribution [n, labels], weight [n] -> temperature of least cross-entropy"""

    def loss(temperature: float) -> float:
        return float(-(weight * (distribution * log_softmax(logits / temperature, 1)).sum(1)).sum())

    return float(min(TEMPERATURES, key=loss))


def weights_of(corpora: np.ndarray, full: int = 1) -> np.ndarray:
    """[n], of sum 1: corpora weigh alike, and those of fewer than `full` recordings less."""
    owner = np.unique(corpora, return_inverse=True)[1]
    weight = 1 / np.maximum(np.bincount(owner), full)[owner]
    return weight / weight.sum()


def temperature_of(answers: Answers, store: Utterances, targets: Targets, corpora: np.ndarray) -> float:
    acted = targets.label[store.clips[answers.rows]] >= 0
    owners = store.clips[answers.rows][acted]
    return fit_temperature(answers.logits[acted], targets.distribution[owners], weights_of(corpora[owners]))


def is_negative(found: Recordings, labels: tuple[str, ...]) -> np.ndarray:
    """bool [n]: the most probable label is a negative one"""
    return np.isin(found.probabilities.argmax(1), [labels.index(name) for name in NEGATIVE])


def fit_low_confidence(ordinary: Recordings, corpora: np.ndarray, labels: tuple[str, ...]) -> float:
    """The least top probability above which at most FALSE_ALARMS of ordinary recordings are negative. corpora [n]: names"""
    top = ordinary.probabilities.max(1)
    negative, weight = is_negative(ordinary, labels), weights_of(corpora, FULL_WEIGHT)
    return round(float(next(bound for bound in CONFIDENCES if weight[negative & (top >= bound)].sum() <= FALSE_ALARMS)), 2)


def extrapolated_temperature(fits: Fits, acted: Groups, unknown: Answers, corpora: np.ndarray) -> float:
    """`acted`: groups of acted corpora. `unknown`: of heads without one of them each"""
    one = temperature_of(unknown, fits.store, fits.targets, corpora)
    known = [group for group in acted if group - fits.without]
    if len(known) < len(fits.recipe.emotion):  # groups of several corpora, whose heads are hardly poorer; or too few of one
        return one
    pairs = [first | second for first, second in itertools.combinations(known, 2)]
    two = temperature_of(fits.without_each(pairs, whole=False).answers(fits.store), fits.store, fits.targets, corpora)
    return one * float(np.sqrt(one / two))


def calibrate(fits: Fits, known: Answers) -> EmotionCalibration:
    """`known`: of heads without folds of speakers"""
    clips, recipe, store, targets = fits.clips, fits.recipe, fits.store, fits.targets
    corpora = np.array([clip.corpus for clip in clips])
    acted = strangers.acted_groups(recipe)
    unknown, ordinary = (fits.of_strangers(names) for names in (acted, strangers.ordinary_groups(recipe)))
    temperature = extrapolated_temperature(fits, strangers.corpora_groups(acted, clips), unknown, corpora)
    rated = corpora[store.clips[known.rows]] == recipe.rated
    lines = [match_moments(targets.dimensions[store.clips[known.rows[rated]], place], known.dimensions[rated, place]) for place in range(2)]
    slopes, intercepts = np.array(lines).T
    scale = EmotionScale(temperature, slopes, intercepts, np.ones(2))
    calm = Recordings.of(ordinary, store, scale)
    prior = speaker_labels.fit(Recordings.of(unknown, store, scale), calm, clips, recipe)
    low = fit_low_confidence(calm, corpora[calm.clips], recipe.labels)
    unlike = float(np.quantile(Recordings.of(known, store).distance, UNLIKE))
    labelled = known.where(targets.label[store.clips[known.rows]] >= 0)
    params, share = moments.fit(moments.utterances_of(labelled, scale, store, clips, recipe.labels), recipe.labels)
    return EmotionCalibration(scale, low, unlike, params, prior, {"temperature": round(temperature, 3), "moments_found_first": round(share, 3)})


def match_moments(truth: np.ndarray, predicted: np.ndarray) -> tuple[float, float]:
    """Slope and intercept that give the predictions the mean and spread of the truth, which raises the concordance. Without a rating: none."""
    if len(truth) == 0:
        return 1, 0
    slope = float(truth.std() / predicted.std())
    return slope, float(truth.mean() - slope * predicted.mean())
