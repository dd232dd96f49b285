"""Heads as ONNX graphs: embeddings `tokens` [1,N,384] and weights [1,N] -> calibrated scores.

A graph averages the networks of an ensemble before calibration.
"""

import functools
from pathlib import Path

import numpy as np
from torch import nn

from training.encoder.trunk import WIDTH
from training.export.graph import Graph, numpy_of
from training.heads.attention_head import HIDDEN, QUERIES, VARIANCE_FLOOR, AttentionHead, LinearHead
from training.heads.fit import Heads


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
    weight, bias = (v.detach().numpy() for v in head.folded_frame_layer())
    h = g.op("Gelu", g.op("Add", g.op("MatMul", embeddings, g.constant(weight.T)), g.constant(bias)))
    quarter, four = g.scalar(0.25), g.scalar(4)
    bounded = g.op("Mul", g.op("Tanh", g.op("Mul", write_linear(g, h, head.query), quarter)), four)
    scores = g.op("Mul", g.op("Transpose", g.op("Exp", bounded), perm=[0, 2, 1]), w)
    last = g.integers(2)
    attention = g.op("Div", scores, g.op("ReduceSum", scores, last, keepdims=1))
    attended = g.op("Reshape", g.op("MatMul", attention, h), g.integers(1, 1, QUERIES * HIDDEN))
    pooled = g.op("Concat", *write_moments(g, h, w), attended, axis=2)
    return g.op("Add", write_linear(g, pooled, head.out), write_moment_branch(g, head, embeddings, w))


def write_ensemble(g: Graph, heads: Heads) -> str:
    """Declares the inputs -> mean of the heads [1,1,outputs]"""
    embeddings, weights = g.input("tokens", [1, "tokens", WIDTH]), g.input("weights", [1, "tokens"])
    axis = g.integers(1)
    w = g.op("Unsqueeze", g.op("Div", weights, g.op("ReduceSum", weights, axis, keepdims=1)), axis)  # [1,1,N] that sums to 1
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


def write_emotion(heads: Heads, temperature: float, slopes: np.ndarray, intercepts: np.ndarray, path: Path) -> None:
    """Outputs probabilities [1,8], valence [1], arousal [1]. slopes, intercepts [2]."""
    g = Graph("emotion")
    outputs = g.op("Squeeze", write_ensemble(g, heads), g.integers(1))
    logits, valence, arousal = g.op("Split", outputs, g.integers(8, 1, 1), axis=1, outputs=3)
    scaled = g.op("Mul", logits, g.scalar(1 / temperature))
    g.output(g.op("Softmax", scaled, axis=-1), "probabilities", [1, 8])
    flat = g.integers(1)
    for index, (name, value) in enumerate((("valence", valence), ("arousal", arousal))):
        score = g.op("Reshape", g.op("Sigmoid", value), flat)
        write_affine(g, score, slopes[index], intercepts[index], name)
    g.save(path)


def write_clarity(heads: Heads, slope: float, intercept: float, path: Path) -> None:
    """Output clarity [1]."""
    g = Graph("cognitive")
    score = g.op("Reshape", write_ensemble(g, heads), g.integers(1))
    write_affine(g, score, slope, intercept, "clarity")
    g.save(path)
