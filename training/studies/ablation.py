"""Accuracy against cost of trunks, under linear probes fitted alike on all: results/ablation.json.

"Speakers out": held-out speakers. "EMOVO out": neither the trunk nor the probes are fitted on that corpus.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F
from tqdm import tqdm

from training import cache, settings
from training.corpora.corpus import Clip
from training.corpora.index import read_clips
from training.corpora.recipe import RECIPE
from training.encoder import distill, finetune, finetune_report, whisper_weights, window_store
from training.encoder.examples import Examples
from training.encoder.multitask import CLARITY, OUTPUTS
from training.encoder.trunk import WIDTH, Trunk
from training.encoder.window_store import WindowStore, split
from training.export.trunk_graph import write_trunk
from training.features.level import normalize_level
from training.features.log_mel import BINS
from training.features.windows import MAX_FRAMES
from training.heads import clarity, emotion
from training.heads.attention_head import moments
from training.heads.fit import fit_rows
from training.session import Session
from training.settings import SEED

PATH = settings.RESULTS / "ablation.json"
CATEGORY_DECAY, SCORE_DECAY = 0.01, 0.1  # the second: valence, arousal and clarity
SHIPPED, FAST = "2 layers, fine-tuned", "coarse, distilled"
FOLDERS = {SHIPPED: settings.SHIPPED_MODELS.name, FAST: settings.fast_models().name}


def frozen(layers: int) -> Trunk:
    return Trunk(layers=layers).load_whisper(whisper_weights.read_encoder()).eval()


# name -> (description, constructor)
TRUNKS: dict[str, tuple[str, Callable[[], Trunk]]] = {
    "stem, frozen": ("Whisper-tiny.en's convolutions", lambda: frozen(0)),
    "1 layer, frozen": ("and its first layer", lambda: frozen(1)),
    "2 layers, frozen": ("and its first two layers", lambda: frozen(2)),
    "3 layers, frozen": ("and its first three layers", lambda: frozen(3)),
    SHIPPED: ("the first two layers, fine-tuned", finetune.finetuned_trunk),
    FAST: ("half the embeddings, inner width 512, distilled from the fine-tuned one", distill.student_trunk),
}


def measure_cost(trunk: Trunk, path: Path) -> tuple[float, float]:
    """-> CPU milliseconds for ten seconds (median of 21 runs), MB of weights, as exported to `path`"""
    write_trunk(trunk, path)
    session = Session(path, threads=1)
    features = np.random.default_rng(SEED).normal(-3, 1, (1, MAX_FRAMES, BINS)).astype(np.float32)
    spent = []
    for _ in range(24):
        started = time.process_time()
        session.run(features=features)
        spent.append(time.process_time() - started)
    return round(1000 * float(np.median(spent[3:])), 1), round(path.stat().st_size / 1e6, 2)


def pool_windows(trunk: Trunk, windows: WindowStore, graph: Path) -> np.ndarray:
    """[windows,768]: moments of the embeddings in fp32, cached by the exported weights"""

    def make(folder: Path) -> None:
        examples = Examples(windows, None)
        order, rows = np.argsort(windows.lengths, kind="stable"), np.zeros((len(windows.clips), 2 * WIDTH), np.float32)
        for part in tqdm(np.array_split(order, max(1, len(order) // 24)), "pooled windows", mininterval=10):
            x, lengths, weights = examples.batch(part, None)
            with torch.no_grad():
                embeddings = trunk(normalize_level(x, lengths), lengths)
                share = (weights / weights.sum(1, keepdim=True))[:, :, None]
                rows[part] = torch.cat(moments(embeddings, share), 1).numpy()
        np.save(folder / "moments.npy", rows)

    inputs = {"weights": cache.file_hash(graph), "windows": windows.key, "code": cache.code_hash(sys.modules[__name__])}
    return np.load(cache.build("ablation", inputs, make) / "moments.npy")


def fit_probe(
    pooled: np.ndarray, windows: WindowStore, clips: list[Clip], members: np.ndarray, decay: float
) -> tuple[np.ndarray, np.ndarray]:
    """pooled [windows,768] -> weight [768,11] and bias [11]: logits, valence and arousal before the sigmoid, clarity"""
    targets, scores = emotion.targets_of(clips, balanced=True), clarity.targets_of(clips)
    rows = windows.clips[members]
    weight = torch.tensor([clips[i].definition.sampling.finetune for i in rows], dtype=torch.float32)
    label, mask = torch.from_numpy(np.maximum(targets.label[rows], 0)), torch.from_numpy(targets.mask[rows])
    labelled = weight * torch.from_numpy(targets.label[rows] >= 0)
    dimensions, dimensions_weight = (torch.from_numpy(v[rows]) for v in (targets.dimensions, targets.dimensions_weight))
    score = torch.from_numpy(scores[rows])
    scored = (~torch.isnan(score)).float()
    centre, spread = float(np.nanmean(scores[rows])), float(np.nanstd(scores[rows]))
    score = (torch.nan_to_num(score) - centre) / spread

    def loss(y: torch.Tensor) -> torch.Tensor:
        each = F.cross_entropy(y[:, emotion.CATEGORIES] + mask, label, reduction="none", label_smoothing=0.05)
        error = ((torch.sigmoid(y[:, emotion.DIMENSIONS]) - dimensions) ** 2 * dimensions_weight).sum(1)
        clarity_error = (y[:, CLARITY] - score) ** 2 * scored
        total = (each * labelled).sum() / labelled.sum() + emotion.DIMENSION_LOSS_WEIGHT * (error * weight).sum() / weight.sum()
        return total + clarity_error.sum() / scored.sum()

    w, b = fit_rows(pooled[members], loss, [decay] * OUTPUTS)
    w[:, CLARITY], b[CLARITY] = w[:, CLARITY] * spread, b[CLARITY] * spread + centre
    return w.astype(np.float32), b.astype(np.float32)


def measure(pooled: np.ndarray, windows: WindowStore, clips: list[Clip]) -> dict[str, float]:
    def metrics_of(known: np.ndarray, tested: np.ndarray) -> dict[str, float]:
        values = []
        for decay in (CATEGORY_DECAY, SCORE_DECAY):
            weight, bias = fit_probe(pooled, windows, clips, known, decay)
            values.append(pooled[tested] @ weight + bias)
        values = np.concatenate([values[0][:, emotion.CATEGORIES], values[1][:, emotion.DIMENSIONS.start :]], 1)
        return finetune_report.measure(clips, windows, tested, values)

    held = np.array([clips[i].held_out for i in windows.clips])
    unseen = np.flatnonzero([clips[i].corpus == RECIPE.unseen for i in windows.clips])
    speakers, corpus = metrics_of(np.flatnonzero(~held), np.flatnonzero(held)), metrics_of(split(clips, windows)[0], unseen)
    return {
        "UAR, speakers out": speakers["mean UAR, speakers"],
        f"UAR, {RECIPE.unseen} out": corpus[f"{RECIPE.unseen} UAR"],
        "CCC valence": speakers["TAVA valence CCC (rated)"],
        "CCC arousal": speakers["TAVA arousal CCC (rated)"],
        "PCC fluency": speakers["clarity PCC fluency"],
        "PCC prosody": speakers["clarity PCC prosody"],
    }


def run(names: list[str]) -> None:
    """Measures the named trunks again, all without names. Under --small nothing is kept."""
    clips, windows, graph = read_clips(), window_store.load(), settings.CACHE / "ablation.onnx"
    kept = settings.MODELS == settings.SHIPPED_MODELS
    found = {one["name"]: one for one in json.loads(PATH.read_text())} if kept and PATH.exists() else {}
    for name in names or TRUNKS:
        description, make = TRUNKS[name]
        trunk = make()
        milliseconds, size = measure_cost(trunk, graph)
        found[name] = {"name": name, "trunk": description, "msPer10s": milliseconds, "MB": size, "shipped": name == SHIPPED,
                       "folder": FOLDERS.get(name), "figures": measure(pool_windows(trunk, windows, graph), windows, clips)}  # fmt: skip
        print(found[name], flush=True)
        if kept:
            PATH.write_text(json.dumps([found[name] for name in TRUNKS if name in found], indent=1) + "\n")
