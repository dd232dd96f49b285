"""Whispered and loud speech through the shipped pipeline, as figures.

Nobody whispers in the corpora but one speaker of MFA, so whispers are made: the residual of linear prediction, which
carries the voice, gives way to noise of the same power, frame by frame. Loud is what actors made so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.linalg import solve_toeplitz
from scipy.signal import lfilter

from behaviour import copies, figure
from corpus import DATA, MODELS, Clip, read_clips
from figures import Figure
from intervals import analyse

ORDER, FRAME, HOP = 18, 400, 200
LIFT = 1e-4  # of the power, so that silence has a filter too
MOST = 60
MADE_OF = ("RAVDESS", "EMOVO", "ASED", "TAVA", "LibriSpeech", "speechocean762")
MOVED = (("emotion", "valence"), ("emotion", "arousal"), ("cognitive", "clarity"), ("cognitive", "cognitive_load"))
WHISPERS = ("mfa_whisper", "mfa_breathy")


def whispered(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    window, result = np.hanning(FRAME + 1)[:FRAME], np.zeros(len(samples) + FRAME)
    padded = np.concatenate([samples, np.zeros(FRAME)])
    for start in range(0, len(samples), HOP):
        frame = padded[start : start + FRAME] * window
        power = np.correlate(frame, frame, "full")[FRAME - 1 : FRAME + ORDER]
        if power[0] < 1e-9:
            continue
        power[0] *= 1 + LIFT
        filtered = np.concatenate([[1], -solve_toeplitz(power[:ORDER], power[1:])])
        residual = lfilter(filtered, [1], frame)
        noise = rng.standard_normal(FRAME) * window
        noise *= np.sqrt(np.sum(residual**2) / np.sum(noise**2))
        result[start : start + FRAME] += lfilter([1], filtered, noise)
    return result[: len(samples)]


def loud_ones(clips: list[Clip]) -> dict[str, list[Clip]]:
    """Held-out recordings, and those beside which they are judged."""
    held = [clip for clip in clips if clip.held_out]
    angry = [clip for clip in held if clip.corpus == "RAVDESS" and clip.label == "angry"]
    words = [clip for clip in held if clip.corpus == "BAVED"]
    return {
        "RAVDESS, angry and strong": [clip for clip in angry if "intensity=2" in clip.row["extra"]],
        "RAVDESS, angry, normal": [clip for clip in angry if "intensity=1" in clip.row["extra"]],
        "BAVED, high": [clip for clip in words if clip.label == "high"],
        "BAVED, normal": [clip for clip in words if clip.label == "normal"],
    }


def answered(reports: list[dict | None]) -> np.ndarray:
    return np.array([report is not None and report["emotion"]["status"] == "ok" for report in reports])


def heard(paths: list[Path], models: Path) -> list[dict | None]:
    reports = analyse(paths, "emotion,cognitive", models)
    return [reports.get(str(path)) for path in paths]


def loudness(clips: list[Clip], models: Path) -> list[Figure]:
    result = []
    for group, loud in loud_ones(clips).items():
        reports = heard([(DATA / clip.path).resolve() for clip in loud], models)
        ok = answered(reports)
        arousal = [report["emotion"]["signals"]["arousal"] for report, good in zip(reports, ok) if good]
        result += [figure("loud speech: answered ok", group, ok, loud), figure("loud speech: mean arousal", group, arousal, loud)]
    return result


def whispers(clips: list[Clip], models: Path) -> list[Figure]:
    held = [clip for clip in clips if clip.held_out and clip.corpus in MADE_OF]
    picked = [held[i] for i in np.linspace(0, len(held) - 1, MOST).astype(int)]
    plain, made = (heard(copies(picked, name, change), models) for name, change in (("plain", None), ("whispered", whispered)))
    both = [(c, a, b) for c, a, b, one, two in zip(picked, plain, made, answered(plain), answered(made)) if one and two]
    kept = [clip for clip, *_ in both]
    result = [figure("made whispers: answered ok", "all", answered(made), picked),
              figure("made whispers: same emotion as aloud", "all", [dominant(a) == dominant(b) for _, a, b in both], kept)]  # fmt: skip
    for signal, name in MOVED:
        by = np.array([b[signal]["signals"][name] - a[signal]["signals"][name] for _, a, b in both])
        result.append(figure(f"made whispers: mean change of {name}", "all", by, kept))
    real = [clip for clip in clips if Path(clip.path).stem in WHISPERS]
    ok = answered(heard([(DATA / clip.path).resolve() for clip in real], models))
    return [*result, *(figure("answered ok", Path(clip.path).stem, good, [clip]) for clip, good in zip(real, ok))]


def manner(models: Path = MODELS) -> list[Figure]:
    clips = read_clips()
    return [*loudness(clips, models), *whispers(clips, models)]


def dominant(report: dict) -> str:
    return report["emotion"]["signals"]["dominant_emotion"]


if __name__ == "__main__":
    for found in manner():
        print(f"{found.figure:52} {found.group:26} {found.value:7.3f}  {found.clips} recordings", flush=True)
