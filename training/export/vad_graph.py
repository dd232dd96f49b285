"""The VAD model as an ONNX graph: features [1,T,80] -> speech [1,T], syllable_rate [1,T], voice [1,T]."""

from pathlib import Path

from torch import nn

from training.export.graph import Graph, numpy_of, write_normalize_level
from training.features.log_mel import BINS
from training.vad.model import MAX_RATE, VadNet


def write_vad(net: VadNet, path: Path) -> None:
    g = Graph("vad")
    x = write_normalize_level(g, g.input("features", [1, "frames", BINS]))
    length = g.op("Shape", "features", start=1, end=2)
    x = g.op("Transpose", x, perm=[0, 2, 1])
    x = g.op("Relu", write_conv(g, x, net.stem))
    for depthwise, pointwise in zip(net.depthwise, net.pointwise):
        x = g.op("Add", x, g.op("Relu", write_conv(g, write_conv(g, x, depthwise), pointwise)))
    check = write_conv(g, g.op("Relu", write_conv(g, x, net.speech_check[0])), net.speech_check[2])
    y = g.op("Concat", write_conv(g, x, net.head), check, axis=1)
    y = g.op("Unsqueeze", y, g.integers(3))
    twice = g.op("Expand", y, g.integers(1, 1, 1, 2))
    flat = g.op("Reshape", twice, g.integers(1, 3, -1))
    start, axis = g.integers(0), g.integers(2)
    logits = g.op("Slice", flat, start, length, axis)
    one = g.integers(1)
    speech, rate, voice = (g.op("Squeeze", part, one) for part in g.op("Split", logits, axis=1, num_outputs=3, outputs=3))
    g.output(g.op("Sigmoid", speech), "speech", [1, "frames"])
    g.output(g.op("Mul", g.op("Sigmoid", rate), g.scalar(MAX_RATE)), "syllable_rate", [1, "frames"])
    g.output(voice, "voice", [1, "frames"])
    g.save(path)


def write_conv(g: Graph, x: str, conv: nn.Conv1d) -> str:
    pad = conv.padding[0]
    return g.op(
        "Conv", x, g.constant(numpy_of(conv, "weight")), g.constant(numpy_of(conv, "bias")),
        kernel_shape=list(conv.kernel_size), pads=[pad, pad], strides=list(conv.stride),
        dilations=list(conv.dilation), group=conv.groups,
    )  # fmt: skip
