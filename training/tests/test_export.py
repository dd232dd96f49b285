"""Parity of the PyTorch models and their exported graphs, with random weights."""

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto
from scipy.special import softmax

from training.corpora.corpus import DIMENSIONS
from training.corpora.recipe import SOLD
from training.encoder import encoders, whisper
from training.encoder.embeddings import VARIANCE_FLOOR
from training.encoder.whisper import Whisper
from training.export import specs, voice_graph, whisper_graph
from training.export.byte_graph import Bytes, levels_of_each, write_product, write_rectified, write_values
from training.export.camplusplus_graph import GraphWriter, Observed, observe
from training.export.graph import Graph, write_shapes
from training.export.head_graph import EmotionScale, sums_size, write_clarity, write_emotion, write_voice
from training.export.vad_graph import SIZES, read_vad, write_vad
from training.features.level import normalize_level
from training.features.log_mel import BINS
from training.features.windows import SILENCE
from training.heads import emotion
from training.heads.emotion import EmotionHead
from training.heads.linear import Linear
from training.heads.speaker import VoiceNetwork
from training.session import Session
from training.settings import REPOSITORY
from training.vad.detector import Detector
from training.vad.model import LOOKAHEAD, VadNet

WIDTH = 300


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(5)


def rows(frames: int, seed: int = 0) -> np.ndarray:
    """[1,T,80] like log10 of mel energies"""
    rng = np.random.default_rng(seed)
    level = np.cumsum(rng.normal(0, 0.2, (frames, 1)), 0)
    return (level + rng.normal(-3, 0.7, (1, frames, 80))).astype(np.float32)


def embeddings(count: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.normal(0, 1, (1, count, WIDTH)).astype(np.float32), rng.random((1, count)).astype(np.float32)


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.corrcoef(a.ravel(), b.ravel())[0, 1])


@pytest.fixture
def vad(tmp_path) -> tuple[VadNet, Detector]:
    """An untrained network, and its graph."""
    net = VadNet().eval()
    write_vad(net, tmp_path / "vad.onnx")
    return net, Detector(tmp_path / "vad.onnx")


@pytest.mark.parametrize("frames", [50, 203, 1500])
def test_vad(vad, frames):
    net, detector = vad
    assert tuple(detector.session.outputs) == specs.VAD.outputs
    x = rows(frames)
    found = detector.run(x[0])
    with torch.no_grad():
        logits, rate = net(torch.from_numpy(x))
        voice = net.speech_check(net.encode(torch.from_numpy(x))).repeat_interleave(2, 2)[:, 0, :frames]
    assert np.allclose(found["speech"], torch.sigmoid(logits)[0].numpy(), atol=1e-4)
    assert np.allclose(found["syllable_rate"], rate[0].numpy(), atol=1e-3)
    assert np.allclose(found["voice"], voice[0].numpy(), atol=1e-3)


def test_a_vad_graph_is_read_back(vad, tmp_path):
    read = read_vad(tmp_path / "vad.onnx").state_dict()
    assert all(torch.equal(values, read[name]) for name, values in vad[0].state_dict().items())


def test_vad_in_pieces(vad):
    detector = vad[1]
    x = rows(900)
    padded = np.concatenate([x, np.full((1, LOOKAHEAD, 80), SILENCE, np.float32)], 1)
    state = detector.state
    pieces = []
    for start, end in ((0, 2), (2, 40), (40, 600), (600, 602), (602, 900 + LOOKAHEAD)):
        found = detector.session.run(features=padded[:, start:end], state=state)
        assert found["speech"].shape == (1, end - start) and found["next_state"].shape == (1, sum(SIZES))
        state = found["next_state"]
        pieces.append(found)
    whole = detector.run(x[0])
    for name, values in whole.items():
        assert np.allclose(np.concatenate([piece[name][0] for piece in pieces])[LOOKAHEAD:], values, atol=1e-4)


def test_vad_does_not_change_what_it_said_more_than_its_lookahead_ago(vad):
    detector = vad[1]
    x = rows(400)[0]
    changed = x.copy()
    changed[300:] += 2
    before, after = (detector.run(one)["speech"] for one in (x, changed))
    assert np.allclose(before[: 300 - LOOKAHEAD], after[: 300 - LOOKAHEAD], atol=1e-6) and not np.allclose(before, after, atol=1e-6)


