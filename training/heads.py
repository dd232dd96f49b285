"""Heads on the trunk's tokens: a small frame layer, pooling weighted by speech, a linear output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from graph import Graph
from tokens import Tokens
from trunk import WIDTH

HIDDEN, QUERIES = 64, 4
TINY = 1e-5
CHANGED_SHARE = 0.5


class Head(nn.Module):
    def __init__(self, outputs: int, mean: np.ndarray, std: np.ndarray, dropout: float = 0.4):
        super().__init__()
        self.register_buffer("mean", torch.from_numpy(mean))
        self.register_buffer("std", torch.from_numpy(std))
        self.frame = nn.Linear(WIDTH, HIDDEN)
        self.query = nn.Linear(HIDDEN, QUERIES)
        self.clip = nn.Linear(2 * WIDTH, outputs)
        self.out = nn.Linear((2 + QUERIES) * HIDDEN, outputs)
        self.frame_dropout, self.dropout = nn.Dropout(0.1), nn.Dropout(dropout)

    def forward(self, tokens: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """tokens [B,N,384], weights [B,N] (0 where there is no speech) -> [B,outputs]."""
        w = weights[:, :, None] / weights.sum(1)[:, None, None]
        h = self.frame_dropout(F.gelu(F.linear(tokens, *self.folded())))
        scores = torch.exp(4 * torch.tanh(self.query(h) / 4)) * w
        attention = scores / scores.sum(1, keepdim=True)
        attended = torch.einsum("bnq,bnh->bqh", attention, h).flatten(1)
        pooled = torch.cat([*moments(h, w), attended], 1)
        mean, deviation = moments(tokens, w)
        clip = torch.cat([(mean - self.mean) / self.std, deviation / self.std], 1)
        return self.out(self.dropout(pooled)) + self.clip(self.dropout(clip))

    def folded(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Weight and bias of the frame layer, with the tokens' standardisation inside."""
        weight = self.frame.weight / self.std
        return weight, self.frame.bias - weight @ self.mean


def plain(outputs: int, dropout: float = 0.4) -> Head:
    """One that takes tokens as they are."""
    return Head(outputs, np.zeros(WIDTH, np.float32), np.ones(WIDTH, np.float32), dropout)


