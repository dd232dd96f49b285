"""Trains the VAD model and measures it on the test part."""

from dataclasses import replace

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from training.corpora.recipe import SOLD
from training.features.spec import FRAMES_PER_SECOND
from training.settings import SEED
from training.vad.dataset import LabelledClip, Mixture, VadDataset, add_noise_to_log_mel, draw_mixture, draw_noise
from training.vad.model import VadNet

SHAPES = ((600, 24), (200, 48))  # (frames of an example, examples of a batch); single words are short
PEAK_LR = 3e-3
TEST_SNRS_DB = (20, 10, 5)


def compute_loss(net: VadNet, batch: list[Mixture]) -> torch.Tensor:
    x = torch.from_numpy(np.stack([one.log_mel for one in batch]))
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


def cosine_lr(peak: float, step: int, steps: int) -> float:
    return peak * (0.5 + 0.5 * np.cos(np.pi * step / steps)) + 1e-5


def train(steps: int) -> VadNet:
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    dataset, net = VadDataset(tested=False), VadNet()
    optimizer = torch.optim.AdamW(net.parameters(), PEAK_LR, weight_decay=1e-3)
    for step in range(steps):
        frames, size = SHAPES[step % len(SHAPES)]
        optimizer.param_groups[0]["lr"] = cosine_lr(PEAK_LR, step, steps)
        loss = compute_loss(net, [draw_mixture(dataset, rng, frames) for _ in range(size)])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step} of {steps}, loss {loss.item():.4f}", flush=True)
    return net.eval()


def frame_f1(net: VadNet, items: list[LabelledClip]) -> float:
    """F1 of speech frames, against the corrected labels."""
    predicted = np.concatenate([net.detect(item.log_mel)[0] for item in items])
    target = np.concatenate([item.target > 0.5 for item in items])
    return float(2 * (predicted & target).sum() / (predicted.sum() + target.sum()))


def measure_vad(net: VadNet) -> dict[str, float]:
    """Metrics of the model card."""
    dataset, rng = VadDataset(tested=True), np.random.default_rng(3)
    known = [item for item in dataset.plain.speech.clips if item.corpus in SOLD.speech]
    result = {"frame_f1_clean": frame_f1(net, known)}
    for snr_db in TEST_SNRS_DB:
        noises = (draw_noise(dataset.plain, rng, len(item.log_mel)) for item in known)
        noisy = [replace(item, log_mel=add_noise_to_log_mel(item.log_mel, noise, snr_db, slice(None))) for item, noise in zip(known, noises)]
        result[f"frame_f1_noise_{snr_db}_db"] = frame_f1(net, noisy)
    result["frame_f1_telephone"] = frame_f1(net, [item for item in dataset.telephone.speech.clips if item.corpus in SOLD.speech])
    synthetic = [frame_f1(net, [item]) for item in dataset.plain.speech.clips if item.corpus == "sounds"]
    result["frame_f1_synthetic_speech"] = float(np.mean(synthetic))
    counted = [(net.detect(item.log_mel), item.syllables) for item in known if item.syllables is not None]
    predicted, truth = np.array([(rate[speech].sum() / FRAMES_PER_SECOND, count) for (speech, rate), count in counted]).T
    result["syllable_count_correlation"] = float(np.corrcoef(predicted, truth)[0, 1])
    result["syllable_count_relative_error"] = float(np.mean(np.abs(predicted - truth) / truth))
    false: dict[str, list[float]] = {}
    for item in dataset.plain.other.clips:
        false.setdefault(item.corpus, []).append(net.detect(item.log_mel)[0].mean())
    result |= {f"false_speech_{corpus.lower()}": float(np.mean(shares)) for corpus, shares in false.items()}
    return {name: round(value, 4) for name, value in result.items()}
