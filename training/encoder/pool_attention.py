"""Pools the attention of a fine-tuned trunk: keys and values are those of pairs of embeddings.

Pooled keys and values: Fan et al. 2021, Multiscale Vision Transformers. The trunk is then trained to give the embeddings
that it gave before, of the same log-mel frames. The convolutions stay as they are.
"""

import sys
from pathlib import Path

import numpy as np
import torch

from training import cache, settings
from training.augment import mix, spectral, synthetic_noise
from training.augment.spectral import Noises, augment_log_mel
from training.corpora.index import labels_key, read_clips
from training.encoder import distill, examples, finetune, trunk, window_store
from training.encoder.distill import RESULT_FILE, train_student
from training.encoder.examples import FinetuneDataset, stack_log_mel
from training.encoder.trunk import DEVICE, WIDTH, Trunk
from training.encoder.window_store import WindowStore, finetune_split
from training.features import batches, level
from training.features.level import normalize_level

PEAK_LR = 1.5e-4
CLEAN_SHARE = 0.4  # of the windows; the others have noise, rooms and filters
SPREAD_WINDOWS = 200  # that the spread of the embeddings is measured over


class PoolDataset:
    """Windows as recorded or augmented, and the teacher's embeddings of the same frames."""

    def __init__(self, windows: WindowStore, teacher: Trunk):
        self.windows, self.plain, self.noises = windows, FinetuneDataset(windows, None), Noises()
        self.teacher = teacher.eval().to(DEVICE)

    def draw(self, window: int, rng: np.random.Generator) -> np.ndarray:
        frames, _ = self.plain.draw(window, None)
        return frames if rng.random() < CLEAN_SHARE else augment_log_mel(frames, self.noises, rng)

    def batch(self, members: np.ndarray, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        x, lengths = stack_log_mel([self.draw(i, rng) for i in members])
        return x, lengths, self.embed(x, lengths)

    @torch.no_grad()
    def embed(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        return self.teacher(normalize_level(x, lengths).to(DEVICE), lengths.to(DEVICE)).cpu()

    def spread(self, members: np.ndarray) -> torch.Tensor:
        """-> [384]"""
        chosen, embeddings = members[:: max(1, len(members) // SPREAD_WINDOWS)], []
        for window in chosen:
            x, lengths = stack_log_mel([self.plain.draw(window, None)[0]])
            embeddings.append(self.embed(x, lengths).reshape(-1, WIDTH))
        return torch.cat(embeddings).std(0) + 0.05


def new_student(teacher: Trunk) -> Trunk:
    student = Trunk(pooled=True)
    student.load_state_dict(teacher.state_dict())
    for conv in (student.conv1, student.conv2):
        conv.requires_grad_(False)
    return student


def pool(folder: Path, windows: WindowStore, teacher: Trunk, refit: bool) -> None:
    clips = read_clips()
    members = np.flatnonzero([clips[i].refitted for i in windows.clips]) if refit else finetune_split(clips, windows)[0]
    student, data = new_student(teacher), PoolDataset(windows, teacher)
    train_student(student, data, members, data.spread(members), settings.SIZES.pool_steps, PEAK_LR, folder)


def inputs_of(windows: WindowStore, refit: bool) -> dict:
    code = (batches, distill, examples, level, mix, spectral, synthetic_noise, trunk)
    return {
        "teacher": cache.file_hash(finetune.result_path(refit)),
        "labels": labels_key(read_clips()),
        "windows": windows.key,
        "refit": refit,
        "steps": settings.SIZES.pool_steps,
        "code": cache.code_hash(sys.modules[__name__], *code),
    }


def run(refit: bool) -> Trunk:
    windows = window_store.load()
    folder = cache.build("pooled", inputs_of(windows, refit), lambda folder: pool(folder, windows, finetune.finetuned_trunk(refit), refit))
    trunk = Trunk(pooled=True)
    trunk.load_state_dict(torch.load(folder / RESULT_FILE))
    return trunk.eval()
