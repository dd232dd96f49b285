"""Utterances of recordings, and the moments of their embeddings. The shipped code cuts and encodes them (encode.ts), with the current VAD model."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from training import cache, settings
from training.corpora.corpus import Clip
from training.corpora.recipe import RESEARCH
from training.corpora.registry import read_clips
from training.encoder import encoders
from training.features import log_mel
from training.features.windows import WINDOW_PARAMS

# The code that cuts and encodes.
CODE = ["training/encoder/encode.ts", *(f"src/engine/{name}.ts" for name in ("speech", "utterances"))]
VARIANCE_FLOOR = 1e-6
BLOCK = 500  # recordings that are encoded together
PROCESSES = 2


@dataclass(frozen=True)
class Utterances:
    """One row per utterance, in the order of the recordings."""

    means: np.ndarray  # float32 [n, values of the layers], weighted by speech
    deviations: np.ndarray  # float32 [n, values of the layers]
    weight: np.ndarray  # float32 [n], sum of the speech probabilities of the embeddings
    speech_frames: np.ndarray  # [n] inside segments of speech
    clips: np.ndarray  # [n] clip index

    def __len__(self) -> int:
        return len(self.clips)

    def where(self, rows: np.ndarray) -> "Utterances":
        return Utterances(*(getattr(self, field.name)[rows] for field in fields(self)))

    def of_layers(self, layers: tuple[str, ...]) -> "Utterances":
        columns = encoders.columns_of(layers)
        return replace(self, means=self.means[:, columns], deviations=self.deviations[:, columns])

    def by_recording(self) -> "Utterances":
        """One row per recording: the moments of all its embeddings."""
        starts = np.flatnonzero(np.diff(self.clips, prepend=-1))
        weight = np.add.reduceat(self.weight, starts)

        def pooled(values: np.ndarray) -> np.ndarray:
            return np.add.reduceat(values * self.weight[:, None], starts) / weight[:, None]

        means = pooled(self.means)
        squares = pooled(self.deviations**2 + self.means**2)
        deviations = np.sqrt(np.maximum(squares - means**2, VARIANCE_FLOOR))
        return Utterances(means, deviations, weight, np.add.reduceat(self.speech_frames, starts), self.clips[starts])


def code_key() -> str:
    return cache.digest([(settings.REPOSITORY / path).read_text() for path in CODE])


def encode(name: str, trunk: Path, root: Path, paths: list[str], owners: np.ndarray, content: str) -> Utterances:
    """By the trunk in the folder `trunk`, of recordings at `paths` below `root`, computed unless they are in the cache. An interrupted run continues.

    `owners`: the clip of each. `content` changes whenever their bytes do
    """
    job = {"root": str(root), "vad": str(settings.MODELS / "vad"), "trunk": str(trunk), "params": WINDOW_PARAMS, "varianceFloor": VARIANCE_FLOOR}
    inputs = {"content": content, "paths": paths, "code": code_key(), "params": [WINDOW_PARAMS, VARIANCE_FLOOR],
              "models": [cache.file_hash(settings.weights("vad")), cache.file_hash(trunk / "weights.onnx")]}  # fmt: skip
    blocks = range(0, len(paths), BLOCK)

    def make(folder: Path) -> None:
        def run(start: int) -> None:
            out = folder / str(start)
            if not out.with_suffix(".json").exists():
                file = folder / f"{start}.job"
                file.write_text(json.dumps(job | {"paths": paths[start : start + BLOCK], "out": str(out)}))
                subprocess.run(["node", "--import", "tsx", "training/encoder/encode.ts", str(file)], cwd=settings.REPOSITORY, check=True)

        with ThreadPoolExecutor(PROCESSES) as pool:
            list(tqdm(pool.map(run, blocks), name, len(blocks), mininterval=10))

    folder = cache.build(name, inputs, make)
    columns = [json.loads((folder / f"{start}.json").read_text()) for start in blocks]
    recordings = np.concatenate([np.array(one["recording"], int) + start for one, start in zip(columns, blocks)])
    values = np.concatenate([np.fromfile(folder / f"{start}.f32", np.float32) for start in blocks]).reshape(len(recordings), -1)
    width = values.shape[1] // 2
    return Utterances(
        means=values[:, :width],
        deviations=values[:, width:-1],
        weight=values[:, -1],
        speech_frames=np.concatenate([one["speech_frames"] for one in columns]),
        clips=owners[recordings],
    )


def labelled_clips() -> list[Clip]:
    return [clip for clip in read_clips() if clip.corpus in RESEARCH.labelled]


def load(trunk: Path) -> Utterances:
    """Utterances of all labelled recordings in the order of the index."""
    clips = labelled_clips()
    indices = np.array([clip.index for clip in clips])
    return encode("embeddings", trunk, settings.DATA, [clip.path for clip in clips], indices, log_mel.content_of(clips))