def test_silence_before_a_recording_changes_nothing(vad):
    detector = vad[1]
    x = rows(200)[0]
    later = np.concatenate([np.full((600, 80), SILENCE, np.float32), x])
    assert np.allclose(detector.run(later)["speech"][600:], detector.run(x)["speech"], atol=1e-5)


@pytest.mark.parametrize("depth", [1, 3])
def test_whisper_in_int8_follows_the_one_in_fp32(tmp_path, depth):
    model = Whisper(depth).eval()
    g = Graph("whisper")
    for layer, output in enumerate(whisper_graph.write_layers(g, g.input("features", [1, "frames", BINS]), model)):
        g.output(output, f"layer_{layer}", [1, "embeddings", whisper.WIDTH])
    g.save(tmp_path / "trunk.onnx")
    x = rows(203)
    found = Session(tmp_path / "trunk.onnx").run(features=x)
    with torch.no_grad():
        wanted = model(normalize_level(torch.from_numpy(x)))
    assert len(found) == depth
    for values, layer in zip(found.values(), wanted):
        assert values.shape == (1, 102, whisper.WIDTH) and correlation(values, layer.numpy()) > 0.999


def without_shape(model: onnx.ModelProto) -> set[str]:
    known = {value.name for value in (*model.graph.value_info, *model.graph.output)}
    return {name for node in model.graph.node for name in node.output} - known


@pytest.mark.parametrize("models", specs.SETS)
def test_a_shipped_trunk_has_the_shape_of_every_value(models):
    assert without_shape(onnx.load(REPOSITORY / "models" / models / "trunk/weights.onnx")) == set()


def test_shapes_change_no_output(tmp_path):
    g = Graph("whisper")
    (output,) = whisper_graph.write_layers(g, g.input("features", [1, "frames", BINS]), Whisper(1).eval())
    g.output(output, "layer", [1, "embeddings", whisper.WIDTH])
    path = tmp_path / "trunk.onnx"
    g.save(path)
    x = rows(203)
    before = Session(path).run(features=x)["layer"]
    assert without_shape(onnx.load(path))
    write_shapes(path, range(60, 100, 3))
    shaped = onnx.load(path)
    assert without_shape(shaped) == set()
    assert {size.dim_param for value in shaped.graph.value_info for size in value.type.tensor_type.shape.dim} <= {"", *(f"size_{i}" for i in range(1, 6))}
    assert np.array_equal(Session(path).run(features=x)["layer"], before)


def camplusplus_of(x: np.ndarray):
    """A graph of CAM++ with the scales of `x`, and what writes it."""
    network = encoders.load_camplusplus()
    g = Graph("camplusplus")
    return g, GraphWriter(g, network, observe(network, [x - x.mean(1, keepdims=True)]))


def error(found: np.ndarray, wanted: torch.Tensor) -> float:
    """[N,values] against [1,values,N]: of a value, the mean error as a share of its spread; the median of all values."""
    errors = np.abs(found - wanted[0].numpy().T).mean(0)
    return float(np.median(errors / (wanted[0].numpy().std(1) + 1e-3)))


def test_camplusplus_follows_the_network(tmp_path):
    x = rows(310)
    g, writer = camplusplus_of(x)
    for name, output in zip(encoders.CAMPLUSPLUS, writer.blocks(g.input("filterbanks", [1, "frames", BINS]))):
        g.output(write_values(g, output), name, ["embeddings", encoders.WIDTHS[name]])
    g.save(tmp_path / "camplusplus.onnx")
    found = Session(tmp_path / "camplusplus.onnx").run(filterbanks=x)
    network = encoders.load_camplusplus()
    with torch.no_grad():
        y = network.head(torch.from_numpy(x - x.mean(1, keepdims=True)).permute(0, 2, 1))
        first = network.xvector.block1(network.xvector.tdnn(y))
        second = network.xvector.block2(network.xvector.transit1(first))
    for name, wanted in zip(encoders.CAMPLUSPLUS, (first, second)):
        assert error(found[name], wanted) < 0.2
        assert error(np.roll(found[name], 1, 0), wanted) > 0.5


