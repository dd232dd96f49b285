"""80 % intervals of valence, arousal and clarity from held-out speakers (twin of src/signals/intervals.ts).

intervals.py emotion|cognitive [FOLDER]: when both heads lie in the folder, this runs the shipped pipeline over
held-out rated recordings and over worse copies of them, fits how errors grow, and writes the rule and what it covers
into the manifest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile
from scipy.optimize import minimize

from changes import decoded
from conditions import RATE, change
from corpus import CACHE, DATA, HERE, MODELS, Clip, read_clips

LEVEL = 0.8
FULL_SPEECH_SECONDS, CLEAN_SNR_DB, FULL_BANDWIDTH_HZ, FULLY_CLIPPED = 3, 25, 7000, 0.01
NAMES = ["short", "noise", "narrow", "clipped"]
LEAST = 0.1  # every exponent's floor: rated recordings are all short, and whatever is missing makes less sure
WORST = {"noise": "noise-5", "narrow": "telephone", "clipped": "clipped", "short": "loudest-1"}
LEAST_GAP = 0.05  # of a lack between its worst copies and the clean recordings, for an exponent to follow from it
CONDITIONS = ["noise-5", "noise-10", "noise-20", "telephone", "clipped", "loudest-1"]
STEADY = ("Rain", "Sea waves", "Helicopter", "Chainsaw")
RATED = {"emotion": ("TAVA", 6), "cognitive": ("speechocean762", 1)}  # corpus, worse copies of each recording


@dataclass(frozen=True)
class Errors:
    """One row a recording or copy: how far the score was off, of whom, and what was missing (`lacks`)."""

    size: np.ndarray  # [n] |truth - guess|
    speaker: np.ndarray  # [n]
    lacks: np.ndarray  # [n,4] in the order of NAMES
    condition: np.ndarray  # [n] "clean" or one of CONDITIONS

    def where(self, rows: np.ndarray) -> Errors:
        return Errors(self.size[rows], self.speaker[rows], self.lacks[rows], self.condition[rows])


def lacks_of(audio: dict) -> list[float]:
    """Of the audio block of a report."""
    snr = 0 if audio["snr_db"] is None else audio["snr_db"]
    return [
        max(0.0, np.log(FULL_SPEECH_SECONDS / audio["speech_s"])),
        max(0.0, CLEAN_SNR_DB - snr) / 10,
        max(0.0, np.log(FULL_BANDWIDTH_HZ / max(audio["bandwidth_hz"], 1000))),
        min(1.0, audio["clipped_ratio"] / FULLY_CLIPPED),
    ]


def fit_rule(errors: Errors) -> dict[str, float]:
    """The rule whose half-width is the 80 % quantile of the errors, given what is missing; exact on clean ones.

    An exponent is raised where the copies that lack most of it would lie outside too often.
    """
    start = np.log(np.quantile(errors.size, LEVEL) + 1e-6)

    def cost(parameters: np.ndarray) -> float:
        half = np.exp(parameters[0] + errors.lacks @ (LEAST + np.abs(parameters[1:])))
        return float(np.maximum(LEVEL * (errors.size - half), (LEVEL - 1) * (errors.size - half)).mean())

    best = min((minimize(cost, [start, *first], method="Nelder-Mead", options={"maxiter": 4000, "fatol": 1e-8})
                for first in ([0.05] * 4, [0.2] * 4)), key=lambda found: found.fun)  # fmt: skip
    exponents = LEAST + np.abs(best.x[1:])
    clean = errors.where(errors.condition == "clean")
    for name, condition in WORST.items():
        worst, place = errors.where(errors.condition == condition), NAMES.index(name)
        gap = worst.lacks[:, place].mean() - clean.lacks[:, place].mean() if len(worst.size) else 0
        if gap > LEAST_GAP:
            ratios = worst.size / (base_of(clean, exponents) * np.exp(worst.lacks @ exponents))
            exponents[place] += max(0, np.log(np.quantile(ratios, LEVEL)) / gap)
    rule = {"base": base_of(clean, exponents), **dict(zip(NAMES, exponents))}
    return {name: round(float(value), 4) for name, value in rule.items()}


def base_of(clean: Errors, exponents: np.ndarray) -> float:
    """Split conformal."""
    ratios = np.sort(clean.size / np.exp(clean.lacks @ exponents))
    return ratios[min(len(ratios) - 1, int(np.ceil(LEVEL * (len(ratios) + 1))) - 1)]


def half_widths(rule: dict[str, float], errors: Errors) -> np.ndarray:
    return rule["base"] * np.exp(errors.lacks @ np.array([rule[name] for name in NAMES]))


def coverage(errors: Errors, folds: int = 5) -> dict[str, dict[str, float]]:
    """Of each condition: share inside the interval of a rule that never saw the speaker, and its mean half-width."""
    owner = np.unique(errors.speaker, return_inverse=True)[1] % folds
    half = np.zeros(len(owner))
    for fold in range(folds):
        test = owner == fold
        half[test] = half_widths(fit_rule(errors.where(~test)), errors.where(test))
    found = {}
    for condition in dict.fromkeys(errors.condition.tolist()):
        rows = errors.condition == condition
        found[condition] = {
            "coverage": round(float((errors.size[rows] <= half[rows]).mean()), 3),
            "half_width": round(float(half[rows].mean()), 3),
            "clips": int(rows.sum()),
        }
    return found


def without_conditions(truth: np.ndarray, guess: np.ndarray) -> dict[str, float]:
    """A first rule from clean recordings alone, for a model that has not been through the pipeline yet."""
    errors = np.sort(np.abs(truth - guess))
    rank = min(len(errors) - 1, int(np.ceil(LEVEL * (len(errors) + 1))) - 1)
    return {"base": round(float(errors[rank]), 4), **dict.fromkeys(NAMES, LEAST)}


def truths_of(clip: Clip) -> dict[str, float]:
    if clip.corpus == "TAVA":
        return {"valence": float(clip.row["valence"]), "arousal": float(clip.row["arousal"])}
    return {"clarity": (float(clip.row["fluency"]) + float(clip.row["prosody"])) / 20}


def copy_of(clip: Clip, condition: str, noises: list[np.ndarray]) -> Path:
    path = CACHE / "intervals" / condition / f"{clip.index}.wav"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        samples = soundfile.read(DATA / clip.path, dtype="float64")[0]
        if condition == "clipped":
            changed, rate = np.clip(samples * (3 / np.abs(samples).max()), -1, 1), RATE
        else:
            changed, rate = change(samples, condition, noises, zlib.crc32(f"{condition} {clip.path}".encode()))
            changed = changed / max(1.0, float(np.abs(changed).max()))
        soundfile.write(path, changed, rate, "PCM_16")
    return path


def analyse(paths: list[Path], kind: str, models: Path) -> dict[str, dict]:
    """Path -> report of the shipped pipeline."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("UNDERTONE_")}
    reports = {}
    for at in range(0, len(paths), 200):
        part = [str(path) for path in paths[at : at + 200]]
        command = ["node", str(HERE.parent / "dist/src/cli.js"), "analyze", "--jsonl", "--signals", kind]
        command += ["--models-dir", str(models), *part]
        run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
        reports |= {report["path"]: report for report in map(json.loads, run.stdout.splitlines())}
        print(f"{len(reports)} of {len(paths)} recordings and copies", flush=True)
    if len(reports) < len(paths):
        raise SystemExit(f"Expected a line for each of {len(paths)} recordings, got {len(reports)}")
    return reports


