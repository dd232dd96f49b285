"""The steps of training, in order. Each reads the model folders and the cache that earlier steps wrote.

The shipped weights are fitted on every recording of their recipe. What calibrates them comes from heads of the same recipe that were fitted without
the corpora, or the speakers, that they are asked about.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache as cached
from pathlib import Path

import numpy as np

from training import cache, settings
from training.calibration import emotion as emotion_calibration
from training.calibration import intervals, moments, reference, several_speakers, speaker_labels, strangers
from training.calibration.emotion import EmotionCalibration, calibrate
from training.calibration.intervals import DEGRADATION_PARAMS, UNFITTED, Copies
from training.calibration.strangers import Fits, LeftOut, Recordings, speakers_groups
from training.corpora.corpus import DIMENSIONS
from training.corpora.registry import read_clips
from training.encoder import embeddings, encoders
from training.encoder.embeddings import Utterances
from training.encoder.encoders import FRAMES_PER_EMBEDDING
from training.export import head_graph, vad_graph
from training.export.head_graph import EmotionScale, sums_size, write_clarity, write_emotion
from training.export.manifest import update_manifest, write_model
from training.export.specs import LARGE, RECORDING_PARAMS, SETS, STANDARD, VOICE, VOICE_PARAMS, ModelSet, specs_of
from training.export.vad_graph import read_vad, write_vad
from training.features import log_mel
from training.features.spec import FILTERBANKS, VOICE_FILTERBANKS
from training.features.windows import SEGMENT_PARAMS, WINDOW_PARAMS
from training.heads import clarity, emotion, linear
from training.reporting.cards import write_cards
from training.vad import dataset, speech_check
from training.vad import train as vad_train
from training.vad.detector import Detector
from training.vad.model import LOOKAHEAD, VadNet

# Less speech than this lowers the confidence.
EMOTION_SHORT_SECONDS = 3
CLARITY_SHORT_SECONDS = 10
FITTED = "fitted.json"
STREAM_PARAMS = {"stateSize": sum(vad_graph.SIZES), "settleFrames": vad_graph.SETTLED, "lookaheadFrames": LOOKAHEAD}
TONE_PARAMS = {"lowArousal": 0.45, "highArousal": 0.55, "veryLowValence": 0.25, "lowValence": 0.45, "highValence": 0.55}


def folder_of(models: ModelSet) -> Path:
    return settings.MODELS.with_name(models.name)


def train_vad() -> None:
    net = vad_train.train(settings.SIZES.vad_steps)
    write_vad_model(net, vad_train.measure_vad(net))


def fit_speech_check() -> None:
    """On the frames of the VAD model that is there: its speech and syllables stay as they are, and no later step is needed."""
    manifest = json.loads((settings.MODELS / "vad" / "manifest.json").read_text())
    write_vad_model(read_vad(settings.weights("vad")), manifest["training"]["metrics"])
    for models in SETS.values():
        if folder_of(models).exists():
            share_vad(models)
            finish(models)


def share_vad(models: ModelSet) -> None:
    """Of models/standard, with every other set."""
    if models is not STANDARD:
        shutil.copytree(settings.MODELS / "vad", folder_of(models) / "vad", dirs_exist_ok=True)


def write_vad_model(net: VadNet, metrics: dict) -> None:
    """Fits the speech check of the network. `metrics`: of its other outputs"""
    graph = settings.CACHE / "vad.onnx"
    min_voice, check_metrics = speech_check.fit(net)
    write_vad(net, graph)
    params = SEGMENT_PARAMS | {"stream": STREAM_PARAMS, "minVoice": min_voice} | RECORDING_PARAMS
    write_model(specs_of(STANDARD)["vad"], graph, settings.MODELS, params, dataset.is_fitted, metrics | check_metrics)


def write_trunk(models: ModelSet) -> None:
    filterbanks = {"filterbanks": FILTERBANKS} if "filterbanks" in encoders.inputs_of(models.layers) else {}
    params = {"framesPerToken": FRAMES_PER_EMBEDDING, **WINDOW_PARAMS, **filterbanks}
    write_model(specs_of(models)["trunk"], encoders.graph_of(models.layers), folder_of(models), params, encoders.gave_scales)


def write_voice(models: ModelSet) -> None:
    base, rest = (settings.CACHE / name for name in ("base.onnx", "voice.onnx"))
    encoders.write_voice(base, rest)
    params = VOICE_PARAMS | {"base": {"file": base.name, "sha256": cache.file_hash(base)}}
    write_model(VOICE, rest, folder_of(models), params, encoders.gave_scales, features=VOICE_FILTERBANKS)
    shutil.copyfile(base, folder_of(models) / VOICE.name / base.name)


def fit_voices() -> None:
    """Writes the voice model of every set again: no other model reads it."""
    for models in SETS.values():
        if folder_of(models).exists():
            write_voice(models)
            finish(models)


def load_utterances(models: ModelSet) -> Utterances:
    """By the trunk of models/large, which has the layers of every set."""
    return embeddings.load(folder_of(LARGE) / "trunk").of_layers(models.layers)


def load_copies(models: ModelSet) -> Copies:
    """Of rated recordings."""
    rated = (models.recipe.rated, models.recipe.clarity)
    copies = intervals.rated_copies(rated, folder_of(LARGE) / "trunk")
    return replace(copies, utterances=copies.utterances.of_layers(models.layers))


def fits_of(models: ModelSet, without: frozenset[int]) -> Fits:
    clips = read_clips()
    return Fits(load_utterances(models), emotion.targets_of(clips, models.recipe), clips, models.recipe, without)


def scale_of(models: ModelSet) -> EmotionScale:
    """The temperature of the shipped head; valence and arousal as they are"""
    manifest = json.loads((folder_of(models) / "emotion" / "manifest.json").read_text())
    return EmotionScale(manifest["training"]["metrics"]["temperature"], np.ones(2), np.zeros(2), np.ones(2))


def relative_params(labels: dict) -> dict:
    return dict.fromkeys(DIMENSIONS, 1) | {"labels": labels}


def fit_speaker_labels() -> None:
    """The prior of labels relative to the speaker, of every set: no later step is needed."""
    for models in SETS.values():
        if folder_of(models).exists():
            fits, scale = fits_of(models, frozenset()), scale_of(models)
            groups = (strangers.acted_groups(models.recipe), strangers.ordinary_groups(models.recipe))
            acted, calm = (Recordings.of(fits.of_strangers(names), fits.store, scale) for names in groups)
            update_manifest(folder_of(models) / "emotion", {"relative": relative_params(speaker_labels.fit(acted, calm, fits.clips, models.recipe))})
            finish(models)


@dataclass(frozen=True)
class Trained:
    """An emotion head."""

    calibration: EmotionCalibration
    known: LeftOut  # heads without folds of speakers
    fitted: frozenset[int]  # indices of the clips of all of these


def train_emotion(models: ModelSet, folder: Path, without: frozenset[int] = frozenset()) -> Trained:
    """`without`: clip indices that nothing is fitted on"""
    fits = fits_of(models, without)
    known = fits.without_each(speakers_groups(fits.clips, models.recipe))
    head, found = fits.head(), calibrate(fits, known.answers(fits.store))
    graph = settings.CACHE / f"{folder.name}-emotion.onnx"
    write_emotion(head, found.scale, graph)
    params = {"dimensions": list(DIMENSIONS), "intervals": dict.fromkeys(DIMENSIONS, UNFITTED), "degradations": DEGRADATION_PARAMS,
              "shortSpeechSeconds": EMOTION_SHORT_SECONDS, **found.params(), "moments": found.moments | {"logOddsHalfWidth": intervals.UNFITTED_LOG_ODDS}, "tone": TONE_PARAMS, "relative": relative_params(found.speaker_labels)}  # fmt: skip
    write_model(specs_of(models)["emotion"], graph, folder, params, lambda clip: clip.index in head.fitted, found.metrics)
    return Trained(found, known, head.fitted | known.fitted)


@dataclass(frozen=True)
class Rated:
    """Recordings with a rating of clarity."""

    recordings: Utterances
    timing: np.ndarray  # [n,3] logarithms of CLARITY_TIMING
    truth: np.ndarray  # [n]

    def head(self, held: np.ndarray) -> clarity.ClarityHead:
        """`held` bool [n]: left out"""
        return clarity.fit(clarity.moments_of(self.recordings.where(~held)), self.timing[~held], self.truth[~held])


@cached
def load_rated(models: ModelSet) -> Rated:
    clips = read_clips()
    targets = clarity.targets_of(clips)
    recordings = load_utterances(models).by_recording()
    recordings = recordings.where(~np.isnan(targets[recordings.clips]))
    vad = Detector(settings.weights("vad"))
    source = log_mel.of_corpora()
    timing = np.stack([reference.log_timing(vad, source.of(clips[i])) for i in recordings.clips])
    return Rated(recordings, timing, targets[recordings.clips])


def train_clarity(models: ModelSet, folder: Path, without: frozenset[int] = frozenset()) -> None:
    rated = load_rated(models)
    held = np.isin(rated.recordings.clips, list(without))
    head = rated.head(held)
    graph = settings.CACHE / f"{folder.name}-cognitive.onnx"
    write_clarity(head.linear, rated.recordings.means.mean(0), graph)
    timing, counts = reference.fit_timing_params()
    params = {"intervals": {"clarity": UNFITTED}, "degradations": DEGRADATION_PARAMS, "poolingSums": sums_size(rated.recordings.means.shape[1]),
              "clarityTiming": head.params(), "shortSpeechSeconds": CLARITY_SHORT_SECONDS, **timing}  # fmt: skip
    spec = specs_of(models)["cognitive"]
    listed = ", ".join(f"{count} of {name}" for name, count in counts.items())
    spec = replace(spec, limits=tuple(text.format(counts=listed) for text in spec.limits))
    write_model(spec, graph, folder, params, lambda clip: clip.corpus in spec.corpora and clip.index not in without)


def fit_intervals(models: ModelSet, folder: Path, trained: Trained) -> None:
    """The shipped pipeline says how poor the rated recordings and their copies are."""
    recipe, copies, clips = models.recipe, load_copies(models), read_clips()
    audio = intervals.audio_of(copies, folder)
    targets = emotion.targets_of(clips, recipe)
    found = Recordings.of(trained.known.answers(copies.utterances, copies.clips), copies.utterances, trained.calibration.scale)
    rated = found.where(np.isin(copies.clips[found.clips], [clip.index for clip in clips if clip.corpus == recipe.rated]))
    rules, metrics = {}, {}
    for place, name in enumerate(DIMENSIONS):
        truth = targets.dimensions[copies.clips[rated.clips], place]
        errors = intervals.errors_of(copies, rated.clips, truth, rated.dimensions[:, place], audio)
        rules[name], covered = intervals.fit_rule(name, errors)
        metrics |= covered
    half = moments.half_width(moments.log_odds_of(rated.probabilities, recipe.labels), copies, rated.clips)
    update_manifest(folder / "emotion", {"intervals": rules, "moments": trained.calibration.moments | {"logOddsHalfWidth": half}}, metrics)
    rule, covered = fit_clarity_interval(models, copies, audio, [group for group, _ in trained.known.heads])
    update_manifest(folder / "cognitive", {"intervals": {"clarity": rule}}, covered)


def fit_clarity_interval(models: ModelSet, copies: Copies, audio: list[dict], groups: list[set[int]]) -> tuple[dict, dict]:
    """`groups`: clip indices of folds of speakers, which are all that may be used"""
    rated = load_rated(models)
    used = set().union(*groups)
    place = {clip: row for row, clip in enumerate(rated.recordings.clips.tolist()) if clip in used}
    asked = copies.utterances.by_recording()
    asked = asked.where(np.isin(copies.clips[asked.clips], list(place)))
    owners = copies.clips[asked.clips]
    rows = np.array([place[clip] for clip in owners.tolist()])
    predicted = np.zeros(len(asked))
    for group in groups:
        own = np.isin(owners, list(group))
        head = rated.head(~np.isin(rated.recordings.clips, list(used - group)))
        predicted[own] = head.predict(clarity.moments_of(asked.where(own)), rated.timing[rows[own]])
    return intervals.fit_rule("clarity", intervals.errors_of(copies, asked.clips, rated.truth[rows], predicted, audio))


def fitted_in(folder: Path) -> set[int]:
    """Indices of the clips that the emotion head of a judging folder, and what calibrated it, were fitted on."""
    return set(json.loads((folder / FITTED).read_text()))


def judging_folder(models: ModelSet, without: frozenset[int], with_intervals: bool) -> Path:
    """Folder in the cache: the trunk and VAD model of a set, with heads and calibration that clips of `without` had no part in."""

    def make(folder: Path) -> None:
        for kind in ("vad", "trunk"):
            shutil.copytree(folder_of(models) / kind, folder / kind, dirs_exist_ok=True)
        trained = train_emotion(models, folder, without)
        train_clarity(models, folder, without)
        if with_intervals:
            fit_intervals(models, folder, trained)
        (folder / FITTED).write_text(json.dumps(sorted(trained.fitted)))

    manifests = [json.loads((folder_of(models) / kind / "manifest.json").read_text()) for kind in ("vad", "trunk")]
    inputs = {"models": [[manifest["weights"], manifest["params"]] for manifest in manifests], "without": cache.digest(sorted(without)),
              "intervals": with_intervals, "recipe": asdict(models.recipe), "reference": cache.file_hash(reference.BASELINE_RESULT),
              "code": cache.code_hash(emotion, clarity, linear, strangers, emotion_calibration, moments, intervals, head_graph, speaker_labels)}  # fmt: skip
    return cache.build(f"judging-{models.name}", inputs, make)


def build_service() -> None:
    subprocess.run(["npm", "run", "--silent", "build:service"], cwd=settings.REPOSITORY, check=True)


def finish(models: ModelSet) -> None:
    """Cards and golden outputs."""
    folder = folder_of(models)
    write_cards(models, folder)
    golden = ["node", "--import", "tsx", "training/export/golden.ts", str(folder)]
    subprocess.run(golden, cwd=settings.REPOSITORY, check=True)


def train_set(models: ModelSet) -> None:
    folder = folder_of(models)
    write_trunk(models)
    write_voice(models)
    share_vad(models)
    trained = train_emotion(models, folder)
    train_clarity(models, folder)
    build_service()
    fit_intervals(models, folder, trained)
    several_speakers.fit(models, folder, load_utterances(models))
    finish(models)


STEPS: dict[str, Callable[[], None]] = {
    "vad": train_vad,
    "encoders": lambda: write_trunk(LARGE),
    **{name: lambda models=models: train_set(models) for name, models in SETS.items()},
    "speech-check": fit_speech_check,
    "voice": fit_voices,
    "speaker-labels": fit_speaker_labels,
}
REPEATS = ("speech-check", "voice", "speaker-labels")  # repeat part of an earlier step: `all` leaves them out


def train(step: str) -> None:
    for name in [name for name in STEPS if name not in REPEATS] if step == "all" else [step]:
        started = time.time()
        STEPS[name]()
        print(f"{name} took {time.time() - started:.0f} s", flush=True)
