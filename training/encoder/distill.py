"""Distils the trunk into a coarse, narrow one: half the embeddings, a third of the inner width.

The student is trained on the trunk's embeddings: for log-mel augmentation the target is the embeddings of the clean
recording, for an augmented copy those of the copy. An interrupted run continues from its last checkpoint.
"""

import itertools
import math
import sys
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from training import cache, settings
from training.augment import augmented, mix, spectral, synthetic_noise
from training.augment.augmented import AugmentedCopies
from training.augment.spectral import Noises, augment_log_mel
from training.corpora.registry import labels_key, read_clips
from training.encoder import embeddings, finetune, trunk
from training.encoder.embeddings import EmbeddingStore, WindowStore, finetune_split
from training.encoder.finetune import draw_epoch, stack_log_mel
from training.encoder.trunk import DEVICE, WIDTH, Trunk
from training.features import batches, level
from training.features.batches import stack_padded
from training.features.level import normalize_level
from training.features.windows import slice_padded
from training.settings import SEED

INNER = 512
PEAK_LR = 8e-4
CLEAN_SHARE = 0.25  # of the examples that are not copies
SAVE_EVERY = 50  # steps
RESULT_FILE = "student.pt"
CHECKPOINT_FILE = "checkpoint.pt"


def new_student() -> Trunk:
    return Trunk(inner=INNER, coarse=True)


def prune_ffn(teacher: Trunk) -> Trunk:
    """The trunk at half the frame rate, with the feed-forward units of the largest norms."""
    student = new_student()
    state = teacher.state_dict()
    for index, layer in enumerate(teacher.layers):
        kept = (layer.ffn_in.weight.norm(dim=1) * layer.ffn_out.weight.norm(dim=0)).topk(INNER).indices
        for name in ("ffn_in.weight", "ffn_in.bias"):
            state[f"layers.{index}.{name}"] = state[f"layers.{index}.{name}"][kept]
        state[f"layers.{index}.ffn_out.weight"] = state[f"layers.{index}.ffn_out.weight"][:, kept]
    student.load_state_dict(state)
    return student


class DistillDataset:
    """Utterances, and the teacher's embeddings of them."""

    def __init__(self, windows: WindowStore, store: EmbeddingStore):
        self.windows = windows
        self.store = store
        self.noises = Noises()

    def draw(self, window: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        plain = self.windows.log_mel(window)
        is_plain = self.windows.copied[window] or rng.random() < CLEAN_SHARE
        return (plain if is_plain else augment_log_mel(plain, self.noises, rng)), self.store[window][0]

    def batch(self, members: np.ndarray, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """-> features [B,T,80], lengths [B], embeddings [B,ceil(T/2),384]"""
        frames, targets = zip(*(self.draw(i, rng) for i in members))
        return *stack_log_mel(frames), torch.from_numpy(stack_padded(targets, 0))


def compute_loss(predicted: torch.Tensor, target: torch.Tensor, lengths: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """Squared error of the embeddings [B,N,384], and of their mean and deviation over the window; `scale` [384]: their spread."""
    real = (torch.arange(predicted.shape[1])[None] < ((lengths + 1) // 2)[:, None]).float()[:, :, None]
    count = real.sum(1)
    error = (((predicted - target) / scale) ** 2 * real).sum() / (count.sum() * WIDTH)
    pooled = []
    for x in (predicted / scale, target / scale):
        mean = (x * real).sum(1) / count
        pooled.append(torch.cat([mean, (((x - mean[:, None]) ** 2 * real).sum(1) / count + 1e-4).sqrt()], 1))
    return error + 4 * ((pooled[0] - pooled[1]) ** 2).mean()


def distill(folder: Path, windows: WindowStore, store: EmbeddingStore) -> None:
    clips = read_clips()
    data = DistillDataset(windows, store)
    steps = settings.SIZES.distill_steps
    members, _ = finetune_split(clips, windows)
    sample = store.embeddings[:: max(1, len(store.embeddings) // 50000)].astype(np.float32)
    scale = torch.from_numpy(sample.std(0) + 0.05)
    student = prune_ffn(finetune.finetuned_trunk(refit=True))
    first = 0
    optimizer = torch.optim.AdamW(student.to(DEVICE).parameters(), PEAK_LR, weight_decay=0.01)
    if (folder / CHECKPOINT_FILE).exists():
        state = torch.load(folder / CHECKPOINT_FILE)
        first = state["step"]
        student.load_state_dict(state["student"])
        optimizer.load_state_dict(state["optimizer"])
    epochs = (draw_epoch(clips, windows, members, SEED, epoch) for epoch in itertools.count())
    losses = []
    drawn = itertools.islice(itertools.chain.from_iterable(epochs), first, None)
    bar = tqdm(range(first, steps), "distillation steps", steps, initial=first, mininterval=20)
    for step, batch in zip(bar, drawn):
        for group in optimizer.param_groups:
            group["lr"] = PEAK_LR * min(1, step / 60) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)))
        x, lengths, target = data.batch(batch, np.random.default_rng([SEED, step]))
        predicted = student(normalize_level(x, lengths).to(DEVICE), lengths.to(DEVICE)).cpu()
        loss = compute_loss(predicted, target, lengths, scale)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        if step % SAVE_EVERY == SAVE_EVERY - 1:
            state = {"step": step + 1, "student": student.state_dict(), "optimizer": optimizer.state_dict()}
            cache.replace(folder / CHECKPOINT_FILE, lambda path, state=state: torch.save(state, path))
            bar.set_postfix(loss=f"{np.mean(losses[-SAVE_EVERY:]):.3f}")
    torch.save(student.cpu().state_dict(), folder / RESULT_FILE)


def inputs_of(windows: WindowStore) -> dict:
    code = (augmented, batches, draw_epoch, embeddings, level, mix, slice_padded, spectral, stack_log_mel, synthetic_noise, trunk)
    return {
        "teacher": cache.file_hash(finetune.result_path(refit=True)),
        "trunk": cache.file_hash(settings.weights("trunk")),
        "labels": labels_key(read_clips()),
        "windows": windows.key,
        "steps": settings.SIZES.distill_steps,
        "code": cache.code_hash(sys.modules[__name__], *code),
    }


def run() -> None:
    copies = AugmentedCopies()
    windows = embeddings.load_windows(copies)
    store = embeddings.load(settings.weights("trunk"), 2, copies)
    cache.build("distill", inputs_of(windows), lambda folder: distill(folder, windows, store))


def student_trunk() -> Trunk:
    folder = cache.finished("distill", inputs_of(embeddings.load_windows(AugmentedCopies())), "training/train fast")
    student = new_student()
    student.load_state_dict(torch.load(folder / RESULT_FILE))
    return student.eval()
