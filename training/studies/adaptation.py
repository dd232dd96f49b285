"""How much `undertone adapt` improves the scores of a corpus that the heads were not fitted on: tables in docs/results/adaptation.md.

Heads without the corpus are fitted on embeddings of the shipped trunk. The corpora of RECIPE.unseen are new to that trunk as well. Speech as
recorded, and hard speech: noisy, telephone and room copies. Draws and adaptation are by the shipped code (adaptation.ts).
"""

import csv
import json
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from training import cache, settings
from training.augment.augmented import AugmentedCopies
from training.augment.corruptions import Corruptor
from training.calibration import affine
from training.corpora.corpus import EMOTIONS, Clip
from training.corpora.recipe import RECIPE
from training.corpora.registry import is_steady, labels_key, read_clips
from training.encoder import embeddings
from training.evaluation import results
from training.export import head_graph
from training.export.manifest import update_manifest
from training.heads import emotion
from training.pipeline import calibrated_emotion
from training.reporting.tables import replace_between, table
from training.settings import SEED

PAGE = settings.RESULT_PAGES / "adaptation.md"
RESULT = settings.RESULTS / "adaptation.json"
SPEAKERS = 5  # to adapt to; the others test
HARD = {"noise-10": "noise, 10 dB SNR", "telephone": "telephone band", "room": "a room"}  # conditions of `corrupt`
HARD_SPEAKERS, HARD_CLIPS = 15, 1500
FRAMES_PER_EMBEDDING = 2
MODELS_USED = ("vad", "trunk", "emotion", "cognitive")
Labelled = list[tuple[Clip, str]]


def labelled(name: str) -> Labelled:
    clips = read_clips()
    targets = emotion.targets_of(clips)
    return [(clip, EMOTIONS[targets.label[clip.index]]) for clip in clips if clip.corpus == name and targets.label[clip.index] >= 0]


def chosen(speakers: int = SPEAKERS) -> list[str]:
    """Corpora of more speakers."""
    return [name for name in RECIPE.emotion if len({clip.speaker for clip, _ in labelled(name)}) > speakers]


def write_labels(name: str, clips: Labelled, copy: Callable[[Clip], Path] = lambda clip: settings.DATA / clip.path) -> Path:
    path = settings.CACHE / f"adaptation-{name}.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", "speaker"])
        writer.writerows([copy(clip), label, clip.speaker] for clip, label in clips)
    return path


def models_without(name: str) -> Path:
    """A copy of the shipped models with an emotion head that was neither fitted nor calibrated on the corpus."""
    copies = AugmentedCopies()
    inputs = {
        "name": name,
        "labels": labels_key(read_clips()),
        "copies": copies.folder.name,
        "models": [cache.file_hash(path) for kind in MODELS_USED for path in sorted((settings.MODELS / kind).glob("*.*"))],
        "code": cache.code_hash(affine, emotion, head_graph, calibrated_emotion),
    }

    def make(folder: Path) -> None:
        store = embeddings.load(settings.weights("trunk"), FRAMES_PER_EMBEDDING, copies)
        found = calibrated_emotion(store, name)
        shutil.copytree(settings.MODELS, folder, dirs_exist_ok=True)
        head_graph.write_emotion(found.model.heads, found.calibration.scale, found.model.distance, folder / "emotion" / "weights.onnx")
        update_manifest(folder / "emotion", found.calibration.params())

    return cache.build("without", inputs, make)


def measure(name: str, labels: Path, models: Path, speakers: int) -> dict:
    """By adaptation.ts; scores are kept in the cache."""
    scores = settings.CACHE / f"adaptation-{models.name}-{name}"
    command = ["node", "--import", "tsx", "training/studies/adaptation.ts", str(labels), str(models), str(scores), str(speakers)]
    run = subprocess.run(command, cwd=settings.REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    found = json.loads(run.stdout)
    print(name, found, flush=True)
    return found


def measure_hard(name: str, condition: str, corruptor: Corruptor, models: Path) -> dict:
    clips = labelled(name)
    few = [clips[place] for place in np.random.default_rng(SEED).permutation(len(clips))[:HARD_CLIPS]]
    labels = write_labels(f"{name}-{condition}", few, lambda clip: corruptor.copy(clip, condition))
    return measure(f"{name}-{condition}", labels, models, HARD_SPEAKERS)


def run() -> None:
    names = [*chosen(HARD_SPEAKERS), *RECIPE.unseen]
    models = {name: models_without(name) for name in names}
    corruptor = Corruptor([clip for clip in read_clips() if is_steady(clip) and clip.tested])
    with ThreadPoolExecutor(settings.THREADS) as pool:
        plain = {name: pool.submit(measure, name, write_labels(name, labelled(name)), models[name], SPEAKERS) for name in models}
        hard = {(name, condition): pool.submit(measure_hard, name, condition, corruptor, models[name])
                for name in chosen(HARD_SPEAKERS) for condition in HARD}  # fmt: skip
    found = {
        "sources": {settings.RECIPE: results.source_of(settings.MODELS)},
        "corpora": {name: one.result() for name, one in plain.items()},
        "hard": [{"corpus": name, "condition": condition} | one.result() for (name, condition), one in hard.items()],
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n")
    write_page(found)


def row_of(first: list, one: dict) -> list:
    before, after, chance = one["calibration_50"]
    low, high = one["gain_200"]
    return [*first, f"{one['before_200']:.2f}", f"{one['after_200']:.2f}", f"{low:+.2f} to {high:+.2f}", f"{one['accepted_200']:.2f}",
            f"{one['worse_200']:.2f}", f"{before:.3f}", f"{after:.3f}", f"{chance:.3f}", f"{one['shuffled']:.3f}"]  # fmt: skip


def write_page(found: dict) -> None:
    titles = ["speakers", "UAR before", "after, 200 recordings", "80 % of the draws", "accepted", "worse", "calibration error before",
              "after, 50 recordings", "by chance", "accepted, shuffled labels"]  # fmt: skip
    source = results.describe_sources(found["sources"])
    plain, hard = found["corpora"], found["hard"]
    rows = [row_of([name, one["speakers"]], one) for name, one in plain.items()]
    mean = {key: np.mean([one[key] for one in plain.values()], 0) for key in next(iter(plain.values()))}
    replace_between(PAGE, "adaptation", f"{source}\n\n{table(['corpus', *titles], [*rows, row_of(['mean', ''], mean)])}")
    rows = [row_of([one["corpus"], HARD[one["condition"]], one["speakers"]], one) for one in hard]
    replace_between(PAGE, "adaptation of hard speech", f"{source}\n\n{table(['corpus', 'copies', *titles], rows)}")
