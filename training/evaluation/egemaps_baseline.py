"""The hand-crafted baseline: eGeMAPSv02 functionals of openSMILE, logistic and ridge regression on the training speakers.

Targets, weights of the corpora and the affine calibration of valence and arousal are those of the shipped heads.
"""

from collections import Counter

import numpy as np
import opensmile
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from training import cache, settings
from training.augment.audio import read_audio
from training.corpora.corpus import EMOTIONS, Clip
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.evaluation.predictions import Predictions
from training.evaluation.test_recordings import evenly_spaced
from training.heads import emotion
from training.settings import SAMPLE_RATE

PENALTY = {"categories": 0.1, "dimensions": 30.0, "clarity": 30.0}
MAX_DEVIATIONS = 5  # standardised features are clipped to it
SAVE_EVERY = 500  # recordings
MAX_TRAINED = 300  # clips of a corpus, weighing as much as all of them


def trained_clips(clips: list[Clip]) -> dict[str, list[Clip]]:
    """Corpus -> clips that the baseline is fitted on."""
    by_corpus = {name: [clip for clip in clips if clip.corpus == name and clip.refitted] for name in RECIPE.labelled}
    return {name: evenly_spaced(own, MAX_TRAINED) for name, own in by_corpus.items()}


def extract_functionals() -> dict[str, np.ndarray]:
    """Path of a clip -> 88 functionals. The cache is keyed by the content of each recording; an interrupted call continues."""
    path, values = settings.CACHE / "egemaps.npz", {}
    if path.exists():
        with np.load(path) as archive:
            values = dict(zip(archive["keys"].tolist(), archive["values"]))
    clips = read_clips()
    chosen = [clip for clip in clips if clip.corpus in RECIPE.labelled and clip.tested] + sum(trained_clips(clips).values(), [])
    keys = {clip.path: cache.file_hash(settings.DATA / clip.path) for clip in chosen}
    missing = [name for name, key in keys.items() if key not in values]
    smile = opensmile.Smile(opensmile.FeatureSet.eGeMAPSv02, opensmile.FeatureLevel.Functionals)
    for count, name in enumerate(tqdm(missing, "eGeMAPS", mininterval=10), 1):
        samples = read_audio(settings.DATA / name).astype(np.float32)
        values[keys[name]] = smile.process_signal(samples, SAMPLE_RATE).to_numpy(np.float32)[0]
        if count % SAVE_EVERY == 0 or count == len(missing):
            partial = path.with_suffix(".part.npz")
            np.savez(partial, keys=np.array(list(values)), values=np.stack(list(values.values())))
            partial.replace(path)
    return {name: values[key] for name, key in keys.items()}


class EgemapsBaseline:
    def __init__(self, values: dict[str, np.ndarray]):
        """values: path of a clip -> functionals"""
        clips = read_clips()
        self.values = values
        counts = Counter(clip.corpus for clip in clips if clip.refitted)
        by_corpus = trained_clips(clips)
        known = sum(by_corpus.values(), [])
        self.scaler = StandardScaler().fit(self.stack(known))
        targets = emotion.targets_of(clips)
        for clip in known:
            targets.label_weight[clip.index] *= counts[clip.corpus] / len(by_corpus[clip.corpus])
            targets.dimensions_weight[clip.index] *= counts[clip.corpus] / len(by_corpus[clip.corpus])
        labelled = [clip for clip in known if clip.emotion]
        indices = [clip.index for clip in labelled]
        self.categories = LogisticRegression(C=PENALTY["categories"], max_iter=300)
        self.categories.fit(self.features(labelled), targets.label[indices], targets.label_weight[indices])
        self.dimensions = [self.fit_dimension(known, targets, place) for place in range(2)]
        scored = [clip for clip in known if clip.clarity is not None]
        self.clarity = Ridge(PENALTY["clarity"]).fit(self.features(scored), [clip.clarity for clip in scored])

    def stack(self, clips: list[Clip]) -> np.ndarray:
        return np.nan_to_num(np.stack([self.values[clip.path] for clip in clips]))

    def features(self, clips: list[Clip]) -> np.ndarray:
        return np.clip(self.scaler.transform(self.stack(clips)), -MAX_DEVIATIONS, MAX_DEVIATIONS)

    def fit_dimension(self, known: list[Clip], targets: emotion.Targets, place: int) -> tuple[Ridge, np.ndarray]:
        """A ridge regression on every target, and its affine calibration on rated training speakers."""
        clips = [clip for clip in known if targets.dimensions_weight[clip.index, place] > 0]
        indices = [clip.index for clip in clips]
        ridge = Ridge(PENALTY["dimensions"])
        ridge.fit(self.features(clips), targets.dimensions[indices, place], targets.dimensions_weight[indices, place])
        rated = [clip for clip in known if clip.dimensions and clip.dimensions.rated]
        predicted = ridge.predict(self.features(rated))
        return ridge, np.polyfit(predicted, targets.dimensions[[clip.index for clip in rated], place], 1)

    def predict(self, clips: list[Clip]) -> Predictions:
        """Predictions for the clips that have functionals."""
        clips = [clip for clip in clips if clip.path in self.values]
        x = self.features(clips)
        probabilities = np.zeros((len(clips), len(EMOTIONS)))
        probabilities[:, self.categories.classes_] = self.categories.predict_proba(x)
        dimensions = np.stack([np.clip(np.polyval(affine, ridge.predict(x)), 0, 1) for ridge, affine in self.dimensions], 1)
        return Predictions(clips, probabilities, dimensions, self.clarity.predict(x))
