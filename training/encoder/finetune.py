"""Fine-tunes the trunk on emotion, valence, arousal and clarity at once; heads are fitted on the frozen trunk first.

All runs start from the same weights and stay near them; the result is the mean of their weights (model soups:
Wortsman et al. 2022). The refit is averaged with the result of the train part alone. An interrupted run continues from its last checkpoint.
"""

import copy
import json
import math
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import nn

from training import cache, settings
from training.augment import augmented, mix, spectral, synthetic_noise
from training.augment.augmented import AugmentedCopies
from training.corpora.corpus import Clip
from training.corpora.registry import labels_key, read_clips
from training.encoder import embeddings, examples, finetune_report, multitask, trunk, whisper_weights, window_store
from training.encoder.examples import FinetuneDataset, draw_epoch
from training.encoder.multitask import MultiTaskModel
from training.encoder.trunk import DEVICE, Trunk
from training.encoder.window_store import WindowStore, finetune_split
from training.export import graph, trunk_graph
from training.export.manifest import update_manifest
from training.export.trunk_graph import write_trunk
from training.features import batches, level
from training.features.level import normalize_level
from training.features.log_mel import BINS
from training.heads import attention_head, clarity, emotion, fit
from training.settings import SEED

LAYER_LRS = {"layers.0": 6e-5, "layers.1": 8e-5}  # the convolutions stay as they are
HEAD_LR = 3e-4
L2_SP_WEIGHT = 3.0  # pull towards the frozen weights, times the learning rate
WARMUP = 0.06  # of the steps
EMA_DECAY = 0.996  # of the exponential moving average of the weights
SEEDS = (SEED, SEED + 1)  # of the refit; the train part alone is trained with the first
CHECKPOINT_SECONDS = 150
RESULT_FILE = "finetuned.pt"


