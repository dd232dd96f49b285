"""The tables of docs/results/recordings.md, and their picture."""

from training import settings
from training.evaluation import joined, recordings, results
from training.evaluation.joined import FILLERS, PAUSES
from training.evaluation.recordings import CUT, INTENDED, MIXED, ORDINARY, PLACED, SURE_NEGATIVE, TURNS, pauses_of
from training.export.specs import STANDARD
from training.reporting import plots
from training.reporting.tables import replace_between, short_cell, table

PAGE = settings.RESULT_PAGES / "recordings.md"
PLACES = (*map(pauses_of, PAUSES), TURNS, *FILLERS)
NATURAL = ("answered without a warning", "negative without a warning", SURE_NEGATIVE)


def grid(run: dict, leading: list[str], rows: dict[str, list[str]], figures: tuple[str, ...]) -> str:
    """`rows`: group of the metrics -> first cells. A column per figure."""
    metrics = {(metric.group, metric.figure): metric for metric in results.metrics_of(run)}
    lines = []
    for group, first in rows.items():
        found = [metrics.get((group, figure)) for figure in figures]
        if any(found):
            lines.append([*first, *map(short_cell, found)])
    return table([*leading, *figures], lines)


def section_of(name: str, run: dict) -> list[str]:
    """Markdown of one set of models."""
    placed = {f"{corpus}, {place}": [corpus, place] for corpus in (*joined.CORPORA, INTENDED) for place in PLACES}
    return [
        f"#### `{name}`: clips and recordings",
        results.describe_sources({name: run}),
        grid(run, ["clips of", "between them"], placed, PLACED),
        "One angry clip among eight neutral ones of its speaker, over all eight labels:",
        grid(run, ["between them"], {pauses_of(pause): [pauses_of(pause)] for pause in PAUSES}, MIXED),
        "Utterances that ended at least 0.5 s before the recording was cut:",
        grid(run, ["clips of"], {corpus: [corpus] for corpus in (*joined.CORPORA, "all")}, CUT),
        "Ordinary speech, recordings as they are:",
        grid(run, ["recordings of"], {corpus: [corpus] for corpus in ORDINARY}, NATURAL),
    ]


def write(runs: dict[str, dict]) -> None:
    """Set of models -> its run. Results, sections and picture."""
    found = results.save(runs, recordings.PATH)
    replace_between(PAGE, "recordings", "\n\n".join(block for name, run in found.items() for block in section_of(name, run)))
    plots.draw_timeline({name: found[name]["pictured"] for name in (STANDARD.name,)})
