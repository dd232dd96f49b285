"""The last embedding of a speaker network as an ONNX graph: its frames -> the voice of each span of an utterance, or of each window."""

import numpy as np
from torch import nn

from training.export.graph import Graph, numpy_of
from training.heads.linear import Linear

FRAMES = 512  # values of a frame of 20 ms
VARIANCE_FLOOR = 1e-4


def embedding_of(network: nn.Module) -> Linear:
    """Mean and deviation of frames [2 * FRAMES] -> the network's embedding [192]"""
    dense = network.xvector.dense
    norm = dense.nonlinear.batchnorm  # without weight and bias
    scale = 1 / np.sqrt(norm.running_var.numpy() + norm.eps)
    return Linear(numpy_of(dense.linear, "weight")[:, :, 0].T * scale, -norm.running_mean.numpy() * scale)


def write_voice(g: Graph, frames: str, linear: Linear) -> None:
    """`frames` [N,values], an input `weights` [V,N] -> output `voice` [V,values] of length 1: that of each row of weights.

    `linear`: of mean and deviation of the frames
    """
    w = g.input("weights", ["voices", "embeddings"])
    w = g.op("Div", w, g.op("ReduceSum", w, g.integers(1), keepdims=1))
    write_embedding(g, g.op("MatMul", w, frames), g.op("MatMul", w, g.op("Mul", frames, frames)), linear)


def write_voices(g: Graph, frames: str, rows: int, linear: Linear) -> None:
    """`frames` [V*rows,values] -> output `voice` [V,values]: that of each window of so many rows."""
    windows = g.op("Reshape", frames, g.integers(-1, rows, FRAMES))
    mean, square = (g.op("ReduceMean", x, g.integers(1), keepdims=0) for x in (windows, g.op("Mul", windows, windows)))
    write_embedding(g, mean, square, linear)


def write_embedding(g: Graph, mean: str, square: str, linear: Linear) -> None:
    variance = g.op("Sub", square, g.op("Mul", mean, mean))
    deviation = g.op("Sqrt", g.op("Max", variance, g.scalar(VARIANCE_FLOOR)))
    y = g.op("Add", g.op("MatMul", g.op("Concat", mean, deviation, axis=1), g.constant(linear.weight)), g.constant(linear.bias))
    length = g.op("Sqrt", g.op("ReduceSum", g.op("Mul", y, y), g.integers(1), keepdims=1))
    g.output(g.op("Div", y, length), "voice", ["voices", len(linear.bias)])