def spec_augment(scaled: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """SpecAugment: with probability 1/2 each, one band and one stretch of time at the mean, for the whole batch [B,T,80]."""
    scaled = scaled.clone()
    frames, mean = scaled.shape[1], scaled.mean()
    if rng.random() < 0.5:
        at = rng.integers(0, BINS - 12)
        scaled[:, :, at : at + rng.integers(2, 13)] = mean
    if rng.random() < 0.5:
        at = rng.integers(0, frames)
        scaled[:, at : at + rng.integers(2, max(3, min(25, frames // 8)))] = mean
    return scaled


def parameter_groups(model: MultiTaskModel) -> list[dict]:
    """Parameters with their peak learning rates: the earlier layer moves less."""
    groups = []
    for prefix, lr in LAYER_LRS.items():
        layer = [p for name, p in model.trunk.named_parameters() if name.startswith(prefix)]
        groups.append({"params": layer, "base": lr, "weight_decay": 0.0})
    rest = [*model.emotion.parameters(), *model.clarity.parameters()]
    return [*groups, {"params": rest, "base": HEAD_LR, "weight_decay": 0.05}]


def lr_factor(progress: float) -> float:
    """Factor of the peak learning rate at `progress` in [0, 1]: a short linear rise, then half a cosine."""
    if progress < WARMUP:
        return progress / WARMUP
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (progress - WARMUP) / (1 - WARMUP)))


class TrainingRun:
    """The state of one seed's run, and its checkpoint."""

    def __init__(self, model: MultiTaskModel, epochs: int, seed: int, folder: Path):
        self.model, self.ema, self.epochs, self.seed = model, copy.deepcopy(model), epochs, seed
        self.frozen = copy.deepcopy(model.trunk.state_dict())
        self.optimizer = torch.optim.AdamW(parameter_groups(model), lr=1e-5, betas=(0.9, 0.98))
        self.epoch = self.batch = self.step = 0
        self.curve: list[list[float]] = []  # step, mean loss of 25 steps
        self.path = folder / f"checkpoint-{seed}.pt"

    def save(self) -> None:
        state = {name: getattr(self, name).state_dict() for name in ("model", "ema", "optimizer")}
        partial = self.path.with_suffix(".tmp")
        torch.save(state | {"position": (self.epoch, self.batch, self.step), "curve": self.curve}, partial)
        partial.replace(self.path)

    def load(self) -> None:
        if self.path.exists():
            state = torch.load(self.path, map_location=DEVICE)
            for name in ("model", "ema", "optimizer"):
                getattr(self, name).load_state_dict(state[name])
            self.epoch, self.batch, self.step = state["position"]
            self.curve = state["curve"]

    def update(self, loss: torch.Tensor, progress: float) -> None:
        for group in self.optimizer.param_groups:
            group["lr"] = group["base"] * lr_factor(progress)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        lrs = {id(p): g["lr"] for g in self.optimizer.param_groups for p in g["params"]}
        decay = min(EMA_DECAY, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for name, value in self.model.trunk.layers.named_parameters(prefix="layers"):  # decoupled L2-SP
                value.lerp_(self.frozen[name], lrs[id(value)] * L2_SP_WEIGHT)
            for ema, now in zip(self.ema.parameters(), self.model.parameters()):
                ema.lerp_(now, 1 - decay)

    def train(self, data: FinetuneDataset, clips: list[Clip], members: np.ndarray, on_epoch: Callable[[str, MultiTaskModel], None]) -> None:
        loss_function, saved = multitask.make_loss(data.windows.clips, clips), time.time()
        torch.manual_seed(self.seed + self.step)
        while self.epoch < self.epochs:
            drawn, losses = draw_epoch(clips, data.windows, members, self.seed, self.epoch), []
            while self.batch < len(drawn):
                rng, batch = np.random.default_rng([self.seed, self.epoch, self.batch]), drawn[self.batch]
                x, lengths, weights = data.batch(batch, rng)
                self.model.train()
                loss = loss_function(self.model(spec_augment(normalize_level(x, lengths), rng), lengths, weights), batch)
                self.batch += 1
                self.update(loss, (self.epoch + self.batch / len(drawn)) / self.epochs)
                losses.append(float(loss.detach()))
                if self.step % 25 == 0:
                    self.curve.append([self.step, round(float(np.mean(losses[-25:])), 4)])
                    print(f"{time.strftime('%T')} epoch {self.epoch} batch {self.batch}/{len(drawn)} "
                          f"loss {np.mean(losses[-50:]):.3f}", flush=True)  # fmt: skip
                if time.time() - saved > CHECKPOINT_SECONDS:
                    self.save()
                    saved = time.time()
            self.epoch, self.batch = self.epoch + 1, 0
            self.save()
            on_epoch(f"{self.seed}: {self.epoch}", self.ema)


def start_model(clips: list[Clip], windows: WindowStore, path: Path) -> MultiTaskModel:
    """Whisper's trunk, and heads that were fitted on its embeddings (cached at `path`). The convolutions are not trained."""
    trunk = Trunk().load_whisper(whisper_weights.read_encoder())
    if not path.exists():
        frozen = path.parent / "trunk"
        shutil.copytree(settings.SHIPPED_MODELS / "trunk", frozen, dirs_exist_ok=True)
        write_trunk(trunk.eval(), frozen / "weights.onnx")
        update_manifest(frozen)
        store = embeddings.load(frozen / "weights.onnx", 2, None)
        members, _ = finetune_split(clips, windows)
        targets, scores = emotion.targets_of(clips), clarity.targets_of(clips)
        labelled = np.intersect1d(emotion.labelled_windows(store.clips, targets), members)
        scored = np.intersect1d(np.flatnonzero(~np.isnan(scores[store.clips])), members)
        heads = [emotion.fit_attention_head(store, targets, labelled), *clarity.fit(store, scores, scored, 1)]
        torch.save([head.state_dict() for head in heads], path)
    model = MultiTaskModel(trunk)
    for head, state in zip((model.emotion, model.clarity), torch.load(path)):
        head.load_state_dict(state)
    for conv in (trunk.conv1, trunk.conv2):
        conv.requires_grad_(False)
    return model


def finetune(folder: Path, windows: WindowStore, refit: bool) -> None:
    clips, data = read_clips(), FinetuneDataset(windows)
    members, out = finetune_split(clips, windows)
    if refit:
        members = np.flatnonzero([clips[i].refitted for i in windows.clips])
    log = folder / "metrics.json"
    seen = json.loads(log.read_text()) if log.exists() else {}

    def measure(title: str, model: MultiTaskModel) -> None:
        if refit:
            return
        seen[title] = finetune_report.measure_recipe(clips, windows, out, model.predict(data, out))
        log.write_text(json.dumps(seen, indent=1))
        print(finetune_report.format_columns(seen), flush=True)

    model = start_model(clips, windows, folder / "heads.pt").to(DEVICE)
    runs = [TrainingRun(copy.deepcopy(model), settings.SIZES.finetune_epochs, seed, folder) for seed in (SEEDS if refit else SEEDS[:1])]
    for run in runs:
        run.load()
        run.train(data, clips, members, measure)
    states = [run.ema.state_dict() for run in runs] + ([torch.load(result_path(refit=False))] if refit else [])
    model.load_state_dict({name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]})
    measure("mean", model)
    torch.save(model.cpu().state_dict(), folder / RESULT_FILE)
    if refit:
        curves = {f"seed {run.seed}": run.curve for run in runs}
        (settings.results_folder() / "finetune_loss.json").write_text(json.dumps(curves) + "\n")


def inputs_of(windows: WindowStore, refit: bool) -> dict:
    code = (attention_head, augmented, batches, clarity, embeddings, emotion, examples, fit, graph, level, mix, multitask, spectral,
            synthetic_noise, trunk, trunk_graph)  # fmt: skip
    return {
        "labels": labels_key(read_clips()),
        "windows": windows.key,
        "whisper": cache.file_hash(whisper_weights.PATH),
        "epochs": settings.SIZES.finetune_epochs,
        "refit": refit,
        "code": cache.code_hash(sys.modules[__name__], *code),
    }


def run(refit: bool) -> None:
    """refit: on every part but the test part, in place of the train part, and without comparing recipes."""
    windows = window_store.load(AugmentedCopies())
    cache.build("finetune", inputs_of(windows, refit), lambda folder: finetune(folder, windows, refit))


def result_path(refit: bool) -> Path:
    """Weights of the MultiTaskModel."""
    inputs = inputs_of(window_store.load(AugmentedCopies()), refit)
    return cache.finished("finetune", inputs, "training/train trunk") / RESULT_FILE


def load_state(prefix: str, refit: bool) -> dict[str, torch.Tensor]:
    state = torch.load(result_path(refit), map_location="cpu")
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def finetuned_trunk(refit: bool) -> Trunk:
    trunk = Trunk()
    trunk.load_state_dict(load_state("trunk.", refit))
    return trunk.eval()
