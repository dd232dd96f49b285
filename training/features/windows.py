"""Parameters of segments and utterances, and segments of a recording.

Utterances are cut by the shipped code (training/encoder/encode.ts); test/analysis/training-windows.test.ts compares the segments with the service's.
"""

import math

import numpy as np

from training.features.spec import FRAMES_PER_SECOND, SPEC

SEGMENT_PARAMS = {"onset": 0.5, "offset": 0.3, "minSpeechSeconds": 0.1, "minPauseSeconds": 0.25}
WINDOW_PARAMS = {"windowSeconds": 10, "marginSeconds": 0.2}
SILENCE = math.log10(SPEC["logFloor"])  # every feature of a frame of digital silence
MAX_FRAMES = WINDOW_PARAMS["windowSeconds"] * FRAMES_PER_SECOND


def find_segments(speech: np.ndarray, params: dict = SEGMENT_PARAMS) -> list[tuple[int, int]]:
    """Speech probability [T] -> (first frame, frame after the last) of each segment: hysteresis, then short gaps closed."""
    raw = []
    start = -1
    for frame, probability in enumerate(speech.tolist()):
        if start < 0 and probability >= params["onset"]:
            start = frame
        elif start >= 0 and probability < params["offset"]:
            raw.append((start, frame))
            start = -1
    if start >= 0:
        raw.append((start, len(speech)))
    joined: list[tuple[int, int]] = []
    for begin, end in raw:
        if joined and begin - joined[-1][1] < params["minPauseSeconds"] * FRAMES_PER_SECOND:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return [s for s in joined if s[1] - s[0] >= params["minSpeechSeconds"] * FRAMES_PER_SECOND]
