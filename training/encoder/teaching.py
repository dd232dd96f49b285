"""What the frozen encoders of models/large teach a trunk: their mean embedding of an utterance, projected as in models/large."""

import numpy as np
import torch
from torch import nn

from training.encoder import embeddings, frozen, trunk
from training.encoder.embeddings import WindowStore
from training.heads import emotion
from training.heads.fit import mean_per_clip

WIDTH = frozen.PROJECTED


def targets_of(windows: WindowStore) -> np.ndarray:
    """float32 [utterances, WIDTH], mean square 1. The utterances of a copy have the mean of those of its recording."""
    plain = embeddings.load_windows(None)
    own = frozen.fit_projection(plain)(frozen.large_means(plain))
    own /= np.sqrt(np.mean(own**2))
    return np.concatenate([own, mean_by_clip(own, plain.clips)[windows.clips[len(own) :]]])


def mean_by_clip(rows: np.ndarray, clips: np.ndarray) -> np.ndarray:
    """rows [n,D], clips [n] -> [largest clip index + 1, D]; 0 where a clip has no row"""
    found, means = mean_per_clip(clips, np.ones(len(clips)), rows)
    table = np.zeros((clips.max() + 1, rows.shape[1]), np.float32)
    table[found] = means
    return table


def fit_layer(targets: np.ndarray, rows: np.ndarray) -> nn.Linear:
    """From the mean embeddings of the frozen trunk to the targets: least squares over those of `rows` that are not of copies."""
    plain = embeddings.load_windows(None)
    rows = rows[rows < len(plain.clips)]
    own = frozen.means_of(frozen.TINY, frozen.layer_moments(frozen.TINY, plain))[rows, -trunk.WIDTH :]
    found, *_ = np.linalg.lstsq(np.pad(own, [(0, 0), (0, 1)], constant_values=1), targets[rows])
    layer = nn.Linear(trunk.WIDTH, WIDTH)
    emotion.set_linear(layer, torch.from_numpy(found[:-1].T), torch.from_numpy(found[-1]))
    return layer
