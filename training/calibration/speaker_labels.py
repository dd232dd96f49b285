"""Labels of an utterance, given how its speaker sounds: the prior of src/engine/signals/speaker-labels.ts, and its rule.

The mean of what a speaker says, as far as it is probably neutral, is moved to that of neutral speech of others. The prior is of heads that lack the
corpus, and its neutral is moved until ordinary speech, of heads that lack it, is called neutral as often as without the rule.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from training.calibration.moments import PLAIN
from training.calibration.strangers import Recordings
from training.corpora.corpus import Clip
from training.corpora.recipe import Recipe

MIN_PROBABILITY = 1e-4
PRIOR_UTTERANCES = 2  # docs/results/studies.md
FIRST = 4  # utterances of a speaker without a label relative to what came before
STEPS = 14  # of the search for the shift of neutral
SHIFTS = (-6.0, 3.0)


@dataclass(frozen=True)
class Rule:
    title: str
    shrink: float | None = PRIOR_UTTERANCES  # utterances that count as much as the prior; None moves nothing
    weighs: bool = True  # utterances count as much as they are probably neutral
    causal: bool = True  # what follows is unknown

    def __call__(self, logs: np.ndarray, prior: np.ndarray, plain: np.ndarray) -> np.ndarray:
        """[n,labels] of a speaker in order, log probabilities -> [n,labels]. prior [labels], plain bool [labels]"""
        if self.shrink is None:
            return logs
        weight = np.exp(logs[:, plain]).sum(1, keepdims=True) if self.weighs else np.ones((len(logs), 1))
        moved, total = np.cumsum(weight * (logs - prior), 0), np.cumsum(weight, 0)
        if not self.causal:
            moved, total = moved[-1], total[-1]
        return logs - moved / (total + self.shrink)


NOTHING = Rule("nothing, as `dominant_emotion`", shrink=None)
SHIPPED = Rule("mean of what is probably neutral, 2 utterances as the prior")


def logs_of(probabilities: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(MIN_PROBABILITY, probabilities))


@dataclass(frozen=True)
class Fitting:
    """What the prior is fitted on."""

    labels: tuple[str, ...]
    neutral: np.ndarray  # [labels], mean log probabilities of neutral speech
    ordinary: list[np.ndarray]  # [n,labels] log probabilities of each speaker

    @property
    def plain(self) -> np.ndarray:
        return np.isin(self.labels, PLAIN)

    def prior(self, shift: float) -> np.ndarray:
        return logs_of(softmax(self.neutral + shift * self.plain))

    def emotional(self, rule: Rule, shift: float) -> np.ndarray:
        """bool [n] of ordinary utterances after the first of a speaker: not called neutral"""
        found = [rule(logs, self.prior(shift), self.plain)[FIRST:].argmax(1) for logs in self.ordinary]
        return ~self.plain[np.concatenate(found)]

    def shift_of(self, rule: Rule) -> float:
        if rule.shrink is None:
            return 0
        wanted, (low, high) = self.emotional(NOTHING, 0).mean(), SHIFTS
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if self.emotional(rule, middle).mean() > wanted else (low, middle)
        return high


def by_speaker(found: Recordings, clips: list[Clip], corpora: tuple[str, ...]) -> list[np.ndarray]:
    """Rows of each speaker of the corpora"""
    names = np.array([f"{clips[i].corpus}/{clips[i].speaker}" if clips[i].corpus in corpora else "" for i in found.clips])
    return [np.flatnonzero(names == name) for name in np.unique(names) if name]


def fitting_of(acted: Recordings, ordinary: Recordings, clips: list[Clip], recipe: Recipe) -> Fitting:
    """Both of heads that lack the corpora."""
    corpora = np.array([clips[i].corpus for i in acted.clips])
    neutral = np.array([clips[i].emotion == "neutral" for i in acted.clips])
    logs = logs_of(acted.probabilities)
    means = [logs[neutral & (corpora == name)].mean(0) for name in recipe.emotion if (neutral & (corpora == name)).any()]
    calm = logs_of(ordinary.probabilities)
    return Fitting(recipe.labels, np.mean(means, 0), [calm[rows] for rows in by_speaker(ordinary, clips, (recipe.clarity,))])


def fit(acted: Recordings, ordinary: Recordings, clips: list[Clip], recipe: Recipe) -> dict:
    """Params of the manifest"""
    fitting = fitting_of(acted, ordinary, clips, recipe)
    prior = fitting.prior(fitting.shift_of(SHIPPED))
    return {"prior": {name: round(float(value), 3) for name, value in zip(recipe.labels, prior)}, "priorUtterances": PRIOR_UTTERANCES}
