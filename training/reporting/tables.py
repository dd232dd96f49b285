"""Markdown tables, and parts of a page between markers."""

import itertools
import re
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


def interval_cell(m: Metric | None) -> str:
    """Two decimals"""
    return "" if m is None else f"{m.value:.2f} [{m.interval[0]:.2f}, {m.interval[1]:.2f}]"


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


QUOTE = re.compile(r"(<!-- rows of (\S+) -->\n)(.*?)(<!-- end of rows -->)", re.S)


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def key_of(line: str) -> list[str]:
    """The first cells, up to the first number."""
    return list(itertools.takewhile(lambda cell: not re.match(r"[\d.+-]+$|[\d.]+ [\[(]", cell), cells_of(line)))


def tables_in(text: str) -> list[list[str]]:
    """Lines of each table of a text."""
    return [block.strip("\n").split("\n") for block in re.findall(r"(?:^\|.*\n)+", text, re.M)]


def quote_again(quoted: list[str], tables: list[list[str]]) -> str:
    """A quoted table with the lines that the results have now: the first whose titles and first cells are the same."""
    key = len(key_of(quoted[2]))
    alike = [one for one in tables if cells_of(one[0])[:key] == cells_of(quoted[0])[:key]]
    rows = [next((line, one) for one in alike for line in one[2:] if key_of(line)[:key] == key_of(row)) for row in quoted[2:]]
    return "\n".join([*rows[0][1][:2], *(line for line, _ in rows)])


def refresh_quotes(pages: Path) -> None:
    """Rows of results that the pages quote become those of the results."""
    for page in sorted(pages.glob("*.md")):

        def quote(found: re.Match) -> str:
            start, file, rows, end = found.groups()
            sources = tables_in((pages / file).read_text())
            return start + "\n" + "\n\n".join(quote_again(one, sources) for one in tables_in(rows)) + "\n\n" + end

        page.write_text(QUOTE.sub(quote, page.read_text()))
