"""Averages the tuned seeds, compares them with the frozen trunk on what was left out, and writes model folders.

tune_export.py stopped SEED: takes the averaged weights out of the checkpoint of a run that was stopped.
tune_export.py encode PART PARTS SEED...: runs the mean of the seeds over every window, a share of them a process.
tune_export.py compare PARTS: table of frozen and tuned trunk, each under the same kinds of head.
tune_export.py export PARTS SEED...: trunk, emotion and cognitive below UNDERTONE_TUNE_CACHE/models.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import torch

import cognitive
import emotion
import fit
import heads
import manifest
import tokens as token_store
import trunk
import tune_linear
import tune_report
from corpus import EMOTIONAL, EMOTIONS, MODELS, read_clips
from scores import half_width
from tune import Joint, predict_store, start
from tune_data import TUNE, Examples, load_windows, split
from windows import token_weights

DECAY, CLARITY_DECAY = 0.01, 0.1
TUNED_LIMIT = "Valence and arousal were checked on the ratings of two speakers."


def mixed(seeds: list[int], share: float) -> Joint:
    """`share` of the way from the frozen trunk and its heads to the mean of the seeds."""
    model = start()
    tuned = [torch.load(TUNE / f"tuned-{seed}.pt") for seed in seeds]
    state = model.state_dict()
    for name, value in state.items():
        mean = sum(t[name] for t in tuned) / len(tuned)
        state[name] = value + share * (mean - value)
    model.load_state_dict(state)
    return model.eval()


def average_of(seed: int) -> None:
    """tuned-SEED.pt from the checkpoint of a run that was stopped."""
    torch.save(torch.load(TUNE / f"checkpoint-{seed}.pt")["average"], TUNE / f"tuned-{seed}.pt")


def encode(title: str, share: float, seeds: list[int], part: int, parts: int) -> None:
    """pooled [windows,768] and joint values [windows,11] of every `parts`-th window, from `part` on."""
    clips, windows = read_clips(), load_windows()
    examples, model, path = Examples(windows), mixed(seeds, share), TUNE / f"{title}.onnx"
    if part == 0:
        trunk.write_trunk(model.trunk, str(path))
    while not path.exists():
        time.sleep(1)
    body, pooled, values = token_store.session(str(path)), [], []
    chosen = np.arange(part, len(windows.clips), parts)
    for index in chosen:
        rows, speech = examples.one(index, None)
        weights = token_weights(speech, 0, len(speech))
        weights = weights if weights.sum() else weights + 1
        (tokens,) = body.run(None, {"features": rows[None]})
        pooled.append(tune_linear.moments(tokens[0], weights))
        x, w = torch.from_numpy(tokens), torch.from_numpy(weights)[None]
        with torch.no_grad():
            values.append(torch.cat([model.feeling(x, w), model.clarity(x, w)], 1)[0].numpy())
    np.savez(TUNE / f"{title}-{part}-{parts}.npz", chosen=chosen, pooled=np.stack(pooled), values=np.stack(values))


def encoded(title: str, parts: int) -> tuple[np.ndarray, np.ndarray]:
    found = [np.load(TUNE / f"{title}-{part}-{parts}.npz") for part in range(parts)]
    order = np.argsort(np.concatenate([f["chosen"] for f in found]))
    return tuple(np.concatenate([f[key] for f in found])[order] for key in ("pooled", "values"))


def line_of(guess: np.ndarray, truth: np.ndarray, low: float = 0.6, high: float = 1.4) -> tuple[float, float]:
    slope = float(np.clip(np.polyfit(guess, truth, 1)[0], low, high))
    return slope, float(truth.mean() - slope * guess.mean())


def calibration_of(clips, windows, out, left: np.ndarray, taught, heard: np.ndarray, targets):
    """Temperature from what was left out; lines of the axes from TAVA's training speakers.

    left [windows of out, 11], heard [windows of taught, 11] -> (Calibration, half-widths, low confidence)
    """
    rows, values = emotion.per_clip(windows, out, left)
    known = targets.label[rows] >= 0
    logits, label = values[known, :8], targets.label[rows[known]]
    temperature = fit.temperature_of(logits, targets.mask[rows[known]], label)
    low = fit.unsure_below(logits, label, temperature)
    near, told = emotion.per_clip(windows, taught, heard)
    rated = np.array([clips[i].corpus == "TAVA" for i in rows])
    lines, widths = [], {}
    for axis, name in enumerate(("valence", "arousal")):
        lines.append(line_of(fit.sigmoid(told[:, 8 + axis]), targets.axes[near, axis]))
        guess = lines[axis][0] * fit.sigmoid(values[rated, 8 + axis]) + lines[axis][1]
        widths[name] = half_width(targets.axes[rows[rated], axis], np.clip(guess, 0, 1))
    slope, shift = np.array(lines).T
    return emotion.Calibration(temperature, slope, shift), widths, low


def earlier(name: str) -> dict:
    return json.loads((MODELS / name / "manifest.json").read_text())


def linear_of(pooled, windows, clips, members) -> tuple[np.ndarray, np.ndarray]:
    """Weight [768,11] and bias [11]; clarity is held tighter than the rest."""
    weight, bias = tune_linear.fit(pooled, windows, clips, members, DECAY)
    tight, level = tune_linear.fit(pooled, windows, clips, members, CLARITY_DECAY)
    weight[:, 10], bias[10] = tight[:, 10], level[10]
    return weight, bias


def frozen_values(windows) -> tuple[np.ndarray, np.ndarray]:
    """Pooled features [windows,768] of the frozen trunk, and what the first heads make of it [windows,11]."""
    path = TUNE / "frozen.npz"
    if not path.exists():
        store, model = token_store.load("corpora"), start().eval()
        every = np.arange(len(windows.clips))
        pooled = np.stack([tune_linear.moments(*store[i]) for i in every])
        np.savez(path, pooled=pooled, values=predict_store(([model.feeling], [model.clarity]), store, every))
    found = np.load(path)
    return found["pooled"], found["values"]


def compare(parts: int) -> None:
    clips, windows = read_clips(), load_windows()
    members, out = split(clips, windows.clips)
    targets, columns = emotion.targets_of(clips), {}
    found = {"frozen": frozen_values(windows)} | ({"tuned": encoded("tuned", parts)} if parts else {})
    for name, (pooled, values) in found.items():
        weight, bias = linear_of(pooled, windows, clips, members)
        np.savez(TUNE / f"linear-{name}.npz", weight=weight, bias=bias)
        linear = pooled @ weight + bias
        for kind, guess in (("head", values), ("linear", linear), ("both", (linear + values) / 2)):
            columns[f"{name[:3]}-{kind}"] = tune_report.figures(clips, windows, out, guess[out], targets)
    (TUNE / "compare.json").write_text(json.dumps(columns, indent=1))
    print(tune_report.table(columns), flush=True)


def export_trunk() -> None:
    manifest.write(
        "trunk",
        str(TUNE / "tuned.onnx"),
        description="Whisper-tiny.en's convolutional stem and first two encoder layers, the layers tuned gently on "
        "emotion and clarity, level normalised, linear weights in int8",
        outputs=["tokens"],
        rule={"windowSeconds": trunk.WINDOW_SECONDS},
        data=manifest.data_of([*(n for n in EMOTIONAL if n != "EMOVO"), "BAVED", "TAVA", "speechocean762", "ESC10"]),
        metrics={},
        limits=["Starts from OpenAI's Whisper-tiny.en (MIT), trained on English speech."],
        licence=fit.NON_COMMERCIAL,
    )


def export_emotion(members: list[heads.Head], calibration, widths: dict, low: float, figures: dict) -> None:
    path, before = str(TUNE / "emotion.onnx"), earlier("emotion")
    emotion.write_emotion(members, calibration, path)
    kept = before["rule"]["intervals"]
    manifest.write(
        "emotion",
        path,
        description=before["description"],
        outputs=before["outputs"],
        labels=EMOTIONS,
        rule=before["rule"]
        | {"intervals": {k: max(v, kept[k]) for k, v in widths.items()}, "lowConfidence": low},
        data=[d for d in before["training"]["data"] if d["name"] != "EMOVO"],
        metrics={key: value for key, value in figures.items() if "clarity" not in key},
        limits=[*before["training"]["limits"], TUNED_LIMIT],
        licence=before["licence"],
    )


def export_cognitive(members: list[heads.Head], clips, windows, out, left: np.ndarray, figures: dict) -> None:
    path, before = str(TUNE / "cognitive.onnx"), earlier("cognitive")
    scores = cognitive.targets_of(clips)
    rows, values = emotion.per_clip(windows, out, left)
    known = ~np.isnan(scores[rows])
    guess, truth = values[known, 10], scores[rows[known]]
    slope, shift = line_of(guess, truth)
    cognitive.write_cognitive(members, slope, shift, path)
    width = half_width(truth, np.clip(slope * guess + shift, 0, 1))
    manifest.write(
        "cognitive",
        path,
        description=before["description"],
        outputs=before["outputs"],
        rule=before["rule"] | {"intervals": {"clarity": width}},
        data=before["training"]["data"],
        metrics={key: value for key, value in figures.items() if "clarity" in key},
        limits=before["training"]["limits"],
        licence=before["licence"],
    )


def scaled(head: heads.Head, factors: list[float]) -> heads.Head:
    """The head with each of its outputs multiplied, to weigh it in an ensemble's mean."""
    with torch.no_grad():
        for linear in (head.out, head.clip):
            linear.weight *= torch.tensor(factors)[:, None]
            linear.bias *= torch.tensor(factors)
    return head


