"""What makes emotion heads and the tuned trunk generalise, on corpora left out of the heads in turn: tables in docs/results/studies.md.

Heads: recipes of linear heads on the frozen layers of Whisper-base and CAM++, which no corpus has changed. Teaching: heads on the trunk of
models/standard whose targets are those that heads on the frozen layers predict. Trunk: weights between those of Whisper-tiny.en and the
tuned ones (WiSE-FT: Wortsman et al. 2022, *Robust fine-tuning of zero-shot models*); the trunk was tuned on all corpora but RECIPE.unseen.
"""

import json
import sys
from collections.abc import Callable
from functools import partial

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from training import cache, settings
from training.corpora.corpus import EMOTIONS
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.encoder import embeddings, frozen
from training.encoder.frozen import Encoder
from training.encoder.trunk import Trunk, read_whisper_tiny
from training.evaluation import results
from training.export import trunk_graph
from training.export.graph import Graph
from training.features import log_mel
from training.features.windows import SILENCE
from training.heads import emotion
from training.reporting import plots
from training.settings import SEED
from training.studies import encoders
from training.studies.encoders import DECAY, Examples, Fit

RESULT = settings.RESULTS / "recipes.json"
FROZEN = [*encoders.BASE, *encoders.CAMPLUSPLUS]
FACTORS = (0.0, 0.25, 0.5, 0.75, 1.0)  # share of the tuned weights
PARTS = 3  # of the speakers: each learns from targets that the others' heads predict
BETA = 0.4  # of mixup
NUISANCE = 3.0  # value of the input that marks a corpus: above 1, so that its bias is penalised less


