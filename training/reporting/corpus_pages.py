"""The generated part of training/corpora/pages: licence, use and counts of each corpus."""

from pathlib import Path

from training import corpora
from training.corpora.corpus import Clip, Part
from training.corpora.recipe import RESEARCH, SOLD
from training.corpora.registry import CORPORA, read_clips
from training.reporting.tables import replace_between, table

PAGES = Path(corpora.__file__).with_name("pages")
USES = {
    "emotion categories of every set": SOLD.emotion,
    "emotion categories of models/research": [name for name in RESEARCH.emotion if name not in SOLD.emotion],
    "rated valence and arousal of models/research": [RESEARCH.rated],
    "arousal of models/research": [RESEARCH.arousal],
    "clarity": [SOLD.clarity],
    "weakly neutral speech of every set": [*SOLD.ordinary, SOLD.clarity],
    "weakly neutral speech of models/research": [name for name in RESEARCH.ordinary if name not in SOLD.ordinary],
    "voice activity": SOLD.unlabelled,
    "sounds that are no speech": SOLD.sounds,
    "impulse responses of rooms": [SOLD.rooms],
}


def page(name: str) -> Path:
    return PAGES / f"{name.lower()}.md"


def facts(name: str, clips: list[Clip]) -> str:
    uses = ", ".join(use for use, names in USES.items() if name in names)
    rows = []
    for part in Part:
        own = [clip for clip in clips if clip.corpus == name and clip.part is part]
        rows.append([part.value, len({clip.speaker for clip in own}), len(own)])
    return f"Use: {uses}.\n\nLicence: {CORPORA[name].licence}.\n\n{table(['part', 'speakers', 'clips'], rows)}"


def write_pages() -> None:
    clips = read_clips()
    for name in RESEARCH.corpora:
        replace_between(page(name), "facts", facts(name, clips))
