"""Layers on bytes as nodes of an ONNX graph: values in uint8 with channels last, weights in int8, sums in int32.

What lies between convolutions stays in bytes, with one scale per channel where channels differ: a value in float32 takes four times
the memory, and most of the time of a dense network goes to what copies its values.
"""

from dataclasses import dataclass

import numpy as np

from training.export.graph import Graph

MAX = 255
MOST = 127  # of a weight
DAMPING = 0.01  # of the mean moment
DOMAIN = "com.microsoft"  # of operators on bytes that ONNX lacks
Range = tuple[np.ndarray, np.ndarray]  # least and largest value of each channel


@dataclass(frozen=True)
class Levels:
    """What bytes mean: value = scale * (byte - zero), with a number for all or one per channel."""

    scale: np.ndarray
    zero: np.ndarray


UNIT = Levels(np.float32(1), np.float32(0))


def levels_of_all(low: np.ndarray, high: np.ndarray) -> Levels:
    """One scale, and a byte that is exactly zero, as padding needs it."""
    least, most = min(0, np.min(low)), max(0, np.max(high))
    scale = (most - least) / MAX
    return Levels(np.float32(scale), np.rint(-least / scale).astype(np.float32))


def levels_of_each(low: np.ndarray, high: np.ndarray) -> Levels:
    """A scale per channel."""
    scale = np.maximum((high - low) / MAX, 1e-9)
    return Levels(scale.astype(np.float32), (-low / scale).astype(np.float32))


@dataclass(frozen=True)
class Bytes:
    """A value of the graph [..,channels] and what its bytes mean."""

    name: str
    levels: Levels


def write_bytes(g: Graph, x: str, levels: Levels) -> Bytes:
    return Bytes(g.op("QuantizeLinear", x, *numbers_of(g, levels)), levels)


def write_values(g: Graph, x: Bytes) -> str:
    """float32"""
    values = g.op("Mul", write_steps(g, x.name), g.constant(x.levels.scale))
    return g.op("Add", values, g.constant(-x.levels.scale * x.levels.zero))


def write_steps(g: Graph, name: str, zero: int = 0) -> str:
    """float32 of bytes less `zero`: the kernel that has no scales per channel is the fast one."""
    return g.op("DequantizeLinear", name, g.number(np.float32(1)), g.number(np.uint8(zero)))


def numbers_of(g: Graph, levels: Levels) -> tuple[str, str]:
    """Scale and zero point, for an operator."""
    return g.number(levels.scale), g.number(np.uint8(levels.zero))


@dataclass(frozen=True)
class Quantized:
    """A product of bytes: what an operator needs of it."""

    weight: np.ndarray  # int8 [out,in,..]
    weight_scale: np.ndarray  # float32 [out]
    bias: np.ndarray  # int32 [out]
    read: Levels  # of the input, as numbers
    written: Levels  # of the output, as numbers


def quantize(weight: np.ndarray, bias: np.ndarray, x: Levels, y: Levels, moments: np.ndarray | None = None) -> Quantized:
    """Scales per channel become part of the weights. `moments`: of the inputs of a sum, in the order of the weights; without them each is rounded alone"""
    rest = (1,) * (weight.ndim - 2)
    weight, bias = weight.astype(np.float64), bias.astype(np.float64)
    if np.ndim(x.scale):
        weight = weight * x.scale.reshape(1, -1, *rest)
        bias = bias - weight.sum(axis=tuple(range(2, weight.ndim))) @ x.zero
        if moments is not None:
            each = np.repeat(x.scale.astype(np.float64), weight[0, 0].size)
            moments = moments / np.outer(each, each)
        x = UNIT
    if np.ndim(y.scale):
        weight, bias = weight / y.scale.reshape(-1, 1, *rest), bias / y.scale + y.zero
        y = UNIT
    flat = weight.reshape(len(weight), -1)
    scale = np.maximum(np.abs(flat).max(1) / MOST, 1e-12)
    steps = flat / scale[:, None]
    whole = np.rint(steps) if moments is None else round_weights(steps, moments)
    return Quantized(whole.astype(np.int8).reshape(weight.shape), scale.astype(np.float32),
                     np.rint(bias / (x.scale * scale)).astype(np.int32), x, y)  # fmt: skip


