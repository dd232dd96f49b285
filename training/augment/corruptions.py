"""Corrupted copies of recordings: noise, telephone band, a room, clipping, short excerpts. For calibration and evaluation."""

import sys
import zlib
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import butter, fftconvolve, resample_poly, sosfilt

from training import cache, settings
from training.augment import audio, mix
from training.augment.audio import altered_copy, decode, read_audio
from training.augment.mix import gated_power, mix_at_snr
from training.corpora.corpus import Clip
from training.features.spec import HOP_LENGTH
from training.settings import SAMPLE_RATE

CONDITIONS = {
    "noise-20": "noise, 20 dB SNR",
    "noise-10": "noise, 10 dB SNR",
    "noise-5": "noise, 5 dB SNR",
    "telephone": "telephone band",
    "loudest-2": "loudest 2 s",
    "loudest-1": "loudest 1 s",
}
SILENT = 1e-9  # power


def draw_noise(noises: list[np.ndarray], count: int, rng: np.random.Generator) -> np.ndarray:
    """A stretch that is not silent."""
    while True:
        noise = noises[rng.integers(len(noises))]
        drawn = noise[(rng.integers(len(noise)) + np.arange(count)) % len(noise)]
        if np.mean(drawn**2) > SILENT:
            return drawn


def add_noise_to_samples(samples: np.ndarray, snr_db: float, noises: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    noise = draw_noise(noises, len(samples), rng)
    frames = samples[: len(samples) // HOP_LENGTH * HOP_LENGTH].reshape(-1, HOP_LENGTH)
    return mix_at_snr(samples, noise, snr_db, gated_power((frames**2).mean(1)), np.mean(noise**2))


def telephone(samples: np.ndarray) -> np.ndarray:
    """300 to 3400 Hz at 8 kHz, companded to the 8 bits of G.711's mu-law."""
    band = sosfilt(butter(6, [300, 3400], "band", fs=SAMPLE_RATE, output="sos"), samples)
    narrow = np.clip(resample_poly(band, 1, 2), -1, 1)
    companded = np.sign(narrow) * np.log1p(255 * np.abs(narrow)) / np.log(256)
    steps = np.round(companded * 127) / 127
    return np.sign(steps) * (256 ** np.abs(steps) - 1) / 255


def in_room(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With reverberation: noise that decays by 60 dB in 0.4 to 0.8 s and has 0.5 to 1 times the power of the direct sound."""
    at = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    tail = rng.standard_normal(len(at)) * 10 ** (-3 * at / rng.uniform(0.4, 0.8))
    tail *= np.sqrt(rng.uniform(0.5, 1) / np.sum(tail**2))
    tail[0] += 1
    return fftconvolve(samples, tail)[: len(samples)]


def loudest(samples: np.ndarray, seconds: float) -> np.ndarray:
    """The stretch of that length with the most energy."""
    count = int(seconds * SAMPLE_RATE)
    if len(samples) <= count:
        return samples
    energy = np.concatenate([[0], np.cumsum(samples**2)])
    start = int(np.argmax(energy[count:] - energy[:-count]))
    return samples[start : start + count]


def corrupt(samples: np.ndarray, condition: str, noises: list[np.ndarray], seed: int) -> tuple[np.ndarray, int]:
    """-> samples in [-1, 1], sample rate. `condition`: one of CONDITIONS, "room" or "clipped"."""
    rng, rate = np.random.default_rng(seed), SAMPLE_RATE
    kind, _, amount = condition.partition("-")
    if kind == "clipped":
        return np.clip(samples * (3 / np.abs(samples).max()), -1, 1), rate
    if kind == "telephone":
        changed, rate = telephone(samples), SAMPLE_RATE // 2
    elif kind == "room":
        changed = in_room(samples, rng)
    elif kind == "noise":
        changed = add_noise_to_samples(samples, float(amount), noises, rng)
    else:
        changed = loudest(samples, float(amount))
    return changed / max(1.0, float(np.abs(changed).max())), rate


class Corruptor:
    """Writes corrupted copies of clips."""

    def __init__(self, noise_clips: list[Clip]):
        decoded = [decode(settings.DATA / clip.path) for clip in noise_clips]
        self.noises = [noise for noise in decoded if len(noise) >= SAMPLE_RATE and np.mean(noise**2) > 1e-6]
        files = [cache.file_hash(settings.DATA / clip.path) for clip in noise_clips]
        self.key = cache.digest([files, cache.code_hash(audio, mix, sys.modules[__name__])])

    def copy(self, clip: Clip, condition: str) -> Path:
        path = altered_copy(clip, condition, self.key)
        if not path.exists():
            seed = zlib.crc32(f"{condition} {clip.path}".encode())
            changed, rate = corrupt(read_audio(settings.DATA / clip.path), condition, self.noises, seed)
            partial = path.with_suffix(".part")
            soundfile.write(partial, changed, rate, "PCM_16", format="WAV")
            partial.replace(path)
        return path
