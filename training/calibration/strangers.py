"""What heads of a recipe say of speech that they were not fitted on: groups of corpora, and folds of speakers, left out in turn."""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from training.corpora.corpus import Clip
from training.corpora.recipe import Recipe
from training.encoder.embeddings import Utterances
from training.export.head_graph import EmotionScale
from training.heads import emotion
from training.heads.emotion import CATEGORIES, CategoryParams, EmotionHead, Targets
from training.settings import SEED

FOLDS = 5  # of speakers
GROUPS = 4  # of acted corpora, and of ordinary ones: each corpus is a group where there are fewer


@dataclass(frozen=True)
class Answers:
    """Of heads, one row per utterance that they were not fitted on."""

    rows: np.ndarray  # [n] utterances
    logits: np.ndarray  # [n, labels]
    dimensions: np.ndarray  # [n,2] valence, arousal; NaN of heads that are not whole
    distance: np.ndarray  # [n]; likewise

    @staticmethod
    def of(head: EmotionHead, store: Utterances, rows: np.ndarray) -> "Answers":
        means = store.means[rows]
        dimensions = np.full((len(rows), 2), np.nan) if head.dimensions is None else head.dimensions(means)
        distance = np.full(len(rows), np.nan) if head.distance is None else head.distance(means)
        return Answers(rows, head.categories(means), dimensions, distance)

    def where(self, rows: np.ndarray) -> "Answers":
        return Answers(*(values[rows] for values in vars(self).values()))

    @staticmethod
    def joined(parts: list["Answers"]) -> "Answers":
        return Answers(*(np.concatenate(columns) for columns in zip(*(vars(part).values() for part in parts))))


@dataclass(frozen=True)
class Recordings:
    """Means over the utterances of a recording, weighted by speech, as the service computes them."""

    clips: np.ndarray  # [n] clip indices
    probabilities: np.ndarray  # [n, labels]
    dimensions: np.ndarray  # [n,2]
    distance: np.ndarray  # [n]

    @staticmethod
    def of(answers: Answers, store: Utterances, scale: EmotionScale | None = None) -> "Recordings":
        """`scale`: without it the outputs of the heads are as they are."""
        probabilities = softmax(answers.logits if scale is None else scale.logits(answers.logits), 1)
        dimensions = answers.dimensions if scale is None else scale.dimensions(answers.dimensions)
        values = np.c_[probabilities, dimensions, answers.distance]
        clips, row = np.unique(store.clips[answers.rows], return_inverse=True)
        weight = store.speech_frames[answers.rows].astype(float)
        sums = np.zeros((len(clips), values.shape[1]))
        np.add.at(sums, row, values * weight[:, None])
        means = sums / np.bincount(row, weight)[:, None]
        return Recordings(clips, means[:, :-3], means[:, -3:-1], means[:, -1])

    def where(self, rows: np.ndarray) -> "Recordings":
        return Recordings(*(values[rows] for values in vars(self).values()))


Groups = list[set[int]]  # clip indices that are left out together


def in_groups(names: list[str]) -> list[list[str]]:
    return [names[place::GROUPS] for place in range(min(GROUPS, len(names)))]


def acted_groups(recipe: Recipe) -> list[list[str]]:
    """Names of acted and rated corpora."""
    return in_groups([name for name in recipe.labelled if name not in recipe.ordinary and name != recipe.clarity])


def ordinary_groups(recipe: Recipe) -> list[list[str]]:
    return in_groups([recipe.clarity, *recipe.ordinary])


def corpora_groups(names: list[list[str]], clips: list[Clip]) -> Groups:
    return [{clip.index for clip in clips if clip.corpus in group} for group in names]


def speakers_groups(clips: list[Clip], recipe: Recipe) -> Groups:
    """FOLDS folds of the speakers of every corpus."""
    rng = np.random.default_rng(SEED)
    folds: Groups = [set() for _ in range(FOLDS)]
    for name in recipe.labelled:
        own = [clip for clip in clips if clip.corpus == name]
        speakers = sorted({clip.speaker for clip in own})
        place = dict(zip(rng.permutation(speakers).tolist(), range(len(speakers))))
        for clip in own:
            folds[place[clip.speaker] % FOLDS].add(clip.index)
    return folds


@dataclass(frozen=True)
class Fits:
    """What heads of a recipe are fitted on."""

    store: Utterances
    targets: Targets
    clips: list[Clip]
    recipe: Recipe
    without: frozenset[int] = frozenset()  # clip indices that nothing is fitted on
    params: CategoryParams = CATEGORIES

    def head(self, group: set[int] | None = None, whole: bool = True) -> EmotionHead:
        """`group`: clip indices that are left out as well"""
        known = np.array([clip.corpus in self.recipe.labelled and clip.index not in self.without for clip in self.clips])
        rows = np.flatnonzero(known[self.store.clips] & ~np.isin(self.store.clips, list(group or ())))
        return emotion.fit(self.store, self.targets, self.clips, rows, whole, self.params)

    def of_strangers(self, names: list[list[str]]) -> Answers:
        """On each group of corpora, of a head that lacks it; without dimensions and distance"""
        return self.without_each(corpora_groups(names, self.clips), whole=False).answers(self.store)

    def without_each(self, groups: Groups, whole: bool = True) -> "LeftOut":
        """Heads without each group that has more than `without`"""
        return LeftOut([(group - self.without, self.head(group, whole)) for group in groups if group - self.without])


@dataclass(frozen=True)
class LeftOut:
    heads: list[tuple[set[int], EmotionHead]]  # clip indices, and the head that was not fitted on them

    @property
    def fitted(self) -> frozenset[int]:
        return frozenset().union(*(head.fitted for _, head in self.heads))

    def answers(self, judged: Utterances, owners: np.ndarray | None = None) -> Answers:
        """Of each head on its group. `owners`: clip indices, by the rows in `judged.clips`; without it those are clip indices."""
        owner = judged.clips if owners is None else owners[judged.clips]
        rows = [np.flatnonzero(np.isin(owner, list(group))) for group, _ in self.heads]
        return Answers.joined([Answers.of(head, judged, own) for (_, head), own in zip(self.heads, rows) if len(own)])
