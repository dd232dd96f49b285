"""What a system said of clips, in one shape for the shipped pipeline, its rivals and the folds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from conditions import FOLDER
from corpus import EMOTIONS, Clip, read_clips

AXES = ("valence", "arousal")


@dataclass(frozen=True)
class Heard:
    """Row by row of `clips`; NaN where a system does not say."""

    clips: list[Clip]
    shares: np.ndarray  # [n,8]
    axes: np.ndarray  # [n,2] valence, arousal
    clarity: np.ndarray  # [n]
    bounds: np.ndarray | None = None  # [n,3,2] 80 % intervals of valence, arousal, clarity
    audio: list[dict] | None = None  # audio blocks of the reports

    def where(self, wanted) -> Heard:
        """The rows of which `wanted(clip)` is true."""
        rows = np.flatnonzero([wanted(clip) for clip in self.clips])
        return Heard(
            [self.clips[i] for i in rows],
            self.shares[rows],
            self.axes[rows],
            self.clarity[rows],
            None if self.bounds is None else self.bounds[rows],
            None if self.audio is None else [self.audio[i] for i in rows],
        )

    def __len__(self) -> int:
        return len(self.clips)


@dataclass(frozen=True)
class Reports:
    """Reports of one condition by the path of the clip; None where the file was refused."""

    clips: list[Clip]
    reports: list[dict]

    def heard(self) -> Heard:
        """Those with enough speech."""
        pairs = [(c, r) for c, r in zip(self.clips, self.reports) if status_of(r) == "ok"]
        feeling = [r["emotion"]["signals"] for _, r in pairs]
        thinking = [r["cognitive"]["signals"] for _, r in pairs]
        bounds = [[f["intervals"]["valence"], f["intervals"]["arousal"], t["intervals"]["clarity"]]
                  for f, t in zip(feeling, thinking)]  # fmt: skip
        return Heard(
            [clip for clip, _ in pairs],
            np.array([[f["emotions"][name] for name in EMOTIONS] for f in feeling]).reshape(-1, 8),
            np.array([[f[axis] for axis in AXES] for f in feeling]).reshape(-1, 2),
            np.array([t["clarity"] for t in thinking]),
            np.array(bounds).reshape(-1, 3, 2),
            [r["audio"] for _, r in pairs],
        )

    def answered(self) -> np.ndarray:
        return np.array([status_of(r) == "ok" for r in self.reports])

    def warned(self, name: str) -> np.ndarray:
        return np.array([name in r.get("emotion", {}).get("warnings", []) for r in self.reports])


def status_of(report: dict) -> str:
    """Both endpoints answer alike; a refused file has no status."""
    return report.get("emotion", {}).get("status", "error")


def read_reports(path: str) -> dict[str, Reports]:
    """Lines of `undertone analyze --jsonl` over conditions.FOLDER -> reports by condition."""
    by_stem = {str(Path(clip.path).with_suffix("")): clip for clip in read_clips()}
    found: dict[str, Reports] = {}
    with open(path) as lines:
        for report in map(json.loads, lines):
            condition, _, rest = str(Path(report["path"]).relative_to(FOLDER)).partition("/")
            into = found.setdefault(condition, Reports([], []))
            into.clips.append(by_stem[str(Path(rest).with_suffix(""))])
            into.reports.append(report)
    return found
