"""Distils the fine-tuned trunk into cheaper ones: that of models/standard, whose keys and values are of pairs of embeddings, and that of
models/fast, which has half the embeddings and a third of the inner width.

The student is trained on the teacher's embeddings: for an augmented copy those of the copy, for log-mel augmentation those of the clean
recording, which makes the student more robust than its teacher. Heads that are not fitted again want the same embeddings: no augmentation. An interrupted run continues from its last checkpoint.
"""

import itertools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from training import cache, settings
from training.augment import augmented, mix, spectral, synthetic_noise
from training.augment.augmented import AugmentedCopies
from training.augment.spectral import Noises, augment_log_mel
from training.corpora.index import labels_key, read_clips
from training.encoder import embeddings, examples, finetune, trunk, whisper_weights, window_store
from training.encoder.embeddings import EmbeddingStore
from training.encoder.examples import draw_epoch, stack_log_mel
from training.encoder.trunk import DEVICE, WIDTH, Trunk
from training.encoder.window_store import WindowStore, finetune_split
from training.export import trunk_graph
from training.features import batches, level
from training.features.batches import stack_padded
from training.features.level import normalize_level
from training.settings import SEED

INNER = 512
SAVE_EVERY = 50  # steps
RESULT_FILE, CHECKPOINT_FILE = "student.pt", "checkpoint.pt"


def full_models() -> Path:
    """Folder of the fine-tuned trunk, whose keys and values are of every embedding: the teacher. models/open has it as it is."""
    return settings.MODELS if settings.RECIPE == "open" else settings.CACHE / "models" / "full"


def new_paired() -> Trunk:
    return Trunk(pairs=True).load_whisper(whisper_weights.read_encoder())


def start_paired() -> Trunk:
    """The layers of the full trunk. The convolutions are not trained."""
    trunk = trunk_graph.read_trunk(settings.weights("trunk", full_models()), new_paired())
    for conv in (trunk.conv1, trunk.conv2):
        conv.requires_grad_(False)
    return trunk


def new_narrow() -> Trunk:
    return Trunk(inner=INNER, coarse=True)


def prune_ffn(teacher: Trunk) -> Trunk:
    """The trunk at half the frame rate, with the feed-forward units of the largest norms."""
    student, state = new_narrow(), teacher.state_dict()
    for index, layer in enumerate(teacher.layers):
        kept = (layer.ffn_in.weight.norm(dim=1) * layer.ffn_out.weight.norm(dim=0)).topk(INNER).indices
        for name in ("ffn_in.weight", "ffn_in.bias"):
            state[f"layers.{index}.{name}"] = state[f"layers.{index}.{name}"][kept]
        state[f"layers.{index}.ffn_out.weight"] = state[f"layers.{index}.ffn_out.weight"][:, kept]
    student.load_state_dict(state)
    return student


@dataclass(frozen=True)
class Student:
    name: str
    new: Callable[[], Trunk]
    start: Callable[[], Trunk]  # with the weights that training starts from
    peak_lr: float
    steps: Callable[[], int]
    clean_share: float  # of the examples that are not copies


PAIRED = Student("paired", new_paired, start_paired, 3e-4, lambda: settings.SIZES.pair_steps, 1)
NARROW = Student("narrow", new_narrow, lambda: prune_ffn(finetune.finetuned_trunk(refit=True)), 8e-4, lambda: settings.SIZES.distill_steps, 0.25)


class DistillDataset:
    """Utterances, and the teacher's embeddings of them."""

    def __init__(self, windows: WindowStore, store: EmbeddingStore, clean_share: float):
        self.windows, self.store, self.clean_share, self.noises = windows, store, clean_share, Noises()

    def draw(self, window: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        plain = self.windows.log_mel(window)
        is_plain = self.windows.copied[window] or rng.random() < self.clean_share
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


def distill(own: Student, folder: Path, windows: WindowStore, store: EmbeddingStore) -> None:
    clips, data, steps = read_clips(), DistillDataset(windows, store, own.clean_share), own.steps()
    members, _ = finetune_split(clips, windows)
    sample = store.embeddings[:: max(1, len(store.embeddings) // 50000)].astype(np.float32)
    scale = torch.from_numpy(sample.std(0) + 0.05)
    student, first = own.start(), 0
    optimizer = torch.optim.AdamW([p for p in student.to(DEVICE).parameters() if p.requires_grad], own.peak_lr, weight_decay=0.01)
    if (folder / CHECKPOINT_FILE).exists():
        state = torch.load(folder / CHECKPOINT_FILE)
        first = state["step"]
        student.load_state_dict(state["student"])
        optimizer.load_state_dict(state["optimizer"])
    epochs = (draw_epoch(clips, windows, members, SEED, epoch) for epoch in itertools.count())
    losses, drawn = [], itertools.islice(itertools.chain.from_iterable(epochs), first, None)
    bar = tqdm(range(first, steps), f"{own.name} steps", steps, initial=first, mininterval=20)
    for step, batch in zip(bar, drawn):
        for group in optimizer.param_groups:
            group["lr"] = own.peak_lr * min(1, step / 60) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / steps)))
        x, lengths, target = data.batch(batch, np.random.default_rng([SEED, step]))
        with torch.autocast(DEVICE.type, torch.bfloat16):
            predicted = student(normalize_level(x, lengths).to(DEVICE), lengths.to(DEVICE)).float().cpu()
        loss = compute_loss(predicted, target, lengths, scale)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        losses.append(float(loss.detach()))
        if step % SAVE_EVERY == SAVE_EVERY - 1:
            torch.save({"step": step + 1, "student": student.state_dict(), "optimizer": optimizer.state_dict()}, folder / CHECKPOINT_FILE)
            bar.set_postfix(loss=f"{np.mean(losses[-SAVE_EVERY:]):.3f}")
    torch.save(student.cpu().state_dict(), folder / RESULT_FILE)


def inputs_of(own: Student, windows: WindowStore) -> dict:
    code = (augmented, batches, embeddings, examples, level, mix, spectral, synthetic_noise, trunk)
    return {
        "trunk": cache.file_hash(settings.weights("trunk", full_models())),
        "labels": labels_key(read_clips()),
        "windows": windows.key,
        "steps": own.steps(),
        "code": cache.code_hash(sys.modules[__name__], *code),
    }


def run(own: Student) -> Trunk:
    """The trained student."""
    copies = AugmentedCopies()
    windows = window_store.load(copies)
    store = embeddings.load(settings.weights("trunk", full_models()), 2, copies)
    folder = cache.build(own.name, inputs_of(own, windows), lambda folder: distill(own, folder, windows, store))
    student = own.new()
    student.load_state_dict(torch.load(folder / RESULT_FILE))
    return student.eval()
