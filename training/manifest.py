"""Writes models/<name>/manifest.json; every key is there, null where it does not apply."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path

import cards
from corpus import MODELS, SEED, licences, read_clips
from features import SPEC

VERSION = "1.5.0"
FEATURES_VERSION = 1


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def data_of(sets: list[str]) -> list[dict]:
    counts = Counter(clip.corpus for clip in read_clips() if not clip.held_out)
    return [{"name": name, "licence": licences()[name], "clips": counts[name]} for name in sets]


def trunk_reference(models: Path) -> dict:
    manifest = json.loads((models / "trunk" / "manifest.json").read_text())
    return {key: manifest[key] for key in ("name", "version")} | {"sha256": manifest["weights"]["sha256"]}


def write(name: str, weights: str, models: Path = MODELS, **facts) -> None:
    folder = models / name
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(weights, folder / "weights.onnx")
    framed = name in ("trunk", "activity")
    manifest = {
        "name": name,
        "version": VERSION,
        "kind": name,
        "description": facts["description"],
        "weights": {"file": "weights.onnx", "sha256": sha256(folder / "weights.onnx")},
        "featuresVersion": FEATURES_VERSION,
        "features": SPEC if framed else None,
        "trunk": None if framed else trunk_reference(models),
        "inputs": ["features"] if framed else ["tokens", "weights"],
        "outputs": facts["outputs"],
        "labels": facts.get("labels"),
        "rule": facts["rule"],
        "training": {
            "data": facts["data"],
            "seed": SEED,
            "metrics": facts["metrics"],
            "limits": facts["limits"],
        },
        "licence": facts["licence"],
    }
    manifest["evidence"] = cards.evidence_of(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    print(f"{folder}: {(folder / 'weights.onnx').stat().st_size / 2**20:.2f} MiB")
