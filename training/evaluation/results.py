"""results/figures.json: metrics of the last evaluations, and the weights they were measured on."""

import json
import subprocess
from pathlib import Path

from training import settings
from training.evaluation.metrics import Metric

PATH = settings.RESULTS / "figures.json"


def read() -> dict:
    return json.loads(PATH.read_text()) if PATH.exists() else {}


def save(results: dict) -> None:
    PATH.write_text(json.dumps(results, indent=1) + "\n")


def commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=settings.REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()


def weights_in(models: Path) -> dict:
    manifests = [json.loads(path.read_text()) for path in sorted(models.glob("*/manifest.json"))]
    return {m["name"]: {"version": m["version"], "sha256": m["weights"]["sha256"]} for m in manifests}


def new_run(models: Path, metrics: list[Metric]) -> dict:
    return {"commit": commit(), "models": weights_in(models), "figures": [found.to_json() for found in metrics]}


def add_run(results: dict, alternative: str | None, run: dict) -> dict:
    """Results with the run. The shipped run that it replaces becomes the previous one if its models had other versions."""
    if alternative is not None:
        return results | {"alternatives": results.get("alternatives", {}) | {alternative: run}}
    before = results.get("shipped")
    if before is not None and before["models"] != run["models"]:
        if "previous" not in results or versions(before) != versions(run):
            results = results | {"previous": before}
    return results | {"shipped": run}


def versions(run: dict) -> dict[str, str]:
    return {name: model["version"] for name, model in run["models"].items()}


def metrics_of(run: dict) -> list[Metric]:
    return [Metric(**entry) for entry in run["figures"]]


def columns_of(results: dict) -> dict[str, list[Metric]]:
    """Titles of columns -> metrics, for the comparison of systems."""
    columns = {"shipped": metrics_of(results["shipped"])} if "shipped" in results else {}
    columns |= {name: metrics_of(run) for name, run in results.get("alternatives", {}).items()}
    if "previous" in results:
        columns[f"previous ({results['previous']['commit']})"] = metrics_of(results["previous"])
    return columns | {"eGeMAPS, linear": metrics_of(results["rival"])}
