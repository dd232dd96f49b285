"""Linear heads on frozen layers of several encoders, on corpora that the heads were not fitted on: a table in docs/results/studies.md.

Each acted corpus is left out in turn. Heads are fitted on the other clips that are not of the test part, utterance by utterance; a clip is
the mean of its utterances, weighted by speech. Heads that know every corpus are measured on speakers of the parts dev and calibration. The trunk
of models/standard was fine-tuned on all of these corpora but RECIPE.unseen, and on these speakers.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from training import settings
from training.corpora.corpus import EMOTIONS, NEGATIVE, Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.encoder import embeddings, frozen
from training.encoder.embeddings import WindowStore
from training.evaluation import results
from training.evaluation.recordings import SURE
from training.evaluation.statistics import uar
from training.heads import emotion
from training.heads.fit import mean_per_clip, minimize
from training.reporting.tables import replace_between, table

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
DECAY, ROUNDS = 0.1, 40
FIGURES = ("UAR", "UAR, means of speakers removed", "negative", "negative, sure")
KNOWN = "UAR, new speakers of known corpora"


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
    clips, owners, targets = read_clips(), examples.windows.clips[rows], examples.targets
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
    clips, targets, owners = read_clips(), examples.targets, examples.windows.clips
    labelled = targets.label_weight[owners] > 0
    corpora, held = np.array([clips[i].corpus for i in owners]), np.array([clips[i].held_out for i in owners])
    ordinary = np.array([clips[i].definition.ordinary for i in owners])
    head = fit(examples, np.flatnonzero(labelled & ~held & (corpora != name)))
    found, probabilities = examples.clips_of(np.flatnonzero((corpora == name) & (targets.label[owners] >= 0)), *head)
    _, neutral = examples.clips_of(np.flatnonzero(ordinary & held), *head)
    negative, labels = np.isin(neutral.argmax(1), NEGATIVE), targets.label[found]
    speakers = np.array([clips[i].speaker for i in found])
    values = (recall(labels, probabilities), recall(labels, centred(speakers, probabilities)), negative.mean(), (negative & (neutral.max(1) >= SURE)).mean())
    return dict(zip(FIGURES, map(float, values)))


def measure_known(examples: Examples, fit: Fit = fit) -> float:
    """Mean UAR over the corpora that are trained on, of speakers of the parts dev and calibration."""
    clips, targets, owners = read_clips(), examples.targets, examples.windows.clips
    parts, corpora = (np.array(values)[owners] for values in ([clip.part for clip in clips], [clip.corpus for clip in clips]))
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
        moments, at = frozen.layer_moments(encoder, windows), 0
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
    windows, targets = embeddings.load_windows(None), emotion.targets_of(read_clips())
    found = results.source_of(settings.MODELS) | {"decay": DECAY, "ordinary": emotion.ORDINARY_TOTAL, "rows": {}, "known": {}}
    layers = {(TUNED, ""): tuned_moments()} | layers_of((frozen.TINY, frozen.BASE, frozen.CAMPLUSPLUS), windows)
    for row, parts in ROWS.items():
        measure_row(found, row, Examples(windows, reduce(np.concatenate([layers[part] for part in parts], 1)), targets))
        RESULT.write_text(json.dumps(found, indent=1) + "\n")
    write_page(found, "encoders", "layers")


def mean(corpora: dict[str, dict[str, float]], figure: str) -> float:
    return float(np.mean([figures[figure] for figures in corpora.values()]))


def write_page(found: dict, section: str, title: str) -> None:
    rows = [[row, *(f"{mean(corpora, figure):.3f}" for figure in FIGURES), f"{found['known'][row]:.3f}", *(f"{one['UAR']:.2f}" for one in corpora.values())]
            for row, corpora in found["rows"].items()]  # fmt: skip
    text = f"{results.describe_sources({settings.RECIPE: found})}\n\n{table([title, *FIGURES, KNOWN, *RECIPE.emotion], rows)}"
    print(text)
    replace_between(PAGE, section, text)
