"""Distils the trunk into a coarse, narrow one: half the embeddings, a third of the inner width.

The student learns the trunk's embeddings: from log-mel augmentation of a recording those of the clean one, from an
augmented copy those of the copy. A run that was stopped continues from its last checkpoint.
"""

import itertools
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from training import cache, settings
from training.augment import log_mel as log_mel_augmentation
from training.augment.augmented import AugmentedCopies
from training.augment.log_mel import Noises, augment
from training.corpora.corpus import Clip
from training.corpora.index import read_clips
from training.encoder import embeddings, examples, finetune, trunk, window_store
from training.encoder.embeddings import EmbeddingStore
from training.encoder.examples import draw_epoch, pad_rows
from training.encoder.trunk import DEVICE, WIDTH, Trunk
from training.encoder.window_store import WindowStore, split
from training.features import log_mel
from training.features.level import normalize_level
from training.settings import SEED

INNER = 512
RATE = 8e-4
CLEAN_SHARE = 0.25  # of the examples that are not copies
COPY_SHARE = 0.4
SAVE_EVERY = 50  # steps
RESULT_FILE, CHECKPOINT_FILE = "student.pt", "checkpoint.pt"


def new_student() -> Trunk:
    return Trunk(inner=INNER, coarse=True)


def pruned(teacher: Trunk) -> Trunk:
    """The trunk at half the frame rate, with its strongest inner units."""
    student = new_student()
    state = {name: value for name, value in teacher.state_dict().items() if "ffn_in" not in name and "ffn_out" not in name}
    student.load_state_dict(state, strict=False)
    for mine, whole in zip(student.layers, teacher.layers):
        strength = whole.ffn_in.weight.norm(dim=1) * whole.ffn_out.weight.norm(dim=0)
        kept = strength.topk(INNER).indices
        mine.ffn_in.weight.data, mine.ffn_in.bias.data = whole.ffn_in.weight.data[kept], whole.ffn_in.bias.data[kept]
        mine.ffn_out.weight.data, mine.ffn_out.bias.data = whole.ffn_out.weight.data[:, kept], whole.ffn_out.bias.data
    return student


class Lessons:
    """Batches of windows and of the teacher's embeddings."""

    def __init__(self, windows: WindowStore, copies: AugmentedCopies, store: EmbeddingStore):
        self.windows, self.copies, self.store = windows, copies, store
        self.source, self.noises = log_mel.of_corpora(), Noises()

    def one(self, window: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        if rng.random() < COPY_SHARE:
            rows, _ = self.copies.window(int(self.windows.clips[window]), *self.windows.span(window))
            return rows, self.store.augmented[window][0]
        rows = self.windows.rows(window, self.source)
        return (rows if rng.random() < CLEAN_SHARE else augment(rows, self.noises, rng)), self.store[window][0]

    def batch(self, members: np.ndarray, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """-> features [B,T,80], lengths [B], embeddings [B,ceil(T/2),384]"""
        pairs = [self.one(i, rng) for i in members]
        x, lengths = pad_rows([rows for rows, _ in pairs])
        wanted = np.zeros((len(pairs), (x.shape[1] + 1) // 2, WIDTH), np.float32)
        for row, (_, found) in enumerate(pairs):
            wanted[row, : len(found)] = found
        return x, lengths, torch.from_numpy(wanted)


def loss_of(found: torch.Tensor, wanted: torch.Tensor, lengths: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Squared error of the embeddings [B,N,384], and of their mean and deviation over the window; `scale` [384]: their spread."""
    real = (torch.arange(found.shape[1])[None] < ((lengths + 1) // 2)[:, None]).float()[:, :, None]
    count = real.sum(1)
    apart = (((found - wanted) / scale) ** 2 * real).sum() / (count.sum() * WIDTH)
    pooled = []
    for x in (found / scale, wanted / scale):
        mean = (x * real).sum(1) / count
        pooled.append(torch.cat([mean, (((x - mean[:, None]) ** 2 * real).sum(1) / count + 1e-4).sqrt()], 1))
    return apart + 4 * ((pooled[0] - pooled[1]) ** 2).mean()


def batches_from(step: int, clips: list[Clip], windows: WindowStore, members: np.ndarray) -> Iterator[np.ndarray]:
    for epoch in itertools.count():
        batches = draw_epoch(clips, windows, members, SEED, epoch)
        yield from batches[step:]
        step = max(0, step - len(batches))


def distill(folder: Path, windows: WindowStore, copies: AugmentedCopies, store: EmbeddingStore) -> None:
    clips, lessons, steps = read_clips(), Lessons(windows, copies, store), settings.SIZES.distill_steps
    members, _ = split(clips, windows)
    rows = store.rows[:: max(1, len(store.rows) // 50000)].astype(np.float32)
    scale = torch.from_numpy(rows.std(0) + 0.05)
    student, first = pruned(finetune.tuned_trunk()), 0
    optimizer = torch.optim.AdamW(student.to(DEVICE).parameters(), RATE, weight_decay=0.01)
    if (folder / CHECKPOINT_FILE).exists():
        state = torch.load(folder / CHECKPOINT_FILE)
        first = state["step"]
        student.load_state_dict(state["student"])
        optimizer.load_state_dict(state["optimizer"])
    costs, batches = [], batches_from(first, clips, windows, members)
    bar = tqdm(range(first, steps), "distillation steps", steps, initial=first, mininterval=20)
    for step, members_of_batch in zip(bar, batches):
        for group in optimizer.param_groups:
            group["lr"] = RATE * min(1, step / 60) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)))
        x, lengths, wanted = lessons.batch(members_of_batch, np.random.default_rng([SEED, step]))
        found = student(normalize_level(x, lengths).to(DEVICE), lengths.to(DEVICE)).cpu()
        cost = loss_of(found, wanted, lengths, scale)
        optimizer.zero_grad()
        cost.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        costs.append(float(cost.detach()))
        if step % SAVE_EVERY == SAVE_EVERY - 1:
            torch.save({"step": step + 1, "student": student.state_dict(), "optimizer": optimizer.state_dict()}, folder / CHECKPOINT_FILE)
            bar.set_postfix(loss=f"{np.mean(costs[-SAVE_EVERY:]):.3f}")
    torch.save(student.cpu().state_dict(), folder / RESULT_FILE)


def inputs_of(windows: WindowStore, copies: AugmentedCopies) -> dict:
    return {
        "teacher": cache.file_hash(finetune.result_path()),
        "trunk": cache.file_hash(settings.weights("trunk")),
        "windows": windows.key,
        "copies": copies.source.key,
        "steps": settings.SIZES.distill_steps,
        "code": cache.code_hash(sys.modules[__name__], examples, log_mel_augmentation, trunk),
    }


def run() -> None:
    windows, copies = window_store.load(), AugmentedCopies()
    store = embeddings.load(settings.weights("trunk"), 2, copies)
    cache.build("distill", inputs_of(windows, copies), lambda folder: distill(folder, windows, copies, store))


def student_trunk() -> Trunk:
    folder = cache.finished("distill", inputs_of(window_store.load(), AugmentedCopies()), "training/train fast")
    student = new_student()
    student.load_state_dict(torch.load(folder / RESULT_FILE))
    return student.eval()
