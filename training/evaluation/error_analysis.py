"""Where the models fail: by label, duration and signal-to-noise ratio of the clips they get most wrong."""

from collections import Counter

import numpy as np

from training.corpora.labels import EMOTIONS
from training.corpora.ravdess import is_strong
from training.corpora.recipe import RECIPE
from training.evaluation.predictions import SCORES, Predictions, Reports, corpus_of
from training.evaluation.statistics import share, uar
from training.reporting.tables import table

WORST, WORST_SCORES = 12, 4  # rows shown: of emotions, of each score


def facts(predictions: Predictions, row: int) -> list[str]:
    clip, audio = predictions.clips[row], predictions.audio[row]
    snr = "none" if audio["snr_db"] is None else f"{audio['snr_db']:.0f}"
    return [clip.path, clip.sex, f"{audio['speech_s']:.1f}", snr]


def confident_errors(acted: Predictions) -> str:
    truth, predicted, top = acted.labels, acted.probabilities.argmax(1), acted.probabilities.max(1)
    wrong = np.flatnonzero(truth != predicted)
    rows = wrong[np.argsort(-top[wrong])][:WORST]
    lines = [[*facts(acted, i), EMOTIONS[truth[i]], EMOTIONS[predicted[i]], f"{top[i]:.2f}"] for i in rows]
    return table(["recording", "sex", "speech, s", "SNR, dB", "acted", "heard", "confidence"], lines)


def confusions(acted: Predictions) -> list[tuple[int, int, int, int]]:
    """(label, predicted label, how often, clips of the label), the commonest first."""
    truth, predicted = acted.labels, acted.best_in_corpus()
    totals = Counter(truth.tolist())
    pairs = Counter((t, p) for t, p in zip(truth.tolist(), predicted.tolist()) if t != p)
    return [(t, p, count, totals[t]) for (t, p), count in pairs.most_common()]


def confusion_table(acted: Predictions) -> str:
    lines = []
    for name in RECIPE.emotion:
        for label, predicted, count, total in confusions(acted.of(name))[:2]:
            lines.append([name, EMOTIONS[label], EMOTIONS[predicted], f"{count} of {total}"])
    return table(["corpus", "acted", "heard as", "recordings"], lines)


def sentences(clean: Reports) -> dict[str, list[str]]:
    """Signal -> the failures that stand out, for the model cards."""
    found = clean.predictions()
    present = {clip.corpus for clip in found.clips}
    return {
        "emotion": [confusion_sentence(found.of(name), name) for name in RECIPE.emotion if name in present],
        "cognitive": [low_clarity_sentence(found.of(RECIPE.clarity))],
        "vad": [f"{count} of {total} speech recordings of {name} had too little speech found in them."
                     for name, count, total in unanswered(clean) if count > 0.02 * total],
    }  # fmt: skip


def confusion_sentence(acted: Predictions, name: str) -> str:
    if not (pairs := confusions(acted)):
        return f"{name}: none confused."
    label, predicted, count, total = pairs[0]
    return f"{name}: of {total} {EMOTIONS[label]} recordings {count} were heard as {EMOTIONS[predicted]}."


def low_clarity_sentence(scored: Predictions) -> str:
    truth = scored.truth("clarity")
    low = truth <= np.quantile(truth, 0.1)
    return f"The tenth that experts found least fluent is scored {np.mean(scored.clarity[low] - truth[low]):+.2f} against them on average."


def unanswered(clean: Reports) -> list[tuple[str, int, int]]:
    """(corpus, recordings without scores, recordings)"""
    names = [clip.corpus for clip in clean.clips]
    silent = Counter(name for name, ok in zip(names, clean.answered()) if not ok)
    return [(name, silent[name], names.count(name)) for name in RECIPE.labelled if name in names]


def split_table(acted: Predictions) -> str:
    """UAR by what could make a recording hard."""
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
    lines = [[name, f"{uar(truth[part], predicted[part]):.3f}", f"{share(truth[part], predicted[part]):.3f}", str(part.sum())]
             for name, part in groups.items() if part.sum() >= 10]  # fmt: skip
    return table(["recordings", "UAR", "share right", "count"], lines)


def largest_errors(found: Predictions) -> str:
    lines = []
    for name in SCORES:
        part = found.of(corpus_of(name))
        truth, predicted = part.truth(name), part.score(name)
        for i in np.argsort(-np.abs(truth - predicted))[:WORST_SCORES]:
            clip = part.clips[i]
            what = f"age {clip.age}" if name == "clarity" else clip.label
            lines.append([name, *facts(part, i), what, f"{truth[i]:.2f}", f"{predicted[i]:.2f}"])
    return table(["score", "recording", "sex", "speech, s", "SNR, dB", "of", "judged", "scored"], lines)


def undetected_speech(clean: Reports) -> str:
    silent = [clip for clip, ok in zip(clean.clips, clean.answered()) if not ok and clip.definition.is_speech]
    counts = Counter((clip.corpus, clip.language) for clip in silent)
    lines = [[name, language, str(count)] for (name, language), count in counts.most_common()]
    return table(["corpus", "language", "speech recordings without enough speech found"], lines or [["none", "", "0"]])


def section(clean: Reports) -> str:
    """Markdown for docs/evidence.md."""
    found = clean.predictions()
    acted = found.of(*RECIPE.emotion)
    parts = [
        "Wrong and most sure of it:", confident_errors(acted),
        "The commonest confusions:", confusion_table(acted),
        "Harder and easier recordings:", split_table(acted),
        "Furthest from the judges:", largest_errors(found),
        "Not heard as speech:", undetected_speech(clean),
    ]  # fmt: skip
    return "\n\n".join(parts)
