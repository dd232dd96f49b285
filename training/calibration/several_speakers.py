"""Network and params of the warning `several_speakers` of a set of models.

Sets with CAM++ share its rest. Otherwise a network is fitted on utterances of the parts train and dev. The threshold comes from calls of two speakers
that are built of clips of the parts dev and calibration, and pass through the shipped pipeline. results/several_speakers.json has the rates of each set
on the test part, by the built command.
"""

import json
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from training import cache, settings
from training.corpora.corpus import Clip, Part
from training.corpora.recipe import SOLD
from training.corpora.registry import read_clips
from training.encoder import encoders
from training.encoder.embeddings import Utterances
from training.evaluation.metrics import Metric, make_metrics
from training.evaluation.reports import BOTH, analyze, has_several_speakers
from training.evaluation.results import describe_sources, metrics_of, new_run, save
from training.evaluation.statistics import mean
from training.evaluation.voices import OF_TWO, ONE, Call, alone, calls_of, write_calls
from training.export.head_graph import write_voice
from training.export.manifest import update_manifest
from training.export.specs import ModelSet
from training.heads import speaker
from training.reporting.tables import interval_cell, replace_between, table

FILE = "voice.onnx"
RESULT = "several_speakers.json"
PAGE = settings.RESULT_PAGES / "calls.md"
PARAMS = {"minUtteranceSeconds": 0.8, "minSeconds": 2, "minShare": 0.1}
FOUND = 0.9  # of the calls of two speakers that give the threshold
KINDS = (*OF_TWO, ONE)


def built(parts: Sequence[Part], corpora: Iterable[str] | None = None) -> list[Call]:
    """Calls of at most two speakers; of `corpora`, or of all"""
    calls = [call for call in (*calls_of(parts), *alone(parts)) if call.speakers <= 2]
    return [call for call in calls if corpora is None or call.owner.corpus in corpora]


def similarities(paths: list[Path], models: Path) -> list[float | None]:
    """Cosine of two voices of each recording (similarities.ts)"""
    listed = settings.CACHE / "several-speakers.list"
    listed.write_text("".join(f"{path}\n" for path in paths))
    command = ["node", "--import", "tsx", "training/calibration/similarities.ts", str(listed), str(models)]
    run = subprocess.run(command, cwd=settings.REPOSITORY, stdout=subprocess.PIPE, text=True, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def is_known_speaker(clip: Clip) -> bool:
    return clip.corpus in SOLD.speech and clip.corpus not in speaker.UNRELIABLE and bool(clip.row["speaker"])


def training_utterances(store: Utterances) -> list[speaker.Utterance]:
    clips = read_clips()
    rows = [row for row, clip in enumerate(store.clips) if clips[clip].part in (Part.TRAIN, Part.DEV) and is_known_speaker(clips[clip])]
    return [speaker.Utterance(clips[store.clips[row]].corpus, clips[store.clips[row]].speaker, store.means[row]) for row in rows]


def threshold_of(calls: list[Call], similar: list[float | None]) -> float:
    """The cosine that FOUND of the calls of two speakers are below. Their kinds weigh alike."""
    rows = [(call.kind, 1.0 if cosine is None else cosine) for call, cosine in zip(calls, similar) if call.speakers == 2]
    kinds = [kind for kind, _ in rows]
    values = np.array([cosine for _, cosine in rows])
    weights = np.array([1 / kinds.count(kind) for kind in kinds])
    order = np.argsort(values)
    return round(float(np.interp(FOUND, np.cumsum(weights[order]) / weights.sum(), values[order])), 2)


def rates(models: Path) -> list[Metric]:
    """Share of the calls of each kind with the warning, on the test part"""
    calls = built((Part.TEST,))
    with tempfile.TemporaryDirectory(prefix="undertone-several-") as folder:
        paths, _ = write_calls(calls, Path(folder))
        reports = analyze(paths, BOTH, models)
    metrics = []
    for kind in KINDS:
        rows = [(call.owner, float(has_several_speakers(report))) for call, report in zip(calls, reports) if call.kind == kind]
        clips, warned = zip(*rows)
        metrics += make_metrics("emotion", kind, "all", mean, list(clips), np.array(warned), np.array(warned))
    return metrics


def write_page(results: dict) -> None:
    """Table of the sets in docs/results/calls.md."""
    columns = [{metric.figure: interval_cell(metric) for metric in metrics_of(run)} for run in results.values()]
    rows = [[kind, *(column[kind] for column in columns)] for kind in KINDS]
    replace_between(PAGE, "several-speakers", f"{describe_sources(results)}\n\n{table(['recordings', *results], rows)}")


def fit(models: ModelSet, folder: Path, store: Utterances) -> None:
    """`store`: by the trunk in the folder. The command must be built."""
    trunk = folder / "trunk"
    if "filterbanks" in encoders.inputs_of(models.layers):
        frames = encoders.FRAMES_PER_ROW
        encoders.write_trunk_voice(trunk / FILE)
    else:
        frames = encoders.FRAMES_PER_EMBEDDING
        write_voice(speaker.fit(training_utterances(store)), store.means.shape[1], trunk / FILE)
    write_params(trunk, frames, 0)
    calls = built((Part.DEV, Part.CALIBRATION), SOLD.speech)
    with tempfile.TemporaryDirectory(prefix="undertone-several-") as built_in:
        paths, _ = write_calls(calls, Path(built_in))
        similar = similarities(paths, folder)
    write_params(trunk, frames, threshold_of(calls, similar))
    path = settings.results_folder() / RESULT
    results = save({models.name: new_run(folder, rates(folder))}, path)
    if path.is_relative_to(settings.RESULTS):
        write_page(results)


def write_params(folder: Path, frames: int, threshold: float) -> None:
    weights = {"file": FILE, "sha256": cache.file_hash(folder / FILE)}
    update_manifest(folder, {"severalSpeakers": {"weights": weights, "framesPerEmbedding": frames, **PARAMS, "maxSimilarity": threshold}})
