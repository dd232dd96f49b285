"""Params of the moments of a report: utterances that sound more emotional than the others of the same speaker.

They are fitted on what heads of the recipe say of speakers that they were not fitted on: sides of calls are drawn from the utterances of each
speaker, plain ones with one to three emotional ones among them. The service evaluates the same rule (src/engine/signals/moments.ts).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit, softmax

from training import settings
from training.calibration.intervals import Copies
from training.calibration.strangers import Answers
from training.corpora.corpus import EMOTIONS, Clip
from training.encoder.embeddings import Utterances
from training.evaluation.reports import CLEAN
from training.export.head_graph import EmotionScale
from training.features.spec import FRAMES_PER_SECOND

PLAIN = ("neutral", "calm")
SOUGHT = ("angry", "sad")
MIN_SPEECH_S = 1.0  # of an utterance that is compared
MIN_SOUGHT_S = 1.5  # of an utterance that is sought
MIN_UTTERANCES = 5
PRIOR_UTTERANCES = 8
CALLS = 20  # of each speaker
PLAIN_IN_CALL = (6, 12)  # utterances
SOUGHT_IN_CALL = (1, 3)  # utterances
SPEECH_SHARE = 0.8  # of the time of a speaker's side
FALSE_ALARMS = 0.15  # moments per minute without an emotional utterance
FIRST = 3  # moments of which the sought ones are to be
MIN_SPREADS = np.arange(1.5, 5.01, 0.1)  # compared
MIN_LOG_ODDS = np.arange(-1, 4.01, 0.1)  # compared
COVERAGE = 0.8
DISTURBED = ("noise-20", "noise-10", "telephone")  # conditions of copies
MAD_TO_DEVIATION = 1.4826  # of a normal distribution
MIN_PROBABILITY = 1e-4


@dataclass(frozen=True)
class Spoken:
    """Rows of utterances of labelled clips."""

    log_odds: np.ndarray  # [n] of an emotion
    valence: np.ndarray  # [n]
    arousal: np.ndarray  # [n]
    seconds: np.ndarray  # [n] of speech
    label: np.ndarray  # [n] names; empty where listeners heard another one
    speaker: np.ndarray  # [n] corpus and speaker

    def where(self, rows: np.ndarray) -> "Spoken":
        return Spoken(*(values[rows] for values in vars(self).values()))

    def by_speaker(self) -> Iterator["Spoken"]:
        for name in np.unique(self.speaker):
            yield self.where(self.speaker == name)


@dataclass(frozen=True)
class Side:
    """One speaker's utterances of a call."""

    log_odds: np.ndarray  # [n]
    sought: np.ndarray  # bool [n]
    minutes: float

    def without_sought(self) -> "Side":
        return replace(self, log_odds=self.log_odds[~self.sought], sought=self.sought[~self.sought])


def log_odds_of(probabilities: np.ndarray, labels: tuple[str, ...]) -> np.ndarray:
    """[n, labels] -> [n]"""
    plain = [labels.index(name) for name in PLAIN if name in labels]
    return logit(np.clip(1 - probabilities[:, plain].sum(1), MIN_PROBABILITY, 1 - MIN_PROBABILITY))


def usual(values: np.ndarray, prior: float) -> tuple[float, float]:
    """-> median and spread of a speaker's values; `prior` counts as PRIOR_UTTERANCES of them."""
    median = float(np.median(values))
    own = MAD_TO_DEVIATION * float(np.median(np.abs(values - median)))
    return median, float(np.sqrt((len(values) * own**2 + PRIOR_UTTERANCES * prior**2) / (len(values) + PRIOR_UTTERANCES)))


def label_of(clip: Clip) -> str:
    heard = clip.emotion is not None and EMOTIONS[int(np.argmax(clip.distribution))] == clip.emotion
    return str(clip.emotion) if heard else ""


def utterances_of(answers: Answers, scale: EmotionScale, store: Utterances, clips: list[Clip], labels: tuple[str, ...]) -> Spoken:
    """Of labelled clips, by heads that were not fitted on their speakers."""
    owners = [clips[i] for i in store.clips[answers.rows]]
    return Spoken(
        log_odds=log_odds_of(softmax(scale.logits(answers.logits), 1), labels),
        valence=scale.dimensions(answers.dimensions)[:, 0],
        arousal=scale.dimensions(answers.dimensions)[:, 1],
        seconds=store.speech_frames[answers.rows] / FRAMES_PER_SECOND,
        label=np.array([label_of(clip) for clip in owners]),
        speaker=np.array([f"{clip.corpus} {clip.speaker}" for clip in owners]),
    )


