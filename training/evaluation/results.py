"""results/metrics.json: metrics of the last evaluations, and the weights they were measured on."""

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

from training import cache, settings
from training.corpora.corpus import Clip
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


def source_of(models: Path) -> dict:
    """Commit of the code, and the models."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(command, cwd=settings.REPOSITORY, capture_output=True, text=True, check=True).stdout.strip()
    return {"commit": commit, "models": weights_in(models)}


def new_run(models: Path, clips: list[Clip], metrics: list[Metric]) -> dict:
    """`clips`: of the test part. Runs over other recordings are not comparable."""
    recordings = cache.digest(sorted(clip.path for clip in clips))
    return source_of(models) | {"recordings": recordings, "figures": to_json(metrics)}


def versions(run: dict) -> dict[str, str]:
    return {name: model["version"] for name, model in run["models"].items()}


def describe_sources(runs: dict[str, dict]) -> str:
    """A line of Markdown: title, commit and versions of the models of each run."""
    parts = []
    for title, run in runs.items():
        models = ", ".join(f"{name} {version}" for name, version in versions(run).items())
        parts.append(f"*{title}*: commit {run['commit']}, {models}")
    return "; ".join(parts) + "."


def add_run(results: dict, alternative: str | None, run: dict) -> dict:
    """Results with the run, without those of other recordings.

    The shipped run that it replaces becomes the previous one if its models had other versions.
    """
    alternatives = comparable(results.get("alternatives", {}), run)
    results = comparable({name: other for name, other in results.items() if name != "alternatives"}, run)
    if alternative is not None:
        return results | {"alternatives": alternatives | {alternative: run}}
    results["alternatives"] = alternatives
    before = results.get("shipped")
    if before and before["models"] != run["models"] and ("previous" not in results or versions(before) != versions(run)):
        results = results | {"previous": before}
    return results | {"shipped": run}


def comparable(runs: dict[str, dict], run: dict) -> dict[str, dict]:
    return {name: other for name, other in runs.items() if other.get("recordings") == run["recordings"]}


def runs_of(results: dict) -> dict[str, dict]:
    """Titles of columns -> runs of models, for the comparison of systems."""
    runs = {"shipped": results["shipped"]} if "shipped" in results else {}
    runs |= results.get("alternatives", {})
    if "previous" in results:
        runs[f"previous ({results['previous']['commit']})"] = results["previous"]
    return runs


def columns_of(results: dict) -> dict[str, list[Metric]]:
    """Titles of columns -> metrics."""
    return {title: metrics_of(run) for title, run in (runs_of(results) | {"eGeMAPS, linear": results["egemaps_baseline"]}).items()}
