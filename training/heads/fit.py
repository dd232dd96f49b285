"""Fits heads on stored embeddings."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from training.encoder.embeddings import EmbeddingStore
from training.features.batches import stack_padded, stack_weights
from training.heads.attention_head import AttentionHead

Loss = Callable[[torch.Tensor, np.ndarray], torch.Tensor]  # predictions [B,outputs], window indices [B] -> scalar


@dataclass
class FitParams:
    outputs: int
    loss: Loss
    epochs: int = 10
    peak_lr: float = 4e-3
    weight_decay: float = 0.05
    batch: int = 64
    dropout: float = 0.4


def make_batch(store: EmbeddingStore, windows: np.ndarray, phase: int | None = None):
    """-> embeddings [B,N,width], weights [B,N], padded. A phase of 0 or 1 takes every second embedding of windows with two or more."""
    pairs = [store[i] for i in windows]
    if phase is not None:
        pairs = [(x[phase::2], w[phase::2]) if len(x) > 1 else (x, w) for x, w in pairs]
    embeddings, weights = zip(*pairs)
    return torch.from_numpy(stack_padded(embeddings, 0)), torch.from_numpy(stack_weights(weights))


def embedding_statistics(store: EmbeddingStore, windows: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation [width] over a sample of the windows."""
    rng = np.random.default_rng(seed)
    sample = np.concatenate([store[i][0] for i in rng.choice(windows, min(600, len(windows)), replace=False)])
    sample = sample.astype(np.float32)
    return sample.mean(0), sample.std(0) + 0.05


def fit_attention(store: EmbeddingStore, windows: np.ndarray, params: FitParams, seed: int) -> AttentionHead:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    head = AttentionHead(params.outputs, *embedding_statistics(store, windows, seed), params.dropout)
    optimizer = torch.optim.AdamW(head.parameters(), params.peak_lr, weight_decay=params.weight_decay)
    steps = params.epochs * -(-len(windows) // params.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, params.peak_lr, steps + 1, pct_start=0.15)
    lengths = np.diff(store.offsets)
    head.train()
    for _ in range(params.epochs):
        order = windows[np.argsort(lengths[windows] * rng.uniform(0.8, 1.25, len(windows)))]
        batches = np.array_split(order, -(-len(order) // params.batch))
        for index in rng.permutation(len(batches)):
            phase = int(rng.integers(2)) if store.frames_per_embedding == 2 else None
            x, w = make_batch(store, batches[index], phase)
            loss = params.loss(head(x, w), batches[index])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return head.eval()


def minimize_linear(
    inputs: np.ndarray, loss: Callable[[torch.Tensor], torch.Tensor], decay: list[float], rounds: int = 80
) -> tuple[np.ndarray, np.ndarray]:
    """inputs [n,D] -> weight [D,outputs] and bias [outputs] of least loss. `decay`: L2 penalty of each output, for standardised inputs."""
    mean = inputs.mean(0)
    std = inputs.std(0) + 1e-4
    weight, bias = minimize((inputs - mean) / std, loss, decay, rounds)
    w = weight / std[:, None]
    return w, bias - mean @ w


def minimize(
    inputs: np.ndarray, loss: Callable[[torch.Tensor], torch.Tensor], decay: list[float], rounds: int
) -> tuple[np.ndarray, np.ndarray]:
    """Like minimize_linear, for inputs as they are, by L-BFGS."""
    x = torch.from_numpy(inputs)
    weight = torch.zeros(x.shape[1], len(decay), requires_grad=True)
    bias = torch.zeros(len(decay), requires_grad=True)
    optimizer = torch.optim.LBFGS([weight, bias], max_iter=rounds, history_size=10, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimizer.zero_grad()
        total = loss(x @ weight + bias) + (torch.tensor(decay) * weight**2).sum()
        total.backward()
        return total

    optimizer.step(cost)
    return weight.detach().numpy(), bias.detach().numpy()


def predict(heads: list[AttentionHead], store: EmbeddingStore, windows: np.ndarray) -> np.ndarray:
    """[windows, outputs]: mean of the heads."""
    order = np.argsort(np.diff(store.offsets)[windows])
    result = np.zeros((len(windows), heads[0].clip.out_features), np.float32)
    with torch.no_grad():
        for batch in np.array_split(order, max(1, len(order) // 64)):
            x, w = make_batch(store, windows[batch])
            result[batch] = sum(head(x, w) for head in heads).numpy() / len(heads)
    return result


def mean_per_clip(owners: np.ndarray, speech_frames: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Clip, frames of speech [n] and values [n,k] of each window -> clip indices [m], means weighted by speech [m,k]."""
    clips, row = np.unique(owners, return_inverse=True)
    weight = speech_frames.astype(np.float64)
    sums = np.zeros((len(clips), values.shape[1]))
    np.add.at(sums, row, values * weight[:, None])
    return clips, sums / np.bincount(row, weight)[:, None]
