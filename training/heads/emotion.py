"""The emotion heads: eight categories, valence and arousal; and how far a recording is from the training recordings.

A corpus has labels of its own categories only. The others stay in the softmax, lowered by ABSENT, so that they are
neither targets nor excluded. The logits of a corpus are raised by the log of how frequent its categories are (logit
adjustment: Menon et al. 2021): a corpus of which listeners heard half as neutral does not make other speech neutral.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.corpora.corpus import CATEGORY_WEIGHT, EMOTIONS, ORDINARY_WEIGHT, Clip
from training.encoder.embeddings import EmbeddingStore
from training.heads.attention_head import AttentionHead
from training.heads.fit import FitParams, Loss, fit_attention, minimize, minimize_linear
from training.settings import SEED

ABSENT = -2.0
# Columns of the output.
CATEGORIES = slice(0, 8)  # logits
DIMENSIONS = slice(8, 10)  # valence and arousal before the sigmoid
OUTPUTS = 10
CATEGORY_DECAY = 0.02  # of the linear head
DIMENSION_DECAY = 0.05  # of the linear head
COPY_DECAY = 16  # of the linear head: of the directions in which copies differ from their recordings, over that of others
ROUNDS = 80  # of the linear head
DEVIATION_FLOOR = 1e-4
# Of the network.
HIDDEN = 256
INPUT_DROPOUT = 0.3
DROPOUT = 0.5
EPOCHS = 20
BATCH = 256
PEAK_LR = 2e-3
WEIGHT_DECAY = 0.3
ORDINARY_TOTAL = 1.5  # weight of all ordinary speech, over that of an acted corpus
EMOTIONAL = ("VoxLingua107", "AWSCalls", "AMI", "AMIMixed")  # ordinary speech that holds some real emotion
EMOTIONAL_SHARE = 0.5  # weight of such a corpus, over that of other ordinary speech
DIMENSION_LOSS_WEIGHT = 10
MAX_ORDINARY = 2  # weight of a clip of ordinary speech, for corpora of few clips
DIRECTIONS = 64  # of largest variance; the others are noise


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
    label = np.full(count, -1)
    label_weight = np.zeros(count, np.float32)
    distribution = np.full((count, len(EMOTIONS)), 1 / len(EMOTIONS), np.float32)
    mask = np.full((count, len(EMOTIONS)), ABSENT, np.float32)
    dimensions = np.full((count, 2), 0.5, np.float32)
    weight = np.zeros((count, 2), np.float32)
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
    names = np.array([clip.corpus for clip in clips])
    ordinary = np.array([clip.definition.ordinary for clip in clips])
    held_out = np.array([clip.held_out for clip in clips])
    for name in np.unique(names[label_weight > 0]):
        own = names == name
        labelled = own & (label_weight > 0)
        trained = labelled & ~held_out
        counted = trained if trained.any() else labelled
        mask[own] = 0 if ordinary[own].all() else log_prior(distribution[counted])
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


def category_loss(logits: torch.Tensor, mask: torch.Tensor, distribution: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """[n,8] each, weight [n]"""
    each = F.cross_entropy(logits + mask, distribution, reduction="none", label_smoothing=0.05)
    return (each * weight).mean()


def dimension_loss(predicted: torch.Tensor, dimensions: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """[n,2] each, `predicted` before the sigmoid"""
    return DIMENSION_LOSS_WEIGHT * ((torch.sigmoid(predicted) - dimensions) ** 2 * weight).mean()


def make_loss(owners: np.ndarray, targets: Targets) -> Loss:
    """owners [windows]: the clip of each window."""

    def loss(predicted: torch.Tensor, windows: np.ndarray) -> torch.Tensor:
        def of(column: np.ndarray) -> torch.Tensor:
            return torch.from_numpy(column[owners[windows]])

        categories = category_loss(predicted[:, CATEGORIES], of(targets.mask), of(targets.distribution), of(targets.label_weight))
        dimensions = dimension_loss(predicted[:, DIMENSIONS], of(targets.dimensions), of(targets.dimensions_weight))
        return categories + dimensions

    return loss


def labelled_windows(owners: np.ndarray, targets: Targets) -> np.ndarray:
    return np.flatnonzero((targets.label_weight[owners] > 0) | (targets.dimensions_weight[owners].sum(1) > 0))


def fit_attention_head(store: EmbeddingStore, targets: Targets, windows: np.ndarray) -> AttentionHead:
    """The head with which fine-tuning of the trunk starts."""
    return fit_attention(store, windows, FitParams(OUTPUTS, make_loss(store.clips, targets)), SEED)


@dataclass(frozen=True)
class Examples:
    """Rows of a store as tensors. Every acted corpus has the same weight, and so has every label of it; ordinary speech together ORDINARY_TOTAL
    of it."""

    moments: torch.Tensor  # [n, 2 * width]
    mask: torch.Tensor  # [n,8]
    distribution: torch.Tensor  # [n,8]
    share: torch.Tensor  # [n], mean 1
    dimensions: torch.Tensor  # [n,2]
    weight: torch.Tensor  # [n,2]

    @staticmethod
    def of(store: EmbeddingStore, targets: Targets, windows: np.ndarray, clips: list[Clip]) -> "Examples":
        rows = store.clips[windows]
        share = label_shares([clips[i] for i in rows], targets.label[rows]) * len(rows)
        learned = (targets.mask[rows], targets.distribution[rows], share, targets.dimensions[rows], targets.dimensions_weight[rows])
        columns = (store.moments[windows], *learned)
        return Examples(*map(torch.from_numpy, columns))

    def category_loss(self, logits: torch.Tensor, rows: torch.Tensor | slice = slice(None)) -> torch.Tensor:
        return category_loss(logits, self.mask[rows], self.distribution[rows], self.share[rows])

    def dimension_loss(self, predicted: torch.Tensor, rows: torch.Tensor | slice = slice(None)) -> torch.Tensor:
        return dimension_loss(predicted, self.dimensions[rows], self.weight[rows])


def fit_heads(store: EmbeddingStore, targets: Targets, windows: np.ndarray, clips: list[Clip]) -> list[nn.Sequential]:
    """A linear head and a network, to be averaged: moments of the embeddings [n, 2 * width] -> [n,10]."""
    examples = Examples.of(store, targets, windows, clips)
    pairs = copies_of(store, windows)
    apart = store.moments[pairs[:, 1], : store.width] - store.moments[pairs[:, 0], : store.width]
    return [fit_linear(examples, apart), fit_network(examples)]


def copies_of(store: EmbeddingStore, windows: np.ndarray) -> np.ndarray:
    """[n,2]: recordings of one utterance and their copies"""
    count = {copied: np.bincount(store.clips[store.copied == copied], minlength=store.clips.max() + 1) for copied in (False, True)}
    single = windows[(count[False][store.clips[windows]] == 1) & (count[True][store.clips[windows]] == 1)]
    plain, copies = single[~store.copied[single]], single[store.copied[single]]
    _, first, second = np.intersect1d(store.clips[plain], store.clips[copies], return_indices=True)
    return np.stack([plain[first], copies[second]], 1)


def fit_linear(examples: Examples, apart: np.ndarray) -> nn.Sequential:
    """Categories are linear in the mean of the embeddings, valence and arousal in mean and deviation. `apart`: as in `fit_scale`"""
    moments = examples.moments.numpy()
    width = moments.shape[1] // 2
    means = moments[:, :width]
    scale = fit_scale(means, apart)
    weight, bias = minimize((means - means.mean(0)) @ scale, examples.category_loss, [CATEGORY_DECAY] * 8, ROUNDS)
    category = scale @ weight
    dimension = minimize_linear(moments, examples.dimension_loss, [DIMENSION_DECAY] * 2)
    weights = np.concatenate([np.pad(category, [(0, width), (0, 0)]), dimension[0]], 1)
    layer = nn.Linear(2 * width, OUTPUTS)
    biases = np.concatenate([bias - means.mean(0) @ category, dimension[1]])
    set_linear(layer, torch.from_numpy(weights.T), torch.from_numpy(biases))
    return nn.Sequential(layer)


def fit_scale(means: np.ndarray, apart: np.ndarray) -> np.ndarray:
    """Standardises, and shrinks the directions in which copies differ from their recordings: noise, a room or a telephone is to change little.

    means [n,width], apart [m,width]: copies less recordings -> [width,width]; means times it have a mean variance of 1
    """
    deviation = means.std(0) + DEVIATION_FLOOR
    apart = apart / deviation
    values, vectors = np.linalg.eigh(np.eye(means.shape[1]) + COPY_DECAY * (apart.T @ apart) / max(1, len(apart)))
    scale = (vectors / np.sqrt(values)) @ vectors.T / deviation[:, None]
    return (scale / np.sqrt((means @ scale).var(0).mean())).astype(np.float32)


def fit_network(examples: Examples) -> nn.Sequential:
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    count = len(examples.moments)
    mean = examples.moments.mean(0)
    std = examples.moments.std(0) + DEVIATION_FLOOR
    inputs = (examples.moments - mean) / std
    hidden = nn.Linear(inputs.shape[1], HIDDEN)
    out = nn.Linear(HIDDEN, OUTPUTS)
    network = nn.Sequential(nn.Dropout(INPUT_DROPOUT), hidden, nn.GELU(), nn.Dropout(DROPOUT), out)
    optimizer = torch.optim.AdamW(network.parameters(), PEAK_LR, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, PEAK_LR, EPOCHS * -(-count // BATCH) + 1, pct_start=0.15)
    for _ in range(EPOCHS):
        for rows in torch.from_numpy(rng.permutation(count)).split(BATCH):
            predicted = network(inputs[rows])
            loss = examples.category_loss(predicted[:, CATEGORIES], rows) + examples.dimension_loss(predicted[:, DIMENSIONS], rows)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    with torch.no_grad():  # moves the standardisation of the inputs into the first layer
        weight = hidden.weight / std
        set_linear(hidden, weight, hidden.bias - weight @ mean)
    return nn.Sequential(hidden, nn.GELU(), out).eval()


def set_linear(layer: nn.Linear, weight: torch.Tensor, bias: torch.Tensor) -> None:
    layer.weight.data = weight.float().contiguous()
    layer.bias.data = bias.float()


def predict_mean(heads: list[nn.Sequential], moments: np.ndarray) -> np.ndarray:
    """moments [n, 2 * width] -> [n,10]: mean of the heads"""
    with torch.no_grad():
        return (sum(head(torch.from_numpy(moments)) for head in heads) / len(heads)).numpy()


def label_shares(clips: list[Clip], label: np.ndarray) -> np.ndarray:
    """float32 [n] that sums to 1: weight of each row in the loss of the categories"""
    names = np.array([clip.corpus for clip in clips])
    ordinary = np.array([clip.definition.ordinary for clip in clips])
    share = np.zeros(len(clips), np.float32)
    for name in np.unique(names[~ordinary & (label >= 0)]):
        own = names == name
        labels = np.unique(label[own & (label >= 0)])
        for value in labels:
            members = own & (label == value)
            share[members] = 1 / len(labels) / members.sum()
    counts = Counter(names[ordinary].tolist())
    sizes = {name: np.sqrt(count) * (EMOTIONAL_SHARE if name in EMOTIONAL else 1) for name, count in counts.items()}
    for name, size in sizes.items():
        share[names == name] = ORDINARY_TOTAL * size / sum(sizes.values()) / counts[name]
    return share / share.sum()


@dataclass(frozen=True)
class Distance:
    centre: np.ndarray  # [2 * width]
    projection: np.ndarray  # [2 * width, directions]; training recordings have variance 1 in each

    def __call__(self, moments: np.ndarray) -> np.ndarray:
        """[n, 2 * width] -> [n], about 1 for training recordings"""
        return np.sqrt(np.mean(((moments - self.centre) @ self.projection) ** 2, 1))


def fit_distance(moments: np.ndarray, corpora: np.ndarray) -> Distance:
    """moments [n, 2 * width], corpora [n]: names. Corpora weigh alike."""
    names, owner = np.unique(corpora, return_inverse=True)
    weight = 1 / np.bincount(owner)[owner] / len(names)
    centre = weight @ moments
    spread = moments - centre
    values, vectors = np.linalg.eigh(spread.T @ (spread * weight[:, None]))
    best = np.argsort(values)[::-1][:DIRECTIONS]
    return Distance(centre.astype(np.float32), (vectors[:, best] / np.sqrt(values[best])).astype(np.float32))
