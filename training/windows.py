"""Twins of src/signals/segments.ts and windows.ts: which stretches of a clip the trunk sees."""

from __future__ import annotations

import numpy as np

RULE = {"onset": 0.5, "offset": 0.3, "minSpeechSeconds": 0.1, "minPauseSeconds": 0.25}
EDGE_SECONDS, MIN_WINDOW_SPEECH_SECONDS, FRAMES_PER_SECOND = 0.2, 0.25, 100


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
    """(start, end, frames of speech) of each window."""
    if not segments:
        return []
    edge = round(EDGE_SECONDS * FRAMES_PER_SECOND)
    start, end = max(0, segments[0][0] - edge), min(frames, segments[-1][1] + edge)
    count = -(-(end - start) // round(seconds * FRAMES_PER_SECOND))
    windows = []
    for index in range(count):
        a, b = start + (end - start) * index // count, start + (end - start) * (index + 1) // count
        inside = sum(max(0, min(e, b) - max(s, a)) for s, e in segments)
        if inside >= MIN_WINDOW_SPEECH_SECONDS * FRAMES_PER_SECOND:
            windows.append((a, b, inside))
    return windows


def token_weights(speech: np.ndarray, start: int, end: int) -> np.ndarray:
    """Speech probability of each token: the mean over its two frames."""
    part = speech[start:end]
    if len(part) % 2:
        part = np.append(part, part[-1])
    return part.reshape(-1, 2).mean(1).astype(np.float32)
