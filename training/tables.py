"""Figures as tables, and tables between the markers of a page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from corpus import EMOTIONS
from figures import Figure


def table(titles: list[str], rows: list[list[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def show(figure: Figure | None) -> str:
    """Value, its interval; the interval of one speaker is over clips."""
    if figure is None:
        return ""
    if figure.interval is None:
        return f"{figure.value:.3f}"
    low, high = figure.interval
    mark = " †" if figure.speakers == 1 else ""
    return f"{figure.value:.3f} ({low:.2f} to {high:.2f}){mark}"


def figure_table(figures: list[Figure]) -> str:
    rows = [[f.figure, f.group, f"{f.value:.3f}", bounds(f), str(f.speakers), str(f.clips)] for f in figures]
    return table(["figure", "of", "value", "95 % interval", "speakers", "recordings"], rows)


def bounds(figure: Figure) -> str:
    low, high = figure.interval
    return f"{low:.3f} to {high:.3f}" + (" †" if figure.speakers == 1 else "")


def comparison_table(systems: dict[str, list[Figure]], keys: list[str]) -> str:
    by_key = {title: {figure.key: figure for figure in figures} for title, figures in systems.items()}
    names = {figure.key: f"{figure.group}: {figure.figure}" for figures in systems.values() for figure in figures}
    rows = [[names[key], *(show(found.get(key)) for found in by_key.values())] for key in keys]
    return table(["figure", *by_key], rows)


def matrix_table(truth: np.ndarray, guess: np.ndarray) -> str:
    counts = np.zeros((len(EMOTIONS), len(EMOTIONS)), int)
    np.add.at(counts, (truth, guess), 1)
    return table(["said \\ heard", *EMOTIONS], [[name, *map(str, row)] for name, row in zip(EMOTIONS, counts)])


def replace_between(path: Path, name: str, text: str) -> None:
    """The part of a page between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = path.read_text()
    if start not in page or end not in page:
        raise SystemExit(f"Expected the markers {start} and {end} in {path}")
    before, after = page[: page.index(start) + len(start)], page[page.index(end) :]
    path.write_text(f"{before}\n\n{text.strip()}\n\n{after}")
