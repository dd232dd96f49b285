"""results/metrics.json: set of models -> metrics of its last evaluation, and the weights of the same recipe that are shipped."""

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from training import settings
from training.evaluation.metrics import Metric
from training.export.specs import SETS

PATH = settings.RESULTS / "metrics.json"


def read(path: Path = PATH) -> dict:
    """Set of models -> run"""
    found = json.loads(path.read_text()) if path.exists() else {}
    return {name: found[name] for name in SETS if name in found}


def save(runs: dict, path: Path = PATH) -> dict:
    """Keeps the runs of other sets -> all runs."""
    path.write_text(json.dumps(read(path) | runs) + "\n")
    return read(path)


def weights_in(models: Path) -> dict:
    manifests = [json.loads(path.read_text()) for path in sorted(models.glob("*/manifest.json"))]
    return {m["name"]: {"version": m["version"], "sha256": m["weights"]["sha256"]} for m in manifests}


def to_json(metrics: list[Metric]) -> list[dict]:
    return [asdict(metric) for metric in metrics]


def metrics_of(run: dict) -> list[Metric]:
    return [Metric(**entry) for entry in run["figures"]]


def source_of(models: Path) -> dict:
    """Commit of the code, and the models."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=settings.REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()
    return {"commit": commit, "models": weights_in(models)}


def new_run(models: Path, metrics: list[Metric]) -> dict:
    """`models`: the shipped folder, whose recipe the judged heads have."""
    return source_of(models) | {"figures": to_json(metrics)}


def versions(run: dict) -> dict[str, str]:
    return {name: model["version"] for name, model in run["models"].items()}


def describe_sources(runs: dict[str, dict]) -> str:
    """A line of Markdown: title, commit and versions of the models of each run."""
    parts = []
    for title, run in runs.items():
        models = ", ".join(f"{name} {version}" for name, version in versions(run).items())
        parts.append(f"*{title}*: commit {run['commit']}, {models}")
    return "; ".join(parts) + "."


def columns_of(results: dict) -> dict[str, list[Metric]]:
    """Sets of models -> metrics."""
    return {name: metrics_of(run) for name, run in results.items()}
