"""The emotion head: eight categories, valence and arousal.

A corpus has labels of its own categories only. The others stay in the softmax, lowered by ABSENT, so that they are
neither targets nor excluded. The logits of a corpus are raised by the log of how frequent its categories are (logit
adjustment: Menon et al. 2021): a corpus of which listeners heard half as neutral does not make other speech neutral.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch.nn import functional as F

from training.corpora.corpus import CATEGORY_WEIGHT, ORDINARY_WEIGHT, Clip
from training.corpora.labels import EMOTIONS
from training.encoder.embeddings import EmbeddingStore
from training.heads.attention_head import AttentionHead, LinearHead
from training.heads.fit import FitParams, Loss, fit_attention, fit_linear
from training.settings import SEED

ABSENT = -2.0
CATEGORIES, DIMENSIONS = slice(0, 8), slice(8, 10)  # columns of the output: logits; valence and arousal before the sigmoid
OUTPUTS = 10
DECAY = [0.005] * 8 + [0.1] * 2  # of the linear head: few clips are rated, so the dimensions are penalised more
DIMENSION_LOSS_WEIGHT = 10
GROUP_RATE, GROUP_ROUNDS = 1.0, 2  # of the exponentiated gradient of group DRO
MAX_ORDINARY = 2  # weight of a clip of ordinary speech, for corpora of few clips


@dataclass(frozen=True)
class Targets:
    """One row per clip; a label of -1 and a weight of 0 where there is nothing to learn."""

    label: np.ndarray  # int [n], most probable category of the distribution; -1 for ordinary speech
    distribution: np.ndarray  # float32 [n,8]
    mask: np.ndarray  # float32 [n,8], added to the logits: log prior of the categories of the corpus, ABSENT for others
    label_weight: np.ndarray  # float32 [n]
    dimensions: np.ndarray  # float32 [n,2] valence, arousal
    dimensions_weight: np.ndarray  # float32 [n,2]


def targets_of(clips: list[Clip], balanced: bool = False) -> Targets:
    """`balanced`: acted corpora weigh alike, for a sampler that balances them by how often it draws."""
    count = len(clips)
    label, label_weight = np.full(count, -1), np.zeros(count, np.float32)
    distribution = np.full((count, len(EMOTIONS)), 1 / len(EMOTIONS), np.float32)
    mask = np.full((count, len(EMOTIONS)), ABSENT, np.float32)
    dimensions, weight = np.full((count, 2), 0.5, np.float32), np.zeros((count, 2), np.float32)
    for clip in clips:
        if clip.distribution is not None:
            distribution[clip.index] = clip.distribution
            label_weight[clip.index] = 1 if balanced else clip.definition.sampling.head
        if clip.emotion is not None:
            label[clip.index] = distribution[clip.index].argmax()
        if found := clip.dimensions:
            dimensions[clip.index] = found.valence, found.arousal
            weight[clip.index] = found.valence_weight, found.arousal_weight
            if balanced and clip.emotion is not None and not found.rated:
                weight[clip.index] = CATEGORY_WEIGHT
    names, ordinary = np.array([clip.corpus for clip in clips]), np.array([clip.definition.ordinary for clip in clips])
    held_out = np.array([clip.held_out for clip in clips])
    for name in np.unique(names[label_weight > 0]):
        own = names == name
        labelled = own & (label_weight > 0)
        trained = labelled & ~held_out
        mask[own] = 0 if ordinary[own].all() else log_prior(distribution[trained if trained.any() else labelled])
    label_weight[ordinary] = ordinary_weights(clips, label_weight)[ordinary]
    return Targets(label, distribution, mask, label_weight, dimensions, weight)


def log_prior(distribution: np.ndarray) -> np.ndarray:
    """distribution [n,8] -> [8]: log of the mean, over that of equally frequent categories; at least ABSENT"""
    prior = distribution.mean(0)
    return np.log(np.maximum(prior * np.count_nonzero(prior), np.exp(ABSENT)))


def ordinary_weights(clips: list[Clip], label_weight: np.ndarray) -> np.ndarray:
    """[n]: a corpus of ordinary speech weighs ORDINARY_WEIGHT of the mean acted corpus, over its training clips, at most."""
    trained = [clip for clip in clips if not clip.held_out]
    counts = Counter(clip.corpus for clip in trained)
    acted = {clip.corpus for clip in trained if clip.emotion is not None}
    mean = sum(label_weight[clip.index] for clip in trained if clip.corpus in acted) / max(1, len(acted))
    return np.array([min(MAX_ORDINARY, ORDINARY_WEIGHT * mean / max(1, counts[clip.corpus])) for clip in clips], np.float32)


def make_loss(owners: np.ndarray, targets: Targets) -> Loss:
    """owners [windows]: the clip of each window."""

    def loss(predicted: torch.Tensor, windows: np.ndarray) -> torch.Tensor:
        rows = owners[windows]
        logits = predicted[:, CATEGORIES] + torch.from_numpy(targets.mask[rows])
        distribution = torch.from_numpy(targets.distribution[rows])
        each = F.cross_entropy(logits, distribution, reduction="none", label_smoothing=0.05)
        error = (torch.sigmoid(predicted[:, DIMENSIONS]) - torch.from_numpy(targets.dimensions[rows])) ** 2
        weighted = error * torch.from_numpy(targets.dimensions_weight[rows])
        return (each * torch.from_numpy(targets.label_weight[rows])).mean() + DIMENSION_LOSS_WEIGHT * weighted.mean()

    return loss


def labelled_windows(owners: np.ndarray, targets: Targets) -> np.ndarray:
    return np.flatnonzero((targets.label_weight[owners] > 0) | (targets.dimensions_weight[owners].sum(1) > 0))


def fit_networks(store: EmbeddingStore, targets: Targets, windows: np.ndarray, count: int) -> list[AttentionHead]:
    params = FitParams(OUTPUTS, make_loss(store.clips, targets))
    return [fit_attention(store, windows, params, SEED + i) for i in range(count)]


def group_robust(store: EmbeddingStore, targets: Targets, windows: np.ndarray, names: np.ndarray, rounds: int = GROUP_ROUNDS) -> Targets:
    """Raises the weight of corpora with a higher loss of linear heads, round by round (group DRO: Sagawa et al. 2020).

    names [clips]: corpora. The mean weight of the corpora does not change.
    """
    unweighted = replace(targets, label_weight=(targets.label_weight > 0).astype(np.float32))
    loss, owners, robust = make_loss(store.clips, unweighted), names[store.clips[windows]], targets
    logs = dict.fromkeys(np.unique(owners).tolist(), 0.0)
    for _ in range(rounds):
        head = fit_linear_head(store, robust, windows)
        for name in logs:
            own = windows[owners == name]
            with torch.no_grad():
                logs[name] += GROUP_RATE * float(loss(head.clip(torch.from_numpy(store.moments[own])), own))
        factor = np.array([np.exp(logs.get(name, 0)) for name in names], np.float32)
        factor /= np.mean([np.exp(value) for value in logs.values()])
        robust = replace(targets, label_weight=targets.label_weight * factor)
    return robust


def fit_linear_head(store: EmbeddingStore, targets: Targets, windows: np.ndarray) -> LinearHead:
    return fit_linear(store, windows, make_loss(store.clips, targets), DECAY)
