"""Utterances of all labelled recordings, and of their augmented copies: windows of frames, and embeddings by an exported trunk.

The shipped code cuts and encodes them, with the current VAD model.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from training import cache, settings
from training.augment.augmented import AugmentedCopies
from training.corpora.corpus import Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.features import log_mel
from training.features.log_mel import LogMelStore
from training.features.spec import FILTERBANKS, SPEC
from training.features.windows import SEGMENT_PARAMS, SILENCE, WINDOW_PARAMS, slice_padded
from training.heads.attention_head import VARIANCE_FLOOR

# The code that cuts and encodes.
CODE = ["training/features/encode.ts", *(f"src/engine/{name}.ts" for name in ("speech", "utterances"))]
BLOCK = 1024  # utterances converted at once


@dataclass(frozen=True)
class WindowStore:
    """One row per utterance: those of the recordings in the order of the index, then those of the copies."""

    sources: list[LogMelStore]  # of the recordings, and of the copies
    copied: np.ndarray  # bool [n]: of an augmented copy
    recordings: np.ndarray  # [n] index in its source
    clips: np.ndarray  # [n] clip index
    starts: np.ndarray  # [n] first frame of the window in the recording, which may be negative
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

    def log_mel(self, window: int) -> np.ndarray:
        """[T,80], silence outside of the recording"""
        source = self.sources[int(self.copied[window])]
        return slice_padded(source[self.recordings[window]], *self.span(window), SILENCE)


def code_key() -> str:
    return cache.digest([(settings.REPOSITORY / path).read_text() for path in CODE])


def encode(folder: Path, root: Path, paths: list[str], trunk: Path | None) -> dict[str, np.ndarray]:
    """Runs encode.ts: FOLDER/utterances.{speech,embeddings,weights}.f32 -> columns of the utterances"""
    out = folder / "utterances"
    job = {"root": str(root), "paths": paths, "vad": str(settings.MODELS / "vad"), "trunk": trunk and str(trunk),
           "params": WINDOW_PARAMS, "out": str(out)}  # fmt: skip
    (folder / "job.json").write_text(json.dumps(job))
    command = ["node", "--import", "tsx", "training/features/encode.ts", str(folder / "job.json")]
    subprocess.run(command, cwd=settings.REPOSITORY, check=True)
    return {name: np.array(values) for name, values in json.loads(out.with_suffix(".json").read_text()).items()}


def cut(name: str, root: Path, paths: list[str], content: str) -> Path:
    """Folder of the utterances of the recordings at `paths` below `root`, cut unless they are in the cache."""
    inputs = {"content": content, "paths": paths, "vad": cache.file_hash(settings.weights("vad")), "params": [WINDOW_PARAMS, SEGMENT_PARAMS],
              "code": code_key()}  # fmt: skip

    def make(folder: Path) -> None:
        columns = encode(folder, root, paths, None)
        np.savez(folder / "windows.npz", speech=np.fromfile(folder / "utterances.speech.f32", np.float32), **columns)

    return cache.build(name, inputs, make)


def labelled_clips() -> list[Clip]:
    return [clip for clip in read_clips() if clip.corpus in RECIPE.labelled]


def load_windows(copies: AugmentedCopies | None) -> WindowStore:
    clips = labelled_clips()
    source = log_mel.of_corpora()
    indices = np.array([clip.index for clip in clips])
    folders = [cut("windows", settings.DATA, [clip.path for clip in clips], source.key)]
    owners = [indices]
    rows = [indices]
    sources = [source]
    if copies is not None:
        folders.append(cut("windows-augmented", copies.folder, copies.paths, copies.folder.name))
        owners = [*owners, np.array(copies.clips)]
        rows = [*rows, np.arange(len(copies.paths))]
        sources = [*sources, copies.source]
    archives = [dict(np.load(folder / "windows.npz")) for folder in folders]
    joined = {name: np.concatenate([archive[name] for archive in archives]) for name in ("start", "frames", "speechFrames", "speech")}

    def of_utterances(columns: list[np.ndarray]) -> np.ndarray:
        return np.concatenate([values[archive["recording"]] for values, archive in zip(columns, archives)])

    copied = np.repeat(np.arange(len(archives)) > 0, [len(archive["recording"]) for archive in archives])
    offsets = np.concatenate([[0], np.cumsum(joined["frames"])])
    key = cache.digest([folder.name for folder in folders])
    return WindowStore(
        sources=sources,
        copied=copied,
        recordings=of_utterances(rows),
        clips=of_utterances(owners),
        starts=joined["start"],
        speech=joined["speech"],
        offsets=offsets,
        speech_frames=joined["speechFrames"],
        key=key,
    )


def finetune_split(clips: list[Clip], store: WindowStore) -> tuple[np.ndarray, np.ndarray]:
    """-> windows to train on, windows to compare recipes on"""
    parts = np.array([clips[i].part for i in store.clips])
    return np.flatnonzero(parts == Part.TRAIN), np.flatnonzero(parts == Part.DEV)


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
    moments = []
    encoded = folder / "utterances.embeddings.f32"
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
              "content": content, "features": [SPEC, FILTERBANKS, log_mel.FEATURES_VERSION], "params": [WINDOW_PARAMS, SEGMENT_PARAMS],
              "variance_floor": VARIANCE_FLOOR, "code": [code_key(), cache.code_hash(convert)]}  # fmt: skip

    def make(folder: Path) -> None:
        columns = encode(folder, root, paths, trunk)
        convert(folder, columns, np.array(owners)[columns["recording"]])

    return cache.build(name, inputs, make)


def load(weights: Path, frames_per_embedding: int, copies: AugmentedCopies | None) -> EmbeddingStore:
    """Embeddings by the trunk at `weights`. `copies`: also those of the augmented copies."""
    clips = labelled_clips()
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
