"""Copies of recordings, sounds and music as telephone lines give them: 8 kHz, through G.711, GSM and AMR.

lines.py: writes CACHE/lines/<source>-<place>.wav, <place> being the place in the features of that name; DRAWN tells
which. The clips of a group go through one line, end to end, and come back at 16 kHz.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import soundfile
from tqdm import tqdm

import features
from changes import BACK, CODECS, FFMPEG, GAP, GROUP, RATE, through
from conditions import read_samples
from corpus import CACHE, DATA, SEED, read_clips

FOLDER = CACHE / "lines"
BAND = "highpass=f=300,highpass=f=300,lowpass=f=3400,lowpass=f=3400"
SOX = "sox -V1 -t raw -e signed -b 16 -r 16000 -c 1 -"
LINES = {
    "mu-law": CODECS["telephone"][1],
    "mu-law, steep": f"{FFMPEG} -ar 8000 -af {BAND} -c:a pcm_mulaw -f wav pipe:1 | {BACK}",
    "a-law": f"{FFMPEG} -ar 8000 -af {BAND} -c:a pcm_alaw -f wav pipe:1 | {BACK}",
    "GSM": f"{FFMPEG} -ar 8000 -af highpass=f=200 -c:a libgsm -f gsm pipe:1 | {BACK}",
    "AMR": CODECS["amr"][1],
    "AMR at 5.9 kbit/s": f"{SOX} -t amr-nb -C 2 -r 8000 - | sox -V1 -t amr-nb - -t raw -e signed -b 16 -r 16000 -c 1 -",
}
RARE = {"TESS": 6, "nEMO": 4, "ASED": 3, "RAVDESS": 2, "EmoGator": 3, "speechocean762": 2}  # every so many clips


def drawn() -> list[tuple[str, Path]]:
    """Name of the copy, file it is made of."""
    counts: dict[str, int] = {}
    chosen = []
    for clip in read_clips():
        counts[clip.corpus] = counts.get(clip.corpus, -1) + 1
        if clip.corpus != "RIR" and counts[clip.corpus] % RARE.get(clip.corpus, 1) == 0:
            chosen.append((f"corpora-{clip.index}", DATA / clip.path))
    for name in ("sounds", "music"):
        chosen += [(f"{name}-{i}", CACHE / name / path) for i, path in enumerate(features.load(name).paths)]
    return chosen


def copy_group(group: list[tuple[str, Path]], rng: np.random.Generator) -> None:
    parts, places, at = [], [], 0
    for name, path in group:
        x = read_samples(path) * 10 ** (rng.uniform(-16, 3) / 20)
        parts += [x, np.zeros(GAP)]
        places.append((name, at, len(x)))
        at += len(x) + GAP
    whole = through(list(LINES.values())[rng.integers(len(LINES))], np.concatenate(parts))
    for name, start, count in places:
        soundfile.write(FOLDER / f"{name}.wav", whole[start : start + count], RATE)


def rows_by_name() -> dict[str, np.ndarray]:
    """Features of the copies by their names."""
    found = features.load("lines")
    return {path.removesuffix(".wav"): found[i] for i, path in enumerate(found.paths)}


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    chosen = drawn()
    order = np.random.default_rng(SEED).permutation(len(chosen))
    groups = [[chosen[i] for i in order[at : at + GROUP]] for at in range(0, len(order), GROUP)]
    for number, group in enumerate(tqdm(groups, "telephone lines", file=sys.stdout)):
        if not (FOLDER / f"{group[-1][0]}.wav").exists():
            copy_group(group, np.random.default_rng([SEED, number]))


if __name__ == "__main__":
    main()
