"""Batches that heads are fitted on, and calibration and intervals on errors whose law is known."""

import numpy as np
import pytest

from training.calibration import affine, intervals, moments, reference
from training.calibration.reference import logistic_spread, measure_timing, weighted_quantiles
from training.corpora.corpus import Part
from training.encoder import teaching
from training.encoder.embeddings import EmbeddingStore, by_recording, moments_of
from training.encoder.trunk import WIDTH
from training.features.batches import stack_padded, stack_weights
from training.features.windows import find_segments
from training.heads import clarity, emotion
from training.heads.fit import make_batch
from training.tests.test_corpora import make_clip


def test_shorter_arrays_are_padded():
    assert stack_padded([np.ones(1), np.ones(3)], -1).tolist() == [[1, -1, -1], [1, 1, 1]]
    assert stack_padded([np.ones((2, 80)), np.ones((4, 80))], 0).shape == (2, 4, 80)


def test_windows_without_speech_have_equal_weights():
    assert stack_weights([np.zeros(2), np.array([0.5])]).tolist() == [[np.float32(1e-9)] * 2, [0.5, 0]]


def test_every_window_of_a_batch_keeps_its_place():
    lengths = (4, 1, 3)
    store = [(np.full((length, WIDTH), length), np.ones(length)) for length in lengths]
    for phase in (None, 0, 1):
        embeddings, weights = make_batch(store, np.arange(3), phase)
        assert embeddings[:, 0, 0].tolist() == list(lengths) and len(weights) == 3


