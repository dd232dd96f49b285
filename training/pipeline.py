"""The steps of training, in order. Each reads the model folders and the cache that earlier steps wrote.

Recipes are compared and scores calibrated with weights of the train part alone, in the cache. The shipped weights are
then fitted on every part but the test part, by the same recipe (`refit`).
"""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from training import settings
from training.augment import synthetic_music
from training.augment.augmented import AugmentedCopies
from training.calibration import several_speakers, timing_reference
from training.calibration.affine import Outputs, calibrate_emotion, fit_neutral
from training.calibration.intervals import DEGRADATION_PARAMS, WIDEN, fit_intervals, initial_interval
from training.corpora.corpus import Clip, Part
from training.corpora.index import read_clips
from training.corpora.labels import DIMENSIONS
from training.corpora.recipe import RECIPE
from training.encoder import distill, embeddings, finetune
from training.encoder.embeddings import EmbeddingStore
from training.encoder.trunk import Trunk
from training.evaluation.statistics import pcc
from training.export.head_graph import EmotionScale, write_clarity, write_emotion
from training.export.manifest import write_model
from training.export.model_spec import ModelSpec
from training.export.specs import specs_of
from training.export.trunk_graph import write_trunk
from training.export import vad_graph
from training.export.vad_graph import write_vad
from training.features.windows import SEGMENT_PARAMS, WINDOW_PARAMS
from training.heads import clarity, emotion
from training.heads import distance as distances
from training.heads.fit import Heads, mean_per_clip, predict
from training.reporting.cards import write_cards
from training.vad.dataset import is_fitted
from training.vad.model import LOOKAHEAD
from training.vad.spec import RECORDING_PARAMS
from training.vad import speech_check
from training.vad import train as vad_train

EMOTION_SHORT_SECONDS, CLARITY_SHORT_SECONDS = 3, 10  # less speech than this lowers the confidence
STREAM_PARAMS = {"stateSize": sum(vad_graph.SIZES), "settleFrames": vad_graph.SETTLED, "lookaheadFrames": LOOKAHEAD}
TONE_PARAMS = {"lowArousal": 0.45, "highArousal": 0.55, "veryLowValence": 0.25, "lowValence": 0.45, "highValence": 0.55}


@dataclass(frozen=True)
class ModelSet:
    """A folder of models that belong together."""

    models: Path
    frames_per_embedding: int
    networks: int  # attention heads averaged in a head
    refit: bool = False  # fitted on every part but the test part, not on the train part alone

    def fitted(self, name: str) -> Path:
        """File of values that are in a graph and in no manifest: `scale` of emotion, `line` of clarity."""
        return settings.CACHE / f"{name}-{self.models.name}.json"

    def fits(self, clip: Clip) -> bool:
        return clip.refitted if self.refit else not clip.held_out


def calibration_set() -> ModelSet:
    return ModelSet(settings.calibration_models(), 2, 2)


def standard() -> ModelSet:
    return ModelSet(settings.MODELS, 2, 2, refit=True)


def train_vad() -> None:
    net, graph = vad_train.train(settings.SIZES.vad_steps), settings.CACHE / "vad.onnx"
    min_voice, check_metrics = speech_check.fit(net)
    write_vad(net, graph)
    params = SEGMENT_PARAMS | {"stream": STREAM_PARAMS, "minVoice": min_voice} | RECORDING_PARAMS
    write_model(specs_of(settings.MODELS)["vad"], graph, settings.MODELS, params, is_fitted, vad_train.measure_vad(net) | check_metrics,
                synthetic_music.openmsx_data())  # fmt: skip


def write_trunk_model(trunk: Trunk, models: ModelSet) -> None:
    graph = settings.CACHE / "trunk.onnx"
    write_trunk(trunk, graph)
    params = {"framesPerToken": trunk.frames_per_embedding, **WINDOW_PARAMS}
    write_model(specs_of(models.models)["trunk"], graph, models.models, params, models.fits)
    if models.models != settings.MODELS:
        shutil.copytree(settings.MODELS / "vad", models.models / "vad", dirs_exist_ok=True)


def train_trunk(models: ModelSet) -> None:
    finetune.run(models.refit)
    write_trunk_model(finetune.finetuned_trunk(models.refit), models)


