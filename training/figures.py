"""Figures of merit of what a system heard: by corpus, language, sex and age."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass

import numpy as np

from corpus import BAVED_AROUSAL, EMOTIONAL, EMOTIONS, Clip
from heard import AXES, Heard
from scores import Score, ccc, ece, interval, pcc, share, uar

LANGUAGES = {"en": "English", "it": "Italian", "pl": "Polish", "am": "Amharic", "ko": "Korean", "ar": "Arabic"}
SEXES = {"f": "female", "m": "male"}
CHILD = 15  # years; speechocean762 tells ages
CLARITY = "speechocean762"


@dataclass(frozen=True)
class Figure:
    """`group` is whose clips; `interval` is null where there is nothing to draw from."""

    signal: str
    figure: str
    group: str
    value: float
    interval: list[float] | None
    speakers: int
    clips: int

    @property
    def key(self) -> str:
        return f"{self.signal}: {self.figure}, {self.group}"

    def record(self) -> dict:
        return asdict(self)


def sex_of(clip: Clip) -> str:
    return SEXES.get(clip.row["gender"].lower(), "not told")


def language_of(clip: Clip) -> str:
    return LANGUAGES.get(clip.row["lang"], "none")


def age_of(clip: Clip) -> int | None:
    facts = dict(part.split("=", 1) for part in clip.row["extra"].split(";") if "=" in part)
    return int(facts["age"]) if facts.get("age", "").isdigit() else None


def speaker_of(clip: Clip) -> str:
    return f"{clip.corpus} {clip.speaker}"


def figure(signal: str, what: str, group: str, score: Score, clips, truth, guess) -> list[Figure]:
    """None or one: groups of under five clips say nothing."""
    if len(clips) < 5:
        return []
    speakers = [speaker_of(clip) for clip in clips]
    bounds = interval(score, truth, guess, speakers)
    value = round(score(truth, guess), 3)
    return [Figure(signal, what, group, value, bounds, len(set(speakers)), len(clips))]


def labels_of(clips: list[Clip]) -> np.ndarray:
    return np.array([EMOTIONS.index(clip.label) for clip in clips], int)


def labels_in(clips: list[Clip]) -> dict[str, np.ndarray]:
    """Labels that each corpus has among these clips."""
    return {name: np.unique(labels_of([c for c in clips if c.corpus == name])) for name in {c.corpus for c in clips}}


def closed(heard: Heard) -> np.ndarray:
    """The likeliest of the labels that the clip's corpus has."""
    allowed = np.full((len(heard), len(EMOTIONS)), -np.inf)
    known = labels_in(heard.clips)
    for row, clip in enumerate(heard.clips):
        allowed[row, known[clip.corpus]] = 0
    return (heard.shares + allowed).argmax(1)


def calm_as_neutral(labels: np.ndarray) -> np.ndarray:
    return np.where(labels == EMOTIONS.index("calm"), EMOTIONS.index("neutral"), labels)


def groups(clips: list[Clip], of: Callable[[Clip], str]) -> list[str]:
    return sorted({of(clip) for clip in clips})


def emotion_figures(heard: Heard) -> list[Figure]:
    acted = heard.where(lambda clip: clip.corpus in EMOTIONAL)
    if len(acted) == 0 or np.isnan(acted.shares).all():
        return []
    truth, guess, opened = labels_of(acted.clips), closed(acted), acted.shares.argmax(1)
    found: list[Figure] = []

    def add(what: str, group: str, rows: np.ndarray, truth: np.ndarray, guess: np.ndarray) -> None:
        clips = [acted.clips[i] for i in rows]
        found.extend(figure("emotion", what, group, uar, clips, truth[rows], guess[rows]))

    for name in EMOTIONAL:
        rows = np.flatnonzero([clip.corpus == name for clip in acted.clips])
        if len(rows) == 0:
            continue
        add(f"UAR of its {len(np.unique(truth[rows]))} labels", name, rows, truth, guess)
        if name == "RAVDESS":
            add("UAR, calm as neutral", name, rows, calm_as_neutral(truth), calm_as_neutral(guess))
        add("UAR, all eight open", name, rows, truth, opened)
    for of in (language_of, sex_of, lambda c: f"{language_of(c)}, {sex_of(c)}"):
        for name in groups(acted.clips, of):
            rows = np.flatnonzero([of(clip) == name for clip in acted.clips])
            add("UAR of the corpus's labels", name, rows, truth, guess)
    top = acted.shares.max(1)
    right = (opened == truth).astype(float)
    found += figure("emotion", "calibration error of confidence", "all", ece, acted.clips, right, top)
    return found


def axis_figures(heard: Heard) -> list[Figure]:
    found = []
    rated = heard.where(lambda clip: clip.corpus == "TAVA")
    for axis, name in enumerate(AXES):
        for group, wanted in [("TAVA", lambda c: True), *((f"TAVA, {s}", lambda c, s=s: sex_of(c) == s) for s in SEXES.values())]:
            part = rated.where(wanted)
            truth = np.array([float(clip.row[name]) for clip in part.clips])
            found += figure("emotion", f"CCC of {name}", group, ccc, part.clips, truth, part.axes[:, axis])
    levels = heard.where(lambda clip: clip.corpus == "BAVED")
    for group, wanted in [("BAVED", lambda c: True), *((f"BAVED, {s}", lambda c, s=s: sex_of(c) == s) for s in SEXES.values())]:
        part = levels.where(wanted)
        truth = np.array([BAVED_AROUSAL[clip.label] for clip in part.clips])
        found += figure("emotion", "PCC of arousal", group, pcc, part.clips, truth, part.axes[:, 1])
    return found


