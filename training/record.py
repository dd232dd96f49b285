"""training/figures.json: what the last evaluations measured, and on which weights."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from corpus import HERE
from figures import Figure

PATH = HERE / "figures.json"


def read() -> dict:
    return json.loads(PATH.read_text()) if PATH.exists() else {}


def save(record: dict) -> None:
    PATH.write_text(json.dumps(record, indent=1) + "\n")


def commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=True).stdout.strip()


def weights_in(models: Path) -> dict:
    manifests = [json.loads(path.read_text()) for path in sorted(models.glob("*/manifest.json"))]
    return {m["name"]: {"version": m["version"], "sha256": m["weights"]["sha256"]} for m in manifests}


def run_of(models: Path, figures: list[Figure]) -> dict:
    return {"commit": commit(), "models": weights_in(models), "figures": [figure.record() for figure in figures]}


def renewed(record: dict, alternative: str | None, run: dict) -> dict:
    """The run in its place. What another version reached becomes the previous run, and at first what other weights did."""
    if alternative is not None:
        return record | {"alternatives": record.get("alternatives", {}) | {alternative: run}}
    before = record.get("shipped")
    if before is not None and before["models"] != run["models"]:
        if "previous" not in record or versions(before) != versions(run):
            record = record | {"previous": before}
    return record | {"shipped": run}


def versions(run: dict) -> dict[str, str]:
    return {name: model["version"] for name, model in run["models"].items()}


def figures_in(run: dict) -> list[Figure]:
    return [Figure(**entry) for entry in run["figures"]]


def systems_of(record: dict) -> dict[str, list[Figure]]:
    """Titles of columns -> figures."""
    columns = {"shipped": figures_in(record["shipped"])} if "shipped" in record else {}
    columns |= {name: figures_in(run) for name, run in record.get("alternatives", {}).items()}
    if "previous" in record:
        columns[f"previous ({record['previous']['commit']})"] = figures_in(record["previous"])
    return columns | {"eGeMAPS, linear": figures_in(record["rival"])}
