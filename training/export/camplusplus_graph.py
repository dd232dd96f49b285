"""CAM++ on bytes as nodes of an ONNX graph. Normalisations that follow a convolution are inside of it.

Each value is [1,frames,bins,channels] or [frames,channels].
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from onnx import TensorProto
from torch import nn
from torch.nn import functional

from training.export.byte_graph import DOMAIN, Bytes, Levels, Range, joined, levels_of_all, levels_of_each
from training.export.byte_graph import write_bytes, write_conv, write_product, write_rectified, write_steps, write_sum
from training.export.graph import Graph, numpy_of
from training.features.log_mel import BINS

SEGMENT = 100  # frames that share a context
BLOCK = 4  # bins per block: the first convolution reads them as channels
MOMENT_FRAMES = 100  # in the middle of a recording, whose values count for moments


def affine_of(norm: nn.Module) -> tuple[np.ndarray, np.ndarray]:
    """Batch normalisation with its stored statistics: scale and shift of each channel."""
    scale = numpy_of(norm, "weight") / np.sqrt(norm.running_var.numpy() + norm.eps)
    return scale, numpy_of(norm, "bias") - norm.running_mean.numpy() * scale


def folded(conv: nn.Module, norm: nn.Module | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Weight and bias of a convolution with the normalisation that follows it. Frames before bins: the network has them after."""
    weight = numpy_of(conv, "weight")
    bias = np.zeros(len(weight), np.float32) if conv.bias is None else numpy_of(conv, "bias")
    if norm is not None:
        scale, shift = affine_of(norm)
        weight = weight * scale.reshape(-1, *[1] * (weight.ndim - 1))
        bias = bias * scale + shift
    return weight.transpose(0, 1, *range(weight.ndim - 1, 1, -1)), bias


def attributes_of(conv: nn.Module) -> dict[str, list[int]]:
    return {"kernel_shape": conv.kernel_size[::-1], "strides": conv.stride[::-1], "pads": conv.padding[::-1] * 2, "dilations": conv.dilation[::-1]}


@dataclass(frozen=True)
class Observed:
    """What the layers of a network read and returned."""

    ranges: dict[nn.Module, Range]  # of the channels that each layer returned; of the network, of those that it read
    moments: dict[nn.Module, np.ndarray]  # [K,K] of what each convolution read for a value: channels, then frames, then bins


