"""Data and speech check of the VAD model."""

from types import SimpleNamespace

import numpy as np
import pytest

from training.corpora.corpus import Part
from training.corpora.recipe import RESEARCH, SOLD
from training.vad import speech_check
from training.vad.dataset import LabelledClip, WeightedClips, is_fitted
from training.vad.model import WIDTH, VadNet


def test_the_dev_part_sets_the_threshold_of_the_speech_check(monkeypatch):
    frames = np.zeros((150, speech_check.MAX_FRAMES, WIDTH), np.float32)
    ones = np.ones(150, np.float32)
    mask = np.ones(frames.shape[:2], np.float32)
    corpora = np.repeat("AMI", 150)
    parts = np.repeat(["train", "dev", "test"], 50)
    data = speech_check.Example(frames, mask, corpora, parts, ones, ones > 0, ones)
    monkeypatch.setattr(speech_check, "collect_examples", lambda net: data)
    monkeypatch.setattr(speech_check, "train_check", lambda *_: None)
    monkeypatch.setattr(speech_check, "mean_outputs", lambda *_: np.where(parts == "dev", np.linspace(0, 3, 150), -5))
    monkeypatch.setattr(speech_check, "measure_speech_check", lambda *_: {})
    assert speech_check.fit(VadNet())[0] == pytest.approx(1.03, abs=0.01)


def test_the_weights_see_neither_dev_nor_test_speakers_nor_recordings_that_may_not_be_sold():
    fitted = {part for part in Part if is_fitted(SimpleNamespace(part=part, corpus="CREMA-D"))}
    assert fitted == {Part.TRAIN, Part.CALIBRATION}
    assert not any(is_fitted(SimpleNamespace(part=part, corpus=name)) for part in Part for name in RESEARCH.corpora if name not in SOLD.corpora)


def test_clips_are_drawn_in_proportion_to_their_weights():
    pool = WeightedClips()
    rng = np.random.default_rng(0)
    for name, weight in (("rare", 1), ("never", 0), ("often", 3)):
        pool.add(LabelledClip(name, np.zeros((1, 80)), np.zeros(1), None), weight)
    drawn = [pool.draw(rng).corpus for _ in range(4000)]
    assert drawn.count("often") / len(drawn) == pytest.approx(0.75, abs=0.03)
    assert "never" not in drawn
