"""Voice activity and syllable rate: a small dilated convolutional network over log-mel frames.

Targets: Silero VAD's labels, and syllables of known texts. A third output, fitted afterwards on the same frames
(speech_check.py), separates speech from other sounds that pass as speech.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.features.level import normalize_level
from training.features.log_mel import BINS

WIDTH, CHECK_WIDTH = 48, 64
DILATIONS = [1, 2, 4, 8, 16, 32]
KERNEL = 5
MAX_RATE = 12.0  # syllables per second


class VadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(BINS, WIDTH, 5, stride=2, padding=2)
        self.depthwise = nn.ModuleList(
            nn.Conv1d(WIDTH, WIDTH, KERNEL, padding=(KERNEL // 2) * d, dilation=d, groups=WIDTH) for d in DILATIONS
        )
        self.pointwise = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 1) for _ in DILATIONS)
        self.head = nn.Conv1d(WIDTH, 2, 1)
        self.speech_check = nn.Sequential(nn.Conv1d(WIDTH, CHECK_WIDTH, 1), nn.ReLU(), nn.Conv1d(CHECK_WIDTH, 1, 1))

    def encode(self, features: torch.Tensor) -> torch.Tensor:
        """[B,T,80] log10 of mel energies -> [B,WIDTH,ceil(T/2)]"""
        x = F.relu(self.stem(normalize_level(features).transpose(1, 2)))
        for depthwise, pointwise in zip(self.depthwise, self.pointwise):
            x = x + F.relu(pointwise(depthwise(x)))
        return x

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """[B,T,80] log10 of mel energies -> speech logits [B,T], syllables per second [B,T]"""
        y = self.head(self.encode(features)).repeat_interleave(2, 2)[:, :, : features.shape[1]]
        return y[:, 0], MAX_RATE * torch.sigmoid(y[:, 1])

    def detect(self, log_mel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[T,80] -> whether each frame is speech [T], syllables per second [T]"""
        with torch.no_grad():
            logits, rate = self(torch.from_numpy(np.array(log_mel, np.float32))[None])
        return torch.sigmoid(logits)[0].numpy() > 0.5, rate[0].numpy()
