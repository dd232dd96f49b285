"""Labels relative to a speaker: the rule is that of src/engine/signals/speaker-labels.ts."""

import numpy as np
from scipy.special import softmax

from training.calibration.speaker_labels import NOTHING, Fitting, Rule, logs_of

LABELS = ("neutral", "sad", "angry", "fearful", "disgusted")
PLAIN = np.array([True, False, False])
PRIOR = np.log([0.8, 0.1, 0.1])
SAD = logs_of(np.array([[0.45, 0.5, 0.05]]))


def test_the_rule_is_that_of_the_service():
    moved = softmax(Rule("", 5, causal=False)(SAD.repeat(20, 0), PRIOR, PLAIN), 1)
    # test/analysis/signals/speaker-labels.test.ts has the same numbers.
    np.testing.assert_allclose(moved, np.tile([0.7181, 0.1959, 0.0861], (20, 1)), atol=1e-4)


def test_a_causal_rule_ignores_what_follows():
    logs = np.concatenate([SAD.repeat(3, 0), logs_of(np.array([[0.9, 0.05, 0.05]])).repeat(3, 0)])
    rule = Rule("", 2)
    np.testing.assert_allclose(rule(logs, PRIOR, PLAIN)[:3], rule(logs[:3], PRIOR, PLAIN))


def test_the_shift_keeps_how_often_ordinary_speech_is_neutral():
    rng = np.random.default_rng(0)
    speakers = [logs_of(softmax(rng.normal(size=5) + rng.normal(size=(20, 5)) + [2, 0, 0, 0, 0], 1)) for _ in range(50)]
    fitting = Fitting(LABELS, np.log([0.6, 0.1, 0.1, 0.1, 0.1]), speakers)
    rule = Rule("", 2)
    wanted = fitting.emotional(NOTHING, 0).mean()
    assert fitting.emotional(rule, 0).mean() != wanted
    assert abs(fitting.emotional(rule, fitting.shift_of(rule)).mean() - wanted) < 0.01