def observe(network: nn.Module, inputs: Iterable[np.ndarray]) -> Observed:
    """`inputs`: filterbanks [1,T,80] without their mean"""
    observed = Observed({}, {})

    def see(layer: nn.Module, values: torch.Tensor) -> None:
        channels = values.transpose(0, 1).flatten(1)
        low, high = channels.amin(1).numpy(), channels.amax(1).numpy()
        if layer in observed.ranges:
            low, high = np.minimum(low, observed.ranges[layer][0]), np.maximum(high, observed.ranges[layer][1])
        observed.ranges[layer] = low, high

    def read(conv: nn.Module, values: torch.Tensor) -> None:
        frames_first = values[..., None] if values.ndim == 3 else values.transpose(2, 3)
        sizes = (conv.kernel_size, conv.dilation, conv.padding, conv.stride)
        shapes = [(*size, rest) if len(size) == 1 else size[::-1] for size, rest in zip(sizes, (1, 1, 0, 1))]
        start = max(0, (frames_first.shape[2] - MOMENT_FRAMES) // 2)
        patches = functional.unfold(frames_first[:, :, start : start + MOMENT_FRAMES], *shapes)[0].double().numpy()
        observed.moments[conv] = observed.moments.get(conv, 0) + patches @ patches.T

    layers = [layer for layer in network.modules() if layer is not network]
    hooks = [layer.register_forward_hook(lambda layer, _, values: see(layer, values)) for layer in layers]
    convs = [layer for layer in layers if isinstance(layer, (nn.Conv1d, nn.Conv2d))]
    hooks += [conv.register_forward_pre_hook(lambda conv, values: read(conv, *values)) for conv in convs]
    with torch.no_grad():
        for values in inputs:
            see(network, torch.from_numpy(values).transpose(1, 2))
            network(torch.from_numpy(values))
    for hook in hooks:
        hook.remove()
    return observed


class Segments:
    """Segments of SEGMENT frames, whose last may be shorter; or windows of so many frames, each of which is read alone."""

    def __init__(self, g: Graph, frames: str, window: int | None = None):
        count = g.op("Shape", frames, start=0, end=1)
        size = window or SEGMENT
        place = g.op("Div", g.op("Range", g.number(np.int64(0)), g.op("Squeeze", count), g.number(np.int64(1))), g.integers(size))
        segments = g.op("Div", g.op("Add", count, g.integers(size - 1)), g.integers(size))
        self.members = g.op("OneHot", place, segments, g.constant(np.array([0, 1], np.float32)), axis=0)  # [segments,N]
        self.counted = g.op("Cast", self.members, to=TensorProto.UINT8)
        sizes = g.op("ReduceSum", self.members, g.integers(1), keepdims=0)
        each = g.op("EyeLike", g.op("MatMul", self.members, g.op("Transpose", self.members, perm=[1, 0])))
        whole = None if window else g.op("Div", g.scalar(1), g.op("Cast", count, to=TensorProto.FLOAT))
        means = g.op("Div", each, sizes)
        self.means = g.op("Add", means, whole or means)  # [segments,segments]: sums of segments -> mean of one and of all, added
        self.window = window

    def apart(self, g: Graph, frames: str, width: int) -> str:
        """[N,width] -> [1,N,width] or [windows,frames of one,width], as a convolution reads it"""
        return g.op("Reshape", frames, g.integers(-1, self.window, width)) if self.window else g.op("Unsqueeze", frames, g.integers(0))

    def joined(self, g: Graph, frames: str, width: int) -> str:
        """The reverse of `apart`."""
        return g.op("Reshape", frames, g.integers(-1, width)) if self.window else g.op("Squeeze", frames, g.integers(0))


class GraphWriter:
    """Writes the layers of a network, with the scales that the ranges of their outputs give."""

    def __init__(self, g: Graph, network: nn.Module, observed: Observed):
        self.g, self.head, self.layers, self.ranges, self.moments = g, network.head, network.xvector, observed.ranges, observed.moments
        self.read = levels_of_all(*observed.ranges[network])

    def levels(self, layer: nn.Module) -> Levels:
        return levels_of_all(*self.ranges[layer])

    def rectified(self, layer: nn.Module) -> Levels:
        return levels_of_all(np.float32(0), self.ranges[layer][1])

    def conv(self, x: Bytes, conv: nn.Module, norm: nn.Module, levels: Levels) -> Bytes:
        return write_conv(self.g, x, *folded(conv, norm), levels, self.moments[conv], **attributes_of(conv))

    def first(self, features: str) -> Bytes:
        """[1,T,80] -> [1,T,80,32]: BLOCK bins are the channels of a convolution. The kernel of onnxruntime for one channel takes five times as long."""
        g = self.g
        weight, bias = folded(self.head.conv1, self.head.bn1)
        channels, _, frames, bins = weight.shape
        wide = np.zeros((BLOCK, channels, BLOCK, frames, 3), np.float32)  # bin of the output, channel, bin of the input, frame, block before, of the output, after
        for output, tap in np.ndindex(BLOCK, bins):
            block, place = divmod(output + tap - bins // 2, BLOCK)
            wide[output, :, place, :, block + 1] = weight[:, 0, :, tap]
        x = write_bytes(g, features, self.read)
        blocks = Bytes(g.op("Reshape", x.name, g.integers(1, -1, BINS // BLOCK, BLOCK)), x.levels)
        y = write_conv(g, blocks, wide.reshape(-1, *wide.shape[2:]), np.tile(bias, BLOCK), self.rectified(self.head.bn1), None, pads=[1, 1, 1, 1])
        return Bytes(g.op("Reshape", y.name, g.integers(1, -1, BINS, channels)), y.levels)

    def residual(self, x: Bytes, block: nn.Module) -> Bytes:
        y = self.conv(x, block.conv1, block.bn1, self.rectified(block.bn1))
        y = self.conv(y, block.conv2, block.bn2, self.levels(block.bn2))
        short = self.conv(x, *block.shortcut, self.levels(block.shortcut)) if len(block.shortcut) else x
        return write_sum(self.g, y, short, self.rectified(block))

    def rows(self, features: str) -> Bytes:
        """Filterbanks without their mean [1,T,80] -> [ceil(T/2),128]"""
        g = self.g
        x = self.first(features)
        for block in (*self.head.layer1, *self.head.layer2):
            x = self.residual(x, block)
        x = self.conv(x, self.head.conv2, self.head.bn2, self.rectified(self.head.bn2))
        x = Bytes(g.op("Reshape", x.name, g.integers(1, -1, self.head.out_channels)), x.levels)
        tdnn = self.layers.tdnn
        weight, bias = folded(tdnn.linear, tdnn.nonlinear.batchnorm)
        places = np.arange(weight[0].size).reshape(len(self.head.conv2.weight), -1, weight.shape[2])
        bins_first = places.swapaxes(0, 1).ravel()  # the network has channels before bins
        moments = self.moments[tdnn.linear][np.ix_(bins_first, bins_first)]
        weight = weight.reshape(len(weight), -1)[:, bins_first].reshape(weight.shape)
        low, high = self.ranges[tdnn]
        y = write_conv(g, x, weight, bias, levels_of_each(np.zeros_like(low), high), moments, **attributes_of(tdnn.linear))
        return Bytes(g.op("Squeeze", y.name, g.integers(0)), y.levels)

    def product(self, x: Bytes, before: nn.Module, conv: nn.Module, after: nn.Module | None, levels: Levels | None) -> Bytes | str:
        """A normalisation, rectified, then a product with the normalisation that follows it."""
        rectified, columns = write_rectified(self.g, x, *affine_of(before))
        weight, bias = folded(conv, after)
        moments = self.moments[conv] if len(columns) == weight.shape[1] else None
        return write_product(self.g, rectified, weight[:, columns, 0], bias, levels, moments)

    def gate(self, y: Bytes, layer: nn.Module, segments: Segments, scale: np.ndarray) -> str:
        """[N,channels] float32: of each frame, the gate that the means of its segment and of the whole give; times `scale`.

        Sums are whole numbers, and segments the columns of the products. onnxruntime splits products with more columns than rows between threads by
        their columns, and a long sum with them: its bits would depend on the number of threads.
        """
        g = self.g
        sums = g.op("MatMulIntegerToFloat", segments.counted, y.name, g.number(np.float32(1)), g.number(y.levels.scale), domain=DOMAIN)
        x = g.op("Gemm", sums, segments.means, transA=1)  # [channels,segments]
        x = g.op("Relu", self.linear(layer.linear1, x))
        x = g.op("Mul", g.op("Sigmoid", self.linear(layer.linear2, x)), g.constant(scale[:, None]))
        return g.op("Gemm", segments.members, x, transA=1, transB=1)

    def linear(self, conv: nn.Module, x: str) -> str:
        weight, bias = folded(conv)
        return self.g.op("Gemm", self.g.constant(weight[:, :, 0]), x, self.g.constant(bias[:, None]))

    def context(self, y: Bytes, layer: nn.Module, segments: Segments) -> Bytes:
        """Context-aware masking: a convolution times a gate."""
        g = self.g
        low, high = self.ranges[layer.linear_local]
        most = np.maximum(np.maximum(-low, high), 1e-6)
        local = levels_of_each(-most, most * 127 / 128)  # whose zero is 128
        weight, bias = folded(layer.linear_local)
        frames = Bytes(segments.apart(g, y.name, weight.shape[1]), y.levels)
        x = write_conv(g, frames, weight, bias, local, self.moments[layer.linear_local], **attributes_of(layer.linear_local))
        steps = write_steps(g, segments.joined(g, x.name, len(weight)), 128)
        levels = levels_of_each(*self.ranges[layer])
        masked = g.op("Mul", steps, self.gate(y, layer, segments, local.scale / levels.scale))
        placed = g.op("Add", masked, g.constant(levels.zero))
        return Bytes(g.op("QuantizeLinear", placed, g.number(np.float32(1)), g.number(np.uint8(0))), levels)

    def dense(self, x: Bytes, block: nn.Module, segments: Segments) -> Bytes:
        for layer in block:
            y = self.product(x, layer.nonlinear1.batchnorm, layer.linear1, layer.nonlinear2.batchnorm, self.rectified(layer.nonlinear2))
            x = joined(self.g, x, self.context(y, layer.cam_layer, segments))
        return x

    def transit(self, x: Bytes, layer: nn.Module) -> Bytes:
        return self.product(x, layer.nonlinear.batchnorm, layer.linear, None, levels_of_each(*self.ranges[layer]))

    def blocks(self, filterbanks: str) -> tuple[Bytes, Bytes]:
        """[1,T,80] -> outputs of the first two blocks [ceil(T/2),512], [ceil(T/2),1024]"""
        g = self.g
        x = self.rows(g.op("Sub", filterbanks, g.op("ReduceMean", filterbanks, g.integers(1), keepdims=1)))
        segments = Segments(g, x.name)
        first = self.dense(x, self.layers.block1, segments)
        return first, self.dense(self.transit(first, self.layers.transit1), self.layers.block2, segments)

    def rest(self, second: Bytes, window: int | None = None) -> str:
        """Output of the second block [N,1024] -> the network's frames before they are pooled [N,512] float32; of windows of so many frames, or of all"""
        layers = self.layers
        third = self.dense(self.transit(second, layers.transit2), layers.block3, Segments(self.g, second.name, window))
        return self.g.op("Relu", self.product(third, layers.transit3.nonlinear.batchnorm, layers.transit3.linear, layers.out_nonlinear.batchnorm, None))
