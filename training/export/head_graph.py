"""Heads as ONNX graphs: embeddings `tokens` [1,N,width] and weights [1,N] -> calibrated scores."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from torch import nn

from training.corpora.corpus import DIMENSIONS
from training.encoder.embeddings import VARIANCE_FLOOR
from training.export.graph import Graph, numpy_of
from training.heads.emotion import Distance, EmotionHead
from training.heads.linear import Linear
from training.heads.speaker import VoiceNetwork


def write_layer(g: Graph, x: str, linear: nn.Linear) -> str:
    return write_linear(g, x, Linear(numpy_of(linear, "weight").T, numpy_of(linear, "bias")))


def write_linear(g: Graph, x: str, linear: Linear) -> str:
    return g.op("Add", g.op("MatMul", x, g.constant(linear.weight)), g.constant(linear.bias))


def write_inputs(g: Graph, width: int) -> tuple[str, str]:
    """-> embeddings [1,N,width], weights [1,1,N] that sum to 1"""
    embeddings = g.input("tokens", [1, "tokens", width])
    weights = g.input("weights", [1, "tokens"])
    axis = g.integers(1)
    return embeddings, g.op("Unsqueeze", g.op("Div", weights, g.op("ReduceSum", weights, axis, keepdims=1)), axis)


@dataclass(frozen=True)
class EmotionScale:
    """From the outputs of the head to scores."""

    temperature: float
    slopes: np.ndarray  # [2] of valence and arousal
    intercepts: np.ndarray  # [2]
    spreads: np.ndarray  # [2] half-widths of their intervals for a good recording

    def logits(self, logits: np.ndarray) -> np.ndarray:
        """[n, labels] -> [n, labels]"""
        return logits / self.temperature

    def dimensions(self, values: np.ndarray) -> np.ndarray:
        """[n,2] -> [n,2] in [0, 1]"""
        return np.clip(values * self.slopes + self.intercepts, 0, 1)


def write_distance(g: Graph, distance: Distance, means: str) -> str:
    """means [1,1,width] -> [1]"""
    along = g.op("MatMul", g.op("Sub", means, g.constant(distance.centre)), g.constant(distance.projection))
    mean = g.op("ReduceMean", g.op("Mul", along, along), g.integers(2), keepdims=0)
    return g.op("Reshape", g.op("Sqrt", mean), g.integers(1))


def write_emotion(head: EmotionHead, scale: EmotionScale, path: Path) -> None:
    """Outputs probabilities [1,labels]; valence, arousal, their spreads and the distance [1]."""
    g = Graph("emotion")
    embeddings, w = write_inputs(g, len(head.distance.centre))
    means = g.op("MatMul", w, embeddings)
    categories = Linear(head.categories.weight / scale.temperature, scale.logits(head.categories.bias))
    dimensions = Linear(head.dimensions.weight * scale.slopes, head.dimensions.bias * scale.slopes + scale.intercepts)
    flat = g.integers(1)
    logits = g.op("Squeeze", write_linear(g, means, categories), flat)
    g.output(g.op("Softmax", logits, axis=-1), "probabilities", [1, len(categories.bias)])
    inside = g.op("Clip", write_linear(g, means, dimensions), g.scalar(0), g.scalar(1))
    for value, name in zip(g.op("Split", inside, g.integers(1, 1), axis=2, outputs=2), DIMENSIONS):
        g.output(g.op("Reshape", value, flat), name, [1])
    for name, spread in zip(DIMENSIONS, scale.spreads):
        g.output(g.constant(np.array([spread], np.float32)), f"{name}_spread", [1])
    g.output(write_distance(g, head.distance, means), "distance", [1])
    g.save(path)


def sums_size(width: int) -> int:
    """Of what the clarity head adds up over embeddings: weights, embeddings, and their squares."""
    return 1 + 2 * width


def write_clarity(linear: Linear, centre: np.ndarray, path: Path) -> None:
    """tokens, weights and `sums` [1,S] of the utterances before -> clarity [1] of all, next_sums [1,S]; S is `sums_size`.

    `linear`: of mean and deviation. `centre` [width]: the sums are those of embeddings less it, which keeps their squares small
    """
    g = Graph("cognitive")
    width = len(centre)
    embeddings = g.input("tokens", [1, "tokens", width])
    w = g.op("Unsqueeze", g.input("weights", [1, "tokens"]), g.integers(1))
    before = g.op("Unsqueeze", g.input("sums", [1, sums_size(width)]), g.integers(1))
    x = g.op("Sub", embeddings, g.constant(centre))
    new = [g.op("ReduceSum", w, g.integers(2), keepdims=1), g.op("MatMul", w, x), g.op("MatMul", w, g.op("Mul", x, x))]
    sums = g.op("Add", before, g.op("Concat", *new, axis=2))
    weight, first, second = g.op("Split", sums, g.integers(1, width, width), axis=2, outputs=3)
    apart = g.op("Div", first, weight)
    variance = g.op("Relu", g.op("Sub", g.op("Div", second, weight), g.op("Mul", apart, apart)))
    deviation = g.op("Sqrt", g.op("Add", variance, g.scalar(VARIANCE_FLOOR)))
    moments = g.op("Concat", g.op("Add", apart, g.constant(centre)), deviation, axis=2)
    value = g.op("Reshape", write_linear(g, moments, linear), g.integers(1))
    g.output(g.op("Clip", value, g.scalar(0), g.scalar(1)), "clarity", [1])
    g.output(g.op("Squeeze", sums, g.integers(1)), "next_sums", [1, sums_size(width)])
    g.save(path)


def write_voice(net: VoiceNetwork, width: int, path: Path) -> None:
    """Windows of tokens [V,N,width] -> voice [V,48]: one of length 1 for each window."""
    g = Graph("voice")
    embeddings = g.input("tokens", ["voices", "embeddings", width])
    mean = g.constant(net.mean.numpy())
    scale = g.constant(1 / net.std.numpy())
    x = g.op("Mul", g.op("Sub", g.op("ReduceMean", embeddings, g.integers(1), keepdims=0), mean), scale)
    x = write_layer(g, g.op("Relu", write_layer(g, x, net.hidden)), net.out)
    length = g.op("Sqrt", g.op("ReduceSum", g.op("Mul", x, x), g.integers(1), keepdims=1))
    g.output(g.op("Div", x, length), "voice", ["voices", net.out.out_features])
    g.save(path)
