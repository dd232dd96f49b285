"""Padded batches, and those that heads are fitted on."""

import numpy as np
import pytest

from training.encoder.embeddings import EmbeddingStore, by_recording, moments_of
from training.encoder.trunk import WIDTH
from training.features.batches import stack_padded, stack_weights
from training.heads.fit import make_batch


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
    lengths, rng = np.array([4, 1, 3, 2, 5]), np.random.default_rng(0)
    embeddings, weights = rng.normal(0, 1, (15, WIDTH)).astype(np.float16), rng.random(15).astype(np.float32)
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    moments = np.stack([moments_of(embeddings[a:b].astype(np.float32), weights[a:b]) for a, b in zip(offsets, offsets[1:])])
    clips, copied = np.array([0, 0, 2, 2, 2]), np.array([False, False, False, False, True])
    joined = by_recording(EmbeddingStore([embeddings], weights, offsets, moments, clips, 10 * lengths, copied, 2))
    assert (joined.clips.tolist(), joined.copied.tolist()) == ([0, 2, 2], [False, False, True])
    assert (joined.offsets.tolist(), joined.speech_frames.tolist()) == ([0, 5, 10, 15], [50, 50, 50])
    for row in range(3):
        x, w = joined[row]
        assert len(x) == 5 and joined.moments[row] == pytest.approx(moments_of(x.astype(np.float32), w))
