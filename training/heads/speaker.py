"""Voice of an utterance: a vector of length 1, near for utterances of one speaker, far for speakers of the same corpus."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training import settings

# ASED: numbers that stand for several people. AMI: several people in a recording. The others: people who are not told apart.
UNRELIABLE = ("ASED", "AMI", "PicovoiceIntent", "PicovoiceWakeWords")
DIMENSIONS = 48
HIDDEN = 256
DROPOUT = 0.2
SPEAKERS = 24  # of one corpus in a batch
UTTERANCES = 6  # of each speaker in a batch
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 0.1


@dataclass(frozen=True)
class Utterance:
    corpus: str
    speaker: str
    mean: np.ndarray  # [width] embeddings, weighted by speech


class VoiceNetwork(nn.Module):
    """Mean embeddings [n,width] -> [n,48]"""

    def __init__(self, mean: np.ndarray, std: np.ndarray):
        super().__init__()
        self.register_buffer("mean", torch.tensor(mean))
        self.register_buffer("std", torch.tensor(std))
        self.hidden = nn.Linear(len(mean), HIDDEN)
        self.out = nn.Linear(HIDDEN, DIMENSIONS)
        self.scale = nn.Parameter(torch.tensor(10.0))  # of the cosines in the loss

    def forward(self, means: torch.Tensor) -> torch.Tensor:
        x = F.dropout((means - self.mean) / self.std, DROPOUT, self.training)
        hidden = F.dropout(torch.relu(self.hidden(x)), DROPOUT, self.training)
        return F.normalize(self.out(hidden), dim=1)

    def loss(self, means: torch.Tensor, speakers: int) -> torch.Tensor:
        """Half of each speaker's utterances are to be nearest to the mean of the other half."""
        voices = self(means).view(speakers, UTTERANCES, -1)
        half = UTTERANCES // 2
        centres = F.normalize(voices[:, half:].mean(1), dim=1)
        cosines = torch.einsum("skd,td->skt", voices[:, :half], centres).reshape(-1, speakers)
        return F.cross_entropy(self.scale * cosines, torch.arange(speakers).repeat_interleave(half))


def by_speaker(utterances: list[Utterance]) -> dict[str, list[np.ndarray]]:
    """Corpus -> indices of the utterances of each speaker"""
    corpora: dict[str, dict[str, list[int]]] = {}
    for index, utterance in enumerate(utterances):
        corpora.setdefault(utterance.corpus, {}).setdefault(utterance.speaker, []).append(index)
    speakers = {corpus: [np.array(v) for v in owned.values() if len(v) > UTTERANCES // 2] for corpus, owned in corpora.items()}
    return {corpus: indices for corpus, indices in speakers.items() if len(indices) > 1}


def untrained(width: int) -> VoiceNetwork:
    return VoiceNetwork(np.zeros(width, np.float32), np.ones(width, np.float32)).eval()


def fit(utterances: list[Utterance]) -> VoiceNetwork:
    torch.manual_seed(settings.SEED)
    rng = np.random.default_rng(settings.SEED)
    corpora = by_speaker(utterances)
    means = np.stack([utterance.mean for utterance in utterances])
    net = VoiceNetwork(means.mean(0), means.std(0))
    steps = settings.SIZES.voice_steps
    optimizer = torch.optim.AdamW(net.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, LEARNING_RATE, steps)
    names = list(corpora)
    share = np.sqrt([len(corpora[name]) for name in names])
    for _ in range(steps):
        speakers = corpora[names[rng.choice(len(names), p=share / share.sum())]]
        chosen = rng.choice(len(speakers), min(SPEAKERS, len(speakers)), replace=False)
        drawn = [rng.choice(speakers[i], UTTERANCES, replace=len(speakers[i]) < UTTERANCES) for i in chosen]
        loss = net.loss(torch.tensor(means[np.concatenate(drawn)]), len(chosen))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return net.eval()
