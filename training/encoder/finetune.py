"""Fine-tunes the trunk on emotion, valence, arousal and clarity at once; heads are fitted on the frozen trunk first. The frozen encoders of
models/large teach it: a linear layer predicts their mean embedding of an utterance from the trunk's.

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
from training.augment.spectral import Noises, augment_log_mel, stretch_time, warp_frequency
from training.corpora.corpus import Clip
from training.corpora.registry import labels_key, read_clips
from training.encoder import embeddings, finetune_report, frozen, teaching, trunk
from training.encoder.embeddings import WindowStore, finetune_split
from training.encoder.trunk import DEVICE, WHISPER_PATH, WIDTH, Trunk, read_whisper_tiny
from training.export import camplusplus_graph, graph, trunk_graph
from training.export.manifest import update_manifest
from training.export.trunk_graph import write_trunk
from training.features import batches, level
from training.features.batches import stack_padded, stack_weights
from training.features.level import normalize_level
from training.features.log_mel import BINS
from training.features.windows import MAX_FRAMES, SILENCE, embedding_weights, slice_padded
from training.heads import attention_head, clarity, emotion, fit
from training.heads.attention_head import AttentionHead
from training.settings import SEED

BATCH_FRAMES = 9000
CLARITY = emotion.OUTPUTS  # column of clarity, behind those of the emotion head
CLARITY_WEIGHT = 1.5  # in the loss
TEACHING_WEIGHT = 3  # in the loss, of the mean squared error over the variance
LAYER_LRS = {"layers.0": 6e-5, "layers.1": 8e-5}  # the convolutions stay as they are
HEAD_LR = 3e-4
L2_SP_WEIGHT = 3.0  # pull towards the frozen weights, times the learning rate
WARMUP = 0.06  # of the steps
EMA_DECAY = 0.996  # of the exponential moving average of the weights
SEEDS = (SEED, SEED + 1)  # of the refit; the train part alone is trained with the first
CHECKPOINT_SECONDS = 150
RESULT_FILE = "finetuned.pt"


def draw_epoch(clips: list[Clip], windows: WindowStore, members: np.ndarray, seed: int, epoch: int) -> list[np.ndarray]:
    """The batches of an epoch: corpora repeated or thinned by their sampling weight, windows of like length together."""
    rng = np.random.default_rng([seed, epoch])
    mean_draws = np.array([clips[i].definition.sampling.finetune for i in windows.clips[members]])
    drawn = np.repeat(members, np.floor(mean_draws + rng.random(len(members))).astype(int))
    order = drawn[np.argsort(windows.lengths[drawn] * rng.uniform(0.97, 1.03, len(drawn)))]
    batch_of = np.cumsum(windows.lengths[order]) // BATCH_FRAMES
    batches = np.split(order, np.flatnonzero(np.diff(batch_of)) + 1)
    return [batches[i] for i in rng.permutation(len(batches))]


def stack_log_mel(windows: list[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """[T,80] each -> [B,longest T,80] filled with silence, lengths [B]"""
    return torch.from_numpy(stack_padded(windows, SILENCE)), torch.tensor(list(map(len, windows)))


class FinetuneDataset:
    def __init__(self, windows: WindowStore):
        self.windows = windows
        self.noises = Noises()

    def draw(self, window: int, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray]:
        """Log-mel frames [T,80], speech [T]; as recorded without `rng`."""
        frames = self.windows.log_mel(window)
        speech = self.windows.speech_of(window)
        if rng is None or self.windows.copied[window]:
            return frames, speech
        if rng.random() < 0.4 and len(frames) > 20:
            both = stretch_time(np.concatenate([frames, speech[:, None]], 1), rng)
            frames = both[:MAX_FRAMES, :BINS]
            speech = both[:MAX_FRAMES, BINS]
        if rng.random() < 0.4:
            frames = warp_frequency(frames, rng)
        if rng.random() < 0.85:
            frames = augment_log_mel(frames, self.noises, rng)
        return frames, speech

    def batch(self, members: np.ndarray, rng: np.random.Generator | None) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """-> features [B,T,80] log10 of mel energies, lengths [B], weights [B,ceil(T/2)]"""
        frames, speech = zip(*(self.draw(i, rng) for i in members))
        return *stack_log_mel(frames), torch.from_numpy(stack_weights([embedding_weights(s) for s in speech]))


class MultiTaskModel(nn.Module):
    def __init__(self, trunk: Trunk):
        super().__init__()
        self.trunk = trunk
        self.emotion = AttentionHead(emotion.OUTPUTS)
        self.clarity = AttentionHead(1, dropout=0.5)
        self.teaching = nn.Linear(WIDTH, teaching.WIDTH)  # to the mean embedding of the frozen encoders

    def embed(self, scaled: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """scaled [B,T,80], lengths [B] -> [B,ceil(T/2),384] on DEVICE"""
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=self.training):  # a variance in bfloat16 would cancel: the heads are outside
            return self.trunk(scaled.to(DEVICE), lengths.to(DEVICE)).float()

    def score(self, embeddings: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """embeddings [B,N,384], weights [B,N] -> [B,11] on the CPU: logits, valence, arousal, clarity"""
        weights = weights.to(DEVICE)
        return torch.cat([self.emotion(embeddings, weights), self.clarity(embeddings, weights)], 1).cpu()

    def teaching_loss(self, embeddings: torch.Tensor, weights: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """embeddings [B,N,384], weights [B,N], targets [B,640] -> mean squared error of the predicted mean embeddings of the frozen encoders"""
        weights = weights.to(DEVICE)
        mean = (weights[:, None] @ embeddings)[:, 0] / weights.sum(1, keepdim=True).clamp_min(1e-3)
        return ((self.teaching(mean).cpu() - targets) ** 2).mean()

    def forward(self, scaled: torch.Tensor, lengths: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """scaled [B,T,80], lengths [B], weights [B,ceil(T/2)] -> [B,11], as `score`"""
        return self.score(self.embed(scaled, lengths), weights)

    def predict(self, dataset: FinetuneDataset, members: np.ndarray) -> np.ndarray:
        """[windows, 11] of the windows as recorded"""
        self.eval()
        order = members[np.argsort(dataset.windows.lengths[members])]
        result = {}
        with torch.no_grad():
            for batch in np.array_split(order, max(1, len(order) // 24)):
                x, lengths, weights = dataset.batch(batch, None)
                result.update(zip(batch.tolist(), self(normalize_level(x, lengths), lengths, weights).numpy()))
        return np.stack([result[i] for i in members.tolist()])


def make_loss(owners: np.ndarray, clips: list[Clip]) -> Callable[[torch.Tensor, np.ndarray], torch.Tensor]:
    """-> a function of predictions [B,11] and window indices [B]"""
    emotion_loss = emotion.make_loss(owners, emotion.targets_of(clips, balanced=True))
    scores = clarity.targets_of(clips)
    spread = float(np.nanstd(scores))

    def loss(predicted: torch.Tensor, windows: np.ndarray) -> torch.Tensor:
        target = torch.from_numpy(scores[owners[windows]])
        known = ~torch.isnan(target)
        error = torch.where(known, (predicted[:, CLARITY] - torch.nan_to_num(target)) / spread, 0.0) ** 2
        return emotion_loss(predicted[:, : emotion.OUTPUTS], windows) + CLARITY_WEIGHT * error.mean()

    return loss


def spec_augment(scaled: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """SpecAugment: with probability 1/2 each, one band and one stretch of time at the mean, for the whole batch [B,T,80]."""
    scaled = scaled.clone()
    frames = scaled.shape[1]
    mean = scaled.mean()
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
    rest = [*model.emotion.parameters(), *model.clarity.parameters(), *model.teaching.parameters()]
    return [*groups, {"params": rest, "base": HEAD_LR, "weight_decay": 0.05}]


def lr_factor(progress: float) -> float:
    """Factor of the peak learning rate at `progress` in [0, 1]: a short linear rise, then half a cosine."""
    if progress < WARMUP:
        return progress / WARMUP
    return 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (progress - WARMUP) / (1 - WARMUP)))


class TrainingRun:
    """The state of one seed's run, and its checkpoint."""

    def __init__(self, model: MultiTaskModel, epochs: int, seed: int, folder: Path):
        self.model = model
        self.ema = copy.deepcopy(model)
        self.epochs = epochs
        self.seed = seed
        self.frozen = copy.deepcopy(model.trunk.state_dict())
        self.optimizer = torch.optim.AdamW(parameter_groups(model), lr=1e-5, betas=(0.9, 0.98))
        self.epoch = self.batch = self.step = 0
        self.curve: list[list[float]] = []  # step, mean loss of 25 steps
        self.path = folder / f"checkpoint-{seed}.pt"

    def save(self) -> None:
        state = {name: getattr(self, name).state_dict() for name in ("model", "ema", "optimizer")}
        state |= {"position": (self.epoch, self.batch, self.step), "curve": self.curve}
        cache.replace(self.path, lambda partial: torch.save(state, partial))

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

    def train(
        self,
        data: FinetuneDataset,
        clips: list[Clip],
        members: np.ndarray,
        targets: torch.Tensor | None,
        on_epoch: Callable[[str, MultiTaskModel], None],
    ) -> None:
        """`targets`: of teaching.targets_of"""
        loss_function = make_loss(data.windows.clips, clips)
        saved = time.time()
        while self.epoch < self.epochs:
            drawn = draw_epoch(clips, data.windows, members, self.seed, self.epoch)
            losses = []
            while self.batch < len(drawn):
                rng = np.random.default_rng([self.seed, self.epoch, self.batch])
                torch.manual_seed(int(rng.integers(2**62)))  # of the dropout: a resumed run goes on as one that was not interrupted
                batch = drawn[self.batch]
                x, lengths, weights = data.batch(batch, rng)
                self.model.train()
                tokens = self.model.embed(spec_augment(normalize_level(x, lengths), rng), lengths)
                taught = 0.0 if targets is None else self.model.teaching_loss(tokens, weights, targets[batch])
                loss = loss_function(self.model.score(tokens, weights), batch) + TEACHING_WEIGHT * taught
                self.batch += 1
                self.update(loss, (self.epoch + self.batch / len(drawn)) / self.epochs)
                losses.append(float(loss.detach()))
                if self.step % 25 == 0:
                    self.curve.append([self.step, round(float(np.mean(losses[-25:])), 4)])
                    print(f"{time.strftime('%T')} epoch {self.epoch} batch {self.batch}/{len(drawn)} "
                          f"loss {np.mean(losses[-50:]):.3f}, taught {float(taught):.3f}", flush=True)  # fmt: skip
                if time.time() - saved > CHECKPOINT_SECONDS:
                    self.save()
                    saved = time.time()
            self.epoch = self.epoch + 1
            self.batch = 0
            self.save()
            on_epoch(f"{self.seed}: {self.epoch}", self.ema)