def load_embeddings(models: ModelSet) -> EmbeddingStore:
    return embeddings.load(settings.weights("trunk", models.models), models.frames_per_embedding, AugmentedCopies())


def windows_of(chosen: Callable[[Clip], bool], clips: list[Clip], store: EmbeddingStore, windows: np.ndarray) -> np.ndarray:
    return windows[[chosen(clips[i]) for i in store.clips[windows]]]


def is_dev(clip: Clip) -> bool:
    return clip.part is Part.DEV


def is_calibration(clip: Clip) -> bool:
    return clip.part is Part.CALIBRATION


def fit_emotion(models: ModelSet, store: EmbeddingStore, targets: emotion.Targets) -> tuple[Heads, distances.Distance, np.ndarray]:
    """The head that was fine-tuned with the trunk, one fitted afterwards, and a linear one -> heads, distance, distance of each window"""
    clips = read_clips()
    names, labelled = np.array([clip.corpus for clip in clips]), emotion.labelled_windows(store.clips, targets)
    known = windows_of(models.fits, clips, store, labelled)
    robust = emotion.group_robust(store, targets, known, names)
    heads = [finetune.finetuned_head("emotion", models.refit), *emotion.fit_networks(store, robust, known, models.networks - 1),
             emotion.fit_linear_head(store, robust, known)]  # fmt: skip
    distance = distances.fit(store.moments[known], names[store.clips[known]])
    return heads, distance, distance(store.moments[known])


def train_emotion(models: ModelSet) -> None:
    clips, store, graph = read_clips(), load_embeddings(models), settings.CACHE / "emotion.onnx"
    targets = emotion.targets_of(clips)
    heads, distance, near = fit_emotion(models, store, targets)
    dev, held = (windows_of(part, clips, store, emotion.labelled_windows(store.clips, targets)) for part in (is_dev, is_calibration))
    neutral = fit_neutral_bias(heads, store, targets, dev)
    outputs = np.concatenate([predict(heads, store, held), distance(store.moments[held])[:, None]], 1)
    rows, outputs = mean_per_clip(store.clips[held], store.speech_frames[held], outputs)
    corpora = np.array([clips[i].corpus for i in rows])
    found = calibrate_emotion(Outputs(outputs[:, :-1], outputs[:, -1], targets, rows, corpora, corpora == RECIPE.rated), neutral, near)
    found.scale.save(models.fitted("scale"))
    write_emotion(heads, found.scale, distance, graph)
    params = {"intervals": dict.fromkeys(DIMENSIONS, WIDEN), "degradations": DEGRADATION_PARAMS,
              "shortSpeechSeconds": EMOTION_SHORT_SECONDS, "lowConfidence": found.low_confidence,
              "unlikeDistance": round(found.unlike_distance, 3), "tone": TONE_PARAMS}  # fmt: skip
    write_model(specs_of(models.models)["emotion"], graph, models.models, params, models.fits)


def fit_neutral_bias(heads: Heads, store: EmbeddingStore, targets: emotion.Targets, windows: np.ndarray) -> float:
    rows, values = mean_per_clip(store.clips[windows], store.speech_frames[windows], predict(heads, store, windows))
    acted, names = targets.label[rows] >= 0, np.array([clip.corpus for clip in read_clips()])
    return fit_neutral(values[acted][:, emotion.CATEGORIES], targets.label[rows[acted]], names[rows[acted]])


def fit_clarity(models: ModelSet, store: EmbeddingStore, targets: np.ndarray) -> Heads:
    """The head that was fine-tuned with the trunk, and others fitted afterwards."""
    known = windows_of(models.fits, read_clips(), store, np.flatnonzero(~np.isnan(targets[store.clips])))
    return [finetune.finetuned_head("clarity", models.refit), *clarity.fit(store, targets, known, models.networks - 1)]


