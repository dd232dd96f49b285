"""Clips and corpora: emotion categories, labels, licence, sampling weights and the split of the speakers."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path


EMOTIONS = ["neutral", "calm", "happy", "sad", "angry", "fearful", "disgusted", "surprised"]
NEGATIVE = [EMOTIONS.index(name) for name in ("sad", "angry", "fearful", "disgusted")]
INDEX_NAMES = {"disgust": "disgusted"}  # word of index.csv -> word of the report
DIMENSIONS = ("valence", "arousal")
# Both in [0, 1]. They stand in for ratings that acted corpora do not have.
VALENCE = {
    "neutral": 0.5, "calm": 0.6, "happy": 0.85, "sad": 0.2,
    "angry": 0.15, "fearful": 0.2, "disgusted": 0.2, "surprised": 0.6,
}  # fmt: skip
AROUSAL = {
    "neutral": 0.4, "calm": 0.25, "happy": 0.7, "sad": 0.25,
    "angry": 0.8, "fearful": 0.7, "disgusted": 0.5, "surprised": 0.75,
}  # fmt: skip
PLACES = {"valence": VALENCE, "arousal": AROUSAL}
# Target of speech that nobody acted: most of it is neutral, which clips are not is unknown.
ORDINARY = [0.8 if name == "neutral" else 0.2 / 7 for name in EMOTIONS]
SPLITS = Path(__file__).with_name("splits.json")
LANGUAGES = {
    "en": "English", "it": "Italian", "pl": "Polish", "am": "Amharic", "ko": "Korean", "ar": "Arabic", "zh": "Chinese",
    "el": "Greek", "ml": "Malayalam", "es": "Spanish", "fr": "French", "fy": "Frisian", "ru": "Russian", "ja": "Japanese",
    "lv": "Latvian", "nl": "Dutch", "fa": "Persian", "fi": "Finnish", "et": "Estonian", "de": "German", "da": "Danish",
    "ur": "Urdu", "hy": "Armenian", "az": "Azerbaijani", "tr": "Turkish", "sv": "Swedish", "no": "Norwegian", "nn": "Norwegian Nynorsk",
    "is": "Icelandic", "uk": "Ukrainian", "pt": "Portuguese", "lt": "Lithuanian", "sl": "Slovenian", "sr": "Serbian", "mk": "Macedonian",
    "hu": "Hungarian", "hr": "Croatian", "bn": "Bengali",
}  # fmt: skip
SEXES = {"f": "female", "m": "male"}
CATEGORY_WEIGHT = 0.3  # of valence and arousal that only follow from the category
ORDINARY_WEIGHT = 0.3  # of a corpus of ordinary speech, over that of an acted corpus


class Part(StrEnum):
    """Parts of a corpus. No speaker is in two of them."""

    TRAIN = "train"  # all weights are fitted on it
    DEV = "dev"  # recipes are compared on it; the shipped weights are fitted on it as well, and on the next part
    CALIBRATION = "calibration"  # temperature, affine calibration and intervals are fitted on it
    TEST = "test"  # published metrics come from it


@dataclass(frozen=True)
class Sampling:
    """How much the clips of a corpus count at each stage. 1 is a plain clip."""

    vad: float = 1.0  # weight of a clip when mixtures for the VAD model are drawn
    speech_check: float = 1.0  # weight of a clip in the loss of the speech check
    telephone_every: int = 1  # every n-th clip gets a telephone copy for the VAD model
    corrupted: int = 25  # clips of the test part that are evaluated under corruptions, at most


@dataclass(frozen=True)
class Dimensions:
    """Valence and arousal in [0, 1], and how much each counts in the loss. `rated`: by listeners."""

    valence: float
    arousal: float
    valence_weight: float
    arousal_weight: float
    rated: bool = False


@dataclass(frozen=True)
class Clip:
    """One row of index.csv. `index` is its position among the clips that `read_clips` returned."""

    index: int
    definition: Corpus
    path: str
    speaker: str
    row: dict[str, str]

    @property
    def corpus(self) -> str:
        return self.definition.name

    @property
    def part(self) -> Part:
        return self.definition.part(self.speaker)

    @property
    def held_out(self) -> bool:
        """Whether it is left out of weights whose recipe is compared or whose scores are calibrated."""
        return self.part is not Part.TRAIN

    @property
    def tested(self) -> bool:
        return self.part is Part.TEST

    @property
    def label(self) -> str:
        return INDEX_NAMES.get(self.row["label"], self.row["label"])

    emotion = property(lambda self: self.definition.emotion(self))
    votes = property(lambda self: self.definition.votes(self))
    dimensions = property(lambda self: self.definition.dimensions(self))
    clarity = property(lambda self: self.definition.clarity(self))
    syllables = property(lambda self: self.definition.syllables(self))

    @property
    def distribution(self) -> list[float] | None:
        """Probability of each of EMOTIONS: the target of the emotion head."""
        if self.votes is not None:
            return self.votes
        if self.emotion is not None:
            return [float(name == self.emotion) for name in EMOTIONS]
        return ORDINARY if self.definition.ordinary else None

    @property
    def extra(self) -> dict[str, str]:
        """The `name=value` pairs of the column `extra`."""
        return dict(part.split("=", 1) for part in self.row["extra"].split(";") if "=" in part)

    @property
    def sex(self) -> str:
        return SEXES.get(self.row["gender"].lower(), "unstated")

    @property
    def language(self) -> str:
        return LANGUAGES.get(self.row["lang"], "none")

    @property
    def age(self) -> int | None:
        age = self.extra.get("age", "")
        return int(age) if age.isdigit() else None


@dataclass(frozen=True)
class Corpus:
    """Defaults: speech without labels. A subclass overrides the methods of the labels that it has."""

    name: str
    licence: str  # of the recordings, as the model cards print it
    sampling: Sampling = Sampling()
    is_speech: bool = True
    studio: bool = False  # quiet enough for level to separate speech from silence
    ordinary: bool = False  # speech that nobody acted: weakly neutral

    def speaker(self, row: dict[str, str]) -> str:
        return row["speaker"] or Path(row["path"]).stem

    def part(self, speaker: str) -> Part:
        """Speakers that splits.json does not name are trained on."""
        return split_of(self.name).get(speaker, Part.TRAIN)

    def emotion(self, clip: Clip) -> str | None:
        """One of EMOTIONS."""

    def votes(self, clip: Clip) -> list[float] | None:
        """Share of listeners who chose each of EMOTIONS: a soft target."""

    def dimensions(self, clip: Clip) -> Dimensions | None:
        """Valence and arousal. Ordinary speech is near the middle."""
        return expected_dimensions(ORDINARY, ORDINARY_WEIGHT * CATEGORY_WEIGHT) if self.ordinary else None

    def clarity(self, clip: Clip) -> float | None:
        """Mean of fluency and prosody as experts judged them, in [0, 1]."""

    def syllables(self, clip: Clip) -> int | None:
        """Number of syllables, where the text is known."""


class ActedCorpus(Corpus):
    """Emotions acted on request: the category is known, valence and arousal follow from it."""

    def emotion(self, clip: Clip) -> str | None:
        return clip.label if clip.label in EMOTIONS else None

    def dimensions(self, clip: Clip) -> Dimensions | None:
        name = self.emotion(clip)
        return None if name is None else Dimensions(VALENCE[name], AROUSAL[name], CATEGORY_WEIGHT, CATEGORY_WEIGHT)


def expected_dimensions(distribution: list[float], weight: float) -> Dimensions:
    """Mean valence and arousal of the categories. distribution [8]"""
    valence, arousal = (sum(p * of[name] for p, name in zip(distribution, EMOTIONS)) for of in (VALENCE, AROUSAL))
    return Dimensions(valence, arousal, weight, weight)


@cache
def split_of(name: str) -> dict[str, Part]:
    """Speaker -> part, for the speakers that are not trained on."""
    parts = json.loads(SPLITS.read_text()).get(name, {})
    return {speaker: Part(part) for part, speakers in parts.items() for speaker in speakers}
