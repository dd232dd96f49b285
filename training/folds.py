"""Leave-out figures: five folds by speaker inside each corpus, and each emotional corpus left out whole."""

from __future__ import annotations

import sys
import time

import numpy as np
import torch

import cognitive
import emotion
import tokens as token_store
from corpus import EMOTIONAL, read_clips
from heads import predict
from scores import ccc, interval, pcc, uar

FOLDS = 5


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


def say(name: str, kind: str, score, truth, guess, speakers) -> None:
    low, high = interval(score, truth, guess, speakers)
    print(f"{name:34} {kind} {score(truth, guess):.3f} [{low:.3f}, {high:.3f}]", flush=True)


def say_emotion(name: str, clips, rows, values, targets, chosen) -> None:
    picked = np.flatnonzero([clips[i].corpus == chosen and targets.label[i] >= 0 for i in rows])
    if len(picked) == 0:
        return
    labels, speakers = targets.label[rows[picked]], np.array([clips[i].speaker for i in rows[picked]])
    say(name, "UAR", uar, labels, guess_in(values[picked], labels), speakers)
    say(name + ", all eight open", "UAR", uar, labels, values[picked][:, :8].argmax(1), speakers)


def say_axes(clips, rows, values, targets, name: str) -> None:
    picked = np.flatnonzero([clips[i].corpus == "TAVA" for i in rows])
    speakers = np.array([clips[i].speaker for i in rows[picked]])
    for axis, word in enumerate(("valence", "arousal")):
        guess = 1 / (1 + np.exp(-values[picked, 8 + axis]))
        say(f"TAVA {word}, {name}", "CCC", ccc, targets.axes[rows[picked], axis], guess, speakers)
    picked = np.flatnonzero([clips[i].corpus == "BAVED" for i in rows])
    guess = 1 / (1 + np.exp(-values[picked, 9]))
    speakers = np.array([clips[i].speaker for i in rows[picked]])
    say(f"BAVED activation, {name}", "PCC", pcc, targets.axes[rows[picked], 1], guess, speakers)


def emotion_folds(store, clips, targets, options) -> None:
    members, folds = emotion.useful(store, targets), fold_of(clips)
    parts = []
    for fold in range(FOLDS):
        test = folds[store.clips[members]] == fold
        trained = emotion.fit(store, targets, members[~test], **options)
        parts.append(emotion.per_clip(store, members[test], predict(trained, store, members[test])))
    rows, values = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    for name in EMOTIONAL:
        say_emotion(f"{name}, speakers left out", clips, rows, values, targets, name)
    say_axes(clips, rows, values, targets, "speakers left out")


def corpus_folds(store, clips, targets, options, names) -> None:
    members = emotion.useful(store, targets)
    owners = np.array([clips[i].corpus for i in store.clips[members]])
    for name in names:
        test = owners == name
        trained = emotion.fit(store, targets, members[~test], **options)
        rows, values = emotion.per_clip(store, members[test], predict(trained, store, members[test]))
        say_emotion(f"{name}, corpus left out", clips, rows, values, targets, name)


def clarity_folds(store, clips, options) -> None:
    targets, folds = cognitive.targets_of(clips), fold_of(clips)
    members = np.flatnonzero(~np.isnan(targets[store.clips]))
    parts = []
    for fold in range(FOLDS):
        test = folds[store.clips[members]] == fold
        trained = cognitive.fit(store, targets, members[~test], **options)
        parts.append(emotion.per_clip(store, members[test], predict(trained, store, members[test])))
    rows, values = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])[:, 0]
    speakers = np.array([clips[i].speaker for i in rows])
    for column in ("fluency", "prosody"):
        truth = np.array([float(clips[i].row[column]) for i in rows])
        say(f"speechocean762 {column}, speakers left out", "PCC", pcc, truth, values, speakers)


def main(what: str) -> None:
    torch.set_num_threads(1)
    clips, store = read_clips(), token_store.load("corpora")
    targets = emotion.targets_of(clips)
    began = time.time()
    if what in ("all", "corpora"):
        corpus_folds(store, clips, targets, {}, EMOTIONAL)
    if what in ("all", "speakers"):
        emotion_folds(store, clips, targets, {})
    if what in ("all", "clarity"):
        clarity_folds(store, clips, {})
    print(f"{time.time() - began:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
