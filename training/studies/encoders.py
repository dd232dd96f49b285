"""Linear heads on frozen layers of encoders, on corpora that the heads were not fitted on: tables in docs/results/studies.md.

Each acted corpus is left out in turn. No clip of the test part counts. Heads are fitted on the other clips of the train part, utterance by
utterance; a clip is the mean of its utterances, weighted by speech. Heads that know every corpus are measured on speakers of the parts dev and
calibration. The trunk of models/standard was fine-tuned on all of these corpora but RECIPE.unseen, and on these speakers.

The command encoders compares the layers of several encoders. The command recipes asks what makes heads and the tuned trunk generalise. Heads:
recipes on the frozen layers of Whisper-base and CAM++, which no corpus has changed. Teaching: heads on the trunk of models/standard whose
targets are those that heads on the frozen layers predict. Trunk: weights between those of Whisper-tiny.en and the tuned ones (WiSE-FT:
Wortsman et al. 2022, *Robust fine-tuning of zero-shot models*).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from training import cache, settings
from training.corpora.corpus import EMOTIONS, NEGATIVE, Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.encoder import embeddings, frozen
from training.encoder.embeddings import WindowStore
from training.encoder.frozen import Encoder
from training.encoder.trunk import Trunk, read_whisper_tiny
from training.evaluation import results
from training.evaluation.recordings import SURE
from training.evaluation.statistics import uar
from training.export import trunk_graph
from training.export.graph import Graph
from training.heads import emotion
from training.heads.fit import mean_per_clip, minimize
from training.reporting import plots
from training.reporting.tables import replace_between, table
from training.settings import SEED

PAGE = settings.RESULT_PAGES / "studies.md"
RESULT = settings.RESULTS / "encoders.json"
TUNED = "trunk of `models/standard`, fine-tuned"
BASE = [("whisper-base", layer) for layer in "123"]
CAMPLUSPLUS = [("CAM++", block) for block in "12"]
# Name of each row -> layers of encoders.
ROWS = {
    TUNED: [(TUNED, "")],
    "Whisper-tiny.en, layer 2": [("whisper-tiny", "2")],
    "Whisper-base, layers 1 to 3": BASE,
    "CAM++, block 1": CAMPLUSPLUS[:1],
    "CAM++, blocks 1 and 2": CAMPLUSPLUS,
    "Whisper-base, layer 3, and CAM++, blocks 1 and 2": [*BASE[2:], *CAMPLUSPLUS],
    "Whisper-base, layers 1 to 3, and CAM++, blocks 1 and 2": [*BASE, *CAMPLUSPLUS],
    "the tuned trunk, and CAM++, blocks 1 and 2": [(TUNED, ""), *CAMPLUSPLUS],
    "the tuned trunk, Whisper-base, layers 1 to 3, and CAM++, blocks 1 and 2": [(TUNED, ""), *BASE, *CAMPLUSPLUS],
}
DIRECTIONS = 1000  # of largest variance: the others hold under a tenth of it
DECAY = 0.1
ROUNDS = 40
FIGURES = ("UAR", "UAR, means of speakers removed", "negative", "negative, sure")
KNOWN = "UAR, new speakers of known corpora"
RECIPES_RESULT = settings.RESULTS / "recipes.json"
FROZEN_LAYERS = [*BASE, *CAMPLUSPLUS]
FACTORS = (0.0, 0.25, 0.5, 0.75, 1.0)  # share of the tuned weights
TEACHER_PARTS = 3  # of the speakers: each learns from targets that the others' heads predict
BETA = 0.4  # of mixup
NUISANCE = 3.0  # value of the input that marks a corpus: above 1, so that its bias is penalised less


@dataclass(frozen=True)
class Examples:
    """Rows of the utterances: inputs [n,D], and what heads learn from them."""

    windows: WindowStore
    inputs: np.ndarray
    targets: emotion.Targets

    def clips_of(self, rows: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """-> clip indices, probabilities [clips,8]"""
        logits = torch.from_numpy(self.inputs[rows] @ weight + bias)
        return mean_per_clip(self.windows.clips[rows], self.windows.speech_frames[rows], torch.softmax(logits, 1).numpy())


def reduce(moments: np.ndarray) -> np.ndarray:
    """Standardised, on the directions of largest variance over all recordings: [n,D] -> float32 [n, at most DIRECTIONS]"""
    inputs = moments.astype(np.float32)
    inputs = (inputs - inputs.mean(0)) / (inputs.std(0) + 1e-4)
    if inputs.shape[1] <= DIRECTIONS:
        return inputs
    _, vectors = np.linalg.eigh((inputs.T @ inputs / len(inputs)).astype(float))
    return inputs @ vectors[:, -DIRECTIONS:].astype(np.float32)


def shares_of(clips: list[Clip], labels: np.ndarray) -> np.ndarray:
    """[n] each -> weight of each row in the loss, mean 1"""
    return emotion.label_shares(clips, labels) * len(clips)


def fit_categories(
    inputs: np.ndarray, mask: np.ndarray, distribution: np.ndarray, share: np.ndarray, decay: float = DECAY
) -> tuple[np.ndarray, np.ndarray]:
    """One row per utterance, float32: inputs [n,D], mask and distribution [n,8], share [n] -> weight [D,8], bias [8]"""
    columns = [torch.from_numpy(values) for values in (mask, distribution, share)]
    return minimize(inputs, lambda logits: emotion.category_loss(logits, *columns), [decay] * len(EMOTIONS), ROUNDS)


def fit(examples: Examples, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    clips = read_clips()
    owners = examples.windows.clips[rows]
    targets = examples.targets
    share = shares_of([clips[i] for i in owners], targets.label[owners])
    return fit_categories(examples.inputs[rows], targets.mask[owners], targets.distribution[owners], share)


Fit = Callable[[Examples, np.ndarray], tuple[np.ndarray, np.ndarray]]  # rows to fit on -> weight [D,8], bias [8]


def recall(labels: np.ndarray, values: np.ndarray) -> float:
    """UAR over the labels that occur: labels [n], values [n,8]"""
    found = np.unique(labels)
    return uar(labels, found[values[:, found].argmax(1)])


def centred(speakers: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Logarithms of the probabilities without the mean of each speaker."""
    values = np.log(probabilities)
    for name in np.unique(speakers):
        values[speakers == name] -= values[speakers == name].mean(0)
    return values


