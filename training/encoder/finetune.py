"""Fine-tunes the trunk on emotion, valence, arousal and clarity at once; heads are fitted on the frozen trunk first.

Every seed starts from the same weights and stays near them, so the mean of the results is a model too (model soups:
Wortsman et al. 2022). A run that was stopped continues from its last checkpoint.
"""

import copy
import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from training import cache, settings
from training.augment import log_mel as augment
from training.augment.augmented import AugmentedCopies
from training.corpora import corpus, recipe
from training.corpora.corpus import Clip
from training.corpora.index import read_clips
from training.encoder import (
    embeddings,
    examples,
    finetune_report,
    multitask,
    trunk,
    whisper_weights,
    window_store,
)
from training.encoder.examples import Examples, draw_epoch
from training.encoder.multitask import MultiTaskModel
from training.encoder.trunk import DEVICE, Trunk
from training.encoder.window_store import WindowStore, split
from training.export.trunk_graph import write_trunk
from training.features.level import normalize_level
from training.features.log_mel import BINS
from training.heads import attention_head, clarity, emotion, fit
from training.heads.attention_head import AttentionHead
from training.settings import SEED

LAYER_RATES = {"layers.0": 6e-5, "layers.1": 8e-5}  # the convolutions stay as they are
HEAD_RATE = 3e-4
L2_SP_WEIGHT = 3.0  # pull towards the frozen weights, times the rate
WARMUP = 0.06  # of the steps
AVERAGE_DECAY = 0.996  # of the moving average of the weights
SEEDS = (SEED, SEED + 1)
CHECKPOINT_SECONDS = 150
HEADS_FILE, RESULT_FILE = "heads.pt", "tuned.pt"
COMMAND = "training/train trunk"


