"""Log-mel features and Kaldi's filterbanks, written by the shipped decoder and extractor (extract.ts)."""

import functools
import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from tqdm import tqdm

from training import cache, settings
from training.corpora.corpus import Clip
from training.corpora.registry import sold_clips
from training.features.spec import FILTERBANKS, SPEC

BINS = SPEC["nMels"]
FEATURES_VERSION = 1  # that of the native extractor


@dataclass(frozen=True)
class LogMelStore:
    """Features of many recordings. `key` identifies them in the inputs of cached results."""

    frames: np.ndarray  # float32 [frames of all recordings, 80], logarithms of mel energies
    offsets: np.ndarray  # [recordings + 1], first frame of each
    paths: list[str]
    key: str

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> np.ndarray:
        """[T,80]"""
        return self.frames[self.offsets[index] : self.offsets[index + 1]]

    @functools.cached_property
    def places(self) -> dict[str, int]:
        return {path: index for index, path in enumerate(self.paths)}

    def of(self, clip: Clip) -> np.ndarray:
        """[T,80]"""
        return self[self.places[clip.path]]


def extract(name: str, root: Path, paths: list[str], content: object, spec: dict = SPEC) -> LogMelStore:
    """Features of the recordings at `paths` below `root`. `content` changes whenever their bytes do."""
    inputs = {"spec": spec, "features": FEATURES_VERSION, "paths": cache.digest(paths), "content": content}

    def make(folder: Path) -> None:
        (folder / "list").write_text("\n".join(paths))
        script = [str(settings.PACKAGE / "features" / "extract.ts"), str(folder / "list"), str(root), json.dumps(spec), str(folder / "features")]
        subprocess.run(["node", "--import", "tsx", *script], cwd=settings.REPOSITORY, check=True)

    folder = cache.build(f"features-{name}", inputs, make)
    lengths = json.loads((folder / "features.json").read_text())["frames"]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    frames = np.memmap(folder / "features.f32", np.float32, "r").reshape(-1, BINS)
    if len(frames) != offsets[-1]:
        raise ValueError(f"Expected {offsets[-1]} frames in `{folder}`, got {len(frames)}")
    return LogMelStore(frames, offsets, paths, folder.name)


@functools.cache
def of_corpora() -> LogMelStore:
    """Features of `sold_clips`: recording i is the clip of index i there."""
    clips = sold_clips()
    return extract("corpora", settings.DATA, [clip.path for clip in clips], content_of(clips))


@functools.cache
def filterbanks_of_corpora() -> LogMelStore:
    """Frames line up with those of `of_corpora`."""
    clips = sold_clips()
    return extract("filterbanks", settings.DATA, [clip.path for clip in clips], content_of(clips), FILTERBANKS)


def content_of(clips: list[Clip]) -> str:
    return cache.digest([cache.file_hash(settings.DATA / clip.path) for clip in clips])


def of_generated(name: str, folder: Path) -> LogMelStore:
    """Features of the WAV files in a folder of the cache, sorted by name."""
    return extract(name, folder, sorted(path.name for path in folder.glob("*.wav")), folder.name)


def map_frames(store: LogMelStore, name: str, inputs: dict, frames_of: Callable[[int], np.ndarray]) -> np.ndarray:
    """float16 [frames of all recordings] of `frames_of(index)` [T], cached."""

    def make(folder: Path) -> None:
        indices = tqdm(range(len(store)), name, mininterval=10)
        np.save(folder / "frames.npy", np.concatenate([frames_of(index).astype(np.float16) for index in indices]))

    return np.load(cache.build(name, inputs | {"features": store.key}, make) / "frames.npy")