def start_model(clips: list[Clip], windows: WindowStore, path: Path) -> MultiTaskModel:
    """Whisper's trunk, and heads that were fitted on its embeddings (cached at `path`). The convolutions are not trained."""
    trunk = Trunk().load_whisper(read_whisper_tiny())
    if not path.exists():
        frozen = path.parent / "trunk"
        shutil.copytree(settings.SHIPPED_MODELS / "trunk", frozen, dirs_exist_ok=True)
        write_trunk(trunk.eval(), frozen / "weights.onnx")
        update_manifest(frozen)
        store = embeddings.load(frozen / "weights.onnx", 2, None)
        members, _ = finetune_split(clips, windows)
        targets = emotion.targets_of(clips)
        scores = clarity.targets_of(clips)
        labelled = np.intersect1d(emotion.labelled_windows(store.clips, targets), members)
        scored = np.intersect1d(np.flatnonzero(~np.isnan(scores[store.clips])), members)
        heads = [emotion.fit_attention_head(store, targets, labelled), *clarity.fit(store, scores, scored, 1)]
        cache.replace(path, lambda partial: torch.save([head.state_dict() for head in heads], partial))
    model = MultiTaskModel(trunk)
    for head, state in zip((model.emotion, model.clarity), torch.load(path)):
        head.load_state_dict(state)
    for conv in (trunk.conv1, trunk.conv2):
        conv.requires_grad_(False)
    return model


