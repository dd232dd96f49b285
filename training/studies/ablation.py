"""Accuracy against cost of trunks, under linear heads fitted alike on all: results/ablation.json.

"Speakers out" are those held out. "EMOVO out": neither the trunk nor the heads have seen that corpus.
"""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from training import cache, settings
from training.corpora.corpus import Clip
from training.corpora.index import read_clips
from training.corpora.recipe import RECIPE
from training.encoder import (
    distill,
    finetune,
    finetune_report,
    whisper_weights,
    window_store,
)
from training.encoder.examples import Examples
from training.encoder.finetune_report import best_of
from training.encoder.trunk import WIDTH, Trunk
from training.encoder.window_store import WindowStore, split
from training.evaluation.statistics import uar
from training.export.trunk_graph import write_trunk
from training.features.level import normalize_level
from training.features.log_mel import BINS
from training.features.windows import MAX_FRAMES
from training.heads import emotion
from training.heads.attention_head import moments
from training.heads.fit import mean_per_clip
from training.session import Session
from training.settings import SEED
from training.studies import linear_probe

PATH = settings.RESULTS / "ablation.json"
CATEGORY_DECAY, SCORE_DECAY = 0.01, 0.1  # the second: valence, arousal and clarity
SHIPPED, FAST = "2 layers, tuned", "coarse, distilled"
FOLDERS = {SHIPPED: "models/standard", FAST: "models/fast"}


def frozen(layers: int) -> Trunk:
    return Trunk(layers=layers).load_whisper(whisper_weights.read_encoder()).eval()


# name -> (description, how to make it)
TRUNKS: dict[str, tuple[str, Callable[[], Trunk]]] = {
    "stem, frozen": ("Whisper-tiny.en's convolutions", lambda: frozen(0)),
    "1 layer, frozen": ("and its first layer", lambda: frozen(1)),
    "2 layers, frozen": ("and its first two layers", lambda: frozen(2)),
    "3 layers, frozen": ("and its first three layers", lambda: frozen(3)),
    SHIPPED: ("the first two layers tuned here", finetune.tuned_trunk),
    FAST: ("half the tokens, inner width 512, distilled from the tuned one", distill.student_trunk),
}


def graph_path() -> Path:
    return settings.CACHE / "ablation.onnx"


def measure_cost(trunk: Trunk) -> tuple[float, float]:
    """-> milliseconds of one core for ten seconds (median of 21 runs), MB of weights, as exported"""
    path = graph_path()
    write_trunk(trunk, path)
    session = Session(path, threads=1)
    features = np.random.default_rng(SEED).normal(-3, 1, (1, MAX_FRAMES, BINS)).astype(np.float32)
    spent = []
    for _ in range(24):
        started = time.process_time()
        session.run(features=features)
        spent.append(time.process_time() - started)
    return round(1000 * float(np.median(spent[3:])), 1), round(path.stat().st_size / 1e6, 2)


def pool_windows(trunk: Trunk, windows: WindowStore) -> np.ndarray:
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

    inputs = {"weights": cache.file_hash(graph_path()), "windows": windows.key, "code": cache.code_hash(sys.modules[__name__])}
    return np.load(cache.build("ablation", inputs, make) / "moments.npy")


def predict(pooled: np.ndarray, windows: WindowStore, clips: list[Clip], known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """[asked, 11]"""
    values = []
    for decay in (CATEGORY_DECAY, SCORE_DECAY):
        weight, bias = linear_probe.fit(pooled, windows, clips, known, decay)
        values.append(pooled[asked] @ weight + bias)
    return np.concatenate([values[0][:, emotion.CATEGORIES], values[1][:, emotion.DIMENSIONS.start :]], 1)


def unseen_corpus_uar(pooled: np.ndarray, windows: WindowStore, clips: list[Clip]) -> float:
    targets = emotion.targets_of(clips)
    known, _ = split(clips, windows)
    asked = np.flatnonzero([clips[i].corpus == RECIPE.unseen for i in windows.clips])
    values = predict(pooled, windows, clips, known, asked)
    rows, values = mean_per_clip(windows.clips[asked], windows.speech_frames[asked], values)
    label = targets.label[rows]
    return round(uar(label, best_of(values[:, emotion.CATEGORIES], label)), 3)


def measure(pooled: np.ndarray, windows: WindowStore, clips: list[Clip]) -> dict[str, float]:
    held = np.array([clips[i].held_out for i in windows.clips])
    known, asked = np.flatnonzero(~held), np.flatnonzero(held)
    found = finetune_report.measure(clips, windows, asked, predict(pooled, windows, clips, known, asked))
    return {
        "UAR, speakers out": found["mean UAR, speakers"],
        f"UAR, {RECIPE.unseen} out": unseen_corpus_uar(pooled, windows, clips),
        "CCC valence": found["TAVA valence CCC (rated)"],
        "CCC arousal": found["TAVA arousal CCC (rated)"],
        "PCC fluency": found["clarity PCC fluency"],
        "PCC prosody": found["clarity PCC prosody"],
    }


def run(names: list[str]) -> None:
    """Measures the named trunks again, all without names. Under --small nothing is kept."""
    clips, windows = read_clips(), window_store.load()
    kept = settings.MODELS == settings.SHIPPED_MODELS
    found = {one["name"]: one for one in json.loads(PATH.read_text())} if kept and PATH.exists() else {}
    for name in names or TRUNKS:
        description, make = TRUNKS[name]
        trunk = make()
        milliseconds, size = measure_cost(trunk)
        found[name] = {"name": name, "trunk": description, "msPer10s": milliseconds, "MB": size, "shipped": name == SHIPPED,
                       "folder": FOLDERS.get(name), "figures": measure(pool_windows(trunk, windows), windows, clips)}  # fmt: skip
        print(found[name], flush=True)
        if kept:
            PATH.write_text(json.dumps([found[name] for name in TRUNKS if name in found], indent=1) + "\n")
