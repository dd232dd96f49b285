"""Voice activity and syllable rate: a small dilated convolutional network over log-mel frames.

It looks back 5 s and ahead `LOOKAHEAD` frames, so that the end of a file changes no earlier decision. The level of a
frame is that of the loudest tenth of a second of the last 3 s. Before its start a recording is silent.

Targets: Silero VAD's labels, and syllables of known texts. A third output, fitted afterwards on the same frames
(speech_check.py), separates speech from other sounds that pass as speech.
"""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.features.level import FLOOR, OFFSET
from training.features.log_mel import BINS
from training.features.windows import SILENCE

WIDTH = 64
CHECK_WIDTH = 64
KERNEL = 5
LAYERS = ((1, 2), (2, 2), (4, 1), (8, 0), (16, 0), (32, 0))  # dilation, taps of the kernel that look ahead
LOOKAHEAD = 2 + 2 * sum(dilation * ahead for dilation, ahead in LAYERS)  # frames; the stem looks 2 ahead
MAX_RATE = 12.0  # syllables per second
SMOOTHED = 8  # frames of a mean power
LOUDEST = 296  # frames of the maximum of such means
MIN_POWER = 1e-4  # of the reference: quieter recordings stay quiet
SILENT = (max(SILENCE - np.log10(MIN_POWER), -FLOOR) + OFFSET + 4) / 4  # every normalised feature of a silent frame


def normalize_recent(features: torch.Tensor) -> torch.Tensor:
    """[B,T,80] log10 of mel energies -> the same over the level of the last 3 s, in the scale of `normalize_level`."""
    power = torch.pow(10.0, features).sum(2)[:, None]
    mean = F.avg_pool1d(F.pad(power, (SMOOTHED - 1, 0)), SMOOTHED, 1)
    loudest = F.max_pool1d(F.pad(mean, (LOUDEST - 1, 0)), LOUDEST, 1)[:, 0, :, None]
    relative = torch.clamp(features - torch.log10(torch.clamp(loudest, min=MIN_POWER)), min=-FLOOR)
    return (relative + OFFSET + 4) / 4


class VadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(BINS, WIDTH, 5, stride=2)
        self.depthwise = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, KERNEL, dilation=dilation, groups=WIDTH) for dilation, _ in LAYERS)
        self.pointwise = nn.ModuleList(nn.Conv1d(WIDTH, WIDTH, 1) for _ in LAYERS)
        self.head = nn.Conv1d(WIDTH, 2, 1)
        self.speech_check = nn.Sequential(nn.Conv1d(WIDTH, CHECK_WIDTH, 1), nn.ReLU(), nn.Conv1d(CHECK_WIDTH, 1, 1))

    def encode(self, features: torch.Tensor) -> torch.Tensor:
        """[B,T,80] log10 of mel energies -> [B,WIDTH,ceil(T/2)]. Silence precedes and follows."""
        after = LOOKAHEAD + features.shape[1] % 2
        x = normalize_recent(F.pad(features, (0, 0, LOOKAHEAD, after), value=SILENCE)).transpose(1, 2)
        x = F.relu(self.stem(F.pad(x, (2, 0), value=SILENT)))
        constant = F.relu(self.stem.weight.sum(2) @ torch.full((BINS,), SILENT) + self.stem.bias)  # response to endless silence
        for (dilation, ahead), depthwise, pointwise in zip(LAYERS, self.depthwise, self.pointwise):
            before = constant[None, :, None].expand(len(x), -1, (KERNEL - 1 - ahead) * dilation)
            y = F.relu(pointwise(depthwise(torch.cat([before, x], 2))))
            still = constant * depthwise.weight.sum((1, 2)) + depthwise.bias
            constant = constant + F.relu(pointwise.weight[:, :, 0] @ still + pointwise.bias)
            x = x[:, :, : y.shape[2]] + y
        return x[:, :, LOOKAHEAD // 2 :]

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """[B,T,80] log10 of mel energies -> speech logits [B,T], syllables per second [B,T]"""
        y = self.head(self.encode(features)).repeat_interleave(2, 2)[:, :, : features.shape[1]]
        return y[:, 0], MAX_RATE * torch.sigmoid(y[:, 1])

    def detect(self, log_mel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[T,80] -> whether each frame is speech [T], syllables per second [T]"""
        with torch.no_grad():
            logits, rate = self(torch.from_numpy(np.array(log_mel, np.float32))[None])
        return torch.sigmoid(logits)[0].numpy() > 0.5, rate[0].numpy()
