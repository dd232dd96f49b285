"""The steps of training, in order. Each reads the model folders and the cache that earlier steps wrote."""

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
from training.calibration import timing_reference
from training.calibration.affine import Outputs, calibrate_emotion, fit_neutral
from training.calibration.intervals import DEGRADATION_PARAMS, WIDEN, initial_interval, fit_intervals
from training.corpora.corpus import Clip, Part
from training.corpora.index import read_clips
from training.corpora.labels import DIMENSIONS
from training.encoder import distill, embeddings, finetune
from training.encoder import spec as encoder_spec
from training.encoder.embeddings import EmbeddingStore
from training.encoder.trunk import Trunk
from training.export.head_graph import write_clarity, write_emotion
from training.export.manifest import write_model
from training.export.model_spec import ModelSpec
from training.export.trunk_graph import write_trunk
from training.export.vad_graph import write_vad
from training.features.windows import SEGMENT_PARAMS, WINDOW_PARAMS, WINDOW_SECONDS
from training.heads import clarity, emotion
from training.heads import distance as distances
from training.heads.fit import Heads, mean_per_clip, predict
from training.reporting.cards import write_cards
from training.vad import spec as vad_spec
from training.vad import speech_check
from training.vad import train as vad_train

EMOTION_SHORT_SECONDS, CLARITY_SHORT_SECONDS = 3, 10  # less speech than this lowers the confidence
TONE_PARAMS = {"lowArousal": 0.45, "highArousal": 0.55, "veryLowValence": 0.25, "lowValence": 0.45, "highValence": 0.55}


@dataclass(frozen=True)
class ModelSet:
    """A folder of models that belong together."""

    models: Path
    frames_per_embedding: int
    networks: int  # attention heads averaged in a head


def standard() -> ModelSet:
    return ModelSet(settings.MODELS, 2, 2)


def train_vad() -> None:
    net, graph = vad_train.train(settings.SIZES.vad_steps), settings.CACHE / "vad.onnx"
    min_voice, check_metrics = speech_check.fit(net)
    write_vad(net, graph)
    params = SEGMENT_PARAMS | {"minVoice": min_voice} | vad_spec.RECORDING_PARAMS
    write_model(vad_spec.SPEC, graph, settings.MODELS, params, vad_train.measure_vad(net) | check_metrics, [synthetic_music.openmsx_data()])


def write_trunk_model(spec: ModelSpec, trunk: Trunk, models: Path) -> None:
    graph = settings.CACHE / "trunk.onnx"
    write_trunk(trunk, graph)
    params = {"windowSeconds": WINDOW_SECONDS, "framesPerToken": trunk.frames_per_embedding, **WINDOW_PARAMS}
    write_model(spec, graph, models, params)


def train_trunk() -> None:
    finetune.run()
    write_trunk_model(encoder_spec.STANDARD, finetune.finetuned_trunk(), settings.MODELS)


def load_embeddings(models: ModelSet) -> EmbeddingStore:
    return embeddings.load(settings.weights("trunk", models.models), models.frames_per_embedding, AugmentedCopies())


def windows_of(part: Part, clips: list[Clip], store: EmbeddingStore, windows: np.ndarray) -> np.ndarray:
    return windows[[clips[i].part is part for i in store.clips[windows]]]


def train_emotion(models: ModelSet) -> None:
    """The mean of the head that was fine-tuned with the trunk, of heads fitted afterwards, and of a linear one."""
    clips, store, graph = read_clips(), load_embeddings(models), settings.CACHE / "emotion.onnx"
    targets = emotion.targets_of(clips)
    labelled = emotion.labelled_windows(store.clips, targets)
    known, dev, held = (windows_of(part, clips, store, labelled) for part in (Part.TRAIN, Part.DEV, Part.CALIBRATION))
    names = np.array([clip.corpus for clip in clips])
    robust = emotion.group_robust(store, targets, known, names)
    heads = [finetune.finetuned_emotion_head(), *emotion.fit_networks(store, robust, known, models.networks - 1),
             emotion.fit_linear_head(store, robust, known)]  # fmt: skip
    distance = distances.fit(store.moments[known], names[store.clips[known]])
    neutral = fit_neutral_bias(heads, store, targets, dev, names)
    outputs = np.concatenate([predict(heads, store, held), distance(store.moments[held])[:, None]], 1)
    rows, outputs = mean_per_clip(store.clips[held], store.speech_frames[held], outputs)
    rated = np.array([clips[i].dimensions is not None and clips[i].dimensions.rated for i in rows])
    found = calibrate_emotion(Outputs(outputs[:, :-1], outputs[:, -1], targets, rows, names[rows], rated), neutral, distance(store.moments[known]))
    write_emotion(heads, found.scale, distance, graph)
    params = {"intervals": dict.fromkeys(DIMENSIONS, WIDEN), "degradations": DEGRADATION_PARAMS,
              "shortSpeechSeconds": EMOTION_SHORT_SECONDS, "lowConfidence": found.low_confidence,
              "unlikeDistance": round(found.unlike_distance, 3), "tone": TONE_PARAMS}  # fmt: skip
    write_model(emotion.SPEC, graph, models.models, params)


