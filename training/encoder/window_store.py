"""Utterances of all labelled recordings, and of their augmented copies, cut by the shipped code with the current VAD model."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from training import cache, settings
from training.augment.augmented import AugmentedCopies
from training.corpora.corpus import Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.features import log_mel
from training.features.log_mel import LogMelStore
from training.features.windows import SILENCE, WINDOW_PARAMS, slice_padded

# The code that cuts and encodes.
CODE = ["training/features/encode.ts", *(f"src/engine/{name}.ts" for name in ("speech", "utterances"))]


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
    inputs = {"content": content, "paths": paths, "vad": cache.file_hash(settings.weights("vad")), "code": code_key()}

    def make(folder: Path) -> None:
        columns = encode(folder, root, paths, None)
        np.savez(folder / "windows.npz", speech=np.fromfile(folder / "utterances.speech.f32", np.float32), **columns)

    return cache.build(name, inputs, make)


def labelled_clips() -> list[Clip]:
    return [clip for clip in read_clips() if clip.corpus in RECIPE.labelled]


def load(copies: AugmentedCopies | None) -> WindowStore:
    clips, source = labelled_clips(), log_mel.of_corpora()
    indices = np.array([clip.index for clip in clips])
    folders = [cut("windows", settings.DATA, [clip.path for clip in clips], source.key)]
    owners, rows, sources = [indices], [indices], [source]
    if copies is not None:
        folders.append(cut("windows-augmented", copies.folder, copies.paths, copies.folder.name))
        owners, rows, sources = [*owners, np.array(copies.clips)], [*rows, np.arange(len(copies.paths))], [*sources, copies.source]
    archives = [dict(np.load(folder / "windows.npz")) for folder in folders]
    joined = {name: np.concatenate([archive[name] for archive in archives]) for name in ("start", "frames", "speechFrames", "speech")}
    own = lambda of: np.concatenate([values[archive["recording"]] for values, archive in zip(of, archives)])
    copied = np.repeat(np.arange(len(archives)) > 0, [len(archive["recording"]) for archive in archives])
    offsets = np.concatenate([[0], np.cumsum(joined["frames"])])
    key = cache.digest([folder.name for folder in folders])
    return WindowStore(sources, copied, own(rows), own(owners), joined["start"], joined["speech"], offsets, joined["speechFrames"], key)


def finetune_split(clips: list[Clip], store: WindowStore) -> tuple[np.ndarray, np.ndarray]:
    """-> windows to train on, windows to compare recipes on"""
    parts = np.array([clips[i].part for i in store.clips])
    return np.flatnonzero(parts == Part.TRAIN), np.flatnonzero(parts == Part.DEV)
