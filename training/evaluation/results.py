"""results/metrics.json: metrics of the last evaluations, and the weights they were measured on."""

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from training import settings
from training.evaluation.metrics import Metric

PATH = settings.RESULTS / "metrics.json"


def read() -> dict:
    return json.loads(PATH.read_text()) if PATH.exists() else {}


def save(results: dict) -> None:
    PATH.write_text(json.dumps(results, indent=1) + "\n")


def weights_in(models: Path) -> dict:
    manifests = [json.loads(path.read_text()) for path in sorted(models.glob("*/manifest.json"))]
    return {m["name"]: {"version": m["version"], "sha256": m["weights"]["sha256"]} for m in manifests}


def to_json(metrics: list[Metric]) -> list[dict]:
    return [asdict(metric) for metric in metrics]


def metrics_of(run: dict) -> list[Metric]:
    return [Metric(**entry) for entry in run["figures"]]


def new_run(models: Path, metrics: list[Metric]) -> dict:
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=settings.REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()
    return {"commit": commit, "models": weights_in(models), "figures": to_json(metrics)}


def versions(run: dict) -> dict[str, str]:
    return {name: model["version"] for name, model in run["models"].items()}


def add_run(results: dict, alternative: str | None, run: dict) -> dict:
    """Results with the run. The shipped run that it replaces becomes the previous one if its models had other versions."""
    if alternative is not None:
        return results | {"alternatives": results.get("alternatives", {}) | {alternative: run}}
    before = results.get("shipped")
    if before and before["models"] != run["models"] and ("previous" not in results or versions(before) != versions(run)):
        results = results | {"previous": before}
    return results | {"shipped": run}


def columns_of(results: dict) -> dict[str, list[Metric]]:
    """Titles of columns -> metrics, for the comparison of systems."""
    runs = {"shipped": results["shipped"]} if "shipped" in results else {}
    runs |= results.get("alternatives", {})
    if "previous" in results:
        runs[f"previous ({results['previous']['commit']})"] = results["previous"]
    return {title: metrics_of(run) for title, run in (runs | {"eGeMAPS, linear": results["egemaps_baseline"]}).items()}
