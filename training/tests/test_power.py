"""The spread of an evaluation falls with its speakers, and not below what speakers differ."""

import numpy as np

from training.evaluation.statistics import accuracy
from training.studies.power import spread

OWNER = np.repeat(np.arange(40), 50)
RIGHT = np.ones(len(OWNER))


def test_the_spread_falls_with_the_root_of_the_speakers():
    rng = np.random.default_rng(2)
    rates = rng.uniform(0.3, 0.9, 40)
    correct = (rng.random(len(OWNER)) < rates[OWNER]).astype(float)
    few, many = (spread(accuracy, RIGHT, correct, OWNER, speakers, 50) for speakers in (5, 20))
    assert abs(few / many - 2) < 0.2
    between = np.array([correct[OWNER == name].mean() for name in range(40)]).std()
    assert many > 0.9 * between / np.sqrt(20)


def test_speakers_that_are_alike_need_recordings_alone():
    correct = np.tile([0.0, 1.0], len(OWNER) // 2)
    few, many = (spread(accuracy, RIGHT, correct, OWNER, 5, clips) for clips in (10, 40))
    assert abs(few / many - 2) < 0.3
