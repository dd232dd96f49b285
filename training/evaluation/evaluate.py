"""Evaluates sets of models through the built service's command, by heads of the same recipe that were fitted without what judges them."""

import numpy as np

from training import settings
from training.corpora.recipe import RESEARCH
from training.evaluation import calls, invariances, recordings, results, rows, voices
from training.evaluation.metrics import Metric, corpus_metrics, make_metrics, mean_metric, natural_metrics, speakers_metrics
from training.evaluation.reports import CLEAN, Reports, analyze_clean, analyze_corrupted, is_ok
from training.evaluation.statistics import pcc, relative_error
from training.export.specs import SETS, STANDARD, ModelSet
from training.pipeline import build_service, folder_of
from training.reporting import cards, evaluation_page, recordings_page, sets_table
from training.reporting.tables import refresh_quotes


def scored_share_metrics(reports: Reports) -> list[Metric]:
    """Share of clips with scores, by corpus."""
    by_group = {"all speech": reports.of(*RESEARCH.labelled)}
    by_group |= {name: reports.of(name) for name in (*RESEARCH.labelled, *RESEARCH.sounds, *RESEARCH.unlabelled)}
    return [mean_metric("vad", "share answered ok", group, own.has_scores(), own.clips) for group, own in by_group.items() if own.clips]


def syllable_metrics(reports: Reports) -> list[Metric]:
    """Syllables (articulation rate times speech) against those of the known text."""
    read = reports.of(RESEARCH.clarity)
    clips = []
    counted = []
    for clip, report in zip(read.clips, read.reports):
        measures = report["cognitive"]["measures"] if is_ok(report, "cognitive") else {}
        if "articulation_rate" in measures:
            clips.append(clip)
            counted.append(measures["articulation_rate"]["value"] * report["audio"]["speech_s"])
    columns = clips, np.array([clip.syllables for clip in clips], float), np.array(counted)
    return [
        *make_metrics("vad", "PCC of syllables with the text's", RESEARCH.clarity, pcc, *columns),
        *make_metrics("vad", "mean error of syllables, share of the mean", RESEARCH.clarity, relative_error, *columns),
    ]


def measure(models: ModelSet) -> tuple[rows.Row, Reports, Reports, list[Metric]]:
    """-> the row of speakers and its reports, those of corpora left out, and the metrics of both"""
    speakers = rows.speakers_row(models)
    known = analyze_clean(speakers.clips, speakers.folder)
    unknown = Reports([], [])
    for row in rows.corpus_rows(models, speakers):
        unknown = unknown.and_of(analyze_clean(row.clips, row.folder))
    metrics = corpus_metrics(unknown.predictions()) + natural_metrics(known.and_of(unknown)) + speakers_metrics(known.predictions(), models.recipe)
    return speakers, known, unknown, [*metrics, *syllable_metrics(known), *scored_share_metrics(known)]


def evaluate(names: list[str], write: bool) -> None:
    """`write`: into results, documents, plots and cards."""
    build_service()
    runs = {}
    folders = {}
    for name in names:
        models = SETS[name]
        speakers, known, unknown, metrics = measure(models)
        folders[name] = speakers.folder
        run = results.new_run(folder_of(models), metrics) | {"failures": evaluation_page.failures_of(known)}
        if models is STANDARD:
            by_condition = {CLEAN: known} | analyze_corrupted(speakers.clips, speakers.folder)
            seen = {metric.key for metric in metrics}
            responses = [metric for check in invariances.CHECKS for metric in check(speakers.folder) if metric.clips and metric.key not in seen]
            run["figures"] += results.to_json(responses)
            text = evaluation_page.sections(folder_of(models), metrics, responses, by_condition, unknown)
            print(text)
            if write:
                evaluation_page.write(by_condition, unknown, f"`npm run evaluate -- --write` at commit {run['commit']}.\n\n{text}")
        runs[name] = run
    if write:
        results.save(runs)
        recordings_page.write({name: recordings.measure(SETS[name], folder) for name, folder in folders.items()})
        calls.run(folders)
        if STANDARD.name in names:
            voices.run(folder_of(STANDARD))
        sets_table.write()
        refresh_quotes(settings.PAGES)
        for name in names:
            cards.write_cards(SETS[name], folder_of(SETS[name]))
