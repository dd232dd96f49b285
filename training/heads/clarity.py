"""The clarity head: the mean of fluency and prosody as the experts of speechocean762 judged them."""

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
    description="Clarity of delivery as experts judge fluency and prosody, and the reference of timing measures",
    inputs=("tokens", "weights"),
    outputs=("clarity",),
    corpora=(RECIPE.clarity, "LibriSpeech", "AMI"),
    limits=(
        "Clarity was judged on English sentences read by Mandarin speakers, half of them children.",
        "Timing references: recordings with 5 s of speech or more ({counts}), mostly read.",
        "No public recordings carry labels of cognitive load: the index is documented, not learned.",
    ),
    licence="The head: Apache-2.0, trained on CC BY 4.0 recordings. The trunk it needs was tuned on non-commercial sets too",
    use="Scores how clearly something was said, and holds the reference that the timing measures are "
    "compared with. It is not a clinical measure.",
    origin="Trained here on the trunk's tokens.",
    intended=(
        "Feedback to learners and speakers on delivery, who know of it and agreed.",
        "Comparing a speaker with an own rested recording (`baseline`).",
        "Research on pauses, rate and runs: the measures are reported beside the indices.",
    ),
    unintended=(
        "Diagnosis or screening: nothing here is a clinical measure.",
        "Judging language proficiency, intelligence, honesty or fitness for work.",
        "Inferring load from scripted or read speech, or over the telephone without a baseline: pauses then have other reasons.",
    ),
    failures=("Judged on English sentences read by Mandarin speakers alone; children are ordered less well than adults.",),
)


def targets_of(clips: list[Clip]) -> np.ndarray:
    """float32 [n] in [0, 1], NaN where there is no judgement"""
    values = np.full(len(clips), np.nan, np.float32)
    for clip in clips:
        if clip.clarity is not None:
            values[clip.index] = clip.clarity
    return values


def fit(store: EmbeddingStore, targets: np.ndarray, windows: np.ndarray, count: int) -> list[AttentionHead]:
    """`count` networks, to be averaged."""
    centre, spread = np.nanmean(targets[store.clips[windows]]), np.nanstd(targets[store.clips[windows]])

    def loss(predicted: torch.Tensor, rows: np.ndarray) -> torch.Tensor:
        wanted = torch.from_numpy((targets[store.clips[rows]] - centre) / spread)
        return ((predicted[:, 0] - wanted) ** 2).mean()

    params = FitParams(1, loss, epochs=6, rate=1e-3, dropout=0.6, decay=0.3)
    heads = [fit_attention(store, windows, params, SEED + i) for i in range(count)]
    for head in heads:
        unscale(head, float(centre), float(spread))
    return heads


def unscale(head: AttentionHead, centre: float, spread: float) -> None:
    """Moves the standardisation of the target into the last layers."""
    with torch.no_grad():
        for linear in (head.out, head.clip):
            linear.weight *= spread
            linear.bias *= spread
        head.out.bias += centre
