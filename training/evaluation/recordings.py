"""Evaluates utterances where they stand in a recording, and the same clips alone, through the shipped pipeline.

results/recordings.json has the figures of each set of models.
"""

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from training import settings
from training.corpora.corpus import DIMENSIONS, EMOTIONS, NEGATIVE, Clip
from training.corpora.registry import read_clips
from training.evaluation import joined, results
from training.evaluation.joined import Joined
from training.evaluation.metrics import Metric, make_metrics, mean_metric, natural_metrics
from training.evaluation.reports import Predictions, Reports, analyze, is_ok
from training.evaluation.statistics import mean, paired_interval, uar
from training.export.specs import ModelSet
from training.pipeline import folder_of

PATH = settings.RESULTS / "recordings.json"
ORDINARY = ("LibriSpeech", "AMI", "VoxLingua107", "speechocean762")
TURNS = "two speakers in turns"
INTENDED = "CREMA-D, as intended"
BOUND_S = 0.02  # bounds within it are equal
SETTLED_S = 0.5  # an utterance that ended so long before the end of the file does not depend on the end
SURE = 0.45  # confidence of a sure utterance
SURE_SECONDS = 1.5  # length of a sure utterance
PICTURED_PAUSE = 3.0
NO_LABEL = -1
PLACED = ("UAR alone", "UAR in a recording", "UAR in a recording less alone", "change of arousal", "change of valence")
MIXED = (
    "angry clips that are angry alone",
    "angry clips that stay angry among eight neutral ones",
    "neutral clips that are negative alone",
    "neutral clips that are negative around an angry one",
)
CUT = (
    "equal bounds",
    "equal bounds and label",
    "mean change of valence",
    "mean change of arousal",
    "largest change of valence",
    "largest change of arousal",
)
SURE_NEGATIVE = f"sure negative utterances of {SURE_SECONDS:g} s"
Row = np.ndarray  # [10]: EMOTIONS, then DIMENSIONS


def pauses_of(seconds: float) -> str:
    return f"pauses of {seconds:g} s"


def chosen_clips() -> list[Clip]:
    """Of the test part."""
    clips = [clip for clip in read_clips() if clip.corpus in joined.CORPORA and clip.emotion is not None and clip.tested]
    return sorted(clips, key=lambda clip: clip.path)


def analyze_joined(recordings: list[Joined], models: Path) -> list[dict]:
    """Emotion reports, in order. The files are gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="undertone-recordings-") as folder:
        paths = [Path(folder) / f"{index:04}.wav" for index in range(len(recordings))]
        for recording, path in zip(recordings, paths):
            recording.write(path)
        return [report["emotion"] if is_ok(report, "emotion") else {"timeline": []} for report in analyze(paths, "emotion", models)]


def row_of(scores: dict) -> Row:
    return np.array([*(scores["emotions"].get(name, 0) for name in EMOTIONS), *(scores[name] for name in DIMENSIONS)])


def overlap(entry: dict, start: float, end: float) -> float:
    return max(0.0, min(entry["end_s"], end) - max(entry["start_s"], start))


def judge(timeline: list[dict], start: float, end: float) -> Row:
    """Mean of the entries that overlap the span, weighted by overlap; NaN without any."""
    weights = np.array([overlap(entry, start, end) for entry in timeline])
    if weights.sum() == 0:
        return np.full(len(EMOTIONS) + len(DIMENSIONS), np.nan)
    return np.average([row_of(entry) for entry in timeline], axis=0, weights=weights)


class Alone:
    """Scores of each clip as a file of its own."""

    def __init__(self, clips: list[Clip], models: Path):
        reports = analyze_joined([Joined((clip,), 0) for clip in clips], models)
        self.rows = {clip.path: row_of(report["signals"]) for clip, report in zip(clips, reports) if report["timeline"]}

    def known(self, clips: list[Clip]) -> list[int]:
        return [index for index, clip in enumerate(clips) if clip.path in self.rows]

    def of(self, clips: list[Clip]) -> np.ndarray:
        """[n,10]"""
        return np.array([self.rows[clip.path] for clip in clips]).reshape(len(clips), -1)


def to_predictions(clips: list[Clip], rows: np.ndarray) -> Predictions:
    return Predictions(clips, rows[:, : len(EMOTIONS)], rows[:, len(EMOTIONS) :], np.full(len(clips), np.nan))


def labels_of(predictions: Predictions) -> np.ndarray:
    """The most probable of the corpus's labels; NO_LABEL for a clip in which no utterance was found."""
    return np.where(np.isnan(predictions.probabilities[:, 0]), NO_LABEL, predictions.best_in_corpus())


