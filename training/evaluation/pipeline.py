"""Runs the built service's command over recordings."""

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from training import settings

BATCH = 200  # recordings per process
BOTH = "emotion,cognitive"


def scoring(models: Path) -> Path:
    """The models; if the service reports no scores of a signal of theirs, a copy in the cache with which it does."""
    manifests = {path: json.loads(path.read_text()) for path in models.glob("*/manifest.json")}
    if not any("unavailable" in manifest for manifest in manifests.values()):
        return models
    copy = settings.CACHE / "models" / f"{models.resolve().name}-scoring"
    shutil.copytree(models, copy, dirs_exist_ok=True)
    for path, manifest in manifests.items():
        manifest.pop("unavailable", None)
        (copy / path.relative_to(models)).write_text(json.dumps(manifest))
    return copy


def analyze(paths: list[Path], signals: str, models: Path, options: Sequence[str] = ()) -> list[dict]:
    """Reports of `undertone analyze`, in the order of `paths`. A refused recording has a report without signals."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("UNDERTONE_")}
    folder = scoring(models).resolve()
    absolute = [str(path.resolve()) for path in paths]
    distinct = list(dict.fromkeys(absolute))
    reports: dict[str, dict] = {}
    for at in range(0, len(distinct), BATCH):
        command = ["node", "dist/src/cli.js", "analyze", "--jsonl", "--signals", signals, "--models-dir", str(folder), *options]
        command += distinct[at : at + BATCH]
        run = subprocess.run(command, cwd=settings.REPOSITORY, env=environment, stdout=subprocess.PIPE, text=True)
        reports |= {report["path"]: report for report in map(json.loads, run.stdout.splitlines())}
        print(f"{len(reports)} of {len(distinct)} recordings and copies", flush=True)
    if len(reports) < len(distinct):
        raise RuntimeError(f"Expected a report for each of {len(distinct)} recordings, got {len(reports)}")
    return [reports[path] for path in absolute]


def is_ok(report: dict, signal: str) -> bool:
    """Whether there was enough speech for scores."""
    return report.get(signal, {}).get("status") == "ok"
