"""The speech check of the VAD model."""

import numpy as np
import pytest

from training.vad import speech_check
from training.vad.model import WIDTH, VadNet


def test_the_dev_part_sets_the_threshold_of_the_speech_check(monkeypatch):
    frames, ones = np.zeros((150, speech_check.MAX_FRAMES, WIDTH), np.float32), np.ones(150, np.float32)
    mask, corpora, parts = np.ones(frames.shape[:2], np.float32), np.repeat("AMI", 150), np.repeat(["train", "dev", "test"], 50)
    data = speech_check.Example(frames, mask, corpora, parts, ones, ones > 0, ones)
    monkeypatch.setattr(speech_check, "collect_examples", lambda net: data)
    monkeypatch.setattr(speech_check, "train_check", lambda *_: None)
    monkeypatch.setattr(speech_check, "mean_outputs", lambda *_: np.where(parts == "dev", np.linspace(0, 3, 150), -5))
    monkeypatch.setattr(speech_check, "measure_speech_check", lambda *_: {})
    assert speech_check.fit(VadNet())[0] == pytest.approx(1.03, abs=0.01)
