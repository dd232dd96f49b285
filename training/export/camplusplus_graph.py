"""CAM++ to its second block as nodes of an ONNX graph. Normalisations that follow a convolution are inside of it."""

import numpy as np
from onnx import TensorProto
from torch import nn

from training.export.graph import Graph, numpy_of

SEGMENT = 100  # embeddings that share a context


def affine_of(norm: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    """Batch normalisation with its stored statistics: scale and shift of each channel."""
    scale = numpy_of(norm, "weight") / np.sqrt(norm.running_var.numpy() + norm.eps)
    return scale, numpy_of(norm, "bias") - norm.running_mean.numpy() * scale


def write_conv(g: Graph, x: str, conv: nn.Module, norm: nn.Module | None = None) -> str:
    weight = numpy_of(conv, "weight")
    bias = np.zeros(len(weight), np.float32) if conv.bias is None else numpy_of(conv, "bias")
    if norm is not None:
        scale, shift = affine_of(norm)
        weight = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
        bias = bias * scale + shift
    attributes = {"kernel_shape": conv.kernel_size, "strides": conv.stride, "pads": conv.padding * 2, "dilations": conv.dilation}
    return g.op("Conv", x, g.constant(weight), g.constant(bias), **attributes)


def write_residual(g: Graph, x: str, block: nn.Module) -> str:
    y = g.op("Relu", write_conv(g, x, block.conv1, block.bn1))
    short = write_conv(g, x, *block.shortcut) if len(block.shortcut) else x
    return g.op("Relu", g.op("Add", write_conv(g, y, block.conv2, block.bn2), short))


def write_nonlinear(g: Graph, x: str, layer: nn.Module) -> str:
    scale, shift = (g.constant(values.reshape(1, -1, 1)) for values in affine_of(layer.batchnorm))
    return g.op("Relu", g.op("Add", g.op("Mul", x, scale), shift))


class Segments:
    """Sums over segments of SEGMENT embeddings, whose last may be shorter, and the way back."""

    def __init__(self, g: Graph, x: str):
        self.g = g
        self.count = g.op("Shape", x, start=2, end=3)
        self.size = g.integers(SEGMENT)
        segments = g.op("Div", g.op("Add", self.count, g.integers(SEGMENT - 1)), self.size)
        self.padding = g.op("Concat", g.integers(0, 0, 0, 0, 0), g.op("Sub", g.op("Mul", segments, self.size), self.count), axis=0)
        self.shape = g.op("Concat", g.integers(1, -1), segments, self.size, axis=0)
        self.total = g.op("Cast", self.count, to=TensorProto.FLOAT)
        self.counts = self.sums(g.op("Expand", g.scalar(1), g.op("Concat", g.integers(1, 1), self.count, axis=0)))

    def sums(self, x: str) -> str:
        """[1,C,N] -> [1,C,segments,1]"""
        return self.g.op("ReduceSum", self.g.op("Reshape", self.g.op("Pad", x, self.padding), self.shape), self.g.integers(3), keepdims=1)

    def repeat(self, x: str) -> str:
        """[1,C,segments,1] -> [1,C,N]"""
        g = self.g
        wide = g.op("Expand", x, g.op("Concat", g.integers(1, 1, 1), self.size, axis=0))
        flat = g.op("Reshape", wide, g.integers(0, 0, -1))
        return g.op("Slice", flat, g.integers(0), self.count, g.integers(2))


def write_context(g: Graph, x: str, layer: nn.Module, segments: Segments) -> str:
    """Context-aware masking: a convolution times a gate from the means of the segment and of the whole."""

    def product(values: str, conv: nn.Module) -> str:
        weight = g.constant(numpy_of(conv, "weight")[:, :, 0].T)
        bias = g.constant(numpy_of(conv, "bias"))
        return g.op("Add", g.op("MatMul", values, weight), bias)

    sums = segments.sums(x)
    mean = g.op("Div", g.op("ReduceSum", sums, g.integers(2), keepdims=1), segments.total)
    context = g.op("Transpose", g.op("Squeeze", g.op("Add", g.op("Div", sums, segments.counts), mean), g.integers(3)), perm=[0, 2, 1])
    gate = g.op("Sigmoid", product(g.op("Relu", product(context, layer.linear1)), layer.linear2))
    column = g.op("Unsqueeze", g.op("Transpose", gate, perm=[0, 2, 1]), g.integers(3))
    return g.op("Mul", write_conv(g, x, layer.linear_local), segments.repeat(column))


def write_dense(g: Graph, x: str, block: nn.Module, segments: Segments) -> str:
    for layer in block:
        y = write_conv(g, write_nonlinear(g, x, layer.nonlinear1), layer.linear1, layer.nonlinear2.batchnorm)
        x = g.op("Concat", x, write_context(g, g.op("Relu", y), layer.cam_layer, segments), axis=1)
    return x


def write_blocks(g: Graph, features: str, network: nn.Module) -> list[str]:
    """Filterbanks without their mean [1,80,T] -> outputs of the blocks [1,512,ceil(T/2)], [1,1024,ceil(T/2)]"""
    head = network.head
    layers = network.xvector
    x = g.op("Relu", write_conv(g, g.op("Unsqueeze", features, g.integers(1)), head.conv1, head.bn1))
    for block in (*head.layer1, *head.layer2):
        x = write_residual(g, x, block)
    x = g.op("Relu", write_conv(g, x, head.conv2, head.bn2))
    x = g.op("Reshape", x, g.integers(0, head.out_channels, -1))
    x = g.op("Relu", write_conv(g, x, layers.tdnn.linear, layers.tdnn.nonlinear.batchnorm))
    segments = Segments(g, x)
    first = write_dense(g, x, layers.block1, segments)
    x = write_conv(g, write_nonlinear(g, first, layers.transit1.nonlinear), layers.transit1.linear)
    return [first, write_dense(g, x, layers.block2, segments)]