def on_others_line(truth: np.ndarray, guess: np.ndarray, speakers: np.ndarray) -> np.ndarray:
    """Guesses moved to the mean and spread that the truth has on the other speakers: calibration that never met them."""
    moved = np.zeros(len(guess))
    for speaker in np.unique(speakers):
        own, others = speakers == speaker, speakers != speaker
        slope = truth[others].std() / guess[others].std()
        moved[own] = np.clip(truth[others].mean() + slope * (guess[own] - guess[others].mean()), 0, 1)
    return moved


def crossed_figures(heard: Heard) -> list[Figure]:
    """What valence and arousal reach when nothing was calibrated on the speaker."""
    rated, found = heard.where(lambda clip: clip.corpus == "TAVA"), []
    speakers = np.array([clip.speaker for clip in rated.clips])
    if heard.bounds is None or len(np.unique(speakers)) < 2:
        return []
    for axis, name in enumerate(AXES):
        truth = np.array([float(clip.row[name]) for clip in rated.clips])
        moved = on_others_line(truth, rated.axes[:, axis], speakers)
        found += figure("emotion", f"CCC of {name}, line of the other speakers", "TAVA", ccc, rated.clips, truth, moved)
    return found


def judged(clip: Clip, column: str) -> float:
    """Mean of the experts' scores, in [0, 1]."""
    if column == "mean":
        return (float(clip.row["fluency"]) + float(clip.row["prosody"])) / 20
    return float(clip.row[column]) / 10


def clarity_figures(heard: Heard) -> list[Figure]:
    scored = heard.where(lambda clip: clip.corpus == CLARITY)
    found = []
    for column, what in (("fluency", "fluency"), ("prosody", "prosody"), ("mean", "their mean")):
        truth = np.array([judged(clip, column) for clip in scored.clips])
        found += figure("cognitive", f"PCC of clarity with {what}", CLARITY, pcc, scored.clips, truth, scored.clarity)
    kinds = [(name, lambda c, name=name: sex_of(c) == name) for name in SEXES.values()]
    kinds += [("children", lambda c: (age_of(c) or 99) < CHILD), ("adults", lambda c: (age_of(c) or 0) >= CHILD)]
    for name, wanted in kinds:
        part = scored.where(wanted)
        truth = np.array([judged(clip, "mean") for clip in part.clips])
        found += figure("cognitive", "PCC of clarity with their mean", f"{CLARITY}, {name}", pcc, part.clips, truth, part.clarity)
    return found


def coverage_figures(heard: Heard) -> list[Figure]:
    if heard.bounds is None:
        return []
    found = []
    for place, (name, corpus) in enumerate([("valence", "TAVA"), ("arousal", "TAVA"), ("clarity", CLARITY)]):
        part = heard.where(lambda clip, corpus=corpus: clip.corpus == corpus)
        if len(part) == 0:
            continue
        inside, _ = covered(part, place, name)
        signal = "cognitive" if name == "clarity" else "emotion"
        found += figure(signal, f"share of {name} inside its 80 % interval", corpus, share, part.clips,
                        np.ones(len(part)), inside.astype(float))  # fmt: skip
        crossed = inside_others_width(part, place, name)
        found += figure(signal, f"share of {name} inside, width of the other speakers", corpus, share, part.clips,
                        np.ones(len(part)), crossed.astype(float))  # fmt: skip
    return found


def truth_of(part: Heard, name: str) -> np.ndarray:
    return np.array([judged(c, "mean") if name == "clarity" else float(c.row[name]) for c in part.clips])


def covered(part: Heard, place: int, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Whether the truth lies inside each interval, and how wide it is."""
    truth = truth_of(part, name)
    low, high = part.bounds[:, place].T
    return (truth >= low) & (truth <= high), high - low


def inside_others_width(part: Heard, place: int, name: str) -> np.ndarray:
    """Whether errors stay inside 80 % intervals that were scaled on the other speakers."""
    truth = truth_of(part, name)
    guess = part.clarity if name == "clarity" else part.axes[:, place]
    low, high = part.bounds[:, place].T
    ratio = np.abs(truth - guess) / np.maximum(np.maximum(guess - low, high - guess), 1e-6)
    speakers, inside = np.array([clip.speaker for clip in part.clips]), np.zeros(len(ratio), bool)
    for speaker in np.unique(speakers):
        others = np.sort(ratio[speakers != speaker])
        if len(others):
            rank = min(len(others) - 1, int(np.ceil(0.8 * (len(others) + 1))) - 1)
            inside[speakers == speaker] = ratio[speakers == speaker] <= others[rank]
    return inside


def figures_of(heard: Heard) -> list[Figure]:
    return [*emotion_figures(heard), *axis_figures(heard), *crossed_figures(heard), *clarity_figures(heard),
            *coverage_figures(heard)]  # fmt: skip
