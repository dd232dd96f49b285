"""Figures of the shipped pipeline on held-out speakers, from the lines of `undertone analyze --jsonl`.

evaluate.py LINES [--write] [--models FOLDER]; training/evaluate makes the lines.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

import behaviour
import candidates
import cards
import failures
import pictures
import record
import rival
from conditions import CHANGED, UNSPOKEN
from corpus import EMOTIONAL, HERE, LABELLED, MODELS, Clip, syllables
from figures import CLARITY, Figure, closed, covered, figure, figures_of, judged, labels_of
from heard import Heard, Reports, read_reports, status_of
from manner import manner
from scores import ccc, error, pcc, share, uar
from tables import comparison_table, figure_table, matrix_table, replace_between, table

PAGE, EVIDENCE = (HERE.parent / "docs" / name for name in ("models.md", "evidence.md"))
MAIN = [
    "emotion: UAR, calm as neutral, RAVDESS",
    "emotion: UAR of its 8 labels, RAVDESS",
    "emotion: UAR of its 7 labels, SAVEE",
    "emotion: UAR of its 7 labels, EMOVO",
    "emotion: UAR of its 6 labels, nEMO",
    "emotion: UAR of its 5 labels, ASED",
    "emotion: UAR of its 4 labels, EmotionTTSKorean",
    "emotion: CCC of valence, TAVA",
    "emotion: CCC of arousal, TAVA",
    "emotion: CCC of valence, line of the other speakers, TAVA",
    "emotion: CCC of arousal, line of the other speakers, TAVA",
    "emotion: PCC of arousal, BAVED",
    "cognitive: PCC of clarity with fluency, speechocean762",
    "cognitive: PCC of clarity with prosody, speechocean762",
    "cognitive: PCC of clarity with their mean, speechocean762",
    "emotion: calibration error of confidence, all",
]


def answered_figures(reports: Reports) -> list[Figure]:
    """Share of clips with scores, by corpus."""
    found = []
    for name in [*LABELLED, *UNSPOKEN, "LibriSpeech", "AMI", "MFA"]:
        rows = [i for i, clip in enumerate(reports.clips) if clip.corpus == name]
        if rows:
            found.append(answered(name, [reports.clips[i] for i in rows], reports.answered()[rows]))
    speech = [i for i, clip in enumerate(reports.clips) if clip.corpus in LABELLED]
    found.insert(0, answered("all speech", [reports.clips[i] for i in speech], reports.answered()[speech]))
    return found


def answered(name: str, clips: list[Clip], ok: np.ndarray) -> Figure:
    speakers = len({(clip.corpus, clip.speaker) for clip in clips})
    value = share(np.ones(len(ok)), ok.astype(float))
    return Figure("activity", "share answered ok", name, round(value, 3), None, speakers, len(clips))


def syllable_figures(reports: Reports) -> list[Figure]:
    """Syllables heard (articulation rate times speech) against those of the known text."""
    pairs = [(c, r) for c, r in zip(reports.clips, reports.reports) if c.corpus == CLARITY and status_of(r) == "ok"
             and "articulation_rate" in r["cognitive"]["measures"]]  # fmt: skip
    clips = [clip for clip, _ in pairs]
    truth = np.array([syllables(clip.text) for clip in clips], float)
    heard = np.array([r["cognitive"]["measures"]["articulation_rate"]["value"] * r["audio"]["speech_s"] for _, r in pairs])
    return [*figure("activity", "PCC of syllables with the text's", CLARITY, pcc, clips, truth, heard),
            *figure("activity", "mean error of syllables, share of the mean", CLARITY, error, clips, truth, heard)]  # fmt: skip


def condition_row(reports: Reports, clean: dict[str, Heard], title: str) -> list[str]:
    """The same clips in each condition; shifts are against them as they are."""
    spoken = [i for i, clip in enumerate(reports.clips) if clip.corpus in LABELLED]
    heard = reports.heard()
    acted = heard.where(lambda clip: clip.corpus in EMOTIONAL)
    rated = heard.where(lambda clip: clip.corpus == "TAVA")
    scored = heard.where(lambda clip: clip.corpus == CLARITY)
    cells = [title, f"{reports.answered()[spoken].mean():.3f}", f"{uar(labels_of(acted.clips), closed(acted)):.3f}"]
    for axis, name in enumerate(("valence", "arousal")):
        truth = np.array([float(clip.row[name]) for clip in rated.clips])
        cells.append(f"{ccc(truth, rated.axes[:, axis]):.3f}")
    truth = np.array([judged(clip, "mean") for clip in scored.clips])
    before = {clip.path: value for clip, value in zip(clean[CLARITY].clips, clean[CLARITY].clarity)}
    shift = np.mean([value - before.get(clip.path, value) for clip, value in zip(scored.clips, scored.clarity)])
    cells += [f"{pcc(truth, scored.clarity):.3f}", f"{shift:+.3f}"]
    for place, name, part in ((0, "valence", rated), (1, "arousal", rated), (2, "clarity", scored)):
        inside, width = covered(part, place, name)
        cells.append(f"{inside.mean():.2f} ({width.mean():.2f})")
    return cells


def condition_table(by_condition: dict[str, Reports]) -> str:
    copied = {clip.path for clip in by_condition["noise-10"].clips}
    rows = [i for i, clip in enumerate(by_condition["clean"].clips) if clip.path in copied]
    clean = by_condition["clean"]
    same = Reports([clean.clips[i] for i in rows], [clean.reports[i] for i in rows])
    before = {CLARITY: same.heard()}
    lines = [condition_row(same, before, "as they are")]
    lines += [condition_row(by_condition[name], before, title) for name, title in CHANGED.items()]
    titles = ["condition", "answered ok", "UAR", "CCC valence", "CCC arousal", "PCC clarity", "clarity moves",
              "valence inside", "arousal inside", "clarity inside"]  # fmt: skip
    return table(titles, lines)


def frames_table() -> str:
    """What training measured frame by frame, which reports do not tell (training/activity.py)."""
    manifest = json.loads((MODELS / "activity" / "manifest.json").read_text())
    return table(["figure", "value"], [[name, str(value)] for name, value in manifest["training"]["metrics"].items()])


def changed_figures(models: Path) -> list[Figure]:
    """Pauses put in, other tempos, hesitations: see behaviour.py; whispered and loud speech: see manner.py."""
    return [*(found for part in behaviour.PARTS.values() for found in part(models)), *manner(models)]


def sections(figures: list[Figure], changed: list[Figure], by_condition: dict[str, Reports]) -> str:
    heard = by_condition["clean"].heard()
    acted = heard.where(lambda clip: clip.corpus in EMOTIONAL)
    parts = [
        "### All figures",
        figure_table([f for f in figures if f.interval is not None]),
        "### What was heard",
        "![Confusion by corpus](pictures/confusion.svg)",
        "All corpora, all eight labels open:",
        matrix_table(labels_of(acted.clips), acted.shares.argmax(1)),
        "### Confidence",
        "![Confidence and the share that is right](pictures/calibration.svg)",
        "### Worse recordings",
        condition_table(by_condition),
        "![Coverage and width of the 80 % intervals](pictures/coverage.svg)",
        "### Clarity of other speech",
        clarity_table(heard),
        "### Recordings changed on purpose",
        table(["what", "of", "value", "speakers", "recordings"],
              [[f.figure, f.group, f"{f.value:.3f}", str(f.speakers), str(f.clips)] for f in changed]),
        "### Speech, frame by frame",
        "Against Silero VAD's labels, corrected by level, on speakers and sounds held out:",
        frames_table(),
        "### Enough speech found",
        answered_table(figures, by_condition["clean"]),
    ]
    return "\n\n".join(parts)


def clarity_table(heard: Heard) -> str:
    """What clarity says of speech that no expert judged, beside the one they did."""
    kinds = {"speechocean762": "read, learners", "LibriSpeech": "read, mostly native", "AMI": "spontaneous meetings",
             "RAVDESS": "acted, native"}  # fmt: skip
    rows = []
    for name, what in kinds.items():
        values = heard.where(lambda clip, name=name: clip.corpus == name).clarity
        if len(values):
            low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
            rows.append([name, what, f"{middle:.2f}", f"{low:.2f} to {high:.2f}", str(len(values))])
    return table(["recordings of", "speech", "median clarity", "middle 80 %", "recordings"], rows)


def answered_table(figures: list[Figure], clean: Reports) -> str:
    """`music_or_noise` is warned of beside either status; sounds should be one or the other."""
    flagged = clean.warned("music_or_noise")
    silent = ~clean.answered()
    rows = []
    for f in figures:
        if f.figure == "share answered ok":
            names = LABELLED if f.group == "all speech" else [f.group]
            part = np.array([clip.corpus in names for clip in clean.clips])
            shares = f.value, flagged[part].mean(), (flagged | silent)[part].mean()
            rows.append([f.group, *(f"{value:.3f}" for value in shares), str(f.clips)])
    return table(["recordings of", "answered ok", "warned `music_or_noise`", "warned or too little speech", "recordings"], rows)


def write(by_condition: dict[str, Reports], text: str) -> None:
    heard = by_condition["clean"].heard()
    pictures.draw_confusion(heard)
    pictures.draw_calibration(heard)
    pictures.draw_coverage({name: reports.heard() for name, reports in by_condition.items()})
    replace_between(PAGE, "figures", text)
    replace_between(PAGE, "candidates", candidates.section())
    replace_between(EVIDENCE, "failures", failures.section(by_condition["clean"]))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("lines")
    options.add_argument("--write", action="store_true")
    options.add_argument("--models", type=Path, default=MODELS)
    given = options.parse_args()
    by_condition = read_reports(given.lines)
    heard = by_condition["clean"].heard()
    figures = [*figures_of(heard), *syllable_figures(by_condition["clean"]), *answered_figures(by_condition["clean"])]
    alternative = None if given.models.resolve() == MODELS.resolve() else given.models.resolve().name
    known = {figure.key for figure in figures}
    changed = [f for f in changed_figures(given.models) if f.key not in known] if alternative is None else []
    run = record.run_of(given.models, [*figures, *changed]) | {"failures": failures.sentences(by_condition["clean"])}
    results = record.renewed(record.read(), alternative, run)
    if alternative is None or "rival" not in results:
        print("fitting the hand-made rival", flush=True)
        spoken = [clip for clip in heard.clips if clip.corpus in LABELLED]
        results["rival"] = {"figures": [figure.record() for figure in figures_of(rival.hear(spoken))]}
    comparison = comparison_table(record.systems_of(results), MAIN)
    text = sections(figures, changed, by_condition)
    print(comparison, text, sep="\n\n")
    if given.write:
        record.save(results)
        replace_between(PAGE, "comparison", comparison)
        cards.main(given.models)
    if given.write and alternative is None:
        write(by_condition, f"`npm run evaluate -- --write` at commit {run['commit']}.\n\n{text}")


if __name__ == "__main__":
    main()
