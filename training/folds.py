"""Leave-out figures of the training speakers: five folds by speaker inside each corpus, and each corpus left out whole.

folds.py [--write] fits linear heads on the means and deviations of the trunk's tokens in the cache. A corpus that the
trunk was tuned on is left out of the tables: the heads alone would not know it. What the trunk reached before it was
tuned on any stays beside them. --write puts the tables into docs/models.md.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import torch

import cognitive
import emotion
import heads
import record
import tokens as token_store
from corpus import EMOTIONAL, HERE, MODELS, THREADS, Clip, read_clips
from figures import Figure, figures_of
from heard import AXES, Heard
from scores import sigmoid, softmax
from tables import figure_table, replace_between

FOLDS = 5
CLARITY_DECAY = 0.1
CORPORA = [*EMOTIONAL, "TAVA", "BAVED"]
PAGE = HERE.parent / "docs" / "models.md"


def fold_of(clips) -> np.ndarray:
    """Speakers of each corpus dealt to the folds in turn."""
    numbers: dict[tuple[str, str], int] = {}
    counts: dict[str, int] = {}
    folds = np.zeros(len(clips), int)
    for clip in sorted(clips, key=lambda c: (c.corpus, c.speaker)):
        key = (clip.corpus, clip.speaker)
        if key not in numbers:
            numbers[key] = counts.get(clip.corpus, 0) % FOLDS
            counts[clip.corpus] = counts.get(clip.corpus, 0) + 1
        folds[clip.index] = numbers[key]
    return folds


def guess_in(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The likeliest of the labels that the corpus has."""
    allowed = np.unique(labels)
    return allowed[np.argmax(logits[:, allowed], 1)]


class Study:
    def __init__(self):
        self.clips, self.store = read_clips(), token_store.load()
        self.targets, self.scores = emotion.targets_of(self.clips), cognitive.targets_of(self.clips)
        owners = [self.clips[i] for i in self.store.clips]
        self.members = np.flatnonzero([not clip.held_out for clip in owners])
        self.corpus = np.array([clip.corpus for clip in owners])
        self.unknown = self.members[~np.isin(self.corpus[self.members], list(tuned_on()))]
        self.folds = fold_of(self.clips)[self.store.clips]

    def predict(self, asked: np.ndarray) -> Heard:
        """Answers on the windows `asked`, from heads fitted on all others."""
        known = np.setdiff1d(self.members, asked)
        useful = np.intersect1d(known, emotion.useful(self.store, self.targets))
        fitted = emotion.fit(self.store, self.targets, useful, 0)
        if not np.isnan(self.scores[self.store.clips[asked]]).all():
            fitted.append(self.fit_clarity(known))
        rated = known[self.corpus[known] == "TAVA"]
        return self.on_the_line(self.hear(asked, fitted), self.hear(rated, fitted))

    def fit_clarity(self, known: np.ndarray) -> heads.LinearHead:
        scored = known[~np.isnan(self.scores[self.store.clips[known]])]
        spread = float(np.nanstd(self.scores))

        def loss(predicted: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
            error = predicted[:, 0] - torch.from_numpy(self.scores[self.store.clips[rows]])
            return (error**2).mean() / spread**2

        return heads.fit_linear(self.store, scored, loss, [CLARITY_DECAY])

    def hear(self, windows: np.ndarray, fitted: list[heads.LinearHead]) -> Heard:
        if len(windows) == 0:
            return Heard([], np.zeros((0, 8)), np.zeros((0, 2)), np.zeros(0))
        x = torch.from_numpy(self.store.moments[windows])
        with torch.no_grad():
            values = np.concatenate([head.clip(x).numpy() for head in fitted], 1)
        rows, values = emotion.per_clip(self.store, windows, values)
        clarity = values[:, 10] if values.shape[1] > 10 else np.full(len(rows), np.nan)
        return Heard([self.clips[i] for i in rows], softmax(values[:, :8]), sigmoid(values[:, 8:10]), clarity)

    def on_the_line(self, heard: Heard, rated: Heard) -> Heard:
        """Valence and arousal with the mean and spread of those TAVA speakers that the fit saw."""
        axes = heard.axes.copy()
        for axis, name in enumerate(AXES):
            if len(rated):
                truth, guess = np.array([float(clip.row[name]) for clip in rated.clips]), rated.axes[:, axis]
                axes[:, axis] = np.clip(truth.mean() + (axes[:, axis] - guess.mean()) * truth.std() / guess.std(), 0, 1)
        return Heard(heard.clips, heard.shares, axes, heard.clarity)


def joined(parts: list[Heard]) -> Heard:
    clips: list[Clip] = [clip for part in parts for clip in part.clips]
    return Heard(clips, *(np.concatenate([getattr(part, name) for part in parts]) for name in ("shares", "axes", "clarity")))


def speakers_left_out(study: Study) -> Heard:
    parts = []
    for fold in range(FOLDS):
        parts.append(study.predict(study.unknown[study.folds[study.unknown] == fold]))
        print(f"speakers left out: fold {fold + 1} of {FOLDS}", flush=True)
    return joined(parts)


def corpora_left_out(study: Study) -> Heard:
    parts = []
    names = [name for name in CORPORA if name not in tuned_on()]
    for count, name in enumerate(names, 1):
        parts.append(study.predict(study.unknown[study.corpus[study.unknown] == name]))
        print(f"corpora left out: {name}, {count} of {len(names)}", flush=True)
    return joined(parts)


def tuned_on() -> set[str]:
    """Corpora whose training speakers the trunk has heard."""
    trunk = json.loads((MODELS / "trunk" / "manifest.json").read_text())
    return {entry["name"] for entry in trunk["training"]["data"]}


def section(folds: dict[str, dict]) -> str:
    """Tables of the frozen and of the tuned trunk, as far as they are recorded."""
    parts = []
    titles = {"frozen": "the trunk before tuning, which heard none of these sets",
              "tuned": "the shipped trunk, on what its tuning left out"}  # fmt: skip
    for trunk, words in titles.items():
        for kind in ("speakers", "corpora") if trunk in folds else ():
            figures = [Figure(**entry) for entry in folds[trunk][kind]]
            parts += [f"### {kind.capitalize()} left out: {words}", figure_table(figures)]
    return "\n\n".join(parts)


def main(options: list[str]) -> None:
    torch.set_num_threads(THREADS)
    began, study = time.time(), Study()
    speakers, corpora = figures_of(speakers_left_out(study)), figures_of(corpora_left_out(study))
    corpora = [figure for figure in corpora if figure.signal == "emotion"]
    found = {"speakers": [f.record() for f in speakers], "corpora": [f.record() for f in corpora]}
    results = record.read()
    folds = results.get("folds", {}) | {"tuned" if tuned_on() else "frozen": found}
    print(section(folds), f"{time.time() - began:.0f} s", sep="\n\n")
    if "--write" in options:
        record.save(results | {"folds": folds})
        replace_between(PAGE, "folds", section(folds))


if __name__ == "__main__":
    main(sys.argv[1:])
