"""Linear heads on the mean and deviation of a window's embeddings: what any two trunks are compared by."""

import numpy as np
import torch
from torch.nn import functional as F

from training.corpora.corpus import Clip
from training.encoder.multitask import CLARITY, OUTPUTS
from training.encoder.window_store import WindowStore
from training.heads import clarity, emotion
from training.heads.fit import fit_rows


def fit(pooled: np.ndarray, windows: WindowStore, clips: list[Clip], members: np.ndarray, decay: float) -> tuple[np.ndarray, np.ndarray]:
    """pooled [windows,768] -> weight [768,11] and bias [11]: logits, valence and arousal before the sigmoid, clarity"""
    targets, scores = emotion.targets_of(clips, balanced=True), clarity.targets_of(clips)
    rows = windows.clips[members]
    weight = torch.tensor([clips[i].definition.sampling.finetune for i in rows], dtype=torch.float32)
    label, mask = torch.from_numpy(np.maximum(targets.label[rows], 0)), torch.from_numpy(targets.mask[rows])
    labelled = weight * torch.from_numpy(targets.label[rows] >= 0)
    dimensions, dimensions_weight = (torch.from_numpy(v[rows]) for v in (targets.dimensions, targets.dimensions_weight))
    score = torch.from_numpy(scores[rows])
    scored = (~torch.isnan(score)).float()
    centre, spread = float(np.nanmean(scores[rows])), float(np.nanstd(scores[rows]))
    score = (torch.nan_to_num(score) - centre) / spread

    def loss(y: torch.Tensor) -> torch.Tensor:
        each = F.cross_entropy(y[:, emotion.CATEGORIES] + mask, label, reduction="none", label_smoothing=0.05)
        error = ((torch.sigmoid(y[:, emotion.DIMENSIONS]) - dimensions) ** 2 * dimensions_weight).sum(1)
        far = (y[:, CLARITY] - score) ** 2 * scored
        total = (each * labelled).sum() / labelled.sum() + emotion.DIMENSION_LOSS_WEIGHT * (error * weight).sum() / weight.sum()
        return total + far.sum() / scored.sum()

    w, b = fit_rows(pooled[members], loss, [decay] * OUTPUTS)
    w[:, CLARITY], b[CLARITY] = w[:, CLARITY] * spread, b[CLARITY] * spread + centre
    return w.astype(np.float32), b.astype(np.float32)