def judge_all(recordings: list[Joined], models: Path, known: Alone) -> tuple[Predictions, Predictions]:
    """Every clip alone and in its recording; without those that have no scores alone."""
    clips = [clip for recording in recordings for clip in recording.clips]
    reports = analyze_joined(recordings, models)
    rows = np.array([judge(report["timeline"], *bounds) for recording, report in zip(recordings, reports) for bounds in recording.bounds()])
    kept = known.known(clips)
    clips = [clips[index] for index in kept]
    return to_predictions(clips, known.of(clips)), to_predictions(clips, rows[kept])


def recall_metrics(alone: Predictions, inside: Predictions, group: str, truth: np.ndarray) -> list[Metric]:
    """UAR of both over the corpus's labels, and the difference."""
    one = labels_of(alone)
    other = labels_of(inside)
    metrics = make_metrics("emotion", PLACED[0], group, uar, alone.clips, truth, one)
    metrics += make_metrics("emotion", PLACED[1], group, uar, alone.clips, truth, other)
    difference = round(uar(truth, other) - uar(truth, one), 3)
    interval = paired_interval(uar, truth, other, one, [f"{clip.corpus} {clip.speaker}" for clip in alone.clips])
    return [*metrics, replace(metrics[0], figure=PLACED[2], value=difference, interval=interval)]


def change_metrics(alone: Predictions, inside: Predictions, group: str) -> list[Metric]:
    moved = {name: np.nanmean(np.abs(inside.score(name) - alone.score(name))) for name in DIMENSIONS}
    return [mean_metric("emotion", f"change of {name}", group, value, inside.clips) for name, value in moved.items()]


def place_metrics(alone: Predictions, inside: Predictions, place: str) -> list[Metric]:
    """By corpus. `place`: what lies between the clips"""
    metrics = []
    for name in joined.CORPORA:
        own = alone.of(name)
        other = inside.of(name)
        if len(own) == 0:
            continue
        group = f"{name}, {place}"
        metrics += recall_metrics(own, other, group, own.labels) + change_metrics(own, other, group)
        if name in INTENDED:
            metrics += recall_metrics(own, other, f"{INTENDED}, {place}", np.array([EMOTIONS.index(clip.emotion) for clip in own.clips]))
    return metrics


def pooled_metrics(inside: list[Predictions]) -> list[Metric]:
    """Figures of README.md in recordings: all pauses together, on the clips that the figures of clips are of."""
    metrics = []
    for name in joined.CORPORA:
        own = [one.of(name) for one in inside]
        clips = [clip for one in own for clip in one.clips]
        truth, found = (np.concatenate(values) for values in zip(*((one.labels, labels_of(one)) for one in own)))
        metrics += make_metrics("emotion", f"UAR of its {len(np.unique(truth))} labels", name, uar, clips, truth, found)
    return metrics


def is_negative(rows: np.ndarray) -> np.ndarray:
    """bool [n]; a clip without an utterance is not"""
    return ~np.isnan(rows[:, 0]) & np.isin(rows[:, : len(EMOTIONS)].argmax(1), NEGATIVE)


def is_angry(rows: np.ndarray) -> np.ndarray:
    return ~np.isnan(rows[:, 0]) & (rows[:, : len(EMOTIONS)].argmax(1) == EMOTIONS.index("angry"))


def angry_metrics(alone: Predictions, inside: Predictions, place: str) -> list[Metric]:
    """Over all eight labels."""
    angry = np.array([clip.emotion == "angry" for clip in alone.clips])

    def share(title: str, rows: np.ndarray, values: np.ndarray) -> list[Metric]:
        clips = [clip for clip, wanted in zip(alone.clips, rows) if wanted]
        return make_metrics("emotion", title, place, mean, clips, values[rows], values[rows], min_clips=1)

    was = is_angry(alone.probabilities)
    still = is_angry(inside.probabilities)
    rows = angry, angry & was, ~angry, ~angry
    values = was, still, is_negative(alone.probabilities), is_negative(inside.probabilities)
    return [metric for title, wanted, found in zip(MIXED, rows, values) for metric in share(title, wanted, found)]


def settled(timeline: list[dict], cut: float) -> list[dict]:
    return [entry for entry in timeline if entry["end_s"] <= cut - SETTLED_S]


def counterpart(entry: dict, timeline: list[dict]) -> dict | None:
    """The entry that overlaps it most."""
    found = max(timeline, key=lambda other: overlap(other, entry["start_s"], entry["end_s"]), default=None)
    return found if found and overlap(found, entry["start_s"], entry["end_s"]) > 0 else None


def compare_cut(entry: dict, other: dict | None) -> list[float]:
    """-> equal bounds, equal label as well, changes of valence and arousal"""
    if other is None:
        return [0, 0, np.nan, np.nan]
    equal = all(abs(entry[name] - other[name]) <= BOUND_S + 1e-6 for name in ("start_s", "end_s"))
    changes = [abs(entry[name] - other[name]) for name in DIMENSIONS]
    return [equal, equal and entry["dominant_emotion"] == other["dominant_emotion"], *changes]


