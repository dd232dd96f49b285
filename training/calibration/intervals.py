"""80 % intervals of valence, arousal and clarity, and of a change from a baseline, fitted on the calibration part.

The service evaluates the same rules.

The half-width of an interval grows with the degradations of a recording: short, noisy, narrow-band, clipped. The rule is
fitted on the errors of the shipped pipeline for rated recordings and corrupted copies of them.

The errors of a recording and of a baseline of the same speaker cancel in part: the factors of the intervals of relative affect
(src/engine/signals/relative.ts). They are fitted on rated speakers, with heads that were not fitted on them: each of their other
recordings beside one to three in which they act calm affects.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy.optimize import minimize

from training import settings
from training.augment.corruptions import Corruptor
from training.corpora.corpus import DIMENSIONS, Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import is_steady, read_clips
from training.evaluation.reports import analyze, is_ok
from training.evaluation.statistics import pinball_loss
from training.export.manifest import update_manifest

COVERAGE = 0.8
# Values of a recording without a degradation; clipping counts up to the last one.
DEGRADATION_PARAMS = {"fullSpeechSeconds": 3, "cleanSnrDb": 25, "fullBandwidthHz": 7000, "fullyClippedRatio": 0.01}
DEGRADATIONS = ["short", "noise", "narrow", "clipped"]
MIN_EXPONENT = 0.1  # rated recordings are all short and clean; every degradation makes a score less certain
# The condition with most of each degradation, in the order in which exponents are raised.
WORST = {"noise": "noise-5", "narrow": "telephone", "clipped": "clipped", "short": "loudest-1"}
MIN_GAP = 0.05  # between the worst copies and the clean recordings, for an exponent to follow from it
CALIBRATION_CONDITIONS = ["noise-5", "noise-10", "noise-20", "telephone", "clipped", "loudest-1"]
RATED = {"emotion": RECIPE.rated, "cognitive": RECIPE.clarity}
FEW = 100  # recordings, of which every condition is computed; of more, one each
AT_REST = ("tranquil", "serene", "mellow")  # affects of RECIPE.rated


@dataclass(frozen=True)
class Errors:
    """One row per recording or copy."""

    size: np.ndarray  # [n] |truth - prediction|, over the spread where the model predicts one
    speaker: np.ndarray  # [n]
    degradations: np.ndarray  # [n,4] in the order of DEGRADATIONS
    condition: np.ndarray  # [n] "clean" or one of CALIBRATION_CONDITIONS

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
    clean = errors.where(errors.condition == "clean")
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


WIDEN = {"base": 1, **dict.fromkeys(DEGRADATIONS, MIN_EXPONENT)}  # of a spread that the model predicts


def initial_interval(truth: np.ndarray, predicted: np.ndarray) -> dict[str, float]:
    """From clean recordings alone, for a model that the pipeline has not run yet."""
    return {"base": round(float(conformal_quantile(np.abs(truth - predicted))), 4), **dict.fromkeys(DEGRADATIONS, MIN_EXPONENT)}


def spreads_of(scores: np.ndarray, intervals: np.ndarray, rule: dict[str, float], degradations: np.ndarray) -> np.ndarray:
    """Scores [n] and intervals [n,2] of reports made with `rule` -> [n]: the spread that the model predicts, 1 where it predicts none"""
    half = np.maximum(scores - intervals[:, 0], intervals[:, 1] - scores)  # one end may be cut off at 0 or 1
    return half / (rule["base"] * np.exp(degradations @ np.array([rule[name] for name in DEGRADATIONS])))


def read_errors(signal: str, models: Path, rules: dict[str, dict]) -> dict[str, Errors]:
    """Score -> errors of the shipped pipeline on clips of the calibration part as recorded and corrupted. `rules`: of its manifest."""
    clips = read_clips()
    corruptor = Corruptor([clip for clip in clips if is_steady(clip) and not clip.held_out])
    chosen: list[tuple[Clip, str, Path]] = []
    own = [clip for clip in clips if clip.corpus == RATED[signal] and clip.part is Part.CALIBRATION]
    copies = len(CALIBRATION_CONDITIONS) if len(own) < FEW else 1
    for number, clip in enumerate(own):
        chosen.append((clip, "clean", settings.DATA / clip.path))
        for step in range(copies):
            condition = CALIBRATION_CONDITIONS[(number + step * len(CALIBRATION_CONDITIONS) // copies) % len(CALIBRATION_CONDITIONS)]
            chosen.append((clip, condition, corruptor.copy(clip, condition)))
    reports = analyze([path for *_, path in chosen], signal, models)
    scored = [(clip, condition, report) for (clip, condition, _), report in zip(chosen, reports) if is_ok(report, signal)]
    degradations = np.array([degradations_of(report["audio"]) for *_, report in scored])
    speakers, conditions = (np.array(column) for column in zip(*((clip.speaker, condition) for clip, condition, _ in scored)))
    errors = {}
    for name in DIMENSIONS if signal == "emotion" else ("clarity",):
        truths = [getattr(clip.dimensions if name in DIMENSIONS else clip, name) for clip, *_ in scored]
        signals = [report[signal]["signals"] for *_, report in scored]
        predicted = np.array([s[name] for s in signals])
        bounds = np.array([s["intervals"][name] for s in signals])
        spreads = spreads_of(predicted, bounds, rules[name], degradations)
        errors[name] = Errors(np.abs(truths - predicted) / spreads, speakers, degradations, conditions)
    return errors


def fit_intervals(signal: str, models: Path) -> None:
    """Writes the rules and what they cover into the manifest of the head."""
    path = models / signal / "manifest.json"
    manifest = json.loads(path.read_text())
    for name, errors in read_errors(signal, models, manifest["params"]["intervals"]).items():
        manifest["params"]["intervals"][name] = fit_interval(errors)
        print(name, manifest["params"]["intervals"][name])
        for condition, measured in measure_coverage(errors).items():
            print(f"  {condition:10} {measured}")
            for what in ("coverage", "half_width"):
                key = f"{name}_{what}_{condition.replace('-', '_')}"
                manifest["training"]["metrics"][key] = measured[what]
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


@dataclass(frozen=True)
class Changes:
    """One row per recording and choice of baselines, of one score."""

    error: np.ndarray  # [n] |rated change - predicted change|
    half: np.ndarray  # [n] half-width of the interval, with the factor of the models


def is_at_rest(clip: Clip) -> bool:
    return clip.row["label"] in AT_REST


def baseline_choices(clips: list[Clip]) -> list[tuple[list[Clip], list[Clip]]]:
    """-> the baselines and the other clips of one speaker, for each choice of baselines"""
    rest, others = ([clip for clip in clips if is_at_rest(clip) is wanted] for wanted in (True, False))
    return [(list(chosen), others) for count in range(1, len(rest) + 1) for chosen in combinations(rest, count)]


def read_changes(models: Path) -> dict[str, Changes]:
    clips = [clip for clip in read_clips() if clip.corpus == RECIPE.rated and clip.part is Part.CALIBRATION]
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in DIMENSIONS}
    for speaker in sorted({clip.speaker for clip in clips}):
        for baselines, others in baseline_choices([clip for clip in clips if clip.speaker == speaker]):
            options = [word for clip in baselines for word in ("--baseline", str((settings.DATA / clip.path).resolve()))]
            for clip, report in zip(others, analyze([settings.DATA / clip.path for clip in others], "emotion", models, options)):
                if is_ok(report, "emotion"):
                    for name, found in rows.items():
                        rated = getattr(clip.dimensions, name) - np.median([getattr(one.dimensions, name) for one in baselines])
                        change, (lower, upper) = (report["emotion"]["relative"][name][key] for key in ("change", "interval"))
                        found.append((abs(rated - change), max(change - lower, upper - change)))
    return {name: Changes(*map(np.array, zip(*found))) for name, found in rows.items()}


def coverage_of(changes: Changes) -> float:
    return round(float((changes.error <= changes.half).mean()), 3)


def fit_relative(models: Path) -> dict[str, float]:
    """`models`: heads that the calibration part is new to. -> factor of each score, also written into their manifest"""
    folder = models / "emotion"
    update_manifest(folder, {"relative": dict.fromkeys(DIMENSIONS, 1)})
    if not any(clip.corpus == RECIPE.rated and is_at_rest(clip) for clip in read_clips()):
        return dict.fromkeys(DIMENSIONS, 1)  # errors count as independent
    found = read_changes(models)
    params = {name: round(float(conformal_quantile(changes.error / changes.half)), 3) for name, changes in found.items()}
    update_manifest(folder, {"relative": params})
    held = {name: coverage_of(changes) for name, changes in found.items()}
    print(f"relative: {json.dumps(params)}; with a factor of 1 the intervals hold {json.dumps(held)}", flush=True)
    return params
