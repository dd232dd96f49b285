"""Leave-out metrics of the training speakers: five folds by speaker within each corpus, and each corpus left out whole.

Linear heads are fitted on the moments of the trunk's embeddings. Corpora that the trunk was fine-tuned on are not in the
tables, since leaving them out of the heads alone is no test; metrics of the frozen trunk stay beside those of the fine-tuned one.
"""

import json

import numpy as np
import torch
from scipy.special import softmax

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
from training.evaluation.statistics import sigmoid
from training.heads import clarity, emotion
from training.heads.attention_head import LinearHead
from training.heads.fit import fit_linear, mean_per_clip
from training.pipeline import load_embeddings, standard
from training.reporting.evaluation_page import MODELS_PAGE
from training.reporting.tables import metric_table, replace_between

FOLDS = 5
CLARITY_DECAY = 0.1
TITLES = {"frozen": "the trunk before fine-tuning", "finetuned": "the shipped trunk, on corpora that fine-tuning left out"}


def assign_folds(clips: list[Clip]) -> np.ndarray:
    """[n]: speakers of each corpus dealt to the folds in turn"""
    speakers: dict[str, list[str]] = {}
    folds = np.zeros(len(clips), int)
    for clip in sorted(clips, key=lambda c: (c.corpus, c.speaker)):
        known = speakers.setdefault(clip.corpus, [])
        if clip.speaker not in known:
            known.append(clip.speaker)
        folds[clip.index] = known.index(clip.speaker) % FOLDS
    return folds


class CrossValidation:
    def __init__(self):
        self.clips, self.store = read_clips(), load_embeddings(standard())
        self.targets, self.scores = emotion.targets_of(self.clips), clarity.targets_of(self.clips)
        owners = [self.clips[i] for i in self.store.clips]
        trunk = json.loads((settings.MODELS / "trunk" / "manifest.json").read_text())
        self.finetuned_on = {entry["name"] for entry in trunk["training"]["data"]}
        self.corpus = np.array([clip.corpus for clip in owners])
        self.members = np.flatnonzero([not clip.held_out for clip in owners])
        self.unknown = self.members[~np.isin(self.corpus[self.members], list(self.finetuned_on))]
        self.folds = assign_folds(self.clips)[self.store.clips]

    def predict(self, tested: np.ndarray) -> Predictions:
        """For the windows `tested`, by heads fitted on all others. Valence and arousal are calibrated on rated clips of the fit."""
        known = np.setdiff1d(self.members, tested)
        labelled = np.intersect1d(known, emotion.labelled_windows(self.store.clips, self.targets))
        heads = [emotion.fit_linear_head(self.store, self.targets, labelled)]
        if not np.isnan(self.scores[self.store.clips[tested]]).all():
            heads.append(self.fit_clarity(known))
        predictions, rated = self.apply(heads, tested), self.apply(heads, known[self.corpus[known] == RECIPE.rated])
        for place, name in enumerate(DIMENSIONS if len(rated) else ()):
            slope, intercept = match_moments(rated.truth(name), rated.score(name))
            predictions.dimensions[:, place] = np.clip(slope * predictions.dimensions[:, place] + intercept, 0, 1)
        return predictions

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
        return Predictions(clips, softmax(values[:, emotion.CATEGORIES], 1), sigmoid(values[:, emotion.DIMENSIONS]), scores)

    def measure(self) -> dict[str, list[dict]]:
        """Metrics of speakers left out, and of corpora left out (emotion alone)."""
        folds, corpus = self.folds[self.unknown], self.corpus[self.unknown]
        names = [name for name in (*RECIPE.emotion, RECIPE.rated, RECIPE.arousal) if name not in self.finetuned_on]
        speakers = all_metrics(concatenate([self.predict(self.unknown[folds == fold]) for fold in range(FOLDS)]))
        corpora = all_metrics(concatenate([self.predict(self.unknown[corpus == name]) for name in names]))
        return {"speakers": results.to_json(speakers), "corpora": results.to_json([m for m in corpora if m.signal == "emotion"])}


def section(found: dict[str, dict]) -> str:
    """Tables of the frozen and of the fine-tuned trunk, as far as they are recorded."""
    parts = []
    for trunk, title in TITLES.items():
        for kind in ("speakers", "corpora") if trunk in found else ():
            parts += [f"### {kind.capitalize()} left out: {title}", metric_table([Metric(**entry) for entry in found[trunk][kind]])]
    return "\n\n".join(parts)


def run(write: bool) -> None:
    study, kept = CrossValidation(), results.read()
    found = kept.get("cross_validation", {}) | {"finetuned" if study.finetuned_on else "frozen": study.measure()}
    print(section(found))
    if write:
        results.save(kept | {"cross_validation": found})
        replace_between(MODELS_PAGE, "cross-validation", section(found))
