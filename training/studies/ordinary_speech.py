"""Ways to train the emotion head on speech that nobody acted, compared on the dev part: results/ordinary_speech.json.

Linear heads on the moments of the calibration trunk's embeddings, all fitted alike on the train part. That trunk was
fine-tuned with ordinary speech. Differences come with a 95 % interval of a paired bootstrap over speakers.
"""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import torch
from scipy.special import softmax
from torch.nn import functional as F

from training import settings
from training.calibration.affine import fit_low_confidence, fit_temperature, weights_of
from training.corpora.corpus import ORDINARY_WEIGHT, Part
from training.corpora.index import read_clips
from training.corpora.labels import NEGATIVE
from training.corpora.recipe import RECIPE
from training.encoder.embeddings import EmbeddingStore
from training.evaluation.statistics import Score, accuracy, best_present, ccc, paired_interval, uar
from training.heads import emotion
from training.heads.attention_head import LinearHead
from training.heads.fit import Heads, mean_per_clip, predict
from training.pipeline import calibration_set, load_embeddings
from training.reporting.tables import study_table

DOMAINS = 3  # directions that separate ordinary from acted speech and are projected out


class Study:
    """Heads fitted on the train part of a store whose trunk has weights of that part alone, and measured on the dev part."""

    def __init__(self, store: EmbeddingStore) -> None:
        self.clips, self.store = read_clips(), store
        self.targets = emotion.targets_of(self.clips)
        owners = [self.clips[i] for i in self.store.clips]
        self.corpus = np.array([clip.corpus for clip in owners])
        self.part = np.array([clip.part for clip in owners])
        self.ordinary = np.array([clip.definition.ordinary for clip in owners])
        self.labelled = np.zeros(len(owners), bool)
        self.labelled[emotion.labelled_windows(self.store.clips, self.targets)] = True

    def training(self, ordinary: bool) -> np.ndarray:
        return np.flatnonzero(self.labelled & (self.part == Part.TRAIN) & (ordinary | ~self.ordinary))

    def fit(self, targets: emotion.Targets, windows: np.ndarray) -> LinearHead:
        return emotion.fit_linear_head(self.store, targets, windows)

    def weighted(self, weight: float) -> emotion.Targets:
        """`weight` times the recipe's weight of ordinary speech."""
        factor = np.where([clip.definition.ordinary for clip in self.clips], weight, 1).astype(np.float32)
        return replace(self.targets, label_weight=self.targets.label_weight * factor)

    def acted_only(self) -> LinearHead:
        return self.fit(self.targets, self.training(False))

    def pseudo_labels(self) -> LinearHead:
        """Ordinary speech has the distribution that a head fitted on the votes of CREMA-D's listeners predicts for it."""
        voted = np.intersect1d(self.training(False), np.flatnonzero(self.corpus == "CREMA-D"))
        values = self.values([self.fit(self.targets, voted)], np.flatnonzero(self.ordinary))
        distribution = self.targets.distribution.copy()
        distribution[values[0]] = softmax(values[1][:, emotion.CATEGORIES], 1)
        return self.fit(replace(self.targets, distribution=distribution), self.training(True))

    def domain_projection(self) -> LinearHead:
        """Weakly neutral, on moments without the directions that separate ordinary from acted speech (INLP: Ravfogel et al. 2020)."""
        windows, moments = self.training(True), self.store.moments
        centre, scale = moments[windows].mean(0), moments[windows].std(0) + 1e-4
        kept = np.eye(moments.shape[1])
        for _ in range(DOMAINS):
            x = torch.from_numpy(((moments[windows] - centre) / scale @ kept).astype(np.float32))
            truth = torch.from_numpy(self.ordinary[windows].astype(np.float32))
            balance = torch.where(truth > 0, 1 / truth.mean(), 1 / (1 - truth.mean()))
            weight = torch.zeros(x.shape[1], requires_grad=True)
            optimizer = torch.optim.LBFGS([weight], max_iter=50, line_search_fn="strong_wolfe")

            def cost() -> torch.Tensor:
                optimizer.zero_grad()
                loss = F.binary_cross_entropy_with_logits(x @ weight, truth, balance) + 0.01 * (weight**2).sum()
                loss.backward()
                return loss

            optimizer.step(cost)
            direction = kept @ weight.detach().numpy()
            direction /= np.linalg.norm(direction)
            kept = kept - np.outer(direction, direction) @ kept
        projected = ((moments - centre) / scale @ kept).astype(np.float32)
        store = replace(self.store, moments=projected, augmented=None)
        head = emotion.fit_linear_head(store, self.targets, windows)
        matrix = (kept / scale[:, None]).astype(np.float32)
        weight = head.clip.weight.detach().numpy() @ matrix.T
        return LinearHead(weight, head.clip.bias.detach().numpy() - weight @ centre)

    def group_robust(self) -> LinearHead:
        """Weakly neutral; corpora of higher loss gain weight."""
        windows, names = self.training(True), np.array([clip.corpus for clip in self.clips])
        return self.fit(emotion.group_robust(self.store, self.targets, windows, names), windows)

    def values(self, heads: Heads, windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> clip indices [m], outputs [m,10]"""
        return mean_per_clip(self.store.clips[windows], self.store.speech_frames[windows], predict(heads, self.store, windows))

    def measure(self, heads: Heads) -> dict[str, tuple[Score, np.ndarray, np.ndarray, np.ndarray]]:
        """Metric -> score, truth, prediction and speaker of each clip of the dev part."""
        rows, values = self.values(heads, np.flatnonzero(self.part == Part.CALIBRATION))
        known = self.targets.label[rows] >= 0
        logits, label = values[known][:, emotion.CATEGORIES], self.targets.label[rows[known]]
        weight = weights_of(np.array([self.clips[i].corpus for i in rows[known]]))
        distribution, beyond = self.targets.distribution[rows[known]], np.zeros(len(label))
        temperature, _ = fit_temperature(logits, distribution, beyond, weight)
        low = fit_low_confidence(softmax(logits / temperature, 1), label, weight)
        rows, values = self.values(heads, np.flatnonzero(self.part == Part.DEV))
        names = np.array([self.clips[i].corpus for i in rows])
        speakers = np.array([f"{self.clips[i].corpus} {self.clips[i].speaker}" for i in rows])
        logits, label = values[:, emotion.CATEGORIES], self.targets.label[rows]
        p, best = softmax(logits / temperature, 1), best_present(logits, label, names)
        found = {}
        for name in RECIPE.emotion:
            part = (names == name) & (label >= 0)
            if part.any():
                found[f"{name} UAR"] = uar, label[part], best[part], speakers[part]
        part = names == "CREMA-D"
        found["CREMA-D neutral share CCC"] = ccc, self.targets.distribution[rows[part], 0], p[part, 0], speakers[part]
        for name in (*RECIPE.ordinary, RECIPE.clarity):
            part = names == name
            unwarned = np.isin(p[part].argmax(1), NEGATIVE) & (p[part].max(1) >= low)
            found[f"{name} unwarned negative"] = accuracy, np.ones(part.sum()), unwarned.astype(float), speakers[part]
            answered = p[part].max(1) >= low
            found[f"{name} answered"] = accuracy, np.ones(part.sum()), answered.astype(float), speakers[part]
        return found

    def compare(self, systems: dict[str, Callable[[], Heads]]) -> dict[str, dict[str, dict]]:
        """System -> metric -> value and 95 % interval of its difference from the first system."""
        found, first = {}, {}
        for title, fit in systems.items():
            measured = self.measure(fit())
            first = first or measured
            found[title] = {
                name: {"value": round(score(truth, predicted), 3),
                       "difference": paired_interval(score, truth, predicted, first[name][2], speakers)}
                for name, (score, truth, predicted, speakers) in measured.items()
            }  # fmt: skip
            print(title, {name: one["value"] for name, one in found[title].items()}, flush=True)
        return found


def run() -> None:
    study = Study(load_embeddings(calibration_set()))
    found = study.compare({
        "acted corpora and votes": lambda: [study.acted_only()],
        "+ weakly neutral ordinary speech": lambda: [study.fit(study.targets, study.training(True))],
        "weight 1 instead of .3": lambda: [study.fit(study.weighted(1 / ORDINARY_WEIGHT), study.training(True))],
        "distributions of a head on votes": lambda: [study.pseudo_labels()],
        "domain directions removed": lambda: [study.domain_projection()],
        "group-robust": lambda: [study.group_robust()],
    })  # fmt: skip
    print(study_table(found))
    (settings.results_folder() / "ordinary_speech.json").write_text(json.dumps(found, indent=1) + "\n")
