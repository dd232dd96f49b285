"""Frozen encoders as ONNX graphs, and the moments of their layers over every utterance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from tqdm import tqdm

from training import cache
from training.corpora.index import read_clips
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
    write: Callable[[Path], None]  # its graph: features [1,T,80] -> `tokens` [1,ceil(T/2),sum of the layers]
    features: Callable[[], LogMelStore]
    silence: float  # every feature of a frame outside of the recording
    quantized: bool = False  # convolutions are quantised after the graph is written


def write_whisper(weights: Callable[[], dict[str, np.ndarray]], width: int, layers: int) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        g, network = Graph("whisper"), Trunk(width=width, layers=layers).load_whisper(weights())
        outputs = trunk_graph.write_layers(g, g.input("features", [1, "frames", BINS]), network.eval())
        g.output(g.op("Concat", *outputs, axis=2), "tokens", [1, "tokens", width * layers])
        g.save(path)

    return write


def write_camplusplus(path: Path) -> None:
    g = Graph("camplusplus")
    features = g.input("features", [1, "frames", BINS])
    centred = g.op("Sub", features, g.op("ReduceMean", features, g.integers(1), keepdims=1))
    blocks = camplusplus_graph.write_blocks(g, g.op("Transpose", centred, perm=[0, 2, 1]), camplusplus.load())
    g.output(g.op("Transpose", g.op("Concat", *blocks, axis=1), perm=[0, 2, 1]), "tokens", [1, "tokens", sum(camplusplus.CHANNELS)])
    g.save(path)


TINY = Encoder("whisper-tiny", {"1": 384, "2": 384}, write_whisper(whisper_weights.read_encoder, 384, 2), log_mel.of_corpora, SILENCE)
BASE = Encoder("whisper-base", {"1": 512, "2": 512, "3": 512}, write_whisper(whisper_weights.read_base_encoder, 512, 3), log_mel.of_corpora,
               SILENCE)  # fmt: skip
CAMPLUSPLUS = Encoder("CAM++", dict(zip("12", camplusplus.CHANNELS)), write_camplusplus, log_mel.filterbanks_of_corpora, FILTERBANK_SILENCE,
                      quantized=True)  # fmt: skip


class Features:
    """Of utterances: one row of the store at a time."""

    def __init__(self, encoder: Encoder, windows: WindowStore):
        self.source, self.silence, self.windows = encoder.features(), encoder.silence, windows

    def __getitem__(self, window: int) -> np.ndarray:
        """float32 [1,T,80]"""
        return slice_padded(self.source[self.windows.recordings[window]], *self.windows.span(window), self.silence)[None]


class Calibration(CalibrationDataReader):
    def __init__(self, features: Features, windows: np.ndarray):
        self.inputs = ({"features": features[window]} for window in windows)

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.inputs, None)


def write_graph(encoder: Encoder, features: Features) -> Path:
    """Path of the graph in the cache. Convolutions have fixed scales of their inputs, from a sample of the training part."""

    def make(folder: Path) -> None:
        path = folder / "weights.onnx"
        encoder.write(path)
        if not encoder.quantized:
            return
        clips, windows = read_clips(), features.windows
        trained = [i for i in np.flatnonzero(~windows.copied) if not clips[windows.clips[i]].held_out]
        sample = np.random.default_rng(SEED).choice(trained, min(CALIBRATION_WINDOWS, len(trained)), replace=False)
        quantize_static(path, path, Calibration(features, sample), quant_format=QuantFormat.QDQ, op_types_to_quantize=["Conv"],
                        per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)  # fmt: skip

    code = cache.code_hash(camplusplus, camplusplus_graph, graph, trunk, trunk_graph, whisper_weights)
    inputs = {"name": encoder.name, "layers": encoder.layers, "windows": features.windows.key if encoder.quantized else None, "code": code}
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
