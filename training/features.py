"""Log-mel features written by the shipped extractor (training/extract.ts), and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from corpus import CACHE, HERE

BINS = 80
FRAMES_PER_SECOND = 100
SPEC = json.loads((HERE / "spec.json").read_text())


def spec_hash(spec: dict) -> str:
    """SHA-256 of the spec's JSON with its keys sorted and no blanks, as training/extract.ts makes it."""
    text = json.dumps(spec, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Features:
    """Rows of all clips end to end: float32 [frames of all clips, 80], raw log10 mel."""

    rows: np.ndarray
    offsets: np.ndarray
    paths: list[str]

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> np.ndarray:
        return self.rows[self.offsets[index] : self.offsets[index + 1]]


def load(name: str) -> Features:
    index = json.loads((CACHE / f"{name}.json").read_text())
    wanted = spec_hash(SPEC)
    if index["spec"] != wanted:
        raise SystemExit(f"Expected features of spec {wanted} for `{name}`, got {index['spec']}")
    offsets = np.concatenate([[0], np.cumsum(index["frames"])]).astype(np.int64)
    rows = np.memmap(Path(CACHE / f"{name}.f32"), np.float32, "r").reshape(-1, BINS)
    if len(rows) != offsets[-1]:
        raise SystemExit(f"Expected {offsets[-1]} rows for `{name}`, got {len(rows)}")
    return Features(rows, offsets, index["paths"])
