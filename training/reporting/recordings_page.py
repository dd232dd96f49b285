"""The tables of docs/results/recordings.md, and their picture: before beside after."""

from training import settings
from training.evaluation import joined, recordings, results
from training.evaluation.joined import FILLERS, PAUSES
from training.evaluation.recordings import CUT, INTENDED, MIXED, ORDINARY, PLACED, SETS, SURE_NEGATIVE, TURNS, pauses_of
from training.reporting import plots
from training.reporting.tables import replace_between, short_cell, table

PAGE = settings.RESULT_PAGES / "recordings.md"
PLACES = (*map(pauses_of, PAUSES), TURNS, *FILLERS)
NATURAL = ("answered without a warning", "negative without a warning", SURE_NEGATIVE)


def runs_of(name: str) -> dict[str, dict]:
    """`before` and, once measured, `after` -> run of one set of models"""
    found = recordings.read()
    return {when: found[when][name] for when in ("before", "after") if name in found.get(when, {})}


def grid(runs: dict[str, dict], leading: list[str], rows: dict[str, list[str]], figures: tuple[str, ...]) -> str:
    """`rows`: group of the metrics -> first cells. A column per figure and run."""
    by_run = [{(metric.group, metric.figure): metric for metric in results.metrics_of(run)} for run in runs.values()]
    lines = []
    for group, first in rows.items():
        found = [metrics.get((group, figure)) for figure in figures for metrics in by_run]
        if any(found):
            lines.append([*first, *map(short_cell, found)])
    return table([*leading, *(f"{figure}, {when}" for figure in figures for when in runs)], lines)


def section_of(name: str, runs: dict[str, dict]) -> list[str]:
    """Markdown of one set of models."""
    placed = {f"{corpus}, {place}": [corpus, place] for corpus in (*joined.CORPORA, INTENDED) for place in PLACES}
    return [
        f"#### `{name}`: clips and recordings",
        results.describe_sources(runs),
        grid(runs, ["clips of", "between them"], placed, PLACED),
        "One angry clip among eight neutral ones of its speaker, over all eight labels:",
        grid(runs, ["between them"], {pauses_of(pause): [pauses_of(pause)] for pause in PAUSES}, MIXED),
        "Utterances that ended at least 0.5 s before the recording was cut:",
        grid(runs, ["clips of"], {corpus: [corpus] for corpus in (*joined.CORPORA, "all")}, CUT),
        "Ordinary speech, recordings as they are:",
        grid(runs, ["recordings of"], {corpus: [corpus] for corpus in ORDINARY}, NATURAL),
    ]


def write(runs: dict[str, dict]) -> None:
    """Set of models -> its run. Results, section and picture."""
    for name, run in runs.items():
        recordings.add_run(name, run)
    write_page()


def write_page() -> None:
    blocks = []
    for name in SETS:
        runs = runs_of(name)
        if runs:
            blocks += section_of(name, runs)
    replace_between(PAGE, "recordings", "\n\n".join(blocks))
    plots.draw_timeline({when: run["pictured"] for when, run in runs_of(SETS[0]).items()})
