"""Clarity: the experts' mean of fluency and prosody (speechocean762), from the trunk's tokens."""

from __future__ import annotations

import numpy as np
import torch

import heads
from corpus import SEED, Clip
from graph import Graph
from tokens import Tokens
from trunk import WIDTH

CORPUS = "speechocean762"


def targets_of(clips: list[Clip]) -> np.ndarray:
    """(fluency + prosody) / 20 of each clip, NaN where there is none."""
    values = np.full(len(clips), np.nan, np.float32)
    for clip in clips:
        if clip.corpus == CORPUS:
            values[clip.index] = (float(clip.row["fluency"]) + float(clip.row["prosody"])) / 20
    return values


def fit(tokens: Tokens, targets: np.ndarray, members: np.ndarray, count: int = 1, **options) -> list[heads.Head]:
    centre, spread = np.nanmean(targets[tokens.clips[members]]), np.nanstd(targets[tokens.clips[members]])

    def loss(predicted: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
        wanted = torch.from_numpy((targets[tokens.clips[rows]] - centre) / spread)
        return ((predicted[:, 0] - wanted) ** 2).mean()

    recipe = heads.Recipe(1, loss, **{"epochs": 6, "rate": 1e-3, "dropout": 0.6, "decay": 0.3, **options})
    members = [heads.fit(tokens, members, recipe, SEED + i) for i in range(count)]
    for head in members:
        rescale(head, float(centre), float(spread))
    return members


def rescale(head: heads.Head, centre: float, spread: float) -> None:
    """Folds the standardisation of the target into the last layers."""
    with torch.no_grad():
        for linear in (head.out, head.clip):
            linear.weight *= spread
            linear.bias *= spread
        head.out.bias += centre


def write_cognitive(members: list[heads.Head], slope: float, shift: float, path: str) -> None:
    g = Graph("cognitive")
    tokens, weights = g.input("tokens", [1, "tokens", WIDTH]), g.input("weights", [1, "tokens"])
    score = g.op("Reshape", heads.write_ensemble(g, members, tokens, heads.write_shares(g, weights)), g.constant(np.array([1], np.int64)))
    line = g.op("Add", g.op("Mul", score, g.constant(np.float32(slope))), g.constant(np.float32(shift)))
    g.output(g.op("Clip", line, g.constant(np.float32(0)), g.constant(np.float32(1))), "clarity", [1])
    g.save(path)
