"""Which recordings an evaluation runs on: the test part as it is, and a sample of it under corruptions."""

from pathlib import Path

import numpy as np

from training import settings
from training.augment.corruptions import CONDITIONS, Corruptor
from training.corpora.corpus import Clip
from training.corpora.recipe import RECIPE
from training.corpora.registry import is_steady, read_clips
from training.evaluation.pipeline import BOTH, analyze
from training.evaluation.predictions import Reports

CLEAN = "clean"


def evenly_spaced(items: list, count: int) -> list:
    """`count` items at even distances; all of them if there are fewer."""
    return [items[i] for i in np.linspace(0, len(items) - 1, min(count, len(items))).astype(int)] if items else []


def test_clips(everything: list[Clip]) -> list[Clip]:
    tested = (*RECIPE.labelled, *RECIPE.sounds, *RECIPE.unlabelled)
    return [clip for clip in everything if clip.tested and clip.corpus in tested]


def analyze_clean(models: Path) -> Reports:
    """Reports of the test part as recorded."""
    clips = sorted(test_clips(read_clips()), key=lambda clip: clip.path)  # the bootstrap over clips depends on their order
    return Reports(clips, analyze([settings.DATA / clip.path for clip in clips], BOTH, models))


def analyze_all(models: Path) -> dict[str, Reports]:
    """Condition (CLEAN or one of CONDITIONS) -> reports."""
    everything = read_clips()
    clips = test_clips(everything)
    groups = [[clip for clip in clips if clip.corpus == name] for name in RECIPE.labelled]
    sample = [clip for group in groups if group for clip in evenly_spaced(group, group[0].definition.sampling.corrupted)]
    corruptor = Corruptor([clip for clip in everything if is_steady(clip) and clip.tested])
    by_path = sorted(clips, key=lambda clip: clip.path)
    chosen = [(CLEAN, clip, settings.DATA / clip.path) for clip in by_path]
    chosen += [(condition, clip, corruptor.copy(clip, condition)) for condition in CONDITIONS for clip in sample]
    reports = analyze([path for *_, path in chosen], BOTH, models)
    by_condition: dict[str, Reports] = {}
    for (condition, clip, _), report in zip(chosen, reports):
        into = by_condition.setdefault(condition, Reports([], []))
        into.clips.append(clip)
        into.reports.append(report)
    return by_condition
