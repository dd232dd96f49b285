"""Markdown tables, and parts of a page between markers."""

from pathlib import Path

import numpy as np

from training.corpora.labels import EMOTIONS
from training.evaluation.metrics import Metric


def table(titles: list[str], rows: list[list[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def bounds_of(interval: list[float] | None, speakers: int) -> str:
    """† marks the interval of one speaker, which is over clips."""
    if interval is None:
        return ""
    low, high = interval
    return f"{low:.3f} to {high:.3f}" + (" †" if speakers == 1 else "")


def short_cell(found: Metric | None) -> str:
    """Value and interval."""
    if found is None:
        return ""
    if found.interval is None:
        return f"{found.value:.3f}"
    low, high = found.interval
    return f"{found.value:.3f} ({low:.2f} to {high:.2f})" + (" †" if found.speakers == 1 else "")


def metric_table(metrics: list[Metric]) -> str:
    rows = [[m.figure, m.group, f"{m.value:.3f}", bounds_of(m.interval, m.speakers), str(m.speakers), str(m.clips)] for m in metrics]
    return table(["figure", "of", "value", "95 % interval", "speakers", "recordings"], rows)


def comparison_table(systems: dict[str, list[Metric]], keys: list[str]) -> str:
    """One column per system, one row per key."""
    by_key = {title: {found.key: found for found in metrics} for title, metrics in systems.items()}
    names = {found.key: f"{found.group}: {found.figure}" for metrics in systems.values() for found in metrics}
    rows = [[names[key], *(short_cell(column.get(key)) for column in by_key.values())] for key in keys if key in names]
    return table(["figure", *by_key], rows)


def confusion_matrix(truth: np.ndarray, predicted: np.ndarray) -> str:
    counts = np.zeros((len(EMOTIONS), len(EMOTIONS)), int)
    np.add.at(counts, (truth, predicted), 1)
    return table(["said \\ heard", *EMOTIONS], [[name, *map(str, row)] for name, row in zip(EMOTIONS, counts)])


def replace_between(path: Path, name: str, text: str) -> None:
    """Replaces the part of a page between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    page = path.read_text()
    if start not in page or end not in page:
        raise SystemExit(f"Expected the markers {start} and {end} in {path}")
    before, after = page[: page.index(start) + len(start)], page[page.index(end) :]
    path.write_text(f"{before}\n\n{text.strip()}\n\n{after}")
