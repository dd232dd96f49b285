"""Voices of recordings with a transcript of who speaks when: a folder of WAV files, and RTTM files with their names.

The recordings are read, and nothing of them is kept. Errors have no collar, and overlapping speech counts for each of its speakers.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment

from training.evaluation.reports import BOTH, analyze, has_several_speakers
from training.evaluation.voices import NOBODY, Spans, count_of, spans_of
from training.features.spec import FRAMES_PER_SECOND
from training.reporting.tables import table

MOST = 6  # voices that the command separates


@dataclass(frozen=True)
class Errors:
    """Frames"""

    missed: int
    false_alarm: int
    confused: int
    spoken: int

    @property
    def rate(self) -> float:
        return (self.missed + self.false_alarm + self.confused) / max(1, self.spoken)


def read_rttm(folder: Path) -> dict[str, Spans]:
    """Name of a recording -> seconds and numbers of its speakers"""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for path in sorted(folder.glob("*.rttm")):
        for fields in map(str.split, path.read_text().splitlines()):
            if fields and fields[0] == "SPEAKER":
                found.setdefault(fields[1], []).append((float(fields[3]), float(fields[3]) + float(fields[4]), fields[7]))
    numbers = {name: sorted({speaker for *_, speaker in spans}) for name, spans in found.items()}
    return {name: [(start, end, numbers[name].index(speaker)) for start, end, speaker in spans] for name, spans in found.items()}


def activity(spans: Spans, frames: int) -> np.ndarray:
    """bool [speakers, frames]; speech of nobody is left out."""
    active = np.zeros((1 + max((speaker for *_, speaker in spans), default=0), frames), bool)
    for start, end, speaker in spans:
        if speaker != NOBODY:
            active[speaker, round(start * FRAMES_PER_SECOND) : round(end * FRAMES_PER_SECOND)] = True
    return active


def compare(truth: Spans, found: Spans, seconds: float) -> Errors:
    real, ours = (activity(spans, round(seconds * FRAMES_PER_SECOND)) for spans in (truth, found))
    together = real.astype(int) @ ours.T.astype(int)
    right = int(together[linear_sum_assignment(together, maximize=True)].sum())
    of_truth, of_ours = real.sum(0), ours.sum(0)
    both = int(np.minimum(of_truth, of_ours).sum())
    return Errors(int(of_truth.sum()) - both, int(of_ours.sum()) - both, both - right, int(of_truth.sum()))


def judge(folder: Path, models: Path) -> str:
    """A table of Markdown: a row per recording, and the means"""
    truths = read_rttm(folder)
    paths = [path for path in sorted(folder.glob("*.wav")) if path.stem in truths]
    rows, rates = [], []
    counted = dict(zip(paths, analyze(paths, BOTH, models, ["--speakers", "auto"])))
    warned = {path: has_several_speakers(report) for path, report in zip(paths, analyze(paths, BOTH, models))}
    for path in paths:
        truth = truths[path.stem]
        count = len({speaker for *_, speaker in truth})
        # One voice is no number that the command takes.
        given = counted[path] if count == 1 else analyze([path], BOTH, models, ["--speakers", str(min(count, MOST))])[0]
        reports = {"auto": counted[path], "given": given}
        errors = {name: compare(truth, spans_of(report), report["audio"]["duration_s"]) for name, report in reports.items()}
        found = errors["auto"]
        parts = [value / max(1, found.spoken) for value in (found.missed, found.false_alarm, found.confused)]
        rates.append([*(error.rate for error in errors.values()), *parts])
        rows.append([path.stem, count, count_of(spans_of(reports["auto"])), "yes" if warned[path] else "no", *(f"{rate:.2f}" for rate in rates[-1])])
    means = ["mean", "", "", "", *(f"{rate:.3f}" for rate in np.mean(rates, 0))]
    return table(["recording", "voices", "`auto`", "`several_speakers`", "error, `auto`", "error, number given", "missed", "false alarm", "confused"], [*rows, means])
