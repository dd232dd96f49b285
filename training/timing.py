"""Timing measures of recordings (twin of src/signals/measures.ts) and their reference values."""

from __future__ import annotations

import json

import numpy as np

import features
import relative
from corpus import HERE, read_clips
from tokens import session
from windows import find_segments

CORPORA = ["AMI", "LibriSpeech", "speechocean762"]
MIN_SPEECH_SECONDS = 5
FPS = 100
RELATIVE = json.loads((HERE / "relative.json").read_text())  # written by training/relative.py
# Unit, study behind the direction, and the scale of src/signals/indices.ts.
MEASURES = {
    "pause_ratio": ("ratio", "Khawaja, Ruiz & Chen 2008", "odds"),
    "mean_run": ("s", "Betz et al. 2023, Languages 8:71", "inverse"),
    "rate_variability": ("ratio", "Christodoulides 2016", "ratio"),
}
# Measures that a pause more can only move one way: pauses a minute fall when a long one is put in.
LOAD = {"pause_ratio": ("up", 3), "mean_run": ("down", 2)}
LOAD_RELATIVE = {name: (direction, weight) for name, (_, _, direction, weight) in relative.MEASURES.items()}
PROCESSING = {"mean_run": ("up", 3), "pause_ratio": ("down", 2), "rate_variability": ("down", 1)}
PRIOR_SECONDS = 30  # then a pause of 0.25 s that is heard or missed moves no index by 0.035
# Catches half of LibriSpeech's read recordings of 10 s of speech and 1 of AMI's 8 of meetings.
SCRIPTED = {"minSpeechSeconds": 10, "minMeanRun": 3, "maxPauseRatio": 0.2}
SCALES = {"odds": lambda x: x / (1 - x), "inverse": lambda x: 1 / x, "ratio": lambda x: x}


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
    """Median and logistic spread of each measure over recordings with 5 s of speech, corpora weighing alike; those
    that only a baseline gives a meaning stand beside them."""
    activity, source = session(activity_path), features.load("corpora")
    found: list[tuple[str, dict[str, float]]] = []
    for clip in read_clips():
        if clip.corpus in CORPORA and not clip.held_out:
            speech, rate = activity.run(["speech", "syllable_rate"], {"features": source[clip.index][None]})
            if values := measure(speech[0], rate[0]):
                found.append((clip.corpus, values))
    counts = {name: sum(c == name for c, _ in found) for name in CORPORA}
    result = {}
    for name, (unit, study, scale) in MEASURES.items():
        rows = [(v[name], 1 / counts[c]) for c, v in found if name in v]
        values, weights = np.array(rows).T
        low, median, high = quantiles(values, weights, [0.25, 0.5, 0.75])
        result[name] = {"median": round(float(median), 4), "spread": round(logistic_spread(low, high, scale), 4),
                        "scale": scale, "unit": unit, "source": study}  # fmt: skip
    return {**result, **RELATIVE["reference"]}, counts


def logistic_spread(low: float, high: float, scale: str) -> float:
    """Of the logistic distribution with these quartiles, which are ln 9 spreads apart; logs of the scale's values."""
    place = SCALES[scale]
    return float(abs(np.log(place(high)) - np.log(place(low))) / np.log(9))


def weights_of(index: dict[str, tuple[str, float]], only_relative: dict[str, tuple[str, float]]) -> dict:
    return {
        name: {"direction": direction, "weight": weight, "relativeOnly": name in only_relative}
        for name, (direction, weight) in {**index, **only_relative}.items()
    }
