"""Padded batches, and those that heads are fitted on."""

import numpy as np

from training.features.batches import stack_padded, stack_weights
from training.heads.fit import make_batch


class Store(list):
    augmented = None


def test_shorter_arrays_are_padded():
    assert stack_padded([np.ones(1), np.ones(3)], -1).tolist() == [[1, -1, -1], [1, 1, 1]]
    assert stack_padded([np.ones((2, 80)), np.ones((4, 80))], 0).shape == (2, 4, 80)


def test_windows_without_speech_have_equal_weights():
    assert stack_weights([np.zeros(2), np.array([0.5])]).tolist() == [[np.float32(1e-9)] * 2, [0.5, 0]]


def test_every_window_of_a_batch_keeps_its_place():
    lengths = (4, 1, 3)
    store = Store((np.full((length, 384), length), np.ones(length)) for length in lengths)
    for phase in (None, 0, 1):
        embeddings, weights = make_batch(store, np.arange(3), phase)
        assert embeddings[:, 0, 0].tolist() == list(lengths) and len(weights) == 3
