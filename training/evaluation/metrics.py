"""Metrics of predictions by corpus, language, sex and age."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from training.calibration.affine import match_moments
from training.calibration.intervals import conformal_quantile
from training.corpora.corpus import SEXES, Clip
from training.corpora.labels import DIMENSIONS, EMOTIONS
from training.corpora.recipe import RECIPE
from training.evaluation.predictions import SCORES, Predictions, corpus_of
from training.evaluation.statistics import Score, accuracy, bootstrap_interval, ccc, ece, pcc, uar

ADULT_AGE = 15
MIN_CLIPS = 5  # smaller groups say nothing


@dataclass(frozen=True)
class Metric:
    """One entry of results/metrics.json. `interval`: 95 %, or None where there is nothing to draw from."""

    signal: str
    figure: str
    group: str
    value: float
    interval: list[float] | None
    speakers: int
    clips: int

    @property
    def key(self) -> str:
        return f"{self.signal}: {self.figure}, {self.group}"

    @property
    def mark(self) -> str:
        return " †" if self.speakers == 1 else ""


def make_metrics(signal: str, name: str, group: str, score: Score, clips: list[Clip], truth, predicted) -> list[Metric]:
    """One metric, or none for a small group."""
    if len(clips) < MIN_CLIPS:
        return []
    speakers = [f"{clip.corpus} {clip.speaker}" for clip in clips]
    interval = bootstrap_interval(score, truth, predicted, speakers)
    return [Metric(signal, name, group, round(score(truth, predicted), 3), interval, len(set(speakers)), len(clips))]


def mean_metric(signal: str, name: str, group: str, values, clips: list[Clip]) -> Metric:
    """A mean without an interval."""
    speakers = len({(clip.corpus, clip.speaker) for clip in clips})
    return Metric(signal, name, group, round(float(np.mean(values)), 3), None, speakers, len(clips))


def emotion_metrics(predictions: Predictions) -> list[Metric]:
    acted = predictions.of(*RECIPE.emotion)
    if len(acted) == 0 or np.isnan(acted.probabilities).all():
        return []
    truth, closed, opened = acted.labels, acted.best_in_corpus(), acted.probabilities.argmax(1)
    metrics: list[Metric] = []

    def add(name: str, group: str, group_of: Callable[[Clip], str], truth: np.ndarray, predicted: np.ndarray) -> None:
        rows = np.flatnonzero([group_of(clip) == group for clip in acted.clips])
        name = name.format(len(np.unique(truth[rows])))
        metrics.extend(make_metrics("emotion", name, group, uar, [acted.clips[i] for i in rows], truth[rows], predicted[rows]))

    for name in RECIPE.emotion:
        add("UAR of its {} labels", name, lambda clip: clip.corpus, truth, closed)
        if name == "RAVDESS":
            as_neutral = (np.where(labels == EMOTIONS.index("calm"), EMOTIONS.index("neutral"), labels) for labels in (truth, closed))
            add("UAR, calm as neutral", name, lambda clip: clip.corpus, *as_neutral)
        add("UAR, all eight open", name, lambda clip: clip.corpus, truth, opened)
    for group_of in (lambda c: c.language, lambda c: c.sex, lambda c: f"{c.language}, {c.sex}"):
        for group in sorted({group_of(clip) for clip in acted.clips}):
            add("UAR of the corpus's labels", group, group_of, truth, closed)
    confidence, correct = acted.probabilities.max(1), (opened == truth).astype(float)
    return metrics + make_metrics("emotion", "calibration error of confidence", "all", ece, acted.clips, correct, confidence)


def by_sex(corpus: str) -> list[tuple[str, Callable[[Clip], bool]]]:
    """(group, whether a clip belongs to it): all of them, then each sex."""
    return [(corpus, lambda clip: True), *((f"{corpus}, {sex}", lambda clip, sex=sex: clip.sex == sex) for sex in SEXES.values())]


def dimension_metrics(predictions: Predictions) -> list[Metric]:
    metrics = []
    for corpus, names, score in ((RECIPE.rated, DIMENSIONS, ccc), (RECIPE.arousal, ("arousal",), pcc)):
        for name in names:
            for group, wanted in by_sex(corpus):
                own = predictions.of(corpus).where(wanted)
                metrics += make_metrics("emotion", f"{score.name} of {name}", group, score, own.clips, own.truth(name), own.score(name))
    return metrics


def calibrate_on_others(truth: np.ndarray, predicted: np.ndarray, speakers: np.ndarray) -> np.ndarray:
    """Predictions with the mean and spread that the truth has on the other speakers."""
    moved = np.zeros(len(predicted))
    for speaker in np.unique(speakers):
        own, others = speakers == speaker, speakers != speaker
        slope, intercept = match_moments(truth[others], predicted[others])
        moved[own] = np.clip(slope * predicted[own] + intercept, 0, 1)
    return moved


def cross_calibrated_metrics(predictions: Predictions) -> list[Metric]:
    """Valence and arousal with an affine calibration on the other speakers."""
    rated, metrics = predictions.of(RECIPE.rated), []
    if predictions.intervals is None or len(np.unique(rated.speakers)) < 2:
        return []
    for name in DIMENSIONS:
        truth = rated.truth(name)
        moved = calibrate_on_others(truth, rated.score(name), rated.speakers)
        metrics += make_metrics("emotion", f"CCC of {name}, calibrated on the other speakers", RECIPE.rated, ccc, rated.clips, truth, moved)
    return metrics


def clarity_metrics(predictions: Predictions) -> list[Metric]:
    corpus = RECIPE.clarity
    scored, metrics = predictions.of(corpus), []
    for column in ("fluency", "prosody"):
        truth = np.array([float(clip.row[column]) / 10 for clip in scored.clips])
        metrics += make_metrics("cognitive", f"PCC of clarity with {column}", corpus, pcc, scored.clips, truth, scored.clarity)
    groups = [*by_sex(corpus), (f"{corpus}, children", lambda clip: (clip.age or 99) < ADULT_AGE),
              (f"{corpus}, adults", lambda clip: (clip.age or 0) >= ADULT_AGE)]  # fmt: skip
    for group, wanted in groups:
        own = scored.where(wanted)
        metrics += make_metrics("cognitive", "PCC of clarity with their mean", group, pcc, own.clips, own.truth("clarity"), own.clarity)
    return metrics


def coverage_metrics(predictions: Predictions) -> list[Metric]:
    metrics = []
    for name in SCORES if predictions.intervals is not None else ():
        corpus, signal = corpus_of(name), "cognitive" if name == "clarity" else "emotion"
        rated = predictions.of(corpus)
        if len(rated) == 0:
            continue
        for title, inside in ((f"share of {name} inside its 80 % interval", covered(rated, name)[0]),
                              (f"share of {name} inside, width fitted on the other speakers", covered_by_others(rated, name))):  # fmt: skip
            metrics += make_metrics(signal, title, corpus, accuracy, rated.clips, np.ones(len(rated)), inside.astype(float))
    return metrics


def covered(rated: Predictions, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Whether the truth lies inside each interval, and its width."""
    truth = rated.truth(name)
    low, high = rated.intervals[:, SCORES.index(name)].T
    return (truth >= low) & (truth <= high), high - low


def covered_by_others(rated: Predictions, name: str) -> np.ndarray:
    """Whether errors stay inside intervals that were scaled on the other speakers."""
    predicted = rated.score(name)
    low, high = rated.intervals[:, SCORES.index(name)].T
    ratio = np.abs(rated.truth(name) - predicted) / np.maximum(np.maximum(predicted - low, high - predicted), 1e-6)
    inside = np.zeros(len(ratio), bool)
    for speaker in np.unique(rated.speakers):
        own = rated.speakers == speaker
        if not own.all():
            inside[own] = ratio[own] <= conformal_quantile(ratio[~own])
    return inside


def all_metrics(predictions: Predictions) -> list[Metric]:
    functions = (emotion_metrics, dimension_metrics, cross_calibrated_metrics, clarity_metrics, coverage_metrics)
    return [metric for function in functions for metric in function(predictions)]