def round_weights(weight: np.ndarray, moments: np.ndarray) -> np.ndarray:
    """[out,in] to whole numbers: the error of each is taken back by those after it, so that sums over inputs of these moments keep their values.

    Frantar et al. 2022, GPTQ
    """
    diagonal = np.diag(moments)
    order = np.argsort(-diagonal)
    damped = moments[np.ix_(order, order)] + np.diag(np.full(len(order), DAMPING * diagonal.mean()))
    upper = np.linalg.cholesky(np.linalg.inv(damped)).T
    left = weight[:, order]
    whole = np.empty_like(left)
    for at in range(left.shape[1]):
        whole[:, at] = np.clip(np.rint(left[:, at]), -MOST, MOST)
        error = (left[:, at] - whole[:, at]) / upper[at, at]
        left[:, at + 1 :] -= np.outer(error, upper[at, at + 1 :])
    found = np.empty_like(whole)
    found[:, order] = whole
    return found


def write_conv(g: Graph, x: Bytes, weight: np.ndarray, bias: np.ndarray, levels: Levels, moments: np.ndarray | None, **attributes) -> Bytes:
    """A convolution; below the zero of `levels` it rectifies.

    It is written with channels first: onnxruntime makes its weights exact for processors without VNNI, then takes the transpositions away.
    """
    last = weight.ndim - 1
    first = g.op("Transpose", x.name, perm=[0, last, *range(1, last)])
    q = quantize(weight, bias, x.levels, levels, moments)
    zeros = np.zeros(len(weight), np.int8)
    y = g.op("QLinearConv", first, *numbers_of(g, q.read), g.constant(q.weight), g.constant(q.weight_scale), g.constant(zeros),
             *numbers_of(g, q.written), g.constant(q.bias), **attributes)  # fmt: skip
    return Bytes(g.op("Transpose", y, perm=[0, *range(2, last + 1), 1]), levels)


def write_product(
    g: Graph, x: Bytes, weight: np.ndarray, bias: np.ndarray, levels: Levels | None = None, moments: np.ndarray | None = None
) -> Bytes | str:
    """[N,in] -> [N,out], below the zero of `levels` rectified; float32 without `levels`. `weight`: [out,in]"""
    q = quantize(weight, bias, x.levels, levels or UNIT, moments)
    zeros = np.zeros(len(weight), np.int8)
    written = numbers_of(g, q.written) if levels else ()
    y = g.op("QGemm", x.name, *numbers_of(g, q.read), g.constant(q.weight.T), g.constant(q.weight_scale), g.constant(zeros),
             g.constant(q.bias), *written, domain=DOMAIN)  # fmt: skip
    return Bytes(y, levels) if levels else y


def write_sum(g: Graph, x: Bytes, y: Bytes, levels: Levels) -> Bytes:
    """Below the zero of `levels` rectified."""
    read = (one for value in (x, y) for one in (value.name, *numbers_of(g, value.levels)))
    return Bytes(g.op("QLinearAdd", *read, *numbers_of(g, levels), domain=DOMAIN), levels)


def write_rectified(g: Graph, x: Bytes, slope: np.ndarray, shift: np.ndarray) -> tuple[Bytes, np.ndarray]:
    """[N,channels] -> slope * x + shift where that is positive, else 0: bytes less a threshold per channel; and the channels of its columns.

    Of a channel with a negative slope: relu(-u) + u, whose second part is one more column.
    """
    gain = slope * x.levels.scale
    threshold = x.levels.zero - shift / gain  # the byte where the value is 0
    least = np.clip(np.rint(threshold), 0, MAX)
    one = np.float32(1)
    less = Bytes(g.constant((MAX - least).astype(np.uint8)), Levels(one, np.float32(MAX)))
    y = write_sum(g, Bytes(x.name, UNIT), less, UNIT)
    levels = Levels(np.abs(gain), np.minimum(threshold, 0))
    columns = np.arange(len(slope))
    if len(falling := np.flatnonzero(slope < 0)):
        more = g.op("Gather", x.name, g.integers(*falling), axis=1)
        y = Bytes(g.op("Concat", y.name, more, axis=1), y.levels)
        levels = Levels(np.append(levels.scale, gain[falling]), np.append(levels.zero, threshold[falling]))
        columns = np.append(columns, falling)
    return Bytes(y.name, levels), columns


def joined(g: Graph, *parts: Bytes) -> Bytes:
    """[N,channels of all]"""
    scale, zero = (np.concatenate([getattr(part.levels, name) for part in parts]) for name in ("scale", "zero"))
    return Bytes(g.op("Concat", *(part.name for part in parts), axis=1), Levels(scale, zero))
