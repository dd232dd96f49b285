"""Judges of voices on one channel."""

import numpy as np
import pytest

from training.evaluation import diarization, voices
from training.evaluation.voices import NOBODY, SEVERAL


def test_voices_are_matched_whatever_their_numbers():
    truth = np.repeat([0, 1, NOBODY, SEVERAL], [200, 100, 50, 50])
    assert voices.judge(truth, [(0, 2, 1), (2, 3, 0), (3.5, 4, 0)]) == (0, 1)
    error, assigned = voices.judge(truth, [(0, 1.5, 1), (1.5, 2, NOBODY), (2, 3, 1)])
    assert (error, assigned) == (pytest.approx(1 - 150 / 300), pytest.approx(250 / 300)), "one voice for both, and half a second for none"
    assert voices.count_of([(0, 1, NOBODY)]) == 1
    assert voices.count_of([(0, 1, 0), (1, 2, 1), (2, 3, NOBODY)]) == 2


def test_turns_of_talk_overlap_in_the_truth(tmp_path):
    def turn(speaker: int, gap: int) -> voices.Turn:
        return voices.Turn(None, speaker, np.full(16_000, 0.1), gap)

    truth = voices.Call([turn(0, 0), turn(1, -3200), turn(0, 1600)], voices.TURNS).write(tmp_path / "call.wav")
    start = round(100 * voices.START_S)
    counts = {value: int((truth[start:] == value).sum()) for value in (0, 1, SEVERAL)}
    assert counts == {0: 180, 1: 80, SEVERAL: 20}
    assert (truth[:start] == NOBODY).all()


def test_errors_of_a_transcript(tmp_path):
    lines = ["SPEAKER a 1 0.0 2.0 <NA> <NA> ann <NA> <NA>", "SPEAKER a 1 1.0 3.0 <NA> <NA> bob <NA> <NA>", "SPKR-INFO a 1 <NA>", ""]
    (tmp_path / "some.rttm").write_text("\n".join(lines))
    truth = diarization.read_rttm(tmp_path)["a"]
    assert truth == [(0, 2, 0), (1, 4, 1)]
    errors = diarization.compare(truth, [(0, 1, 5), (1, 3, 2), (4, 5, 2)], 6)
    assert (errors.missed, errors.false_alarm, errors.confused, errors.spoken) == (200, 100, 0, 500)
    assert errors.rate == pytest.approx(0.6)
    confused = diarization.compare(truth, [(0, 4, 0)], 6)
    assert (confused.missed, confused.confused) == (100, 100)
