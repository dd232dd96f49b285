"""Silero VAD's speech probability of every frame of the corpora: the labels of the VAD model."""

import sys
from pathlib import Path

import numpy as np
import silero_vad

from training import cache
from training.augment import audio
from training.augment.audio import read_clip
from training.corpora.registry import read_clips
from training.features import log_mel
from training.features.spec import HOP_LENGTH
from training.session import Session

STEP, CONTEXT = 512, 64  # samples


def probabilities(model: Session, samples: np.ndarray) -> np.ndarray:
    """One per STEP."""
    padded = np.concatenate([np.zeros(CONTEXT, np.float32), samples, np.zeros(STEP, np.float32)])
    count = (len(padded) - CONTEXT) // STEP
    steps = np.lib.stride_tricks.sliding_window_view(padded, CONTEXT + STEP)[: count * STEP : STEP]
    state = np.zeros((1, 1, 128), np.float32)
    return model.run(input=steps, h=state, c=state)[model.outputs[0]]


def label_frames(model: Session, samples: np.ndarray, frames: int) -> np.ndarray:
    """[frames]: two passes half a step apart, interpolated at the centre of each frame."""
    early, late = probabilities(model, samples), probabilities(model, samples[STEP // 2 :])
    centres = np.concatenate([np.arange(len(early)) * STEP + STEP // 2, (np.arange(len(late)) + 1) * STEP])
    order = np.argsort(centres)
    return np.interp(np.arange(frames) * HOP_LENGTH, centres[order], np.concatenate([early, late])[order])


def label_corpora() -> np.ndarray:
    """float16 [frames of the corpora]"""
    clips, store = read_clips(), log_mel.of_corpora()
    weights = Path(silero_vad.__file__).parent / "data" / "silero_vad_16k_sequence.onnx"
    model = Session(weights)

    def label(index: int) -> np.ndarray:
        return label_frames(model, read_clip(clips[index]).astype(np.float32), len(store[index])).astype(np.float32)

    return log_mel.map_frames(store, "silero", {"weights": cache.file_hash(weights), "code": cache.code_hash(sys.modules[__name__], audio)}, label)
