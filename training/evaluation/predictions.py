"""Predictions for clips, in one shape for the shipped pipeline and the baseline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np

from training.corpora.corpus import DIMENSIONS, EMOTIONS, Clip
from training.corpora.recipe import RECIPE
from training.evaluation.pipeline import is_ok
from training.evaluation.statistics import best_present

SCORES = (*DIMENSIONS, "clarity")  # order of `intervals`


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
        values = (getattr(self, field.name) for field in fields(self))
        return Predictions(*([value[i] for i in indices] if isinstance(value, list) else None if value is None else value[indices]
                             for value in values))  # fmt: skip

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
        """Indices into EMOTIONS. Where listeners voted, the category that most of them chose."""
        return np.array([np.argmax(clip.distribution) for clip in self.clips], int)

    @property
    def speakers(self) -> np.ndarray:
        return np.array([clip.speaker for clip in self.clips])

    def best_in_corpus(self) -> np.ndarray:
        """The most probable of the labels that the clip's corpus has among these clips."""
        return best_present(self.probabilities, self.labels, np.array([clip.corpus for clip in self.clips]))


def corpus_of(score: str) -> str:
    """The corpus that it was rated in."""
    return RECIPE.clarity if score == "clarity" else RECIPE.rated


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
        emotion, cognitive = ([self.reports[i][signal]["signals"] for i in indices] for signal in ("emotion", "cognitive"))
        intervals = [[(e["intervals"] | c["intervals"])[name] for name in SCORES] for e, c in zip(emotion, cognitive)]
        return Predictions(
            [self.clips[i] for i in indices],
            np.array([[signals["emotions"][name] for name in EMOTIONS] for signals in emotion]).reshape(-1, 8),
            np.array([[signals[name] for name in DIMENSIONS] for signals in emotion]).reshape(-1, 2),
            np.array([signals["clarity"] for signals in cognitive]),
            np.array(intervals).reshape(-1, 3, 2),
            [self.reports[i]["audio"] for i in indices],
            self.unwarned()[indices],
        )