def test_windows_are_read_alone(tmp_path):
    network = encoders.load_camplusplus()
    g = Graph("windows")
    _, writer = camplusplus_of(rows(310))
    writer.g = g
    levels = levels_of_each(np.zeros(1024, np.float32), np.ones(1024, np.float32))
    steps = np.random.default_rng(3).integers(0, 256, (2, encoders.WINDOW_ROWS, 1024)).astype(np.uint8)
    frames = g.op("Reshape", g.input("frames", ["n", encoders.WINDOW_ROWS, 1024], TensorProto.UINT8), g.integers(-1, 1024))
    rest = writer.rest(Bytes(frames, levels), encoders.WINDOW_ROWS)
    voice_graph.write_voices(g, rest, encoders.WINDOW_ROWS, voice_graph.embedding_of(network))
    g.save(tmp_path / "windows.onnx")
    session = Session(tmp_path / "windows.onnx")
    alone = [session.run(frames=window[None])["voice"][0] for window in steps]
    assert np.allclose(session.run(frames=steps)["voice"], alone, atol=1e-5)
    assert np.abs(alone[0] - alone[1]).max() > 1e-3


def test_bytes_of_each_slope_are_rectified_as_the_network_rectifies_them(tmp_path):
    g = Graph("rectified")
    rng = np.random.default_rng(4)
    x = rng.normal(0, 1, (50, 6)).astype(np.float32)
    slope, shift = np.array([1, 0.5, -0.7, -2, 1, -1], np.float32), np.array([0.1, -0.4, 0.3, -0.6, 9, -9], np.float32)
    levels = levels_of_each(x.min(0), x.max(0))
    steps = np.rint(x / levels.scale + levels.zero).astype(np.uint8)
    name = g.input("x", ["n", 6], TensorProto.UINT8)
    rectified, columns = write_rectified(g, Bytes(name, levels), slope, shift)
    weight = rng.normal(0, 1, (3, 6))
    g.output(write_product(g, rectified, weight[:, columns], np.array([1, 2, 3])), "y", ["n", 3])
    g.save(tmp_path / "rectified.onnx")
    found = Session(tmp_path / "rectified.onnx").run(x=steps)["y"]
    assert np.abs(found - (np.maximum(x * slope + shift, 0) @ weight.T + [1, 2, 3])).max() < 0.1


def test_voices_of_windows_are_those_of_the_network(tmp_path, monkeypatch):
    x = rows(310)
    _, writer = camplusplus_of(x)
    network = encoders.load_camplusplus()
    observed = Observed(writer.ranges, writer.moments)
    monkeypatch.setattr(encoders, "graph_writer", lambda g: GraphWriter(g, network, observed))
    encoders.write_voice(tmp_path / "base.onnx", tmp_path / "rest.onnx")
    windows = np.zeros((2, 155), np.float32)
    windows[0], windows[1, 40:90] = 1, 1
    read = Session(tmp_path / "base.onnx").run(filterbanks=x)["frames"]
    rest = Session(tmp_path / "rest.onnx")
    found = rest.run(frames=read, weights=windows)["voice"]
    alone = rest.run(frames=read[40:90], weights=windows[1:, 40:90])["voice"][0]
    assert 0.8 < alone @ found[1] < 0.9999
    dense = network.xvector.dense
    with torch.no_grad():
        frames = network.head(torch.from_numpy(x - x.mean(1, keepdims=True)).permute(0, 2, 1))
        for name, layer in network.xvector.named_children():
            if name == "stats":
                break
            frames = layer(frames)
        for voice, part in zip(found, (frames, frames[..., 40:90])):
            pooled = torch.cat([part.mean(2), part.var(2, unbiased=False).clamp(voice_graph.VARIANCE_FLOOR).sqrt()], 1)
            wanted = dense.nonlinear.batchnorm(dense.linear(pooled[..., None])[..., 0])[0].numpy()
            assert voice @ wanted / np.linalg.norm(wanted) > 0.99


