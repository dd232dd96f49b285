"""Linear heads on the mean and deviation of a window's tokens: what any two trunks are compared by."""

from __future__ import annotations

import numpy as np
import torch
from torch.nn import functional as F

import cognitive
import emotion
import heads
from corpus import EMOTIONS, Clip
from tune_data import REPEATS, Windows, balanced_targets

OUTPUTS = len(EMOTIONS) + 3


def fit(pooled: np.ndarray, windows: Windows, clips: list[Clip], members: np.ndarray, decay: float, rounds: int = 150):
    """pooled [windows, 768] -> weight [768,11] and bias [11] for pooled features as they are."""
    targets, scores = balanced_targets(clips), cognitive.targets_of(clips)
    rows = windows.clips[members]
    share = torch.tensor([REPEATS.get(clips[i].corpus, 1.0) for i in rows], dtype=torch.float32)
    label, mask = torch.from_numpy(np.maximum(targets.label[rows], 0)), torch.from_numpy(targets.mask[rows])
    labelled = share * torch.from_numpy(targets.label[rows] >= 0)
    axes, axes_weight = (torch.from_numpy(v[rows]) for v in (targets.axes, targets.axes_weight))
    score = torch.from_numpy(scores[rows])
    scored = (~torch.isnan(score)).float()
    middle, spread = float(np.nanmean(scores[rows])), float(np.nanstd(scores[rows]))
    score = (torch.nan_to_num(score) - middle) / spread

    def cost(y: torch.Tensor) -> torch.Tensor:
        each = F.cross_entropy(y[:, :8] + mask, label, reduction="none", label_smoothing=0.05)
        wrong = ((torch.sigmoid(y[:, 8:10]) - axes) ** 2 * axes_weight).sum(1)
        far = (y[:, 10] - score) ** 2 * scored
        total = (each * labelled).sum() / labelled.sum() + 10 * (wrong * share).sum() / share.sum()
        return total + far.sum() / scored.sum()

    w, b = heads.fit_rows(pooled[members], cost, [decay] * OUTPUTS, rounds)
    w[:, 10], b[10] = w[:, 10] * spread, b[10] * spread + middle
    return w.astype(np.float32), b.astype(np.float32)
