"""Heads on the trunk's embeddings: a small frame layer, pooling weighted by speech, a linear output."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.encoder.trunk import WIDTH

HIDDEN = 64
QUERIES = 4
VARIANCE_FLOOR = 1e-5


class AttentionHead(nn.Module):
    """mean, std [width]: of the embeddings, for standardisation. `clip` is linear in the moments of the whole window."""

    def __init__(self, outputs: int, mean: np.ndarray | None = None, std: np.ndarray | None = None, dropout: float = 0.4):
        super().__init__()
        self.width = WIDTH if mean is None else len(mean)
        self.register_buffer("mean", torch.zeros(WIDTH) if mean is None else torch.from_numpy(mean))
        self.register_buffer("std", torch.ones(WIDTH) if std is None else torch.from_numpy(std))
        self.frame = nn.Linear(self.width, HIDDEN)
        self.query = nn.Linear(HIDDEN, QUERIES)
        self.clip = nn.Linear(2 * self.width, outputs)
        self.out = nn.Linear((2 + QUERIES) * HIDDEN, outputs)
        self.frame_dropout = nn.Dropout(0.1)
        self.dropout = nn.Dropout(dropout)

    def forward(self, embeddings: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """embeddings [B,N,width], weights [B,N] (0 where there is no speech) -> [B,outputs]"""
        w = weights[:, :, None] / weights.sum(1)[:, None, None]
        h = self.frame_dropout(F.gelu(F.linear(embeddings, *self.folded_frame_layer())))
        scores = torch.exp(4 * torch.tanh(self.query(h) / 4)) * w
        attention = scores / scores.sum(1, keepdim=True)
        attended = torch.einsum("bnq,bnh->bqh", attention, h).flatten(1)
        pooled = torch.cat([*moments(h, w), attended], 1)
        mean, deviation = moments(embeddings, w)
        standardised = torch.cat([(mean - self.mean) / self.std, deviation / self.std], 1)
        return self.out(self.dropout(pooled)) + self.clip(self.dropout(standardised))

    def folded_frame_layer(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Weight and bias of the frame layer with the standardisation of the embeddings inside."""
        weight = self.frame.weight / self.std
        return weight, self.frame.bias - weight @ self.mean


def moments(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """x [B,N,D], w [B,N,1] that sums to 1 over N -> mean and standard deviation [B,D]"""
    w = w.transpose(1, 2)
    mean = (w @ x)[:, 0]
    variance = (w @ x**2)[:, 0] - mean**2
    return mean, torch.sqrt(F.relu(variance) + VARIANCE_FLOOR)
