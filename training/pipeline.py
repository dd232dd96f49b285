"""The steps of training, in order. Each reads the model folders and the cache that earlier steps wrote.

The shipped weights are fitted on every part but the test part. Recipes are compared, and scores calibrated, with heads of the
same recipe that were fitted on fewer speakers and corpora.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from torch import nn

from training import settings
from training.augment import synthetic_music
from training.augment.augmented import AugmentedCopies
from training.calibration import intervals, moments, reference, several_speakers
from training.calibration.affine import EmotionCalibration, Outputs, calibrate_emotion, fit_neutral
from training.calibration.intervals import DEGRADATION_PARAMS, WIDEN, fit_intervals, initial_interval
from training.corpora.corpus import DIMENSIONS, Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.encoder import distill, embeddings, finetune, frozen
from training.encoder.embeddings import EmbeddingStore, by_recording
from training.export import vad_graph
from training.export.head_graph import pooling_sums, write_clarity, write_emotion
from training.export.manifest import update_manifest, write_model
from training.export.specs import RECORDING_PARAMS, specs_of
from training.export.trunk_graph import write_trunk
from training.export.vad_graph import read_vad, write_vad
from training.features import log_mel
from training.features.spec import FILTERBANKS
from training.features.windows import SEGMENT_PARAMS, WINDOW_PARAMS
from training.heads import clarity, emotion
from training.heads.attention_head import AttentionHead
from training.heads.fit import mean_per_clip, predict
from training.reporting.cards import write_cards
from training.vad import dataset, speech_check
from training.vad import train as vad_train
from training.vad.detector import Detector
from training.vad.model import LOOKAHEAD, VadNet

CLARITY_NETWORKS = 2  # averaged
RATED_FOLDS = 4
# Less speech than this lowers the confidence.
EMOTION_SHORT_SECONDS = 3
CLARITY_SHORT_SECONDS = 10
STREAM_PARAMS = {"stateSize": sum(vad_graph.SIZES), "settleFrames": vad_graph.SETTLED, "lookaheadFrames": LOOKAHEAD}
TONE_PARAMS = {"lowArousal": 0.45, "highArousal": 0.55, "veryLowValence": 0.25, "lowValence": 0.45, "highValence": 0.55}


@dataclass(frozen=True)
class ModelSet:
    """A folder of models that belong together."""

    models: Path
    frames_per_embedding: int

    @property
    def calibration(self) -> Path:
        """The same trunk with heads that were not fitted on the dev and calibration parts: intervals are fitted with it."""
        return settings.CACHE / "models" / f"{self.models.name}-calibration"


def standard() -> ModelSet:
    return ModelSet(settings.MODELS, 2)


def fast() -> ModelSet:
    return ModelSet(settings.sibling_models("fast"), 4)


def large() -> ModelSet:
    return ModelSet(settings.sibling_models("large"), frozen.LARGE_FRAMES_PER_EMBEDDING)


def is_fitted(clip: Clip) -> bool:
    """Whether the shipped weights are fitted on it."""
    return clip.refitted


def train_vad() -> None:
    net = vad_train.train(settings.SIZES.vad_steps)
    write_vad_model(net, vad_train.measure_vad(net))


def fit_speech_check() -> None:
    """On the frames of the VAD model that is there: its speech and syllables stay as they are, and no later step is needed."""
    manifest = json.loads((settings.MODELS / "vad" / "manifest.json").read_text())
    write_vad_model(read_vad(settings.weights("vad")), manifest["training"]["metrics"])
    others = (fast(), large()) if settings.RECIPE == "standard" else ()
    for models in others:
        copy_vad(models)
    for models in (standard(), *others):
        finish(models)


def write_vad_model(net: VadNet, metrics: dict) -> None:
    """Fits the speech check of the network. `metrics`: of its other outputs"""
    graph = settings.CACHE / "vad.onnx"
    min_voice, check_metrics = speech_check.fit(net)
    write_vad(net, graph)
    params = SEGMENT_PARAMS | {"stream": STREAM_PARAMS, "minVoice": min_voice} | RECORDING_PARAMS
    write_model(specs_of(settings.MODELS)["vad"], graph, settings.MODELS, params, dataset.is_fitted, metrics | check_metrics,
                synthetic_music.openmsx_data())  # fmt: skip


def copy_vad(models: ModelSet) -> None:
    shutil.copytree(settings.MODELS / "vad", models.models / "vad", dirs_exist_ok=True)


def write_trunk_model(write: Callable[[Path], None], models: ModelSet, params: dict | None = None) -> None:
    """`write`: its graph. `params`: of its manifest, beside those of every trunk"""
    graph = settings.CACHE / "trunk.onnx"
    write(graph)
    shared = {"framesPerToken": models.frames_per_embedding, **WINDOW_PARAMS}
    write_model(specs_of(models.models)["trunk"], graph, models.models, shared | (params or {}), is_fitted)
    if models.models != settings.MODELS:
        copy_vad(models)


def train_trunk() -> None:
    for refit in (False, True):
        finetune.run(refit)
    trunk = finetune.finetuned_trunk(refit=True)
    write_trunk_model(lambda graph: write_trunk(trunk, graph), standard())


def load_embeddings(models: ModelSet) -> EmbeddingStore:
    return embeddings.load(settings.weights("trunk", models.models), models.frames_per_embedding, AugmentedCopies())


def rows_of(chosen: Callable[[Clip], bool], store: EmbeddingStore, rows: np.ndarray, copied: bool = False) -> np.ndarray:
    """Those of chosen clips; without `copied` not those of augmented copies."""
    clips = read_clips()
    return rows[[chosen(clips[i]) for i in store.clips[rows]] & (copied | ~store.copied[rows])]


def is_dev(clip: Clip) -> bool:
    return clip.part is Part.DEV


def is_calibration(clip: Clip) -> bool:
    return clip.part is Part.CALIBRATION


def is_trained(clip: Clip) -> bool:
    return clip.part is Part.TRAIN and clip.corpus not in RECIPE.unseen


@dataclass(frozen=True)
class EmotionModel:
    heads: list[nn.Sequential]  # averaged
    distance: emotion.Distance


def fit_emotion(store: EmbeddingStore, targets: emotion.Targets, fits: Callable[[Clip], bool]) -> EmotionModel:
    clips = read_clips()
    known = rows_of(fits, store, emotion.labelled_windows(store.clips, targets), copied=True)
    plain = known[~store.copied[known]]
    names = np.array([clip.corpus for clip in clips])
    return EmotionModel(emotion.fit_heads(store, targets, known, clips), emotion.fit_distance(store.moments[plain], names[store.clips[plain]]))


def outputs_of(model: EmotionModel, store: EmbeddingStore, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """-> clip indices [m], outputs and distance of each clip [m,11]: means over utterances, weighted by speech"""
    moments = store.moments[rows]
    values = np.concatenate([emotion.predict_mean(model.heads, moments), model.distance(moments)[:, None]], 1)
    return mean_per_clip(store.clips[rows], store.speech_frames[rows], values)


def left_out_outputs(
    store: EmbeddingStore, targets: emotion.Targets, model: EmotionModel, fits: Callable[[Clip], bool], unknown: str | None
) -> Outputs:
    """What heads say about acted corpora that they were not fitted on, and about rated speakers that they were not fitted on.

    `model`: fitted on clips that `fits`, on none of RECIPE.unseen, of which the parts dev and calibration count. `unknown`: as in `calibrated_emotion`
    """
    clips = read_clips()
    labelled = emotion.labelled_windows(store.clips, targets)
    names = [name for name in RECIPE.unseen if name != unknown]
    unseen = rows_of(lambda clip: clip.corpus in names and (is_dev(clip) or is_calibration(clip)), store, labelled)
    found = [outputs_of(model, store, unseen)] if len(unseen) else []
    speakers = sorted({clip.speaker for clip in clips if clip.corpus == RECIPE.rated and fits(clip)})
    rated_folds = [{(RECIPE.rated, speaker) for speaker in speakers[fold::RATED_FOLDS]} for fold in range(RATED_FOLDS)]
    acted = [{(clip.corpus, clip.speaker) for clip in clips if clip.corpus == name} for name in RECIPE.known if name != RECIPE.rated]
    for group in (*acted, *rated_folds):
        held = rows_of(lambda clip: fits(clip) and (clip.corpus, clip.speaker) in group, store, labelled)
        if len(held):
            own = fit_emotion(store, targets, lambda clip: fits(clip) and (clip.corpus, clip.speaker) not in group)
            found.append(outputs_of(own, store, held))
    rows, values = (np.concatenate(parts) for parts in zip(*found))
    corpora = np.array([clips[i].corpus for i in rows])
    return Outputs(values[:, :-1], values[:, -1], targets, rows, corpora, corpora == RECIPE.rated)


@dataclass(frozen=True)
class CalibratedEmotion:
    compared: EmotionModel  # fitted on the train part
    model: EmotionModel
    calibration: EmotionCalibration


def calibrated_emotion(store: EmbeddingStore, unknown: str | None = None) -> CalibratedEmotion:
    """Heads, calibrated on corpora and speakers that heads of the same recipe were not fitted on. `unknown`: a corpus for neither"""

    def fits(clip: Clip) -> bool:
        return is_fitted(clip) and clip.corpus != unknown

    targets = emotion.targets_of(read_clips())
    labelled = emotion.labelled_windows(store.clips, targets)
    compared, model = (fit_emotion(store, targets, chosen) for chosen in (lambda clip: fits(clip) and is_trained(clip), fits))
    neutral = fit_neutral_bias(compared, store, targets, rows_of(lambda clip: fits(clip) and is_dev(clip), store, labelled))
    near = model.distance(store.moments[rows_of(fits, store, labelled)])
    _, seen = outputs_of(compared, store, rows_of(lambda clip: fits(clip) and is_calibration(clip), store, labelled))
    outputs = left_out_outputs(store, targets, model, fits, unknown)
    return CalibratedEmotion(compared, model, calibrate_emotion(outputs, neutral, near, seen[:, -1]))


def train_emotion(models: ModelSet) -> None:
    graph = settings.CACHE / f"{models.models.name}-emotion.onnx"
    found = calibrated_emotion(load_embeddings(models))
    params = {"dimensions": list(DIMENSIONS), "intervals": dict.fromkeys(DIMENSIONS, WIDEN), "degradations": DEGRADATION_PARAMS,
              "shortSpeechSeconds": EMOTION_SHORT_SECONDS, **found.calibration.params(), "tone": TONE_PARAMS,
              "relative": dict.fromkeys(DIMENSIONS, 1)}  # fmt: skip
    copy_shared(models)
    for own, folder in ((found.compared, models.calibration), (found.model, models.models)):
        write_emotion(own.heads, found.calibration.scale, own.distance, graph)
        write_model(specs_of(models.models)["emotion"], graph, folder, params, is_fitted)


def copy_shared(models: ModelSet) -> None:
    for kind in ("vad", "trunk"):
        shutil.copytree(models.models / kind, models.calibration / kind, dirs_exist_ok=True)


def fit_neutral_bias(model: EmotionModel, store: EmbeddingStore, targets: emotion.Targets, rows: np.ndarray) -> float:
    clips, values = outputs_of(model, store, rows)
    acted = targets.label[clips] >= 0
    names = np.array([clip.corpus for clip in read_clips()])
    return fit_neutral(values[acted][:, emotion.CATEGORIES], targets.label[clips[acted]], names[clips[acted]])


def fit_clarity(store: EmbeddingStore, targets: np.ndarray, fits: Callable[[Clip], bool]) -> list[AttentionHead]:
    """`store`: of whole recordings."""
    rated = np.flatnonzero(~np.isnan(targets[store.clips]))
    return clarity.fit(store, targets, rows_of(fits, store, rated, copied=True), CLARITY_NETWORKS)


def clarity_timing(clips: np.ndarray) -> np.ndarray:
    """Clip indices [n] -> logarithms of CLARITY_TIMING [n,3]"""
    vad = Detector(settings.weights("vad"))
    source = log_mel.of_corpora()
    return np.stack([reference.log_timing(vad, source[i]) for i in clips])


def train_clarity(models: ModelSet) -> None:
    store = by_recording(load_embeddings(models))
    graph = settings.CACHE / f"{models.models.name}-cognitive.onnx"
    targets = clarity.targets_of(read_clips())
    rated = np.flatnonzero(~np.isnan(targets[store.clips]))
    compared = fit_clarity(store, targets, is_trained)
    heads = fit_clarity(store, targets, is_fitted)
    held = rows_of(lambda clip: is_dev(clip) or is_calibration(clip), store, rated)
    truth = targets[store.clips[held]]
    outputs = predict(compared, store, held)[:, 0]
    measures = clarity_timing(store.clips[held])
    line = clarity.fit_timing(outputs, measures, truth)
    predicted = line.predict(outputs, measures)
    timing, counts = reference.fit_timing_params()
    interval = initial_interval(truth, predicted)
    params = {"intervals": {"clarity": interval}, "degradations": DEGRADATION_PARAMS, "poolingSums": pooling_sums(heads),
              "clarityTiming": line.params(), "shortSpeechSeconds": CLARITY_SHORT_SECONDS, **timing}  # fmt: skip
    recordings = ", ".join(f"{count} of {name}" for name, count in counts.items())
    spec = specs_of(models.models)["cognitive"]
    spec = replace(spec, limits=tuple(text.format(counts=recordings) for text in spec.limits))
    copy_shared(models)
    for own, folder in ((compared, models.calibration), (heads, models.models)):
        write_clarity(own, line.slope, line.intercept, graph)
        write_model(spec, graph, folder, params, is_fitted)


def fit_moments(models: ModelSet) -> None:
    """With heads that the parts dev and calibration are new to. The trunk was fine-tuned on them."""
    params, share = moments.fit(models.calibration / "emotion" / "weights.onnx", load_embeddings(models))
    print(f"moments: {share:.3f} of the sought utterances are among the first {moments.FIRST}", flush=True)
    for folder in (models.calibration, models.models):
        update_manifest(folder / "emotion", {"moments": params})


def fit_all_intervals(models: ModelSet) -> None:
    """By the shipped pipeline, with heads that the calibration part is new to. The trunk was fine-tuned on it."""
    subprocess.run(["npm", "run", "--silent", "build:service"], cwd=settings.REPOSITORY, check=True)
    for signal in ("emotion", "cognitive"):
        fit_intervals(signal, models.calibration)
        fitted, own = (folder / signal / "manifest.json" for folder in (models.calibration, models.models))
        found = json.loads(fitted.read_text())
        manifest = json.loads(own.read_text())
        manifest["params"]["intervals"] = found["params"]["intervals"]
        manifest["training"]["metrics"] = found["training"]["metrics"]
        own.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def fit_relative(models: ModelSet) -> None:
    """By the shipped pipeline, after the intervals."""
    update_manifest(models.models / "emotion", {"relative": intervals.fit_relative(models.calibration)})


def finish(models: ModelSet) -> None:
    """Cards and golden outputs."""
    write_cards(models.models)
    golden = ["node", "--import", "tsx", "training/export/golden.ts", str(models.models)]
    subprocess.run(golden, cwd=settings.REPOSITORY, check=True)


def train_heads(models: ModelSet) -> None:
    train_emotion(models)
    train_clarity(models)
    fit_moments(models)
    fit_all_intervals(models)
    fit_relative(models)
    finish(models)


def train_fast() -> None:
    distill.run()
    student = distill.student_trunk()
    write_trunk_model(lambda graph: write_trunk(student, graph), fast())
    train_heads(fast())


def train_large() -> None:
    windows = embeddings.load_windows(None)
    write_trunk_model(lambda graph: frozen.write_large_trunk(windows, graph), large(), {"filterbanks": FILTERBANKS})
    train_heads(large())


def fit_speakers() -> None:
    for models in (standard(), large(), fast()):
        if models.models.exists():
            several_speakers.fit(models.models)


STEPS: dict[str, Callable[[], None]] = {
    "vad": train_vad,
    "speech-check": fit_speech_check,
    "trunk": train_trunk,
    "heads": lambda: train_heads(standard()),
    "fast": train_fast,
    "large": train_large,
    "speakers": fit_speakers,
}


STANDARD_ONLY = ("fast", "large", "speakers")
REPEATS = ("speech-check",)  # repeats part of an earlier step: `all` leaves it out


def train(step: str) -> None:
    own = [name for name in STEPS if settings.RECIPE == "standard" or name not in STANDARD_ONLY]
    if step not in ("all", *own):
        raise SystemExit(f"Expected one of these steps for the set `{settings.RECIPE}`: {', '.join(own)}; got {step}")
    for name in [name for name in own if name not in REPEATS] if step == "all" else [step]:
        started = time.time()
        STEPS[name]()
        print(f"{name} took {time.time() - started:.0f} s", flush=True)
