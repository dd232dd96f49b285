"""Draws training examples of the VAD model: clips one after the other, with noise, hiss or silence."""

from dataclasses import dataclass

import numpy as np

from training.augment.mix import mix_at_snr
from training.augment.spectral import random_curve
from training.features.log_mel import BINS
from training.features.windows import SILENCE
from training.vad.dataset import LabelledPool, VadDataset

TELEPHONE_SHARE = 0.25  # of the examples
TELEPHONE_BINS = 60  # mel bins up to 3.8 kHz
CURVE_POINTS = 6
JUMP_SHARE, JUMP = 0.25, (-2.0, 0.5)  # of the clips; log10 of power: a quiet voice may follow a loud one


@dataclass(frozen=True)
class Mixture:
    log_mel: np.ndarray  # float32 [T,80] log10 of mel energies
    target: np.ndarray  # [T] speech probability
    syllables: list[tuple[int, int, int]]  # (first frame, frame after the last, count) of whole clips with known text


def draw_noise(pool: LabelledPool, rng: np.random.Generator, frames: int) -> np.ndarray:
    """[frames,80]: sounds one after the other, through a random response."""
    sounds: list[np.ndarray] = []
    count = 0
    while count < frames:
        sounds.append(pool.other.draw(rng).log_mel)
        count += len(sounds[-1])
    joined = np.concatenate(sounds)
    start = rng.integers(0, count - frames + 1)
    return joined[start : start + frames] + curve(rng, 0.3)


def curve(rng: np.random.Generator, spread: float) -> np.ndarray:
    return random_curve(rng, spread, CURVE_POINTS).astype(np.float32)


def add_noise_to_log_mel(log_mel: np.ndarray, noise: np.ndarray, snr_db: float, speech_frames: np.ndarray | slice) -> np.ndarray:
    """Both [T,80] log10. The level of speech is the mean power of `speech_frames`; without any there is no scaling."""
    energies, noise_energies = 10.0**log_mel, 10.0**noise
    noise_power = noise_energies.sum(1).mean()
    speech = energies[speech_frames]
    speech_power = speech.sum(1).mean() if len(speech) else noise_power
    return np.log10(mix_at_snr(energies, noise_energies, snr_db, speech_power, noise_power))


def write_speech(pool: LabelledPool, rng: np.random.Generator, log_mel: np.ndarray, target: np.ndarray) -> list[tuple[int, int, int]]:
    """Writes clips into `log_mel` and `target`, some with gaps -> Mixture.syllables"""
    syllables, frames = [], len(log_mel)
    at = int(rng.integers(0, frames // 4)) if rng.random() < 0.6 else 0
    while at < frames - 60:
        item = pool.speech.draw(rng)
        start = int(rng.integers(0, max(1, len(item.log_mel) - frames)))
        clip = item.log_mel[start : start + frames - at]
        jump = rng.uniform(*JUMP) if rng.random() < JUMP_SHARE else 0
        shift = rng.normal(0, 0.3) + jump + curve(rng, 0.25)
        end = at + len(clip)
        log_mel[at:end] = np.maximum(clip + shift, SILENCE)
        target[at:end] = item.target[start : start + len(clip)]
        if item.syllables is not None and len(clip) == len(item.log_mel):
            syllables.append((at, end, item.syllables))
        at = end + (int(rng.integers(0, 250)) if rng.random() < 0.5 else 0)
    return syllables


def draw_mixture(dataset: VadDataset, rng: np.random.Generator, frames: int) -> Mixture:
    log_mel = np.full((frames, BINS), SILENCE, np.float32)
    target = np.zeros(frames, np.float32)
    by_telephone = rng.random() < TELEPHONE_SHARE
    pool = dataset.telephone if by_telephone else dataset.plain
    spoken = rng.random() > 0.22
    syllables = write_speech(pool, rng, log_mel, target) if spoken else []
    if not spoken or rng.random() < 0.55:
        noise = draw_noise(pool, rng, frames)
        log_mel = add_noise_to_log_mel(log_mel, noise, rng.uniform(0, 35) if spoken else 0, target > 0.5)
    elif rng.random() < 0.7:
        hiss = rng.uniform(-9, -4) + 0.25 * rng.standard_normal((frames, BINS)) + curve(rng, 0.5)
        bins = TELEPHONE_BINS if by_telephone else BINS
        log_mel[:, :bins] = np.log10(10.0 ** log_mel[:, :bins] + 10.0 ** hiss[:, :bins])
    return Mixture(np.maximum(log_mel + rng.normal(0, 0.6), SILENCE).astype(np.float32), target, syllables)
