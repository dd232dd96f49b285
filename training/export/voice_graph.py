"""The last embedding of a speaker network as an ONNX graph: its frames of an utterance and spans of it -> the voice of each span."""

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
    mean = g.op("MatMul", w, frames)
    variance = g.op("Sub", g.op("MatMul", w, g.op("Mul", frames, frames)), g.op("Mul", mean, mean))
    deviation = g.op("Sqrt", g.op("Max", variance, g.scalar(VARIANCE_FLOOR)))
    y = g.op("Add", g.op("MatMul", g.op("Concat", mean, deviation, axis=1), g.constant(linear.weight)), g.constant(linear.bias))
    length = g.op("Sqrt", g.op("ReduceSum", g.op("Mul", y, y), g.integers(1), keepdims=1))
    g.output(g.op("Div", y, length), "voice", ["voices", len(linear.bias)])