def fit_neutral_bias(heads: Heads, store: EmbeddingStore, targets: emotion.Targets, windows: np.ndarray, names: np.ndarray) -> float:
    """names [clips]: corpora"""
    rows, values = mean_per_clip(store.clips[windows], store.speech_frames[windows], predict(heads, store, windows))
    acted = targets.label[rows] >= 0
    return fit_neutral(values[acted][:, emotion.CATEGORIES], targets.label[rows[acted]], names[rows[acted]])


def train_clarity(models: ModelSet) -> None:
    """The mean of the head that was fine-tuned with the trunk and of heads fitted afterwards."""
    clips, store, graph = read_clips(), load_embeddings(models), settings.CACHE / "cognitive.onnx"
    targets = clarity.targets_of(clips)
    scored = np.flatnonzero(~np.isnan(targets[store.clips]))
    known, held = (windows_of(part, clips, store, scored) for part in (Part.TRAIN, Part.CALIBRATION))
    heads = [finetune.finetuned_clarity_head(), *clarity.fit(store, targets, known, models.networks - 1)]
    rows, values = mean_per_clip(store.clips[held], store.speech_frames[held], predict(heads, store, held))
    predicted, truth = values[:, 0], targets[rows]
    slope, intercept = (float(v) for v in np.polyfit(predicted, truth, 1))
    write_clarity(heads, slope, intercept, graph)
    timing, counts = timing_reference.fit_params()
    interval = initial_interval(truth, np.clip(slope * predicted + intercept, 0, 1))
    params = {"intervals": {"clarity": interval}, "degradations": DEGRADATION_PARAMS, "shortSpeechSeconds": CLARITY_SHORT_SECONDS, **timing}
    recordings = ", ".join(f"{count} of {name}" for name, count in counts.items())
    spec = replace(clarity.SPEC, limits=tuple(text.format(counts=recordings) for text in clarity.SPEC.limits))
    write_model(spec, graph, models.models, params)


def finish(models: ModelSet) -> None:
    """Intervals of all scores by the shipped pipeline, then cards and golden outputs. Needs all models of the set."""
    subprocess.run(["npm", "run", "--silent", "build:service"], cwd=settings.REPOSITORY, check=True)
    for signal in ("emotion", "cognitive"):
        fit_intervals(signal, models.models)
    write_cards(models.models)
    golden = ["node", "--import", "tsx", "training/export/golden.ts", str(models.models)]
    subprocess.run(golden, cwd=settings.REPOSITORY, check=True)


def train_fast() -> None:
    models = ModelSet(settings.fast_models(), 4, 1)
    distill.run()
    shutil.copytree(settings.MODELS / "vad", models.models / "vad", dirs_exist_ok=True)
    write_trunk_model(encoder_spec.FAST, distill.student_trunk(), models.models)
    train_emotion(models)
    train_clarity(models)
    finish(models)


STEPS: dict[str, Callable[[], None]] = {
    "vad": train_vad,
    "trunk": train_trunk,
    "emotion": lambda: train_emotion(standard()),
    "cognitive": lambda: train_clarity(standard()),
    "intervals": lambda: finish(standard()),
    "fast": train_fast,
}


def train(step: str) -> None:
    for name in STEPS if step == "all" else [step]:
        started = time.time()
        STEPS[name]()
        print(f"{name} took {time.time() - started:.0f} s", flush=True)
