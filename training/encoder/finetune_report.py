"""Metrics for comparing recipes, on speakers and corpora that fine-tuning left out."""

import numpy as np

from training.corpora.corpus import Clip
from training.corpora.labels import DIMENSIONS
from training.corpora.recipe import RECIPE
from training.encoder.multitask import CLARITY
from training.encoder.window_store import WindowStore
from training.evaluation.statistics import Score, ccc, pcc, sigmoid, uar
from training.heads import emotion
from training.heads.fit import mean_per_clip


def measure_recipe(clips: list[Clip], windows: WindowStore, members: np.ndarray, values: np.ndarray) -> dict[str, float]:
    """values [members, 11]: outputs of a MultiTaskModel. Corpora without members are left out."""
    targets = emotion.targets_of(clips)
    rows, values = mean_per_clip(windows.clips[members], windows.speech_frames[members], values)
    names = np.array([clips[i].corpus for i in rows])
    dimensions = sigmoid(values[:, emotion.DIMENSIONS])
    found: dict[str, float] = {}

    def add(name: str, score: Score, part: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> None:
        if part.any():
            found[name] = score(truth[part], predicted[part])

    for name in RECIPE.emotion:
        part = (names == name) & (targets.label[rows] >= 0)
        allowed = np.unique(targets.label[rows[part]])
        predicted = allowed[np.argmax(values[:, allowed], 1)] if part.any() else part
        add(f"{name} UAR", uar, part, targets.label[rows], predicted)
    for name, source in ((RECIPE.rated, "rated"), (RECIPE.unseen, "derived")):
        for place, dimension in enumerate(DIMENSIONS):
            truth = targets.dimensions[rows, place]
            add(f"{name} {dimension} CCC ({source})", ccc, names == name, truth, dimensions[:, place])
    add(f"{RECIPE.arousal} arousal PCC", pcc, names == RECIPE.arousal, targets.dimensions[rows, 1], dimensions[:, 1])
    for column in ("fluency", "prosody"):
        truth = np.array([float(clips[i].row[column] or "nan") for i in rows])
        add(f"clarity PCC {column}", pcc, names == RECIPE.clarity, truth, values[:, CLARITY])
    if known := [value for name, value in found.items() if name.endswith("UAR") and not name.startswith(RECIPE.unseen)]:
        found["mean UAR, speakers"] = float(np.mean(known))
    return {name: round(value, 3) for name, value in found.items()}


def format_columns(columns: dict[str, dict[str, float]]) -> str:
    """Title of a column -> metric -> value."""
    names = list(next(iter(columns.values())))
    lines = [" | ".join([f"{'':30}", *(f"{title:>10}" for title in columns)])]
    for name in names:
        lines.append(" | ".join([f"{name:30}", *(f"{column[name]:10.3f}" for column in columns.values())]))
    return "\n".join(lines)
