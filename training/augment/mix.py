"""Mixes speech with noise."""

import numpy as np


def gated_power(power: np.ndarray) -> float:
    """Power of each frame [T] -> mean over the frames above a tenth of the mean (relative gate of ITU-R BS.1770), without pauses."""
    return float(power[power > 0.1 * power.mean()].mean())


def mix_at_snr(speech: np.ndarray, noise: np.ndarray, snr_db: float, speech_power: float, noise_power: float) -> np.ndarray:
    """Adds noise so that `speech_power` stands `snr_db` above it.

    Arrays of one dimension hold samples, arrays of two mel energies [T, bands]. The caller measures both powers, in
    the unit of the arrays (samples squared or energies), since what counts as the level of speech differs.
    """
    gain = speech_power / noise_power * 10 ** (-snr_db / 10)
    return speech + noise * (np.sqrt(gain) if speech.ndim == 1 else gain)
