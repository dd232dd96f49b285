"""What labels gain from what else the speaker says: calls drawn from acted corpora that the heads have not read."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from training import pipeline, settings
from training.calibration.speaker_labels import FIRST, NOTHING, SHIPPED, Fitting, Rule, by_speaker, fitting_of, logs_of
from training.calibration.strangers import Answers, Recordings, acted_groups
from training.corpora.recipe import RESEARCH, SOLD
from training.corpora.registry import read_clips
from training.evaluation.statistics import uar
from training.export.specs import STANDARD
from training.reporting.tables import replace_between, table

PAGE = settings.RESULT_PAGES / "studies.md"
SHARES = (0.2, 0.5, 0.8)  # of neutral utterances
COUNTS = (10, 20, 40)  # utterances of a call
DRAWS = 40  # calls of each speaker
RULES = (
    NOTHING,
    SHIPPED,
    *(Rule(f"the same, {shrink:g} as the prior", shrink) for shrink in (1, 5)),
    replace(SHIPPED, title="the same, 2 as the prior, with what follows", causal=False),
    Rule("mean of all, 2 as the prior", weighs=False),
)
NEUTRAL = SOLD.labels.index("neutral")


@dataclass(frozen=True)
class Call:
    corpus: str
    logs: np.ndarray  # [n,labels] log probabilities
    label: np.ndarray  # [n]


def draw(rng: np.random.Generator, rows: np.ndarray, label: np.ndarray, count: int, share: float) -> np.ndarray | None:
    """Rows of a call, each once: neutral ones, and others by chance. None of a speaker with too few clips"""
    calm = rng.binomial(count, share)
    neutral, others = rows[label[rows] == NEUTRAL], rows[(label[rows] >= 0) & (label[rows] != NEUTRAL)]
    if len(neutral) < max(1, calm) or len(others) < count - calm:
        return None
    return rng.permutation(np.concatenate([rng.choice(neutral, calm, replace=False), rng.choice(others, count - calm, replace=False)]))


def draw_calls(logs: np.ndarray, label: np.ndarray, speakers: dict[str, list[np.ndarray]], count: int, share: float) -> Iterator[Call]:
    rng = np.random.default_rng(settings.SEED)
    for corpus, rows in speakers.items():
        for spoken in rows:
            for _ in range(DRAWS):
                drawn = draw(rng, spoken, label, count, share)
                if drawn is not None:
                    yield Call(corpus, logs[drawn], label[drawn])


@dataclass(frozen=True)
class Study:
    fitting: Fitting  # of half of the ordinary speakers
    judging: Fitting  # of the others
    calls: dict[tuple[int, float], list[Call]]
    known: dict[tuple[int, float], list[Call]]  # of corpora of the recipe, by heads that lack them


def collect() -> Study:
    clips = read_clips()
    fits = pipeline.fits_of(STANDARD, frozenset(clip.index for clip in clips if clip.tested))
    store, scale = fits.store, pipeline.scale_of(STANDARD)
    acted = Recordings.of(fits.of_strangers(acted_groups(SOLD)), store, scale)
    calm = {clip.index for clip in clips if clip.corpus == SOLD.clarity}
    strangers = np.array([clip.corpus not in SOLD.labelled or clip.index in calm for clip in clips])
    found = Recordings.of(Answers.of(fits.head(calm, whole=False), store, np.flatnonzero(strangers[store.clips])), store, scale)
    whole = fitting_of(acted, found, clips, SOLD)

    def calls_of(recordings: Recordings, corpora: list[str]) -> dict[tuple[int, float], list[Call]]:
        names = [clips[i].emotion for i in recordings.clips]
        label = np.array([SOLD.labels.index(name) if name in SOLD.labels else -1 for name in names])
        speakers = {name: by_speaker(recordings, clips, (name,)) for name in corpora}
        logs = logs_of(recordings.probabilities)
        return {(count, share): list(draw_calls(logs, label, speakers, count, share)) for count in COUNTS for share in SHARES}

    halves = (replace(whole, ordinary=whole.ordinary[place::2]) for place in range(2))
    return Study(*halves, calls_of(found, [name for name in RESEARCH.emotion if name not in SOLD.labelled]), calls_of(acted, list(SOLD.emotion)))


def recall(rule: Rule, fitting: Fitting, shift: float, calls: list[Call]) -> float:
    """Mean UAR of the corpora, of utterances after the first of a call"""
    of_corpus: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for call in calls:
        moved = rule(call.logs, fitting.prior(shift), fitting.plain)
        of_corpus.setdefault(call.corpus, []).append((call.label[FIRST:], moved[FIRST:].argmax(1)))
    return float(np.mean([uar(*map(np.concatenate, zip(*pairs))) for pairs in of_corpus.values()]))


def run() -> None:
    study = collect()
    rows = []
    for rule in RULES:
        shift = study.fitting.shift_of(rule)
        strangers = [recall(rule, study.fitting, shift, calls) for calls in study.calls.values()]
        known = np.mean([recall(rule, study.fitting, shift, calls) for calls in study.known.values() if calls])
        rows.append([rule.title, *(f"{value:.3f}" for value in (*strangers, known, study.judging.emotional(rule, shift).mean()))])
        print(rows[-1], flush=True)
    corpora = {key: len({call.corpus for call in calls}) for key, calls in study.calls.items()}
    titles = [f"{count}; {share:g} ({corpora[count, share]})" for count, share in study.calls]
    last = ["corpora of the recipe, left out", "ordinary speech, not neutral"]
    replace_between(PAGE, "speaker-mean", table(["removed", *titles, *last], rows))