def finetune(folder: Path, windows: WindowStore, refit: bool) -> None:
    clips = read_clips()
    data = FinetuneDataset(windows)
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

    model = start_model(clips, windows, folder / "heads.pt")
    targets = None
    if settings.RECIPE != "open":  # CAM++ learned from recordings of other licences
        found = teaching.targets_of(windows)
        model.teaching = teaching.fit_layer(found, members)
        targets = torch.from_numpy(found)
    model = model.to(DEVICE)
    runs = [TrainingRun(copy.deepcopy(model), settings.SIZES.finetune_epochs, seed, folder) for seed in (SEEDS if refit else SEEDS[:1])]
    for run in runs:
        run.load()
        run.train(data, clips, members, targets, measure)
    states = [run.ema.state_dict() for run in runs] + ([torch.load(result_path(refit=False))] if refit else [])
    model.load_state_dict({name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]})
    measure("mean", model)
    torch.save(model.cpu().state_dict(), folder / RESULT_FILE)
    if refit:
        curves = {f"seed {run.seed}": run.curve for run in runs}
        (settings.results_folder() / "finetune_loss.json").write_text(json.dumps(curves) + "\n")


def inputs_of(windows: WindowStore, refit: bool) -> dict:
    heads = (attention_head, clarity, fit, emotion.fit_attention_head, emotion.targets_of)
    code = (augmented, batches, camplusplus_graph, embedding_weights, embeddings, frozen, graph, level, mix, slice_padded, spectral,
            synthetic_noise, teaching, trunk, trunk_graph, *heads)  # fmt: skip
    return {
        "labels": labels_key(read_clips()),
        "windows": windows.key,
        "whisper": cache.file_hash(WHISPER_PATH),
        "epochs": settings.SIZES.finetune_epochs,
        "refit": refit,
        "code": cache.code_hash(sys.modules[__name__], *code),
    }


def run(refit: bool) -> None:
    """refit: on every part but the test part, in place of the train part, and without comparing recipes."""
    windows = embeddings.load_windows(AugmentedCopies())
    cache.build("finetune", inputs_of(windows, refit), lambda folder: finetune(folder, windows, refit))


def result_path(refit: bool) -> Path:
    """Weights of the MultiTaskModel."""
    inputs = inputs_of(embeddings.load_windows(AugmentedCopies()), refit)
    return cache.finished("finetune", inputs, "training/train trunk") / RESULT_FILE


def load_state(prefix: str, refit: bool) -> dict[str, torch.Tensor]:
    state = torch.load(result_path(refit), map_location="cpu")
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def finetuned_trunk(refit: bool) -> Trunk:
    trunk = Trunk()
    trunk.load_state_dict(load_state("trunk.", refit))
    return trunk.eval()
