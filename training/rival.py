"""The hand-made rival: openSMILE eGeMAPSv02 functionals, logistic and ridge regression, the training speakers' labels.

Targets, weights of the corpora and the final line of valence and arousal are those of the shipped heads.
"""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler

import egemaps
import emotion
from corpus import EMOTIONS, Clip, read_clips
from figures import CLARITY, judged
from heard import Heard

PENALTY = {"categories": 0.1, "axes": 30.0, "clarity": 30.0}


class Rival:
    def __init__(self, values: dict[str, np.ndarray]):
        clips = read_clips()
        self.values = values
        known = [clip for clip in clips if not clip.held_out and clip.path in values]
        self.scaler = StandardScaler().fit(self.stack(known))
        targets = emotion.targets_of(clips)
        thinned = [clip.index for clip in known if clip.corpus == "TESS"]
        for weight in (targets.class_weight, targets.axes_weight):
            weight[thinned] *= egemaps.TESS_SHARE
        self.fit(known, targets)

    def stack(self, clips: list[Clip]) -> np.ndarray:
        return np.nan_to_num(np.stack([self.values[clip.path] for clip in clips]))

    def features(self, clips: list[Clip]) -> np.ndarray:
        return np.clip(self.scaler.transform(self.stack(clips)), -5, 5)

    def fit(self, known: list[Clip], targets: emotion.Targets) -> None:
        labelled = [clip for clip in known if targets.label[clip.index] >= 0]
        rows = [clip.index for clip in labelled]
        self.categories = LogisticRegression(C=PENALTY["categories"], max_iter=300)
        self.categories.fit(self.features(labelled), targets.label[rows], targets.class_weight[rows])
        self.axes = [self.fit_axis(known, targets, axis) for axis in range(2)]
        scored = [clip for clip in known if clip.corpus == CLARITY]
        truth = [judged(clip, "mean") for clip in scored]
        self.clarity = Ridge(PENALTY["clarity"]).fit(self.features(scored), truth)

    def fit_axis(self, known: list[Clip], targets: emotion.Targets, axis: int) -> tuple[Ridge, np.ndarray]:
        """A ridge over every target, and its line on TAVA's training speakers."""
        part = [clip for clip in known if targets.axes_weight[clip.index, axis] > 0]
        rows = [clip.index for clip in part]
        ridge = Ridge(PENALTY["axes"])
        ridge.fit(self.features(part), targets.axes[rows, axis], targets.axes_weight[rows, axis])
        rated = [clip for clip in known if clip.corpus == "TAVA"]
        guess = ridge.predict(self.features(rated))
        return ridge, np.polyfit(guess, targets.axes[[clip.index for clip in rated], axis], 1)

    def hear(self, clips: list[Clip]) -> Heard:
        x = self.features(clips)
        shares = np.zeros((len(clips), len(EMOTIONS)))
        shares[:, self.categories.classes_] = self.categories.predict_proba(x)
        axes = np.stack([np.clip(np.polyval(line, ridge.predict(x)), 0, 1) for ridge, line in self.axes], 1)
        return Heard(clips, shares, axes, self.clarity.predict(x))


def hear(clips: list[Clip]) -> Heard:
    """The rival's answers on those of the clips that have functionals."""
    values = egemaps.load()
    rival = Rival(values)
    return rival.hear([clip for clip in clips if clip.path in values])
