"""Waveform augmentation: level, equalisation, rooms, noise, speed, tempo, pitch, leading and trailing silence, real codecs.

Clips are augmented in groups: each clip gets its own room and noise, then one call of FFmpeg or SoX changes the tempo and one encodes the group.
"""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import fftconvolve
from tqdm import tqdm

from training import settings
from training.augment.audio import FROM_PCM, TO_PCM, decode, read_audio, run_codec
from training.augment.mix import mix_at_snr
from training.corpora.corpus import Clip
from training.corpora.recipe import RESEARCH
from training.corpora.registry import is_training_noise, read_clips
from training.settings import SAMPLE_RATE, SEED

COPIED_EVERY = 2
GROUP = 48  # clips
GAP = SAMPLE_RATE // 2  # samples of silence between the clips of a group
PROCESSES = 2
SOX_PCM = "-t raw -e signed -b 16 -r 16000 -c 1 -"
AMR = f"sox -V1 -R {SOX_PCM} -t amr-nb {{options}}-r 8000 - | sox -V1 -R -t amr-nb - {SOX_PCM}"  # -R: dither is repeatable
TELEPHONE = f"{FROM_PCM} -ar 8000 -af highpass=300,lowpass=3400 -c:a pcm_mulaw -f wav pipe:1 | {TO_PCM}"
# name -> (probability, shell command for `run_codec`)
CODECS: dict[str, tuple[float, str | None]] = {
    "none": (0.22, None),
    "mp3-32": (0.10, f"{FROM_PCM} -c:a libmp3lame -b:a 32k -f mp3 pipe:1 | {TO_PCM}"),
    "mp3-64": (0.08, f"{FROM_PCM} -c:a libmp3lame -b:a 64k -f mp3 pipe:1 | {TO_PCM}"),
    "opus-8": (0.08, f"{FROM_PCM} -c:a libopus -b:a 8k -f ogg pipe:1 | {TO_PCM}"),
    "opus-16": (0.12, f"{FROM_PCM} -c:a libopus -b:a 16k -f ogg pipe:1 | {TO_PCM}"),
    "vorbis": (0.06, f"{FROM_PCM} -c:a libvorbis -q:a 0 -f ogg pipe:1 | {TO_PCM}"),
    "aac-24": (0.08, f"{FROM_PCM} -c:a aac -b:a 24k -f adts pipe:1 | {TO_PCM}"),
    "telephone": (0.12, TELEPHONE),
    "narrow": (0.06, f"{FROM_PCM} -ar 8000 -c:a pcm_s16le -f wav pipe:1 | {TO_PCM}"),
    "amr": (0.08, AMR.format(options="")),
}


class AcousticEnvironments:
    """Noises (ESC10 without its held-out fold, or generated) and room impulse responses (recorded, or decaying noise)."""

    def __init__(self, clips: list[Clip]):
        self.noises = [clip for clip in clips if is_training_noise(clip)]
        self.impulse_responses = [read_audio(settings.DATA / clip.path) for clip in clips if clip.corpus == "RIR"]

    def noise(self, rng: np.random.Generator, count: int) -> np.ndarray:
        if rng.random() < 0.35:
            spectrum = np.fft.rfft(rng.normal(size=count))
            spectrum /= np.maximum(np.arange(len(spectrum)), 20) ** rng.uniform(0, 0.8)
            return np.fft.irfft(spectrum, count)
        sound = decode(settings.DATA / self.noises[rng.integers(len(self.noises))].path)
        start = rng.integers(0, len(sound))
        return sound[(start + np.arange(count)) % len(sound)]

    def impulse_response(self, rng: np.random.Generator) -> np.ndarray:
        if rng.random() < 0.5:
            return self.impulse_responses[rng.integers(len(self.impulse_responses))]
        seconds = rng.uniform(0.15, 0.7)
        at = np.arange(int(seconds * SAMPLE_RATE)) / SAMPLE_RATE
        tail = rng.normal(size=len(at)) * 10 ** (-3 * at / seconds)
        tail[0] = rng.uniform(6, 25)
        return tail.astype(np.float32)


def mean_power(x: np.ndarray) -> float:
    return float(np.mean(x**2)) + 1e-12


