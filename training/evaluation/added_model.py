"""A small classifier, exported to ONNX as its maker would, through `undertone models add`, `evaluate` and `adapt`: docs/results/added-models.md.

It learns from recordings that may be sold. Corpora judge it that neither it nor models/standard was fitted on.
"""

import csv
import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import soundfile
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.quantization.shape_inference import quant_pre_process
from scipy.signal import resample_poly
from torch import nn

from training import cache, settings
from training.corpora.corpus import Clip
from training.corpora.recipe import SOLD
from training.corpora.registry import read_clips
from training.evaluation.reports import command_environment
from training.reporting.tables import replace_between, table
from training.settings import SEED

PAGE = settings.RESULT_PAGES / "added-models.md"
LABELS = ("neutral", "happy", "sad", "angry")
JUDGES = ("RAVDESS", "EMOVO", "nEMO", "ASED")
PER_LABEL = 30  # recordings of a judging corpus, and as many of other speakers that calibrate
SAMPLE_RATE = 16_000
SECONDS = 3
BATCH = 64
EPOCHS = 14
MELS = 64
FFT = 512
HOP = 160


class Classifier(nn.Module):
    """Samples [n,samples] -> logits [n,4]: log-mel energies, convolutions over them, their mean over time."""

    def __init__(self) -> None:
        super().__init__()
        bins = torch.arange(FFT // 2 + 1)
        angles = 2 * np.pi * torch.outer(bins, torch.arange(FFT)) / FFT
        window = torch.hann_window(FFT)
        self.register_buffer("bases", torch.cat([angles.cos() * window, -angles.sin() * window])[:, None])
        self.register_buffer("mel", mel_filters())
        layers = []
        for before, after in ((MELS, 96), (96, 128), (128, 128), (128, 128)):
            layers += [nn.Conv1d(before, after, 5, 2, 2), nn.BatchNorm1d(after), nn.ReLU(), nn.Dropout(0.2)]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Linear(128, len(LABELS))

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        real, imaginary = torch.chunk(nn.functional.conv1d(samples[:, None], self.bases, stride=HOP), 2, 1)
        energy = torch.matmul(self.mel, real**2 + imaginary**2)
        log = torch.log(energy + 1e-3)
        return self.head(self.layers(log - log.mean(2, keepdim=True)).mean(2))


def mel_filters() -> torch.Tensor:
    """[mels,bins] triangles of equal width on the mel scale"""
    edges = 700 * (10 ** (np.linspace(0, 2595 * np.log10(1 + SAMPLE_RATE / 2 / 700), MELS + 2) / 2595) - 1)
    places = np.linspace(0, SAMPLE_RATE / 2, FFT // 2 + 1)
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    return torch.tensor(np.clip(np.minimum((places - low) / (middle - low), (high - places) / (high - middle)), 0, None), dtype=torch.float32)


def read_samples(clip: Clip) -> np.ndarray:
    """16 kHz, zero mean and unit variance, as Wav2Vec2FeatureExtractor makes them."""
    samples, rate = soundfile.read(settings.DATA / clip.path, dtype="float32", always_2d=True)
    mono = resample_poly(samples.mean(1), SAMPLE_RATE, rate) if rate != SAMPLE_RATE else samples.mean(1)
    return ((mono - mono.mean()) / (mono.std() + 1e-7)).astype(np.float32)


def cut(samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random part of SECONDS; shorter recordings are repeated."""
    length = SECONDS * SAMPLE_RATE
    whole = np.tile(samples, -(-length // len(samples)))
    start = rng.integers(0, len(whole) - length + 1)
    return whole[start : start + length]


def learn(clips: list[Clip]) -> Classifier:
    torch.manual_seed(SEED)
    rng = np.random.default_rng(SEED)
    recordings = [read_samples(clip) for clip in clips]
    truth = np.array([LABELS.index(clip.emotion) for clip in clips])
    net = Classifier()
    optimizer = torch.optim.AdamW(net.parameters(), 2e-3, weight_decay=0.01)
    steps = EPOCHS * (len(clips) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps)
    weights = torch.tensor(1 / np.bincount(truth), dtype=torch.float32)
    for rows in batches(len(clips), rng):
        samples = torch.from_numpy(np.stack([cut(recordings[row], rng) for row in rows]))
        loss = nn.functional.cross_entropy(net(samples), torch.from_numpy(truth[rows]), weights)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return net.eval()


def batches(count: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    for _ in range(EPOCHS):
        order = rng.permutation(count)
        yield from np.split(order[: count // BATCH * BATCH], count // BATCH)


def export(net: Classifier, folder: Path) -> None:
    """The files that Optimum writes."""
    folder.mkdir(parents=True)
    example = torch.zeros(1, SECONDS * SAMPLE_RATE)
    names = {"input_names": ["input_values"], "output_names": ["logits"], "dynamic_axes": {"input_values": {0: "batch", 1: "samples"}, "logits": {0: "batch"}}}
    torch.onnx.export(net, (example,), folder / "model.onnx", opset_version=17, dynamo=False, **names)
    write_config(folder)


def write_config(folder: Path) -> None:
    config = {"architectures": ["HubertForSequenceClassification"], "id2label": dict(enumerate(LABELS)), "_name_or_path": "small-classifier"}
    preprocessor = {"feature_extractor_type": "Wav2Vec2FeatureExtractor", "do_normalize": True, "sampling_rate": SAMPLE_RATE}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "preprocessor_config.json").write_text(json.dumps(preprocessor))
    (folder / "README.md").write_text("---\nlicense: cc-by-4.0\n---\n")


def quantize(source: Path, folder: Path) -> None:
    """The layers that were learned; the front end stays in float."""
    folder.mkdir(parents=True)
    prepared = folder / "prepared.onnx"
    quant_pre_process(source / "model.onnx", prepared)
    learned = [node.name for node in onnx.load(prepared).graph.node if node.name.startswith("/layers/")]
    quantize_dynamic(prepared, folder / "model.onnx", op_types_to_quantize=["Conv"], nodes_to_quantize=learned, weight_type=QuantType.QUInt8)
    prepared.unlink()
    write_config(folder)


def split_judges(clips: list[Clip]) -> tuple[list[Clip], list[Clip]]:
    """PER_LABEL recordings of each judging corpus and label by half of its speakers, drawn at random, and as many by the other half."""
    rng = np.random.default_rng(SEED)
    halves = ([], [])
    for name in JUDGES:
        labelled = [clip for clip in clips if clip.corpus == name and clip.emotion in LABELS]
        speakers = rng.permutation(sorted({clip.speaker for clip in labelled}))
        for half, members in zip(halves, np.array_split(speakers, 2)):
            for label in LABELS:
                same = [clip for clip in labelled if clip.emotion == label and clip.speaker in members]
                half += [same[i] for i in rng.permutation(len(same))[:PER_LABEL]]
    return halves


def write_labels(clips: list[Clip], path: Path) -> None:
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["path", "label", "speaker"])
        rows.writerows([(settings.DATA / clip.path).resolve(), clip.emotion, f"{clip.corpus}-{clip.speaker}"] for clip in clips)


def undertone(*args: str | Path) -> None:
    command = ["node", "dist/src/cli.js", *map(str, args)]
    subprocess.run(command, cwd=settings.REPOSITORY, env=command_environment(), check=True)


def label_changes(one: Path, other: Path, clips: list[Clip]) -> float:
    """Share of recordings whose most probable label differs."""
    first, second = (onnxruntime.InferenceSession(folder / "model.onnx") for folder in (one, other))

    def best(session: onnxruntime.InferenceSession, samples: np.ndarray) -> int:
        return int(session.run(None, {"input_values": samples[None]})[0].argmax())

    return float(np.mean([best(first, samples) != best(second, samples) for samples in map(read_samples, clips)]))


def run() -> None:
    clips = read_clips()
    learned = [clip for clip in clips if clip.corpus in SOLD.emotion and clip.emotion in LABELS]
    code = cache.code_hash(Classifier, learn, export, write_config)

    def make(folder: Path) -> None:
        export(learn(learned), folder / "float")

    source = cache.build("added-model", {"clips": [clip.path for clip in learned], "code": code}, make) / "float"
    work = settings.CACHE / "added-model-sets"
    shutil.rmtree(work, ignore_errors=True)
    quantize(source, work / "int8-source")
    judged, labelled = split_judges(clips)
    write_labels(judged, work / "judged.csv")
    write_labels(labelled, work / "labelled.csv")
    undertone("models", "add", source, "--out", work / "float")
    undertone("models", "add", work / "int8-source", "--out", work / "int8")
    undertone("adapt", work / "labelled.csv", "--models", work / "float", "--out", work / "adapted")
    rows = []
    for name in ("float", "int8", "adapted"):
        undertone("evaluate", work / "judged.csv", "--models", work / name, "--compare", "standard", "--out", work / f"report-{name}")
        report = json.loads((work / f"report-{name}" / "report.json").read_text())
        figures = {one["figure"]: one["value"] for one in report["figures"] if one["group"] == "all"}
        (compared,) = (one for one in report["comparison"]["figures"] if one["figure"].startswith("UAR"))
        low, high = compared["interval"]
        rows.append([name, f"{compared['after']['value']:.3f}", f"{compared['before']['value']:.3f}", f"{low:+.3f} to {high:+.3f}",
                     f"{figures['confidence less accuracy']:+.3f}"])  # fmt: skip
        print(rows[-1], flush=True)
    titles = ["the set", "UAR of 4 labels", "`standard` on the same", "difference, 95 %", "confidence less accuracy"]
    replace_between(PAGE, "small classifier", table(titles, rows))
    changes = label_changes(source, work / "int8-source", judged)
    sizes = [(folder / "model.onnx").stat().st_size / 2**10 for folder in (source, work / "int8-source")]
    counted = f"{len(learned)} recordings taught it, {len(judged)} judge, {len(labelled)} calibrate. In int8 ({sizes[1]:.0f} KiB, {sizes[0]:.0f} in float) {100 * changes:.1f} % of labels change."
    replace_between(PAGE, "small classifier counts", counted)
