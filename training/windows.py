"""Twins of src/signals/segments.ts and windows.ts: which stretches of a clip the trunk sees."""

from __future__ import annotations

import numpy as np

from features import FRAMES_PER_SECOND, SPEC

RULE = {"onset": 0.5, "offset": 0.3, "minSpeechSeconds": 0.1, "minPauseSeconds": 0.25}
EDGE_SECONDS, MIN_WINDOW_SPEECH_SECONDS = 0.2, 0.25
EDGE = round(EDGE_SECONDS * FRAMES_PER_SECOND)
SILENCE = float(np.log10(SPEC["logFloor"]))  # every feature of a frame of digital silence


def find_segments(speech: np.ndarray, rule: dict = RULE) -> list[tuple[int, int]]:
    raw, start = [], -1
    for frame, probability in enumerate(speech.tolist()):
        if start < 0 and probability >= rule["onset"]:
            start = frame
        elif start >= 0 and probability < rule["offset"]:
            raw.append((start, frame))
            start = -1
    if start >= 0:
        raw.append((start, len(speech)))
    joined: list[tuple[int, int]] = []
    for begin, end in raw:
        if joined and begin - joined[-1][1] < rule["minPauseSeconds"] * FRAMES_PER_SECOND:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((begin, end))
    return [s for s in joined if s[1] - s[0] >= rule["minSpeechSeconds"] * FRAMES_PER_SECOND]


def cut_windows(segments: list[tuple[int, int]], frames: int, seconds: float) -> list[tuple[int, int, int]]:
    """(start, end, frames of speech) of each window; the first may begin before the recording, the last end after it."""
    if not segments:
        return []
    longest, first, last = round(seconds * FRAMES_PER_SECOND), segments[0][0] - EDGE, segments[-1][1] + EDGE
    inside = min(frames, last) - max(0, first)
    count = -(-inside // longest)
    room = (count * longest - inside) // 2
    start, end = max(first, max(0, first) - room), min(last, min(frames, last) + room)
    windows = []
    for index in range(count):
        a, b = start + (end - start) * index // count, start + (end - start) * (index + 1) // count
        inside = sum(max(0, min(e, b) - max(s, a)) for s, e in segments)
        if inside >= MIN_WINDOW_SPEECH_SECONDS * FRAMES_PER_SECOND:
            windows.append((a, b, inside))
    return windows


def frames_of(values: np.ndarray, start: int, end: int, beyond: float) -> np.ndarray:
    """values[start:end] in memory of its own, `beyond` where there are none."""
    before, after = max(0, -start), max(0, end - len(values))
    inside = values[max(0, start) : max(0, end)]
    return np.pad(inside, [(before, after)] + [(0, 0)] * (values.ndim - 1), constant_values=beyond)


def token_weights(speech: np.ndarray, frames: int = 2) -> np.ndarray:
    """Speech probability of each token: the mean over its frames."""
    starts = np.arange(0, len(speech), frames)
    return (np.add.reduceat(speech, starts) / np.diff(starts, append=len(speech))).astype(np.float32)
