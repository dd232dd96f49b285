"""Who is judged by which heads: the shipped weights are fitted on all recordings of their recipe, so heads of the same recipe that were fitted
without what they are asked about stand in for them."""

from dataclasses import dataclass
from pathlib import Path

from training import pipeline
from training.calibration.strangers import acted_groups
from training.corpora.corpus import Clip
from training.corpora.recipe import RESEARCH
from training.corpora.registry import read_clips
from training.evaluation.metrics import CORPUS, SPEAKERS
from training.evaluation.reports import evenly_spaced
from training.export.specs import ModelSet

CLIPS = 150  # of a corpus left out, at most


@dataclass(frozen=True)
class Row:
    """Recordings, and the folder of models that answers about them."""

    word: str  # CORPUS or SPEAKERS
    folder: Path
    clips: list[Clip]
    without: frozenset[int]  # clip indices that nothing in the folder was fitted on


def speakers_row(models: ModelSet) -> Row:
    """The part test of every corpus of the recipe."""
    recipe, clips = models.recipe, read_clips()
    without = frozenset(clip.index for clip in clips if clip.tested)
    own = (*recipe.labelled, *recipe.sounds, *recipe.unlabelled)
    judged = [clip for clip in clips if clip.tested and clip.corpus in own]
    return checked(Row(SPEAKERS, pipeline.judging_folder(models, without, with_intervals=True), judged, without))


def corpus_rows(models: ModelSet, speakers: Row) -> list[Row]:
    """Acted and rated corpora of the recipe in groups, and every corpus that it does not have, which the folder of `speakers` judges."""
    clips = read_clips()
    rows = []
    strangers = [name for name in RESEARCH.labelled if name not in models.recipe.labelled]
    for names in [*acted_groups(models.recipe), strangers] if strangers else acted_groups(models.recipe):
        without = frozenset(clip.index for clip in clips if clip.corpus in names)
        folder = speakers.folder if names is strangers else pipeline.judging_folder(models, without, with_intervals=False)
        rows.append(checked(Row(CORPUS, folder, [clip for name in names for clip in judged_of(name)], without)))
    return rows


def judged_of(corpus: str) -> list[Clip]:
    own = [clip for clip in read_clips() if clip.corpus == corpus]
    return evenly_spaced([clip for clip in own if clip.emotion is not None or corpus not in RESEARCH.emotion], CLIPS)


def checked(row: Row) -> Row:
    if found := leaks(row, pipeline.fitted_in(row.folder), read_clips()):
        raise ValueError(f"Expected a row of {row.word} that {row.folder} was not fitted on, got {len(found)} clips, the first is {found[0].path}")
    return row


def leaks(row: Row, fitted: set[int], clips: list[Clip]) -> list[Clip]:
    """Clips that were fitted although their speaker, or in a row of a corpus their corpus, is judged. `fitted`: indices of `clips`"""

    def owner(clip: Clip) -> tuple[str, ...]:
        return (clip.corpus,) if row.word == CORPUS else (clip.corpus, clip.speaker)

    judged = {owner(clip) for clip in row.clips}
    return [clip for clip in clips if clip.index in fitted and owner(clip) in judged]
