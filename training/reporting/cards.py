"""The evidence in each manifest, and models/<name>/CARD.md.

Metrics come from results/figures.json where they were measured on these very weights.
"""

import json
from pathlib import Path

from training import settings
from training.encoder import spec as encoder_spec
from training.evaluation import results
from training.export.model_spec import ModelSpec
from training.heads import clarity, emotion
from training.reporting.tables import bounds_of
from training.vad import spec as vad_spec

SPECS: dict[str, ModelSpec] = {spec.name: spec for spec in (encoder_spec.STANDARD, vad_spec.SPEC, emotion.SPEC, clarity.SPEC)}
# What explains training metrics whose name has this word.
METRIC_NOTES = {
    "frame": "Frame F1 and false speech on the held-out speakers against the teacher's labels, corrected by level; syllable counts "
    "against known texts.",
    "coverage": "Coverage and mean half-width of the 80 % intervals, each held-out speaker judged with widths fitted on the others.",
}
PERMISSIVE = ("CC BY", "Apache", "MIT")
METRIC_TITLES = ["figure", "of", "value", "95 % interval", "speakers", "recordings"]
METRIC_NOTE = ("Through the shipped pipeline, on people no model was trained on. Intervals: bootstrap over speakers, over recordings "
               "where there is one speaker (†).")  # fmt: skip


def restricted(data: list[dict]) -> list[dict]:
    """Corpora without a permissive licence."""
    return [d for d in data if not d["licence"].startswith(PERMISSIVE) or "NC" in d["licence"]]


def deployment(data: list[dict]) -> str:
    """What the licences of the recordings mean for those who run the service."""
    bound = restricted(data)
    if not bound:
        return "Every set it learned from may be used commercially with attribution; name the sets where you name the model."
    names = "; ".join(f"{d['name']} ({d['licence']})" for d in bound)
    return (
        "The code is Apache-2.0, but these weights, or the trunk before them, learned from sets that are non-commercial, "
        f"share-alike or state no licence: {names}. Whether weights carry the terms of their recordings is not settled: "
        "use them for research, teaching and private purposes; whoever deploys them commercially needs the owners' leave, or weights trained "
        "on other recordings (`training/train` takes any index of the same form)."
    )


def training_data(manifest: dict, models: Path) -> list[dict]:
    """Corpora behind the model and behind its trunk."""
    data = manifest["training"]["data"]
    if manifest["trunk"] is None:
        return data
    trunk = json.loads((models / manifest["trunk"]["name"] / "manifest.json").read_text())
    names = {d["name"] for d in data}
    return [*data, *(d for d in trunk["training"]["data"] if d["name"] not in names)]


def run_of(manifest: dict, models: Path) -> dict:
    """The evaluation of exactly these weights together; otherwise an empty one."""
    found, now = results.read(), results.weights_in(models)
    now[manifest["name"]] = {"version": manifest["version"], "sha256": manifest["weights"]["sha256"]}
    for run in [found.get("shipped"), *found.get("alternatives", {}).values()]:
        if run is not None and run["models"] == now:
            return run
    return {"figures": [], "failures": {}}


def mean_recall(metrics: list[dict]) -> float:
    recalls = [m["value"] for m in metrics if m["figure"].startswith("UAR of its") and m["group"] != "TESS"]
    return sum(recalls) / len(recalls)


def cross_validation_sentences() -> list[str]:
    folds, trunks = results.read().get("folds", {}), {"frozen": "before the trunk was tuned", "tuned": "on what tuning left out"}
    return [f"Corpora left out whole ({trunks[trunk]}) were heard with a mean recall of {mean_recall(found['corpora']):.2f}, "
            f"left-out speakers of known corpora with {mean_recall(found['speakers']):.2f} (cross-validation, TESS apart): "
            "expect the lower one elsewhere." for trunk, found in folds.items()]  # fmt: skip


