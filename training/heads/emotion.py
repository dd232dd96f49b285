"""The emotion head: categories, valence and arousal, linear in the mean of the embeddings of an utterance; and how far an utterance is from the
training recordings.

Acted corpora weigh alike, and so do the labels of each. All ordinary speech together weighs less; its target is weakly neutral.
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import torch

from training.corpora.corpus import EMOTIONS, Clip
from training.corpora.recipe import Recipe
from training.encoder.embeddings import Utterances
from training.heads.linear import Linear, fit_logistic, fit_ridge
from training.settings import SEED

DIMENSION_DECAY = 3.0
EMOTIONAL = ("VoxLingua107", "AWSCalls", "AMI")  # ordinary speech that holds some real emotion
EMOTIONAL_SHARE = 0.5  # weight of such a corpus, over that of other ordinary speech
DIRECTIONS = 64  # of largest variance; the others are noise
OVERSAMPLED = 16  # of the random projection that finds them


@dataclass(frozen=True)
class CategoryParams:
    """Chosen in docs/results/studies.md"""

    decay: float = 0.01
    ordinary_weight: float = 0.5  # of all ordinary speech, over that of all acted corpora


CATEGORIES = CategoryParams()


@dataclass(frozen=True)
class Targets:
    """One row per clip; a label of -1 and a weight of 0 where there is nothing to learn."""

    label: np.ndarray  # int [n], the category that was acted; -1 for ordinary speech
    distribution: np.ndarray  # float32 [n, labels]
    category_weight: np.ndarray  # float32 [n], 0 or 1
    dimensions: np.ndarray  # float32 [n,2] valence, arousal
    dimension_weight: np.ndarray  # float32 [n,2]


def targets_of(clips: list[Clip], recipe: Recipe) -> Targets:
    count = len(clips)
    kept = [EMOTIONS.index(name) for name in recipe.labels]
    label = np.full(count, -1)
    distribution = np.full((count, len(kept)), 1 / len(kept), np.float32)
    category_weight = np.zeros(count, np.float32)
    dimensions = np.full((count, 2), 0.5, np.float32)
    dimension_weight = np.zeros((count, 2), np.float32)
    for clip in clips:
        if clip.corpus not in recipe.labelled:
            continue
        if clip.emotion in recipe.labels:
            label[clip.index] = recipe.labels.index(clip.emotion)
            distribution[clip.index] = np.eye(len(kept))[label[clip.index]]
            category_weight[clip.index] = 1
        elif clip.emotion is None and clip.distribution is not None:
            own = np.array(clip.distribution)[kept]
            distribution[clip.index] = own / own.sum()
            category_weight[clip.index] = 1
        if found := clip.dimensions:
            dimensions[clip.index] = found.valence, found.arousal
            dimension_weight[clip.index] = found.valence_weight, found.arousal_weight
    return Targets(label, distribution, category_weight, dimensions, dimension_weight)


def shares_of(clips: list[Clip], label: np.ndarray, ordinary_weight: float = CATEGORIES.ordinary_weight) -> np.ndarray:
    """float32 [n] that sums to 1: weight of each row in the loss of the categories"""
    names = np.array([clip.corpus for clip in clips])
    ordinary = np.array([clip.definition.ordinary for clip in clips])
    share = np.zeros(len(clips))
    acted = np.unique(names[~ordinary & (label >= 0)])
    for name in acted:
        own = names == name
        labels = np.unique(label[own & (label >= 0)])
        for value in labels:
            members = own & (label == value)
            share[members] = 1 / len(acted) / len(labels) / members.sum()
    counts = Counter(names[ordinary].tolist())
    sizes = {name: np.sqrt(count) * (EMOTIONAL_SHARE if name in EMOTIONAL else 1) for name, count in counts.items()}
    for name, size in sizes.items():
        share[names == name] = ordinary_weight * size / sum(sizes.values()) / counts[name]
    return (share / share.sum()).astype(np.float32)


@dataclass(frozen=True)
class Distance:
    centre: np.ndarray  # [width]
    projection: np.ndarray  # [width, directions]; training recordings have variance 1 in each

    def __call__(self, means: np.ndarray) -> np.ndarray:
        """[n,width] -> [n], about 1 for training recordings"""
        return np.sqrt(np.mean(((means - self.centre) @ self.projection) ** 2, 1))


def fit_distance(means: np.ndarray, corpora: np.ndarray) -> Distance:
    """means [n,width], corpora [n]: names. Corpora weigh alike."""
    names, owner = np.unique(corpora, return_inverse=True)
    weight = 1 / np.bincount(owner)[owner] / len(names)
    centre = weight @ means
    spread = (means - centre) * np.sqrt(weight)[:, None]
    torch.manual_seed(SEED)
    _, values, directions = torch.svd_lowrank(torch.from_numpy(spread.astype(np.float32)), DIRECTIONS + OVERSAMPLED, niter=4)
    projection = (directions / values)[:, :DIRECTIONS].numpy()
    return Distance(centre.astype(np.float32), projection)


@dataclass(frozen=True)
class EmotionHead:
    categories: Linear  # -> logits
    dimensions: Linear | None  # -> valence, arousal
    distance: Distance | None
    fitted: frozenset[int] = frozenset()  # indices of the clips


def fit(store: Utterances, targets: Targets, clips: list[Clip], rows: np.ndarray, whole: bool = True, params: CategoryParams = CATEGORIES) -> EmotionHead:
    """`rows`: utterances that it may be fitted on. `whole`: with dimensions and distance"""
    owners = store.clips[rows]
    labelled = rows[targets.category_weight[owners] > 0]
    own = [clips[i] for i in store.clips[labelled]]
    share = shares_of(own, targets.label[store.clips[labelled]], params.ordinary_weight)
    categories = fit_logistic(store.means[labelled], targets.distribution[store.clips[labelled]], share, params.decay)
    fitted = frozenset(store.clips[rows].tolist())
    if not whole:
        return EmotionHead(categories, None, None, fitted)
    weighted = rows[targets.dimension_weight[owners].any(1)]
    weight = targets.dimension_weight[store.clips[weighted]]
    dimensions = fit_ridge(store.means[weighted], targets.dimensions[store.clips[weighted]], weight / weight.sum(0), DIMENSION_DECAY)
    return EmotionHead(categories, dimensions, fit_distance(store.means[labelled], np.array([clip.corpus for clip in own])), fitted)