class LinearHead(nn.Module):
    """Linear in the mean and deviation of the tokens: for targets with few examples."""

    def __init__(self, mean: np.ndarray, std: np.ndarray, weight: np.ndarray, bias: np.ndarray):
        super().__init__()
        self.register_buffer("mean", torch.from_numpy(mean))
        self.register_buffer("std", torch.from_numpy(std))
        self.clip = nn.Linear(2 * WIDTH, len(bias))
        self.clip.weight.data, self.clip.bias.data = torch.from_numpy(weight), torch.from_numpy(bias)

    def forward(self, tokens: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """tokens [B,N,384], weights [B,N] -> [B,outputs]"""
        mean, deviation = moments(tokens, weights[:, :, None] / weights.sum(1)[:, None, None])
        return self.clip(torch.cat([(mean - self.mean) / self.std, deviation / self.std], 1))


def moments(x: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    share = w.transpose(1, 2)
    mean = (share @ x)[:, 0]
    variance = (share @ x**2)[:, 0] - mean**2
    return mean, torch.sqrt(F.relu(variance) + TINY)


def write_moments(g: Graph, x: str, w: str) -> tuple[str, str]:
    """x [1,N,D], w [1,1,N] -> mean and standard deviation [1,1,D]."""
    mean = g.op("MatMul", w, x)
    square = g.op("MatMul", w, g.op("Mul", x, x))
    variance = g.op("Relu", g.op("Sub", square, g.op("Mul", mean, mean)))
    return mean, g.op("Sqrt", g.op("Add", variance, g.constant(np.float32(TINY))))


def write_linear(g: Graph, x: str, linear: nn.Linear) -> str:
    weight = g.constant(linear.weight.detach().numpy().T)
    return g.op("Add", g.op("MatMul", x, weight), g.constant(linear.bias.detach().numpy()))


def write_shares(g: Graph, weights: str) -> str:
    """[1,N] -> [1,1,N], adding up to one"""
    axis = g.constant(np.array([1], np.int64))
    return g.op("Unsqueeze", g.op("Div", weights, g.op("ReduceSum", weights, axis, keepdims=1)), axis)


def write_clip(g: Graph, head: Head | LinearHead, tokens: str, w: str) -> str:
    """The part that is linear in the moments -> [1,1,outputs]"""
    mean, scale = g.constant(head.mean.numpy()), g.constant(1 / head.std.numpy())
    centre, deviation = write_moments(g, tokens, w)
    centre, deviation = g.op("Mul", g.op("Sub", centre, mean), scale), g.op("Mul", deviation, scale)
    return write_linear(g, g.op("Concat", centre, deviation, axis=2), head.clip)


def write_head(g: Graph, head: Head, tokens: str, w: str) -> str:
    """w [1,1,N] -> [1,1,outputs]"""
    weight, bias = (v.detach().numpy() for v in head.folded())
    h = g.op("Gelu", g.op("Add", g.op("MatMul", tokens, g.constant(weight.T)), g.constant(bias)))
    quarter, four = g.constant(np.float32(0.25)), g.constant(np.float32(4))
    bounded = g.op("Mul", g.op("Tanh", g.op("Mul", write_linear(g, h, head.query), quarter)), four)
    scores = g.op("Mul", g.op("Transpose", g.op("Exp", bounded), perm=[0, 2, 1]), w)
    last = g.constant(np.array([2], np.int64))
    attention = g.op("Div", scores, g.op("ReduceSum", scores, last, keepdims=1))
    attended = g.op(
        "Reshape", g.op("MatMul", attention, h), g.constant(np.array([1, 1, QUERIES * HIDDEN], np.int64))
    )
    pooled = g.op("Concat", *write_moments(g, h, w), attended, axis=2)
    return g.op("Add", write_linear(g, pooled, head.out), write_clip(g, head, tokens, w))


def write_ensemble(g: Graph, heads: list[Head | LinearHead], tokens: str, w: str) -> str:
    """Their mean -> [1,1,outputs]"""
    parts = [(write_head if isinstance(head, Head) else write_clip)(g, head, tokens, w) for head in heads]
    total = parts[0]
    for part in parts[1:]:
        total = g.op("Add", total, part)
    return g.op("Mul", total, g.constant(np.float32(1 / len(heads))))


def batch_of(tokens: Tokens, members: np.ndarray, phase: int | None, changed: np.ndarray | None = None):
    """Pads the windows `members`, the `changed` ones from their copies; a phase takes every second token."""
    copies = tokens.changed or tokens
    if changed is None:
        changed = np.zeros(len(members), bool)
    picked = [(copies if change else tokens)[i] for i, change in zip(members, changed)]
    if phase is not None:
        picked = [(x[phase::2], w[phase::2]) for x, w in picked if len(x) > 1]
    length = max(len(w) for _, w in picked)
    x = np.zeros((len(picked), length, WIDTH), np.float32)
    weights = np.zeros((len(picked), length), np.float32)
    for row, (part, w) in enumerate(picked):
        x[row, : len(w)], weights[row, : len(w)] = part, w
    weights[weights.sum(1) == 0] = 1e-9
    return torch.from_numpy(x), torch.from_numpy(weights)


def statistics(tokens: Tokens, members: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    rows = np.concatenate([tokens[i][0] for i in rng.choice(members, min(600, len(members)), replace=False)])
    rows = rows.astype(np.float32)
    return rows.mean(0), rows.std(0) + 0.05


@dataclass
class Recipe:
    outputs: int
    loss: object  # (predicted [B,outputs], members) -> scalar
    epochs: int = 10
    rate: float = 4e-3
    decay: float = 0.05
    batch: int = 64
    dropout: float = 0.4


def fit(tokens: Tokens, members: np.ndarray, recipe: Recipe, seed: int) -> Head:
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    head = Head(recipe.outputs, *statistics(tokens, members, seed), recipe.dropout)
    optimiser = torch.optim.AdamW(head.parameters(), recipe.rate, weight_decay=recipe.decay)
    lengths = np.diff(tokens.offsets)
    steps = recipe.epochs * -(-len(members) // recipe.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, recipe.rate, steps + 1, pct_start=0.15)
    head.train()
    for _ in range(recipe.epochs):
        order = members[np.argsort(lengths[members] * rng.uniform(0.8, 1.25, len(members)))]
        batches = np.array_split(order, -(-len(order) // recipe.batch))
        for index in rng.permutation(len(batches)):
            changed = rng.random(len(batches[index])) < CHANGED_SHARE
            phase = int(rng.integers(2)) if tokens.frames_per_token == 2 else None
            x, w = batch_of(tokens, batches[index], phase, changed)
            loss = recipe.loss(head(x, w), batches[index])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(head.parameters(), 1.0)
            optimiser.step()
            schedule.step()
    return head.eval()


def fit_linear(tokens: Tokens, members: np.ndarray, loss, decay: list[float]) -> LinearHead:
    """Least loss over the windows and their changed copies."""
    stores = [tokens, tokens.changed] if tokens.changed else [tokens]
    rows = np.concatenate([store.moments[members] for store in stores])
    both = np.tile(members, len(stores))
    w, b = fit_rows(rows, lambda guess: loss(guess, both), decay)
    return LinearHead(np.zeros(WIDTH, np.float32), np.ones(WIDTH, np.float32), w.T.astype(np.float32).copy(), b.astype(np.float32))


def fit_rows(rows: np.ndarray, loss, decay: list[float], rounds: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Least loss by L-BFGS -> weight and bias for the rows as they are; `decay` holds the weights of each output small."""
    centre, scale = rows.mean(0), rows.std(0) + 1e-4
    x = torch.from_numpy((rows - centre) / scale)
    weight = torch.zeros(x.shape[1], len(decay), requires_grad=True)
    bias = torch.zeros(len(decay), requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=rounds, history_size=10, line_search_fn="strong_wolfe")

    def cost() -> torch.Tensor:
        optimiser.zero_grad()
        total = loss(x @ weight + bias) + (torch.tensor(decay) * weight**2).sum()
        total.backward()
        return total

    optimiser.step(cost)
    w = weight.detach().numpy() / scale[:, None]
    return w, bias.detach().numpy() - centre @ w


def predict(heads: list[Head | LinearHead], tokens: Tokens, members: np.ndarray) -> np.ndarray:
    """[windows, outputs], the members of an ensemble averaged."""
    lengths = np.diff(tokens.offsets)
    order = np.argsort(lengths[members])
    result = np.zeros((len(members), heads[0].clip.out_features), np.float32)
    with torch.no_grad():
        for part in np.array_split(order, max(1, len(order) // 64)):
            x, w = batch_of(tokens, members[part], None)
            result[part] = sum(head(x, w) for head in heads).numpy() / len(heads)
    return result
