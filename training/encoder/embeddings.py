"""Embeddings of all utterances by an exported trunk, of the recordings and of augmented copies, by the shipped code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from training import cache, settings
from training.augment.augmented import AugmentedCopies
from training.encoder import window_store
from training.features import log_mel
from training.heads.attention_head import VARIANCE_FLOOR

BLOCK = 1024  # utterances converted at once


@dataclass(frozen=True)
class EmbeddingStore:
    """One row per utterance: those of the recordings in the order of the index, then those of the copies."""

    parts: list[np.ndarray]  # float16 [embeddings, width] each
    weights: np.ndarray  # float32 [all embeddings], speech probability
    offsets: np.ndarray  # [utterances + 1]
    moments: np.ndarray  # float32 [utterances, 2 * width]: mean and standard deviation of the embeddings, weighted by speech
    clips: np.ndarray  # [utterances] clip index
    speech_frames: np.ndarray  # [utterances]
    copied: np.ndarray  # bool [utterances]: of an augmented copy
    frames_per_embedding: int

    @property
    def width(self) -> int:
        return self.moments.shape[1] // 2

    @cached_property
    def embeddings(self) -> np.ndarray:
        """float16 [all embeddings, width]. Read when it is first used: the heads for emotion need the moments alone."""
        return self.parts[0] if len(self.parts) == 1 else np.concatenate(self.parts)

    def __getitem__(self, utterance: int) -> tuple[np.ndarray, np.ndarray]:
        """[N,width], [N]"""
        inside = slice(self.offsets[utterance], self.offsets[utterance + 1])
        return self.embeddings[inside], self.weights[inside]


def by_recording(store: EmbeddingStore) -> EmbeddingStore:
    """One row per recording or copy: the embeddings of all its utterances."""
    starts = np.flatnonzero(np.diff(store.clips, prepend=-1) | np.diff(store.copied.astype(int), prepend=0))
    offsets = np.append(store.offsets[starts], store.offsets[-1])
    moments = store.moments[starts].copy()
    for row in np.flatnonzero(np.diff(starts, append=len(store.clips)) > 1):
        inside = slice(offsets[row], offsets[row + 1])
        moments[row] = moments_of(store.embeddings[inside].astype(np.float32), store.weights[inside])
    return replace(store, parts=[store.embeddings], offsets=offsets, moments=moments, clips=store.clips[starts], copied=store.copied[starts],
                   speech_frames=np.add.reduceat(store.speech_frames, starts))  # fmt: skip


def moments_of(embeddings: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """embeddings [N,width], weights [N] -> [2 * width]; without speech all embeddings count alike"""
    w = weights if weights.sum() > 0 else weights + 1
    w = w / w.sum()
    mean = w @ embeddings
    variance = np.maximum(w @ embeddings**2 - mean**2, 0)
    return np.concatenate([mean, np.sqrt(variance + VARIANCE_FLOOR)]).astype(np.float32)


def convert(folder: Path, columns: dict[str, np.ndarray], owners: np.ndarray) -> None:
    """float32 of encode.ts -> float16, with the moments of each utterance"""
    offsets = np.concatenate([[0], np.cumsum(columns["embeddings"])])
    weights = np.fromfile(folder / "utterances.weights.f32", np.float32)
    moments, encoded = [], folder / "utterances.embeddings.f32"
    width = encoded.stat().st_size // np.dtype(np.float32).itemsize // offsets[-1]
    with open(encoded, "rb") as source, open(folder / "embeddings.f16", "wb") as file:
        for start in range(0, len(offsets) - 1, BLOCK):
            bounds = offsets[start : start + BLOCK + 1]
            embeddings = np.fromfile(source, np.float32, int(bounds[-1] - bounds[0]) * width).reshape(-1, width)
            moments += [moments_of(embeddings[a - bounds[0] : b - bounds[0]], weights[a:b]) for a, b in zip(bounds, bounds[1:])]
            file.write(embeddings.astype(np.float16).tobytes())
    np.savez(folder / "utterances.npz", weights=weights, lengths=columns["embeddings"], moments=np.stack(moments), clips=owners,
             speech_frames=columns["speechFrames"])  # fmt: skip
    for path in folder.glob("utterances.*.f32"):
        path.unlink()


def compute(name: str, trunk: Path, root: Path, paths: list[str], owners: list[int], content: str) -> Path:
    """Folder of the embeddings by the trunk in the folder `trunk`, computed unless it is in the cache."""
    inputs = {"trunk": cache.file_hash(trunk / "weights.onnx"), "vad": cache.file_hash(settings.weights("vad")), "clips": owners,
              "content": content, "variance_floor": VARIANCE_FLOOR, "code": window_store.code_key()}  # fmt: skip

    def make(folder: Path) -> None:
        columns = window_store.encode(folder, root, paths, trunk)
        convert(folder, columns, np.array(owners)[columns["recording"]])

    return cache.build(name, inputs, make)


def load(weights: Path, frames_per_embedding: int, copies: AugmentedCopies | None) -> EmbeddingStore:
    """Embeddings by the trunk at `weights`. `copies`: also those of the augmented copies."""
    clips = window_store.labelled_clips()
    folders = [compute("embeddings", weights.parent, settings.DATA, [clip.path for clip in clips], [clip.index for clip in clips],
                       log_mel.content_of(clips))]  # fmt: skip
    if copies is not None:
        folders.append(compute("embeddings-augmented", weights.parent, copies.folder, copies.paths, copies.clips, copies.folder.name))
    archives = [dict(np.load(folder / "utterances.npz")) for folder in folders]
    joined = {name: np.concatenate([archive[name] for archive in archives]) for name in archives[0]}
    stored = [np.memmap(folder / "embeddings.f16", np.float16, "r").reshape(-1, joined["moments"].shape[1] // 2) for folder in folders]
    copied = np.repeat(np.arange(len(archives)) > 0, [len(archive["clips"]) for archive in archives])
    offsets = np.concatenate([[0], np.cumsum(joined["lengths"])])
    return EmbeddingStore(stored, joined["weights"], offsets, joined["moments"], joined["clips"], joined["speech_frames"], copied,
                          frames_per_embedding)  # fmt: skip
