"""Emotion: eight categories, valence and arousal, from the trunk's tokens.

A corpus teaches only the categories it has: the others stay in its softmax, shifted down by
ABSENT, so that they are neither demanded nor excluded. Valence and arousal: TAVA's ratings weigh 4,
places derived from the category .3, BAVED's activation levels .3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch.nn import functional as F

import heads
from corpus import AROUSAL, BAVED_AROUSAL, EMOTIONAL, EMOTIONS, SEED, VALENCE, Clip
from graph import Graph
from tokens import Tokens
from trunk import WIDTH

ABSENT = -2.0
CLASS_WEIGHT = {"TESS": 0.25, "nEMO": 0.6, "SAVEE": 1.5, "EMOVO": 1.5, "EmotionTTSKorean": 1.5}
TAVA_LABELS = {
    "happy": "happy", "joyful": "happy", "tranquil": "calm", "serene": "calm", "depressed": "sad",
    "miserable": "sad", "frightened": "fearful", "enraged": "angry",
}  # fmt: skip
OUTPUTS = len(EMOTIONS) + 2
DECAY = [0.005] * len(EMOTIONS) + [0.1, 0.1]  # of the linear head: few clips are rated, so the axes are held tighter


@dataclass(frozen=True)
class Targets:
    """One row a clip of the index; label -1 and weight 0 where there is nothing to learn."""

    label: np.ndarray
    mask: np.ndarray
    class_weight: np.ndarray
    axes: np.ndarray
    axes_weight: np.ndarray


def targets_of(clips: list[Clip]) -> Targets:
    count = len(clips)
    label, class_weight = np.full(count, -1), np.zeros(count, np.float32)
    mask = np.full((count, len(EMOTIONS)), ABSENT, np.float32)
    axes, axes_weight = np.full((count, 2), 0.5, np.float32), np.zeros((count, 2), np.float32)
    present: dict[str, set[int]] = {}
    for clip in clips:
        name = TAVA_LABELS.get(clip.label) if clip.corpus == "TAVA" else clip.label
        if clip.corpus in (*EMOTIONAL, "TAVA") and name in EMOTIONS:
            label[clip.index] = EMOTIONS.index(name)
            class_weight[clip.index] = CLASS_WEIGHT.get(clip.corpus, 1.0)
            present.setdefault(clip.corpus, set()).add(EMOTIONS.index(name))
            strong = 0.1 if "intensity=2" in clip.row["extra"] else 0.0
            axes[clip.index] = VALENCE[name], AROUSAL[name] + strong
            axes_weight[clip.index] = 0.3 * class_weight[clip.index]
        if clip.corpus == "TAVA":
            axes[clip.index] = float(clip.row["valence"]), float(clip.row["arousal"])
            axes_weight[clip.index] = 4
        if clip.corpus == "BAVED":
            axes[clip.index, 1] = BAVED_AROUSAL[clip.label]
            axes_weight[clip.index, 1] = 0.3
    for clip in clips:
        mask[clip.index, list(present.get(clip.corpus, ()))] = 0
    return Targets(label, mask, class_weight, axes, axes_weight)


def loss_of(tokens: Tokens, targets: Targets):
    def loss(predicted: torch.Tensor, members: np.ndarray) -> torch.Tensor:
        rows = tokens.clips[members]
        logits = predicted[:, :8] + torch.from_numpy(targets.mask[rows])
        weight = torch.from_numpy(targets.class_weight[rows])
        label = torch.from_numpy(np.maximum(targets.label[rows], 0))
        each = F.cross_entropy(logits, label, reduction="none", label_smoothing=0.05)
        axes = torch.sigmoid(predicted[:, 8:])
        error = (axes - torch.from_numpy(targets.axes[rows])) ** 2
        axes_weight = torch.from_numpy(targets.axes_weight[rows])
        return (each * weight).mean() + 10 * (error * axes_weight).mean()

    return loss


def useful(tokens: Tokens, targets: Targets) -> np.ndarray:
    """Windows that teach something."""
    rows = tokens.clips
    return np.flatnonzero((targets.label[rows] >= 0) | (targets.axes_weight[rows].sum(1) > 0))


def fit(tokens: Tokens, targets: Targets, members: np.ndarray, count: int = 1, **options) -> list:
    """`count` networks and a linear head, to be averaged."""
    recipe = heads.Recipe(OUTPUTS, loss_of(tokens, targets), **options)
    networks = [heads.fit(tokens, members, recipe, SEED + i) for i in range(count)]
    return [*networks, heads.fit_linear(tokens, members, loss_of(tokens, targets), DECAY)]


def per_clip(tokens: Tokens, members: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Windows of a clip averaged by their frames of speech -> (clip indices, values)."""
    clips, owner = np.unique(tokens.clips[members], return_inverse=True)
    weight = tokens.speech_frames[members].astype(np.float64)
    total = np.bincount(owner, weight)
    sums = np.zeros((len(clips), values.shape[1]))
    np.add.at(sums, owner, values * weight[:, None])
    return clips, sums / total[:, None]


@dataclass
class Calibration:
    temperature: float
    slope: np.ndarray  # [2] of valence and arousal
    shift: np.ndarray


def write_emotion(members: list, calibration: Calibration, path: str) -> None:
    g = Graph("emotion")
    tokens, weights = g.input("tokens", [1, "tokens", WIDTH]), g.input("weights", [1, "tokens"])
    w, inner = heads.write_shares(g, weights), g.constant(np.array([1], np.int64))
    outputs = g.op("Squeeze", heads.write_ensemble(g, members, tokens, w), inner)
    parts = g.constant(np.array([8, 1, 1], np.int64))
    logits, valence, arousal = g.op("Split", outputs, parts, axis=1, outputs=3)
    scaled = g.op("Mul", logits, g.constant(np.float32(1 / calibration.temperature)))
    g.output(g.op("Softmax", scaled, axis=-1), "probabilities", [1, 8])
    flat = g.constant(np.array([1], np.int64))
    for index, (name, value) in enumerate((("valence", valence), ("arousal", arousal))):
        score = g.op("Reshape", g.op("Sigmoid", value), flat)
        slope, shift = (g.constant(np.float32(v[index])) for v in (calibration.slope, calibration.shift))
        line = g.op("Add", g.op("Mul", score, slope), shift)
        g.output(g.op("Clip", line, g.constant(np.float32(0)), g.constant(np.float32(1))), name, [1])
    g.save(path)