def draw_sides(found: Spoken, rng: np.random.Generator) -> list[Side]:
    """CALLS of each speaker with enough utterances."""
    sides = []
    for own in found.by_speaker():
        plain = np.flatnonzero(np.isin(own.label, PLAIN))
        sought = np.flatnonzero(np.isin(own.label, SOUGHT) & (own.seconds >= MIN_SOUGHT_S))
        if len(plain) < PLAIN_IN_CALL[0] or len(sought) < SOUGHT_IN_CALL[1]:
            continue
        for _ in range(CALLS):
            drawn = rng.choice(plain, min(len(plain), PLAIN_IN_CALL[1]), replace=False)
            emotional = rng.choice(sought, rng.integers(SOUGHT_IN_CALL[0], SOUGHT_IN_CALL[1] + 1), replace=False)
            minutes = own.seconds[drawn].sum() / SPEECH_SHARE / 60
            sides.append(Side(own.log_odds[np.append(drawn, emotional)], np.arange(len(drawn) + len(emotional)) >= len(drawn), minutes))
    return sides


def spreads_of(side: Side, prior: float) -> np.ndarray:
    median, spread = usual(side.log_odds, prior)
    return (side.log_odds - median) / spread


def found_first(side: Side, prior: float, min_spreads: float, min_log_odds: float) -> float:
    """Share of the sought utterances that are among the first moments."""
    is_moment = (spreads_of(side, prior) >= min_spreads) & (side.log_odds >= min_log_odds)
    first = np.argsort(-side.log_odds)[:FIRST]
    return float((side.sought & is_moment)[first].sum() / side.sought.sum())


def fit_bounds(sides: list[Side], prior: float) -> tuple[float, float, float]:
    """-> the bounds of spreads and of log odds that find most, with at most FALSE_ALARMS per minute of even sides; and the share that they find"""
    even = [side.without_sought() for side in sides]
    spreads = np.concatenate([spreads_of(side, prior) for side in even])
    odds = np.concatenate([side.log_odds for side in even])
    most = FALSE_ALARMS * sum(side.minutes for side in even)
    best = (0.0, 0.0, -1.0)
    for least in MIN_SPREADS:
        allowed = [bound for bound in MIN_LOG_ODDS if ((spreads >= least) & (odds >= bound)).sum() <= most]
        if allowed:
            share = float(np.mean([found_first(side, prior, least, allowed[0]) for side in sides]))
            best = max(best, (float(least), float(allowed[0]), share), key=lambda one: one[2])
    if best[2] < 0:
        raise SystemExit(f"Expected bounds with at most {FALSE_ALARMS} moments per minute of even calls, got none")
    return best


def within(values: np.ndarray, found: Spoken) -> float:
    """Spread within a speaker of the plain utterances."""
    own = [values[found.speaker == name] for name in np.unique(found.speaker)]
    apart = np.concatenate([one - np.median(one) for one in own if len(one) >= PLAIN_IN_CALL[0]])
    return round(float(np.sqrt((apart**2).mean())), 4)


def half_width(log_odds: np.ndarray, copies: Copies, rows: np.ndarray) -> float:
    """COVERAGE of the differences of log odds between a recording and its copies that are noisy or telephoned. log_odds [n] of `rows` of copies"""
    found = list(zip(copies.clips[rows].tolist(), copies.conditions[rows].tolist(), log_odds))
    plain = {clip: value for clip, condition, value in found if condition == CLEAN}
    apart = [abs(value - plain[clip]) for clip, condition, value in found if condition in DISTURBED and clip in plain]
    return round(float(np.quantile(apart, COVERAGE)), 3)


def fit(found: Spoken, labels: tuple[str, ...]) -> tuple[dict, float]:
    """-> params without the half-width, and the share of sought utterances that they find"""
    found = found.where((found.seconds >= MIN_SPEECH_S) & np.isin(found.speaker, np.unique(found.speaker[found.label != ""])))
    plain = found.where(np.isin(found.label, PLAIN))
    spreads = {"emotion": within(plain.log_odds, plain), "valence": within(plain.valence, plain), "arousal": within(plain.arousal, plain)}
    least, log_odds, share = fit_bounds(draw_sides(found, np.random.default_rng(settings.SEED)), spreads["emotion"])
    params = {"plainLabels": [name for name in PLAIN if name in labels], "minSpeechSeconds": MIN_SPEECH_S, "minUtterances": MIN_UTTERANCES,
              "minLogOdds": round(log_odds, 1), "minSpreads": round(least, 1), "spreads": spreads, "priorUtterances": PRIOR_UTTERANCES}  # fmt: skip
    return params, share
