"""What labels gain from what else the speaker says: calls drawn from acted corpora that the heads have not read."""

from collections.abc import Iterator
from functools import cache

import numpy as np

from training import pipeline, settings
from training.calibration.speaker_labels import NOTHING, Fitting, Rule, by_speaker, fitting_of, logs_of
from training.calibration.strangers import Answers, Recordings, acted_groups, corpora_groups
from training.corpora.recipe import RESEARCH, SOLD
from training.evaluation.statistics import uar
from training.export.specs import STANDARD
from training.reporting.tables import replace_between, table

PAGE = settings.RESULT_PAGES / "studies.md"
ORDINARY = ("MSC", "AsteriskPrompts")  # of several clips per speaker, which no prior was fitted on
SHARES = (0.2, 0.5, 0.8, 0.95)  # of neutral utterances
COUNTS = (4, 10, 40)  # utterances of a call
DRAWN = 1600  # utterances of each corpus, share and count
FEWEST = 3  # clips of a speaker: neutral, and not
RULES = (
    NOTHING,
    *(Rule(f"mean, {shrink} utterances as the prior", shrink, weighs=False) for shrink in (2, 5)),
    *(Rule(f"mean of what is probably neutral, {shrink} as the prior", shrink) for shrink in (2, 5)),
    Rule("the same, 2 as the prior, of what came before alone", 2, causal=True),
)
Calls = list[tuple[str, np.ndarray, np.ndarray]]  # corpus, log probabilities [n,labels], labels [n]


def draw(rng: np.random.Generator, rows: np.ndarray, label: np.ndarray, count: int, share: float) -> np.ndarray:
    """Rows of a call: neutral ones, and of each other label alike"""
    neutral = SOLD.labels.index("neutral")
    others = rows[(label[rows] >= 0) & (label[rows] != neutral)]
    calm = rng.binomial(count, share)
    moved = [rng.choice(others[label[others] == wanted]) for wanted in rng.choice(np.unique(label[others]), count - calm)]
    return rng.permutation(np.concatenate([rng.choice(rows[label[rows] == neutral], calm), moved]).astype(int))


def draw_calls(rng: np.random.Generator, speakers: dict[str, list[np.ndarray]], label: np.ndarray, count: int, share: float) -> Iterator[tuple[str, np.ndarray]]:
    for corpus, rows in speakers.items():
        for own in rows:
            for _ in range(max(4, DRAWN // count // len(rows))):
                yield corpus, draw(rng, own, label, count, share)


@cache
def collect() -> tuple[Fitting, dict[tuple[int, float], Calls], list[np.ndarray]]:
    """What the prior is fitted on, calls by count and share, and speakers of other ordinary speech"""
    clips = pipeline.read_clips()
    fits = pipeline.fits_of(STANDARD, frozenset(clip.index for clip in clips if clip.tested))
    scale = pipeline.scale_of(STANDARD)
    store = fits.store

    def left_out(groups: list[list[str]]) -> Recordings:
        return Recordings.of(fits.without_each(corpora_groups(groups, clips), whole=False).answers(store), store, scale)

    calm = {clip.index for clip in clips if clip.corpus == SOLD.clarity}
    head = fits.head(calm, whole=False)
    strangers = np.array([clip.corpus not in SOLD.labelled or clip.index in calm for clip in clips])
    found = Recordings.of(Answers.of(head, store, np.flatnonzero(strangers[store.clips])), store, scale)
    fitting = fitting_of(left_out(acted_groups(SOLD)), found, clips, SOLD)
    logs = logs_of(found.probabilities)
    label = np.array([SOLD.labels.index(clips[i].emotion) if clips[i].emotion in SOLD.labels else -1 for i in found.clips])
    neutral = label == SOLD.labels.index("neutral")
    speakers = {
        name: [rows for rows in by_speaker(found, clips, (name,)) if min(neutral[rows].sum(), (label[rows] >= 0).sum() - neutral[rows].sum()) >= FEWEST]
        for name in RESEARCH.emotion
        if name not in SOLD.labelled
    }
    rng = np.random.default_rng(settings.SEED)
    calls = {
        (count, share): [(corpus, logs[rows], label[rows]) for corpus, rows in draw_calls(rng, speakers, label, count, share)]
        for count in COUNTS
        for share in SHARES
    }
    return fitting, calls, [logs[rows] for rows in by_speaker(found, clips, ORDINARY) if len(rows) >= FEWEST]


def recall(rule: Rule, prior: np.ndarray, plain: np.ndarray, calls: Calls) -> float:
    """Mean UAR of the corpora"""
    of_corpus: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    for corpus, logs, label in calls:
        of_corpus.setdefault(corpus, []).append((label, rule(logs, prior, plain).argmax(1)))
    return float(np.mean([uar(*map(np.concatenate, zip(*pairs))) for pairs in of_corpus.values()]))


def run() -> None:
    fitting, calls, others = collect()
    rows = []
    for rule in RULES:
        shift = fitting.shift_of(rule)
        recalls = [f"{recall(rule, fitting.prior(shift), fitting.plain, drawn):.3f}" for drawn in calls.values()]
        rows.append([rule.title, *recalls, f"{fitting.negative(rule, shift, others):.3f}"])
        print(rows[-1], flush=True)
    titles = [f"{count}; {share:g}" for count, share in calls]
    replace_between(PAGE, "speaker-mean", table(["removed", *titles, "other ordinary speech, negative"], rows))
