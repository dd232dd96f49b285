"""How much `undertone adapt` improves the scores of a corpus that the heads were not fitted on: a table in docs/results/adaptation.md.

Heads without the corpus are fitted on embeddings of the shipped trunk. The corpora of RECIPE.unseen are new to that trunk as
well, and every corpus but those of its recipe is new to models/open. Draws and adaptation are by the shipped code (adaptation.ts).
"""

import csv
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np

from training import settings
from training.augment.augmented import AugmentedCopies
from training.corpora.corpus import EMOTIONS, Clip
from training.corpora.recipe import OPEN, RECIPE
from training.corpora.registry import read_clips
from training.encoder import embeddings
from training.evaluation import results
from training.evaluation.reports import scoring
from training.export.head_graph import write_emotion
from training.export.manifest import update_manifest
from training.heads import emotion
from training.pipeline import calibrated_emotion
from training.reporting.tables import replace_between, table

PAGE = settings.RESULT_PAGES / "adaptation.md"
RESULT = settings.RESULTS / "adaptation.json"
MIN_SPEAKERS = 6  # five to adapt to, one or more to test on
FRAMES_PER_EMBEDDING = 2


def labelled(name: str) -> list[tuple[Clip, str]]:
    clips = read_clips()
    targets = emotion.targets_of(clips)
    return [(clip, EMOTIONS[targets.label[clip.index]]) for clip in clips if clip.corpus == name and targets.label[clip.index] >= 0]


def chosen() -> list[str]:
    return [name for name in RECIPE.emotion if len({clip.speaker for clip, _ in labelled(name)}) >= MIN_SPEAKERS]


def write_labels(name: str) -> Path:
    path = settings.CACHE / f"adaptation-{name}.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "label", "speaker"])
        writer.writerows([settings.DATA / clip.path, label, clip.speaker] for clip, label in labelled(name))
    return path


def models_without(name: str) -> Path:
    """A copy of the shipped models with an emotion head that was neither fitted nor calibrated on the corpus."""
    folder = settings.CACHE / "models" / f"without-{name}"
    if (folder / "emotion" / "manifest.json").exists():
        return folder
    store = embeddings.load(settings.weights("trunk"), FRAMES_PER_EMBEDDING, AugmentedCopies())
    found = calibrated_emotion(store, lambda clip: clip.refitted and clip.corpus != name)
    shutil.copytree(settings.MODELS, folder, dirs_exist_ok=True)
    write_emotion(found.model.heads, found.calibration.scale, found.model.distance, folder / "emotion" / "weights.onnx")
    update_manifest(folder / "emotion", found.calibration.params())
    return folder


def measure(name: str, models: Path) -> dict:
    """By adaptation.ts; scores are kept in the cache."""
    scores = settings.CACHE / f"adaptation-{models.name}-{name}"
    command = ["node", "--import", "tsx", "training/studies/adaptation.ts", str(write_labels(name)), str(models), str(scores)]
    run = subprocess.run(command, cwd=settings.REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(run.stdout)


def run() -> None:
    open_models = settings.MODELS.with_name("open")
    found = {"sources": {folder.name: results.source_of(folder) for folder in (settings.MODELS, open_models)}, "corpora": {}}
    for name in chosen():
        sets = {"heads": settings.MODELS if name in RECIPE.unseen else models_without(name)}
        if name not in OPEN.labelled:
            sets["trunk and heads"] = scoring(open_models)
        for new, models in sets.items():
            if (models / "emotion").exists():
                own = found["corpora"].setdefault(name, {})
                own[new] = measure(name, models)
                RESULT.write_text(json.dumps(found, indent=1) + "\n")
                print(name, new, own[new], flush=True)
    write_page(found)


def write_page(found: dict) -> None:
    rows = []
    for new in ("heads", "trunk and heads"):
        corpora = {name: sets[new] for name, sets in found["corpora"].items() if new in sets}
        if not corpora:
            continue
        mean = {key: np.mean([one[key] for one in corpora.values()], 0) for key in next(iter(corpora.values())) if key != "speakers"}
        for name, one in [*corpora.items(), ("mean", mean)]:
            before, after, chance = one["calibration_50"]
            low, high = one["gain_200"]
            rows.append([name, new, one.get("speakers", ""), f"{one['before_200']:.2f}", f"{one['after_200']:.2f}", f"{low:+.2f} to {high:+.2f}",
                         f"{before:.3f}", f"{after:.3f}", f"{chance:.3f}", f"{one['shuffled']:.3f}"])  # fmt: skip
    titles = ["corpus", "it is new to", "speakers", "UAR before", "after, 200 recordings", "80 % of the draws", "calibration error before",
              "after, 50 recordings", "by chance", "accepted, shuffled labels"]  # fmt: skip
    text = f"{results.describe_sources(found['sources'])}\n\n{table(titles, rows)}"
    print(text)
    replace_between(PAGE, "adaptation", text)
