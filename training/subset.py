"""A few recordings of every corpus, speaker group and label, for trying the whole training out: subset.py FOLDER.

FOLDER gets an index.csv of its own and links to the folders of the sets.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from pathlib import Path

from corpus import DATA, Clip, read_clips

OF_A_GROUP, OF_UNLABELLED = 3, 24


def chosen() -> list[Clip]:
    groups: dict[tuple[str, bool, str], list[Clip]] = defaultdict(list)
    for clip in read_clips():
        groups[clip.corpus, clip.held_out, clip.label].append(clip)
    found = []
    for (*_, label), clips in groups.items():
        step = max(1, len(clips) // (OF_A_GROUP if label else OF_UNLABELLED))
        found += clips[::step]
    return sorted(found, key=lambda clip: clip.index)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    clips = chosen()
    with open(folder / "index.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, clips[0].row)
        writer.writeheader()
        writer.writerows(clip.row for clip in clips)
    for top in {Path(clip.path).parts[0] for clip in clips}:
        link = folder / top
        if not link.is_symlink():
            link.symlink_to((DATA / top).resolve())
    print(f"{len(clips)} recordings in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
