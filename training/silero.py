"""Silero VAD's speech probability of every 10 ms frame of the corpora: the teacher of the activity model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import silero_vad

import features
from conditions import read_samples
from corpus import CACHE, DATA, read_clips
from tokens import session

STEP, CONTEXT, HOP = 512, 64, 160


def probabilities(model, x: np.ndarray) -> np.ndarray:
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), x, np.zeros(STEP, np.float32)])
    count = (len(padded) - CONTEXT) // STEP
    rows = np.lib.stride_tricks.sliding_window_view(padded, CONTEXT + STEP)[: count * STEP : STEP]
    state = np.zeros((1, 1, 128), np.float32)
    return model.run(None, {"input": np.ascontiguousarray(rows), "h": state, "c": state})[0]


def frames_of(model, x: np.ndarray, count: int) -> np.ndarray:
    """Two passes half a step apart, read off at each frame's centre."""
    early, late = probabilities(model, x), probabilities(model, x[STEP // 2 :])
    centres = np.concatenate([np.arange(len(early)) * STEP + STEP // 2, (np.arange(len(late)) + 1) * STEP])
    order = np.argsort(centres)
    return np.interp(np.arange(count) * HOP, centres[order], np.concatenate([early, late])[order])


def main() -> None:
    folder = Path(silero_vad.__file__).parent / "data"
    model, source = session(str(folder / "silero_vad_16k_sequence.onnx")), features.load("corpora")
    rows = []
    for clip in read_clips():
        rows.append(frames_of(model, read_samples(DATA / clip.path).astype(np.float32), len(source[clip.index])).astype(np.float16))
        if clip.index % 1000 == 0:
            print(f"{clip.index} clips", flush=True)
    np.save(CACHE / "corpora.speech.npy", np.concatenate(rows))


if __name__ == "__main__":
    main()
