"""The generated parts of docs/results/evaluation.md: metrics, then errors by label, duration and signal-to-noise ratio."""

import json
from collections import Counter
from pathlib import Path

import numpy as np

from training import settings
from training.augment.corruptions import CONDITIONS
from training.corpora.corpus import EMOTIONS
from training.corpora.recipe import RESEARCH, SOLD
from training.corpora.registry import is_strong
from training.evaluation.metrics import ALL_NATURAL, CORPUS, NATURAL, SPEAKERS, Metric, covered
from training.evaluation.reports import CLEAN, SCORES, Predictions, Reports
from training.evaluation.statistics import accuracy, ccc, pcc, uar
from training.reporting import plots
from training.reporting.tables import confusion_matrix, metric_table, replace_between, short_cell, table

PAGE = settings.RESULT_PAGES / "evaluation.md"
CLARITY_KINDS = {"speechocean762": "read, learners", "LibriSpeech": "read, mostly native", "AMI": "spontaneous meetings",
                 "RAVDESS": "acted, native"}  # fmt: skip
CONDITION_TITLES = ["condition", "answered ok", "UAR", "CCC valence", "CCC arousal", "PCC clarity", "change of clarity",
                    "valence inside", "arousal inside", "clarity inside"]  # fmt: skip
WORST = 12  # rows shown of emotions
WORST_SCORES = 4  # rows shown of each score


def condition_row(reports: Reports, clarity_before: dict[str, float], title: str) -> list[str]:
    """`clarity_before`: path of a clip -> clarity of the recording as it is."""
    predictions = reports.predictions()
    acted = predictions.of(*SOLD.emotion)
    rated = predictions.of(SOLD.rated)
    scored = predictions.of(SOLD.clarity)
    by_score = dict(zip(SCORES, (rated, rated, scored)))
    values = [reports.of(*SOLD.labelled).has_scores().mean(), uar(acted.labels, acted.best_in_corpus())]
    values += [score(ratings.truth(name), ratings.score(name)) for (name, ratings), score in zip(by_score.items(), (ccc, ccc, pcc))]
    shift = np.mean([value - clarity_before.get(clip.path, value) for clip, value in zip(scored.clips, scored.clarity)])
    coverage = [covered(ratings, name) for name, ratings in by_score.items()]
    inside = [f"{inside.mean():.2f} ({width.mean():.2f})" for inside, width in coverage]
    return [title, *(f"{value:.3f}" for value in values), f"{shift:+.3f}", *inside]


def condition_table(by_condition: dict[str, Reports]) -> str:
    """The same clips under each condition."""
    copied = {clip.path for clip in by_condition["noise-10"].clips}
    clean = by_condition[CLEAN].where(lambda clip: clip.path in copied)
    scored = clean.predictions().of(SOLD.clarity)
    before = {clip.path: value for clip, value in zip(scored.clips, scored.clarity)}
    rows = [condition_row(clean, before, "as they are")]
    rows += [condition_row(by_condition[name], before, title) for name, title in CONDITIONS.items()]
    return table(CONDITION_TITLES, rows)


def clarity_table(predictions: Predictions) -> str:
    """Clarity of speech without ratings, compared with the rated corpus."""
    rows = []
    for name, kind in CLARITY_KINDS.items():
        values = predictions.of(name).clarity
        if len(values):
            low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
            rows.append([name, kind, f"{middle:.2f}", f"{low:.2f} to {high:.2f}", len(values)])
    return table(["recordings of", "speech", "median clarity", "middle 80 %", "recordings"], rows)


def scored_share_table(metrics: list[Metric], clean: Reports) -> str:
    """`music_or_noise` may come with either status; sounds should get it or no scores."""
    flagged = clean.warned("music_or_noise")
    silent = ~clean.has_scores()
    rows = []
    for metric in metrics:
        if metric.figure == "share answered ok":
            names = RESEARCH.labelled if metric.group == "all speech" else [metric.group]
            mask = np.array([clip.corpus in names for clip in clean.clips])
            shares = metric.value, flagged[mask].mean(), (flagged | silent)[mask].mean()
            rows.append([metric.group, *(f"{value:.3f}" for value in shares), metric.clips])
    return table(["recordings of", "answered ok", "warned `music_or_noise`", "warned or too little speech", "recordings"], rows)


def natural_table(metrics: list[Metric]) -> str:
    by_key = {(metric.group, metric.figure): metric for metric in metrics}
    titles = [f"{name} without a warning" for name in ("answered", "negative", "neither neutral nor calm")]
    rows = []
    for name in (*NATURAL, ALL_NATURAL):
        if first := by_key.get((name, titles[0])):
            cells = [short_cell(by_key.get((name, title))) for title in ("share answered ok", *titles)]
            rows.append([name, first.speakers, first.clips, *cells])
    return table(["recordings of", "speakers", "recordings", "answered ok", *titles], rows)


