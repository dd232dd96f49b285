"""The clarity head: the mean of fluency and prosody as rated by the experts of speechocean762."""

import numpy as np
import torch

from training.corpora.corpus import Clip
from training.encoder.embeddings import EmbeddingStore
from training.heads.attention_head import AttentionHead
from training.heads.fit import FitParams, fit_attention
from training.settings import SEED


def targets_of(clips: list[Clip]) -> np.ndarray:
    """float32 [n] in [0, 1], NaN without a rating"""
    return np.array([np.nan if clip.clarity is None else clip.clarity for clip in clips], np.float32)


def fit(store: EmbeddingStore, targets: np.ndarray, windows: np.ndarray, count: int) -> list[AttentionHead]:
    """`count` networks, to be averaged."""
    mean, std = np.nanmean(targets[store.clips[windows]]), np.nanstd(targets[store.clips[windows]])

    def loss(predicted: torch.Tensor, batch: np.ndarray) -> torch.Tensor:
        target = torch.from_numpy((targets[store.clips[batch]] - mean) / std)
        return ((predicted[:, 0] - target) ** 2).mean()

    params = FitParams(1, loss, epochs=6, peak_lr=1e-3, dropout=0.6, weight_decay=0.3)
    heads = [fit_attention(store, windows, params, SEED + i) for i in range(count)]
    with torch.no_grad():  # moves the standardisation of the target into the last layers
        for head in heads:
            for linear in (head.out, head.clip):
                linear.weight *= float(std)
                linear.bias *= float(std)
            head.out.bias += float(mean)
    return heads
