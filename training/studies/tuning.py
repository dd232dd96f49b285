"""Which weights of a trunk to tune, measured on corpora that the tuning leaves out whole: a table in docs/results/studies.md.

Heads are fitted on the frozen trunk first (Kumar et al. 2022, *Fine-tuning can distort pretrained features*). From there, all weights of the
layers are tuned, or low-rank adapters beside them (Hu et al. 2022, *LoRA*), or the norms alone; or all weights are taught by the frozen encoders
of models/large, with the labels or without: a linear layer predicts their mean embedding of an utterance from the trunk's, of augmented frames.
Then linear heads on the tuned layers are measured on each corpus of the group, which these heads leave out as well.
"""

import copy
import json
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import nn

from training import cache, settings
from training.corpora.recipe import RECIPE
from training.corpora.registry import labels_key, read_clips
from training.encoder import embeddings, finetune, frozen, teaching
from training.encoder.embeddings import WindowStore, finetune_split
from training.encoder.finetune import TEACHING_WEIGHT, FinetuneDataset, MultiTaskModel, draw_epoch, lr_factor, make_loss, spec_augment
from training.encoder.frozen import Encoder
from training.encoder.trunk import Trunk, read_whisper_tiny
from training.evaluation import results
from training.export import trunk_graph
from training.export.graph import Graph
from training.features.level import normalize_level
from training.heads import emotion
from training.reporting.tables import replace_between, table
from training.settings import SEED
from training.studies import encoders
from training.studies.encoders import FIGURES, KNOWN, PAGE, Examples

RESULT = settings.RESULTS / "tuning.json"
GROUPS = (("EMOVO", "ASED", "CASIA"), ("RAVDESS", "nEMO", "EmotionTTSKorean"))
ALL, LOW_RANK, NORMS = "all weights of the layers", "low-rank adapters", "norms"
HEAD_RATE = 1e-3
RANK = 8
PROBED = 80  # batches on the frozen trunk
TUNED = 160


@dataclass(frozen=True)
class Method:
    rate: float  # peak learning rate of the trunk
    weights: str = ALL  # those that are tuned
    labels: float = 1  # weight of the labels in the loss
    teaching: float = 0  # weight of the frozen encoders in the loss


METHODS = {
    ALL: Method(8e-5),
    LOW_RANK: Method(1e-3, LOW_RANK),
    NORMS: Method(1e-3, NORMS),
    "all weights, taught by the frozen encoders too": Method(8e-5, teaching=TEACHING_WEIGHT),
    "all weights, taught by the frozen encoders alone": Method(8e-5, labels=0, teaching=TEACHING_WEIGHT),
}


class LowRank(nn.Module):
    """A layer that stays as it is, and a product of two thin matrices beside it."""

    def __init__(self, layer: nn.Linear):
        super().__init__()
        self.layer = layer
        self.down = nn.Linear(layer.in_features, RANK, bias=False)
        self.up = nn.Linear(RANK, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + self.up(self.down(x))

    def merged(self) -> nn.Linear:
        with torch.no_grad():
            self.layer.weight += self.up.weight @ self.down.weight
        return self.layer


def tunable(trunk: Trunk, kind: str) -> list[nn.Parameter]:
    """Freezes all weights but those that are tuned: `kind` is ALL, LOW_RANK or NORMS. Low-rank adapters replace the linear layers."""
    trunk.requires_grad_(False)
    for layer in trunk.layers:
        for name, module in list(layer.named_children()):
            if kind == LOW_RANK and isinstance(module, nn.Linear):
                setattr(layer, name, LowRank(module))
            elif kind == ALL or (kind == NORMS and isinstance(module, nn.LayerNorm)):
                module.requires_grad_(True)
    return [weights for weights in trunk.parameters() if weights.requires_grad]


def merge(trunk: Trunk) -> Trunk:
    for layer in trunk.layers:
        for name, module in list(layer.named_children()):
            if isinstance(module, LowRank):
                setattr(layer, name, module.merged())
    return trunk


class Tuning:
    """The batches of a run without the corpora of a group."""

    def __init__(self, windows: WindowStore, group: tuple[str, ...]):
        clips = read_clips()
        members, _ = finetune_split(clips, windows)
        members = members[[clips[i].corpus not in group for i in windows.clips[members]]]
        self.group = group
        self.data = FinetuneDataset(windows)
        self.loss = make_loss(windows.clips, clips)
        self.targets = torch.from_numpy(teaching.targets_of(windows))
        self.members = members
        self.batches = [batch for epoch in range(9) for batch in draw_epoch(clips, windows, members, SEED, epoch)][: PROBED + TUNED]

    def train(self, name: str, model: MultiTaskModel, weights: list[nn.Parameter], method: Method, head_rate: float, steps: range) -> None:
        """Trains `weights` of the trunk, and the heads at the peak learning rate `head_rate`."""
        heads = [*model.emotion.parameters(), *model.clarity.parameters(), *model.teaching.parameters()]
        groups = [{"params": heads, "base": head_rate, "weight_decay": 0.05}]
        if weights:
            groups.append({"params": weights, "base": method.rate, "weight_decay": 0.0})
        optimizer = torch.optim.AdamW(groups)
        started = time.time()
        model.train()
        for step in steps:
            for one in optimizer.param_groups:
                one["lr"] = one["base"] * lr_factor((step - steps.start) / len(steps))
            rng = np.random.default_rng([SEED, step])
            batch = self.batches[step]
            x, lengths, speech = self.data.batch(batch, rng)
            tokens = model.embed(spec_augment(normalize_level(x, lengths), rng), lengths)
            losses = [self.loss(model.score(tokens, speech), batch), model.teaching_loss(tokens, speech, self.targets[batch])]
            loss = method.labels * losses[0] + method.teaching * losses[1]
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*weights, *heads], 1.0)
            optimizer.step()
            if step % 25 == 0:
                shown = " and ".join(f"{one.item():.3f}" for one in losses)
                print(f"{name}, without {', '.join(self.group)}: batch {step}, losses {shown}, {time.time() - started:.0f} s", flush=True)