def mask_spans(scaled: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """SpecAugment: with probability 1/2 each, one band and one stretch of time at the mean, for the whole batch [B,T,80]."""
    scaled = scaled.clone()
    frames, level = scaled.shape[1], scaled.mean()
    if rng.random() < 0.5:
        at = rng.integers(0, BINS - 12)
        scaled[:, :, at : at + rng.integers(2, 13)] = level
    if rng.random() < 0.5:
        at = rng.integers(0, frames)
        scaled[:, at : at + rng.integers(2, max(3, min(25, frames // 8)))] = level
    return scaled


def parameter_groups(model: MultiTaskModel) -> list[dict]:
    """With their peak rates: the earlier layer moves less."""
    groups = []
    for prefix, rate in LAYER_RATES.items():
        found = [p for name, p in model.trunk.named_parameters() if name.startswith(prefix)]
        groups.append({"params": found, "base": rate, "weight_decay": 0.0})
    rest = [*model.emotion.parameters(), *model.clarity.parameters()]
    return [*groups, {"params": rest, "base": HEAD_RATE, "weight_decay": 0.05}]


def rate_factor(progress: float) -> float:
    """Of the peak rate at `progress` in [0, 1]: a short linear rise, then half a cosine."""
    if progress < WARMUP:
        return progress / WARMUP
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (progress - WARMUP) / (1 - WARMUP)))


class TrainingRun:
    """The state of one seed's run, and its checkpoint."""

    def __init__(self, model: MultiTaskModel, epochs: int, seed: int, folder: Path):
        self.model, self.average, self.epochs, self.seed = model, copy.deepcopy(model), epochs, seed
        self.frozen = copy.deepcopy(model.trunk.state_dict())
        self.optimizer = torch.optim.AdamW(parameter_groups(model), lr=1e-5, betas=(0.9, 0.98))
        self.epoch = self.batch = self.step = 0
        self.curve: list[list[float]] = []  # step, mean loss of 25 steps
        self.path = folder / f"checkpoint-{seed}.pt"

    def save(self) -> None:
        state = {name: getattr(self, name).state_dict() for name in ("model", "average", "optimizer")}
        part = self.path.with_suffix(".tmp")
        torch.save(state | {"place": (self.epoch, self.batch, self.step), "curve": self.curve}, part)
        part.replace(self.path)

    def load(self) -> None:
        if self.path.exists():
            state = torch.load(self.path, map_location=DEVICE)
            for name in ("model", "average", "optimizer"):
                getattr(self, name).load_state_dict(state[name])
            self.epoch, self.batch, self.step = state["place"]
            self.curve = state["curve"]

    def update(self, loss: torch.Tensor, progress: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * rate_factor(progress)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        with torch.no_grad():
            self.pull_to_start()
            share = 1 - min(AVERAGE_DECAY, (1 + self.step) / (10 + self.step))
            for mean, now in zip(self.average.parameters(), self.model.parameters()):
                mean.lerp_(now, share)

    def pull_to_start(self) -> None:
        """L2-SP, decoupled: moves each weight of the layers a little of the way back to the frozen one."""
        rates = {id(p): g["lr"] for g in self.optimizer.param_groups for p in g["params"]}
        for name, value in self.model.trunk.layers.named_parameters(prefix="layers"):
            value.lerp_(self.frozen[name], rates[id(value)] * L2_SP_WEIGHT)

    def train(self, data: Examples, clips: list[Clip], members: np.ndarray, on_epoch: Callable[[str, MultiTaskModel], None]) -> None:
        loss, saved = multitask.loss_of(data.windows.clips, clips), time.time()
        torch.manual_seed(self.seed + self.step)
        while self.epoch < self.epochs:
            batches, costs = draw_epoch(clips, data.windows, members, self.seed, self.epoch), []
            while self.batch < len(batches):
                rng, part = np.random.default_rng([self.seed, self.epoch, self.batch]), batches[self.batch]
                x, lengths, weights = data.batch(part, rng)
                self.model.train()
                cost = loss(self.model(mask_spans(normalize_level(x, lengths), rng), lengths, weights), part)
                self.batch += 1
                self.update(cost, (self.epoch + self.batch / len(batches)) / self.epochs)
                costs.append(float(cost.detach()))
                if self.step % 25 == 0:
                    self.curve.append([self.step, round(float(np.mean(costs[-25:])), 4)])
                    print(f"{time.strftime('%T')} epoch {self.epoch} batch {self.batch}/{len(batches)} "
                          f"loss {np.mean(costs[-50:]):.3f}", flush=True)  # fmt: skip
                if time.time() - saved > CHECKPOINT_SECONDS:
                    self.save()
                    saved = time.time()
            self.epoch, self.batch = self.epoch + 1, 0
            self.save()
            on_epoch(f"{self.seed}: {self.epoch}", self.average)


def fit_start_heads(clips: list[Clip], windows: WindowStore, path: Path) -> None:
    """Writes the state of both heads, fitted on the embeddings of the frozen trunk."""
    graph = path.with_name("frozen.onnx")
    write_trunk(Trunk().load_whisper(whisper_weights.read_encoder()).eval(), graph)
    store = embeddings.load(graph, 2, None)
    members, _ = split(clips, windows)
    targets, scores = emotion.targets_of(clips), clarity.targets_of(clips)
    labelled = np.intersect1d(emotion.labelled_windows(store.clips, targets), members)
    scored = np.intersect1d(np.flatnonzero(~np.isnan(scores[store.clips])), members)
    (head,) = emotion.fit_networks(store, targets, labelled, 1)
    (clarity_head,) = clarity.fit(store, scores, scored, 1)
    torch.save([head.state_dict(), clarity_head.state_dict()], path)


def start_model(heads: Path) -> MultiTaskModel:
    """The frozen trunk under heads that were fitted on it. The convolutions take no part in training."""
    model = MultiTaskModel(Trunk().load_whisper(whisper_weights.read_encoder()))
    for head, state in zip((model.emotion, model.clarity), torch.load(heads)):
        head.load_state_dict(state)
    for conv in (model.trunk.conv1, model.trunk.conv2):
        conv.requires_grad_(False)
    return model


def mean_of(states: list[dict[str, torch.Tensor]]) -> dict[str, torch.Tensor]:
    return {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}


def finetune(folder: Path, windows: WindowStore, copies: AugmentedCopies) -> None:
    clips, data = read_clips(), Examples(windows, copies)
    members, out = split(clips, windows)
    if not (folder / HEADS_FILE).exists():
        fit_start_heads(clips, windows, folder / HEADS_FILE)
    log = folder / "metrics.json"
    seen = json.loads(log.read_text()) if log.exists() else {}

    def measure(title: str, model: MultiTaskModel) -> None:
        seen[title] = finetune_report.measure(clips, windows, out, model.predict(data, out))
        log.write_text(json.dumps(seen, indent=1))
        print(finetune_report.table(seen), flush=True)

    model = start_model(folder / HEADS_FILE).to(DEVICE)
    runs = [TrainingRun(copy.deepcopy(model), settings.SIZES.finetune_epochs, seed, folder) for seed in SEEDS]
    for run in runs:
        run.load()
        run.train(data, clips, members, measure)
    model.load_state_dict(mean_of([run.average.state_dict() for run in runs]))
    measure("mean", model)
    torch.save(model.cpu().state_dict(), folder / RESULT_FILE)
    curves = {f"seed {run.seed}": run.curve for run in runs}
    (settings.notes() / "finetune_loss.json").write_text(json.dumps(curves) + "\n")


def inputs_of(windows: WindowStore, copies: AugmentedCopies) -> dict:
    code = (sys.modules[__name__], attention_head, augment, clarity, corpus, emotion, examples, fit, multitask, recipe, trunk)
    return {
        "windows": windows.key,
        "copies": copies.source.key,
        "whisper": cache.file_hash(whisper_weights.PATH),
        "epochs": settings.SIZES.finetune_epochs,
        "code": cache.code_hash(*code),
    }


def run() -> None:
    windows, copies = window_store.load(), AugmentedCopies()
    cache.build("finetune", inputs_of(windows, copies), lambda folder: finetune(folder, windows, copies))


def result_path() -> Path:
    """Weights of the fine-tuned MultiTaskModel."""
    return cache.finished("finetune", inputs_of(window_store.load(), AugmentedCopies()), COMMAND) / RESULT_FILE


def load_state(prefix: str) -> dict[str, torch.Tensor]:
    state = torch.load(result_path(), map_location="cpu")
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def tuned_trunk() -> Trunk:
    trunk = Trunk()
    trunk.load_state_dict(load_state("trunk."))
    return trunk.eval()


def tuned_emotion_head() -> AttentionHead:
    """It fits the distilled trunk as well, which learns the same embeddings."""
    head = AttentionHead(emotion.OUTPUTS)
    head.load_state_dict(load_state("emotion."))
    return head.eval()
