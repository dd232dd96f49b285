"""Who is judged by which heads: the shipped weights are fitted on all recordings of their recipe, so heads of the same recipe that were fitted
without what they are asked about stand in for them."""

from dataclasses import dataclass
from pathlib import Path

from training import pipeline
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
    return Row(SPEAKERS, pipeline.judging_folder(models, without, "speakers"), judged, without)


def corpus_rows(models: ModelSet, speakers: Row) -> list[Row]:
    """Every acted corpus, and ratings of valence and arousal. Those that the recipe does not have are judged by the folder of `speakers`."""
    clips = read_clips()
    rows = []
    for name in (*RESEARCH.emotion, RESEARCH.rated):
        own = [clip for clip in clips if clip.corpus == name]
        judged = evenly_spaced([clip for clip in own if clip.emotion is not None or clip.corpus == RESEARCH.rated], CLIPS)
        without = frozenset(clip.index for clip in own)
        known = name in models.recipe.labelled
        folder = pipeline.judging_folder(models, without, name) if known else speakers.folder
        rows.append(Row(CORPUS, folder, judged, without))
    return rows


def leaks(row: Row, fitted: set[int], clips: list[Clip]) -> list[Clip]:
    """Clips that were fitted although their speaker, or in a row of a corpus their corpus, is judged. `fitted`: indices of `clips`"""

    def owner(clip: Clip) -> tuple[str, ...]:
        return (clip.corpus,) if row.word == CORPUS else (clip.corpus, clip.speaker)

    judged = {owner(clip) for clip in row.clips}
    return [clip for clip in clips if clip.index in fitted and owner(clip) in judged]
