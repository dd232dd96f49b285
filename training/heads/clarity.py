"""The clarity head: the mean of fluency and prosody as rated by the experts of speechocean762."""

import numpy as np
import torch

from training.corpora.corpus import Clip
from training.corpora.recipe import RECIPE
from training.encoder.embeddings import EmbeddingStore
from training.export.model_spec import ModelSpec
from training.heads.attention_head import AttentionHead
from training.heads.fit import FitParams, fit_attention
from training.settings import SEED

SPEC = ModelSpec(
    name="cognitive",
    description="Clarity of delivery as experts rate fluency and prosody, and the reference of timing measures",
    inputs=("tokens", "weights"),
    outputs=("clarity",),
    corpora=(RECIPE.clarity, "LibriSpeech", "AMI"),
    limits=(
        "Clarity was rated on English sentences read by Mandarin speakers, half of them children.",
        "The affine calibration and the intervals of clarity were fitted on the calibration part, on none of the evaluated speakers.",
        "Timing references: recordings with 5 s of speech or more ({counts}), mostly read.",
        "No public recordings carry labels of cognitive load: the index is documented, not learned.",
    ),
    licence="The head: Apache-2.0, trained on CC BY 4.0 recordings. The trunk it needs was fine-tuned on non-commercial corpora too",
    use="Scores clarity of delivery, and holds the reference of the timing measures. It is not a clinical measure. Clarity of "
    "spontaneous and of native speech was never rated: no metric applies to it.",
    origin="Trained on the trunk's embeddings.",
    intended=(
        "Feedback to learners and speakers on delivery, with their consent.",
        "Comparing a speaker with a rested recording of the same speaker (`baseline`).",
        "Research on pauses, rate and runs: the measures are reported beside the indices.",
    ),
    unintended=(
        "Diagnosis or screening: nothing here is a clinical measure.",
        "Judging language proficiency, intelligence, honesty or fitness for work.",
        "Inferring load from scripted or read speech, or over the telephone without a baseline: pauses then have other reasons.",
    ),
    failures=("Rated on English sentences read by Mandarin speakers only; children are ranked less well than adults.",),
)


def targets_of(clips: list[Clip]) -> np.ndarray:
    """float32 [n] in [0, 1], NaN without a rating"""
    return np.array([np.nan if clip.clarity is None else clip.clarity for clip in clips], np.float32)


def fit(store: EmbeddingStore, targets: np.ndarray, windows: np.ndarray, count: int) -> list[AttentionHead]:
    """`count` networks, to be averaged."""
    mean, std = np.nanmean(targets[store.clips[windows]]), np.nanstd(targets[store.clips[windows]])

    def loss(predicted: torch.Tensor, batch: np.ndarray) -> torch.Tensor:
        target = torch.from_numpy((targets[store.clips[batch]] - mean) / std)
        return ((predicted[:, 0] - target) ** 2).mean()

    params = FitParams(1, loss, epochs=6, peak_lr=1e-3, dropout=0.6, weight_decay=0.3)
    heads = [fit_attention(store, windows, params, SEED + i) for i in range(count)]
    with torch.no_grad():  # moves the standardisation of the target into the last layers
        for head in heads:
            for linear in (head.out, head.clip):
                linear.weight *= float(std)
                linear.bias *= float(std)
            head.out.bias += float(mean)
    return heads