def measure(examples: Examples, name: str, fit: Fit = fit) -> dict[str, float]:
    """`name`: the corpus that is left out"""
    clips = read_clips()
    targets = examples.targets
    owners = examples.windows.clips
    labelled = targets.label_weight[owners] > 0
    corpora = np.array([clips[i].corpus for i in owners])
    held = np.array([clips[i].held_out for i in owners])
    ordinary = np.array([clips[i].definition.ordinary for i in owners])
    tested = np.array([clips[i].tested for i in owners])
    head = fit(examples, np.flatnonzero(labelled & ~held & (corpora != name)))
    found, probabilities = examples.clips_of(np.flatnonzero((corpora == name) & (targets.label[owners] >= 0) & ~tested), *head)
    _, neutral = examples.clips_of(np.flatnonzero(ordinary & held & ~tested), *head)
    negative = np.isin(neutral.argmax(1), NEGATIVE)
    labels = targets.label[found]
    speakers = np.array([clips[i].speaker for i in found])
    sure = negative & (neutral.max(1) >= SURE)
    values = (recall(labels, probabilities), recall(labels, centred(speakers, probabilities)), negative.mean(), sure.mean())
    return dict(zip(FIGURES, map(float, values)))


def measure_known(examples: Examples, fit: Fit = fit) -> float:
    """Mean UAR over the corpora that are trained on, of speakers of the parts dev and calibration."""
    clips = read_clips()
    targets = examples.targets
    owners = examples.windows.clips
    parts = np.array([clip.part for clip in clips])[owners]
    corpora = np.array([clip.corpus for clip in clips])[owners]
    head = fit(examples, np.flatnonzero((targets.label_weight[owners] > 0) & (parts == Part.TRAIN)))
    rows = np.isin(parts, (Part.DEV, Part.CALIBRATION)) & np.isin(corpora, RECIPE.known) & (targets.label[owners] >= 0)
    found, probabilities = examples.clips_of(np.flatnonzero(rows), *head)
    names = np.array([clips[i].corpus for i in found])
    return float(np.mean([recall(targets.label[found[names == name]], probabilities[names == name]) for name in np.unique(names)]))


def tuned_moments() -> np.ndarray:
    return embeddings.load(settings.weights("trunk"), 2, None).moments


