"""Metrics of predictions by corpus, language, sex and age."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from training.corpora.corpus import DIMENSIONS, EMOTIONS, NEGATIVE, SEXES, Clip
from training.corpora.recipe import RESEARCH, Recipe
from training.evaluation.reports import SCORES, Predictions, Reports, is_ok
from training.evaluation.statistics import ROUNDS, Score, bootstrap_interval, ccc, ece, mean, pcc, uar
from training.settings import SEED

ADULT_AGE = 15
MIN_CLIPS = 5  # smaller groups say nothing
NATURAL = (*RESEARCH.ordinary, RESEARCH.clarity)  # speech that nobody acted
ALL_NATURAL = "ordinary speech"
# Words of the rows of an evaluation.
CORPUS = "corpus left out"
SPEAKERS = "speakers left out"
COVERAGES = (1, 0.75, 0.5, 0.25)  # shares of the recordings, those of highest confidence


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
    def title(self) -> str:
        return f"{self.group}: {self.figure} ({self.speakers} {'speaker' if self.speakers == 1 else 'speakers'})"

    @property
    def mark(self) -> str:
        return " †" if self.speakers == 1 else ""


def make_metrics(
    signal: str, name: str, group: str, score: Score, clips: list[Clip], truth, predicted, min_clips: int = MIN_CLIPS
) -> list[Metric]:
    """One metric, or none for a small group."""
    if len(clips) < min_clips:
        return []
    speakers = [f"{clip.corpus} {clip.speaker}" for clip in clips]
    interval = bootstrap_interval(score, truth, predicted, speakers)
    return [Metric(signal, name, group, round(score(truth, predicted), 3), interval, len(set(speakers)), len(clips))]


def mean_metric(signal: str, name: str, group: str, values, clips: list[Clip]) -> Metric:
    """A mean without an interval."""
    speakers = len({(clip.corpus, clip.speaker) for clip in clips})
    value = round(float(np.mean(values)), 3) + 0.0  # no negative zero
    return Metric(signal, name, group, value, None, speakers, len(clips))


def natural_metrics(reports: Reports) -> list[Metric]:
    """Dominant emotions of speech that nobody acted, as shares of all recordings."""
    metrics = []
    for name, own in [*((name, reports.of(name)) for name in NATURAL), (ALL_NATURAL, reports.of(*NATURAL))]:
        if not own.clips:
            continue
        dominant = np.array([r["emotion"]["signals"]["dominant_emotion"] if is_ok(r, "emotion") else "" for r in own.reports])
        shares = {
            "answered": np.ones(len(dominant), bool),
            "negative": np.isin(dominant, [EMOTIONS[i] for i in NEGATIVE]),
            "neither neutral nor calm": ~np.isin(dominant, ["neutral", "calm"]),
        }
        for title, chosen in shares.items():
            values = (chosen & own.unwarned()).astype(float)
            metrics += make_metrics("emotion", f"{title} without a warning", name, mean, own.clips, values, values, min_clips=1)
    return metrics


def mean_of_corpora(uars: list[float], word: str, clips: list[Clip]) -> Metric:
    """Its interval is over corpora."""
    found = mean_metric("emotion", f"mean UAR, {word}", f"{len(uars)} acted corpora", uars, clips)
    draws = np.random.default_rng(SEED).choice(uars, (ROUNDS, len(uars))).mean(1)
    return replace(found, interval=[round(float(bound), 3) for bound in np.quantile(draws, [0.025, 0.975])])


def recall_metrics(acted: Predictions, word: str) -> list[Metric]:
    """By corpus; with CORPUS also their mean, and the recall of each label."""
    metrics = []
    for name in [name for name in RESEARCH.emotion if name in {clip.corpus for clip in acted.clips}]:
        own = acted.of(name)
        truth, closed = own.labels, own.best_in_corpus()
        for title, predicted in ((f"UAR of its {len(np.unique(truth))} labels", closed), ("UAR, all labels open", own.probabilities.argmax(1))):
            metrics += make_metrics("emotion", f"{title}, {word}", name, uar, own.clips, truth, predicted)
    if word == CORPUS:
        uars = [metric.value for metric in metrics if " labels, " in metric.figure and "open" not in metric.figure]
        metrics.insert(0, mean_of_corpora(uars, word, acted.clips))
        closed = acted.best_in_corpus()
        for place, label in enumerate(EMOTIONS):
            rows = np.flatnonzero(acted.labels == place)
            hits = (closed[rows] == place).astype(float)
            metrics += make_metrics("emotion", f"recall, {word}", label, mean, [acted.clips[i] for i in rows], hits, hits)
    return metrics


def dominant_of(predictions: Predictions) -> tuple[np.ndarray, np.ndarray]:
    """-> confidence of the dominant emotion, 1 where it is right"""
    return predictions.probabilities.max(1), (predictions.probabilities.argmax(1) == predictions.labels).astype(float)


def confidence_metrics(predictions: Predictions, word: str) -> list[Metric]:
    """Risk against coverage, and how far confidence is from accuracy."""
    confidence, correct = dominant_of(predictions)
    order = np.argsort(-confidence, kind="stable")
    metrics = []

    def add(title: str, score: Score, rows: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> None:
        metrics.extend(make_metrics("emotion", title, word, score, [predictions.clips[i] for i in rows], truth[rows], predicted[rows]))

    add("confidence less accuracy", mean, order, correct, confidence - correct)
    add("calibration error of confidence", ece, order, correct, confidence)
    if predictions.unwarned is not None:
        add("answered without a warning", mean, order, correct, predictions.unwarned.astype(float))
    for coverage in COVERAGES:
        chosen = order[: round(coverage * len(order))]
        add(f"error of the dominant emotion at {100 * coverage:.0f} % coverage", mean, chosen, correct, 1 - correct)
    return metrics


def corpus_metrics(predictions: Predictions) -> list[Metric]:
    """Of corpora left out."""
    acted = predictions.of(*RESEARCH.emotion)
    return [*recall_metrics(acted, CORPUS), *confidence_metrics(acted, CORPUS), *vote_metrics(acted, CORPUS), *dimension_metrics(predictions, CORPUS)]


def emotion_metrics(acted: Predictions) -> list[Metric]:
    """Speakers left out of known corpora."""
    metrics = recall_metrics(acted, SPEAKERS) + vote_metrics(acted, SPEAKERS)
    truth = acted.labels
    closed = acted.best_in_corpus()
    for group_of in (lambda c: c.language, lambda c: c.sex, lambda c: f"{c.language}, {c.sex}"):
        groups = np.array([group_of(clip) for clip in acted.clips])
        for group in np.unique(groups):
            rows = np.flatnonzero(groups == group)
            clips = [acted.clips[i] for i in rows]
            metrics += make_metrics("emotion", "UAR of the corpus's labels", str(group), uar, clips, truth[rows], closed[rows])
    return metrics + confidence_metrics(acted, SPEAKERS)


def vote_metrics(acted: Predictions, word: str) -> list[Metric]:
    """In addition to the UAR against the category that most listeners chose."""
    voted = acted.where(lambda clip: clip.votes is not None)
    neutral = np.array([clip.votes[0] for clip in voted.clips])
    intended = np.array([EMOTIONS.index(clip.emotion) for clip in voted.clips])
    return [
        *make_metrics("emotion", f"CCC of the share of votes for neutral, {word}", "CREMA-D", ccc, voted.clips, neutral, voted.probabilities[:, 0]),
        *make_metrics("emotion", f"UAR, as the actors intended, {word}", "CREMA-D", uar, voted.clips, intended, voted.best_in_corpus()),
    ]


def by_sex(corpus: str) -> list[tuple[str, Callable[[Clip], bool]]]:
    """(group, whether a clip belongs to it): all of them, then each sex."""
    return [(corpus, lambda clip: True), *((f"{corpus}, {sex}", lambda clip, sex=sex: clip.sex == sex) for sex in SEXES.values())]


def dimension_metrics(predictions: Predictions, word: str) -> list[Metric]:
    metrics = []
    for corpus, names, score in ((RESEARCH.rated, DIMENSIONS, ccc), (RESEARCH.arousal, ("arousal",), pcc)):
        for name in names:
            for group, wanted in by_sex(corpus):
                own = predictions.of(corpus).where(wanted)
                metrics += make_metrics("emotion", f"{score.name} of {name}, {word}", group, score, own.clips, own.truth(name), own.score(name))
    return metrics


def clarity_metrics(predictions: Predictions) -> list[Metric]:
    corpus = RESEARCH.clarity
    scored = predictions.of(corpus)
    metrics = []
    for column in ("fluency", "prosody"):
        truth = np.array([float(clip.row[column]) / 10 for clip in scored.clips])
        metrics += make_metrics("cognitive", f"PCC of clarity with {column}", corpus, pcc, scored.clips, truth, scored.clarity)
    groups = [*by_sex(corpus), (f"{corpus}, children", lambda clip: (clip.age or 99) < ADULT_AGE),
              (f"{corpus}, adults", lambda clip: (clip.age or 0) >= ADULT_AGE)]  # fmt: skip
    for group, wanted in groups:
        own = scored.where(wanted)
        metrics += make_metrics("cognitive", "PCC of clarity with their mean", group, pcc, own.clips, own.truth("clarity"), own.clarity)
    return metrics


def coverage_metrics(predictions: Predictions, recipe: Recipe) -> list[Metric]:
    """Coverage and mean width of the 80 % intervals, on speakers left out of the corpora that they were fitted on."""
    metrics = []
    for name, corpus in (*((name, recipe.rated) for name in DIMENSIONS), ("clarity", recipe.clarity)):
        rated = predictions.of(corpus)
        inside, width = covered(rated, name)
        for title, values in ((f"share of {name} inside its 80 % interval", inside.astype(float)),
                              (f"mean width of the 80 % interval of {name}", width)):  # fmt: skip
            metrics += make_metrics("cognitive" if name == "clarity" else "emotion", title, corpus, mean, rated.clips, values, values)
    return metrics


def covered(rated: Predictions, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Whether the truth lies inside each interval, and its width."""
    truth = rated.truth(name)
    low, high = rated.intervals[:, SCORES.index(name)].T
    return (truth >= low) & (truth <= high), high - low


def speakers_metrics(predictions: Predictions, recipe: Recipe) -> list[Metric]:
    acted = predictions.of(*recipe.emotion).where(lambda clip: clip.emotion is not None)
    return [*emotion_metrics(acted), *dimension_metrics(predictions, SPEAKERS), *clarity_metrics(predictions), *coverage_metrics(predictions, recipe)]
