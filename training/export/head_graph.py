"""Heads as ONNX graphs: embeddings `tokens` [1,N,width] and weights [1,N] -> calibrated scores.

A graph averages the networks of an ensemble before calibration.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torch import nn

from training.corpora.corpus import DIMENSIONS, EMOTIONS, PLACES
from training.export.graph import Graph, numpy_of
from training.heads.attention_head import HIDDEN, QUERIES, VARIANCE_FLOOR, AttentionHead
from training.heads.emotion import Distance
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


def write_scores(g: Graph, head: AttentionHead, embeddings: str, w: str) -> tuple[str, str]:
    """-> frame layer [1,N,HIDDEN], its scores times w [1,QUERIES,N]"""
    weight, bias = (v.detach().numpy() for v in head.folded_frame_layer())
    h = g.op("Gelu", g.op("Add", g.op("MatMul", embeddings, g.constant(weight.T)), g.constant(bias)))
    quarter = g.scalar(0.25)
    four = g.scalar(4)
    bounded = g.op("Mul", g.op("Tanh", g.op("Mul", write_linear(g, h, head.query), quarter)), four)
    return h, g.op("Mul", g.op("Transpose", g.op("Exp", bounded), perm=[0, 2, 1]), w)


def write_inputs(g: Graph, width: int, rows: int | str = 1) -> tuple[str, str]:
    """-> embeddings [1,N,width], weights [rows,1,N] that sum to 1"""
    embeddings = g.input("tokens", [1, "tokens", width])
    weights = g.input("weights", [rows, "tokens"])
    axis = g.integers(1)
    return embeddings, g.op("Unsqueeze", g.op("Div", weights, g.op("ReduceSum", weights, axis, keepdims=1)), axis)


def write_mean(g: Graph, parts: list[str]) -> str:
    total = functools.reduce(lambda total, part: g.op("Add", total, part), parts)
    return g.op("Mul", total, g.scalar(1 / len(parts)))


def write_layers(g: Graph, head: nn.Sequential, x: str) -> str:
    for layer in head:
        x = write_linear(g, x, layer) if isinstance(layer, nn.Linear) else g.op("Gelu", x)
    return x


def write_affine(g: Graph, value: str, slope: float, intercept: float, name: str) -> None:
    """The output `name` [1]: slope * value + intercept, clipped to [0, 1]."""
    slope_at = g.scalar(slope)
    intercept_at = g.scalar(intercept)
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


def write_distance(g: Graph, distance: Distance, moments: str) -> str:
    """moments [1,1,2 * width] -> [1]"""
    along = g.op("MatMul", g.op("Sub", moments, g.constant(distance.centre)), g.constant(distance.projection))
    mean = g.op("ReduceMean", g.op("Mul", along, along), g.integers(2), keepdims=0)
    return g.op("Reshape", g.op("Sqrt", mean), g.integers(1))


def write_emotion(heads: list[nn.Sequential], scale: EmotionScale, distance: Distance, path: Path) -> None:
    """Outputs probabilities [1,8]; valence, arousal, their spreads and the distance [1]. `heads`: of the moments, averaged."""
    g = Graph("emotion")
    moments = g.op("Concat", *write_moments(g, *write_inputs(g, len(distance.centre) // 2)), axis=2)
    outputs = g.op("Squeeze", write_mean(g, [write_layers(g, head, moments) for head in heads]), g.integers(1))
    logits, *values = g.op("Split", outputs, g.integers(8, 1, 1), axis=1, outputs=3)
    apart = write_distance(g, distance, moments)
    beyond = g.op("Relu", g.op("Sub", apart, g.scalar(scale.near)))

    def grown(start: float, growth: float) -> str:
        return g.op("Add", g.op("Mul", beyond, g.scalar(start * growth)), g.scalar(start))

    moved = g.op("Add", logits, g.constant(scale.neutral * np.eye(1, 8, dtype=np.float32)))
    probabilities = g.op("Softmax", g.op("Div", moved, grown(scale.temperature, scale.growth)), axis=-1)
    g.output(probabilities, "probabilities", [1, 8])
    flat = g.integers(1)
    column = grown(1, scale.growth)
    spreads = {}
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


def sum_sizes(head: AttentionHead) -> tuple[int, ...]:
    """Of what it adds up over embeddings: weights; standardised embeddings, and their squares; the same of its frame layer; per query scores and
    scored outputs."""
    return (1, head.width, head.width, HIDDEN, HIDDEN, QUERIES, QUERIES * HIDDEN)


def write_sums(g: Graph, head: AttentionHead, embeddings: str, w: str) -> list[str]:
    """w [1,1,N], not normalised -> [1,1,size] of each of `sum_sizes`"""

    def total(x: str) -> str:
        return g.op("MatMul", w, x)

    def square(x: str) -> str:
        return g.op("Mul", x, x)

    z = g.op("Mul", g.op("Sub", embeddings, g.constant(head.mean.numpy())), g.constant(1 / head.std.numpy()))
    h, scores = write_scores(g, head, embeddings, w)
    queries = g.op("Reshape", g.op("ReduceSum", scores, g.integers(2), keepdims=1), g.integers(1, 1, QUERIES))
    attended = g.op("Reshape", g.op("MatMul", scores, h), g.integers(1, 1, QUERIES * HIDDEN))
    return [g.op("ReduceSum", w, g.integers(2), keepdims=1), total(z), total(square(z)), total(h), total(square(h)), queries, attended]


def write_head_of_sums(g: Graph, head: AttentionHead, sums: list[str]) -> str:
    """The head over all embeddings that were added up -> [1,1,outputs]"""
    weight, first, second, hidden_first, hidden_second, queries, scored = sums

    def moments_of(one: str, two: str, floor: str) -> list[str]:
        centre = g.op("Div", one, weight)
        variance = g.op("Relu", g.op("Sub", g.op("Div", two, weight), g.op("Mul", centre, centre)))
        return [centre, g.op("Sqrt", g.op("Add", variance, floor))]

    standardised = moments_of(first, second, g.constant(VARIANCE_FLOOR / head.std.numpy() ** 2))
    hidden = moments_of(hidden_first, hidden_second, g.scalar(VARIANCE_FLOOR))
    by_query = g.op("Reshape", scored, g.integers(1, QUERIES, HIDDEN))
    attended = g.op("Div", by_query, g.op("Reshape", queries, g.integers(1, QUERIES, 1)))
    pooled = g.op("Concat", *hidden, g.op("Reshape", attended, g.integers(1, 1, QUERIES * HIDDEN)), axis=2)
    return g.op("Add", write_linear(g, pooled, head.out), write_linear(g, g.op("Concat", *standardised, axis=2), head.clip))


def pooling_sums(heads: list[AttentionHead]) -> int:
    return sum(size for head in heads for size in sum_sizes(head))


def write_clarity(heads: list[AttentionHead], slope: float, intercept: float, path: Path) -> None:
    """tokens, weights and `sums` [1,S] of the utterances before -> clarity [1] of all, next_sums [1,S]; S is `pooling_sums`."""
    g = Graph("cognitive")
    size = pooling_sums(heads)
    embeddings = g.input("tokens", [1, "tokens", heads[0].width])
    w = g.op("Unsqueeze", g.input("weights", [1, "tokens"]), g.integers(1))
    before = g.op("Unsqueeze", g.input("sums", [1, size]), g.integers(1))
    new = [part for head in heads for part in write_sums(g, head, embeddings, w)]
    sums = g.op("Add", before, g.op("Concat", *new, axis=2))
    parts = iter(g.op("Split", sums, g.integers(*(size for head in heads for size in sum_sizes(head))), axis=2, outputs=len(new)))
    outputs = [write_head_of_sums(g, head, [next(parts) for _ in sum_sizes(head)]) for head in heads]
    write_affine(g, g.op("Reshape", write_mean(g, outputs), g.integers(1)), slope, intercept, "clarity")
    g.output(g.op("Squeeze", sums, g.integers(1)), "next_sums", [1, size])
    g.save(path)


def write_voice(net: VoiceNetwork, path: Path) -> None:
    """tokens, `weights` [V,N] -> voice [V * 48]: a voice of length 1 for each row of weights"""
    g = Graph("voice")
    embeddings, w = write_inputs(g, len(net.mean), "voices")
    mean = g.constant(net.mean.numpy())
    scale = g.constant(1 / net.std.numpy())
    x = g.op("Mul", g.op("Sub", g.op("MatMul", w, embeddings), mean), scale)
    x = write_linear(g, g.op("Relu", write_linear(g, x, net.hidden)), net.out)
    length = g.op("Sqrt", g.op("ReduceSum", g.op("Mul", x, x), g.integers(2), keepdims=1))
    g.output(g.op("Reshape", g.op("Div", x, length), g.integers(-1)), "voice", ["values"])
    g.save(path)
