"""The shipped pitch beside swift-f0's (PyPI, MIT), a learned estimator: training/.venv/bin/python training/pitch.py.

Frames of 10 ms; swift-f0's of 16 ms are read at their times. Clips are drawn at random, so many from each set.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from swift_f0 import SwiftF0

from corpus import DATA, HERE, SPOKEN, read_clips

LOWEST, HIGHEST = 60, 500


def draw(count: int, seed: int) -> list:
    rng, clips = random.Random(seed), read_clips()
    found = []
    for name in SPOKEN:
        members = [clip for clip in clips if clip.corpus == name]
        found += rng.sample(members, min(count, len(members)))
    return found


def shipped(clips: list) -> tuple[list[tuple[np.ndarray, np.ndarray]], str]:
    """(samples, Hz) of each clip, and what it cost."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "list").write_text("\n".join(str(DATA / clip.path) for clip in clips))
        command = ["node", "--import", "tsx", "training/pitch.ts", f"{folder}/list", f"{folder}/out"]
        cost = subprocess.run(command, cwd=HERE.parent, check=True, capture_output=True, text=True).stdout
        raw = (Path(folder) / "out").read_bytes()
    arrays, at = [], 0
    while at < len(raw):
        length = int(np.frombuffer(raw, np.uint32, 1, at)[0])
        arrays.append(np.frombuffer(raw, np.float32, length, at + 4))
        at += 4 + 4 * length
    return list(zip(arrays[::2], arrays[1::2])), cost.strip()


def learned(model: SwiftF0, samples: np.ndarray, frames: int) -> np.ndarray:
    """Hz of each 10 ms, 0 where unvoiced: between two voiced frames by their logarithms, else the nearest."""
    result = model.detect(samples, 16000, LOWEST, HIGHEST)
    times, octaves, voiced = result.timestamps, np.log2(result.pitch_hz), result.confidence >= 0.5
    at = np.arange(frames) / 100
    place = np.clip(np.interp(at, times, np.arange(len(times))), 0, len(times) - 1)
    nearest, low, high = np.round(place).astype(int), np.floor(place).astype(int), np.ceil(place).astype(int)
    between = np.interp(at, times, octaves)
    return np.where(voiced[nearest], 2 ** np.where(voiced[low] & voiced[high], between, octaves[nearest]), 0)


def row(name: str, ours: np.ndarray, theirs: np.ndarray) -> list[str]:
    heard, known = ours > 0, theirs > 0
    cents = 1200 * np.abs(np.log2(ours[heard & known] / theirs[heard & known]))
    shares = [np.mean(heard == known), np.mean(heard[known]), np.mean(known[heard]), np.mean(cents < 50),
              np.mean(np.abs(cents - 1200) < 150)]  # fmt: skip
    return [name, str(len(ours)), *(f"{share:.3f}" for share in shares), f"{np.median(cents):.1f}"]


def main(count: int = 30, seed: int = 1) -> None:
    clips = draw(count, seed)
    tracks, cost = shipped(clips)
    model = SwiftF0(threads=1, spin=False)
    pairs = []
    for index, (samples, ours) in enumerate(tracks):
        pairs.append((ours, learned(model, samples, len(ours))))
        if index % 50 == 0:
            print(f"{index} of {len(tracks)} recordings", file=sys.stderr)
    print("| set | frames | voicing agrees | heard of its voiced | its of ours | within 50 cents | an octave off | median cents |")
    print("| --- " * 8 + "|")
    for name in [*SPOKEN, "all"]:
        chosen = [pair for clip, pair in zip(clips, pairs) if name in (clip.corpus, "all")]
        print("| " + " | ".join(row(name, *(np.concatenate(side) for side in zip(*chosen)))) + " |")
    print(f"\n{len(clips)} recordings; {cost}")


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
