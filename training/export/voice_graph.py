"""CAM++ to its last embedding as an ONNX graph: frames of an utterance and spans of it -> the voice of each span.

The frames are filterbanks, or what the trunk has of them.
"""

from pathlib import Path

import numpy as np
import onnx
from torch import nn

from training.export.camplusplus_graph import Segments, write_blocks, write_conv, write_dense, write_nonlinear
from training.export.graph import Graph, numpy_of
from training.features.log_mel import BINS
from training.heads.linear import Linear

FRAMES = 512  # values of a frame of 20 ms
VARIANCE_FLOOR = 1e-4


def write_frames(g: Graph, filterbanks: str, network: nn.Module) -> str:
    """[1,T,80] -> the network's frames before they are pooled [1,ceil(T/2),FRAMES]"""
    centred = g.op("Sub", filterbanks, g.op("ReduceMean", filterbanks, g.integers(1), keepdims=1))
    _, second = write_blocks(g, centred, network)
    return write_rest(g, second, network)


def write_rest(g: Graph, second: str, network: nn.Module) -> str:
    """Output of the second block [1,1024,N] -> the network's frames before they are pooled [1,N,FRAMES]"""
    layers = network.xvector
    x = write_conv(g, write_nonlinear(g, second, layers.transit2.nonlinear), layers.transit2.linear)
    third = write_dense(g, x, layers.block3, Segments(g, x))
    x = write_conv(g, write_nonlinear(g, third, layers.transit3.nonlinear), layers.transit3.linear, layers.out_nonlinear.batchnorm)
    return g.op("Transpose", g.op("Relu", x), perm=[0, 2, 1])


def embedding_of(network: nn.Module) -> Linear:
    """Mean and deviation of frames [2 * FRAMES] -> the network's embedding [192]"""
    dense = network.xvector.dense
    norm = dense.nonlinear.batchnorm  # without weight and bias
    scale = 1 / np.sqrt(norm.running_var.numpy() + norm.eps)
    return Linear(numpy_of(dense.linear, "weight")[:, :, 0].T * scale, -norm.running_mean.numpy() * scale)


def write_voice(frames: Path, linear: Linear, path: Path, name: str = "filterbanks", width: int = BINS) -> None:
    """An input [1,T,width], `weights` [V,N] -> voice [V,values] of length 1: that of each row of weights.

    `frames`: graph of `write_frames` or `write_rest`, with N rows. `linear`: of mean and deviation of these
    """
    g = Graph("voice")
    (x,) = g.include(onnx.load(frames), **{name: g.input(name, [1, "frames", width])})
    w = g.input("weights", ["voices", "embeddings"])
    x = g.op("Squeeze", x, g.integers(0))
    w = g.op("Div", w, g.op("ReduceSum", w, g.integers(1), keepdims=1))
    mean = g.op("MatMul", w, x)
    variance = g.op("Sub", g.op("MatMul", w, g.op("Mul", x, x)), g.op("Mul", mean, mean))
    deviation = g.op("Sqrt", g.op("Max", variance, g.scalar(VARIANCE_FLOOR)))
    y = g.op("Add", g.op("MatMul", g.op("Concat", mean, deviation, axis=1), g.constant(linear.weight)), g.constant(linear.bias))
    length = g.op("Sqrt", g.op("ReduceSum", g.op("Mul", y, y), g.integers(1), keepdims=1))
    g.output(g.op("Div", y, length), "voice", ["voices", len(linear.bias)])
    g.save(path)