def tune(windows: WindowStore, group: tuple[str, ...], folder: Path) -> None:
    """Writes METHOD.pt, the weights of a trunk, for each method. Those of an interrupted run are kept."""
    torch.manual_seed(SEED)
    run = Tuning(windows, group)
    probed = MultiTaskModel(Trunk().load_whisper(read_whisper_tiny()))
    probed.trunk.requires_grad_(False)
    probed.teaching = teaching.fit_layer(run.targets.numpy(), run.members)
    heads = folder / "heads.pt"
    if not heads.exists():
        run.train("heads", probed, [], Method(0), HEAD_RATE, range(PROBED))
        torch.save(probed.state_dict(), heads)
    probed.load_state_dict(torch.load(heads))
    for name, method in METHODS.items():
        path = folder / f"{name}.pt"
        if path.exists():
            continue
        model = copy.deepcopy(probed)
        run.train(name, model, tunable(model.trunk, method.weights), method, HEAD_RATE * 0.3, range(PROBED, PROBED + TUNED))
        torch.save(merge(model.trunk).state_dict(), path)


def tuned_encoders(windows: WindowStore, group: tuple[str, ...]) -> dict[str, Encoder]:
    """Method -> encoder; the frozen one first."""
    code = cache.code_hash(sys.modules[__name__], finetune, frozen, teaching)
    inputs = {"windows": windows.key, "labels": labels_key(read_clips()), "group": group, "code": code}
    folder = cache.build("tuning", inputs, lambda folder: tune(windows, group, folder))

    def encoder(method: str) -> Encoder:
        path = folder / f"{method}.pt"

        def write(g: Graph, features: str) -> list[str]:
            trunk = Trunk()
            trunk.load_state_dict(torch.load(path))
            return trunk_graph.write_layers(g, features, trunk.eval())

        name = f"{method} without {', '.join(group)}"
        return replace(frozen.TINY, name=name, write=write, weights=cache.file_hash(path))

    return {"none": frozen.TINY} | {method: encoder(method) for method in METHODS}


def run() -> None:
    windows = embeddings.load_windows(None)
    targets = emotion.targets_of(read_clips())
    found = results.source_of(settings.MODELS) | {"batches": TUNED, "methods": {}}
    for group in GROUPS:
        for method, encoder in tuned_encoders(windows, group).items():
            layers = encoders.layers_of((encoder,), windows)
            own = Examples(windows, encoders.reduce(layers[encoder.name, "2"]), targets)
            measured = found["methods"].setdefault(method, {"corpora": {}, "known": []})
            measured["corpora"] |= {name: encoders.measure(own, name) for name in (*group, *RECIPE.unseen)}
            measured["known"].append(encoders.measure_known(own))
            print(method, measured, flush=True)
            RESULT.write_text(json.dumps(found, indent=1) + "\n")
    write_page(found)


def write_page(found: dict) -> None:
    names = [name for group in GROUPS for name in group]
    rows = []
    for method, measured in found["methods"].items():
        corpora = {name: measured["corpora"][name] for name in names}
        shown = [*corpora.values(), *(measured["corpora"][name] for name in RECIPE.unseen)]
        means = [f"{encoders.mean(corpora, figure):.3f}" for figure in FIGURES]
        rows.append([method, *means, f"{np.mean(measured['known']):.3f}", *(f"{one['UAR']:.2f}" for one in shown)])
    titles = ["tuned", *FIGURES, KNOWN, *names, *RECIPE.unseen]
    replace_between(PAGE, "tuning", f"{results.describe_sources({settings.RECIPE: found})}\n\n{table(titles, rows)}")
