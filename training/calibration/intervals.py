"""80 % intervals of valence, arousal and clarity, fitted on rated speakers whom heads of the same recipe were not fitted on.

The service evaluates the same rules. The half-width of an interval grows with the degradations of a recording: short, noisy, narrow-band,
clipped. The rule is fitted on the errors for rated recordings and corrupted copies of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from training import cache, settings
from training.augment.corruptions import Corruptor
from training.corpora.corpus import Clip
from training.corpora.registry import is_steady, read_clips
from training.encoder import embeddings
from training.encoder.embeddings import Utterances
from training.evaluation.reports import CLEAN, analyze, evenly_spaced
from training.evaluation.statistics import pinball_loss
from training.features import log_mel

COVERAGE = 0.8
# Values of a recording without a degradation; clipping counts up to the last one.
DEGRADATION_PARAMS = {"fullSpeechSeconds": 3, "cleanSnrDb": 25, "fullBandwidthHz": 7000, "fullyClippedRatio": 0.01}
DEGRADATIONS = ["short", "noise", "narrow", "clipped"]
MIN_EXPONENT = 0.1  # rated recordings are all short and clean; every degradation makes a score less certain
# The condition with most of each degradation, in the order in which exponents are raised.
WORST = {"noise": "noise-5", "narrow": "telephone", "clipped": "clipped", "short": "loudest-1"}
MIN_GAP = 0.05  # between the worst copies and the clean recordings, for an exponent to follow from it
CALIBRATION_CONDITIONS = ["noise-5", "noise-10", "noise-20", "telephone", "clipped", "loudest-1"]
FEW = 300  # recordings, of which every condition is computed; of more, one each
MAX_RATED = 400  # recordings of a corpus


@dataclass(frozen=True)
class Errors:
    """One row per recording or copy."""

    size: np.ndarray  # [n] |truth - prediction|
    speaker: np.ndarray  # [n]
    degradations: np.ndarray  # [n,4] in the order of DEGRADATIONS
    condition: np.ndarray  # [n] CLEAN or one of CALIBRATION_CONDITIONS

    def where(self, rows: np.ndarray) -> Errors:
        return Errors(self.size[rows], self.speaker[rows], self.degradations[rows], self.condition[rows])


def degradations_of(audio: dict) -> list[float]:
    """Degradations by the audio block of a report; 0 for none."""
    p = DEGRADATION_PARAMS
    snr = 0 if audio["snr_db"] is None else audio["snr_db"]
    return [
        max(0.0, np.log(p["fullSpeechSeconds"] / audio["speech_s"])),
        max(0.0, p["cleanSnrDb"] - snr) / 10,
        max(0.0, np.log(p["fullBandwidthHz"] / max(audio["bandwidth_hz"], 1000))),
        min(1.0, audio["clipped_ratio"] / p["fullyClippedRatio"]),
    ]


def conformal_quantile(errors: np.ndarray) -> float:
    """Quantile for COVERAGE by split conformal prediction."""
    return np.sort(errors)[min(len(errors) - 1, int(np.ceil(COVERAGE * (len(errors) + 1))) - 1)]


def fit_interval(errors: Errors) -> dict[str, float]:
    """The rule whose half-width is the 80 % quantile of the errors given the degradations; exact on clean recordings.

    An exponent is raised where the copies with most of that degradation would lie outside too often.
    """
    start = np.log(np.quantile(errors.size, COVERAGE) + 1e-6)

    def loss(parameters: np.ndarray) -> float:
        half = np.exp(parameters[0] + errors.degradations @ (MIN_EXPONENT + np.abs(parameters[1:])))
        return pinball_loss(errors.size, half, COVERAGE)

    options = {"maxiter": 4000, "fatol": 1e-8}
    fits = [minimize(loss, [start, *[first] * 4], method="Nelder-Mead", options=options) for first in (0.05, 0.2)]
    exponents = MIN_EXPONENT + np.abs(min(fits, key=lambda found: found.fun).x[1:])
    clean = errors.where(errors.condition == CLEAN)
    for name, condition in WORST.items():
        place = DEGRADATIONS.index(name)
        exponents[place] += exponent_increase(errors.where(errors.condition == condition), clean, exponents, place)
    rule = {"base": base_half_width(clean, exponents), **dict(zip(DEGRADATIONS, exponents))}
    return {name: round(float(value), 4) for name, value in rule.items()}


def exponent_increase(worst: Errors, clean: Errors, exponents: np.ndarray, place: int) -> float:
    """Increase of an exponent that is needed to cover the worst copies."""
    gap = worst.degradations[:, place].mean() - clean.degradations[:, place].mean() if len(worst.size) else 0
    if gap <= MIN_GAP:
        return 0
    ratios = worst.size / (base_half_width(clean, exponents) * np.exp(worst.degradations @ exponents))
    return max(0, np.log(np.quantile(ratios, COVERAGE)) / gap)


def base_half_width(clean: Errors, exponents: np.ndarray) -> float:
    return conformal_quantile(clean.size / np.exp(clean.degradations @ exponents))


def half_widths(rule: dict[str, float], errors: Errors) -> np.ndarray:
    return rule["base"] * np.exp(errors.degradations @ np.array([rule[name] for name in DEGRADATIONS]))


def measure_coverage(errors: Errors, folds: int = 5) -> dict[str, dict[str, float]]:
    """For each condition: share inside the interval of a rule fitted without the speaker, and its mean half-width."""
    owner = np.unique(errors.speaker, return_inverse=True)[1] % folds
    half = np.zeros(len(owner))
    for fold in range(folds):
        test = owner == fold
        half[test] = half_widths(fit_interval(errors.where(~test)), errors.where(test))
    found = {}
    for condition in dict.fromkeys(errors.condition.tolist()):
        rows = errors.condition == condition
        found[condition] = {
            "coverage": round(float((errors.size[rows] <= half[rows]).mean()), 3),
            "half_width": round(float(half[rows].mean()), 3),
            "clips": int(rows.sum()),
        }
    return found


# Of models that have not run yet:
UNFITTED = {"base": 0.2, **dict.fromkeys(DEGRADATIONS, MIN_EXPONENT)}
UNFITTED_LOG_ODDS = 1


@dataclass(frozen=True)
class Copies:
    """Rated recordings as they are and corrupted, encoded."""

    clips: np.ndarray  # [n] clip indices
    conditions: np.ndarray  # [n]
    paths: list[str]  # below the root of the file system
    utterances: Utterances  # whose clips are rows of this


def rated_copies(corpora: tuple[str, ...], trunk: Path) -> Copies:
    """At most MAX_RATED recordings of each corpus, evenly spaced, and one or all of CALIBRATION_CONDITIONS of each."""
    clips = read_clips()
    corruptor = Corruptor([clip for clip in clips if is_steady(clip) and not clip.held_out])
    chosen: list[tuple[Clip, str, Path]] = []
    for name in corpora:
        own = evenly_spaced([clip for clip in clips if clip.corpus == name], MAX_RATED)
        copies = len(CALIBRATION_CONDITIONS) if len(own) < FEW else 1
        for number, clip in enumerate(own):
            chosen.append((clip, CLEAN, settings.DATA / clip.path))
            for step in range(copies):
                condition = CALIBRATION_CONDITIONS[(number + step * len(CALIBRATION_CONDITIONS) // copies) % len(CALIBRATION_CONDITIONS)]
                chosen.append((clip, condition, corruptor.copy(clip, condition)))
    paths = [str(path.resolve()).removeprefix("/") for *_, path in chosen]
    content = cache.digest([corruptor.key, log_mel.content_of([clip for clip, *_ in chosen])])
    utterances = embeddings.encode("embeddings-rated", trunk, Path("/"), paths, np.arange(len(paths)), content)
    return Copies(np.array([clip.index for clip, *_ in chosen]), np.array([condition for _, condition, _ in chosen]), paths, utterances)


def audio_of(copies: Copies, models: Path) -> list[dict]:
    """Audio blocks of the shipped pipeline's reports."""
    return [report["audio"] for report in analyze([Path("/") / path for path in copies.paths], "emotion", models)]


def errors_of(copies: Copies, rows: np.ndarray, truth: np.ndarray, predicted: np.ndarray, audio: list[dict]) -> Errors:
    """`rows` [m]: copies that truth and prediction [m] belong to, by heads that were not fitted on their speakers"""
    clips = read_clips()
    spoken = [place for place, row in enumerate(rows) if audio[row].get("speech_s")]
    rows, size = rows[spoken], np.abs(truth - predicted)[spoken]
    degradations = np.array([degradations_of(audio[row]) for row in rows])
    return Errors(size, np.array([clips[i].speaker for i in copies.clips[rows]]), degradations, copies.conditions[rows])


def fit_rule(name: str, errors: Errors) -> tuple[dict, dict]:
    """-> rule, and what it covers for the manifest"""
    rule = fit_interval(errors)
    found = {}
    for condition, measured in measure_coverage(errors).items():
        print(f"{name} {condition:10} {measured}", flush=True)
        for what in ("coverage", "half_width"):
            found[f"{name}_{what}_{condition.replace('-', '_')}"] = measured[what]
    return rule, found
