"""Timing measures of recordings and their reference values. The service computes the same measures."""

import json

import numpy as np

from training import settings
from training.calibration import baseline_reference
from training.corpora.registry import read_clips
from training.features import log_mel
from training.features.spec import FRAMES_PER_SECOND
from training.features.windows import find_segments
from training.vad.detector import Detector

CORPORA = ["AMI", "LibriSpeech", "speechocean762"]
MIN_SPEECH_SECONDS = 5
CLARITY_TIMING = ("articulation_rate", "speech_rate", "mean_run")  # measures that clarity depends on beside the embeddings
# Measure -> unit, study behind its direction, scale on which it counts in an index.
TIMING_MEASURES = {
    "pause_ratio": ("ratio", "Khawaja, Ruiz & Chen 2008", "odds"),
    "mean_run": ("s", "Betz et al. 2023, Languages 8:71", "inverse"),
    "rate_variability": ("ratio", "Christodoulides 2016", "ratio"),
}
# Measure -> direction, weight in the index. An added pause moves these measures in one direction only; pauses per minute
# are not listed, because one long pause lowers them.
LOAD = {"pause_ratio": ("up", 3), "mean_run": ("down", 2)}
LOAD_RELATIVE = {"pitch_level": ("up", 0.5), "pitch_range": ("down", 0.5), "spectral_tilt": ("up", 0.25)}  # only beside a baseline
PROCESSING = {"mean_run": ("up", 3), "pause_ratio": ("down", 2), "rate_variability": ("down", 1)}
MAX_INDEX_INTERVAL = 0.65  # a wider interval spans most of the scale
PRIOR_SECONDS = 30  # of reference speech: one pause of 0.25 s more or less changes each index by less than 0.035
# Among recordings with 10 s of speech it matches three in five of LibriSpeech (read) and 1 of 8 of AMI (meetings).
SCRIPTED = {"minSpeechSeconds": 10, "minMeanRun": 3, "maxPauseRatio": 0.2}
SCRIPTED_CONFIDENCE = 0.75
HESITATION_PARAMS = {"minSeconds": 0.25, "maxSpectralChange": 0.35, "maxPitchChange": 1, "maxSyllableRate": 5}
MEASURE_PARAMS = {"longPauseSeconds": 1, "minTurnSeconds": 0.2, "rateWindowSeconds": 1, "minRateWindows": 3, "minVoicedSeconds": 1,
                  "hesitation": HESITATION_PARAMS}  # fmt: skip
SCALES = {"odds": lambda x: x / (1 - x), "inverse": lambda x: 1 / x, "ratio": lambda x: x}


def measure_timing(speech: np.ndarray, rate: np.ndarray) -> dict[str, float]:
    """Speech probability [T] and syllables per second [T] -> measures; none for short recordings."""
    segments = find_segments(speech)
    speech_s = sum(e - s for s, e in segments) / FRAMES_PER_SECOND
    if speech_s < MIN_SPEECH_SECONDS:
        return {}
    pauses = [(b[0] - a[1]) / FRAMES_PER_SECOND for a, b in zip(segments, segments[1:])]
    result = {"pause_ratio": sum(pauses) / (speech_s + sum(pauses)), "mean_run": speech_s / len(segments)}
    spoken = np.concatenate([rate[s:e] for s, e in segments])
    frames = MEASURE_PARAMS["rateWindowSeconds"] * FRAMES_PER_SECOND
    windows = spoken[: len(spoken) // frames * frames].reshape(-1, frames).mean(1)
    if len(windows) >= MEASURE_PARAMS["minRateWindows"] and windows.mean() > 0:
        result["rate_variability"] = float(windows.std() / windows.mean())
    return result


def log_timing(vad: Detector, log_mel_frames: np.ndarray) -> np.ndarray | None:
    """[T,80] -> logarithms of CLARITY_TIMING [3]; None without speech"""
    found = vad.run(log_mel_frames)
    segments = find_segments(found["speech"])
    syllables = sum(float(found["syllable_rate"][start:end].sum()) for start, end in segments) / FRAMES_PER_SECOND
    speech_s = sum(end - start for start, end in segments) / FRAMES_PER_SECOND
    if speech_s == 0 or syllables == 0:
        return None
    whole_s = (segments[-1][1] - segments[0][0]) / FRAMES_PER_SECOND
    return np.log([syllables / speech_s, syllables / whole_s, speech_s / len(segments)])


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, at: list[float]) -> np.ndarray:
    order = np.argsort(values)
    rank = (np.cumsum(weights[order]) - 0.5 * weights[order]) / weights.sum()
    return np.interp(at, rank, values[order])


def logistic_spread(low: float, high: float, scale: str) -> float:
    """Spread of the logistic distribution whose quartiles are the logarithms of these values on that scale (ln 9 spreads apart)."""
    place = SCALES[scale]
    return float(abs(np.log(place(high)) - np.log(place(low))) / np.log(9))


def fit_reference() -> tuple[dict, dict[str, int]]:
    """-> measure -> median, spread and source; corpus -> recordings. Corpora weigh alike.

    Measures that need a baseline come from the results of baseline_reference.
    """
    vad, source = Detector(settings.weights("vad")), log_mel.of_corpora()
    measured: list[tuple[str, dict[str, float]]] = []
    for clip in read_clips():
        if clip.corpus in CORPORA and not clip.held_out:
            frames = vad.run(source[clip.index])
            if values := measure_timing(frames["speech"], frames["syllable_rate"]):
                measured.append((clip.corpus, values))
    counts = {name: sum(corpus == name for corpus, _ in measured) for name in CORPORA}
    result = {}
    for name, (unit, study, scale) in TIMING_MEASURES.items():
        values, weights = np.array([(v[name], 1 / counts[corpus]) for corpus, v in measured if name in v]).T
        low, median, high = weighted_quantiles(values, weights, [0.25, 0.5, 0.75])
        result[name] = {"median": round(float(median), 4), "spread": round(logistic_spread(low, high, scale), 4),
                        "scale": scale, "unit": unit, "source": study}  # fmt: skip
    return result, counts


def index_weights(index: dict[str, tuple[str, float]], relative_only: dict[str, tuple[str, float]]) -> dict:
    return {
        name: {"direction": direction, "weight": weight, "relativeOnly": name in relative_only}
        for name, (direction, weight) in {**index, **relative_only}.items()
    }


def fit_params() -> tuple[dict, dict[str, int]]:
    """-> the timing part of the manifest's params, corpus -> recordings"""
    reference, counts = fit_reference()
    baseline = json.loads(baseline_reference.RESULT.read_text())
    return {
        "priorSeconds": PRIOR_SECONDS,
        "maxIndexInterval": MAX_INDEX_INTERVAL,
        "scripted": SCRIPTED,
        "reference": {**reference, **baseline["reference"]},
        "otherSpeaker": baseline["otherSpeaker"],
        "cognitiveLoad": index_weights(LOAD, LOAD_RELATIVE),
        "processing": index_weights(PROCESSING, {}),
        "measures": MEASURE_PARAMS,
        "scriptedConfidence": SCRIPTED_CONFIDENCE,
    }, counts
