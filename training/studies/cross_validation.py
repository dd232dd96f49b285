"""Leave-out metrics of the training speakers: five folds by speaker within each corpus, and each corpus left out whole.

Linear heads are fitted on the moments of the trunk's embeddings. A corpus that the trunk was tuned on is left out of
the tables, since the heads alone would not know it; metrics of the frozen trunk stay beside those of the tuned one.
"""

import json

import numpy as np
import torch

from training import settings
from training.calibration.affine import match_moments
from training.corpora.corpus import Clip
from training.corpora.index import read_clips
from training.corpora.labels import DIMENSIONS
from training.corpora.recipe import RECIPE
from training.encoder.multitask import CLARITY
from training.evaluation import results
from training.evaluation.metrics import Metric, all_metrics
from training.evaluation.predictions import Predictions, concatenate
from training.evaluation.statistics import sigmoid, softmax
from training.heads import clarity, emotion
from training.heads.attention_head import LinearHead
from training.heads.fit import fit_linear, mean_per_clip
from training.pipeline import load_embeddings, standard
from training.reporting import evaluation_page
from training.reporting.tables import metric_table

FOLDS = 5
CLARITY_DECAY = 0.1
TITLES = {"frozen": "the trunk before tuning, which heard none of these sets",
          "tuned": "the shipped trunk, on what its tuning left out"}  # fmt: skip


def assign_folds(clips: list[Clip]) -> np.ndarray:
    """[n]: speakers of each corpus dealt to the folds in turn"""
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


def tuned_on() -> set[str]:
    """Corpora whose training speakers the trunk has seen."""
    trunk = json.loads((settings.MODELS / "trunk" / "manifest.json").read_text())
    return {entry["name"] for entry in trunk["training"]["data"]}


class CrossValidation:
    def __init__(self):
        self.clips, self.store = read_clips(), load_embeddings(standard())
        self.targets, self.scores = emotion.targets_of(self.clips), clarity.targets_of(self.clips)
        owners = [self.clips[i] for i in self.store.clips]
        self.members = np.flatnonzero([not clip.held_out for clip in owners])
        self.corpus = np.array([clip.corpus for clip in owners])
        self.unknown = self.members[~np.isin(self.corpus[self.members], list(tuned_on()))]
        self.folds = assign_folds(self.clips)[self.store.clips]

    def predict(self, asked: np.ndarray) -> Predictions:
        """For the windows `asked`, by heads fitted on all others."""
        known = np.setdiff1d(self.members, asked)
        labelled = np.intersect1d(known, emotion.labelled_windows(self.store.clips, self.targets))
        heads = [emotion.fit_linear_head(self.store, self.targets, labelled)]
        if not np.isnan(self.scores[self.store.clips[asked]]).all():
            heads.append(self.fit_clarity(known))
        rated = known[self.corpus[known] == RECIPE.rated]
        return calibrate(self.apply(heads, asked), self.apply(heads, rated))

    def fit_clarity(self, known: np.ndarray) -> LinearHead:
        scored = known[~np.isnan(self.scores[self.store.clips[known]])]
        spread = float(np.nanstd(self.scores))

        def loss(predicted: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
            error = predicted[:, 0] - torch.from_numpy(self.scores[self.store.clips[rows]])
            return (error**2).mean() / spread**2

        return fit_linear(self.store, scored, loss, [CLARITY_DECAY])

    def apply(self, heads: list[LinearHead], windows: np.ndarray) -> Predictions:
        if len(windows) == 0:
            return Predictions([], np.zeros((0, 8)), np.zeros((0, 2)), np.zeros(0))
        x = torch.from_numpy(self.store.moments[windows])
        with torch.no_grad():
            values = np.concatenate([head.clip(x).numpy() for head in heads], 1)
        rows, values = mean_per_clip(self.store.clips[windows], self.store.speech_frames[windows], values)
        scores = values[:, CLARITY] if values.shape[1] > CLARITY else np.full(len(rows), np.nan)
        clips = [self.clips[i] for i in rows]
        return Predictions(clips, softmax(values[:, emotion.CATEGORIES]), sigmoid(values[:, emotion.DIMENSIONS]), scores)

    def speakers_left_out(self) -> list[Metric]:
        folds = self.folds[self.unknown]
        return all_metrics(concatenate([self.predict(self.unknown[folds == fold]) for fold in range(FOLDS)]))

    def corpora_left_out(self) -> list[Metric]:
        """Of emotion alone."""
        names = [name for name in (*RECIPE.emotion, RECIPE.rated, RECIPE.arousal) if name not in tuned_on()]
        corpus = self.corpus[self.unknown]
        metrics = all_metrics(concatenate([self.predict(self.unknown[corpus == name]) for name in names]))
        return [found for found in metrics if found.signal == "emotion"]


def calibrate(predictions: Predictions, rated: Predictions) -> Predictions:
    """Valence and arousal with the mean and spread of the rated clips that the fit used."""
    dimensions = predictions.dimensions.copy()
    for place, name in enumerate(DIMENSIONS if len(rated) else ()):
        slope, intercept = match_moments(rated.truth(name), rated.score(name))
        dimensions[:, place] = np.clip(slope * dimensions[:, place] + intercept, 0, 1)
    return Predictions(predictions.clips, predictions.probabilities, dimensions, predictions.clarity)


def section(folds: dict[str, dict]) -> str:
    """Tables of the frozen and of the tuned trunk, as far as they are recorded."""
    parts = []
    for trunk, title in TITLES.items():
        for kind in ("speakers", "corpora") if trunk in folds else ():
            metrics = [Metric(**entry) for entry in folds[trunk][kind]]
            parts += [f"### {kind.capitalize()} left out: {title}", metric_table(metrics)]
    return "\n\n".join(parts)


def run(write: bool) -> None:
    study = CrossValidation()
    speakers, corpora = study.speakers_left_out(), study.corpora_left_out()
    found = {"speakers": [m.to_json() for m in speakers], "corpora": [m.to_json() for m in corpora]}
    kept = results.read()
    folds = kept.get("folds", {}) | {"tuned" if tuned_on() else "frozen": found}
    print(section(folds))
    if write:
        results.save(kept | {"folds": folds})
        evaluation_page.write_folds(section(folds))
