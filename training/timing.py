"""Timing measures of recordings (twin of src/signals/measures.ts) and their reference values."""

from __future__ import annotations

import numpy as np

import features
from corpus import read_clips
from tokens import session
from windows import find_segments

CORPORA = ["AMI", "LibriSpeech", "speechocean762"]
MIN_SPEECH_SECONDS = 5
FPS = 100
MEASURES = {
    "pause_ratio": ("ratio", "Khawaja, Ruiz & Chen 2008"),
    "pause_rate": ("1/min", "Betz et al. 2023, Languages 8:71"),
    "mean_pause": ("s", "Khawaja, Ruiz & Chen 2008"),
    "long_pause_rate": ("1/min", "Betz et al. 2023, Languages 8:71"),
    "mean_run": ("s", "Christodoulides 2016"),
    "rate_variability": ("ratio", "Christodoulides 2016"),
}
# Measures that every recording has, so that a pause more never takes a contribution away.
LOAD = {"pause_ratio": ("up", 3), "pause_rate": ("up", 2), "long_pause_rate": ("up", 1)}
PROCESSING = {"mean_run": ("up", 3), "pause_ratio": ("down", 2), "pause_rate": ("down", 2),
              "rate_variability": ("down", 2)}  # fmt: skip


def measure(speech: np.ndarray, rate: np.ndarray) -> dict[str, float]:
    segments = find_segments(speech)
    spoken = sum(e - s for s, e in segments) / FPS
    if spoken < MIN_SPEECH_SECONDS:
        return {}
    pauses = [(b[0] - a[1]) / FPS for a, b in zip(segments, segments[1:])]
    minutes = (spoken + sum(pauses)) / 60
    result = {
        "pause_ratio": sum(pauses) / (spoken + sum(pauses)),
        "pause_rate": len(pauses) / minutes,
        "long_pause_rate": sum(p >= 1 for p in pauses) / minutes,
        "mean_run": spoken / len(segments),
    }
    if pauses:
        result["mean_pause"] = float(np.mean(pauses))
    voiced = np.concatenate([rate[s:e] for s, e in segments])
    pieces = voiced[: len(voiced) // FPS * FPS].reshape(-1, FPS).mean(1)
    if len(pieces) >= 3 and pieces.mean() > 0:
        result["rate_variability"] = float(pieces.std() / pieces.mean())
    return result


def quantiles(values: np.ndarray, weights: np.ndarray, at: list[float]) -> np.ndarray:
    order = np.argsort(values)
    share = (np.cumsum(weights[order]) - 0.5 * weights[order]) / weights.sum()
    return np.interp(at, share, values[order])


def reference(activity_path: str) -> tuple[dict, dict[str, int]]:
    """Median and IQR / 1.349 of each measure over recordings with 5 s of speech, corpora weighing alike."""
    activity, source = session(activity_path), features.load("corpora")
    found: list[tuple[str, dict[str, float]]] = []
    for clip in read_clips():
        if clip.corpus in CORPORA:
            speech, rate = activity.run(["speech", "syllable_rate"], {"features": source[clip.index][None]})
            if values := measure(speech[0], rate[0]):
                found.append((clip.corpus, values))
    counts = {name: sum(c == name for c, _ in found) for name in CORPORA}
    result = {}
    for name, (unit, study) in MEASURES.items():
        rows = [(v[name], 1 / counts[c]) for c, v in found if name in v]
        values, weights = np.array(rows).T
        low, median, high = quantiles(values, weights, [0.25, 0.5, 0.75])
        deviation = np.sqrt(np.cov(values, aweights=weights))
        spread = max((high - low) / 1.349, 0.25 * float(deviation))
        result[name] = {"median": round(float(median), 4), "spread": round(float(spread), 4),
                        "unit": unit, "source": study}  # fmt: skip
    return result, counts


def weights_of(index: dict[str, tuple[str, int]]) -> dict:
    return {name: {"direction": direction, "weight": weight} for name, (direction, weight) in index.items()}