def read_errors(kind: str, models: Path) -> dict[str, Errors]:
    """Of each score of `kind`."""
    corpus, copies = RATED[kind]
    clips = read_clips()
    noises = [decoded(c.path) / 32768 for c in clips if c.corpus == "ESC10" and not c.held_out and c.label in STEADY]
    picked = [clip for clip in clips if clip.corpus == corpus and clip.held_out]
    asked = []
    for number, clip in enumerate(picked):
        asked.append((clip, "clean", (DATA / clip.path).resolve()))
        for step in range(copies):
            condition = CONDITIONS[(number + step * len(CONDITIONS) // copies) % len(CONDITIONS)]
            asked.append((clip, condition, copy_of(clip, condition, noises).resolve()))
    reports = analyse([path for *_, path in asked], kind, models)
    spoken = [(c, k, r) for c, k, p in asked if (r := reports.get(str(p), {})).get(kind, {}).get("status") == "ok"]
    lacks = np.array([lacks_of(report["audio"]) for *_, report in spoken])
    speakers, conditions = (np.array(column) for column in zip(*((c.speaker, k) for c, k, _ in spoken)))
    return {
        name: Errors(
            np.array([abs(truths_of(clip)[name] - report[kind]["signals"][name]) for clip, _, report in spoken]),
            speakers, lacks, conditions,
        )
        for name in truths_of(picked[0])
    }  # fmt: skip


def main(kind: str, models: Path) -> None:
    path = models / kind / "manifest.json"
    manifest = json.loads(path.read_text())
    for name, errors in read_errors(kind, models).items():
        manifest["rule"]["intervals"][name] = fit_rule(errors)
        print(name, manifest["rule"]["intervals"][name])
        for condition, figures in coverage(errors).items():
            print(f"  {condition:10} {figures}")
            for what in ("coverage", "half_width"):
                key = f"{name}_{what}_{condition.replace('-', '_')}"
                manifest["training"]["metrics"][key] = figures[what]
    path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else MODELS)
