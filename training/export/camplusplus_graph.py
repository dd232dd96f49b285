"""CAM++ to its second block as nodes of an ONNX graph. Normalisations that follow a convolution are inside of it."""

from collections.abc import Callable

import numpy as np
from onnx import TensorProto
from torch import nn

from training.export.graph import Graph, numpy_of
from training.features.log_mel import BINS

SEGMENT = 100  # embeddings that share a context
BLOCK = 4  # bins per block: the first convolution reads them as channels


def affine_of(norm: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    """Batch normalisation with its stored statistics: scale and shift of each channel."""
    scale = numpy_of(norm, "weight") / np.sqrt(norm.running_var.numpy() + norm.eps)
    return scale, numpy_of(norm, "bias") - norm.running_mean.numpy() * scale


def folded(conv: nn.Module, norm: nn.Module | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias of a convolution with the normalisation that follows it."""
    weight = numpy_of(conv, "weight")
    bias = np.zeros(len(weight), np.float32) if conv.bias is None else numpy_of(conv, "bias")
    if norm is not None:
        scale, shift = affine_of(norm)
        weight = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
        bias = bias * scale + shift
    return weight, bias


def write_conv(g: Graph, x: str, conv: nn.Module, norm: nn.Module | None = None, arrange: Callable[[np.ndarray], np.ndarray] = np.asarray) -> str:
    """[1,C,N] or [1,C,T,bins]: the network has bins before frames. `arrange`: the weight, for another order of input channels"""
    weight, bias = folded(conv, norm)
    spatial = range(weight.ndim - 1, 1, -1)
    attributes = {"kernel_shape": conv.kernel_size[::-1], "strides": conv.stride[::-1], "pads": conv.padding[::-1] * 2, "dilations": conv.dilation[::-1]}
    return g.op("Conv", x, g.constant(arrange(weight.transpose(0, 1, *spatial))), g.constant(bias), **attributes)


def write_first(g: Graph, x: str, conv: nn.Module, norm: nn.Module) -> str:
    """[1,T,80] -> [1,32,T,80]: BLOCK bins are the channels of a convolution. The kernel of onnxruntime for one channel takes five times as long."""
    weight, bias = folded(conv, norm)
    channels, _, bins, frames = weight.shape
    wide = np.zeros((BLOCK, channels, BLOCK, frames, 3), np.float32)  # bin of the output, channel, bin of the input, frame, block before, of the output, after
    for output, tap in np.ndindex(BLOCK, bins):
        block, place = divmod(output + tap - bins // 2, BLOCK)
        wide[output, :, place, :, block + 1] = weight[:, 0, tap]
    blocks = g.op("Transpose", g.op("Reshape", x, g.integers(1, -1, BINS // BLOCK, BLOCK)), perm=[0, 3, 1, 2])
    y = g.op("Relu", g.op("Conv", blocks, g.constant(wide.reshape(-1, *wide.shape[2:])), g.constant(np.tile(bias, BLOCK)), pads=[1, 1, 1, 1]))
    apart = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 3, 1]), g.integers(1, -1, BINS, channels))
    return g.op("Transpose", apart, perm=[0, 3, 1, 2])


def write_residual(g: Graph, x: str, block: nn.Module) -> str:
    y = g.op("Relu", write_conv(g, x, block.conv1, block.bn1))
    short = write_conv(g, x, *block.shortcut) if len(block.shortcut) else x
    return g.op("Relu", g.op("Add", write_conv(g, y, block.conv2, block.bn2), short))


def write_nonlinear(g: Graph, x: str, layer: nn.Module) -> str:
    scale, shift = (g.constant(values) for values in affine_of(layer.batchnorm))
    mean, variance = (g.constant(np.full(len(layer.batchnorm.weight), value, np.float32)) for value in (0, 1))
    return g.op("Relu", g.op("BatchNormalization", x, scale, shift, mean, variance, epsilon=0.0))


class Segments:
    """Segments of SEGMENT embeddings, whose last may be shorter."""

    def __init__(self, g: Graph, x: str):
        count = g.op("Shape", x, start=2, end=3)
        place = g.op("Div", g.op("Range", g.constant(np.int64(0)), g.op("Squeeze", count), g.constant(np.int64(1))), g.integers(SEGMENT))
        segments = g.op("Div", g.op("Add", count, g.integers(SEGMENT - 1)), g.integers(SEGMENT))
        self.members = g.op("OneHot", place, segments, g.constant(np.array([0, 1], np.float32)), axis=0)  # [segments,N]
        share = g.op("Div", self.members, g.op("ReduceSum", self.members, g.integers(1), keepdims=1))
        means = g.op("Add", share, g.op("Div", g.scalar(1), g.op("Cast", count, to=TensorProto.FLOAT)))  # [segments,N]
        self.means = g.op("Transpose", means, perm=[1, 0])


def write_context(g: Graph, x: str, layer: nn.Module, segments: Segments) -> str:
    """Context-aware masking: a convolution times a gate from the means of the segment and of the whole.

    Segments are the columns of its products. onnxruntime splits products with more columns than rows between threads by their columns, and a long
    sum with them: its bits would depend on the number of threads.
    """

    def product(conv: nn.Module, values: str) -> str:
        weight = g.constant(numpy_of(conv, "weight")[:, :, 0])
        bias = g.constant(numpy_of(conv, "bias")[:, None])
        return g.op("Add", g.op("MatMul", weight, values), bias)

    same = g.op("Reshape", x, g.integers(0, 0, -1))  # in int8, as the convolution reads it
    context = g.op("MatMul", same, segments.means)  # [1,C,segments]
    gate = g.op("Sigmoid", product(layer.linear2, g.op("Relu", product(layer.linear1, context))))
    return g.op("Mul", write_conv(g, x, layer.linear_local), g.op("MatMul", gate, segments.members))


def write_dense(g: Graph, x: str, block: nn.Module, segments: Segments) -> str:
    for layer in block:
        y = write_conv(g, write_nonlinear(g, x, layer.nonlinear1), layer.linear1, layer.nonlinear2.batchnorm)
        x = g.op("Concat", x, write_context(g, g.op("Relu", y), layer.cam_layer, segments), axis=1)
    return x


def write_blocks(g: Graph, features: str, network: nn.Module) -> list[str]:
    """Filterbanks without their mean [1,T,80] -> outputs of the blocks [1,512,ceil(T/2)], [1,1024,ceil(T/2)]"""
    head = network.head
    layers = network.xvector
    x = write_first(g, features, head.conv1, head.bn1)
    for block in (*head.layer1, *head.layer2):
        x = write_residual(g, x, block)
    x = g.op("Relu", write_conv(g, x, head.conv2, head.bn2))
    x = g.op("Reshape", g.op("Transpose", x, perm=[0, 2, 3, 1]), g.integers(1, -1, head.out_channels))
    channels = len(head.conv2.weight)

    def bins_first(weight: np.ndarray) -> np.ndarray:
        """As the reshape above has its channels; the network has them before bins."""
        return weight.reshape(len(weight), channels, -1, weight.shape[2]).swapaxes(1, 2).reshape(weight.shape)

    rows = g.op("Transpose", x, perm=[0, 2, 1])
    x = g.op("Relu", write_conv(g, rows, layers.tdnn.linear, layers.tdnn.nonlinear.batchnorm, bins_first))
    segments = Segments(g, x)
    first = write_dense(g, x, layers.block1, segments)
    x = write_conv(g, write_nonlinear(g, first, layers.transit1.nonlinear), layers.transit1.linear)
    return [first, write_dense(g, x, layers.block2, segments)]