def test_utterances_of_a_recording_are_joined_and_its_copy_is_not():
    lengths = np.array([4, 1, 3, 2, 5])
    rng = np.random.default_rng(0)
    embeddings = rng.normal(0, 1, (15, WIDTH)).astype(np.float16)
    weights = rng.random(15).astype(np.float32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    moments = np.stack([moments_of(embeddings[a:b].astype(np.float32), weights[a:b]) for a, b in zip(offsets, offsets[1:])])
    clips = np.array([0, 0, 2, 2, 2])
    copied = np.array([False, False, False, False, True])
    joined = by_recording(EmbeddingStore([embeddings], weights, offsets, moments, clips, 10 * lengths, copied, 2))
    assert (joined.clips.tolist(), joined.copied.tolist()) == ([0, 2, 2], [False, False, True])
    assert (joined.offsets.tolist(), joined.speech_frames.tolist()) == ([0, 5, 10, 15], [50, 50, 50])
    for row in range(3):
        x, w = joined[row]
        assert len(x) == 5 and joined.moments[row] == pytest.approx(moments_of(x.astype(np.float32), w))


def synthetic_errors(count: int = 1200) -> intervals.Errors:
    """Half of the recordings clean; noise doubles the errors per unit of degradation."""
    rng = np.random.default_rng(0)
    noisy = rng.random(count) < 0.5
    degradations = np.zeros((count, 4))
    degradations[noisy, intervals.DEGRADATIONS.index("noise")] = 2.0
    size = np.abs(rng.normal(0, 0.1, count)) * np.where(noisy, 4, 1)
    return intervals.Errors(size, rng.integers(0, 30, count).astype(str), degradations, np.where(noisy, "noise-5", "clean"))


def test_intervals_cover_80_percent_of_clean_and_of_noisy_recordings():
    errors = synthetic_errors()
    rule = intervals.fit_interval(errors)
    inside = errors.size <= intervals.half_widths(rule, errors)
    for condition in ("clean", "noise-5"):
        assert inside[errors.condition == condition].mean() == pytest.approx(0.8, abs=0.03)
    assert rule["noise"] == pytest.approx(np.log(2), abs=0.15)
    assert intervals.measure_coverage(errors)["clean"]["coverage"] == pytest.approx(0.8, abs=0.05)


def test_clean_recordings_have_no_degradations():
    assert intervals.degradations_of({"snr_db": 40, "speech_s": 5, "bandwidth_hz": 8000, "clipped_ratio": 0}) == [0, 0, 0, 0]
    assert intervals.degradations_of({"snr_db": None, "speech_s": 1, "bandwidth_hz": 3400, "clipped_ratio": 1})[1] == 2.5


def test_temperature_and_its_growth_with_distance_are_found_again():
    rng = np.random.default_rng(1)
    logits = rng.normal(0, 3, (20000, 8))
    beyond = np.repeat([0.0, 1.0], 10000)
    scaled = logits / (1 + 0.5 * beyond[:, None])
    p = np.exp(scaled) / np.exp(scaled).sum(1, keepdims=True)
    temperature, growth = affine.fit_temperature(2 * logits, p, beyond, np.ones(20000))
    assert temperature == pytest.approx(2, rel=0.06) and growth == pytest.approx(0.5, abs=0.1)


def test_the_bias_of_neutral_costs_little():
    rng = np.random.default_rng(4)
    label = rng.integers(0, 4, 4000)
    logits = np.full((4000, 8), -9.0)
    logits[:, :4] = np.where(label[:, None] == np.arange(4), 2.0, 0.0) + rng.normal(0, 0.1, (4000, 4))
    corpora = np.repeat(["a", "b"], 2000)
    assert affine.fit_neutral(logits, label, corpora) == pytest.approx(1.5)
    logits[:, :4] /= 2
    assert affine.fit_neutral(logits, label, corpora) == pytest.approx(0.85, abs=0.1)


def test_low_confidence_is_where_half_are_right():
    rng = np.random.default_rng(5)
    top = rng.uniform(0.2, 0.95, 20000)
    p = np.concatenate([top[:, None], np.repeat((1 - top[:, None]) / 7, 7, 1)], 1)
    right = rng.random(20000) < 1 / (1 + np.exp(-(np.log(top / (1 - top)) - np.log(0.6 / 0.4))))
    assert affine.fit_low_confidence(p, np.where(right, p.argmax(1), 8), np.ones(20000)) == pytest.approx(0.6, abs=0.02)


def test_spread_follows_the_variance_of_the_errors():
    rng = np.random.default_rng(3)
    variance = rng.choice([0.0, 0.05], 6000)
    errors = np.abs(rng.normal(0, 0.05, 6000)) * np.where(variance > 0, 3, 1)
    floor, gain = affine.fit_spread(errors, variance)
    half = np.sqrt(floor + gain * variance)
    for value in (0.0, 0.05):
        assert (errors <= half)[variance == value].mean() == pytest.approx(0.8, abs=0.03)


def test_the_spread_of_a_report_is_its_interval_without_the_rule():
    rule = {"base": 2.0, **dict.fromkeys(intervals.DEGRADATIONS, 0.5)}
    degradations = np.array([[0.0] * 4, [1.0, 0, 0, 0]])
    half = 0.1 * 2 * np.exp([0, 0.5])
    bounds = np.stack([np.maximum(0, 0.2 - half), 0.2 + half], 1)
    assert intervals.spreads_of(np.array([0.2, 0.2]), bounds, rule, degradations) == pytest.approx([0.1, 0.1])


def test_affine_calibration_matches_mean_and_spread():
    rng = np.random.default_rng(2)
    truth = rng.normal(0.5, 0.2, 200)
    predicted = rng.normal(0.3, 0.05, 200)
    slope, intercept = affine.match_moments(truth, predicted)
    moved = slope * predicted + intercept
    assert (moved.mean(), moved.std()) == pytest.approx((truth.mean(), truth.std()))


def test_timing_measures_of_a_known_recording():
    speech = np.concatenate([np.ones(300), np.zeros(100), np.ones(300)])
    found = measure_timing(speech, np.full(700, 4.0))
    assert found["pause_ratio"] == pytest.approx(1 / 7) and found["mean_run"] == 3 and found["rate_variability"] == 0
    assert measure_timing(speech[:300], np.full(300, 4.0)) == {}


def test_quantiles_and_spread():
    values = np.arange(1.0, 102)
    assert weighted_quantiles(values, np.ones(101), [0.25, 0.5, 0.75]) == pytest.approx([26, 51, 76], abs=0.5)
    assert logistic_spread(1, 9, "ratio") == pytest.approx(1)


def test_segments_close_short_gaps():
    speech = np.zeros(3000)
    speech[100:900] = 1
    speech[920:2500] = 1
    assert find_segments(speech) == [(100, 2500)]


def test_timing_moves_clarity_as_far_as_two_deviations():
    rng = np.random.default_rng(6)
    outputs = rng.normal(0.5, 0.1, 400)
    timing = rng.normal([1.2, 0.8, 0.5], [0.2, 0.3, 0.6], (400, 3))
    bounded = np.clip((timing - timing.mean(0)) / timing.std(0), -clarity.MAX_DEVIATIONS, clarity.MAX_DEVIATIONS)
    truth = 0.7 * outputs + 0.1 + bounded @ [0.02, 0.03, -0.01]
    line = clarity.fit_timing(outputs, timing, truth)
    assert (line.slope, line.intercept) == pytest.approx((0.7, 0.1)) and line.weights == pytest.approx([0.02, 0.03, -0.01])
    assert line.predict(outputs, timing) == pytest.approx(truth)
    assert line.place(timing + 100).tolist() == np.full((400, 3), clarity.MAX_DEVIATIONS).tolist()
    assert list(line.params()) == ["articulation_rate", "speech_rate", "mean_run"]
    assert line.params()["mean_run"]["weight"] == -0.01


def test_the_baseline_reference_separates_the_parts(monkeypatch):
    rows = [{"path": f"{i}", "speech_s": 6, "measures": {"pitch_level": 30, "pitch_range": 5, "spectral_tilt": -6}, "cepstrum": [0.0]} for i in range(8)]
    clips = [make_clip("RAVDESS", i, path=str(i), speaker=["01", "06", "03", "05"][i // 2]) for i in range(8)]
    monkeypatch.setattr(reference, "read_clips", lambda: clips)
    by_part = {part: list(reference.recordings_of(rows, part, plain=True)) for part in Part}
    assert by_part == {part: [("RAVDESS", speaker)] for part, speaker in zip(Part, ["01", "05", "06", "03"])}


def test_bounds_of_moments_find_outbursts_and_keep_even_speech_free_of_them():
    rng = np.random.default_rng(3)
    sides = []
    for _ in range(60):
        plain = rng.normal(-1, 0.7, 12)
        loud = rng.normal(4, 0.7, 2)
        sides.append(moments.Side(np.concatenate([plain, loud]), np.arange(14) >= 12, 1.0))
    least, log_odds, share = moments.fit_bounds(sides, 0.7)
    assert share > 0.95
    alarms = [((moments.spreads_of(even, 0.7) >= least) & (even.log_odds >= log_odds)).sum() for even in (side.without_sought() for side in sides)]
    assert sum(alarms) <= moments.FALSE_ALARMS * 60


def test_a_spread_is_that_of_the_speaker_and_of_speakers_in_general():
    values = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    median, spread = moments.usual(values, 2.0)
    assert median == 2
    assert spread == pytest.approx(np.sqrt((5 * 1.4826**2 + 8 * 4) / 13))


def test_every_choice_of_calm_recordings_is_a_baseline_of_the_others(monkeypatch):
    monkeypatch.setattr(intervals, "is_at_rest", lambda clip: clip < 3)
    found = intervals.baseline_choices([0, 1, 2, 10, 11])
    assert [baselines for baselines, _ in found] == [[0], [1], [2], [0, 1], [0, 2], [1, 2], [0, 1, 2]]
    assert all(others == [10, 11] for _, others in found)


def test_the_factor_of_relative_affect_covers_80_percent_of_the_changes():
    rng = np.random.default_rng(0)
    half = rng.uniform(0.1, 0.3, 2000)
    changes = intervals.Changes(np.abs(rng.normal(0, 0.5, 2000)) * half, half)
    factor = intervals.conformal_quantile(changes.error / changes.half)
    assert intervals.coverage_of(changes) > 0.9
    assert intervals.coverage_of(intervals.Changes(changes.error, factor * half)) == pytest.approx(0.8, abs=0.01)


def test_a_copy_is_taught_the_mean_of_the_utterances_of_its_recording():
    rows = np.array([[1.0, 0], [3, 2], [5, 5]], np.float32)
    assert teaching.mean_by_clip(rows, np.array([0, 0, 2])).tolist() == [[2, 1], [0, 0], [5, 5]]


def test_the_linear_head_reads_less_of_what_differs_between_a_recording_and_its_copy():
    rng = np.random.default_rng(0)
    means = rng.normal(3, 2, (600, 12)).astype(np.float32)
    apart = np.zeros((300, 12), np.float32)
    apart[:, 5] = rng.normal(0, 4, 300)
    deviations = (means @ emotion.fit_scale(means, apart)).std(0)
    assert deviations[5] < 0.3 * np.delete(deviations, 5).min()
    assert (deviations**2).mean() == pytest.approx(1, abs=1e-3)
    without = (means @ emotion.fit_scale(means, apart[:0])).std(0)
    assert without == pytest.approx(np.ones(12), abs=1e-2)


def test_a_copy_belongs_to_a_recording_of_one_utterance():
    clips = np.array([0, 1, 1, 2, 0, 1, 2])
    copied = np.arange(7) >= 4
    store = EmbeddingStore([], np.empty(0), np.zeros(8), np.zeros((7, 4), np.float32), clips, np.ones(7), copied, 2)
    assert emotion.copies_of(store, np.arange(7)).tolist() == [[0, 4], [3, 6]]
    assert emotion.copies_of(store, np.array([0, 1, 2, 6])).tolist() == []
