"""Evaluates the shipped pipeline on the test part, as recorded and under corruptions, beside the eGeMAPS baseline."""

import json
from pathlib import Path

import numpy as np

from training import settings
from training.corpora.recipe import RECIPE
from training.evaluation import calls, error_analysis, invariances, recordings, relative, results, test_recordings, vocal_effort
from training.evaluation.egemaps_baseline import EgemapsBaseline, extract_functionals
from training.evaluation.metrics import Metric, all_metrics, make_metrics, mean_metric, natural_metrics
from training.evaluation.pipeline import is_ok
from training.evaluation.predictions import Predictions, Reports
from training.evaluation.statistics import pcc, relative_error
from training.evaluation.test_recordings import CLEAN
from training.reporting import cards, evaluation_page, recordings_page, sets_table
from training.reporting.tables import comparison_table, replace_between

COMPARED = [
    *sets_table.NATURAL_AND_LEFT_OUT,
    "emotion: UAR, calm as neutral, RAVDESS",
    "emotion: UAR of its 8 labels, RAVDESS",
    "emotion: UAR of its 7 labels, SAVEE",
    "emotion: UAR of its 7 labels, EMOVO",
    "emotion: UAR of its 6 labels, nEMO",
    "emotion: UAR of its 5 labels, ASED",
    "emotion: UAR of its 4 labels, EmotionTTSKorean",
    "emotion: UAR of its 6 labels, CREMA-D",
    "emotion: CCC of the share of votes for neutral, CREMA-D",
    "emotion: UAR of its 6 labels, CASIA",
    "emotion: CCC of valence, TAVA",
    "emotion: CCC of arousal, TAVA",
    "emotion: PCC of arousal, BAVED",
    "cognitive: PCC of clarity with fluency, speechocean762",
    "cognitive: PCC of clarity with prosody, speechocean762",
    "cognitive: PCC of clarity with their mean, speechocean762",
    "emotion: calibration error of confidence, speakers left out",
]


def scored_share_metrics(reports: Reports) -> list[Metric]:
    """Share of clips with scores, by corpus."""
    groups = {"all speech": RECIPE.labelled} | {name: (name,) for name in (*RECIPE.labelled, "ESC10", "EmoGator", *RECIPE.unlabelled)}
    by_group = {group: reports.of(*names) for group, names in groups.items()}
    return [mean_metric("vad", "share answered ok", group, own.has_scores(), own.clips) for group, own in by_group.items() if own.clips]


def syllable_metrics(reports: Reports) -> list[Metric]:
    """Syllables (articulation rate times speech) against those of the known text."""
    pairs = [(c, r) for c, r in zip(reports.clips, reports.reports) if c.corpus == RECIPE.clarity and is_ok(r, "cognitive")
             and "articulation_rate" in r["cognitive"]["measures"]]  # fmt: skip
    clips = [clip for clip, _ in pairs]
    truth = np.array([clip.syllables for clip in clips], float)
    counted = np.array([r["cognitive"]["measures"]["articulation_rate"]["value"] * r["audio"]["speech_s"] for _, r in pairs])
    names = {"PCC of syllables with the text's": pcc, "mean error of syllables, share of the mean": relative_error}
    return [m for name, score in names.items() for m in make_metrics("vad", name, RECIPE.clarity, score, clips, truth, counted)]


def figures_of(clean: Reports, predictions: Predictions) -> list[Metric]:
    return [*natural_metrics(clean), *all_metrics(predictions), *syllable_metrics(clean), *scored_share_metrics(clean)]


def evaluate_recordings(models: list[Path], out: Path | None = None) -> None:
    """Utterances in recordings. Shipped sets go into results and documents, unless `out` is the place of the figures."""
    runs = {folder.resolve().name: recordings.measure(folder) for folder in models}
    for name, run in runs.items():
        print(*recordings_page.section_of(name, recordings_page.runs_of(name) | {"after": run}), sep="\n\n")
    if out is not None:
        out.write_text(json.dumps(runs, indent=1) + "\n")
    elif all(recordings.is_shipped(folder) for folder in models):
        recordings_page.write(runs)


def evaluate(models: Path, write: bool) -> None:
    """Models other than the shipped ones become a column of the comparison. `write`: into results, documents, plots and cards."""
    by_condition = test_recordings.analyze_all(models)
    clean = by_condition[CLEAN]
    predictions = clean.predictions()
    metrics = figures_of(clean, predictions)
    alternative = None if models.resolve() == settings.MODELS.resolve() else models.resolve().name
    checks = (*invariances.CHECKS, *vocal_effort.CHECKS) if alternative is None else ()
    known = {metric.key for metric in metrics}
    responses = [metric for check in checks for metric in check(models) if metric.clips and metric.key not in known]
    run = results.new_run(models, clean.clips, [*metrics, *responses]) | {"failures": error_analysis.sentences(clean)}
    runs = results.add_run(results.read(), alternative, run)
    if alternative is None or "egemaps_baseline" not in runs:
        print("fitting the eGeMAPS baseline", flush=True)
        baseline = EgemapsBaseline(extract_functionals()).predict([clip for clip in predictions.clips if clip.corpus in RECIPE.labelled])
        runs["egemaps_baseline"] = {"recordings": run["recordings"], "figures": results.to_json(all_metrics(baseline))}
    columns = results.columns_of(runs)
    comparison = f"{results.describe_sources(results.runs_of(runs))}\n\n{comparison_table(columns, COMPARED)}"
    text = evaluation_page.sections(models, metrics, responses, by_condition)
    print(comparison, text, sep="\n\n")
    if write:
        results.save(runs)
        replace_between(evaluation_page.PAGE, "comparison", comparison)
        if recordings.is_shipped(models):
            evaluate_recordings([models])
            calls.run([models])
            relative.run([models.resolve().name])
        sets_table.write()
        cards.write_cards(models)
    if write and alternative is None:
        evaluation_page.write(by_condition, f"`npm run evaluate -- --write` at commit {run['commit']}.\n\n{text}")
