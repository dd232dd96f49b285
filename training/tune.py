"""Tunes the trunk gently on emotion, valence, arousal and clarity at once; heads are fitted on the frozen one first.

tune.py EPOCHS: once for each of SEEDS, and keeps the mean of their weights. All begin from the same weights and stay
near them, so that the mean is a model too (model soups: Wortsman et al. 2022). Goes on from a seed's last checkpoint if
there is one and what it began from is the same.
"""

from __future__ import annotations

import copy
import json
import math
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

import cognitive
import emotion
import heads
import teacher
import tokens as token_store
import trunk
import tune_report
from corpus import MODELS, NOTES, SEED, THREADS, is_current, read_clips
from tune_data import TUNE, TUNED, WINDOWS, Examples, balanced_targets, draw_epoch, load_windows, split

RATE = {"layers.0": 6e-5, "layers.1": 8e-5}  # the convolutions stay as they are
HEAD_RATE = 3e-4
PULL = 3.0  # towards the frozen weights, times the rate
WARMUP = 0.06
AVERAGING = 0.996
CLARITY_WEIGHT = 1.5
SEEDS = (SEED, SEED + 1)
CHECKPOINT_SECONDS = 150
HEADS = TUNE / "heads.pt"


class Joint(nn.Module):
    """The trunk under both heads, so that one loss reaches all."""

    def __init__(self, body: trunk.Trunk, feeling: heads.Head, clarity: heads.Head):
        super().__init__()
        self.trunk, self.feeling, self.clarity = body, feeling, clarity

    def forward(self, scaled: torch.Tensor, lengths: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """scaled [B,T,80], weights [B,ceil(T/2)] -> [B,11] on the CPU: logits, valence, arousal, clarity."""
        scaled, lengths, weights = (value.to(trunk.DEVICE) for value in (scaled, lengths, weights))
        tokens = self.trunk(scaled, lengths)
        return torch.cat([self.feeling(tokens, weights), self.clarity(tokens, weights)], 1).cpu()


def fit_heads(store: token_store.Tokens, clips, members: np.ndarray, count: int) -> tuple[list, list]:
    """The heads of the shipped recipe on given tokens: (emotion, clarity)."""
    targets, scores = emotion.targets_of(clips), cognitive.targets_of(clips)
    useful = np.intersect1d(emotion.useful(store, targets), members)
    scored = np.intersect1d(np.flatnonzero(~np.isnan(scores[store.clips])), members)
    feeling = emotion.fit(store, targets, useful, count)[:count]
    return feeling, cognitive.fit(store, scores, scored, count)


def predict_joint(model: Joint, examples: Examples, members: np.ndarray) -> np.ndarray:
    """Clean windows -> [windows, 11]"""
    model.eval()
    order = members[np.argsort(examples.windows.lengths[members])]
    result = {}
    with torch.no_grad():
        for part in np.array_split(order, max(1, len(order) // 24)):
            x, lengths, weights = examples.batch(part, None)
            values = model(trunk.normalise(x, lengths), lengths, weights).numpy()
            result.update(zip(part.tolist(), values))
    return np.stack([result[i] for i in members.tolist()])


def mask_some(scaled: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """SpecAugment: one band and one stretch of time, silenced for the whole batch half of the time each."""
    scaled = scaled.clone()
    frames, level = scaled.shape[1], scaled.mean()
    if rng.random() < 0.5:
        at = rng.integers(0, trunk.BINS - 12)
        scaled[:, :, at : at + rng.integers(2, 13)] = level
    if rng.random() < 0.5:
        at = rng.integers(0, frames)
        scaled[:, at : at + rng.integers(2, max(3, min(25, frames // 8)))] = level
    return scaled


def loss_of(windows, clips):
    """-> a function of values [B,11] and the windows' indices [B]"""
    feeling = emotion.loss_of(windows, balanced_targets(clips))
    scores = cognitive.targets_of(clips)
    spread = float(np.nanstd(scores))

    def loss(values: torch.Tensor, members: np.ndarray) -> torch.Tensor:
        wanted = torch.from_numpy(scores[windows.clips[members]])
        known = ~torch.isnan(wanted)
        error = torch.where(known, (values[:, 10] - torch.nan_to_num(wanted)) / spread, 0.0) ** 2
        return feeling(values[:, :10], members) + CLARITY_WEIGHT * error.mean()

    return loss


def groups_of(model: Joint) -> list[dict]:
    """Parameters with their own highest rates: earlier layers move less."""
    groups = []
    for prefix, rate in RATE.items():
        found = [p for name, p in model.trunk.named_parameters() if name.startswith(prefix)]
        groups.append({"params": found, "base": rate, "weight_decay": 0.0})
    rest = [*model.feeling.parameters(), *model.clarity.parameters()]
    return [*groups, {"params": rest, "base": HEAD_RATE, "weight_decay": 0.05}]


def schedule(progress: float) -> float:
    """Share of the highest rate at `progress` in [0, 1]: a short rise, then half a cosine."""
    if progress < WARMUP:
        return progress / WARMUP
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (progress - WARMUP) / (1 - WARMUP)))


class Run:
    """What changes while training, and can be written down."""

    def __init__(self, model: Joint, epochs: int, seed: int):
        self.seed = seed
        self.model, self.average, self.epochs = model, copy.deepcopy(model), epochs
        self.frozen = copy.deepcopy(model.trunk.state_dict())
        self.optimiser = torch.optim.AdamW(groups_of(model), lr=1e-5, betas=(0.9, 0.98))
        self.epoch = self.index = self.step = 0
        self.curve: list[list[float]] = []  # step, mean loss of 25 steps
        self.path = TUNE / f"checkpoint-{seed}.pt"

    def save(self) -> None:
        state = {name: getattr(self, name).state_dict() for name in ("model", "average", "optimiser")}
        place = self.epoch, self.index, self.step
        fresh = self.path.with_suffix(".tmp")
        torch.save(state | {"place": place, "curve": self.curve}, fresh)
        fresh.replace(self.path)

    def load(self) -> None:
        if is_current(self.path, HEADS):
            state = torch.load(self.path, map_location=trunk.DEVICE)
            for name in ("model", "average", "optimiser"):
                getattr(self, name).load_state_dict(state[name])
            self.epoch, self.index, self.step = state["place"]
            self.curve = state["curve"]

    def update(self, loss: torch.Tensor, progress: float) -> None:
        for group in self.optimiser.param_groups:
            group["lr"] = group["base"] * schedule(progress)
        self.optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimiser.step()
        self.step += 1
        with torch.no_grad():
            self.pull()
            share = 1 - min(AVERAGING, (1 + self.step) / (10 + self.step))
            for mean, now in zip(self.average.parameters(), self.model.parameters()):
                mean.lerp_(now, share)

    def pull(self) -> None:
        """Moves each trunk weight a little of the way back to where it was frozen (L2-SP, decoupled)."""
        rates = {id(p): g["lr"] for g in self.optimiser.param_groups for p in g["params"]}
        for name, value in self.model.trunk.layers.named_parameters(prefix="layers"):
            value.lerp_(self.frozen[name], rates[id(value)] * PULL)


def train(run: Run, examples: Examples, clips, members: np.ndarray, measured: Callable[[str, Joint], None]) -> None:
    loss, saved = loss_of(examples.windows, clips), time.time()
    torch.manual_seed(run.seed + run.step)
    while run.epoch < run.epochs:
        batches, costs = draw_epoch(clips, examples.windows, members, run.seed, run.epoch), []
        while run.index < len(batches):
            rng = np.random.default_rng([run.seed, run.epoch, run.index])
            x, lengths, weights = examples.batch(batches[run.index], rng)
            run.model.train()
            scaled = mask_some(trunk.normalise(x, lengths), rng)
            cost = loss(run.model(scaled, lengths, weights), batches[run.index])
            run.index += 1
            run.update(cost, (run.epoch + run.index / len(batches)) / run.epochs)
            costs.append(float(cost.detach()))
            if run.step % 25 == 0:
                run.curve.append([run.step, round(float(np.mean(costs[-25:])), 4)])
                print(f"{time.strftime('%T')} epoch {run.epoch} batch {run.index}/{len(batches)} "
                      f"loss {np.mean(costs[-50:]):.3f}", flush=True)  # fmt: skip
            if time.time() - saved > CHECKPOINT_SECONDS:
                run.save()
                saved = time.time()
        run.epoch, run.index = run.epoch + 1, 0
        run.save()
        measured(f"{run.seed}: {run.epoch}", run.average)


def start() -> Joint:
    """The frozen trunk under heads that were fitted on its tokens."""
    clips, body = read_clips(), trunk.Trunk(teacher.encoder())
    if not is_current(HEADS, WINDOWS):
        trunk.write_trunk(body.eval(), str(TUNE / "frozen.onnx"))
        token_store.encode(str(TUNE / "frozen.onnx"), str(MODELS / "activity" / "weights.onnx"), "frozen")
        store = token_store.load("frozen")
        members, _ = split(clips, store.clips)
        feeling, clarity = fit_heads(store, clips, members, 1)
        torch.save([feeling[0].state_dict(), clarity[0].state_dict()], HEADS)
    feeling, clarity = heads.plain(emotion.OUTPUTS), heads.plain(1, 0.5)
    for head, state in zip((feeling, clarity), torch.load(HEADS)):
        head.load_state_dict(state)
    for conv in (body.conv1, body.conv2):
        conv.requires_grad_(False)
    return Joint(body, feeling, clarity)


def mean_of(states: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    return {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}


def main(epochs: int) -> None:
    torch.set_num_threads(THREADS)
    clips, windows = read_clips(), load_windows()
    examples = Examples(windows)
    members, out = split(clips, windows.clips)
    targets = emotion.targets_of(clips)
    path = TUNE / "figures.json"
    seen = json.loads(path.read_text()) if path.exists() else {}

    def measured(title: str, model: Joint) -> None:
        began = time.time()
        seen[title] = tune_report.figures(clips, windows, out, predict_joint(model, examples, out), targets)
        path.write_text(json.dumps(seen, indent=1))
        print(tune_report.table(seen), f"{time.time() - began:.0f} s", sep="\n", flush=True)

    model = start().to(trunk.DEVICE)
    runs = [Run(copy.deepcopy(model), epochs, seed) for seed in SEEDS]
    for run in runs:
        run.load()
        train(run, examples, clips, members, measured)
    model.load_state_dict(mean_of([run.average.state_dict() for run in runs]))
    measured("mean", model)
    torch.save(model.cpu().state_dict(), TUNED)
    (NOTES / "curves.json").write_text(json.dumps({f"seed {run.seed}": run.curve for run in runs}) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
