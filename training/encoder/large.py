"""The trunk of models/large: that of models/standard, and beside it layers of two frozen encoders, which no corpus of emotion has changed.

The outputs are averaged over pairs of embeddings; those of the frozen encoders are projected to PROJECTED values.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from training import settings
from training.encoder import frozen
from training.encoder.frozen import BASE, CAMPLUSPLUS, Encoder, Features
from training.encoder.trunk import WIDTH
from training.encoder.window_store import WindowStore
from training.export.graph import Graph
from training.export.trunk_graph import write_product
from training.features.log_mel import BINS

ENCODERS = (BASE, CAMPLUSPLUS)
PROJECTED = 640
FRAMES_PER_EMBEDDING = 4
FLOOR = 1e-4  # of a deviation


@dataclass(frozen=True)
class Projection:
    """(x - centre) / deviation, times the directions."""

    centre: np.ndarray  # float32 [values of all layers]
    deviation: np.ndarray  # float32 [values of all layers]
    directions: np.ndarray  # float32 [values of all layers, PROJECTED]


def fit_projection(windows: WindowStore) -> Projection:
    """The directions of largest variance of standardised means of utterances, over the recordings of the part train."""
    rows = frozen.training_windows(windows)
    means = np.concatenate([means_of(encoder, frozen.layer_moments(encoder, windows)[rows]) for encoder in ENCODERS], 1)
    centre, deviation = means.mean(0), means.std(0) + FLOOR
    standardised = (means - centre) / deviation
    _, vectors = np.linalg.eigh((standardised.T @ standardised / len(rows)).astype(float))
    return Projection(centre, deviation, vectors[:, : -PROJECTED - 1 : -1].astype(np.float32))


def means_of(encoder: Encoder, moments: np.ndarray) -> np.ndarray:
    """[n, mean and deviation of each layer in turn] -> float32 [n, values of all layers]"""
    starts = np.cumsum([0, *(2 * width for width in encoder.layers.values())])
    return np.concatenate([moments[:, start : start + width] for start, width in zip(starts, encoder.layers.values())], 1).astype(np.float32)


def graph_of(tuned: onnx.ModelProto, projection: Projection) -> Graph:
    """`tuned`: the trunk of models/standard. features and filterbanks [1,T,80] -> `tokens` [1,ceil(T/4),WIDTH + PROJECTED]"""
    g = Graph("trunk")
    inputs = {encoder.input: g.input(encoder.input, [1, "frames", BINS]) for encoder in ENCODERS}
    layers = [layer for encoder in ENCODERS for layer in encoder.write(g, inputs[encoder.input])]
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


def write(windows: WindowStore, path: Path) -> None:
    graph_of(onnx.load(settings.weights("trunk")), fit_projection(windows)).save(path)
    frozen.quantize_convolutions(path, {encoder.input: Features(encoder, windows) for encoder in ENCODERS}, windows)
