"""Frozen encoders as ONNX graphs, and the moments of their layers over every utterance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from tqdm import tqdm

from training import cache
from training.corpora.registry import read_clips
from training.encoder import camplusplus, trunk, whisper_weights
from training.encoder.embeddings import moments_of
from training.encoder.trunk import Trunk
from training.encoder.window_store import WindowStore
from training.export import camplusplus_graph, graph, trunk_graph
from training.export.graph import Graph
from training.features import log_mel
from training.features.log_mel import BINS, LogMelStore
from training.features.windows import FILTERBANK_SILENCE, SILENCE, embedding_weights, slice_padded
from training.session import Session
from training.settings import SEED

CALIBRATION_WINDOWS = 60
SAVE_EVERY = 2000  # utterances


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
    blocks = camplusplus_graph.write_blocks(g, g.op("Transpose", centred, perm=[0, 2, 1]), camplusplus.load())
    return [g.op("Transpose", block, perm=[0, 2, 1]) for block in blocks]


TINY = Encoder("whisper-tiny", {"1": 384, "2": 384}, whisper_nodes(whisper_weights.read_encoder, 384, 2), "features", log_mel.of_corpora, SILENCE)
BASE = Encoder("whisper-base", {"1": 512, "2": 512, "3": 512}, whisper_nodes(whisper_weights.read_base_encoder, 512, 3), "features",
               log_mel.of_corpora, SILENCE)  # fmt: skip
CAMPLUSPLUS = Encoder("CAM++", dict(zip("12", camplusplus.CHANNELS)), camplusplus_nodes, "filterbanks", log_mel.filterbanks_of_corpora,
                      FILTERBANK_SILENCE, quantized=True)  # fmt: skip
CODE = (camplusplus, camplusplus_graph, graph, trunk, trunk_graph, whisper_weights)  # modules that write their graphs


class Features:
    """Of utterances: one row of the store at a time."""

    def __init__(self, encoder: Encoder, windows: WindowStore):
        self.source, self.silence, self.windows = encoder.features(), encoder.silence, windows

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

    inputs = {"name": encoder.name, "layers": encoder.layers, "windows": windows.key if encoder.quantized else None, "code": cache.code_hash(*CODE),
              **({"weights": encoder.weights} if encoder.weights else {})}  # fmt: skip
    return cache.build("frozen", inputs, make) / "weights.onnx"


def layer_moments(encoder: Encoder, windows: WindowStore) -> np.ndarray:
    """float16 [utterances, 2 * values]: mean and deviation of each layer in turn, weighted by speech. An interrupted run continues."""
    features = Features(encoder, windows)
    path = write_graph(encoder, features)

    def make(folder: Path) -> None:
        session, parts = Session(path, threads=1), []
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

    inputs = {"graph": cache.file_hash(path), "windows": windows.key, "features": features.source.key}
    return np.load(cache.build("frozen-moments", inputs, make) / "moments.npy", mmap_mode="r")
