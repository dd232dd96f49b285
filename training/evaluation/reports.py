"""Reports of the built service's command over recordings, as they are and under corruptions."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from training import settings
from training.augment.corruptions import CONDITIONS, Corruptor
from training.corpora.corpus import DIMENSIONS, EMOTIONS, Clip
from training.corpora.registry import CORPORA, is_steady, read_clips
from training.evaluation.statistics import best_present

BATCH = 200  # recordings per process
BOTH = "emotion,cognitive"
SCORES = (*DIMENSIONS, "clarity")  # order of `intervals`
CLEAN = "clean"


def command_environment() -> dict[str, str]:
    """Without the settings of training, which the command refuses."""
    return {name: value for name, value in os.environ.items() if not name.startswith("UNDERTONE_")}


def analyze(paths: list[Path], signals: str, models: Path, options: Sequence[str] = ()) -> list[dict]:
    """Reports of `undertone analyze`, in the order of `paths`. A refused recording has a report without signals."""
    folder = models.resolve()
    absolute = [str(path.resolve()) for path in paths]
    distinct = list(dict.fromkeys(absolute))
    reports: dict[str, dict] = {}
    for at in range(0, len(distinct), BATCH):
        command = ["node", "dist/src/cli.js", "analyze", "--jsonl", "--signals", signals, "--models-dir", str(folder), *options]
        command += distinct[at : at + BATCH]
        run = subprocess.run(command, cwd=settings.REPOSITORY, env=command_environment(), stdout=subprocess.PIPE, text=True)
        reports |= {report["path"]: report for report in map(json.loads, run.stdout.splitlines())}
        print(f"{len(reports)} of {len(distinct)} recordings and copies", flush=True)
    if len(reports) < len(distinct):
        raise RuntimeError(f"Expected a report for each of {len(distinct)} recordings, got {len(reports)}")
    return [reports[path] for path in absolute]


def is_ok(report: dict, signal: str) -> bool:
    """Whether there was enough speech for scores."""
    return report.get(signal, {}).get("status") == "ok"


def has_several_speakers(report: dict) -> bool:
    """Whether the report has this warning."""
    return "several_speakers" in report["emotion"].get("warnings", [])


@dataclass(frozen=True)
class Predictions:
    """Row by row of `clips`; NaN where a system predicts nothing."""

    clips: list[Clip]
    probabilities: np.ndarray  # [n,8]
    dimensions: np.ndarray  # [n,2] valence, arousal
    clarity: np.ndarray  # [n]
    intervals: np.ndarray | None = None  # [n,3,2] 80 % intervals of SCORES
    audio: list[dict] | None = None  # audio blocks of the reports
    unwarned: np.ndarray | None = None  # bool [n]

    def __len__(self) -> int:
        return len(self.clips)

    def where(self, wanted: Callable[[Clip], bool]) -> Predictions:
        indices = np.flatnonzero([wanted(clip) for clip in self.clips])
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, column in columns.items():
            if isinstance(column, list):
                columns[name] = [column[i] for i in indices]
            elif column is not None:
                columns[name] = column[indices]
        return Predictions(**columns)

    def of(self, *corpora: str) -> Predictions:
        return self.where(lambda clip: clip.corpus in corpora)

    def score(self, name: str) -> np.ndarray:
        """[n] of one of SCORES"""
        return self.clarity if name == "clarity" else self.dimensions[:, DIMENSIONS.index(name)]

    def truth(self, name: str) -> np.ndarray:
        """Ratings of one of SCORES."""
        return np.array([clip.clarity if name == "clarity" else getattr(clip.dimensions, name) for clip in self.clips])

    @property
    def labels(self) -> np.ndarray:
        """Indices into EMOTIONS. Where listeners voted, the category that most of them chose. Calm counts as neutral where no clip has a probability of it."""
        labels = np.array([np.argmax(clip.distribution) for clip in self.clips], int)
        calm = EMOTIONS.index("calm")
        return labels if self.probabilities[:, calm].any() else np.where(labels == calm, EMOTIONS.index("neutral"), labels)

    @property
    def speakers(self) -> np.ndarray:
        return np.array([clip.speaker for clip in self.clips])

    def best_in_corpus(self) -> np.ndarray:
        """The most probable of the labels that the clip's corpus has among these clips."""
        return best_present(self.probabilities, self.labels, np.array([clip.corpus for clip in self.clips]))


