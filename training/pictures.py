"""Pictures of figures: small SVG files under docs/pictures, the same bytes for the same figures."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

from conditions import CHANGED
from corpus import EMOTIONAL, EMOTIONS, HERE
from figures import closed, covered, labels_of
from heard import Heard
from scores import BINS

FOLDER = HERE.parent / "docs" / "pictures"
INK, PAPER, BLUE, ORANGE = "#222222", "#ffffff", "#2b6cb0", "#c05621"
plt.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "undertone", "font.family": "sans-serif", "font.size": 9,
    "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": PAPER, "axes.edgecolor": INK,
})  # fmt: skip


def save(name: str) -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{name}.svg"
    plt.tight_layout()
    plt.savefig(path, metadata={"Date": None, "Creator": None})
    plt.close()
    return path


def draw_matrix(axes, name: str, truth: np.ndarray, guess: np.ndarray) -> None:
    labels = np.unique(truth)
    shares = np.array([[np.mean(guess[truth == said] == heard) for heard in labels] for said in labels])
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    short = [EMOTIONS[i][:4] for i in labels]
    axes.set_xticks(range(len(labels)), short, rotation=90, fontsize=7)
    axes.set_yticks(range(len(labels)), short, fontsize=7)
    for (row, column), value in np.ndenumerate(shares):
        if value >= 0.005:
            axes.text(column, row, f"{100 * value:.0f}", ha="center", va="center", fontsize=6,
                      color=PAPER if value > 0.5 else INK)  # fmt: skip
    axes.set_title(f"{name} ({len(truth)})", fontsize=8)


def draw_confusion(heard: Heard, name: str = "confusion") -> Path:
    """Said downwards, heard to the right, in percent of what was said; the corpus's labels alone."""
    acted = heard.where(lambda clip: clip.corpus in EMOTIONAL)
    truth, guess = labels_of(acted.clips), closed(acted)
    names = [n for n in EMOTIONAL if any(clip.corpus == n for clip in acted.clips)]
    columns = -(-len(names) // 2)
    _, grid = plt.subplots(2, columns, figsize=(2.4 * columns, 5))
    for axes in grid.flat[len(names) :]:
        axes.axis("off")
    for axes, corpus in zip(grid.flat, names):
        rows = np.array([clip.corpus == corpus for clip in acted.clips])
        draw_matrix(axes, corpus, truth[rows], guess[rows])
    return save(name)


def draw_calibration(heard: Heard) -> Path:
    acted = heard.where(lambda clip: clip.corpus in EMOTIONAL)
    top, right = acted.shares.max(1), acted.shares.argmax(1) == labels_of(acted.clips)
    place = np.minimum((top * BINS).astype(int), BINS - 1)
    used = [i for i in range(BINS) if np.sum(place == i) >= 10]
    _, (axes, below) = plt.subplots(2, 1, figsize=(4, 4.6), height_ratios=[3, 1], sharex=True)
    axes.plot([0, 1], [0, 1], color="#999999", lw=1, ls="--", label="calibrated")
    axes.plot([top[place == i].mean() for i in used], [right[place == i].mean() for i in used], "o-", color=BLUE,
              label="held-out speakers")  # fmt: skip
    axes.set_ylabel("share that is right")
    axes.legend(frameon=False)
    below.bar((np.arange(BINS) + 0.5) / BINS, np.bincount(place, minlength=BINS), 0.9 / BINS, color=BLUE)
    below.set_ylabel("recordings")
    below.set_xlabel("confidence")
    return save("calibration")


def draw_coverage(by_condition: dict[str, Heard]) -> Path:
    """Coverage and mean width of the 80 % intervals, condition by condition."""
    names = {"clean": "as it is", **CHANGED}
    shown = [name for name in names if name in by_condition]
    _, (upper, lower) = plt.subplots(2, 1, figsize=(6, 4.6), sharex=True)
    for place, (signal, corpus) in enumerate([("valence", "TAVA"), ("arousal", "TAVA"), ("clarity", "speechocean762")]):
        parts = [by_condition[name].where(lambda clip: clip.corpus == corpus) for name in shown]
        pairs = [covered(part, place, signal) if len(part) else (np.array([np.nan]),) * 2 for part in parts]
        upper.plot([inside.mean() for inside, _ in pairs], "o-", label=signal)
        lower.plot([width.mean() for _, width in pairs], "o-", label=signal)
    upper.axhspan(0.75, 0.85, color="#dddddd", zorder=0)
    upper.set_ylabel("coverage")
    upper.set_ylim(0, 1.02)
    upper.legend(frameon=False, ncols=3, loc="lower left")
    lower.set_ylabel("mean width")
    lower.set_ylim(0, None)
    lower.set_xticks(range(len(shown)), [names[name] for name in shown], rotation=20, ha="right")
    return save("coverage")


def draw_candidates(candidates: list[dict]) -> Path:
    """Each figure against the cost; the shipped candidate is filled orange."""
    keys = list(dict.fromkeys(key for one in candidates for key in one["figures"]))[:6]
    columns = min(3, len(keys))
    rows = -(-len(keys) // columns)
    _, grid = plt.subplots(rows, columns, figsize=(3.2 * columns, 2.6 * rows), squeeze=False)
    for axes in grid.flat[len(keys) :]:
        axes.axis("off")
    for axes, key in zip(grid.flat, keys):
        for one in candidates:
            if key in one["figures"]:
                colour = ORANGE if one.get("shipped") else BLUE
                axes.plot(one["msPer10s"], one["figures"][key], "o", color=colour)
                axes.annotate(one["name"], (one["msPer10s"], one["figures"][key]), fontsize=6,
                              xytext=(3, 3), textcoords="offset points")  # fmt: skip
        axes.set_title(key, fontsize=8)
        axes.set_xlim(0, None)
        axes.margins(0.2)
        axes.set_xlabel("ms for 10 s")
    return save("candidates")


def draw_curves(curves: dict[str, list[list[float]]]) -> Path:
    """name -> [[step, loss], ...]"""
    _, axes = plt.subplots(figsize=(6, 3))
    for name, points in curves.items():
        axes.plot(*np.array(points).T, lw=1, label=name)
    axes.set_xlabel("step")
    axes.set_ylabel("loss")
    axes.legend(frameon=False, fontsize=7)
    return save("training-curves")
