"""Fits one model on the speakers that are not held out, and writes its folder."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

import activity
import cognitive
import emotion
import fast
import features
import heads
import intervals
import manifest
import sounds
import timing
import tokens as token_store
import trunk
import voice
from corpus import CACHE, EMOTIONAL, EMOTIONS, LABELLED, MODELS, SPOKEN, THREADS, read_clips
from scores import sigmoid, softmax
from tune_data import UNSEEN_CORPUS, tuned, tuned_feeling
from windows import RULE

UNHEARD = 1.15  # softer than speakers left out ask for: corpora left out are guessed less well
TUNED_ON = [*(name for name in LABELLED if name != UNSEEN_CORPUS), "ESC10", "RIR"]
NON_COMMERCIAL = "Weights for research and non-commercial use: see the licences of the training data"


@dataclass(frozen=True)
class Variant:
    """Where a set of models lies, what its tokens are called and how many networks a head averages."""

    models: Path
    tokens: str
    ensemble: int


DEFAULT = Variant(MODELS, "corpora", 2)
FAST = Variant(MODELS.with_name(f"{MODELS.name}-fast"), "fast", 1)


def rule_of(body: trunk.Trunk) -> dict:
    return {"windowSeconds": trunk.WINDOW_SECONDS, "framesPerToken": body.frames_per_token}


def fit_trunk() -> None:
    path, body = str(CACHE / "trunk.onnx"), tuned()
    trunk.write_trunk(body, path)
    manifest.write(
        "trunk",
        path,
        description="Whisper-tiny.en's convolutional stem and first two encoder layers, tuned on emotion, "
        "valence, arousal and clarity at once; level normalised, convolutions and linear layers in int8",
        outputs=["tokens"],
        rule=rule_of(body),
        data=manifest.data_of(TUNED_ON),
        metrics={},
        limits=[
            "Begun from OpenAI's Whisper-tiny.en (MIT), trained on English speech.",
            f"{UNSEEN_CORPUS} took no part in tuning: recipes were compared on it as a corpus wholly left out.",
        ],
        licence=NON_COMMERCIAL,
    )


def fit_fast() -> None:
    """The distilled trunk (fast.py), beside the same activity model."""
    path, body = str(CACHE / "fast.onnx"), fast.distilled()
    trunk.write_trunk(body, path)
    shutil.copytree(MODELS / "activity", FAST.models / "activity", dirs_exist_ok=True)
    manifest.write(
        "trunk",
        path,
        FAST.models,
        description="Distilled from the default trunk: half the tokens, a third of the inner width; "
        "level normalised, convolutions and linear layers in int8",
        outputs=["tokens"],
        rule=rule_of(body),
        data=manifest.data_of(TUNED_ON),
        metrics={},
        limits=["Less accurate than the trunk it learned from: docs/models.md has both."],
        licence=NON_COMMERCIAL,
    )


def fit_activity(steps: int) -> None:
    net = activity.train(steps)
    bound, false = voice.fit(net)
    torch.save(net.state_dict(), CACHE / "activity.pt")
    path = str(CACHE / "activity.onnx")
    activity.write_activity(net, path)
    sets = [*SPOKEN, "EmoGator", "ESC10"]
    manifest.write(
        "activity",
        path,
        description="Speech probability and syllable rate of each 10 ms frame, and whether it is speech or another sound",
        outputs=["speech", "syllable_rate", "voice"],
        rule=RULE | {"minVoice": bound},
        data=[*manifest.data_of(sets), openmsx()],
        metrics=activity.report(net) | false,
        limits=[
            "The teacher of speech is Silero VAD 6 (MIT), not human labels; laughter, crying and other bursts "
            "of voice without words count as no speech.",
            "Syllables are learned from English sentences alone.",
            "Music was learned from synthesised pieces alone; singing is a voice and may pass for speech.",
        ],
        licence=NON_COMMERCIAL,
    )


def openmsx() -> dict:
    """What the activity model heard of it, beside made music (music.py)."""
    parts = [path for path in features.load("music").paths if not sounds.held_out(path) and not path.startswith("music-")]
    pieces = len({path.rsplit("-", 1)[0] for path in parts})
    return {"name": f"openmsx ({pieces} pieces)", "licence": "GPL-2.0", "clips": len(parts)}


def temperature_of(logits: np.ndarray, mask: np.ndarray, label: np.ndarray) -> float:
    def cost(temperature: float) -> float:
        z = (logits + mask) / temperature
        z = z - z.max(1, keepdims=True)
        return float(np.mean(np.log(np.exp(z).sum(1)) - z[np.arange(len(z)), label]))

    grid = np.geomspace(0.5, 3, 60)
    return float(grid[np.argmin([cost(t) for t in grid])])


def unsure_below(logits: np.ndarray, label: np.ndarray, temperature: float) -> float:
    """The top probability under which left-out clips are right less than half the time."""
    p = softmax(logits / temperature)
    top, right = p.max(1), p.argmax(1) == label
    low = 0.2
    for edge in np.arange(0.2, 0.9, 0.02):
        inside = right[(top >= edge) & (top < edge + 0.06)]
        if inside.size and inside.mean() < 0.5:
            low = edge + 0.03
    return round(float(low), 2)


def calibrate(values, rows, clips, targets):
    """Temperature, lines of valence and arousal, first intervals and the bound of low confidence, from speakers held out.

    The trunk has heard the training speakers, so that folds among them would flatter. values [clips,10], rows: their
    clips in the index.
    """
    known = targets.label[rows] >= 0
    logits, mask, label = values[known, :8], targets.mask[rows[known]], targets.label[rows[known]]
    temperature = UNHEARD * temperature_of(logits, mask, label)
    rated = np.array([clips[i].corpus == "TAVA" for i in rows])
    slopes, shifts, widths = [], [], {}
    for axis, name in enumerate(("valence", "arousal")):
        guess, truth = sigmoid(values[rated, 8 + axis]), targets.axes[rows[rated], axis]
        slope = float(truth.std() / guess.std())  # equal spread: what the concordance asks for
        shift = float(truth.mean() - slope * guess.mean())
        widths[name] = intervals.without_conditions(truth, np.clip(slope * guess + shift, 0, 1))
        slopes.append(slope)
        shifts.append(shift)
    calibration = emotion.Calibration(temperature, np.array(slopes), np.array(shifts))
    return calibration, widths, unsure_below(logits, label, temperature)


def heard_by(variant: Variant, useful) -> tuple:
    """-> clips, tokens, windows to fit on, windows of the speakers held out; `useful` picks windows that teach."""
    clips, store = read_clips(), token_store.load(variant.tokens)
    members = useful(clips, store)
    held = np.array([clips[i].held_out for i in store.clips[members]])
    return clips, store, members[~held], members[held]


def fit_emotion(variant: Variant) -> None:
    clips, store, known, held = heard_by(variant, lambda clips, store: emotion.useful(store, emotion.targets_of(clips)))
    targets = emotion.targets_of(clips)
    feeling = [tuned_feeling(), *emotion.fit(store, targets, known, variant.ensemble - 1)]
    rows, values = emotion.per_clip(store, held, heads.predict(feeling, store, held))
    calibration, widths, low = calibrate(values, rows, clips, targets)
    path = str(CACHE / f"{variant.tokens}.emotion.onnx")
    emotion.write_emotion(feeling, calibration, path)
    manifest.write(
        "emotion",
        path,
        variant.models,
        description="Eight emotion categories, valence and arousal",
        outputs=["probabilities", "valence", "arousal"],
        labels=EMOTIONS,
        rule={"intervals": widths, "shortSpeechSeconds": 3, "lowConfidence": low},
        data=manifest.data_of([*EMOTIONAL, "BAVED", "TAVA"]),
        metrics={},
        limits=[
            "Acted recordings in English, Italian, Polish, Amharic and Korean: natural speech is further away.",
            "Calm was heard in RAVDESS and TAVA only.",
            "Valence leans on few rated recordings, all English; arousal travels better.",
            "Temperature, lines and intervals were set on the held-out speakers, two of them rated.",
        ],
        licence=NON_COMMERCIAL,
    )


def fit_cognitive(variant: Variant) -> None:
    def scored(clips, store) -> np.ndarray:
        return np.flatnonzero(~np.isnan(cognitive.targets_of(clips)[store.clips]))

    clips, store, known, held = heard_by(variant, scored)
    targets = cognitive.targets_of(clips)
    clarity = cognitive.fit(store, targets, known, variant.ensemble)
    rows, values = emotion.per_clip(store, held, heads.predict(clarity, store, held))
    guess, truth = values[:, 0], targets[rows]
    slope, shift = (float(v) for v in np.polyfit(guess, truth, 1))
    line = np.clip(slope * guess + shift, 0, 1)
    reference, counts = timing.reference(str(MODELS / "activity" / "weights.onnx"))
    path = str(CACHE / f"{variant.tokens}.cognitive.onnx")
    cognitive.write_cognitive(clarity, slope, shift, path)
    heard = ", ".join(f"{count} of {name}" for name, count in counts.items())
    manifest.write(
        "cognitive",
        path,
        variant.models,
        description="Clarity of delivery as experts judge fluency and prosody, and the reference of timing measures",
        outputs=["clarity"],
        rule={
            "intervals": {"clarity": intervals.without_conditions(truth, line)},
            "shortSpeechSeconds": 10,
            "priorSeconds": timing.PRIOR_SECONDS,
            "scripted": timing.SCRIPTED,
            "reference": reference,
            "otherSpeaker": timing.RELATIVE["otherSpeaker"],
            "cognitiveLoad": timing.weights_of(timing.LOAD, timing.LOAD_RELATIVE),
            "processing": timing.weights_of(timing.PROCESSING, {}),
        },
        data=manifest.data_of([cognitive.CORPUS, "LibriSpeech", "AMI"]),
        metrics={},
        limits=[
            "Clarity was judged on English sentences read by Mandarin speakers, half of them children.",
            f"Timing references: recordings with 5 s of speech or more ({heard}), mostly read.",
            "No public recordings carry labels of cognitive load: the index is documented, not learned.",
        ],
        licence="The head: Apache-2.0, trained on CC BY 4.0 recordings. The trunk it needs was tuned on non-commercial sets too",
    )


if __name__ == "__main__":
    torch.set_num_threads(THREADS)
    kind = sys.argv[1]
    variant = FAST if sys.argv[2:] == ["fast"] else DEFAULT
    if kind == "activity":
        fit_activity(int(sys.argv[2]))
    elif kind in ("trunk", "fast"):
        {"trunk": fit_trunk, "fast": fit_fast}[kind]()
    else:
        {"emotion": fit_emotion, "cognitive": fit_cognitive}[kind](variant)
