"""The shared trunk: Whisper-tiny.en's convolutional stem and its first two encoder layers."""

from __future__ import annotations

import numpy as np
import torch
from onnx import TensorProto
from torch import nn
from torch.nn import functional as F

from graph import Graph, level_normalised

WIDTH, HEADS, LAYERS, BINS = 384, 6, 2, 80
WINDOW_SECONDS = 10
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
POSITIONS = 512  # tokens; a window of ten seconds has 500
OFFSET = 0.5  # mean log10 of the reference power over LibriSpeech (0.52, sd 0.40)
FLOOR = 6.5  # log10 units below the reference


def normalise(features: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
    """[B,T,80] raw log10 mel -> Whisper's scale; the twin of graph.level_normalised."""
    power = torch.pow(10.0, features).sum(2, keepdim=True)
    real = torch.ones_like(power)
    if lengths is not None:
        real = (torch.arange(power.shape[1])[None, :, None] < lengths[:, None, None]).float()
    power = power * real
    mean = power.sum(1, keepdim=True) / real.sum(1, keepdim=True)
    loud = ((power > 0.1 * mean) & (real > 0)).float()
    reference = (power * loud).sum(1, keepdim=True) / loud.sum(1, keepdim=True)
    relative = torch.clamp(features - torch.log10(reference), min=-FLOOR)
    return (relative + OFFSET + 4) / 4


class Layer(nn.Module):
    def __init__(self, inner: int):
        super().__init__()
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.attention_out = nn.Linear(WIDTH, WIDTH)
        self.ffn_norm = nn.LayerNorm(WIDTH)
        self.ffn_in = nn.Linear(WIDTH, inner)
        self.ffn_out = nn.Linear(inner, WIDTH)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        batch, length, _ = x.shape
        qkv = self.qkv(self.attention_norm(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.attention_out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.ffn_out(F.gelu(self.ffn_in(self.ffn_norm(x))))


class Trunk(nn.Module):
    """`coarse`: half as many tokens; in training each is told twice, so that they lie beside those of the whole one."""

    def __init__(
        self,
        variables: dict[str, np.ndarray] | None = None,
        inner: int = 4 * WIDTH,
        coarse: bool = False,
        layers: int = LAYERS,
    ):
        super().__init__()
        self.coarse = coarse
        self.conv1 = nn.Conv1d(BINS, WIDTH, 3, stride=2 if coarse else 1, padding=1)
        self.conv2 = nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.layers = nn.ModuleList(Layer(inner) for _ in range(layers))
        self.register_buffer("positions", torch.zeros(POSITIONS, WIDTH))
        if variables is not None:
            self.load(variables)

    def load(self, variables: dict[str, np.ndarray]) -> None:
        names = {
            "attention_norm": "self_attention/layer_norm",
            "qkv": "self_attention/linear_0",
            "attention_out": "self_attention/linear_1",
            "ffn_norm": "ffn/layer_norm",
            "ffn_in": "ffn/linear_0",
            "ffn_out": "ffn/linear_1",
        }
        pairs = [(self.conv1, "conv1", "weight", "bias"), (self.conv2, "conv2", "weight", "bias")]
        for index, layer in enumerate(self.layers):
            for ours, theirs in names.items():
                norm = ours.endswith("norm")
                tail = ("gamma", "beta") if norm else ("weight", "bias")
                pairs.append((getattr(layer, ours), f"layer_{index}/{theirs}", *tail))
        with torch.no_grad():
            for module, path, weight, bias in pairs:
                module.weight.copy_(torch.from_numpy(variables[f"{path}/{weight}"].copy()))
                module.bias.copy_(torch.from_numpy(variables[f"{path}/{bias}"].copy()))
            encodings = variables["position_encodings/encodings"][:POSITIONS]
            self.positions.copy_(torch.from_numpy(encodings.copy()))

    def forward(self, scaled: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Normalised features [B,T,80] -> tokens [B,ceil(T/2),384]; frames past a length are nothing."""
        tokens = (scaled.shape[1] + 1) // 2
        x, mask = self.stem(scaled, lengths)
        for layer in self.layers:
            x = layer(x, mask)
        return x.repeat_interleave(2, 1)[:, :tokens] if self.coarse else x

    def stem(self, scaled: torch.Tensor, lengths: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor | None]:
        """-> places in time [B,N,384] with their positions, and which of them are real [B,1,1,N]"""
        x, mask = scaled.transpose(1, 2), None
        if lengths is not None:
            real = torch.arange(x.shape[2], device=x.device)[None] < lengths[:, None]
            x = x * real[:, None]
        x = F.gelu(self.conv1(x))
        if lengths is not None:
            real = real[:, :: self.conv1.stride[0]]
            x = x * real[:, None]
            mask = real[:, None, None, ::2]
        x = F.gelu(self.conv2(x)).transpose(1, 2)
        return x + self.places()[: x.shape[1]], mask

    @property
    def frames_per_token(self) -> int:
        return 4 if self.coarse else 2

    def places(self) -> torch.Tensor:
        """Position encodings of the tokens inside."""
        return self.positions[::2] if self.coarse else self.positions


def numpy_of(module: nn.Module, name: str) -> np.ndarray:
    return getattr(module, name).detach().numpy()


def write_norm(g: Graph, x: str, norm: nn.LayerNorm) -> str:
    gamma, beta = g.constant(numpy_of(norm, "weight")), g.constant(numpy_of(norm, "bias"))
    return g.op("LayerNormalization", x, gamma, beta, axis=-1, epsilon=1e-5)


def write_linear(g: Graph, x: str, linear: nn.Linear) -> str:
    return write_product(g, x, numpy_of(linear, "weight").T, numpy_of(linear, "bias"))


def write_product(g: Graph, x: str, weight: np.ndarray, bias: np.ndarray) -> str:
    """Integer arithmetic: int8 weights with a scale an output, tokens in uint8 with a scale a call."""
    return write_quantised(g, g.op("DynamicQuantizeLinear", x, outputs=3), weight, bias)


def write_quantised(g: Graph, quantised: list[str], weight: np.ndarray, bias: np.ndarray) -> str:
    """The product of values in uint8, their scale and their zero."""
    x, step, zero = quantised
    scale = np.maximum(np.abs(weight).max(0), 1e-12) / 127
    whole = np.clip(np.round(weight / scale), -127, 127).astype(np.int8)
    none = g.constant(np.zeros(weight.shape[1], np.int8))
    product = g.op("Cast", g.op("MatMulInteger", x, g.constant(whole), zero, none), to=TensorProto.FLOAT)
    y = g.op("Mul", product, g.op("Mul", step, g.constant(scale)))
    return g.op("Add", y, g.constant(bias))


def write_conv(g: Graph, x: str, conv: nn.Conv1d) -> str:
    """Of width 3, [1,N,in] -> [1,ceil(N/stride),out], as one product of three places side by side, in int8."""
    whole, step, zero = g.op("DynamicQuantizeLinear", x, outputs=3)
    padded = g.op("Pad", whole, g.constant(np.array([0, 1, 0, 0, 1, 0], np.int64)), zero)
    length, axis = g.op("Shape", x, start=1, end=2), g.constant(np.array([1], np.int64))
    stride = g.constant(np.array(conv.stride, np.int64))
    places = []
    for first in range(3):
        start = g.constant(np.array([first], np.int64))
        places.append(g.op("Slice", padded, start, g.op("Add", length, start), axis, stride))
    weight = numpy_of(conv, "weight").transpose(2, 1, 0).reshape(-1, conv.out_channels)
    return write_quantised(g, [g.op("Concat", *places, axis=2), step, zero], weight, numpy_of(conv, "bias"))


def write_attention(g: Graph, x: str, layer: Layer) -> str:
    """onnxruntime's own operator, which never holds the whole matrix of scores."""
    quantised = g.op("DynamicQuantizeLinear", x, outputs=3)
    parts = zip(np.split(numpy_of(layer.qkv, "weight").T, 3, axis=1), np.split(numpy_of(layer.qkv, "bias"), 3))
    q, k, v = (write_quantised(g, quantised, weight, bias) for weight, bias in parts)
    y = g.op("MultiHeadAttention", q, k, v, domain="com.microsoft", num_heads=HEADS)
    return write_linear(g, y, layer.attention_out)


def write_trunk(trunk: Trunk, path: str) -> None:
    g = Graph("trunk")
    features = g.input("features", [1, "frames", BINS])
    x = level_normalised(g, features, OFFSET, FLOOR)
    x = g.op("Gelu", write_conv(g, x, trunk.conv1))
    x = g.op("Gelu", write_conv(g, x, trunk.conv2))
    length = g.op("Shape", x, start=1, end=2)
    zero, axis = g.constant(np.array([0], np.int64)), g.constant(np.array([0], np.int64))
    positions = g.op("Slice", g.half(trunk.places().numpy()), zero, length, axis)
    x = g.op("Add", x, positions)
    for layer in trunk.layers:
        x = g.op("Add", x, write_attention(g, write_norm(g, x, layer.attention_norm), layer))
        hidden = g.op("Gelu", write_linear(g, write_norm(g, x, layer.ffn_norm), layer.ffn_in))
        x = g.op("Add", x, write_linear(g, hidden, layer.ffn_out))
    g.output(x, "tokens", [1, "tokens", WIDTH])
    g.save(path)
