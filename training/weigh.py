"""Accuracy against cost of the trunks that were weighed: training/candidates.json, under linear heads alike for all.

weigh.py [NAME ...]: measures the named ones again (all when none is named) and keeps the others' rows. Speakers out:
those of heldout.json. EMOVO out: neither the trunk nor the heads heard any of it.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from tqdm import tqdm

import emotion
import fast
import heads
import teacher
import tokens as token_store
import trunk
import tune_linear
import tune_report
from corpus import CACHE, HERE, SEED, THREADS, read_clips
from folds import guess_in
from scores import uar
from tune_data import UNSEEN_CORPUS, Examples, Windows, load_windows, split, tuned

PATH = HERE / "candidates.json"
DECAY, TIGHT = 0.01, 0.1  # categories; valence, arousal and clarity
FRAMES = 1000


def frozen(layers: int) -> trunk.Trunk:
    return trunk.Trunk(teacher.encoder(), layers=layers).eval()


SHIPPED, FAST = "2 layers, tuned", "coarse, distilled"
FOLDERS = {SHIPPED: "models", FAST: "models-fast"}
CANDIDATES: dict[str, tuple[str, Callable[[], trunk.Trunk]]] = {
    "stem, frozen": ("Whisper-tiny.en's convolutions", lambda: frozen(0)),
    "1 layer, frozen": ("and its first layer", lambda: frozen(1)),
    "2 layers, frozen": ("and its first two layers", lambda: frozen(2)),
    "3 layers, frozen": ("and its first three layers", lambda: frozen(3)),
    SHIPPED: ("the first two layers tuned here", tuned),
    FAST: ("half the tokens, inner width 512, distilled from the tuned one", fast.distilled),
}


def cost_of(body: trunk.Trunk) -> tuple[float, float]:
    """Milliseconds of one core for ten seconds (median of 21 runs), MB of weights, as exported."""
    path = CACHE / "candidate.onnx"
    trunk.write_trunk(body, str(path))
    session = token_store.session(str(path), 1)
    feed = {"features": np.random.default_rng(SEED).normal(-3, 1, (1, FRAMES, trunk.BINS)).astype(np.float32)}
    spent = []
    for _ in range(24):
        began = time.process_time()
        session.run(None, feed)
        spent.append(time.process_time() - began)
    return round(1000 * float(np.median(spent[3:])), 1), round(path.stat().st_size / 1e6, 2)


def moments_of(name: str, body: trunk.Trunk, windows: Windows) -> np.ndarray:
    """[windows,768] of the clean recordings in fp32, out of the cache where these weights made them before."""
    weights = b"".join(value.numpy().tobytes() for value in body.state_dict().values())
    path = CACHE / "candidates" / f"{name}-{hashlib.sha256(weights).hexdigest()[:12]}.npy"
    if path.exists():
        return np.load(path)
    examples = Examples(windows)
    order, rows = np.argsort(windows.lengths, kind="stable"), np.zeros((len(windows.clips), 2 * trunk.WIDTH), np.float32)
    for part in tqdm(np.array_split(order, len(order) // 24), f"windows of {name}", mininterval=10):
        x, lengths, weights = examples.batch(part, None)
        with torch.no_grad():
            tokens = body(trunk.normalise(x, lengths), lengths)
            share = (weights / weights.sum(1, keepdim=True))[:, :, None]
            rows[part] = torch.cat(heads.moments(tokens, share), 1).numpy()
    path.parent.mkdir(exist_ok=True)
    np.save(path, rows)
    return rows


def fitted(pooled: np.ndarray, windows: Windows, clips, known: np.ndarray, asked: np.ndarray) -> np.ndarray:
    values = []
    for decay in (DECAY, TIGHT):
        weight, bias = tune_linear.fit(pooled, windows, clips, known, decay, rounds=80)
        values.append(pooled[asked] @ weight + bias)
    return np.concatenate([values[0][:, :8], values[1][:, 8:]], 1)


def corpus_out(pooled: np.ndarray, windows: Windows, clips, targets) -> float:
    """The UAR of the one corpus that no trunk was tuned on, from heads that never heard it either."""
    unseen = np.array([clips[i].corpus == UNSEEN_CORPUS for i in windows.clips])
    (known, _), asked = split(clips, windows.clips), np.flatnonzero(unseen)
    rows, values = emotion.per_clip(windows, asked, fitted(pooled, windows, clips, known, asked))
    return round(uar(targets.label[rows], guess_in(values, targets.label[rows])), 3)


def figures_of(pooled: np.ndarray, windows: Windows, clips) -> dict[str, float]:
    targets = emotion.targets_of(clips)
    held = np.array([clips[i].held_out for i in windows.clips])
    known, asked = np.flatnonzero(~held), np.flatnonzero(held)
    near = tune_report.figures(clips, windows, asked, fitted(pooled, windows, clips, known, asked), targets)
    return {
        "UAR, speakers out": near["mean UAR, speakers"],
        f"UAR, {UNSEEN_CORPUS} out": corpus_out(pooled, windows, clips, targets),
        "CCC valence": near["TAVA valence CCC (rated)"],
        "CCC arousal": near["TAVA arousal CCC (rated)"],
        "PCC fluency": near["clarity PCC fluency"],
        "PCC prosody": near["clarity PCC prosody"],
    }


def main(names: list[str]) -> None:
    torch.set_num_threads(THREADS)
    clips, windows = read_clips(), load_windows()
    found = {one["name"]: one for one in json.loads(PATH.read_text())} if PATH.exists() else {}
    for name in names or CANDIDATES:
        words, make = CANDIDATES[name]
        body = make()
        milliseconds, size = cost_of(body)
        found[name] = {"name": name, "trunk": words, "msPer10s": milliseconds, "MB": size, "shipped": name == SHIPPED,
                       "folder": FOLDERS.get(name),
                       "figures": figures_of(moments_of(name, body, windows), windows, clips)}  # fmt: skip
        print(found[name], flush=True)
        rows = [found[name] for name in CANDIDATES if name in found]
        PATH.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
