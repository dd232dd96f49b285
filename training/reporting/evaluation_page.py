"""The generated parts of docs/results/evaluation.md."""

import json
from pathlib import Path

import numpy as np

from training import settings
from training.augment.corruptions import CONDITIONS
from training.corpora.recipe import RECIPE
from training.evaluation import error_analysis
from training.evaluation.metrics import LEFT_OUT, NATURAL, Metric, covered
from training.evaluation.predictions import SCORES, Predictions, Reports
from training.evaluation.statistics import ccc, pcc, uar
from training.evaluation.test_recordings import CLEAN
from training.reporting import plots
from training.reporting.tables import confusion_matrix, metric_table, replace_between, short_cell, table

PAGE = settings.RESULT_PAGES / "evaluation.md"
CLARITY_KINDS = {"speechocean762": "read, learners", "LibriSpeech": "read, mostly native", "AMI": "spontaneous meetings",
                 "RAVDESS": "acted, native"}  # fmt: skip
CONDITION_TITLES = ["condition", "answered ok", "UAR", "CCC valence", "CCC arousal", "PCC clarity", "change of clarity",
                    "valence inside", "arousal inside", "clarity inside"]  # fmt: skip


def condition_row(reports: Reports, clarity_before: dict[str, float], title: str) -> list[str]:
    """`clarity_before`: path of a clip -> clarity of the recording as it is."""
    predictions = reports.predictions()
    acted, rated, scored = predictions.of(*RECIPE.emotion), predictions.of(RECIPE.rated), predictions.of(RECIPE.clarity)
    by_score = dict(zip(SCORES, (rated, rated, scored)))
    values = [reports.of(*RECIPE.labelled).has_scores().mean(), uar(acted.labels, acted.best_in_corpus())]
    values += [score(ratings.truth(name), ratings.score(name)) for (name, ratings), score in zip(by_score.items(), (ccc, ccc, pcc))]
    shift = np.mean([value - clarity_before.get(clip.path, value) for clip, value in zip(scored.clips, scored.clarity)])
    coverage = [covered(ratings, name) for name, ratings in by_score.items()]
    inside = [f"{inside.mean():.2f} ({width.mean():.2f})" for inside, width in coverage]
    return [title, *(f"{value:.3f}" for value in values), f"{shift:+.3f}", *inside]


def condition_table(by_condition: dict[str, Reports]) -> str:
    """The same clips under each condition."""
    copied = {clip.path for clip in by_condition["noise-10"].clips}
    clean = by_condition[CLEAN].where(lambda clip: clip.path in copied)
    scored = clean.predictions().of(RECIPE.clarity)
    before = {clip.path: value for clip, value in zip(scored.clips, scored.clarity)}
    rows = [condition_row(clean, before, "as they are")]
    rows += [condition_row(by_condition[name], before, title) for name, title in CONDITIONS.items()]
    return table(CONDITION_TITLES, rows)


def clarity_table(predictions: Predictions) -> str:
    """Clarity of speech without ratings, beside the rated corpus."""
    rows = []
    for name, kind in CLARITY_KINDS.items():
        values = predictions.of(name).clarity
        if len(values):
            low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
            rows.append([name, kind, f"{middle:.2f}", f"{low:.2f} to {high:.2f}", len(values)])
    return table(["recordings of", "speech", "median clarity", "middle 80 %", "recordings"], rows)


def scored_share_table(metrics: list[Metric], clean: Reports) -> str:
    """`music_or_noise` may come with either status; sounds should get it or no scores."""
    flagged, silent = clean.warned("music_or_noise"), ~clean.has_scores()
    rows = []
    for metric in metrics:
        if metric.figure == "share answered ok":
            names = RECIPE.labelled if metric.group == "all speech" else [metric.group]
            mask = np.array([clip.corpus in names for clip in clean.clips])
            shares = metric.value, flagged[mask].mean(), (flagged | silent)[mask].mean()
            rows.append([metric.group, *(f"{value:.3f}" for value in shares), metric.clips])
    return table(["recordings of", "answered ok", "warned `music_or_noise`", "warned or too little speech", "recordings"], rows)


def natural_table(metrics: list[Metric]) -> str:
    by_key = {(metric.group, metric.figure): metric for metric in metrics}
    titles = [f"{name} without a warning" for name in ("answered", "negative", "neither neutral nor calm")]
    rows = []
    for name in NATURAL:
        if first := by_key.get((name, titles[0])):
            cells = [short_cell(by_key.get((name, title))) for title in ("share answered ok", *titles)]
            rows.append([name, first.speakers, first.clips, *cells])
    return table(["recordings of", "speakers", "recordings", "answered ok", *titles], rows)


def sections(models: Path, metrics: list[Metric], responses: list[Metric], by_condition: dict[str, Reports]) -> str:
    """`responses`: metrics of recordings changed in a known way."""
    predictions = by_condition[CLEAN].predictions()
    acted = predictions.of(*RECIPE.known)
    unseen = [m for m in metrics if m.signal == "emotion" and m.group in (*RECIPE.unseen, LEFT_OUT)]
    natural = [m for m in metrics if m.group in NATURAL and m.figure.endswith("without a warning")]
    speakers = [m for m in metrics if m.interval is not None and m not in natural + unseen]
    vad = json.loads((models / "vad" / "manifest.json").read_text())
    blocks = [
        "### Speech that nobody acted",
        natural_table(metrics),
        "### Corpora left out",
        metric_table(unseen),
        "![Error of the dominant emotion by coverage](../pictures/risk.svg)",
        "![Confidence and accuracy](../pictures/calibration.svg)",
        "### Speakers left out",
        metric_table(speakers),
        "### Confusions",
        "![Confusion by corpus](../pictures/confusion.svg)",
        "All corpora that were trained on, over all eight labels:",
        confusion_matrix(acted.labels, acted.probabilities.argmax(1)),
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
    ]
    return "\n\n".join(blocks)


def write(by_condition: dict[str, Reports], text: str) -> None:
    predictions = by_condition[CLEAN].predictions()
    plots.draw_confusion(predictions)
    plots.draw_calibration(predictions)
    plots.draw_risk(predictions)
    plots.draw_coverage({name: reports.predictions() for name, reports in by_condition.items()})
    replace_between(PAGE, "metrics", text)
    plots.draw_curves(json.loads((settings.RESULTS / "finetune_loss.json").read_text()))
    replace_between(PAGE, "errors", error_analysis.section(by_condition[CLEAN]))