def train_clarity(models: ModelSet) -> None:
    clips, store, graph = read_clips(), load_embeddings(models), settings.CACHE / "cognitive.onnx"
    targets = clarity.targets_of(clips)
    heads = fit_clarity(models, store, targets)
    held = windows_of(is_calibration, clips, store, np.flatnonzero(~np.isnan(targets[store.clips])))
    rows, values = mean_per_clip(store.clips[held], store.speech_frames[held], predict(heads, store, held))
    predicted, truth = values[:, 0], targets[rows]
    slope, intercept = (float(v) for v in np.polyfit(predicted, truth, 1))
    write_clarity(heads, slope, intercept, graph)
    models.fitted("line").write_text(json.dumps([slope, intercept]) + "\n")
    timing, counts = timing_reference.fit_params()
    interval = initial_interval(truth, np.clip(slope * predicted + intercept, 0, 1))
    params = {"intervals": {"clarity": interval}, "degradations": DEGRADATION_PARAMS, "shortSpeechSeconds": CLARITY_SHORT_SECONDS, **timing}
    left_out = windows_of(lambda clip: clip.held_out, clips, store, np.flatnonzero(~np.isnan(targets[store.clips])))
    rows, values = mean_per_clip(store.clips[left_out], store.speech_frames[left_out], predict(heads, store, left_out))
    metrics = {"pcc_left_out": round(pcc(targets[rows], values[:, 0]), 3), "speakers_left_out": len({clips[i].speaker for i in rows})}
    recordings = ", ".join(f"{count} of {name}" for name, count in counts.items())
    spec = specs_of(models.models)["cognitive"]
    spec = replace(spec, limits=tuple(text.format(counts=recordings) for text in spec.limits))
    write_model(spec, graph, models.models, params, models.fits, metrics)


def fit_all_intervals(models: ModelSet) -> None:
    """By the shipped pipeline. Needs all models of the set."""
    subprocess.run(["npm", "run", "--silent", "build:service"], cwd=settings.REPOSITORY, check=True)
    for signal in ("emotion", "cognitive"):
        fit_intervals(signal, models.models)


def refit(models: ModelSet, calibrated: ModelSet) -> None:
    """The same recipe on more speakers. What was fitted on the calibration part stays: those speakers are trained on now."""
    train_trunk(models)
    store, clips, graph = load_embeddings(models), read_clips(), settings.CACHE / "refit.onnx"
    heads, distance, _ = fit_emotion(models, store, emotion.targets_of(clips))
    write_emotion(heads, EmotionScale.load(calibrated.fitted("scale")), distance, graph)
    write_refitted(specs_of(models.models)["emotion"], graph, models, calibrated)
    write_clarity(fit_clarity(models, store, clarity.targets_of(clips)), *json.loads(calibrated.fitted("line").read_text()), graph)
    write_refitted(specs_of(models.models)["cognitive"], graph, models, calibrated)
    finish(models)


def write_refitted(spec: ModelSpec, graph: Path, models: ModelSet, calibrated: ModelSet) -> None:
    manifest = json.loads((calibrated.models / spec.name / "manifest.json").read_text())
    training = manifest["training"]
    write_model(replace(spec, limits=tuple(training["limits"])), graph, models.models, manifest["params"], models.fits, training["metrics"])


def finish(models: ModelSet) -> None:
    """Cards and golden outputs."""
    write_cards(models.models)
    golden = ["node", "--import", "tsx", "training/export/golden.ts", str(models.models)]
    subprocess.run(golden, cwd=settings.REPOSITORY, check=True)


def train_fast() -> None:
    models = ModelSet(settings.fast_models(), 4, 1)
    distill.run()
    write_trunk_model(distill.student_trunk(), models)
    train_emotion(models)
    train_clarity(models)
    fit_all_intervals(models)
    finish(models)


STEPS: dict[str, Callable[[], None]] = {
    "vad": train_vad,
    "trunk": lambda: train_trunk(calibration_set()),
    "emotion": lambda: train_emotion(calibration_set()),
    "cognitive": lambda: train_clarity(calibration_set()),
    "intervals": lambda: fit_all_intervals(calibration_set()),
    "refit": lambda: refit(standard(), calibration_set()),
    "fast": train_fast,
    "speakers": lambda: several_speakers.fit(settings.MODELS),
}


STANDARD_ONLY = ("fast", "speakers")


def train(step: str) -> None:
    own = [name for name in STEPS if settings.RECIPE == "standard" or name not in STANDARD_ONLY]
    if step not in ("all", *own):
        raise SystemExit(f"Expected one of these steps for the set `{settings.RECIPE}`: {', '.join(own)}; got {step}")
    for name in own if step == "all" else [step]:
        started = time.time()
        STEPS[name]()
        print(f"{name} took {time.time() - started:.0f} s", flush=True)
