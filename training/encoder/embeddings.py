"""Embeddings of all windows by an exported trunk, and of the same windows in the augmented copies."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from training import cache
from training.augment import augmented
from training.augment.augmented import AugmentedCopies
from training.encoder import window_store
from training.encoder.trunk import WIDTH
from training.features import log_mel
from training.features.windows import embedding_weights
from training.heads.attention_head import VARIANCE_FLOOR
from training.session import Session


@dataclass(frozen=True)
class EmbeddingStore:
    """Embeddings of the windows of a WindowStore, in its order."""

    embeddings: np.ndarray  # float16 [all embeddings, 384]
    weights: np.ndarray  # float32 [all embeddings], speech probability
    offsets: np.ndarray  # [windows + 1]
    moments: np.ndarray  # float32 [windows, 768]: mean and standard deviation of the embeddings, weighted by speech
    clips: np.ndarray  # [windows] clip index
    speech_frames: np.ndarray  # [windows]
    frames_per_embedding: int
    augmented: EmbeddingStore | None = None  # the same windows in the augmented copies

    def __getitem__(self, window: int) -> tuple[np.ndarray, np.ndarray]:
        """[N,384], [N]"""
        inside = slice(self.offsets[window], self.offsets[window + 1])
        return self.embeddings[inside], self.weights[inside]


def moments_of(embeddings: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """embeddings [N,384], weights [N] -> [768]; without speech all embeddings count alike"""
    w = weights if weights.sum() > 0 else weights + 1
    w = w / w.sum()
    mean = w @ embeddings
    variance = np.maximum(w @ embeddings**2 - mean**2, 0)
    return np.concatenate([mean, np.sqrt(variance + VARIANCE_FLOOR)]).astype(np.float32)


def compute(name: str, trunk: Path, frames_per_embedding: int, inputs: dict, window_of: Callable[[int], tuple]) -> EmbeddingStore:
    """Cached embeddings. `window_of(i)` -> log-mel frames [T,80] and speech [T] of a window."""
    windows = window_store.load()

    def make(folder: Path) -> None:
        session, weights, lengths, moments = Session(trunk), [], [], []
        with open(folder / "embeddings.f16", "wb") as file:
            for window in tqdm(range(len(windows.clips)), name, mininterval=10):
                frames, speech = window_of(window)
                embeddings = session.run(features=frames[None])["tokens"][0]
                weights.append(embedding_weights(speech, frames_per_embedding))
                lengths.append(len(embeddings))
                moments.append(moments_of(embeddings, weights[-1]))
                file.write(embeddings.astype(np.float16).tobytes())
        np.savez(folder / "windows.npz", weights=np.concatenate(weights), lengths=lengths, moments=np.stack(moments))

    folder = cache.build(name, inputs, make)
    embeddings = np.memmap(folder / "embeddings.f16", np.float16, "r").reshape(-1, WIDTH)
    with np.load(folder / "windows.npz") as archive:
        offsets = np.concatenate([[0], np.cumsum(archive["lengths"])])
        return EmbeddingStore(embeddings, archive["weights"], offsets, archive["moments"], windows.clips, windows.speech_frames, frames_per_embedding)


def load(trunk: Path, frames_per_embedding: int, copies: AugmentedCopies | None) -> EmbeddingStore:
    """Embeddings by the graph at `trunk`, computed unless they are in the cache. `copies`: also those of the augmented copies."""
    windows, source = window_store.load(), log_mel.of_corpora()
    inputs = {"trunk": cache.file_hash(trunk), "windows": windows.key, "frames": frames_per_embedding,
              "variance_floor": VARIANCE_FLOOR, "code": cache.code_hash(sys.modules[__name__], augmented)}  # fmt: skip
    plain = compute("embeddings", trunk, frames_per_embedding, inputs, lambda i: (windows.log_mel(i, source), windows.speech_of(i)))
    if copies is None:
        return plain
    copied = compute("embeddings-augmented", trunk, frames_per_embedding, inputs | {"copies": copies.source.key},
                        lambda i: copies.window(int(windows.clips[i]), *windows.span(i)))  # fmt: skip
    return replace(plain, augmented=copied)
