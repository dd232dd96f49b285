"""The trunk with both heads, trained by one loss."""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from training.corpora.corpus import Clip
from training.encoder.examples import FinetuneDataset
from training.encoder.trunk import DEVICE, Trunk
from training.features.level import normalize_level
from training.heads import clarity, emotion
from training.heads.attention_head import AttentionHead

CLARITY = emotion.OUTPUTS  # column of clarity, behind those of the emotion head
OUTPUTS = emotion.OUTPUTS + 1
CLARITY_WEIGHT = 1.5  # in the loss


class MultiTaskModel(nn.Module):
    def __init__(self, trunk: Trunk):
        super().__init__()
        self.trunk, self.emotion, self.clarity = trunk, AttentionHead(emotion.OUTPUTS), AttentionHead(1, dropout=0.5)

    def forward(self, scaled: torch.Tensor, lengths: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """scaled [B,T,80], lengths [B], weights [B,ceil(T/2)] -> [B,11] on the CPU: logits, valence, arousal, clarity"""
        scaled, lengths, weights = (value.to(DEVICE) for value in (scaled, lengths, weights))
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=self.training):  # a variance in bfloat16 would cancel: the heads are outside
            embeddings = self.trunk(scaled, lengths).float()
        return torch.cat([self.emotion(embeddings, weights), self.clarity(embeddings, weights)], 1).cpu()

    def predict(self, dataset: FinetuneDataset, members: np.ndarray) -> np.ndarray:
        """[windows, 11] of the windows as recorded"""
        self.eval()
        order = members[np.argsort(dataset.windows.lengths[members])]
        result = {}
        with torch.no_grad():
            for batch in np.array_split(order, max(1, len(order) // 24)):
                x, lengths, weights = dataset.batch(batch, None)
                result.update(zip(batch.tolist(), self(normalize_level(x, lengths), lengths, weights).numpy()))
        return np.stack([result[i] for i in members.tolist()])


def make_loss(owners: np.ndarray, clips: list[Clip]) -> Callable[[torch.Tensor, np.ndarray], torch.Tensor]:
    """-> a function of predictions [B,11] and window indices [B]"""
    emotion_loss = emotion.make_loss(owners, emotion.targets_of(clips, balanced=True))
    scores = clarity.targets_of(clips)
    spread = float(np.nanstd(scores))

    def loss(predicted: torch.Tensor, windows: np.ndarray) -> torch.Tensor:
        target = torch.from_numpy(scores[owners[windows]])
        known = ~torch.isnan(target)
        error = torch.where(known, (predicted[:, CLARITY] - torch.nan_to_num(target)) / spread, 0.0) ** 2
        return emotion_loss(predicted[:, : emotion.OUTPUTS], windows) + CLARITY_WEIGHT * error.mean()

    return loss
