"""The generated part of training/corpora/pages: licence, use and counts of each corpus."""

from pathlib import Path

from training import corpora
from training.corpora.corpus import Clip, Part
from training.corpora.recipe import RECIPE
from training.corpora.registry import CORPORA, read_clips
from training.reporting.tables import replace_between, table

PAGES = Path(corpora.__file__).with_name("pages")
USES = {
    "emotion categories": RECIPE.known,
    "emotion categories of a corpus that is left out of training whole": RECIPE.unseen,
    "rated valence and arousal": [RECIPE.rated],
    "arousal": [RECIPE.arousal],
    "clarity": [RECIPE.clarity],
    "weakly neutral speech": [name for name, corpus in CORPORA.items() if corpus.ordinary],
    "voice activity": RECIPE.unlabelled,
    "sounds that are no speech": RECIPE.sounds,
    "impulse responses of rooms": [RECIPE.rooms],
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
    clips = read_clips(RECIPE.corpora)
    for name in RECIPE.corpora:
        replace_between(page(name), "facts", facts(name, clips))
