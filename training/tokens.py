"""Runs the exported activity and trunk models over all clips, window by window as the service does.

tokens.py [MODELS NAME]: writes CACHE/NAME.tokens.* and, of the changed copies, CACHE/NAME-changed.tokens.*.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnxruntime
from tqdm import tqdm

import features
from copies import Copies
from corpus import CACHE, LABELLED, MODELS, THREADS, Clip, read_clips
from trunk import WIDTH, WINDOW_SECONDS
from windows import SILENCE, cut_windows, find_segments, frames_of, token_weights

TINY = 1e-5


def session(path: str, threads: int = THREADS) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(path, options)


@dataclass(frozen=True)
class Tokens:
    """Windows of the clips: tokens float16 [all,384], weights float32 [all], and which clip each is of."""

    rows: np.ndarray
    weights: np.ndarray
    offsets: np.ndarray
    clips: np.ndarray
    speech_frames: np.ndarray
    spans: np.ndarray
    frames_per_token: int
    moments: np.ndarray  # [windows,768]: mean and standard deviation of the tokens, weighted by speech
    changed: Tokens | None = None  # the same windows in a changed copy (changes.py)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(self.offsets[index], self.offsets[index + 1])
        return self.rows[part], self.weights[part]


class Writer:
    """Runs the trunk over windows one after the other and writes their tokens."""

    def __init__(self, name: str, trunk_path: str, frames_per_token: int):
        self.name, self.trunk, self.file = name, session(trunk_path), open(CACHE / f"{name}.tokens.f16", "wb")
        self.frames_per_token = frames_per_token
        self.weights, self.lengths, self.moments = [], [], []

    def add(self, rows: np.ndarray, speech: np.ndarray) -> None:
        """rows [T,80], speech [T]"""
        tokens = self.trunk.run(None, {"features": rows[None]})[0][0]
        weights = token_weights(speech, self.frames_per_token)
        self.file.write(tokens.astype(np.float16).tobytes())
        self.weights.append(weights)
        self.lengths.append(len(tokens))
        self.moments.append(moments_of(tokens, weights))

    def close(self, **facts) -> None:
        self.file.close()
        np.savez(
            CACHE / f"{self.name}.tokens.npz",
            weights=np.concatenate(self.weights), lengths=self.lengths, moments=np.stack(self.moments), **facts,
        )  # fmt: skip


def moments_of(tokens: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """tokens [N,384], weights [N] -> [768]; all tokens count alike where there is no speech."""
    w = weights if weights.sum() > 0 else weights + 1
    w = w / w.sum()
    mean = w @ tokens
    return np.concatenate([mean, np.sqrt(np.maximum(w @ tokens**2 - mean**2, 0) + TINY)]).astype(np.float32)


@dataclass(frozen=True)
class Window:
    """One window of a recording as the service cuts it: rows [T,80], speech [T] from frame `start` on, which may be < 0."""

    clip: int
    start: int
    rows: np.ndarray
    speech: np.ndarray
    speech_frames: int


def each_window(activity_path: str) -> Iterator[Window]:
    """The windows of all labelled recordings, in the order of the index."""
    source, activity = features.load("corpora"), session(activity_path)
    clips: list[Clip] = [clip for clip in read_clips() if clip.corpus in LABELLED]
    for clip in tqdm(clips, "windows of recordings"):
        x = np.ascontiguousarray(source[clip.index])
        speech = activity.run(["speech"], {"features": x[None]})[0][0]
        for start, end, frames in cut_windows(find_segments(speech), len(x), WINDOW_SECONDS):
            yield Window(clip.index, start, frames_of(x, start, end, SILENCE), frames_of(speech, start, end, 0), frames)


def encode(trunk_path: str, activity_path: str, name: str, frames_per_token: int = 2) -> None:
    writer, owners, inside, spans = Writer(name, trunk_path, frames_per_token), [], [], []
    for window in each_window(activity_path):
        writer.add(window.rows, window.speech)
        owners.append(window.clip)
        inside.append(window.speech_frames)
        spans.append((window.start, window.start + len(window.rows)))
    writer.close(clips=owners, speech_frames=inside, spans=spans, frames_per_token=frames_per_token)


def encode_changed(trunk_path: str, name: str, copy: int = 0) -> None:
    """The windows of `encode` in a changed copy of each clip."""
    index, copies = np.load(CACHE / f"{name}.tokens.npz"), Copies(copy)
    writer = Writer(f"{name}-changed", trunk_path, int(index["frames_per_token"]))
    longest = WINDOW_SECONDS * features.FRAMES_PER_SECOND
    for clip, (start, end) in tqdm(list(zip(index["clips"], index["spans"])), "tokens of changed copies"):
        writer.add(*copies.window(int(clip), int(start), int(end), longest))
    writer.close()


def read_rows(name: str) -> np.ndarray:
    return np.memmap(CACHE / f"{name}.tokens.f16", np.float16, "r").reshape(-1, WIDTH)


def load(name: str = "corpora") -> Tokens:
    index = np.load(CACHE / f"{name}.tokens.npz")
    facts = index["clips"], index["speech_frames"], index["spans"], int(index["frames_per_token"])
    plain = store_of(name, index, facts)
    if not (CACHE / f"{name}-changed.tokens.npz").exists():
        return plain
    changed = np.load(CACHE / f"{name}-changed.tokens.npz")
    return replace(plain, changed=store_of(f"{name}-changed", changed, facts))


def store_of(name: str, index, facts: tuple) -> Tokens:
    offsets = np.concatenate([[0], np.cumsum(index["lengths"])])
    return Tokens(read_rows(name), index["weights"], offsets, *facts, index["moments"])


if __name__ == "__main__":
    models, name = (Path(sys.argv[1]), sys.argv[2]) if len(sys.argv) > 2 else (MODELS, "corpora")
    trunk_at, activity_at = (str(models / kind / "weights.onnx") for kind in ("trunk", "activity"))
    rule = json.loads((models / "trunk" / "manifest.json").read_text())["rule"]
    encode(trunk_at, activity_at, name, rule["framesPerToken"])
    encode_changed(trunk_at, name)