def equalize(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    spectrum = np.fft.rfft(x)
    decibels = np.interp(np.linspace(0, 1, len(spectrum)), np.linspace(0, 1, 6), rng.normal(0, 4, 6))
    return np.fft.irfft(spectrum * 10 ** (decibels / 20), len(x))


def simulate_environment(x: np.ndarray, environments: AcousticEnvironments, rng: np.random.Generator) -> np.ndarray:
    """One clip in another room, with noise, through another microphone, at another level."""
    power = mean_power(x)
    if rng.random() < 0.3:
        response = environments.impulse_response(rng)
        x = fftconvolve(x, response)[int(np.argmax(np.abs(response))) :][: len(x)]
        x = x * np.sqrt(power / mean_power(x))
    if rng.random() < 0.5:
        noise = environments.noise(rng, len(x))
        x = mix_at_snr(x, noise, rng.uniform(5, 30), power, mean_power(noise))
    if rng.random() < 0.6:
        x = equalize(x, rng)
    peak = float(np.abs(x).max()) + 1e-9
    loudest = rng.uniform(1, 2) if rng.random() < 0.06 else 10 ** (rng.uniform(-26, -1) / 20)
    return np.clip(x / peak * loudest, -1, 1)


def retime(x: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Changes speed (pitch and tempo), tempo or pitch, or nothing -> samples, length over that of the original."""
    kind, factor = rng.random(), rng.uniform(0.92, 1.08)
    speed, tempo = f"asetrate={round(SAMPLE_RATE * factor)},aresample={SAMPLE_RATE}", f"atempo={factor:.4f}"
    if kind < 0.2:
        filters, ratio = speed, 1 / factor
    elif kind < 0.35:
        filters, ratio = tempo, 1 / factor
    elif kind < 0.5:
        filters, ratio = f"{speed},atempo={1 / factor:.4f}", 1.0
    else:
        return x, 1.0
    return run_codec(f"{FROM_PCM} -af {filters} -f s16le -ar {SAMPLE_RATE} -ac 1 pipe:1", x), ratio


def concatenate(clips: list[np.ndarray]) -> tuple[np.ndarray, list[tuple[int, int]]]:
    """-> samples with GAP after each clip, (first sample, samples) of each clip"""
    pieces, spans, at = [], [], 0
    for x in clips:
        pieces += [x, np.zeros(GAP)]
        spans.append((at, len(x)))
        at += len(x) + GAP
    return np.concatenate(pieces), spans


def augment_group(group: list[Clip], environments: AcousticEnvironments, rng: np.random.Generator, folder: Path) -> None:
    """Writes FOLDER/<clip index>.wav"""
    clips = [simulate_environment(read_audio(settings.DATA / clip.path), environments, rng) for clip in group]
    whole, spans = concatenate(clips)
    whole, ratio = retime(whole, rng)
    names = list(CODECS)
    codec = names[rng.choice(len(names), p=[probability for probability, _ in CODECS.values()])]
    if command := CODECS[codec][1]:
        whole = run_codec(command, whole)
    for clip, (start, count) in zip(group, spans):
        before, after = (int(rng.uniform(0, 0.4) * GAP) for _ in range(2))
        first = max(0, int(start * ratio) - before)
        soundfile.write(folder / f"{clip.index}.wav", whole[first : int((start + count) * ratio) + after], SAMPLE_RATE)


def augment_share(folder: Path, share: int) -> None:
    """Every PROCESSES-th group, without those that an interrupted run finished."""
    clips = read_clips()
    environments = AcousticEnvironments(clips)
    chosen = [clip for clip in clips if clip.corpus in RESEARCH.labelled]
    order = np.random.default_rng([SEED, 0]).permutation(len(chosen))[::COPIED_EVERY]
    groups = [order[at : at + GROUP] for at in range(0, len(order), GROUP)]
    for number in tqdm(range(share, len(groups), PROCESSES), "augmented groups", mininterval=10):
        done = folder / f"group-{number}.done"
        if not done.exists():
            augment_group([chosen[i] for i in groups[number]], environments, np.random.default_rng([SEED, 0, number]), folder)
            done.touch()


def write_copies(folder: Path) -> None:
    """An augmented copy of every COPIED_EVERY-th labelled clip, drawn at random."""
    with ProcessPoolExecutor(PROCESSES, multiprocessing.get_context("fork")) as pool:
        list(pool.map(augment_share, [folder] * PROCESSES, range(PROCESSES)))
