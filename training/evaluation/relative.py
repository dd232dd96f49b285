"""What a baseline of the same speaker is worth for emotion: a table in docs/results/calls.md.

Heads are fitted without a fourth of the speakers at a time, who are then judged. The trunks were fine-tuned on most of them.
"""

import json
from collections.abc import Callable

import numpy as np

from training import pipeline, settings
from training.calibration.intervals import is_at_rest
from training.corpora.corpus import DIMENSIONS, EMOTIONS
from training.corpora.recipe import RECIPE
from training.corpora.registry import read_clips
from training.evaluation import results
from training.evaluation.statistics import sigmoid, uar
from training.heads import emotion
from training.reporting.tables import replace_between, table

PAGE = settings.RESULT_PAGES / "calls.md"
RESULT = settings.RESULTS / "relative.json"
ACTED = "RAVDESS"  # it has two intensities
FOLDS = 4
LOW = ("calm",)  # strong, but less aroused than neutral
WEIGHTS = (0.25, 0.5, 1)  # of a speaker's own neutral logits
SETS: dict[str, Callable[[], pipeline.ModelSet]] = {"standard": pipeline.standard, "fast": pipeline.fast, "large": pipeline.large}  # shipped
Scores = dict[int, np.ndarray]  # clip index -> outputs of the heads [10]


def left_out_scores(models: pipeline.ModelSet, corpus: str) -> Scores:
    clips = read_clips()
    store = pipeline.load_embeddings(models)
    targets = emotion.targets_of(clips)
    found = {}
    speakers = sorted({clip.speaker for clip in clips if clip.corpus == corpus})
    for fold in range(FOLDS):
        held = {(corpus, speaker) for speaker in speakers[fold::FOLDS]}
        model = pipeline.fit_emotion(store, targets, lambda clip: pipeline.is_fitted(clip) and (clip.corpus, clip.speaker) not in held)
        rows = pipeline.rows_of(lambda clip: (clip.corpus, clip.speaker) in held, store, np.arange(len(store.clips)))
        indices, outputs = pipeline.outputs_of(model, store, rows)
        found |= dict(zip(indices, outputs))
        print(f"{models.models.name}: {corpus}, {fold + 1} of {FOLDS} parts", flush=True)
    return found


def dimension(outputs: np.ndarray, name: str) -> np.ndarray:
    """outputs [n,>=10] -> [n]"""
    return sigmoid(outputs[:, emotion.DIMENSIONS][:, DIMENSIONS.index(name)])


def rated_figures(scores: Scores) -> dict[str, str]:
    """Changes from rest, predicted with the speaker's own rest, and with that of the other speakers."""
    known = read_clips()
    clips = [known[i] for i in scores]
    outputs = np.stack(list(scores.values()))
    speaker = np.array([clip.speaker for clip in clips])
    rest = np.array([is_at_rest(clip) for clip in clips])
    figures = {}
    for name in DIMENSIONS:
        truth = np.array([getattr(clip.dimensions, name) for clip in clips])
        raw = dimension(outputs, name)
        errors = []
        for one in np.unique(speaker):
            own = (speaker == one) & ~rest
            others = speaker != one
            # The scale of the ratings comes from the other speakers.
            predicted = (raw - raw[others].mean()) / raw[others].std() * truth[others].std() + truth[others].mean()
            change = truth[own] - np.median(truth[(speaker == one) & rest])
            centres = np.median(predicted[others & rest]), np.median(predicted[(speaker == one) & rest])
            errors.append([np.sqrt(np.mean((predicted[own] - centre - change) ** 2)) for centre in centres])
        without, beside = np.array(errors).T
        title = f"{RECIPE.rated}: error of the change of {name} from rest"
        better = f"less in {(beside < without).sum()} of {len(errors)} speakers"
        figures[f"{title}, without baselines"] = f"{without.mean():.3f}"
        figures[f"{title}, with baselines"] = f"{beside.mean():.3f}, {better}"
    return figures


def acted_figures(scores: Scores) -> dict[str, str]:
    known = read_clips()
    clips = [known[i] for i in scores]
    outputs = np.stack(list(scores.values()))
    speaker = np.array([clip.speaker for clip in clips])
    label = np.array([clip.emotion for clip in clips])
    arousal = dimension(outputs, "arousal")
    neutral = label == "neutral"
    strong = np.array(["intensity=2" in clip.row["extra"] for clip in clips])
    usual = {one: np.median(arousal[(speaker == one) & neutral]) for one in np.unique(speaker)}
    above = arousal > np.array([usual[one] for one in speaker])
    high = strong & ~np.isin(label, LOW)
    figures = {f"{ACTED}: strong clips but calm ones whose arousal is above the speaker's neutral": f"{above[high].mean():.3f}",
               f"{ACTED}: strong calm clips whose arousal is below it": f"{(~above)[strong & ~high].mean():.3f}"}  # fmt: skip
    logits = outputs[:, emotion.CATEGORIES]
    truth = np.array([EMOTIONS.index(name) for name in label])
    apart = np.zeros_like(logits)
    for one in usual:
        apart[speaker == one] = logits[(speaker == one) & neutral].mean(0) - logits[neutral].mean(0)

    def recall(weight: float) -> float:
        return uar(truth[~neutral], (logits - weight * apart)[~neutral].argmax(1))

    by_weight = ", ".join(f"{recall(weight):.3f}" for weight in WEIGHTS)
    return figures | {f"{ACTED}: UAR of the other labels": f"{recall(0):.3f}",
                      f"{ACTED}: the same less {WEIGHTS[0]}, {WEIGHTS[1]}, {WEIGHTS[2]} of the speaker's neutral logits": by_weight}  # fmt: skip


def run(names: list[str]) -> None:
    """`names`: of SETS"""
    found = json.loads(RESULT.read_text()) if RESULT.exists() else {}
    for name in names:
        models = SETS[name]()
        figures = rated_figures(left_out_scores(models, RECIPE.rated)) | acted_figures(left_out_scores(models, ACTED))
        found[name] = results.source_of(models.models) | {"figures": figures}
        RESULT.write_text(json.dumps(found, indent=1) + "\n")
    write_page({name: found[name] for name in SETS if name in found})


def write_page(found: dict) -> None:
    rows = [[figure, *(one["figures"][figure] for one in found.values())] for figure in next(iter(found.values()))["figures"]]
    text = f"{results.describe_sources(found)}\n\n{table(['figure', *found], rows)}"
    print(text)
    replace_between(PAGE, "relative", text)
