"""The VAD model as an ONNX graph of a stream.

features [1,T,80] with T even, state [1,S] -> speech, syllable_rate, voice [1,T] of the frames LOOKAHEAD before, state [1,S].
A state of zeros becomes that of endless silence after SETTLED frames of it.
"""

from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import nn

from training.export.graph import Graph, numpy_of
from training.features.level import FLOOR, OFFSET
from training.features.log_mel import BINS
from training.vad.model import KERNEL, LAYERS, LOUDEST, MAX_RATE, MIN_POWER, SMOOTHED, WIDTH, VadNet

POWERS = SMOOTHED + LOUDEST - 2  # powers of frames, kept of the past
FRAMES = 4  # normalised frames, kept of the past
SIZES = [POWERS, FRAMES * BINS, *((KERNEL - 1) * dilation * WIDTH for dilation, _ in LAYERS)]
SETTLED = POWERS + 2 * (KERNEL - 1) * sum(dilation for dilation, _ in LAYERS) + 2 * FRAMES


def write_vad(net: VadNet, path: Path) -> None:
    g = Graph("vad")
    features = g.input("features", [1, "frames", BINS])
    state = g.input("state", [1, sum(SIZES)])
    powers, frames, *inputs = g.op("Split", state, g.integers(*SIZES), axis=1, outputs=len(SIZES))
    kept: list[str] = []

    def with_past(past: str, x: str, shape: list[int]) -> str:
        """The past [1,S] and x, joined in the last axis of `shape`; keeps what the next run needs."""
        joined = g.op("Concat", g.op("Reshape", past, g.integers(*shape)), x, axis=len(shape) - 1)
        last = g.op("Slice", joined, g.integers(-shape[-1]), g.integers(np.iinfo(np.int64).max), g.integers(len(shape) - 1))
        kept.append(g.op("Reshape", last, g.integers(1, -1)))
        return joined

    x = g.op("Transpose", write_normalize_recent(g, features, lambda power: with_past(powers, power, [1, 1, POWERS])), perm=[0, 2, 1])
    x = g.op("Relu", write_conv(g, with_past(frames, x, [1, BINS, FRAMES]), net.stem))
    length = g.op("Shape", x, start=2, end=3)
    for past, (dilation, ahead), depthwise, pointwise in zip(inputs, LAYERS, net.depthwise, net.pointwise):
        joined = with_past(past, x, [1, WIDTH, (KERNEL - 1) * dilation])
        start = g.integers((KERNEL - 1 - ahead) * dilation)
        middle = g.op("Slice", joined, start, g.op("Add", start, length), g.integers(2))
        x = g.op("Add", middle, g.op("Relu", write_conv(g, write_conv(g, joined, depthwise), pointwise)))
    check = write_conv(g, g.op("Relu", write_conv(g, x, net.speech_check[0])), net.speech_check[2])
    y = g.op("Unsqueeze", g.op("Concat", write_conv(g, x, net.head), check, axis=1), g.integers(3))
    twice = g.op("Reshape", g.op("Expand", y, g.integers(1, 1, 1, 2)), g.integers(1, 3, -1))
    one = g.integers(1)
    speech, rate, voice = (g.op("Squeeze", part, one) for part in g.op("Split", twice, axis=1, num_outputs=3, outputs=3))
    g.output(g.op("Sigmoid", speech), "speech", [1, "frames"])
    g.output(g.op("Mul", g.op("Sigmoid", rate), g.scalar(MAX_RATE)), "syllable_rate", [1, "frames"])
    g.output(voice, "voice", [1, "frames"])
    g.output(g.op("Concat", *kept, axis=1), "next_state", [1, sum(SIZES)])
    g.save(path)


def write_normalize_recent(g: Graph, features: str, with_past) -> str:
    """[1,T,80] log10 of mel energies -> the same as training.vad.model.normalize_recent. `with_past` joins powers [1,1,T] with those before."""
    energy = g.op("Exp", g.op("Mul", features, g.scalar(np.log(10))))  # takes a tenth of the time of Pow
    power = g.op("Transpose", g.op("ReduceSum", energy, g.integers(2), keepdims=1), perm=[0, 2, 1])
    mean = g.op("AveragePool", with_past(power), kernel_shape=[SMOOTHED])
    loudest = g.op("Transpose", g.op("MaxPool", mean, kernel_shape=[LOUDEST]), perm=[0, 2, 1])
    log = g.op("Div", g.op("Log", g.op("Max", loudest, g.scalar(MIN_POWER))), g.scalar(np.log(10)))
    floored = g.op("Max", g.op("Sub", features, log), g.scalar(-FLOOR))
    return g.op("Mul", g.op("Add", floored, g.scalar(OFFSET + 4)), g.scalar(0.25))


def write_conv(g: Graph, x: str, conv: nn.Conv1d) -> str:
    return g.op(
        "Conv", x, g.constant(numpy_of(conv, "weight")), g.constant(numpy_of(conv, "bias")),
        kernel_shape=list(conv.kernel_size), strides=list(conv.stride), dilations=list(conv.dilation), group=conv.groups,
    )  # fmt: skip


def read_vad(path: Path) -> VadNet:
    """The network of a graph that `write_vad` wrote."""
    graph, net = onnx.load(path).graph, VadNet()
    constants = {weights.name: numpy_helper.to_array(weights) for weights in graph.initializer}
    middle = [layer for pair in zip(net.depthwise, net.pointwise) for layer in pair]
    layers = [net.stem, *middle, net.speech_check[0], net.speech_check[2], net.head]
    convolutions = [node.input[1:] for node in graph.node if node.op_type == "Conv"]
    with torch.no_grad():
        for layer, (weight, bias) in zip(layers, convolutions, strict=True):
            layer.weight.copy_(torch.from_numpy(constants[weight].copy()))
            layer.bias.copy_(torch.from_numpy(constants[bias].copy()))
    return net.eval()
