"""What a recording is compared by with its speaker's baseline: training/.venv/bin/python training/relative.py LINES.

LINES is what training/measure.ts wrote. Clips of a speaker are put together until there are 5 s of speech; spreads come
from pairs of one speaker's plain recordings, the bound of `baseline_other_speaker` from pairs of one and of two speakers
of the same set. Writes training/relative.json, which the cognitive model's rule takes over, and prints the error rates.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import numpy as np

from corpus import HERE, read_clips

SECONDS = 5
MOST = 6  # recordings of one speaker
STRANGERS = 8  # of each speaker
PLAIN = {"neutral", "calm", "normal", ""}
FALSE_ALARMS = 0.02
FEWEST = 20  # pairs of a set that weighs
DIRECTIONS = 8
RIDGE = 0.01
# Grade B: only beside the same speaker's baseline. Measure -> unit, study, direction under load, weight.
MEASURES = {
    "pitch_level": ("semitones re 27.5 Hz", "Huttunen et al. 2011; Griffin & Williams 1987", "up", 0.5),
    "pitch_range": ("semitones", "Huttunen et al. 2011; Lively et al. 1993", "down", 0.5),
    "spectral_tilt": ("dB/octave", "Lively et al. 1993", "up", 0.25),
}
Recording = dict[str, np.ndarray | float]
Pair = tuple[str, np.ndarray]  # set; difference of the columns [pitch_level, cepstrum ...]


def join(lines: list[dict]) -> Recording:
    weights = [line["speech_s"] for line in lines]
    joined = {name: float(np.average([line["measures"][name] for line in lines], weights=weights)) for name in MEASURES}
    return {**joined, "cepstrum": np.average([line["cepstrum"] for line in lines], axis=0, weights=weights)}


def recordings(path: str, plain: bool) -> dict[tuple[str, str], list[Recording]]:
    """(set, speaker) -> recordings of SECONDS of speech or more, put together in the order of the lines."""
    clips = {clip.path: clip for clip in read_clips()}
    spoken: dict[tuple[str, str], list[dict]] = {}
    for line in map(json.loads, Path(path).read_text().splitlines()):
        clip = clips[line["path"]]
        if "pitch_level" in line["measures"] and (clip.label in PLAIN or not plain) and clip.corpus != "AMI":
            spoken.setdefault((clip.corpus, clip.speaker), []).append(line)
    result = {}
    for speaker, lines in spoken.items():
        found, waiting = [], []
        for line in lines:
            waiting.append(line)
            if sum(part["speech_s"] for part in waiting) >= SECONDS:
                found.append(join(waiting))
                waiting = []
        if len(found) > 1:
            result[speaker] = found[:MOST]
    return result


def grade_b(path: str) -> dict[str, dict]:
    """Spread of the logistic distribution that has the quartiles of one speaker's differences, ln 9 spreads apart."""
    speakers = recordings(path, plain=True).values()
    result = {}
    for name, (unit, study, _, _) in MEASURES.items():
        apart = [abs(a[name] - b[name]) for found in speakers for a, b in itertools.combinations(found, 2)]
        middle = np.median([np.mean([r[name] for r in found]) for found in speakers])
        spread = 2 * float(np.median(apart)) / np.log(9)
        result[name] = {"median": round(float(middle), 4), "spread": round(spread, 4), "scale": "difference",
                        "unit": unit, "source": study}  # fmt: skip
    return result


def pairs_of(speakers: dict[tuple[str, str], list[Recording]]) -> tuple[list[Pair], list[Pair]]:
    rng = np.random.default_rng(0)
    columns = {key: [np.concatenate([[r["pitch_level"]], r["cepstrum"]]) for r in found] for key, found in speakers.items()}
    same = [(key[0], a - b) for key, found in columns.items() for a, b in itertools.combinations(found, 2)]
    different = []
    for key, found in columns.items():
        others = [other for other in columns if other[0] == key[0] and other != key]
        for index in rng.permutation(len(others))[:STRANGERS]:
            different.append((key[0], found[0] - columns[others[index]][0]))
    return same, different


def covariance(pairs: list[Pair]) -> np.ndarray:
    """Sets with FEWEST pairs or more weigh alike."""
    sets = [np.array([d for corpus, d in pairs if corpus == name]) for name in {corpus for corpus, _ in pairs}]
    return np.mean([d.T @ d / len(d) for d in sets if len(d) >= FEWEST], axis=0)


def find_directions(same: list[Pair], different: list[Pair]) -> np.ndarray:
    """Those in which two speakers are furthest apart for one speaker's spread (linear discriminants), each as long as
    the log odds of its two normal distributions ask for."""
    one, two = covariance(same), covariance(different)
    root = np.linalg.inv(np.linalg.cholesky(one + RIDGE * np.diag(np.diag(one))))
    ratios, vectors = np.linalg.eigh(root @ two @ root.T)
    best = np.argsort(ratios)[::-1][:DIRECTIONS]
    return np.sqrt(np.maximum(1 - 1 / ratios[best], 0))[:, None] * (vectors[:, best].T @ root)


def distances(directions: np.ndarray, pairs: list[Pair]) -> np.ndarray:
    return np.array([np.sum((directions @ difference) ** 2) for _, difference in pairs])


def bound_of(directions: np.ndarray, same: list[Pair]) -> float:
    """Sets weigh alike."""
    sizes = {name: sum(corpus == name for corpus, _ in same) for name in {corpus for corpus, _ in same}}
    kept = [pair for pair in same if sizes[pair[0]] >= FEWEST]
    found, weights = distances(directions, kept), np.array([1 / sizes[corpus] for corpus, _ in kept])
    order = np.argsort(found)
    return float(np.interp(1 - FALSE_ALARMS, np.cumsum(weights[order]) / weights.sum(), found[order]))


def report(directions: np.ndarray, bound: float, same: list[Pair], different: list[Pair]) -> None:
    print("| set | pairs of one speaker | warned | pairs of two speakers | warned |\n| --- | --- | --- | --- | --- |")
    for name in [*sorted({corpus for corpus, _ in same}), "all"]:
        chosen = [[p for p in pairs if name in (p[0], "all")] for pairs in (same, different)]
        shares = [f"{np.mean(distances(directions, pairs) > bound):.3f}" if pairs else "" for pairs in chosen]
        print(f"| {name} | {len(chosen[0])} | {shares[0]} | {len(chosen[1])} | {shares[1]} |")


def main(path: str) -> None:
    everybody = recordings(path, plain=False)
    names = sorted(everybody)
    halves = [pairs_of({name: everybody[name] for name in names[start::2]}) for start in (0, 1)]
    for fitted, left_out in (halves, halves[::-1]):
        directions = find_directions(*fitted)
        report(directions, bound_of(directions, fitted[0]), *left_out)
    same, different = pairs_of(everybody)
    directions = find_directions(same, different)
    rule = {"minSpeechSeconds": SECONDS, "directions": [[round(float(x), 4) for x in row] for row in directions],
            "threshold": round(bound_of(directions, same), 3)}  # fmt: skip
    text = json.dumps({"reference": grade_b(path), "otherSpeaker": rule}, indent=2)
    (HERE / "relative.json").write_text(text + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
