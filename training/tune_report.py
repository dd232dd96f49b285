"""The figures that the tuned and the frozen trunk are compared by, all on speakers and corpora left out."""

from __future__ import annotations

import numpy as np

from corpus import EMOTIONAL, Clip
from emotion import Targets, per_clip
from folds import guess_in
from scores import ccc, pcc, sigmoid, uar
from tune_data import UNSEEN_CORPUS, Windows


def figures(
    clips: list[Clip], windows: Windows, members: np.ndarray, values: np.ndarray, targets: Targets
) -> dict[str, float]:
    """values [windows of members, 11]: eight logits, valence and arousal before the sigmoid, clarity."""
    rows, values = per_clip(windows, members, values)
    names = np.array([clips[i].corpus for i in rows])
    found: dict[str, float] = {}
    for name in EMOTIONAL:
        part = (names == name) & (targets.label[rows] >= 0)
        if part.any():
            label = targets.label[rows[part]]
            found[f"{name} UAR"] = uar(label, guess_in(values[part], label))
    axes = sigmoid(values[:, 8:10])
    for name, wanted in (("TAVA", "rated"), (UNSEEN_CORPUS, "derived")):
        part = names == name
        for axis, word in enumerate(("valence", "arousal")):
            found[f"{name} {word} CCC ({wanted})"] = ccc(targets.axes[rows[part], axis], axes[part, axis])
    part = names == "BAVED"
    found["BAVED arousal PCC"] = pcc(targets.axes[rows[part], 1], axes[part, 1])
    part = names == "speechocean762"
    for column in ("fluency", "prosody"):
        truth = np.array([float(clips[i].row[column]) for i in rows[part]])
        found[f"clarity PCC {column}"] = pcc(truth, values[part, 10])
    found["mean UAR, speakers"] = float(
        np.mean([v for k, v in found.items() if k.endswith("UAR") and not k.startswith(UNSEEN_CORPUS)])
    )
    return {name: round(value, 3) for name, value in found.items()}


def table(columns: dict[str, dict[str, float]]) -> str:
    names = list(next(iter(columns.values())))
    lines = [" | ".join([f"{'':30}", *(f"{title:>10}" for title in columns)])]
    for name in names:
        lines.append(" | ".join([f"{name:30}", *(f"{column[name]:10.3f}" for column in columns.values())]))
    return "\n".join(lines)
