"""Windows of all labelled recordings, cut as the service cuts them with the current VAD model."""

import functools
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from training import cache, settings
from training.corpora.corpus import Clip, Part
from training.corpora.index import read_clips
from training.corpora.recipe import RECIPE
from training.features import log_mel, windows
from training.features.log_mel import LogMelStore
from training.features.windows import SILENCE, WINDOW_SECONDS, cut_windows, find_segments, slice_padded
from training.session import Session


@dataclass(frozen=True)
class WindowStore:
    """One row per window, in the order of the index."""

    clips: np.ndarray  # [n] clip index
    starts: np.ndarray  # [n] first frame in the recording, which may be negative
    speech: np.ndarray  # float32 [frames of all windows] speech probability
    offsets: np.ndarray  # [n + 1] into `speech`
    speech_frames: np.ndarray  # [n] frames inside segments of speech
    key: str

    @property
    def lengths(self) -> np.ndarray:
        """[n] frames"""
        return np.diff(self.offsets)

    def speech_of(self, window: int) -> np.ndarray:
        return self.speech[self.offsets[window] : self.offsets[window + 1]]

    def span(self, window: int) -> tuple[int, int]:
        """Frames of the recording: first, and one after the last."""
        start = int(self.starts[window])
        return start, start + int(self.lengths[window])

    def log_mel(self, window: int, source: LogMelStore) -> np.ndarray:
        """[T,80], silence outside of the recording"""
        return slice_padded(source[self.clips[window]], *self.span(window), SILENCE)


def find_windows(folder: Path) -> None:
    vad, source = Session(settings.weights("vad")), log_mel.of_corpora()
    clips, starts, parts, inside = [], [], [], []
    for clip in tqdm([clip for clip in read_clips() if clip.corpus in RECIPE.labelled], "windows", mininterval=10):
        rows = source[clip.index]
        speech = vad.run(features=rows[None])["speech"][0]
        for start, end, frames in cut_windows(find_segments(speech), len(rows), WINDOW_SECONDS):
            clips.append(clip.index)
            starts.append(start)
            parts.append(slice_padded(speech, start, end, 0))
            inside.append(frames)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts])])
    np.savez(folder / "windows.npz", clips=clips, starts=starts, speech=np.concatenate(parts), offsets=offsets, speech_frames=inside)


@functools.cache
def load() -> WindowStore:
    inputs = {
        "features": log_mel.of_corpora().key,
        "labelled": sorted(RECIPE.labelled),
        "vad": cache.file_hash(settings.weights("vad")),
        "code": cache.code_hash(sys.modules[__name__], windows),
    }
    folder = cache.build("windows", inputs, find_windows)
    with np.load(folder / "windows.npz") as archive:
        return WindowStore(**{name: archive[name] for name in ("clips", "starts", "speech", "offsets", "speech_frames")}, key=folder.name)


def finetune_split(clips: list[Clip], store: WindowStore) -> tuple[np.ndarray, np.ndarray]:
    """-> windows to train on, windows to compare recipes on"""
    parts = np.array([clips[i].part for i in store.clips])
    return np.flatnonzero(parts == Part.TRAIN), np.flatnonzero(parts == Part.DEV)
