"""Whispered and loud speech through the shipped pipeline.

Only one speaker of MFA whispers. Whispers are synthesised: noise of the same power replaces the residual of linear
prediction, frame by frame. Loud speech is acted.
"""

from pathlib import Path

import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter

from training import settings
from training.corpora.corpus import Clip
from training.corpora.registry import is_strong, read_clips
from training.evaluation.invariances import compare
from training.evaluation.metrics import Metric, mean_metric
from training.evaluation.pipeline import BOTH, analyze, is_ok
from training.evaluation.predictions import Reports
from training.evaluation.test_recordings import evenly_spaced

ORDER, FRAME, HOP = 18, 400, 200  # of linear prediction; samples
REGULARIZATION = 1e-4  # of the power, so that silence has a filter too
MAX_WHISPERS = 60
WHISPERED_CORPORA = ("RAVDESS", "EMOVO", "ASED", "TAVA", "LibriSpeech", "speechocean762")
CHANGED_SCORES = (("emotion", "valence"), ("emotion", "arousal"), ("cognitive", "clarity"))
REAL_WHISPERS = ("mfa_whisper", "mfa_breathy")


def whisper(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    window, result = np.hanning(FRAME + 1)[:FRAME], np.zeros(len(samples) + FRAME)
    padded = np.concatenate([samples, np.zeros(FRAME)])
    for start in range(0, len(samples), HOP):
        frame = padded[start : start + FRAME] * window
        autocorrelation = np.correlate(frame, frame, "full")[FRAME - 1 : FRAME + ORDER]
        if autocorrelation[0] < 1e-9:
            continue
        autocorrelation[0] *= 1 + REGULARIZATION
        predictor = np.concatenate([[1], -solve_toeplitz(autocorrelation[:ORDER], autocorrelation[1:])])
        residual = lfilter(predictor, [1], frame)
        noise = rng.standard_normal(FRAME) * window
        noise *= np.sqrt(np.sum(residual**2) / np.sum(noise**2))
        result[start : start + FRAME] += lfilter([1], predictor, noise)
    return result[: len(samples)]


def loud_groups(clips: list[Clip]) -> dict[str, list[Clip]]:
    """Loud recordings of the test part, and those they are compared with."""
    held = [clip for clip in clips if clip.tested]
    angry = [clip for clip in held if clip.corpus == "RAVDESS" and clip.label == "angry"]
    words = [clip for clip in held if clip.corpus == "BAVED"]
    return {
        "RAVDESS, angry and strong": [clip for clip in angry if is_strong(clip)],
        "RAVDESS, angry, normal": [clip for clip in angry if not is_strong(clip)],
        "BAVED, high": [clip for clip in words if clip.label == "high"],
        "BAVED, normal": [clip for clip in words if clip.label == "normal"],
    }


def loud_speech(models: Path) -> list[Metric]:
    result = []
    for group, loud in loud_groups(read_clips()).items():
        reports = Reports(loud, analyze([settings.DATA / clip.path for clip in loud], BOTH, models))
        result += [mean_metric("vad", "loud speech: answered ok", group, reports.has_scores(), loud),
                   mean_metric("emotion", "loud speech: mean arousal", group, reports.predictions().score("arousal"), loud)]  # fmt: skip
    return result


def whispers(models: Path) -> list[Metric]:
    clips = read_clips()
    picked = evenly_spaced([clip for clip in clips if clip.tested and clip.corpus in WHISPERED_CORPORA], MAX_WHISPERS)
    compared = compare(picked, "whispered", whisper, BOTH, models)
    both = [(c, a, b) for c, a, b in compared if is_ok(a, "emotion") and is_ok(b, "emotion")]
    kept = [clip for clip, _, _ in both]
    same = [a["emotion"]["signals"]["dominant_emotion"] == b["emotion"]["signals"]["dominant_emotion"] for _, a, b in both]
    result = [mean_metric("vad", "made whispers: answered ok", "all", [is_ok(b, "emotion") for _, _, b in compared], picked),
              mean_metric("emotion", "made whispers: same emotion as aloud", "all", same, kept)]  # fmt: skip
    for signal, name in CHANGED_SCORES:
        change = [b[signal]["signals"][name] - a[signal]["signals"][name] for _, a, b in both]
        result.append(mean_metric(signal, f"made whispers: mean change of {name}", "all", change, kept))
    real = [clip for clip in clips if Path(clip.path).stem in REAL_WHISPERS]
    reports = analyze([settings.DATA / clip.path for clip in real], BOTH, models)
    return [*result, *(mean_metric("vad", "answered ok", Path(c.path).stem, is_ok(report, "emotion"), [c]) for c, report in zip(real, reports))]


CHECKS = (loud_speech, whispers)
