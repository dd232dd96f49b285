"""What linear classifiers read out of the mean embedding of a recording: a table in docs/adapt.md."""

import numpy as np
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, StratifiedKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from training import settings
from training.corpora.corpus import Clip
from training.corpora.registry import read_clips
from training.encoder import embeddings
from training.evaluation import results
from training.evaluation.statistics import uar
from training.heads.fit import mean_per_clip
from training.reporting.tables import replace_between, table

PAGE = settings.PAGES / "adapt.md"
FRAMES_PER_EMBEDDING = 2
FOLDS = 5
DECAY = 0.01  # C of the logistic regression: little data per dimension


def load() -> tuple[list[Clip], np.ndarray]:
    """-> clips, mean embeddings [n,width]"""
    store = embeddings.load(settings.weights("trunk"), FRAMES_PER_EMBEDDING, None)
    clips = read_clips()
    rows, means = mean_per_clip(store.clips, store.speech_frames, store.moments[:, : store.width])
    return [clips[i] for i in rows], means


def classify(x: np.ndarray, truth: np.ndarray, groups: np.ndarray | None) -> np.ndarray:
    """Predictions for each fold by what was fitted on the others. `groups`: none is in two folds."""
    model = make_pipeline(StandardScaler(), LogisticRegression(C=DECAY, max_iter=300))
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=settings.SEED) if groups is None else GroupKFold(FOLDS)
    return cross_val_predict(model, x, truth, groups=groups, cv=folds)


def run() -> None:
    clips, means = load()
    corpus = np.array([clip.corpus for clip in clips])
    speaker = np.array([f"{clip.corpus} {clip.speaker}" for clip in clips])
    rows = []

    def add(what: str, kept: np.ndarray, truth: np.ndarray, others: str, groups: np.ndarray | None) -> None:
        predicted = classify(means[kept], truth, groups)
        index = {value: place for place, value in enumerate(np.unique(truth))}
        numbers = np.array([[index[value] for value in values] for values in (truth, predicted)])
        rows.append([what, others, int(kept.sum()), f"{1 / len(index):.3f}", f"{uar(*numbers):.3f}"])

    for name in ("CREMA-D", "speechocean762", "RAVDESS"):
        kept = corpus == name
        add(f"who of the {len(np.unique(speaker[kept]))} speakers of {name}", kept, speaker[kept], "other recordings of the speakers", None)
    cremad = corpus == "CREMA-D"
    sentences = np.array([clip.extra.get("stmt", "") for clip in clips])
    add("which of 12 sentences (CREMA-D)", cremad, sentences[cremad], "other speakers", speaker[cremad])
    add("sex (CREMA-D)", cremad, np.array([clip.sex for clip in clips])[cremad], "other speakers", speaker[cremad])
    spoken = np.array([clip.language != "none" and clip.emotion is not None for clip in clips])
    languages = np.array([clip.language for clip in clips])[spoken]
    add(f"which of {len(set(languages))} languages (acted corpora, one to four per language)", spoken, languages, "other speakers", speaker[spoken])
    ages = np.array([clip.age or 0 for clip in clips], float)
    known = cremad & (ages > 0)
    model = make_pipeline(StandardScaler(), Ridge(100.0))
    predicted = cross_val_predict(model, means[known], ages[known], groups=speaker[known], cv=GroupKFold(FOLDS))
    per_speaker = [(ages[known][speaker[known] == name].mean(), predicted[speaker[known] == name].mean()) for name in np.unique(speaker[known])]
    error = np.abs(np.subtract(*np.array(per_speaker).T)).mean()
    spread = np.abs(np.array(per_speaker)[:, 0] - np.median(np.array(per_speaker)[:, 0])).mean()
    text = f"{results.describe_sources({settings.RECIPE: results.source_of(settings.MODELS)})}\n\n"
    text += table(["read out", "tested on", "recordings", "mean recall by chance", "mean recall"], rows)
    text += f"\n\nAge (CREMA-D, {ages[known].min():.0f} to {ages[known].max():.0f} years): mean error {error:.1f} years of a speaker that is new, "
    text += f"{spread:.1f} for the median age."
    print(text)
    replace_between(PAGE, "disclosure", text)