def evidence_of(manifest: dict, models: Path) -> dict:
    kind, spec, run = manifest["kind"], SPECS[manifest["kind"]], run_of(manifest, models)
    keys = ("figure", "group", "value", "interval", "speakers", "clips")
    measured = [*(cross_validation_sentences() if kind == "emotion" else []), *run.get("failures", {}).get(kind, [])]
    return {
        "figures": [{key: m[key] for key in keys} for m in run["figures"] if m["signal"] == kind],
        "failures": [*spec.failures, *measured],
        "intendedUse": list(spec.intended),
        "unintendedUse": list(spec.unintended),
        "deployment": deployment(training_data(manifest, models)),
    }


def table(titles: list[str], rows: list[list[str]]) -> list[str]:
    lines = ["| " + " | ".join(titles) + " |", "|" + " --- |" * len(titles)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows)]


def metric_row(m: dict) -> list[str]:
    return [m["figure"], m["group"], f"{m['value']:.3f}", bounds_of(m["interval"], m["speakers"]), str(m["speakers"]), str(m["clips"])]


def cost_of(kind: str, models: Path) -> list[str]:
    """The trunk's, where the ablation measured it."""
    path, folder = settings.RESULTS / "ablation.json", models.resolve().name
    entries = json.loads(path.read_text()) if path.exists() and kind == "trunk" else []
    return [f"{one['msPer10s']} ms for 10 s of audio on one core." for one in entries if one.get("folder") == folder]


def notes_on(metrics: dict) -> str:
    return " ".join(text for word, text in METRIC_NOTES.items() if any(word in name.split("_") for name in metrics))


def sections_of(manifest: dict, models: Path) -> dict[str, list[str]]:
    """Title -> lines; those without content are left out of the card."""
    kind, training, evidence = manifest["kind"], manifest["training"], manifest["evidence"]
    tuned = " Then tuned here on the recordings below." if kind == "trunk" and training["data"] else ""
    weights = models / manifest["name"] / manifest["weights"]["file"]
    data = table(["set", "licence", "clips"], [[d["name"], d["licence"], str(d["clips"])] for d in training["data"]])
    metrics = table(METRIC_TITLES, [metric_row(m) for m in evidence["figures"]])
    in_training = table(["figure", "value"], [[name, str(value)] for name, value in training["metrics"].items()])
    step = "fast" if models.resolve().name == "fast" and kind != "vad" else kind
    lists = {"Known failures": evidence["failures"], "Intended use": evidence["intendedUse"],
             "Not intended": evidence["unintendedUse"], "Limits": training["limits"]}  # fmt: skip
    held_out = "Held-out speakers (training/corpora/splits.json) are not among them."
    return {
        "Origin and licence": [SPECS[kind].origin + tuned, "", f"Licence: {manifest['licence']}.", "", evidence["deployment"]],
        "Recordings it learned from": [*data, "", held_out] if training["data"] else [],
        "Measured": [METRIC_NOTE, "", *metrics] if evidence["figures"] else [],
        "Measured in training": [notes_on(training["metrics"]), "", *in_training] if training["metrics"] else [],
        "Cost": [f"Weights: {weights.stat().st_size / 2**20:.2f} MiB.", *cost_of(kind, models)],
        **{title: [f"- {text}" for text in texts] for title, texts in lists.items()},
        "Made by": ["```sh", f"training/train {step}", "```"],
    }


def card(manifest: dict, models: Path) -> str:
    title = f"# {manifest['name']} {manifest['version']}"
    lines = [title, "", manifest["description"] + ".", "", SPECS[manifest["kind"]].use, ""]
    for heading, content in sections_of(manifest, models).items():
        if content:
            lines += [f"## {heading}", "", *content, ""]
    return "\n".join(lines)


def write_cards(models: Path) -> None:
    """Renews the evidence and the card of every model in the folder."""
    for path in sorted(models.glob("*/manifest.json")):
        manifest = json.loads(path.read_text())
        manifest["evidence"] = evidence_of(manifest, models)
        path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        (path.parent / "CARD.md").write_text(card(manifest, models))
