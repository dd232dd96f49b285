"""Markdown tables, and parts of a page between markers."""

from pathlib import Path

import numpy as np

from training.corpora.corpus import EMOTIONS
from training.evaluation.metrics import Metric


def table(titles: list[str], rows: list[list[object]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in lines)


def metric_table(metrics: list[Metric]) -> str:
    """† marks the interval of one speaker, which is over clips."""
    rows = []
    for m in metrics:
        bounds = "" if m.interval is None else f"{m.interval[0]:.3f} to {m.interval[1]:.3f}" + m.mark
        rows.append([m.figure, m.group, f"{m.value:.3f}", bounds, m.speakers, m.clips])
    return table(["figure", "of", "value", "95 % interval", "speakers", "recordings"], rows)


def short_cell(m: Metric | None) -> str:
    if m is None or m.interval is None:
        return "" if m is None else f"{m.value:.3f}"
    return f"{m.value:.3f} ({m.interval[0]:.2f} to {m.interval[1]:.2f}){m.mark}"


def confusion_matrix(truth: np.ndarray, predicted: np.ndarray) -> str:
    counts = np.zeros((len(EMOTIONS), len(EMOTIONS)), int)
    np.add.at(counts, (truth, predicted), 1)
    return table(["label \\ predicted", *EMOTIONS], [[name, *row] for name, row in zip(EMOTIONS, counts)])


def replace_between(path: Path, name: str, text: str) -> None:
    """Replaces the part of a page between `<!-- NAME -->` and `<!-- end of NAME -->`."""
    start = f"<!-- {name} -->"
    end = f"<!-- end of {name} -->"
    page = path.read_text()
    if start not in page or end not in page:
        raise ValueError(f"Expected the markers {start} and {end} in {path}")
    before = page[: page.index(start) + len(start)]
    after = page[page.index(end) :]
    path.write_text(f"{before}\n\n{text.strip()}\n\n{after}")
