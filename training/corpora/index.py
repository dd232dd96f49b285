"""Reads index.csv."""

import csv
from collections.abc import Iterable
from pathlib import Path

from training import cache, settings
from training.corpora import corpus, labels, recipe, registry
from training.corpora.corpus import Clip
from training.corpora.recipe import RECIPE
from training.corpora.registry import CORPORA


def read_clips(names: Iterable[str] = RECIPE.corpora, data: Path | None = None) -> list[Clip]:
    """Clips of the named corpora in the order of index.csv; the default is what the shipped recipe uses."""
    wanted = set(names)
    with open((data or settings.DATA) / "index.csv", newline="") as file:
        rows = [(row, CORPORA[row["set"]]) for row in csv.DictReader(file) if row["set"] in wanted]
    return [Clip(index, corpus, row["path"], corpus.speaker(row), row) for index, (row, corpus) in enumerate(rows)]


def labels_key(clips: list[Clip]) -> str:
    """Input of cached results that depend on labels, sampling or splits: changes with any of them."""
    return cache.digest([[[clip.row, clip.part] for clip in clips], cache.code_hash(corpus, labels, recipe, registry)])
