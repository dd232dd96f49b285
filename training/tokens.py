"""Runs the exported activity and trunk models over all clips, window by window as the service does."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace

import numpy as np
import onnxruntime

import features
from augment import Noises, augment
from corpus import CACHE, MODELS, SEED, Clip, read_clips
from trunk import WIDTH, WINDOW_SECONDS
from windows import cut_windows, find_segments, token_weights

SETS = ["RAVDESS", "TESS", "SAVEE", "EMOVO", "nEMO", "ASED", "EmotionTTSKorean", "BAVED", "TAVA",
        "speechocean762"]  # fmt: skip


def session(path: str) -> onnxruntime.InferenceSession:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
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
    changed: Tokens | None = None  # the same windows after augment.py

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        part = slice(self.offsets[index], self.offsets[index + 1])
        return self.rows[part], self.weights[part]


def encode_changed(trunk_path: str, activity_path: str) -> None:
    """The windows of `encode` in a changed copy of each clip."""
    index, source, noises = np.load(CACHE / "corpora.tokens.npz"), features.load("corpora"), Noises()
    trunk, activity, rng = session(trunk_path), session(activity_path), np.random.default_rng(SEED)
    weights, last, began = [], -1, time.time()
    with open(CACHE / "changed.tokens.f16", "wb") as file:
        for count, (clip, (start, end)) in enumerate(zip(index["clips"], index["spans"])):
            if clip != last:
                x, last = augment(np.array(source[clip]), noises, rng), clip
                speech = activity.run(["speech"], {"features": x[None]})[0][0]
            tokens = trunk.run(None, {"features": x[None, start:end]})[0][0]
            file.write(tokens.astype(np.float16).tobytes())
            weights.append(token_weights(speech, start, end))
            if count % 1000 == 0:
                print(f"{count} of {len(index['clips'])} windows, {time.time() - began:.0f} s", flush=True)
    np.save(CACHE / "changed.weights.npy", np.concatenate(weights))


def encode(name: str, trunk_path: str, activity_path: str, sets: list[str] = SETS) -> None:
    clips: list[Clip] = [clip for clip in read_clips() if clip.corpus in sets]
    source = features.load("corpora")
    trunk, activity = session(trunk_path), session(activity_path)
    weights, lengths, owners, inside, spans, began = [], [], [], [], [], time.time()
    with open(CACHE / f"{name}.tokens.f16", "wb") as file:
        for count, clip in enumerate(clips):
            x = np.ascontiguousarray(source[clip.index])
            speech = activity.run(["speech"], {"features": x[None]})[0][0]
            for start, end, frames in cut_windows(find_segments(speech), len(x), WINDOW_SECONDS):
                tokens = trunk.run(None, {"features": x[None, start:end]})[0][0]
                file.write(tokens.astype(np.float16).tobytes())
                weights.append(token_weights(speech, start, end))
                lengths.append(len(tokens))
                owners.append(clip.index)
                inside.append(frames)
                spans.append((start, end))
            if count % 1000 == 0:
                print(f"{count} of {len(clips)} clips, {time.time() - began:.0f} s", flush=True)
    np.savez(
        CACHE / f"{name}.tokens.npz",
        weights=np.concatenate(weights), lengths=lengths, clips=owners, speech_frames=inside,
        spans=spans,
    )  # fmt: skip


def read_rows(name: str) -> np.ndarray:
    return np.memmap(CACHE / f"{name}.tokens.f16", np.float16, "r").reshape(-1, WIDTH)


def load(name: str) -> Tokens:
    index = np.load(CACHE / f"{name}.tokens.npz")
    offsets = np.concatenate([[0], np.cumsum(index["lengths"])])
    facts = (offsets, index["clips"], index["speech_frames"], index["spans"])
    plain = Tokens(read_rows(name), index["weights"], *facts)
    path = CACHE / "changed.weights.npy"
    if not path.exists():
        return plain
    return replace(plain, changed=Tokens(read_rows("changed"), np.load(path), *facts))


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else None
    trunk_at, activity_at = (
        f"{folder}/{kind}.onnx" if folder else str(MODELS / kind / "weights.onnx") for kind in ("trunk", "activity")
    )
    encode("corpora", trunk_at, activity_at)
    encode_changed(trunk_at, activity_at)
