"""Trains the VAD model and measures it on held-out speakers and sounds."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.corpora.recipe import RECIPE
from training.features.spec import FRAMES_PER_SECOND
from training.settings import SEED
from training.vad.dataset import LabelledRows, VadDataset
from training.vad.mixtures import Mixture, add_noise, draw_mixture, draw_noise
from training.vad.model import VadNet

SHAPES = ((600, 24), (200, 48))  # (frames of an example, examples of a batch); single words are short
PEAK_RATE = 3e-3
TEST_SNRS_DB = (20, 10, 5)


def loss_of(net: VadNet, batch: list[Mixture]) -> torch.Tensor:
    x = torch.from_numpy(np.stack([one.rows for one in batch]))
    y = torch.from_numpy(np.stack([one.target for one in batch]))
    logits, rate = net(x)
    loss = F.binary_cross_entropy_with_logits(logits, y)
    errors = [
        abs((rate[i, a:b] * (y[i, a:b] > 0.5)).sum() / FRAMES_PER_SECOND - count) / count
        for i, one in enumerate(batch)
        for a, b, count in one.syllables
    ]
    if errors:
        loss = loss + 0.3 * torch.stack(errors).mean() + 0.002 * rate.diff(dim=1).abs().mean()
    return loss


def train(steps: int) -> VadNet:
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    dataset, net = VadDataset(held_out=False), VadNet()
    optimizer = torch.optim.AdamW(net.parameters(), PEAK_RATE, weight_decay=1e-3)
    for step in range(steps):
        frames, size = SHAPES[step % len(SHAPES)]
        optimizer.param_groups[0]["lr"] = PEAK_RATE * (0.5 + 0.5 * np.cos(np.pi * step / steps)) + 1e-5
        loss = loss_of(net, [draw_mixture(dataset, rng, frames) for _ in range(size)])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} of {steps}, loss {loss.item():.4f}", flush=True)
    return net.eval()


def frame_f1(net: VadNet, items: list[LabelledRows]) -> float:
    """Of speech frames, against the corrected labels."""
    found = np.concatenate([net.detect(item.rows)[0] for item in items])
    target = np.concatenate([item.target > 0.5 for item in items])
    return float(2 * (found & target).sum() / (found.sum() + target.sum()))


def measure(net: VadNet) -> dict[str, float]:
    """Metrics of the model card."""
    dataset, rng = VadDataset(held_out=True), np.random.default_rng(3)
    known = [item for item in dataset.plain.speech if item.kind in RECIPE.speech]
    result = {"frame_f1_clean": frame_f1(net, known)}
    for snr_db in TEST_SNRS_DB:
        noises = (draw_noise(dataset.plain, rng, len(item.rows)) for item in known)
        noisy = [replace(item, rows=add_noise(item.rows, noise, snr_db, slice(None))) for item, noise in zip(known, noises)]
        result[f"frame_f1_noise_{snr_db}_db"] = frame_f1(net, noisy)
    result["frame_f1_telephone"] = frame_f1(net, [item for item in dataset.telephone.speech if item.kind in RECIPE.speech])
    synthetic = [frame_f1(net, [item]) for item in dataset.plain.speech if item.kind == "sounds"]
    result["frame_f1_synthetic_speech"] = float(np.mean(synthetic))
    counted = [(net.detect(item.rows), item.syllables) for item in known if item.syllables is not None]
    found, truth = np.array([(rate[speech].sum() / FRAMES_PER_SECOND, count) for (speech, rate), count in counted]).T
    result["syllable_count_correlation"] = float(np.corrcoef(found, truth)[0, 1])
    result["syllable_count_relative_error"] = float(np.mean(np.abs(found - truth) / truth))
    false: dict[str, list[float]] = {}
    for item in dataset.plain.other:
        false.setdefault(item.kind, []).append(net.detect(item.rows)[0].mean())
    result |= {f"false_speech_{kind.lower()}": float(np.mean(shares)) for kind, shares in false.items()}
    return {name: round(value, 4) for name, value in result.items()}