def layers_of(encoders: tuple[frozen.Encoder, ...], windows: WindowStore) -> dict[tuple[str, str], np.ndarray]:
    """Name of an encoder and of its layer -> moments [utterances, 2 * width]"""
    layers = {}
    for encoder in encoders:
        moments = frozen.layer_moments(encoder, windows)
        at = 0
        for layer, width in encoder.layers.items():
            layers[encoder.name, layer] = moments[:, at : at + 2 * width]
            at += 2 * width
    return layers


def measure_row(found: dict, row: str, examples: Examples, fit: Fit = fit) -> None:
    """Adds a row to `rows` and `known` of `found`."""
    found["rows"][row] = {name: measure(examples, name, fit) for name in RECIPE.emotion}
    found["known"][row] = measure_known(examples, fit)
    print(row, found["known"][row], {figure: round(mean(found["rows"][row], figure), 3) for figure in FIGURES}, flush=True)


def run() -> None:
    windows = embeddings.load_windows(None)
    targets = emotion.targets_of(read_clips())
    found = results.source_of(settings.MODELS) | {"decay": DECAY, "ordinary": emotion.ORDINARY_TOTAL, "rows": {}, "known": {}}
    layers = {(TUNED, ""): tuned_moments()} | layers_of((frozen.TINY, frozen.BASE, frozen.CAMPLUSPLUS), windows)
    for row, parts in ROWS.items():
        measure_row(found, row, Examples(windows, reduce(np.concatenate([layers[part] for part in parts], 1)), targets))
        RESULT.write_text(json.dumps(found, indent=1) + "\n")
    write_page(found, "encoders", "layers")


def mean(corpora: dict[str, dict[str, float]], figure: str) -> float:
    return float(np.mean([figures[figure] for figures in corpora.values()]))


def write_page(found: dict, section: str, title: str) -> None:
    rows = []
    for row, corpora in found["rows"].items():
        means = [f"{mean(corpora, figure):.3f}" for figure in FIGURES]
        rows.append([row, *means, f"{found['known'][row]:.3f}", *(f"{one['UAR']:.2f}" for one in corpora.values())])
    text = f"{results.describe_sources({settings.RECIPE: found})}\n\n{table([title, *FIGURES, KNOWN, *RECIPE.emotion], rows)}"
    print(text)
    replace_between(PAGE, section, text)


