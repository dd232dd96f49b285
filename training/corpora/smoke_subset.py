"""A few recordings of every corpus, part and label, to try the whole of training on."""

import csv
from collections import defaultdict
from pathlib import Path

from training.corpora.corpus import Clip, Part
from training.corpora.registry import read_clips

PER_LABEL = 3  # about so many clips per group
PER_UNLABELLED = 24


def choose(clips: list[Clip]) -> list[Clip]:
    groups: dict[tuple[str, Part, str], list[Clip]] = defaultdict(list)
    for clip in clips:
        groups[clip.corpus, clip.part, clip.label].append(clip)
    chosen: list[Clip] = []
    for (*_, label), group in groups.items():
        chosen += group[:: max(1, len(group) // (PER_LABEL if label else PER_UNLABELLED))]
    return sorted(chosen, key=lambda clip: clip.index)


def create(data: Path, folder: Path) -> None:
    """Writes FOLDER/index.csv, and links to the recordings below DATA."""
    folder.mkdir(parents=True, exist_ok=True)
    clips = choose(read_clips(data=data))
    with open(folder / "index.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, clips[0].row)
        writer.writeheader()
        writer.writerows(clip.row for clip in clips)
    for top in {Path(clip.path).parts[0] for clip in clips}:
        link = folder / top
        if not link.is_symlink():
            link.symlink_to((data / top).resolve())
    print(f"{len(clips)} recordings in {folder}")
