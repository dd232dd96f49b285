"""Figures of the shipped pipeline on held-out speakers, from the lines of `undertone analyze --jsonl`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np

from corpus import BAVED_AROUSAL, DATA, EMOTIONAL, EMOTIONS, HERE, read_clips
from scores import ccc, interval, pcc, uar

SPOKEN = [*EMOTIONAL, "BAVED", "TAVA", "speechocean762"]
START, END = "<!-- figures: npm run evaluate -- --write -->", "<!-- end of figures -->"


def held_out(sets: list[str]):
    return [clip for clip in read_clips() if clip.held_out and clip.corpus in sets]


def list_paths() -> None:
    for clip in held_out([*SPOKEN, "ESC10", "EmoGator"]):
        print(DATA / clip.path)


class Lines:
    def __init__(self, path: str):
        reports = map(json.loads, Path(path).read_text().splitlines())
        self.by_path = {report["path"]: report for report in reports}

    def of(self, clip) -> dict | None:
        """The report of a clip with enough speech."""
        report = self.by_path.get(str((DATA / clip.path).resolve()))
        return report if report and report.get("emotion", {}).get("status") == "ok" else None


def row(figure: str, kind: str, score, truth, guess, speakers) -> list[str]:
    low, high = interval(score, truth, guess, speakers)
    return [figure, kind, f"{score(truth, guess):.3f}", f"{low:.3f} to {high:.3f}", str(len(truth))]


def emotion_rows(lines: Lines, matrix: np.ndarray) -> list[list[str]]:
    rows = []
    for name in EMOTIONAL:
        pairs = [(clip, lines.of(clip)) for clip in held_out([name])]
        pairs = [(clip, r) for clip, r in pairs if r]
        if not pairs:
            continue
        speakers = np.array([clip.speaker for clip, _ in pairs])
        truth = np.array([EMOTIONS.index(clip.label) for clip, _ in pairs])
        shares = np.array([[r["emotion"]["signals"]["emotions"][e] for e in EMOTIONS] for _, r in pairs])
        allowed = np.unique(truth)
        guess = allowed[shares[:, allowed].argmax(1)]
        np.add.at(matrix, (truth, shares.argmax(1)), 1)
        rows.append(row(f"{name}, its {len(allowed)} labels", "UAR", uar, truth, guess, speakers))
        rows.append(row(f"{name}, all 8 labels open", "UAR", uar, truth, shares.argmax(1), speakers))
    return rows


def score_rows(lines: Lines) -> list[list[str]]:
    rows = []
    for name, axis, kind, score, truth_of in [
        ("TAVA", "valence", "CCC", ccc, lambda c: float(c.row["valence"])),
        ("TAVA", "arousal", "CCC", ccc, lambda c: float(c.row["arousal"])),
        ("BAVED", "arousal", "PCC", pcc, lambda c: BAVED_AROUSAL[c.label]),
    ]:
        pairs = [(c, r) for c in held_out([name]) if (r := lines.of(c))]
        truth = np.array([truth_of(c) for c, _ in pairs])
        guess = np.array([r["emotion"]["signals"][axis] for _, r in pairs])
        rows.append(row(f"{name} {axis}", kind, score, truth, guess, np.array([c.speaker for c, _ in pairs])))
        if name == "TAVA":
            bounds = np.array([r["emotion"]["signals"]["intervals"][axis] for _, r in pairs])
            rows.append(covered(f"TAVA {axis} inside its 80 % interval", truth, bounds))
    pairs = [(c, r) for c in held_out(["speechocean762"]) if (r := lines.of(c))]
    speakers = np.array([c.speaker for c, _ in pairs])
    guess = np.array([r["cognitive"]["signals"]["clarity"] for _, r in pairs])
    for column in ("fluency", "prosody"):
        truth = np.array([float(c.row[column]) for c, _ in pairs])
        rows.append(row(f"speechocean762 clarity and {column}", "PCC", pcc, truth, guess, speakers))
    both = np.array([(float(c.row["fluency"]) + float(c.row["prosody"])) / 20 for c, _ in pairs])
    bounds = np.array([r["cognitive"]["signals"]["intervals"]["clarity"] for _, r in pairs])
    rows.append(covered("speechocean762 clarity inside its 80 % interval", both, bounds))
    return rows


def covered(figure: str, truth: np.ndarray, bounds: np.ndarray) -> list[str]:
    inside = (truth >= bounds[:, 0]) & (truth <= bounds[:, 1])
    return [figure, "share", f"{inside.mean():.3f}", "", str(len(truth))]


def status_rows(lines: Lines) -> list[list[str]]:
    rows = []
    for name, sets in (("speech", SPOKEN), ("ESC10, sounds", ["ESC10"]), ("EmoGator, bursts", ["EmoGator"])):
        clips = held_out(sets)
        share = np.mean([lines.of(clip) is not None for clip in clips])
        rows.append([f"{name}: enough speech found", "share", f"{share:.3f}", "", str(len(clips))])
    return rows


def as_table(rows: list[list[str]]) -> str:
    head = ["figure", "kind", "value", "95 % interval", "recordings"]
    lines = ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * 5, *rows)]
    return "\n".join(lines)


def as_matrix(matrix: np.ndarray) -> str:
    head = ["said \\ heard", *EMOTIONS]
    body = [[EMOTIONS[i], *(str(int(v)) for v in counts)] for i, counts in enumerate(matrix)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (head, ["---"] * 9, *body))


def write_docs(text: str) -> None:
    path = HERE.parent / "docs" / "models.md"
    page = path.read_text()
    before, after = page[: page.index(START) + len(START)], page[page.index(END) :]
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=HERE, capture_output=True, text=True, check=True
    ).stdout.strip()
    path.write_text(f"{before}\n\n`npm run evaluate` at commit {commit}:\n\n{text}\n\n{after}")


def main(arguments: list[str]) -> None:
    if arguments[0] == "list":
        list_paths()
        return
    lines, matrix = Lines(arguments[1]), np.zeros((8, 8))
    rows = [*emotion_rows(lines, matrix), *score_rows(lines), *status_rows(lines)]
    text = f"{as_table(rows)}\n\nAll corpora, all eight labels open:\n\n{as_matrix(matrix)}"
    print(text)
    if "--write" in arguments:
        write_docs(text)


if __name__ == "__main__":
    main(sys.argv[1:])
