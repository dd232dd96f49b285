"""Which set of models to take: the table of docs/models.md, and that of README.md beside hand-crafted features."""

import json
from pathlib import Path

from training import settings
from training.evaluation import recordings, results
from training.evaluation.metrics import Metric
from training.export.specs import PERMISSIVE
from training.reporting.tables import comparison_table, replace_between, short_cell, table

README = settings.REPOSITORY / "README.md"
PAGE = settings.PAGES / "models.md"
COSTS = settings.REPOSITORY / "benchmarks" / "results" / "models.json"  # of npm run bench -- models
SETS = {"standard": "shipped", "large": "large", "fast": "fast", "open": "open"}  # folder -> title of its column of results/metrics.json
PURPOSES = {
    "standard": "the default",
    "large": "where time matters less",
    "fast": "many live sessions",
    "open": "weights that may be sold",
}
NATURAL_AND_LEFT_OUT = [
    "emotion: negative without a warning, LibriSpeech",
    "emotion: negative without a warning, AMI",
    "emotion: negative without a warning, speechocean762",
    "emotion: neither neutral nor calm without a warning, speechocean762",
    "emotion: answered without a warning, speechocean762",
    "emotion: UAR of its 5 labels, AESDD",
    "emotion: answered without a warning, corpora left out",
    "emotion: confidence less accuracy, corpora left out",
    "emotion: error of the dominant emotion at 100 % coverage, corpora left out",
    "emotion: error of the dominant emotion at 50 % coverage, corpora left out",
]
KEYS = [
    *NATURAL_AND_LEFT_OUT,
    "emotion: UAR of its 6 labels, CREMA-D",
    "emotion: UAR of its 8 labels, RAVDESS",
    "emotion: CCC of valence, TAVA",
    "emotion: CCC of arousal, TAVA",
    "cognitive: PCC of clarity with their mean, speechocean762",
    "emotion: share of valence inside its 80 % interval, TAVA",
    "emotion: share of arousal inside its 80 % interval, TAVA",
    "cognitive: share of clarity inside its 80 % interval, speechocean762",
    f"emotion: {recordings.MIXED[1]}, {recordings.pauses_of(3)}",
]

BASELINE = "eGeMAPS, linear"  # a column of the comparison of models
README_KEYS = [
    "emotion: neither neutral nor calm without a warning, speechocean762",
    "emotion: answered without a warning, speechocean762",
    "emotion: UAR of its 5 labels, AESDD",
    "emotion: answered without a warning, corpora left out",
    "emotion: UAR of its 6 labels, CREMA-D",
    "emotion: UAR of its 8 labels, RAVDESS",
    "emotion: CCC of valence, TAVA",
    "emotion: CCC of arousal, TAVA",
    "cognitive: PCC of clarity with their mean, speechocean762",
]


def manifest_of(model: Path) -> dict:
    return json.loads((model / "manifest.json").read_text())


def figures_of(name: str, folder: Path, columns: dict[str, list[Metric]]) -> tuple[dict[str, Metric], set[str]]:
    """-> by key, in recordings where they were measured there; the keys of these. None of a signal that is not available"""
    inside = {metric.key: metric for metric in (recordings.figures_of(name) if name in recordings.SETS else [])}
    all_figures = {metric.key: metric for metric in columns[SETS[name]]} | inside
    available = [signal for signal in ("emotion", "cognitive") if "unavailable" not in manifest_of(folder / signal)]
    return {key: metric for key, metric in all_figures.items() if metric.signal in available}, set(inside)


def megabytes_of(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.glob("*/*.onnx")) / 1e6


def is_permissive(folder: Path) -> bool:
    return all(manifest_of(path.parent)["licence"] == PERMISSIVE for path in folder.glob("*/manifest.json"))


def cost_rows(folders: dict[str, Path]) -> list[list[str]]:
    spent = {row["name"]: row["ours"]["median"] for row in json.loads(COSTS.read_text())["rows"]}
    return [
        ["all models over 10 s, one core", *(f"{spent[f'all models, 10 s, {name}']:.0f} ms" for name in folders)],
        ["weights", *(f"{megabytes_of(folder):.0f} MB" for folder in folders.values())],
        ["commercial use", *("yes" if is_permissive(folder) else "no" for folder in folders.values())],
        ["use", *(PURPOSES[name] for name in folders)],
    ]


def text_of(columns: dict[str, list[Metric]]) -> str:
    """`columns`: of the comparison of models"""
    folders = {name: settings.SHIPPED_MODELS.with_name(name) for name, title in SETS.items() if title in columns}
    found, inside = zip(*(figures_of(name, folder, columns) for name, folder in folders.items()))
    names = {key: metric.title for figures in found for key, metric in figures.items()}
    in_recordings = set.union(*inside)
    rows = []
    for key in KEYS:
        if key in names:
            title = names[key] + (", in recordings" if key in in_recordings else "")
            rows.append([title, *(short_cell(figures.get(key)) for figures in found)])
    return table(["", *(f"`{name}`" for name in folders)], [*rows, *cost_rows(folders)])


def readme_text(columns: dict[str, list[Metric]]) -> str:
    """Figures of clips, on which the baseline was measured too."""
    folders = {name: settings.SHIPPED_MODELS.with_name(name) for name in ("standard", "large", "fast")}
    shown = {f"`{name}`": columns[SETS[name]] for name in folders} | {BASELINE: columns[BASELINE]}
    costs = table([], [[*row, ""] for row in cost_rows(folders)[:-1]]).split("\n")[2:]
    return "\n".join([comparison_table(shown, README_KEYS), *costs])


def write() -> None:
    columns = results.columns_of(results.read())
    replace_between(PAGE, "accuracy", text_of(columns))
    replace_between(README, "accuracy", readme_text(columns))
