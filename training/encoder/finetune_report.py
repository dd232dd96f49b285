"""Metrics for comparing recipes, on the speakers and corpora of the dev part."""

from collections.abc import Callable

import numpy as np
from scipy.special import softmax

from training.corpora.corpus import DIMENSIONS, NEGATIVE, Clip
from training.corpora.recipe import RECIPE
from training.encoder.embeddings import WindowStore
from training.evaluation.statistics import best_present, ccc, pcc, sigmoid, uar
from training.heads import emotion
from training.heads.fit import mean_per_clip


def measure_recipe(clips: list[Clip], windows: WindowStore, members: np.ndarray, values: np.ndarray) -> dict[str, float]:
    """values [members, 11]: outputs of a MultiTaskModel, the last of clarity. Corpora without members are left out."""
    targets = emotion.targets_of(clips)
    rows, values = mean_per_clip(windows.clips[members], windows.speech_frames[members], values)
    names = np.array([clips[i].corpus for i in rows])
    dimensions = sigmoid(values[:, emotion.DIMENSIONS])
    found: dict[str, float] = {}

    def add(name: str, score: Callable[[np.ndarray, np.ndarray], float], part: np.ndarray, truth: np.ndarray, predicted: np.ndarray) -> None:
        if part.any():
            found[name] = score(truth[part], predicted[part])

    best = best_present(values[:, emotion.CATEGORIES], targets.label[rows], names)
    for name in RECIPE.emotion:
        add(f"{name} UAR", uar, (names == name) & (targets.label[rows] >= 0), targets.label[rows], best)
    for place, dimension in enumerate(DIMENSIONS):
        add(f"{RECIPE.rated} {dimension} CCC", ccc, names == RECIPE.rated, targets.dimensions[rows, place], dimensions[:, place])
    neutral_share = targets.distribution[rows][:, 0]
    add("CREMA-D neutral share CCC", ccc, names == "CREMA-D", neutral_share, softmax(values[:, emotion.CATEGORIES], 1)[:, 0])
    negative = np.isin(values[:, emotion.CATEGORIES].argmax(1), NEGATIVE).astype(float)
    for name in (*RECIPE.ordinary, RECIPE.clarity):
        add(f"{name} negative", lambda truth, _: float(truth.mean()), names == name, negative, negative)
    add(f"{RECIPE.arousal} arousal PCC", pcc, names == RECIPE.arousal, targets.dimensions[rows, 1], dimensions[:, 1])
    for column in ("fluency", "prosody"):
        truth = np.array([float(clips[i].row[column] or "nan") for i in rows])
        add(f"clarity PCC {column}", pcc, names == RECIPE.clarity, truth, values[:, -1])
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
