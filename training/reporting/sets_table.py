"""Which set of models to take: the table of docs/models.md, and six rows of it in README.md."""

import json
from collections.abc import Iterable
from os.path import commonprefix
from pathlib import Path

from training import settings
from training.corpora.recipe import RESEARCH
from training.evaluation import results
from training.evaluation.metrics import ALL_NATURAL, CORPUS, SPEAKERS, Metric
from training.export.specs import SETS
from training.reporting import plots
from training.reporting.tables import replace_between, short_cell, table

README = settings.REPOSITORY / "README.md"
PAGE = settings.PAGES / "models.md"
COSTS = settings.REPOSITORY / "benchmarks" / "results" / "models.json"  # of npm run bench -- models
PURPOSES = {
    "standard": "the default",
    "large": "where time matters less",
    "fast": "many live sessions",
    "research": "research, teaching",
}
KEYS = [
    f"emotion: mean UAR, {CORPUS}, {len(RESEARCH.emotion)} acted corpora",
    f"emotion: UAR of its 6 labels, {CORPUS}, EmoDB",
    f"emotion: UAR of its 6 labels, {CORPUS}, CREMA-D",
    *(f"emotion: UAR of its {labels} labels, {CORPUS}, RAVDESS" for labels in (7, 8)),  # calm is a label of research
    f"emotion: confidence less accuracy, {CORPUS}",
    f"emotion: answered without a warning, {CORPUS}",
    f"emotion: error of the dominant emotion at 50 % coverage, {CORPUS}",
    f"emotion: negative without a warning, {ALL_NATURAL}",
    f"emotion: answered without a warning, {ALL_NATURAL}",
    f"emotion: UAR of its 6 labels, {SPEAKERS}, CREMA-D",
    f"emotion: CCC of the share of votes for neutral, {SPEAKERS}, CREMA-D",
    f"emotion: CCC of valence, {CORPUS}, TAVA",
    f"emotion: CCC of arousal, {CORPUS}, TAVA",
    "cognitive: PCC of clarity with their mean, speechocean762",
    "cognitive: share of clarity inside its 80 % interval, speechocean762",
]

# Rows of README.md, in words that need no page.
PLAIN = {
    KEYS[0]: f"acted emotion in {len(RESEARCH.emotion)} unseen corpora, of four to seven labels: mean recall",
    f"emotion: UAR of its 6 labels, {SPEAKERS}, CREMA-D": "CREMA-D, new actors: recall of six emotions as most listeners heard them",
    f"emotion: negative without a warning, {ALL_NATURAL}": "ordinary speech called sad, angry, fearful or disgusted without a warning",
    f"emotion: answered without a warning, {ALL_NATURAL}": "ordinary speech with an answer and no warning; the rest is marked as uncertain",
    "cognitive: PCC of clarity with their mean, speechocean762": "clarity: correlation with the mean of four or five experts, new readers",
}
TIME = "emotion and clarity of 10 s, one core"


def megabytes_of(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.glob("*/*.onnx")) / 1e6


def spent_by(names: Iterable[str]) -> dict[str, float]:
    """Set of models -> milliseconds"""
    spent = {row["name"]: row["ours"]["median"] for row in json.loads(COSTS.read_text())["rows"]}
    return {name: spent[f"all models, 10 s, {name}"] for name in names}


def cost_rows(folders: dict[str, Path]) -> list[list[str]]:
    spent = spent_by(folders)
    return [
        ["all models over 10 s, one core", *(f"{spent[name]:.0f} ms" for name in folders)],
        ["weights", *(f"{megabytes_of(folder):.0f} MB" for folder in folders.values())],
        ["commercial use", *("yes" if SETS[name].may_be_sold else "no" for name in folders)],
        ["use", *(PURPOSES[name] for name in folders)],
    ]


def text_of(columns: dict[str, list[Metric]]) -> str:
    """`columns`: set of models -> its metrics"""
    found = {name: {metric.key: metric for metric in metrics} for name, metrics in columns.items()}
    rows = []
    for key in KEYS:
        metrics = [metrics.get(key) for metrics in found.values()]
        titles = {metric.title for metric in metrics if metric is not None}
        if titles:
            shared = commonprefix(list(titles)).rpartition(" (")[0] or min(titles) if len(titles) > 1 else titles.pop()
            rows.append([shared, *map(short_cell, metrics)])
    sets = table(["", *(f"`{name}`" for name in columns)], [*rows, *cost_rows({name: settings.MODELS.with_name(name) for name in columns})])
    return f"{sets}\n\nRecall of each label, {CORPUS}:\n\n" + "\n".join(f"- `{name}`: {recalls_of(metrics)}" for name, metrics in found.items())


def recalls_of(metrics: dict[str, Metric]) -> str:
    """In the order of size"""
    recalls = {label: metrics[key].value for label in RESEARCH.labels if (key := f"emotion: recall, {CORPUS}, {label}") in metrics}
    return ", ".join(f"{label} {value:.2f}" for label, value in sorted(recalls.items(), key=lambda item: -item[1]))


def plain_text_of(columns: dict[str, list[Metric]]) -> str:
    """The table of README.md, of the sets that may be sold"""
    columns = {name: metrics for name, metrics in columns.items() if SETS[name].may_be_sold}
    found = {name: {metric.key: metric for metric in metrics} for name, metrics in columns.items()}
    rows = [[title, *(short_cell(metrics.get(key)) for metrics in found.values())] for key, title in PLAIN.items()]
    spent = spent_by(columns)
    return table(["", *(f"`{name}`" for name in columns)], [*rows, [TIME, *(f"{spent[name]:.0f} ms" for name in columns)]])


def write() -> None:
    columns = results.columns_of(results.read())
    means = {name: next(metric for metric in metrics if metric.key == KEYS[0]) for name, metrics in columns.items()}
    plots.draw_cost({name: (spent, means[name].value, means[name].interval) for name, spent in spent_by(means).items()})
    replace_between(PAGE, "accuracy", text_of(columns))
    replace_between(README, "accuracy", plain_text_of(columns))
