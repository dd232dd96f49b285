"""Augmentation of log-mel frames: microphone, room, noise, codec and telephone."""

import numpy as np

from training.augment import synthetic_noise
from training.augment.mix import gated_power, mix_at_snr
from training.corpora.registry import is_training_noise, sold_clips
from training.features.log_mel import BINS, of_corpora


class Noises:
    """Log-mel frames of ESC10 without its held-out fold, and of generated noise (three times as likely)."""

    def __init__(self):
        corpora, generated = of_corpora(), synthetic_noise.features()
        self.noises = [np.array(corpora[clip.index]) for clip in sold_clips() if is_training_noise(clip)]
        noises = [i for i, path in enumerate(generated.paths) if path.startswith("noise-")]
        self.noises += [np.array(generated[i]) for i in noises] * 3

    def draw(self, rng: np.random.Generator, frames: int) -> np.ndarray:
        """[frames,80]: a random noise from a random frame on, repeated where it is too short."""
        noise = self.noises[rng.integers(len(self.noises))]
        start = rng.integers(0, len(noise))
        return noise[(start + np.arange(frames)) % len(noise)]


def random_curve(rng: np.random.Generator, spread: float, points: int = 5) -> np.ndarray:
    """[80] log10 units: a smooth frequency response."""
    values = rng.normal(0, spread, points)
    return np.interp(np.arange(BINS), np.linspace(0, BINS - 1, points), values)


def add_noise_to_energies(energies: np.ndarray, noises: Noises, rng: np.random.Generator) -> np.ndarray:
    """Mel energies [T,80] at 5 to 30 dB of SNR."""
    noise = 10.0 ** (noises.draw(rng, len(energies)) + random_curve(rng, 0.2))
    return mix_at_snr(energies, noise, rng.uniform(5, 30), gated_power(energies.sum(1)), noise.sum(1).mean())


def add_room(energies: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A reverberant tail that falls by 60 dB in 0.2 to 0.8 s and holds at most a third of the energy."""
    decay = 10 ** (-6 / (100 * rng.uniform(0.2, 0.8)))
    tail, gain = np.zeros(BINS), rng.uniform(0.03, 0.3) * (1 - decay)
    wet = energies.copy()
    for frame in range(1, len(energies)):
        tail = decay * tail + energies[frame - 1]
        wet[frame] += gain * tail
    return wet


def interpolate_linear(values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Values [N,...] at fractional positions `at` of the first dimension."""
    low = at.astype(int)
    fraction = (at - low)[:, None]
    return values[low] * (1 - fraction) + values[np.minimum(low + 1, len(values) - 1)] * fraction


def stretch_time(log_mel: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Tempo by up to 10 %; timbre is kept."""
    count = int(round(len(log_mel) * rng.uniform(0.9, 1.1)))
    return interpolate_linear(log_mel, np.linspace(0, len(log_mel) - 1, max(count, 2)))


def slaney_mel_to_hz(mel: np.ndarray) -> np.ndarray:
    return np.where(mel < 15, mel * 200 / 3, 1000 * 6.4 ** ((np.maximum(mel, 15) - 15) / 27))


CENTRES_HZ = slaney_mel_to_hz(np.linspace(0, 15 + 27 * np.log(8) / np.log(6.4), BINS + 2)[1:-1])
TELEPHONE_LOW, TELEPHONE_HIGH = np.searchsorted(CENTRES_HZ, (300, 3400))  # first bin, and one after the last, from 300 to 3400 Hz


def warp_frequency(log_mel: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Vocal tract length perturbation: all frequencies by up to 10 %."""
    at = np.interp(CENTRES_HZ * rng.uniform(0.9, 1.1), CENTRES_HZ, np.arange(BINS))
    return interpolate_linear(log_mel.T, at).T


def augment_log_mel(log_mel: np.ndarray, noises: Noises, rng: np.random.Generator) -> np.ndarray:
    """[T,80] log10 of mel energies -> the same with a random room, noise, response and bandwidth."""
    energies = 10.0 ** log_mel.astype(np.float64)
    if rng.random() < 0.3:
        energies = add_room(energies, rng)
    if rng.random() < 0.7:
        energies = add_noise_to_energies(energies, noises, rng)
    changed = np.log10(energies)
    if rng.random() < 0.8:
        changed = changed + random_curve(rng, 0.3)
    if rng.random() < 0.15:
        changed[:, :TELEPHONE_LOW] -= rng.uniform(1, 4)
        changed[:, TELEPHONE_HIGH:] -= rng.uniform(3, 7)
    elif rng.random() < 0.25:
        changed[:, rng.integers(60, BINS) :] -= rng.uniform(2, 6)  # a codec without the highest band
    return np.maximum(changed, -10).astype(np.float32)
