"""Mixing, augmentation and corruptions on synthetic audio."""

import shutil

import numpy as np
import pytest

from training.augment import corruptions, spectral
from training.augment.audio import run_codec
from training.augment.mix import gated_power, mix_at_snr
from training.augment.telephone_codecs import AMR, GAP, concatenate
from training.evaluation.invariances import add_pauses, whisper

RATE = 16000


def speech_like(seconds: float, seed: int = 0) -> np.ndarray:
    """Amplitude-modulated harmonics."""
    t = np.arange(int(seconds * RATE)) / RATE
    return 0.3 * np.sin(2 * np.pi * 150 * t) * (1 + np.sin(2 * np.pi * 3 * t)) + 0.001 * np.random.default_rng(seed).standard_normal(len(t))


class FixedNoises:
    def draw(self, rng: np.random.Generator, frames: int) -> np.ndarray:
        return np.full((frames, 80), -4.0)


@pytest.mark.parametrize("shape", [(4000,), (400, 80)])
def test_mix_at_snr(shape):
    rng = np.random.default_rng(0)
    speech = np.abs(rng.normal(0, 1, shape))
    noise = np.abs(rng.normal(0, 0.2, shape))
    power = (lambda x: float(np.mean(x**2))) if len(shape) == 1 else (lambda x: float(x.sum(1).mean()))
    added = mix_at_snr(speech, noise, 10, power(speech), power(noise)) - speech
    assert 10 * np.log10(power(speech) / power(added)) == pytest.approx(10)


def test_gated_power_ignores_pauses():
    assert gated_power(np.array([1.0, 1.0, 0.0, 0.0])) == 1


def test_augmentation_is_repeatable_and_keeps_the_shape():
    rows = np.random.default_rng(1).normal(-3, 1, (200, 80)).astype(np.float32)
    first, second = (spectral.augment_log_mel(rows, FixedNoises(), np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, second) and first.shape == rows.shape and first.min() >= -10
    assert not np.array_equal(first, rows)


def test_time_stretch_and_frequency_warp_stay_within_a_tenth():
    rows = np.random.default_rng(2).normal(-3, 1, (100, 80))
    for seed in range(5):
        assert 90 <= len(spectral.stretch_time(rows, np.random.default_rng(seed))) <= 110
        assert spectral.warp_frequency(rows, np.random.default_rng(seed)).shape == rows.shape


@pytest.mark.parametrize("condition", [*corruptions.CONDITIONS, "room", "clipped"])
def test_corruptions_are_repeatable_and_in_range(condition):
    samples = speech_like(3)
    noise = [np.random.default_rng(4).standard_normal(RATE)]
    (first, rate), (second, _) = (corruptions.corrupt(samples, condition, noise, 7) for _ in range(2))
    assert np.array_equal(first, second) and np.abs(first).max() <= 1
    seconds = {"loudest-2": 2, "loudest-1": 1}.get(condition, 3)
    assert len(first) == pytest.approx(seconds * rate, abs=2)


def test_noise_is_drawn_where_it_is_not_silent():
    noise = np.concatenate([np.zeros(20 * RATE), np.ones(10)])
    for seed in range(5):
        changed = corruptions.add_noise_to_samples(speech_like(1), 10, [noise], np.random.default_rng(seed))
        assert np.isfinite(changed).all() and not np.array_equal(changed, speech_like(1))


def test_concatenated_clips_keep_their_places():
    clips = [np.full(3, 1.0), np.full(5, 2.0)]
    whole, places = concatenate(clips)
    assert places == [(0, 3), (3 + GAP, 5)]
    assert all(np.array_equal(whole[start : start + count], clip) for clip, (start, count) in zip(clips, places))


def test_pauses_lengthen_a_recording_and_whispers_do_not():
    samples = speech_like(4)
    longer = add_pauses(samples, np.random.default_rng(0))
    assert 3 * 0.3 * RATE <= len(longer) - len(samples) <= 3 * 2 * RATE
    assert len(whisper(samples, np.random.default_rng(0))) == len(samples)


@pytest.mark.skipif(shutil.which("sox") is None, reason="needs sox")
def test_amr_is_repeatable():
    first, second = (run_codec(AMR.format(options=""), speech_like(1)) for _ in range(2))
    assert np.array_equal(first, second)