def sections(models: Path, metrics: list[Metric], responses: list[Metric], by_condition: dict[str, Reports], unknown: Reports) -> str:
    """`responses`: metrics of recordings changed in a known way. `unknown`: of corpora left out"""
    predictions = by_condition[CLEAN].predictions()
    others = unknown.predictions().of(*RESEARCH.emotion)
    left_out = [m for m in metrics if m.figure.endswith(CORPUS) or m.group == CORPUS]
    natural = [m for m in metrics if m.figure.endswith("without a warning") and m.group in (*NATURAL, ALL_NATURAL)]
    speakers = [m for m in metrics if m.interval is not None and m not in natural + left_out]
    vad = json.loads((models / "vad" / "manifest.json").read_text())
    blocks = [
        "### Corpora left out",
        metric_table(left_out),
        "![Error of the dominant emotion by coverage](../pictures/risk.svg)",
        "![Confidence and accuracy](../pictures/calibration.svg)",
        "### Speech that nobody acted",
        natural_table(metrics),
        "### Speakers left out",
        metric_table(speakers),
        "### Confusions",
        "![Confusion by corpus left out](../pictures/confusion.svg)",
        "All corpora left out, over all labels:",
        confusion_matrix(others.labels, others.probabilities.argmax(1)),
        "### Corrupted recordings",
        condition_table(by_condition),
        "![Coverage and width of the 80 % intervals](../pictures/coverage.svg)",
        "### Clarity of other speech",
        clarity_table(predictions),
        "### Response to known changes",
        "Of pauses and tempo only recordings with enough speech for the indices count, which few have.",
        table(["what", "of", "value", "speakers", "recordings"],
              [[m.figure, m.group, f"{m.value:.3f}", m.speakers, m.clips] for m in responses]),
        "### Voice activity by frame",
        "Against Silero VAD's labels, corrected by level:",
        table(["figure", "value"], list(vad["training"]["metrics"].items())),
        "### Enough speech",
        scored_share_table(metrics, by_condition[CLEAN]),
    ]  # fmt: skip
    return "\n\n".join(blocks)


def write(by_condition: dict[str, Reports], unknown: Reports, text: str) -> None:
    others = unknown.predictions().of(*RESEARCH.emotion)
    groups = {CORPUS: others, SPEAKERS: by_condition[CLEAN].predictions().of(*SOLD.emotion)}
    plots.draw_confusion(others)
    plots.draw_calibration(groups)
    plots.draw_risk(groups)
    plots.draw_coverage({name: reports.predictions() for name, reports in by_condition.items()})
    replace_between(PAGE, "metrics", text)
    replace_between(PAGE, "errors", errors_section(by_condition[CLEAN]))


def facts_of(predictions: Predictions, row: int) -> list[str]:
    clip = predictions.clips[row]
    audio = predictions.audio[row]
    snr = "none" if audio["snr_db"] is None else f"{audio['snr_db']:.0f}"
    return [clip.path, clip.sex, f"{audio['speech_s']:.1f}", snr]


def confident_errors(acted: Predictions) -> str:
    truth = acted.labels
    predicted = acted.probabilities.argmax(1)
    top = acted.probabilities.max(1)
    wrong = np.flatnonzero(truth != predicted)
    rows = [[*facts_of(acted, i), EMOTIONS[truth[i]], EMOTIONS[predicted[i]], f"{top[i]:.2f}"] for i in wrong[np.argsort(-top[wrong])][:WORST]]
    return table(["recording", "sex", "speech, s", "SNR, dB", "label", "predicted", "confidence"], rows)


def confusions(acted: Predictions) -> list[tuple[str, str, int, int]]:
    """(label, predicted label, count, clips of the label), the most frequent first."""
    truth = acted.labels.tolist()
    predicted = acted.best_in_corpus().tolist()
    totals = Counter(truth)
    pairs = Counter((t, p) for t, p in zip(truth, predicted) if t != p)
    return [(EMOTIONS[t], EMOTIONS[p], count, totals[t]) for (t, p), count in pairs.most_common()]


def confusion_table(acted: Predictions) -> str:
    by_corpus = {name: confusions(acted.of(name))[:2] for name in SOLD.emotion}
    rows = [[name, label, predicted, f"{count} of {total}"] for name, pairs in by_corpus.items() for label, predicted, count, total in pairs]
    return table(["corpus", "label", "predicted", "recordings"], rows)


def failures_of(clean: Reports) -> dict[str, list[str]]:
    """Signal -> the main failures, for the model cards."""
    predictions = clean.predictions()
    emotion = []
    for name in SOLD.emotion:
        if pairs := confusions(predictions.of(name)):
            label, predicted, count, total = pairs[0]
            emotion.append(f"{name}: {count} of {total} {label} recordings were classified as {predicted}.")
    scored = predictions.of(SOLD.clarity)
    truth = scored.truth("clarity")
    low = truth <= np.quantile(truth, 0.1)
    vad = []
    for name in SOLD.labelled:
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
    truth = acted.labels
    predicted = acted.best_in_corpus()
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
        rated = predictions.of(plots.RATED[name])
        truth = rated.truth(name)
        predicted = rated.score(name)
        for i in np.argsort(-np.abs(truth - predicted))[:WORST_SCORES]:
            clip = rated.clips[i]
            what = f"age {clip.age}" if name == "clarity" else clip.label
            lines.append([name, *facts_of(rated, i), what, f"{truth[i]:.2f}", f"{predicted[i]:.2f}"])
    return table(["score", "recording", "sex", "speech, s", "SNR, dB", "of", "rated", "predicted"], lines)


def undetected_speech(clean: Reports) -> str:
    silent = [clip for clip, ok in zip(clean.clips, clean.has_scores()) if not ok and clip.definition.is_speech]
    counts = Counter((clip.corpus, clip.language) for clip in silent)
    lines = [[name, language, str(count)] for (name, language), count in counts.most_common()]
    return table(["corpus", "language", "speech recordings without enough speech found"], lines or [["none", "", "0"]])


def errors_section(clean: Reports) -> str:
    """Markdown for docs/results/evaluation.md."""
    predictions = clean.predictions()
    acted = predictions.of(*SOLD.emotion)
    parts = [
        "Most confident errors:", confident_errors(acted),
        "Most frequent confusions:", confusion_table(acted),
        "By duration, SNR and intensity:", split_table(acted),
        "Largest errors of scores:", largest_errors(predictions),
        "Speech that was not detected:", undetected_speech(clean),
    ]  # fmt: skip
    return "\n\n".join(parts)
