"""Errors by label, duration and signal-to-noise ratio, and the recordings with the largest ones."""

from collections import Counter

import numpy as np

from training.corpora.corpus import EMOTIONS
from training.corpora.recipe import RECIPE
from training.corpora.registry import is_strong
from training.evaluation.predictions import SCORES, Predictions, Reports, corpus_of
from training.evaluation.statistics import accuracy, uar
from training.reporting.tables import table

WORST, WORST_SCORES = 12, 4  # rows shown: of emotions, of each score


def facts(predictions: Predictions, row: int) -> list[str]:
    clip, audio = predictions.clips[row], predictions.audio[row]
    snr = "none" if audio["snr_db"] is None else f"{audio['snr_db']:.0f}"
    return [clip.path, clip.sex, f"{audio['speech_s']:.1f}", snr]


def confident_errors(acted: Predictions) -> str:
    truth, predicted, top = acted.labels, acted.probabilities.argmax(1), acted.probabilities.max(1)
    wrong = np.flatnonzero(truth != predicted)
    rows = [[*facts(acted, i), EMOTIONS[truth[i]], EMOTIONS[predicted[i]], f"{top[i]:.2f}"] for i in wrong[np.argsort(-top[wrong])][:WORST]]
    return table(["recording", "sex", "speech, s", "SNR, dB", "label", "predicted", "confidence"], rows)


def confusions(acted: Predictions) -> list[tuple[str, str, int, int]]:
    """(label, predicted label, count, clips of the label), the most frequent first."""
    truth, predicted = acted.labels.tolist(), acted.best_in_corpus().tolist()
    totals, pairs = Counter(truth), Counter((t, p) for t, p in zip(truth, predicted) if t != p)
    return [(EMOTIONS[t], EMOTIONS[p], count, totals[t]) for (t, p), count in pairs.most_common()]


def confusion_table(acted: Predictions) -> str:
    by_corpus = {name: confusions(acted.of(name))[:2] for name in RECIPE.emotion}
    rows = [[name, label, predicted, f"{count} of {total}"] for name, pairs in by_corpus.items() for label, predicted, count, total in pairs]
    return table(["corpus", "label", "predicted", "recordings"], rows)


def sentences(clean: Reports) -> dict[str, list[str]]:
    """Signal -> the main failures, for the model cards."""
    predictions = clean.predictions()
    emotion = []
    for name in RECIPE.emotion:
        if pairs := confusions(predictions.of(name)):
            label, predicted, count, total = pairs[0]
            emotion.append(f"{name}: {count} of {total} {label} recordings were classified as {predicted}.")
    scored = predictions.of(RECIPE.clarity)
    truth = scored.truth("clarity")
    low = truth <= np.quantile(truth, 0.1)
    vad = []
    for name in RECIPE.labelled:
        if (reports := clean.of(name)).clips and (~reports.has_scores()).mean() > 0.02:
            vad.append(f"Too little speech was found in {(~reports.has_scores()).sum()} of {len(reports.clips)} speech recordings of {name}.")
    error = np.mean(scored.clarity[low] - truth[low])
    return {
        "emotion": emotion,
        "cognitive": [f"Mean error of clarity for the tenth that experts rated lowest: {error:+.2f}."],
        "vad": vad,
    }


def split_table(acted: Predictions) -> str:
    """UAR by duration, SNR and intensity."""
    speech = np.array([audio["speech_s"] for audio in acted.audio])
    snr = np.array([np.nan if audio["snr_db"] is None else audio["snr_db"] for audio in acted.audio])
    strong = np.array([is_strong(clip) for clip in acted.clips])
    ravdess = np.array([clip.corpus == "RAVDESS" for clip in acted.clips])
    truth, predicted = acted.labels, acted.best_in_corpus()
    groups = {
        "under 1.5 s of speech": speech < 1.5,
        "1.5 to 3 s": (speech >= 1.5) & (speech < 3),
        "3 s and more": speech >= 3,
        "SNR under 20 dB": snr < 20,
        "SNR 20 dB and more": snr >= 20,
        "RAVDESS, normal intensity": ravdess & ~strong,
        "RAVDESS, strong intensity": ravdess & strong,
    }
    lines = [[name, f"{uar(truth[mask], predicted[mask]):.3f}", f"{accuracy(truth[mask], predicted[mask]):.3f}", str(mask.sum())]
             for name, mask in groups.items() if mask.sum() >= 10]  # fmt: skip
    return table(["recordings", "UAR", "accuracy", "count"], lines)


def largest_errors(predictions: Predictions) -> str:
    lines = []
    for name in SCORES:
        rated = predictions.of(corpus_of(name))
        truth, predicted = rated.truth(name), rated.score(name)
        for i in np.argsort(-np.abs(truth - predicted))[:WORST_SCORES]:
            clip = rated.clips[i]
            what = f"age {clip.age}" if name == "clarity" else clip.label
            lines.append([name, *facts(rated, i), what, f"{truth[i]:.2f}", f"{predicted[i]:.2f}"])
    return table(["score", "recording", "sex", "speech, s", "SNR, dB", "of", "rated", "predicted"], lines)


def undetected_speech(clean: Reports) -> str:
    silent = [clip for clip, ok in zip(clean.clips, clean.has_scores()) if not ok and clip.definition.is_speech]
    counts = Counter((clip.corpus, clip.language) for clip in silent)
    lines = [[name, language, str(count)] for (name, language), count in counts.most_common()]
    return table(["corpus", "language", "speech recordings without enough speech found"], lines or [["none", "", "0"]])


def section(clean: Reports) -> str:
    """Markdown for docs/results/evaluation.md."""
    predictions = clean.predictions()
    acted = predictions.of(*RECIPE.emotion)
    parts = [
        "Most confident errors:", confident_errors(acted),
        "Most frequent confusions:", confusion_table(acted),
        "By duration, SNR and intensity:", split_table(acted),
        "Largest errors of scores:", largest_errors(predictions),
        "Speech that was not detected:", undetected_speech(clean),
    ]  # fmt: skip
    return "\n\n".join(parts)