def cut_metrics(groups: list[tuple[Clip, ...]], models: Path) -> list[Metric]:
    """Utterances of a recording that ended before a cut, in the recording and in what is left of it."""
    families = joined.cuts(groups)
    reports = iter(analyze_joined([recording for family in families for recording in family], models))
    clips = []
    rows = []
    for family in families:
        whole, *shorter = (next(reports)["timeline"] for _ in family)
        for recording, timeline in zip(family[1:], shorter):
            compared = [compare_cut(entry, counterpart(entry, timeline)) for entry in settled(whole, recording.cut)]
            rows += compared
            clips += [recording.clips[0]] * len(compared)
    values = np.array(rows, float)
    owners = np.array([clip.corpus for clip in clips])
    metrics = []
    for group, wanted in [(name, owners == name) for name in joined.CORPORA] + [("all", owners != "")]:
        own = [clip for clip, one in zip(clips, wanted) if one]
        chosen = values[wanted]
        for title, found in zip(CUT[:2], chosen.T):
            metrics += make_metrics("emotion", title, group, mean, own, found, found)
        moved = np.concatenate([np.nanmean(chosen[:, 2:], 0), np.nanmax(chosen[:, 2:], 0)])
        metrics += [mean_metric("emotion", title, group, value, own) for title, value in zip(CUT[2:], moved)]
    return metrics


def ordinary_metrics(models: Path) -> list[Metric]:
    """Recordings as they are, and their sure utterances."""
    clips = sorted((clip for clip in read_clips() if clip.corpus in ORDINARY and clip.tested), key=lambda clip: clip.path)
    reports = Reports(clips, analyze([settings.DATA / clip.path for clip in clips], "emotion", models))
    metrics = natural_metrics(reports)
    for name in ORDINARY:
        own = reports.of(name)
        pairs = [(clip, entry) for clip, report in zip(own.clips, own.reports) if is_ok(report, "emotion")
                 for entry in report["emotion"]["timeline"] if entry["end_s"] - entry["start_s"] >= SURE_SECONDS]  # fmt: skip
        sure = np.array([entry["confidence"] >= SURE and EMOTIONS.index(entry["dominant_emotion"]) in NEGATIVE for _, entry in pairs], float)
        metrics += make_metrics("emotion", SURE_NEGATIVE, name, mean, [clip for clip, _ in pairs], sure, sure, min_clips=1)
    return metrics


def pictured(recording: Joined, models: Path, known: Alone) -> dict:
    """One recording: each clip with its probabilities alone, and the entries of the timeline."""
    (report,) = analyze_joined([recording], models)
    shown = [EMOTIONS.index(name) for name in ("neutral", "angry")]
    clips = [{"start": round(start, 2), "end": round(end, 2), "label": clip.emotion, "alone": known.rows[clip.path][shown].tolist()}
             for clip, (start, end) in zip(recording.clips, recording.bounds())]  # fmt: skip
    entries = [[entry["start_s"], entry["end_s"], *row_of(entry)[shown].tolist()] for entry in report["timeline"]]
    return {"clips": clips, "entries": entries}


def measure(models: ModelSet, folder: Path) -> dict:
    """A run: the figures, and the recording of the picture. `folder`: of the row of speakers"""
    clips = chosen_clips()
    known = Alone(clips, folder)
    groups = joined.one_speaker(clips)
    metrics = []
    inside = []
    for pause in joined.PAUSES:
        alone, found = judge_all([Joined(group, pause) for group in groups], folder, known)
        metrics += place_metrics(alone, found, pauses_of(pause))
        inside.append(found)
    metrics += pooled_metrics(inside)
    angry = joined.angry_among_neutral(clips)
    for pause in joined.PAUSES:
        metrics += angry_metrics(*judge_all([replace(one, pause=pause) for one in angry], folder, known), pauses_of(pause))
    metrics += place_metrics(*judge_all(joined.in_turns(clips), folder, known), TURNS)
    for filler in joined.FILLERS:
        metrics += place_metrics(*judge_all(joined.with_noise(groups, filler), folder, known), filler)
    metrics += cut_metrics(groups, folder) + ordinary_metrics(folder)
    return results.new_run(folder_of(models), metrics) | {"pictured": pictured(replace(angry[0], pause=PICTURED_PAUSE), folder, known)}


def figures_of(name: str) -> list[Metric]:
    """Of a set, without those of recordings as they are."""
    return [metric for metric in results.metrics_of(results.read(PATH)[name]) if metric.group not in ORDINARY]
