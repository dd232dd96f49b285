"""Plots as small SVG files under docs/pictures; the same values give the same bytes."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix

from training import settings
from training.augment.corruptions import CONDITIONS
from training.corpora.corpus import EMOTIONS
from training.corpora.recipe import SOLD
from training.evaluation.metrics import covered, dominant_of
from training.evaluation.reports import CLEAN, SCORES, Predictions
from training.evaluation.statistics import CALIBRATION_BINS, confidence_bins

FOLDER = settings.REPOSITORY / "docs" / "pictures"
INK = "#222222"
PAPER = "#ffffff"
BLUE = "#2b6cb0"
RED = "#c05621"
RATED = {"valence": SOLD.rated, "arousal": SOLD.rated, "clarity": SOLD.clarity}
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


def draw_confusion(acted: Predictions) -> Path:
    """One matrix per corpus over its own labels: rows are acted, columns predicted, in percent of the row."""
    names = dict.fromkeys(clip.corpus for clip in acted.clips)
    by_corpus = [(name, acted.of(name)) for name in names]
    columns = -(-len(by_corpus) // 2)
    _, grid = plt.subplots(2, columns, figsize=(2.4 * columns, 5))
    for axes in grid.flat[len(by_corpus) :]:
        axes.axis("off")
    for axes, (name, acted) in zip(grid.flat, by_corpus):
        rates = 100 * confusion_matrix(acted.labels, acted.best_in_corpus(), normalize="true")
        shown = ConfusionMatrixDisplay(rates, display_labels=[EMOTIONS[i][:4] for i in np.unique(acted.labels)])
        shown.plot(cmap="Blues", im_kw={"vmin": 0, "vmax": 100}, text_kw={"fontsize": 6}, values_format=".0f", colorbar=False,
                   xticks_rotation="vertical", ax=axes)  # fmt: skip
        axes.tick_params(labelsize=7)
        axes.set(xlabel="", ylabel="")
        axes.set_title(f"{name} ({len(acted)})", fontsize=8)
    return save("confusion")


def draw_calibration(groups: dict[str, Predictions]) -> Path:
    """Reliability diagram of each row of the evaluation."""
    _, (axes, below) = plt.subplots(2, 1, figsize=(4, 4.6), height_ratios=[3, 1], sharex=True)
    axes.plot([0, 1], [0, 1], color="#999999", lw=1, ls="--", label="calibrated")
    centres = (np.arange(CALIBRATION_BINS) + 0.5) / CALIBRATION_BINS
    width = 0.45 / CALIBRATION_BINS
    for (name, acted), offset, colour in zip(groups.items(), (-width / 2, width / 2), (RED, BLUE)):
        top, correct = dominant_of(acted)
        bins = confidence_bins(top)
        used = [i for i in range(CALIBRATION_BINS) if np.sum(bins == i) >= 10]
        axes.plot([top[bins == i].mean() for i in used], [correct[bins == i].mean() for i in used], "o-", color=colour, label=name)
        below.bar(centres + offset, np.bincount(bins, minlength=CALIBRATION_BINS) / max(1, len(top)), width, color=colour)
    axes.set_ylabel("accuracy")
    axes.legend(frameon=False)
    below.set_ylabel("share")
    below.set_xlabel("confidence")
    return save("calibration")


def draw_risk(groups: dict[str, Predictions]) -> Path:
    """Error of the dominant emotion among the recordings of highest confidence."""
    _, axes = plt.subplots(figsize=(4, 3))
    for (name, acted), colour in zip(groups.items(), (RED, BLUE)):
        top, correct = dominant_of(acted)
        shown = np.arange(len(top) // 20, len(top))  # under 5 % there are few recordings
        error = np.cumsum(1 - correct[np.argsort(-top, kind="stable")]) / np.arange(1, len(top) + 1)
        axes.plot((shown + 1) / max(1, len(top)), error[shown], color=colour, label=name)
    axes.set(xlabel="coverage", ylabel="error", xlim=(0, 1), ylim=(0, None))
    axes.legend(frameon=False)
    return save("risk")


def draw_coverage(by_condition: dict[str, Predictions]) -> Path:
    """Coverage and mean width of the 80 % intervals under each condition."""
    names = {CLEAN: "as it is", **CONDITIONS}
    shown = [name for name in names if name in by_condition]
    _, (upper, lower) = plt.subplots(2, 1, figsize=(6, 4.6), sharex=True)
    for score in SCORES:
        rated = [by_condition[name].of(RATED[score]) for name in shown]
        pairs = [covered(one, score) if len(one) else (np.array([np.nan]),) * 2 for one in rated]
        upper.plot([inside.mean() for inside, _ in pairs], "o-", label=score)
        lower.plot([width.mean() for _, width in pairs], "o-", label=score)
    upper.axhspan(0.75, 0.85, color="#dddddd", zorder=0)
    upper.set_ylabel("coverage")
    upper.set_ylim(0, 1.02)
    upper.legend(frameon=False, ncols=3, loc="lower left")
    lower.set_ylabel("mean width")
    lower.set_ylim(0, None)
    lower.set_xticks(range(len(shown)), [names[name] for name in shown], rotation=20, ha="right")
    return save("coverage")


def draw_timeline(runs: dict[str, dict]) -> Path:
    """Probabilities of the entries of one recording's timeline, and of each of its clips alone. One panel per run."""
    _, panels = plt.subplots(len(runs), 1, figsize=(7, 0.8 + 1.7 * len(runs)), sharex=True, squeeze=False)
    for axes, (when, run) in zip(panels.flat, runs.items()):
        for clip in run["clips"]:
            axes.axvspan(clip["start"], clip["end"], color=RED if clip["label"] == "angry" else BLUE, alpha=0.15, lw=0)
        for place, (name, colour) in enumerate((("neutral", BLUE), ("angry", RED))):
            starts, ends, *values = np.array(run["entries"]).T
            axes.hlines(values[place], starts, ends, color=colour, lw=2.5, label=f"{name}, in the recording")
            middles = [(clip["start"] + clip["end"]) / 2 for clip in run["clips"]]
            axes.plot(middles, [clip["alone"][place] for clip in run["clips"]], "o", mfc="none", color=colour, ms=5, label=f"{name}, clip alone")
        axes.set(ylim=(0, 1), ylabel="probability", title=when)
    panels[-1, 0].set_xlabel("seconds")
    panels[-1, 0].legend(frameon=False, fontsize=7, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.35))
    return save("timeline")


def draw_cost(points: dict[str, tuple[float, float, list[float]]]) -> Path:
    """Set of models -> milliseconds, mean UAR and its interval."""
    _, axes = plt.subplots(figsize=(4, 3))
    for name, (spent, value, (low, high)) in points.items():
        axes.errorbar(spent, value, [[value - low], [high - value]], fmt="o", color=BLUE, ecolor="#bbbbbb", capsize=2)
        axes.annotate(name, (spent, value), (5, 4), textcoords="offset points")
    axes.set(xscale="log", xlabel="ms per 10 s of speech, one core", ylabel="mean UAR, corpora left out", ylim=(0, None))
    return save("cost")