@dataclass(frozen=True)
class Reports:
    """Reports of the shipped pipeline, one per clip."""

    clips: list[Clip]
    reports: list[dict]

    def where(self, wanted: Callable[[Clip], bool]) -> Reports:
        indices = [i for i, clip in enumerate(self.clips) if wanted(clip)]
        return Reports([self.clips[i] for i in indices], [self.reports[i] for i in indices])

    def of(self, *corpora: str) -> Reports:
        return self.where(lambda clip: clip.corpus in corpora)

    def and_of(self, others: Reports) -> Reports:
        return Reports(self.clips + others.clips, self.reports + others.reports)

    def has_scores(self) -> np.ndarray:
        """bool [n]: enough speech for scores, which both signals agree on"""
        return np.array([is_ok(report, "emotion") for report in self.reports], bool)

    def warned(self, name: str) -> np.ndarray:
        return np.array([name in report.get("emotion", {}).get("warnings", []) for report in self.reports], bool)

    def unwarned(self) -> np.ndarray:
        """bool [n]: scores, with neither `low_confidence` nor `unlike_training`"""
        return self.has_scores() & ~self.warned("low_confidence") & ~self.warned("unlike_training")

    def predictions(self) -> Predictions:
        """Predictions of the recordings with scores."""
        indices = np.flatnonzero(self.has_scores())
        emotion = [self.reports[i]["emotion"]["signals"] for i in indices]
        cognitive = [self.reports[i]["cognitive"]["signals"] for i in indices]
        bounds = [one["intervals"] | other["intervals"] for one, other in zip(emotion, cognitive)]
        return Predictions(
            clips=[self.clips[i] for i in indices],
            probabilities=np.array([[signals["emotions"].get(name, 0) for name in EMOTIONS] for signals in emotion]).reshape(-1, 8),
            dimensions=np.array([[signals[name] for name in DIMENSIONS] for signals in emotion]).reshape(-1, 2),
            clarity=np.array([signals["clarity"] for signals in cognitive]),
            intervals=np.array([[intervals[name] for name in SCORES] for intervals in bounds]).reshape(-1, 3, 2),
            audio=[self.reports[i]["audio"] for i in indices],
            unwarned=self.unwarned()[indices],
        )


def evenly_spaced(items: list, count: int) -> list:
    """`count` items at even distances; all of them if there are fewer."""
    return [items[i] for i in np.linspace(0, len(items) - 1, min(count, len(items))).astype(int)] if items else []


def analyze_clean(clips: list[Clip], models: Path) -> Reports:
    clips = sorted(clips, key=lambda clip: clip.path)  # the bootstrap over clips depends on their order
    return Reports(clips, analyze([settings.DATA / clip.path for clip in clips], BOTH, models))


def analyze_corrupted(clips: list[Clip], models: Path) -> dict[str, Reports]:
    """Condition -> reports of a sample of each corpus of speech."""
    sample = []
    for name, definition in CORPORA.items():
        sample += evenly_spaced([clip for clip in clips if clip.corpus == name and definition.is_speech], definition.sampling.corrupted)
    corruptor = Corruptor([clip for clip in read_clips() if is_steady(clip) and clip.tested])
    chosen = [(condition, clip, corruptor.copy(clip, condition)) for condition in CONDITIONS for clip in sample]
    reports = analyze([path for *_, path in chosen], BOTH, models)
    by_condition: dict[str, Reports] = {}
    for (condition, clip, _), report in zip(chosen, reports):
        into = by_condition.setdefault(condition, Reports([], []))
        into.clips.append(clip)
        into.reports.append(report)
    return by_condition
