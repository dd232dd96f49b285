"""Metrics that recipes are compared by, on speakers and corpora that fine-tuning left out."""

import numpy as np

from training.corpora.corpus import Clip
from training.corpora.labels import DIMENSIONS
from training.corpora.recipe import RECIPE
from training.encoder.multitask import CLARITY
from training.encoder.window_store import WindowStore
from training.evaluation.statistics import ccc, pcc, sigmoid, uar
from training.heads import emotion
from training.heads.fit import mean_per_clip


def best_of(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The likeliest of the labels that occur."""
    allowed = np.unique(labels)
    return allowed[np.argmax(logits[:, allowed], 1)]


def measure(clips: list[Clip], windows: WindowStore, members: np.ndarray, values: np.ndarray) -> dict[str, float]:
    """values [members, 11]: outputs of a MultiTaskModel."""
    targets = emotion.targets_of(clips)
    rows, values = mean_per_clip(windows.clips[members], windows.speech_frames[members], values)
    names = np.array([clips[i].corpus for i in rows])
    found: dict[str, float] = {}
    for name in RECIPE.emotion:
        part = (names == name) & (targets.label[rows] >= 0)
        if part.any():
            label = targets.label[rows[part]]
            found[f"{name} UAR"] = uar(label, best_of(values[part, emotion.CATEGORIES], label))
    dimensions = sigmoid(values[:, emotion.DIMENSIONS])
    for name, source in ((RECIPE.rated, "rated"), (RECIPE.unseen, "derived")):
        part = names == name
        for place, dimension in enumerate(DIMENSIONS):
            found[f"{name} {dimension} CCC ({source})"] = ccc(targets.dimensions[rows[part], place], dimensions[part, place])
    part = names == RECIPE.arousal
    found[f"{RECIPE.arousal} arousal PCC"] = pcc(targets.dimensions[rows[part], 1], dimensions[part, 1])
    part = names == RECIPE.clarity
    for column in ("fluency", "prosody"):
        truth = np.array([float(clips[i].row[column]) for i in rows[part]])
        found[f"clarity PCC {column}"] = pcc(truth, values[part, CLARITY])
    known = [value for name, value in found.items() if name.endswith("UAR") and not name.startswith(RECIPE.unseen)]
    found["mean UAR, speakers"] = float(np.mean(known))
    return {name: round(value, 3) for name, value in found.items()}


def table(columns: dict[str, dict[str, float]]) -> str:
    """Title of a column -> metric -> value."""
    names = list(next(iter(columns.values())))
    lines = [" | ".join([f"{'':30}", *(f"{title:>10}" for title in columns)])]
    for name in names:
        lines.append(" | ".join([f"{name:30}", *(f"{column[name]:10.3f}" for column in columns.values())]))
    return "\n".join(lines)
