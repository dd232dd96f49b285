"""Which weights of a trunk to tune, on corpora that the tuning leaves out whole: a table in docs/results/studies.md.

Whisper-tiny.en's two layers are tuned on the part train without a group of corpora: all weights of the layers, as for models/standard, low-rank
adapters (LoRA: Hu et al. 2022), or the norms alone. Heads are fitted first, on the frozen layers (Kumar et al. 2022). Linear heads on the
tuned layers are then measured on each corpus of the group, which they leave out as well.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from training import cache, settings
from training.corpora.index import labels_key, read_clips
from training.corpora.recipe import RECIPE
from training.encoder import examples, finetune, frozen, multitask, whisper_weights, window_store
from training.encoder.examples import FinetuneDataset, draw_epoch
from training.encoder.frozen import Encoder
from training.encoder.multitask import MultiTaskModel
from training.encoder.trunk import Trunk
from training.encoder.window_store import WindowStore
from training.evaluation import results
from training.export import trunk_graph
from training.features import log_mel
from training.features.level import normalize_level
from training.features.windows import SILENCE
from training.heads import emotion
from training.reporting.tables import replace_between, table
from training.settings import SEED
from training.studies import encoders
from training.studies.encoders import FIGURES, KNOWN, PAGE, Examples

RESULT = settings.RESULTS / "tuning.json"
GROUPS = (("EMOVO", "ASED", "CASIA"), ("RAVDESS", "nEMO", "EmotionTTSKorean"))
FROZEN, ALL, LOW_RANK, NORMS = "none", "all weights of the layers", "low-rank adapters", "norms"
RATES = {ALL: 8e-5, LOW_RANK: 1e-3, NORMS: 1e-3}  # peak learning rates
RANK = 8
PROBED, TUNED = 150, 400  # batches


class LowRank(nn.Module):
    """A layer that stays as it is, and a product of two thin matrices that is added to it."""

    def __init__(self, layer: nn.Linear):
        super().__init__()
        self.layer, self.down = layer, nn.Linear(layer.in_features, RANK, bias=False)
        self.up = nn.Linear(RANK, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x) + self.up(self.down(x))

    def merged(self) -> nn.Linear:
        with torch.no_grad():
            self.layer.weight += self.up.weight @ self.down.weight
        return self.layer


def tunable(trunk: Trunk, method: str) -> list[nn.Parameter]:
    """The weights that the method tunes; all others are frozen. Low-rank adapters replace the linear layers."""
    trunk.requires_grad_(False)
    for layer in trunk.layers:
        for name, module in list(layer.named_children()):
            if method == LOW_RANK and isinstance(module, nn.Linear):
                setattr(layer, name, adapter := LowRank(module))
                adapter.layer.requires_grad_(False)
            elif method == ALL or (method == NORMS and isinstance(module, nn.LayerNorm)):
                module.requires_grad_(True)
    return [weights for weights in trunk.parameters() if weights.requires_grad]


def merge(trunk: Trunk) -> Trunk:
    for layer in trunk.layers:
        for name, module in list(layer.named_children()):
            if isinstance(module, LowRank):
                setattr(layer, name, module.merged())
    return trunk


def tune(windows: WindowStore, group: tuple[str, ...], method: str, path: Path) -> None:
    torch.manual_seed(SEED)
    clips, data = read_clips(), FinetuneDataset(windows)
    members, _ = window_store.finetune_split(clips, windows)
    members = members[[clips[i].corpus not in group for i in windows.clips[members]]]
    model = MultiTaskModel(Trunk().load_whisper(whisper_weights.read_encoder()))
    weights, heads = tunable(model.trunk, method), [*model.emotion.parameters(), *model.clarity.parameters()]
    optimizer = torch.optim.AdamW([{"params": weights, "base": RATES[method], "weight_decay": 0.0}, {"params": heads, "base": 1e-3, "weight_decay": 0.05}])
    loss_function, started = multitask.make_loss(windows.clips, clips), time.time()
    batches = [batch for epoch in range(9) for batch in draw_epoch(clips, windows, members, SEED, epoch)][: PROBED + TUNED]
    for step, batch in enumerate(batches):
        tuning = step >= PROBED
        for parameter in weights:
            parameter.requires_grad_(tuning)
        progress = (step - PROBED) / TUNED if tuning else step / PROBED
        for index, one in enumerate(optimizer.param_groups):
            one["lr"] = one["base"] * finetune.lr_factor(progress) * (0.3 if tuning and index == 1 else 1)
        rng = np.random.default_rng([SEED, step])
        x, lengths, speech = data.batch(batch, rng)
        model.train()
        loss = loss_function(model(finetune.spec_augment(normalize_level(x, lengths), rng), lengths, speech), batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_([*weights, *heads], 1.0)
        optimizer.step()
        if step % 25 == 0:
            print(f"{method}, without {', '.join(group)}: batch {step} of {len(batches)}, loss {loss.item():.3f}, {time.time() - started:.0f} s", flush=True)
    torch.save(merge(model.trunk).state_dict(), path)


def tuned_encoder(windows: WindowStore, group: tuple[str, ...], method: str) -> Encoder:
    code = cache.code_hash(sys.modules[__name__], examples, multitask, finetune)
    inputs = {"windows": windows.key, "labels": labels_key(read_clips()), "group": group, "method": method, "code": code}
    path = cache.build("tuning", inputs, lambda folder: tune(windows, group, method, folder / "trunk.pt")) / "trunk.pt"

    def write(g, features: str) -> list[str]:
        trunk = Trunk()
        trunk.load_state_dict(torch.load(path))
        return trunk_graph.write_layers(g, features, trunk.eval())

    return Encoder(f"{method} without {', '.join(group)}", frozen.TINY.layers, write, "features", log_mel.of_corpora, SILENCE, weights=cache.file_hash(path))


def run() -> None:
    windows, targets = window_store.load(None), emotion.targets_of(read_clips())
    found = results.source_of(settings.MODELS) | {"batches": TUNED, "methods": {}}
    for group in GROUPS:
        for method in (FROZEN, *RATES):
            encoder = frozen.TINY if method == FROZEN else tuned_encoder(windows, group, method)
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
        unseen = [measured["corpora"][name]["UAR"] for name in RECIPE.unseen]
        rows.append([method, *(f"{encoders.mean(corpora, figure):.3f}" for figure in FIGURES), f"{np.mean(measured['known']):.3f}",
                     *(f"{one['UAR']:.2f}" for one in corpora.values()), *(f"{value:.2f}" for value in unseen)])  # fmt: skip
    titles = ["tuned", *FIGURES, KNOWN, *names, *RECIPE.unseen]
    replace_between(PAGE, "tuning", f"{results.describe_sources({settings.RECIPE: found})}\n\n{table(titles, rows)}")