def fit_recipe(
    examples: Examples, rows: np.ndarray, decay: float = DECAY, ordinary: float = 1, corpora: bool = False, mixed: bool = False,
    taught: np.ndarray | None = None, trust: float = 0,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """`ordinary`: factor of the weight of ordinary speech. `corpora`: each corpus has a bias of its own, which is dropped. `mixed`: mixup of
    utterances of any two corpora. `trust`: share of the targets that are `taught` [utterances,8]."""
    clips = read_clips()
    owners = examples.windows.clips[rows]
    targets = examples.targets
    own = [clips[i] for i in owners]
    share = np.where([clip.definition.ordinary for clip in own], ordinary, 1) * shares_of(own, targets.label[owners])
    mask = targets.mask[owners]
    distribution = targets.distribution[owners]
    inputs = examples.inputs[rows]
    if taught is not None:
        distribution = (1 - trust) * distribution + trust * taught[rows]
    if corpora:
        names = np.array([clip.corpus for clip in own])
        inputs = np.concatenate([inputs, NUISANCE * (names[:, None] == np.unique(names)[None])], 1, dtype=np.float32)
    if mixed:
        rng = np.random.default_rng(SEED)
        other = rng.permutation(len(rows))
        part = rng.beta(BETA, BETA, len(rows)).astype(np.float32)

        def blend(values: np.ndarray) -> np.ndarray:
            share = part.reshape(-1, *[1] * (values.ndim - 1))
            return np.concatenate([values, share * values + (1 - share) * values[other]])

        inputs = blend(inputs)
        mask = blend(mask)
        distribution = blend(distribution)
        share = blend(share)
    columns = [values.astype(np.float32) for values in (mask, distribution, share / share.mean())]
    weight, bias = fit_categories(inputs, *columns, decay)
    return weight[: examples.inputs.shape[1]], bias


HEADS: dict[str, Fit] = {
    f"decay {DECAY}": fit_recipe,
    "decay 0.03": partial(fit_recipe, decay=0.03),
    "decay 0.3": partial(fit_recipe, decay=0.3),
    "decay 1": partial(fit_recipe, decay=1),
    "half the weight of ordinary speech": partial(fit_recipe, ordinary=0.5),
    "twice the weight of ordinary speech": partial(fit_recipe, ordinary=2),
    "a bias of each corpus, dropped": partial(fit_recipe, corpora=True),
    "mixup across corpora": partial(fit_recipe, mixed=True),
    "mixup across corpora, decay 0.3": partial(fit_recipe, mixed=True, decay=0.3),
}


def taught_fit(teacher: Examples, trust: float) -> Fit:
    """Heads whose targets are in part what heads on `teacher`, fitted on other speakers of the same rows, predict."""

    def own_fit(examples: Examples, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        clips = read_clips()
        owners = examples.windows.clips
        names = np.array([f"{clips[i].corpus} {clips[i].speaker}" for i in owners[rows]])
        speakers = np.unique(names)
        place = np.random.default_rng(SEED).permutation(len(speakers))
        part = place[np.searchsorted(speakers, names)] % TEACHER_PARTS
        taught = np.zeros((len(owners), len(EMOTIONS)), np.float32)
        for index in range(TEACHER_PARTS):
            weight, bias = fit_recipe(teacher, rows[part != index])
            held = rows[part == index]
            logits = teacher.inputs[held] @ weight + bias + examples.targets.mask[owners[held]]
            taught[held] = torch.softmax(torch.from_numpy(logits), 1).numpy()
        return fit_recipe(examples, rows, taught=taught, trust=trust)

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
        trunk = Trunk().load_whisper(read_whisper_tiny())
        tuned = tuned_trunk().state_dict()
        trunk.load_state_dict({name: value.lerp(tuned[name], factor) for name, value in trunk.state_dict().items()})
        return trunk_graph.write_layers(g, features, trunk.eval())

    weights = cache.digest([cache.file_hash(settings.weights("trunk")), cache.code_hash(between)])
    return replace(frozen.TINY, name=f"{factor:g} of the tuning", write=write, weights=weights)


def run_recipes() -> None:
    windows = embeddings.load_windows(None)
    targets = emotion.targets_of(read_clips())
    found = results.source_of(settings.MODELS) | {section: {"rows": {}, "known": {}} for section in ("heads", "teaching", "trunk")}

    def examples_of(layers: dict[tuple[str, str], np.ndarray], parts: list[tuple[str, str]]) -> Examples:
        return Examples(windows, reduce(np.concatenate([layers[part] for part in parts], 1)), targets)

    layers = {(TUNED, ""): tuned_moments()} | layers_of((frozen.BASE, frozen.CAMPLUSPLUS), windows)
    teacher = examples_of(layers, FROZEN_LAYERS)
    student = examples_of(layers, [(TUNED, "")])
    together = examples_of(layers, [(TUNED, ""), *FROZEN_LAYERS])

    def add(section: str, row: str, examples: Examples, fit: Fit) -> None:
        measure_row(found[section], row, examples, fit)
        RECIPES_RESULT.write_text(json.dumps(found, indent=1) + "\n")

    for name, own in HEADS.items():
        add("heads", name, teacher, own)
    add("teaching", "labels alone", student, fit_recipe)
    for name, source in (("frozen layers", teacher), ("frozen layers and the trunk", together)):
        for trust in (0.5, 1):
            add("teaching", f"{trust:g} of the targets by heads on the {name}", student, taught_fit(source, trust))
    for factor in FACTORS:
        encoder = between(factor)
        add("trunk", encoder.name, examples_of(layers_of((encoder,), windows), [(encoder.name, "2")]), fit_recipe)
    write_recipes_page(found)


def write_recipes_page(found: dict) -> None:
    source = {key: value for key, value in found.items() if key not in ("heads", "teaching", "trunk")}
    for section, title in (("heads", "recipe"), ("teaching", "targets"), ("trunk", "weights")):
        write_page(source | found[section], f"recipes of {section}", title)
    rows = found["trunk"]["rows"]
    curves: dict[str, Callable[[str], float]] = {
        f"{RECIPE.unseen[0]}, which the trunk does not know": lambda row: rows[row][RECIPE.unseen[0]]["UAR"],
        "mean of corpora that the heads do not know": lambda row: mean(rows[row], "UAR"),
        "new speakers of known corpora": lambda row: found["trunk"]["known"][row],
        "ordinary speech: negative": lambda row: mean(rows[row], "negative"),
    }  # fmt: skip
    plots.draw_factors(FACTORS, {name: [value(row) for row in rows] for name, value in curves.items()})
