"""Writes a model folder: weights.onnx and manifest.json. Every key is there, null where it does not apply."""

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from training import cache
from training.corpora.corpus import Clip
from training.corpora.recipe import VERSION
from training.corpora.registry import CORPORA, read_clips
from training.export.specs import ModelSpec
from training.features.log_mel import FEATURES_VERSION
from training.features.spec import SPEC
from training.settings import SEED


def write_model(
    spec: ModelSpec, graph: Path, models: Path, params: dict, fits: Callable[[Clip], bool], metrics: dict | None = None, features: dict = SPEC
) -> None:
    """`params`: thresholds and calibration that the service reads. `fits`: whether weights are fitted on a clip. `features`: of its frames"""
    folder = models / spec.name
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / "weights.onnx"
    shutil.copyfile(graph, weights)
    counts = Counter(clip.corpus for clip in read_clips() if fits(clip))
    data = [{"name": name, "licence": CORPORA[name].licence, "clips": counts[name]} for name in spec.corpora if counts[name]]
    trunk = None
    if not spec.reads_frames:
        manifest = json.loads((models / "trunk" / "manifest.json").read_text())
        trunk = {"name": manifest["name"], "version": manifest["version"], "sha256": manifest["weights"]["sha256"]}
    manifest = {
        "name": spec.name,
        "version": VERSION,
        "kind": spec.name,
        "description": spec.description,
        "weights": {"file": weights.name, "sha256": cache.file_hash(weights)},
        "featuresVersion": FEATURES_VERSION,
        "features": features if spec.reads_frames else None,
        "trunk": trunk,
        "inputs": list(spec.inputs),
        "outputs": list(spec.outputs),
        "labels": None if spec.labels is None else list(spec.labels),
        "params": params,
        "training": {
            "data": data,
            "seed": SEED,
            "metrics": metrics or {},
            "limits": list(spec.limits),
        },
        "licence": spec.licence,
    }
    spoken = {"failures": list(spec.failures), "intendedUse": list(spec.intended), "unintendedUse": list(spec.unintended)}
    manifest["evidence"] = {"figures": [], **spoken, "deployment": spec.licence}  # until cards.py writes it
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
    print(f"{folder}: {weights.stat().st_size / 2**20:.2f} MiB")


def update_manifest(folder: Path, params: dict, metrics: dict | None = None) -> None:
    """Writes `params` and `metrics` of the training over those of the same names, and the hash of the present weights."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["weights"]["sha256"] = cache.file_hash(folder / manifest["weights"]["file"])
    manifest["params"] |= params
    manifest["training"]["metrics"] |= metrics or {}
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
