"""Telephone copies of recordings, generated noise and music: 8 kHz, through G.711, GSM and AMR."""

import functools
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import soundfile
from tqdm import tqdm

from training import cache
from training.augment import audio, synthetic_music, synthetic_noise
from training.augment.audio import FROM_PCM, TO_PCM, read_audio, read_clip, run_codec
from training.corpora.registry import sold_clips
from training.features import log_mel
from training.settings import SAMPLE_RATE, SEED

GROUP = 48  # clips
GAP = SAMPLE_RATE // 2  # samples of silence between the clips of a group
SOX_PCM = "-t raw -e signed -b 16 -r 16000 -c 1 -"
AMR = f"sox -V1 -R {SOX_PCM} -t amr-nb {{options}}-r 8000 - | sox -V1 -R -t amr-nb - {SOX_PCM}"  # -R: dither is repeatable
TELEPHONE = f"{FROM_PCM} -ar 8000 -af highpass=300,lowpass=3400 -c:a pcm_mulaw -f wav pipe:1 | {TO_PCM}"
BAND = "highpass=f=300,highpass=f=300,lowpass=f=3400,lowpass=f=3400"
COMMANDS = {
    "mu-law": TELEPHONE,
    "mu-law, steep": f"{FROM_PCM} -ar 8000 -af {BAND} -c:a pcm_mulaw -f wav pipe:1 | {TO_PCM}",
    "a-law": f"{FROM_PCM} -ar 8000 -af {BAND} -c:a pcm_alaw -f wav pipe:1 | {TO_PCM}",
    "GSM": f"{FROM_PCM} -ar 8000 -af highpass=f=200 -c:a libgsm -f gsm pipe:1 | {TO_PCM}",
    "AMR": AMR.format(options=""),
    "AMR at 5.9 kbit/s": AMR.format(options="-C 2 "),
}
Reader = Callable[[], np.ndarray]


def list_originals() -> list[tuple[str, Reader]]:
    """Name of the copy (<store>-<row in it>), and what reads the original."""
    counts: dict[str, int] = {}
    chosen: list[tuple[str, Reader]] = []
    for clip in sold_clips():
        counts[clip.corpus] = counts.get(clip.corpus, -1) + 1
        if clip.corpus != "RIR" and counts[clip.corpus] % clip.definition.sampling.telephone_every == 0:
            chosen.append((f"corpora-{clip.index}", functools.partial(read_clip, clip)))
    for name, source in (("sounds", synthetic_noise), ("music", synthetic_music)):
        folder = source.folder()
        paths = source.features().paths
        chosen += [(f"{name}-{i}", functools.partial(read_audio, folder / path)) for i, path in enumerate(paths)]
    return chosen


def concatenate(clips: list[np.ndarray]) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """-> samples with GAP after each clip, (first sample, samples) of each clip"""
    pieces, spans, at = [], [], 0
    for x in clips:
        pieces += [x, np.zeros(GAP)]
        spans.append((at, len(x)))
        at += len(x) + GAP
    return np.concatenate(pieces), spans


def write_group(group: list[tuple[str, Reader]], rng: np.random.Generator, folder: Path) -> None:
    """A group goes through one codec, end to end, each clip at its own level."""
    clips = [read() * 10 ** (rng.uniform(-16, 3) / 20) for _, read in group]
    whole, places = concatenate(clips)
    whole = run_codec(list(COMMANDS.values())[rng.integers(len(COMMANDS))], whole)
    for (name, _), (start, count) in zip(group, places):
        soundfile.write(folder / f"{name}.wav", whole[start : start + count], SAMPLE_RATE)


def write_copies(folder: Path) -> None:
    chosen = list_originals()
    order = np.random.default_rng(SEED).permutation(len(chosen))
    groups = [[chosen[i] for i in order[at : at + GROUP]] for at in range(0, len(order), GROUP)]
    for number, group in enumerate(tqdm(groups, "telephone copies", file=sys.stdout, mininterval=10)):
        if not (folder / f"{group[-1][0]}.wav").exists():
            write_group(group, np.random.default_rng([SEED, number]), folder)


@functools.cache
def features_by_name() -> dict[str, np.ndarray]:
    """Name of the copy -> [T,80]"""
    inputs = {
        "recordings": log_mel.content_of(sold_clips()),
        "originals": cache.digest([name for name, _ in list_originals()]),
        "generated": [synthetic_noise.folder().name, synthetic_music.folder().name],
        "code": cache.code_hash(sys.modules[__name__], audio),
    }
    store = log_mel.of_generated("telephone", cache.build("telephone", inputs, write_copies))
    return {path.removesuffix(".wav"): store[i] for i, path in enumerate(store.paths)}
