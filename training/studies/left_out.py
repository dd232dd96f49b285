"""How good the emotions are on a corpus that the heads were not fitted on: a table in docs/results/studies.md.

The models are those of the study of adaptation; `undertone evaluate` measures them on every recording of the corpus.
"""

import json
import os
import subprocess
from pathlib import Path

import numpy as np

from training import settings
from training.corpora.recipe import RECIPE
from training.evaluation import results
from training.reporting.tables import replace_between, table
from training.studies.adaptation import chosen, labelled, models_without, write_labels

PAGE = settings.RESULT_PAGES / "studies.md"
RESULT = settings.RESULTS / "left_out.json"
ERROR = "error of the dominant emotion at {} % coverage"
# Figures of `undertone evaluate`, and the titles of their columns.
FIGURES = {
    "UAR of the labels of the file": "UAR",
    "answered without a warning": "answered without a warning",
    "confidence less accuracy": "confidence less accuracy",
    ERROR.format(100): "error",
    ERROR.format(50): "error at 50 % coverage",
}


def evaluate(name: str, models: Path) -> dict[str, dict]:
    """Scores are kept in the cache, and shared with the study of adaptation."""
    folder = settings.CACHE / f"adaptation-{models.name}-{name}"
    command = ["node", "dist/src/cli.js", "evaluate", str(write_labels(name, labelled(name))), "--models", str(models), "--out", str(folder)]
    environment = {variable: value for variable, value in os.environ.items() if not variable.startswith("UNDERTONE_")}
    subprocess.run(command, cwd=settings.REPOSITORY, env=environment, check=True)
    figures = json.loads((folder / "report.json").read_text())["figures"]
    found = {figure["figure"]: figure for figure in figures if figure["group"] == "all" and figure["figure"] in FIGURES}
    return {figure: {key: one[key] for key in ("value", "interval", "speakers", "recordings")} for figure, one in found.items()}


def run() -> None:
    found = results.source_of(settings.MODELS) | {"corpora": {}}
    for name in chosen():
        found["corpora"][name] = evaluate(name, models_without(name))
        RESULT.write_text(json.dumps(found, indent=1) + "\n")
    write_page(found)


def write_page(found: dict) -> None:
    rows = []
    corpora = found["corpora"]
    for name, figures in corpora.items():
        first = next(iter(figures.values()))
        cells = [f"{one['value']:.3f} ({one['interval'][0]:.2f} to {one['interval'][1]:.2f})" for one in map(figures.__getitem__, FIGURES)]
        rows.append([name, first["speakers"], first["recordings"], *cells])
    means = [np.mean([figures[figure]["value"] for figures in corpora.values()]) for figure in FIGURES]
    rows.append(["mean", "", "", *(f"{mean:.3f}" for mean in means)])
    titles = ["corpus", "speakers", "recordings", *FIGURES.values()]
    text = f"{results.describe_sources({settings.RECIPE: found})}\n\n{table(titles, rows)}"
    print(text)
    replace_between(PAGE, "left-out", text)