@pytest.mark.parametrize("count", [1, 6, 7])
def test_pairs_are_averaged_and_the_last_of_an_odd_number_stays(tmp_path, count):
    g = Graph("pairs")
    g.output(encoders.write_mean(g, encoders.write_pairs(g, g.input("x", [1, "n", 2]), 2)), "y", [1, "m", 2])
    g.save(tmp_path / "pairs.onnx")
    x = np.arange(2 * count, dtype=np.float32).reshape(1, count, 2)
    found = Session(tmp_path / "pairs.onnx").run(x=x)["y"][0]
    assert np.allclose(found, [x[0, at : at + 2].mean(0) for at in range(0, count, 2)])


def test_emotion_head(tmp_path):
    x, w = embeddings(40)
    rng = np.random.default_rng(2)
    labels = len(SOLD.labels)
    categories = Linear(rng.normal(0, 0.1, (WIDTH, labels)).astype(np.float32), rng.normal(0, 1, labels).astype(np.float32))
    dimensions = Linear(rng.normal(0, 0.02, (WIDTH, 2)).astype(np.float32), np.array([0.4, 0.6], np.float32))
    distance = emotion.fit_distance(rng.normal(0, 1, (200, WIDTH)).astype(np.float32), np.repeat(["a", "b"], 100))
    scale = EmotionScale(1.7, np.array([1.2, 0.9]), np.array([-0.05, 0.03]), np.array([1.0, 2.0]))
    write_emotion(EmotionHead(categories, dimensions, distance), scale, tmp_path / "head.onnx")
    session = Session(tmp_path / "head.onnx")
    assert tuple(session.outputs) == specs.emotion_of(specs.STANDARD).outputs
    found = session.run(tokens=x, weights=w)
    mean = (w / w.sum()) @ x[0]
    assert np.allclose(found["probabilities"], softmax(scale.logits(categories(mean)), 1), atol=1e-5)
    assert np.allclose(np.concatenate([found[name] for name in DIMENSIONS]), scale.dimensions(dimensions(mean))[0], atol=1e-5)
    assert found["distance"] == pytest.approx(distance(mean), rel=1e-3)
    assert [found[f"{name}_spread"].tolist() for name in DIMENSIONS] == [[1], [2]]


def test_clarity_of_utterances_is_that_of_the_whole(tmp_path):
    x, w = embeddings(60)
    rng = np.random.default_rng(4)
    linear = Linear(rng.normal(0, 0.01, (2 * WIDTH, 1)).astype(np.float32), np.array([0.5], np.float32))
    write_clarity(linear, x[0].mean(0), tmp_path / "head.onnx")
    session = Session(tmp_path / "head.onnx")
    sums = np.zeros((1, sums_size(WIDTH)), np.float32)
    whole = session.run(tokens=x, weights=w, sums=sums)
    for part in (slice(0, 25), slice(25, 60)):
        found = session.run(tokens=x[:, part], weights=w[:, part], sums=sums)
        sums = found["next_sums"]
    assert found["clarity"] == pytest.approx(whole["clarity"], abs=1e-4)
    share = w[0] / w.sum()
    mean = share @ x[0]
    deviation = np.sqrt(share @ x[0] ** 2 - mean**2 + VARIANCE_FLOOR)
    assert whole["clarity"] == pytest.approx(np.clip(linear(np.concatenate([mean, deviation])[None])[0], 0, 1), abs=1e-3)


def test_voices_of_windows_have_length_one(tmp_path):
    x = embeddings(40)[0].reshape(2, 20, WIDTH)
    net = VoiceNetwork(np.zeros(WIDTH, np.float32), np.ones(WIDTH, np.float32)).eval()
    write_voice(net, WIDTH, tmp_path / "voice.onnx")
    found = Session(tmp_path / "voice.onnx").run(tokens=x)["voice"]
    with torch.no_grad():
        wanted = net(torch.from_numpy(x.mean(1))).numpy()
    assert np.allclose(found, wanted, atol=1e-5) and np.allclose(np.linalg.norm(found, axis=1), 1)
