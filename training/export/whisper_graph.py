"""The first layers of Whisper as nodes of an ONNX graph. Convolutions and linear layers run in int8.

Weights have one scale per output, inputs are quantised to uint8 with one scale per call.
"""

import numpy as np
from onnx import TensorProto
from torch import nn

from training.encoder.whisper import Layer, Whisper
from training.export.graph import Graph, numpy_of, write_normalize_level


def write_norm(g: Graph, x: str, norm: nn.LayerNorm) -> str:
    gamma = g.constant(numpy_of(norm, "weight"))
    beta = g.constant(numpy_of(norm, "bias"))
    return g.op("LayerNormalization", x, gamma, beta, axis=-1, epsilon=1e-5)


def write_linear(g: Graph, x: str, linear: nn.Linear) -> str:
    quantized = g.op("DynamicQuantizeLinear", x, outputs=3)
    return write_product(g, quantized, numpy_of(linear, "weight").T, numpy_of(linear, "bias"))


def write_product(g: Graph, quantized: list[str], weight: np.ndarray, bias: np.ndarray) -> str:
    """`quantized`: values in uint8, their scale and their zero point; weight [in,out]."""
    x, step, zero = quantized
    scale = np.maximum(np.abs(weight).max(0), 1e-12) / 127
    whole = np.clip(np.round(weight / scale), -127, 127).astype(np.int8)
    none = g.constant(np.zeros(weight.shape[1], np.int8))
    product = g.op("Cast", g.op("MatMulInteger", x, g.constant(whole), zero, none), to=TensorProto.FLOAT)
    y = g.op("Mul", product, g.op("Mul", step, g.constant(scale)))
    return g.op("Add", y, g.constant(bias))


def write_conv(g: Graph, x: str, conv: nn.Conv1d) -> str:
    """Kernel of 3, [1,N,in] -> [1,ceil(N/stride),out], as one product over three shifted copies side by side."""
    whole, step, zero = g.op("DynamicQuantizeLinear", x, outputs=3)
    padded = g.op("Pad", whole, g.integers(0, 1, 0, 0, 1, 0), zero)
    length = g.op("Shape", x, start=1, end=2)
    axis = g.integers(1)
    stride = g.integers(*conv.stride)
    shifted = []
    for first in range(3):
        start = g.integers(first)
        shifted.append(g.op("Slice", padded, start, g.op("Add", length, start), axis, stride))
    weight = numpy_of(conv, "weight").transpose(2, 1, 0).reshape(-1, conv.out_channels)
    return write_product(g, [g.op("Concat", *shifted, axis=2), step, zero], weight, numpy_of(conv, "bias"))


def write_attention(g: Graph, x: str, layer: Layer) -> str:
    """onnxruntime's own operator, which never holds the whole matrix of scores."""
    quantized = g.op("DynamicQuantizeLinear", x, outputs=3)
    parts = zip(np.split(numpy_of(layer.qkv, "weight").T, 3, axis=1), np.split(numpy_of(layer.qkv, "bias"), 3))
    q, k, v = (write_product(g, quantized, weight, bias) for weight, bias in parts)
    y = g.op("MultiHeadAttention", q, k, v, domain="com.microsoft", num_heads=layer.heads)
    return write_linear(g, y, layer.attention_out)


def write_layers(g: Graph, features: str, model: Whisper) -> list[str]:
    """[1,T,80] log10 of mel energies -> outputs of the layers [1,ceil(T/2),WIDTH]"""
    x = write_normalize_level(g, features)
    x = g.op("Gelu", write_conv(g, x, model.conv1))
    x = g.op("Gelu", write_conv(g, x, model.conv2))
    length = g.op("Shape", x, start=1, end=2)
    zero = g.integers(0)
    axis = g.integers(0)
    positions = g.op("Slice", g.half(model.positions.numpy()), zero, length, axis)
    x = g.op("Add", x, positions)
    outputs = []
    for layer in model.layers:
        x = g.op("Add", x, write_attention(g, write_norm(g, x, layer.attention_norm), layer))
        hidden = g.op("Gelu", write_linear(g, write_norm(g, x, layer.ffn_norm), layer.ffn_in))
        x = g.op("Add", x, write_linear(g, hidden, layer.ffn_out))
        outputs.append(x)
    return outputs

