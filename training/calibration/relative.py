"""How far the errors of a recording and of a baseline of the same speaker cancel: the factors of the intervals of relative affect.

Fitted on rated speakers of the calibration part, by the shipped pipeline with heads that were not fitted on them: each of their other
recordings beside one to three in which they act calm affects. The service evaluates the same rule (src/engine/signals/relative.ts).
"""

import json
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from training import settings
from training.calibration.intervals import conformal_quantile
from training.corpora.corpus import DIMENSIONS, Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.evaluation.pipeline import analyze, is_ok
from training.export.manifest import update_manifest

AT_REST = ("tranquil", "serene", "mellow")  # affects of RECIPE.rated


@dataclass(frozen=True)
class Changes:
    """One row per recording and choice of baselines, of one score."""

    error: np.ndarray  # [n] |rated change - predicted change|
    half: np.ndarray  # [n] half-width of the interval, with the factor of the models


def is_at_rest(clip: Clip) -> bool:
    return clip.row["label"] in AT_REST


def choices(clips: list[Clip]) -> list[tuple[list[Clip], list[Clip]]]:
    """-> the baselines and the other clips of one speaker, for each choice of baselines"""
    rest, others = ([clip for clip in clips if is_at_rest(clip) is wanted] for wanted in (True, False))
    return [(list(chosen), others) for count in range(1, len(rest) + 1) for chosen in combinations(rest, count)]


def read_changes(models: Path) -> dict[str, Changes]:
    clips = [clip for clip in read_clips() if clip.corpus == RECIPE.rated and clip.part is Part.CALIBRATION]
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in DIMENSIONS}
    for speaker in sorted({clip.speaker for clip in clips}):
        for baselines, others in choices([clip for clip in clips if clip.speaker == speaker]):
            options = [word for clip in baselines for word in ("--baseline", str((settings.DATA / clip.path).resolve()))]
            for clip, report in zip(others, analyze([settings.DATA / clip.path for clip in others], "emotion", models, options)):
                if is_ok(report, "emotion"):
                    for name, found in rows.items():
                        rated = getattr(clip.dimensions, name) - np.median([getattr(one.dimensions, name) for one in baselines])
                        change, (lower, upper) = (report["emotion"]["relative"][name][key] for key in ("change", "interval"))
                        found.append((abs(rated - change), max(change - lower, upper - change)))
    return {name: Changes(*map(np.array, zip(*found))) for name, found in rows.items()}


def coverage(changes: Changes) -> float:
    return round(float((changes.error <= changes.half).mean()), 3)


def fit(models: Path) -> dict[str, float]:
    """`models`: heads that the calibration part is new to. -> factor of each score, also written into their manifest"""
    folder = models / "emotion"
    update_manifest(folder, {"relative": dict.fromkeys(DIMENSIONS, 1)})
    if not any(clip.corpus == RECIPE.rated and is_at_rest(clip) for clip in read_clips()):
        return dict.fromkeys(DIMENSIONS, 1)  # errors count as independent
    found = read_changes(models)
    params = {name: round(float(conformal_quantile(changes.error / changes.half)), 3) for name, changes in found.items()}
    update_manifest(folder, {"relative": params})
    print(f"relative: {json.dumps(params)}; with a factor of 1 the intervals hold {json.dumps({name: coverage(one) for name, one in found.items()})}", flush=True)
    return params
