"""Features of the changed copies (changes.py), window by window beside those of the recordings."""

from __future__ import annotations

import json
import sys

import numpy as np
from tqdm import tqdm

import features
from corpus import CACHE, MODELS
from windows import EDGE, SILENCE, frames_of

SAMPLES_PER_FRAME = 160


class Copies:
    """One changed copy of every recording: log-mel rows, and the activity model's speech probability of each."""

    def __init__(self, copy: int):
        self.source = features.load(f"changes-{copy}")
        self.speech = np.load(CACHE / f"changes-{copy}.speech.npy")
        row_of = {int(path.removesuffix(".wav")): row for row, path in enumerate(self.source.paths)}
        self.places = {}
        for group in sorted((CACHE / f"changes-{copy}").glob("group-*.json")):
            for clip, (_, lead, ratio) in json.loads(group.read_text()).items():
                self.places[int(clip)] = row_of[int(clip)], lead / SAMPLES_PER_FRAME, ratio

    def window(self, clip: int, start: int, end: int, longest: int) -> tuple[np.ndarray, np.ndarray]:
        """Frames start to end of a recording -> [T,80] rows of its copy, speech [T]; T differs where the speed does."""
        row, lead, ratio = self.places[clip]
        first, last = self.source.offsets[row : row + 2]
        rows, speech = self.source.rows[first:last], self.speech[first:last].astype(np.float32)
        a = min(max(round(lead + start * ratio), -EDGE), len(rows) - 1)
        b = max(a + 1, min(round(lead + end * ratio), len(rows) + EDGE, a + longest))
        return frames_of(rows, a, b, SILENCE), frames_of(speech, a, b, 0)


def available() -> list[Copies]:
    found = sorted(CACHE.glob("changes-*.speech.npy"))
    return [Copies(int(path.name.split("-")[1].split(".")[0])) for path in found]


def find_speech(copy: int) -> None:
    """Writes the speech probability of each frame of a copy."""
    from tokens import session

    activity, source = session(str(MODELS / "activity" / "weights.onnx")), features.load(f"changes-{copy}")
    parts = [
        activity.run(["speech"], {"features": np.ascontiguousarray(source[i])[None]})[0][0].astype(np.float16)
        for i in tqdm(range(len(source)), f"speech of copy {copy}")
    ]
    np.save(CACHE / f"changes-{copy}.speech.npy", np.concatenate(parts))


if __name__ == "__main__":
    find_speech(int(sys.argv[1]))