def fit(
    examples: Examples, rows: np.ndarray, decay: float = DECAY, ordinary: float = 1, corpora: bool = False, mixed: bool = False,
    taught: np.ndarray | None = None, trust: float = 0,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """`ordinary`: factor of the weight of ordinary speech. `corpora`: each corpus has a bias of its own, which is dropped. `mixed`: mixup of
    utterances of any two corpora. `trust`: share of the targets that are `taught` [utterances,8]."""
    clips, owners, targets = read_clips(), examples.windows.clips[rows], examples.targets
    own = [clips[i] for i in owners]
    share = np.where([clip.definition.ordinary for clip in own], ordinary, 1) * encoders.shares_of(own, targets.label[owners])
    mask, distribution, inputs = targets.mask[owners], targets.distribution[owners], examples.inputs[rows]
    if taught is not None:
        distribution = (1 - trust) * distribution + trust * taught[rows]
    if corpora:
        names = np.array([clip.corpus for clip in own])
        inputs = np.concatenate([inputs, NUISANCE * (names[:, None] == np.unique(names)[None])], 1, dtype=np.float32)
    if mixed:
        rng = np.random.default_rng(SEED)
        other, part = rng.permutation(len(rows)), rng.beta(BETA, BETA, len(rows)).astype(np.float32)
        blend = lambda values, part=part[:, None]: np.concatenate([values, part * values + (1 - part) * values[other]])
        inputs, mask, distribution, share = blend(inputs), blend(mask), blend(distribution), blend(share, part)
    columns = [values.astype(np.float32) for values in (mask, distribution, share / share.mean())]
    weight, bias = encoders.fit_categories(inputs, *columns, decay)
    return weight[: examples.inputs.shape[1]], bias


HEADS: dict[str, Fit] = {
    f"decay {DECAY}": fit,
    "decay 0.03": partial(fit, decay=0.03),
    "decay 0.3": partial(fit, decay=0.3),
    "decay 1": partial(fit, decay=1),
    "half the weight of ordinary speech": partial(fit, ordinary=0.5),
    "twice the weight of ordinary speech": partial(fit, ordinary=2),
    "a bias of each corpus, dropped": partial(fit, corpora=True),
    "mixup across corpora": partial(fit, mixed=True),
    "mixup across corpora, decay 0.3": partial(fit, mixed=True, decay=0.3),
}


def taught_fit(teacher: Examples, trust: float) -> Fit:
    """Heads whose targets are in part what heads on `teacher`, fitted on other speakers of the same rows, predict."""

    def own_fit(examples: Examples, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        clips, owners = read_clips(), examples.windows.clips
        names = np.array([f"{clips[i].corpus} {clips[i].speaker}" for i in owners[rows]])
        part = np.random.default_rng(SEED).permutation(len(unique := np.unique(names)))[np.searchsorted(unique, names)] % PARTS
        taught = np.zeros((len(owners), len(EMOTIONS)), np.float32)
        for index in range(PARTS):
            weight, bias = fit(teacher, rows[part != index])
            held = rows[part == index]
            logits = teacher.inputs[held] @ weight + bias + examples.targets.mask[owners[held]]
            taught[held] = torch.softmax(torch.from_numpy(logits), 1).numpy()
        return fit(examples, rows, taught=taught, trust=trust)

    return own_fit


def tuned_trunk() -> Trunk:
    """Weights of the shipped graph of models/standard, which are int8. The tuning left the convolutions as they were."""
    graph = onnx.load(settings.weights("trunk")).graph
    constants = {one.name: numpy_helper.to_array(one) for one in graph.initializer}
    by_input = {name: node for node in graph.node for name in node.input}
    trunk = Trunk().load_whisper(read_whisper_tiny())

    def linear(node: onnx.NodeProto) -> tuple[torch.Tensor, torch.Tensor]:
        scaled = by_input[by_input[node.output[0]].output[0]]  # after the cast
        step = next(one for one in graph.node if one.output[0] == scaled.input[1])
        bias = constants[by_input[scaled.output[0]].input[1]]
        return torch.from_numpy((constants[node.input[1]] * constants[step.input[1]]).T), torch.from_numpy(bias.copy())

    products = [linear(node) for node in graph.node if node.op_type == "MatMulInteger"][2:]
    norms = [node for node in graph.node if node.op_type == "LayerNormalization"]
    with torch.no_grad():
        for index, layer in enumerate(trunk.layers):
            q, k, v, *others = products[6 * index : 6 * index + 6]
            found = [tuple(map(torch.cat, zip(q, k, v))), *others]
            for module, (weight, bias) in zip((layer.qkv, layer.attention_out, layer.ffn_in, layer.ffn_out), found):
                module.weight.copy_(weight)
                module.bias.copy_(bias)
            for module, node in zip((layer.attention_norm, layer.ffn_norm), norms[2 * index :]):
                module.weight.copy_(torch.from_numpy(constants[node.input[1]].copy()))
                module.bias.copy_(torch.from_numpy(constants[node.input[2]].copy()))
    return trunk


def between(factor: float) -> Encoder:
    """`factor`: share of the tuned weights"""

    def write(g: Graph, features: str) -> list[str]:
        trunk, tuned = Trunk().load_whisper(read_whisper_tiny()), tuned_trunk().state_dict()
        trunk.load_state_dict({name: value.lerp(tuned[name], factor) for name, value in trunk.state_dict().items()})
        return trunk_graph.write_layers(g, features, trunk.eval())

    layers = frozen.TINY.layers
    weights = cache.digest([cache.file_hash(settings.weights("trunk")), cache.code_hash(sys.modules[__name__])])
    return Encoder(f"{factor:g} of the tuning", layers, write, "features", log_mel.of_corpora, SILENCE, weights=weights)


def run() -> None:
    windows, targets = embeddings.load_windows(None), emotion.targets_of(read_clips())
    found = results.source_of(settings.MODELS) | {section: {"rows": {}, "known": {}} for section in ("heads", "teaching", "trunk")}
    examples_of = lambda layers, parts: Examples(windows, encoders.reduce(np.concatenate([layers[part] for part in parts], 1)), targets)
    layers = {(encoders.TUNED, ""): encoders.tuned_moments()} | encoders.layers_of((frozen.BASE, frozen.CAMPLUSPLUS), windows)
    teacher, student = examples_of(layers, FROZEN), examples_of(layers, [(encoders.TUNED, "")])
    together = examples_of(layers, [(encoders.TUNED, ""), *FROZEN])

    def add(section: str, row: str, examples: Examples, fit: Fit) -> None:
        encoders.measure_row(found[section], row, examples, fit)
        RESULT.write_text(json.dumps(found, indent=1) + "\n")

    for name, own in HEADS.items():
        add("heads", name, teacher, own)
    add("teaching", "labels alone", student, fit)
    for name, source in (("frozen layers", teacher), ("frozen layers and the trunk", together)):
        for trust in (0.5, 1):
            add("teaching", f"{trust:g} of the targets by heads on the {name}", student, taught_fit(source, trust))
    for factor in FACTORS:
        encoder = between(factor)
        add("trunk", encoder.name, examples_of(encoders.layers_of((encoder,), windows), [(encoder.name, "2")]), fit)
    write_page(found)


def write_page(found: dict) -> None:
    source = {key: value for key, value in found.items() if key not in ("heads", "teaching", "trunk")}
    for section, title in (("heads", "recipe"), ("teaching", "targets"), ("trunk", "weights")):
        encoders.write_page(source | found[section], f"recipes of {section}", title)
    rows = found["trunk"]["rows"]
    curves: dict[str, Callable[[str], float]] = {
        f"{RECIPE.unseen[0]}, which the trunk does not know": lambda row: rows[row][RECIPE.unseen[0]]["UAR"],
        "mean of corpora that the heads do not know": lambda row: encoders.mean(rows[row], "UAR"),
        "new speakers of known corpora": lambda row: found["trunk"]["known"][row],
        "ordinary speech: negative": lambda row: encoders.mean(rows[row], "negative"),
    }  # fmt: skip
    plots.draw_factors(FACTORS, {name: [value(row) for row in rows] for name, value in curves.items()})
