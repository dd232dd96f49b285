"""What the emotion heads of the sets that may be sold were chosen by: corpora and speakers of their own recipe, left out, without the part test.

A row changes one thing of models/standard. Rows are kept in the cache: an interrupted run continues.
"""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from training import cache, pipeline, settings
from training.calibration import emotion as calibration
from training.calibration import strangers
from training.calibration.strangers import Answers, Fits, Recordings, acted_groups, corpora_groups, ordinary_groups, speakers_groups
from training.corpora.corpus import EMOTIONS
from training.corpora.recipe import SOLD
from training.corpora.registry import read_clips
from training.encoder.encoders import CAMPLUSPLUS, WHISPER
from training.evaluation.statistics import best_present, uar
from training.export.specs import LARGE, STANDARD
from training.heads import emotion, linear
from training.heads.emotion import CategoryParams, Targets
from training.reporting.tables import replace_between, table

PAGE = settings.RESULT_PAGES / "studies.md"
TITLES = ["", "mean UAR, corpora left out", *SOLD.emotion, "mean UAR, speakers left out", "ordinary corpora left out, negative"]
FEW = 2  # of the folds of speakers, and of the groups of ordinary corpora


def with_votes(share: float) -> Callable[[Fits], Fits]:
    """Part of the targets of CREMA-D: the votes of listeners."""
    kept = [EMOTIONS.index(name) for name in SOLD.labels]

    def change(fits: Fits) -> Fits:
        distribution = fits.targets.distribution.copy()
        for clip in fits.clips:
            if clip.votes is not None:
                distribution[clip.index] += share * (np.array(clip.distribution)[kept] - distribution[clip.index])
        return replace(fits, targets=replace(fits.targets, distribution=distribution))

    return change


def with_deviations(fits: Fits) -> Fits:
    """In addition to the means."""
    store = fits.store
    return replace(fits, store=replace(store, means=np.concatenate([store.means, store.deviations], 1)))


def of_layers(*layers: str) -> Callable[[Fits], Fits]:
    return lambda fits: replace(fits, store=pipeline.load_utterances(replace(STANDARD, layers=layers)))


def with_params(**changes: float) -> Callable[[Fits], Fits]:
    return lambda fits: replace(fits, params=CategoryParams(**changes))


CHOICES: dict[str, Callable[[Fits], Fits]] = {
    "`standard`": lambda fits: fits,
    "votes of listeners as half of the targets of CREMA-D": with_votes(0.5),
    "votes of listeners as targets of CREMA-D": with_votes(1),
    "means and deviations": with_deviations,
    **{f"decay {decay:g}": with_params(decay=decay) for decay in (0.001, 0.003, 0.03, 0.1)},
    **{f"ordinary speech {weight:g} times as heavy as acted": with_params(ordinary_weight=weight) for weight in (0.1, 0.25, 1, 2)},
    **{name: of_layers(name) for name in (*CAMPLUSPLUS, WHISPER[0], WHISPER[2])},
    "Whisper-base 1 to 3": of_layers(*WHISPER),
    "all five layers (`large`)": of_layers(*LARGE.layers),
}


def recalls(answers: Answers, fits: Fits, label: np.ndarray) -> list[float]:
    """UAR of each acted corpus, over its labels."""
    found = Recordings.of(answers, fits.store)
    corpora = np.array([fits.clips[i].corpus for i in found.clips])
    truth = label[found.clips]
    acted = truth >= 0
    best = best_present(found.probabilities[acted], truth[acted], corpora[acted])
    return [uar(truth[acted][own], best[own]) for own in (corpora[acted] == name for name in SOLD.emotion)]


def measure(fits: Fits, targets: Targets) -> list[float]:
    """`targets`: those of all rows, which judge"""

    def answers(groups: strangers.Groups) -> Answers:
        return fits.without_each(groups, whole=False).answers(fits.store)

    unknown = recalls(answers(corpora_groups(acted_groups(SOLD), fits.clips)), fits, targets.label)
    known = recalls(answers(speakers_groups(fits.clips, SOLD)[:FEW]), fits, targets.label)
    ordinary = Recordings.of(answers(corpora_groups(ordinary_groups(SOLD)[:FEW], fits.clips)), fits.store)
    negative = calibration.is_negative(ordinary, SOLD.labels).mean()
    return [float(np.mean(unknown)), *unknown, float(np.mean(known)), float(negative)]


def run() -> None:
    clips = read_clips()
    tested = frozenset(clip.index for clip in clips if clip.tested)
    base = Fits(pipeline.load_utterances(STANDARD), emotion.targets_of(clips, SOLD), clips, SOLD, tested)
    trunk = cache.file_hash(settings.weights("trunk", pipeline.folder_of(LARGE)))
    code = cache.code_hash(emotion, linear, strangers, measure, with_votes, with_deviations)
    rows = []
    for title, change in CHOICES.items():

        def make(folder: Path, change: Callable[[Fits], Fits] = change) -> None:
            (folder / "row.json").write_text(json.dumps(measure(change(base), base.targets)))

        folder = cache.build("choice", {"title": title, "trunk": trunk, "code": code}, make)
        rows.append([title, *(f"{value:.3f}" for value in json.loads((folder / "row.json").read_text()))])
        print(rows[-1], flush=True)
    replace_between(PAGE, "choices", table(TITLES, rows))
