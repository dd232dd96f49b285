"""The corpora: where they lie, their labels, and which speakers training never sees."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("UNDERTONE_DATA", HERE.parent / "data"))
CACHE = Path(os.environ.get("UNDERTONE_TRAINING_CACHE", HERE / ".cache"))
MODELS = Path(os.environ.get("UNDERTONE_TRAINING_MODELS", HERE.parent / "models"))
NOTES = HERE if MODELS == HERE.parent / "models" else CACHE  # what the documents show of a training
SEED = 7
THREADS = 2  # of torch and ONNX Runtime: sums, and so models, are those of this number
EMOTIONS = ["neutral", "calm", "happy", "sad", "angry", "fearful", "disgusted", "surprised"]
LABELS = {"disgust": "disgusted"}  # the corpora's word -> the report's
EMOTIONAL = ["RAVDESS", "TESS", "SAVEE", "EMOVO", "nEMO", "ASED", "EmotionTTSKorean"]
LABELLED = [*EMOTIONAL, "BAVED", "TAVA", "speechocean762"]  # speech that some score is learned from
SPOKEN = [*LABELLED, "LibriSpeech", "AMI", "MFA"]
BAVED_AROUSAL = {"low": 0.25, "normal": 0.45, "high": 0.80}
# Places of the categories on the two axes; RAVDESS's strong intensity moves arousal up by .1.
VALENCE = {
    "neutral": 0.5, "calm": 0.6, "happy": 0.85, "sad": 0.2,
    "angry": 0.15, "fearful": 0.2, "disgusted": 0.2, "surprised": 0.6,
}  # fmt: skip
AROUSAL = {
    "neutral": 0.4, "calm": 0.25, "happy": 0.7, "sad": 0.25,
    "angry": 0.8, "fearful": 0.7, "disgusted": 0.5, "surprised": 0.75,
}  # fmt: skip


@dataclass(frozen=True)
class Clip:
    index: int
    corpus: str
    path: str
    speaker: str
    label: str
    text: str
    row: dict[str, str]

    @property
    def held_out(self) -> bool:
        return self.speaker in HELD_OUT.get(self.corpus, ())


def speaker_of(row: dict[str, str]) -> str:
    """Sets without speakers are parted by what the file name tells: fold, chapter, recording."""
    if row["set"] == "ESC10":
        return row["extra"].removeprefix("fold=")
    if row["set"] == "LibriSpeech":
        return Path(row["path"]).stem.split("-")[0]
    return row["speaker"] or Path(row["path"]).stem


def read_clips() -> list[Clip]:
    with open(DATA / "index.csv", newline="") as file:
        return [
            Clip(i, row["set"], row["path"], speaker_of(row), LABELS.get(row["label"], row["label"]), row["text"], row)
            for i, row in enumerate(csv.DictReader(file))
        ]


def is_current(made: Path, *sources: Path) -> bool:
    """Whether a file is there and was made after those that it was made of."""
    return made.exists() and all(made.stat().st_mtime >= source.stat().st_mtime for source in sources)


def licences() -> dict[str, str]:
    return json.loads((HERE / "licences.json").read_text())


HELD_OUT: dict[str, list[str]] = (
    json.loads((HERE / "heldout.json").read_text()) if (HERE / "heldout.json").exists() else {}
)


def syllables(text: str) -> int:
    """Vowel groups of English words, a silent final e left out: right for about nine words in ten."""
    count = 0
    for word in "".join(c if c.isalpha() else " " for c in text.lower().replace("'", "")).split():
        groups, previous = 0, False
        for letter in word:
            vowel = letter in "aeiouy"
            groups += vowel and not previous
            previous = vowel
        silent = word.endswith("e") and not word.endswith(("le", "ee")) or word.endswith("ed")
        if silent and not word.endswith(("ted", "ded")):
            groups -= 1
        if word.endswith(("ia", "io", "eo", "iet", "ion")) and not word.endswith(("tion", "sion")):
            groups += 1
        count += max(groups, 1)
    return count


def known_syllables(clip: Clip) -> int | None:
    if clip.corpus == "speechocean762":
        return syllables(clip.text)
    if clip.corpus == "RAVDESS":
        return 7  # "Kids are talking by the door", "Dogs are sitting by the door"
    if clip.corpus == "TESS":
        return 4  # "Say the word" and a monosyllable
    return None
