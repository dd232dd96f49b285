"""Heads as ONNX graphs: embeddings `tokens` [1,N,384] and weights [1,N] -> calibrated scores.

A graph averages the networks of an ensemble before calibration.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torch import nn

from training.corpora.labels import DIMENSIONS, EMOTIONS, PLACES
from training.encoder.trunk import WIDTH
from training.export.graph import Graph, numpy_of
from training.heads.attention_head import HIDDEN, QUERIES, VARIANCE_FLOOR, AttentionHead, LinearHead
from training.heads.distance import Distance
from training.heads.fit import Heads
from training.heads.speaker import VoiceNetwork


def write_moments(g: Graph, x: str, w: str) -> tuple[str, str]:
    """x [1,N,D], w [1,1,N] -> mean and standard deviation [1,1,D]"""
    mean = g.op("MatMul", w, x)
    square = g.op("MatMul", w, g.op("Mul", x, x))
    variance = g.op("Relu", g.op("Sub", square, g.op("Mul", mean, mean)))
    return mean, g.op("Sqrt", g.op("Add", variance, g.scalar(VARIANCE_FLOOR)))


def write_linear(g: Graph, x: str, linear: nn.Linear) -> str:
    weight = g.constant(numpy_of(linear, "weight").T)
    return g.op("Add", g.op("MatMul", x, weight), g.constant(numpy_of(linear, "bias")))


def write_linear_head(g: Graph, head: LinearHead, embeddings: str, w: str) -> str:
    """w [1,1,N] -> [1,1,outputs]"""
    return write_linear(g, g.op("Concat", *write_moments(g, embeddings, w), axis=2), head.clip)


def write_moment_branch(g: Graph, head: AttentionHead, embeddings: str, w: str) -> str:
    """The part that is linear in the moments of the embeddings -> [1,1,outputs]"""
    mean, scale = g.constant(head.mean.numpy()), g.constant(1 / head.std.numpy())
    centre, deviation = write_moments(g, embeddings, w)
    centre, deviation = g.op("Mul", g.op("Sub", centre, mean), scale), g.op("Mul", deviation, scale)
    return write_linear(g, g.op("Concat", centre, deviation, axis=2), head.clip)


def write_attention_head(g: Graph, head: AttentionHead, embeddings: str, w: str) -> str:
    """w [1,1,N] -> [1,1,outputs]"""
    h, scores = write_scores(g, head, embeddings, w)
    last = g.integers(2)
    attention = g.op("Div", scores, g.op("ReduceSum", scores, last, keepdims=1))
    attended = g.op("Reshape", g.op("MatMul", attention, h), g.integers(1, 1, QUERIES * HIDDEN))
    pooled = g.op("Concat", *write_moments(g, h, w), attended, axis=2)
    return g.op("Add", write_linear(g, pooled, head.out), write_moment_branch(g, head, embeddings, w))


def write_scores(g: Graph, head: AttentionHead, embeddings: str, w: str) -> tuple[str, str]:
    """-> frame layer [1,N,HIDDEN], its scores times w [1,QUERIES,N]"""
    weight, bias = (v.detach().numpy() for v in head.folded_frame_layer())
    h = g.op("Gelu", g.op("Add", g.op("MatMul", embeddings, g.constant(weight.T)), g.constant(bias)))
    quarter, four = g.scalar(0.25), g.scalar(4)
    bounded = g.op("Mul", g.op("Tanh", g.op("Mul", write_linear(g, h, head.query), quarter)), four)
    return h, g.op("Mul", g.op("Transpose", g.op("Exp", bounded), perm=[0, 2, 1]), w)


def write_inputs(g: Graph) -> tuple[str, str]:
    """-> embeddings [1,N,384], weights [1,1,N] that sum to 1"""
    embeddings, weights = g.input("tokens", [1, "tokens", WIDTH]), g.input("weights", [1, "tokens"])
    axis = g.integers(1)
    return embeddings, g.op("Unsqueeze", g.op("Div", weights, g.op("ReduceSum", weights, axis, keepdims=1)), axis)


def write_ensemble(g: Graph, heads: Heads, embeddings: str, w: str) -> str:
    """-> mean of the heads [1,1,outputs]"""
    parts = [
        (write_attention_head if isinstance(head, AttentionHead) else write_linear_head)(g, head, embeddings, w)
        for head in heads
    ]
    return g.op("Mul", functools.reduce(lambda total, part: g.op("Add", total, part), parts), g.scalar(1 / len(heads)))


def write_affine(g: Graph, value: str, slope: float, intercept: float, name: str) -> None:
    """The output `name` [1]: slope * value + intercept, clipped to [0, 1]."""
    slope_at, intercept_at = g.scalar(slope), g.scalar(intercept)
    line = g.op("Add", g.op("Mul", value, slope_at), intercept_at)
    g.output(g.op("Clip", line, g.scalar(0), g.scalar(1)), name, [1])


@dataclass(frozen=True)
class EmotionScale:
    """From the outputs of the head to scores.

    `neutral` is added to the logit of neutral. The spread of valence and of arousal is sqrt(floor + gain * variance), where the
    variance is that of the categories' values under their probabilities.
    """

    neutral: float
    temperature: float
    slopes: np.ndarray  # [2] of valence and arousal
    intercepts: np.ndarray  # [2]
    spread_floor: np.ndarray  # [2]
    spread_gain: np.ndarray  # [2]
    near: float
    growth: float  # of temperature and spreads, per unit of distance beyond `near`; fitted on the categories

    def save(self, path: Path) -> None:
        path.write_text(json.dumps({name: np.asarray(value).tolist() for name, value in vars(self).items()}) + "\n")

    @staticmethod
    def load(path: Path) -> EmotionScale:
        values = json.loads(path.read_text())
        return EmotionScale(**{name: np.array(value) if isinstance(value, list) else value for name, value in values.items()})


def write_distance(g: Graph, distance: Distance, embeddings: str, w: str) -> str:
    """-> [1]"""
    moments = g.op("Concat", *write_moments(g, embeddings, w), axis=2)
    along = g.op("MatMul", g.op("Sub", moments, g.constant(distance.centre)), g.constant(distance.projection))
    mean = g.op("ReduceMean", g.op("Mul", along, along), g.integers(2), keepdims=0)
    return g.op("Reshape", g.op("Sqrt", mean), g.integers(1))


def write_emotion(heads: Heads, scale: EmotionScale, distance: Distance, path: Path) -> None:
    """Outputs probabilities [1,8]; valence, arousal, their spreads and the distance [1]."""
    g = Graph("emotion")
    embeddings, w = write_inputs(g)
    outputs = g.op("Squeeze", write_ensemble(g, heads, embeddings, w), g.integers(1))
    logits, *values = g.op("Split", outputs, g.integers(8, 1, 1), axis=1, outputs=3)
    apart = write_distance(g, distance, embeddings, w)
    beyond = g.op("Relu", g.op("Sub", apart, g.scalar(scale.near)))

    def grown(start: float, growth: float) -> str:
        return g.op("Add", g.op("Mul", beyond, g.scalar(start * growth)), g.scalar(start))

    moved = g.op("Add", logits, g.constant(scale.neutral * np.eye(1, 8, dtype=np.float32)))
    probabilities = g.op("Softmax", g.op("Div", moved, grown(scale.temperature, scale.growth)), axis=-1)
    g.output(probabilities, "probabilities", [1, 8])
    flat, column, spreads = g.integers(1), grown(1, scale.growth), {}
    for index, name in enumerate(DIMENSIONS):
        score = g.op("Reshape", g.op("Sigmoid", values[index]), flat)
        write_affine(g, score, scale.slopes[index], scale.intercepts[index], name)
        places = np.array([PLACES[name][label] for label in EMOTIONS], np.float32)[:, None]
        mean, square = (g.op("Reshape", g.op("MatMul", probabilities, g.constant(p)), flat) for p in (places, places**2))
        variance = g.op("Relu", g.op("Sub", square, g.op("Mul", mean, mean)))
        inside = g.op("Add", g.op("Mul", variance, g.scalar(scale.spread_gain[index])), g.scalar(scale.spread_floor[index]))
        spreads[f"{name}_spread"] = g.op("Mul", g.op("Sqrt", inside), column)
    for name, spread in spreads.items():
        g.output(spread, name, [1])
    g.output(apart, "distance", [1])
    g.save(path)


def sums_of(head: AttentionHead | LinearHead) -> list[int]:
    """Sizes of what a head adds up over embeddings: weights; standardised embeddings, and their squares; of a network the same of its frame
    layer, and per query scores and scored outputs."""
    own = [HIDDEN, HIDDEN, QUERIES, QUERIES * HIDDEN] if isinstance(head, AttentionHead) else []
    return [1, WIDTH, WIDTH, *own]


def write_sums(g: Graph, head: AttentionHead | LinearHead, embeddings: str, w: str, mean: np.ndarray, std: np.ndarray) -> list[str]:
    """w [1,1,N], not normalised -> [1,1,size] of each of `sums_of`"""

    def total(x: str) -> str:
        return g.op("MatMul", w, x)

    def square(x: str) -> str:
        return g.op("Mul", x, x)

    z = g.op("Mul", g.op("Sub", embeddings, g.constant(mean)), g.constant(1 / std))
    parts = [g.op("ReduceSum", w, g.integers(2), keepdims=1), total(z), total(square(z))]
    if isinstance(head, AttentionHead):
        h, scores = write_scores(g, head, embeddings, w)
        attended = g.op("Reshape", g.op("MatMul", scores, h), g.integers(1, 1, QUERIES * HIDDEN))
        parts += [total(h), total(square(h)), g.op("Reshape", g.op("ReduceSum", scores, g.integers(2), keepdims=1), g.integers(1, 1, QUERIES)), attended]
    return parts


def write_head_of_sums(g: Graph, head: AttentionHead | LinearHead, sums: list[str], mean: np.ndarray, std: np.ndarray) -> str:
    """The head over all embeddings that were added up -> [1,1,outputs]"""
    weight, first, second, *own = sums

    def moments_of(one: str, two: str, floor: str) -> tuple[str, str]:
        centre = g.op("Div", one, weight)
        variance = g.op("Relu", g.op("Sub", g.op("Div", two, weight), g.op("Mul", centre, centre)))
        return centre, g.op("Sqrt", g.op("Add", variance, floor))

    centre, deviation = moments_of(first, second, g.constant(VARIANCE_FLOOR / std**2))
    if not isinstance(head, AttentionHead):
        scale = g.constant(std)
        centre, deviation = g.op("Add", g.op("Mul", centre, scale), g.constant(mean)), g.op("Mul", deviation, scale)
        return write_linear(g, g.op("Concat", centre, deviation, axis=2), head.clip)
    hidden = moments_of(own[0], own[1], g.scalar(VARIANCE_FLOOR))
    by_query = g.op("Reshape", own[3], g.integers(1, QUERIES, HIDDEN))
    attended = g.op("Div", by_query, g.op("Reshape", own[2], g.integers(1, QUERIES, 1)))
    pooled = g.op("Concat", *hidden, g.op("Reshape", attended, g.integers(1, 1, QUERIES * HIDDEN)), axis=2)
    return g.op("Add", write_linear(g, pooled, head.out), write_linear(g, g.op("Concat", centre, deviation, axis=2), head.clip))


def pooling_sums(heads: Heads) -> int:
    return sum(size for head in heads for size in sums_of(head))


def write_clarity(heads: Heads, slope: float, intercept: float, path: Path) -> None:
    """tokens, weights and `sums` [1,S] of the utterances before -> clarity [1] of all, next_sums [1,S]; S is `pooling_sums`."""
    g = Graph("cognitive")
    embeddings, w = g.input("tokens", [1, "tokens", WIDTH]), g.op("Unsqueeze", g.input("weights", [1, "tokens"]), g.integers(1))
    sizes = [size for head in heads for size in sums_of(head)]
    before = g.op("Unsqueeze", g.input("sums", [1, sum(sizes)]), g.integers(1))
    scaled = [(head.mean.numpy(), head.std.numpy()) if isinstance(head, AttentionHead) else standard_scale(heads) for head in heads]
    new = [part for head, of in zip(heads, scaled) for part in write_sums(g, head, embeddings, w, *of)]
    sums = g.op("Add", before, g.op("Concat", *new, axis=2))
    parts = iter(g.op("Split", sums, g.integers(*sizes), axis=2, outputs=len(sizes)))
    outputs = [write_head_of_sums(g, head, [next(parts) for _ in sums_of(head)], *of) for head, of in zip(heads, scaled)]
    mean = g.op("Mul", functools.reduce(lambda total, part: g.op("Add", total, part), outputs), g.scalar(1 / len(heads)))
    write_affine(g, g.op("Reshape", mean, g.integers(1)), slope, intercept, "clarity")
    g.output(g.op("Squeeze", sums, g.integers(1)), "next_sums", [1, sum(sizes)])
    g.save(path)


def standard_scale(heads: Heads) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of the embeddings, as a network knows them: sums of centred values keep their precision."""
    for head in heads:
        if isinstance(head, AttentionHead):
            return head.mean.numpy(), head.std.numpy()
    return np.zeros(WIDTH, np.float32), np.ones(WIDTH, np.float32)


def write_voice(net: VoiceNetwork, path: Path) -> None:
    """Output voice [48], of length 1."""
    g = Graph("voice")
    embeddings, w = write_inputs(g)
    mean, scale = g.constant(net.mean.numpy()), g.constant(1 / net.std.numpy())
    x = g.op("Mul", g.op("Sub", g.op("MatMul", w, embeddings), mean), scale)
    x = write_linear(g, g.op("Relu", write_linear(g, x, net.hidden)), net.out)
    length = g.op("Sqrt", g.op("ReduceSum", g.op("Mul", x, x), g.integers(2), keepdims=1))
    g.output(g.op("Reshape", g.op("Div", x, length), g.integers(-1)), "voice", ["dimensions"])
    g.save(path)