def export(parts: int, seeds: list[int]) -> None:
    """Categories by the linear head, valence and arousal by both, clarity by the tuned head."""
    manifest.MODELS = TUNE / "models"
    clips, windows = read_clips(), load_windows()
    members, out = split(clips, windows.clips)
    targets, model = emotion.targets_of(clips), mixed(seeds, 1)
    pooled, values = encoded("tuned", parts)
    linear = np.load(TUNE / "linear-tuned.npz")
    weight, bias = linear["weight"], linear["bias"]
    flat = pooled @ weight + bias
    values = np.concatenate([flat[:, :8], (flat[:, 8:10] + values[:, 8:10]) / 2, values[:, 10:]], 1)
    rated = members[[clips[i].corpus == "TAVA" for i in windows.clips[members]]]
    figures = tune_report.figures(clips, windows, out, values[out], targets)
    calibration, widths, low = calibration_of(clips, windows, out, values[out], rated, values[rated], targets)
    print(tune_report.table({"export": figures}), calibration, widths, low, sep="\n")
    export_trunk()
    flat_head = scaled(tune_linear.head_of(weight[:, :10], bias[:10]), [2.0] * 8 + [1.0] * 2)
    export_emotion([flat_head, scaled(model.feeling, [0.0] * 8 + [1.0] * 2)], calibration, widths, low, figures)
    export_cognitive([model.clarity], clips, windows, out, values[out], figures)


if __name__ == "__main__":
    torch.set_num_threads(1)
    verb, numbers = sys.argv[1], [int(v) for v in sys.argv[2:]]
    if verb == "stopped":
        average_of(*numbers)
    elif verb == "encode":
        encode("tuned", 1, numbers[2:], *numbers[:2])
    elif verb == "compare":
        compare(*numbers)
    else:
        export(numbers[0], numbers[1:])
