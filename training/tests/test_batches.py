"""Batches that heads are fitted on."""

import numpy as np

from training.heads.fit import make_batch


class Store(list):
    augmented = None


def test_every_window_of_a_batch_keeps_its_place():
    lengths = (4, 1, 3)
    store = Store((np.full((length, 384), length), np.ones(length)) for length in lengths)
    for phase in (None, 0, 1):
        embeddings, weights = make_batch(store, np.arange(3), phase)
        assert embeddings[:, 0, 0].tolist() == list(lengths) and len(weights) == 3
