"""Parity of the PyTorch models and their exported graphs, with random weights."""

import numpy as np
import onnx
import pytest
import torch
from torch import nn

from training.corpora.corpus import EMOTIONS, PLACES
from training.encoder import frozen
from training.encoder.distill import new_student, prune_ffn
from training.encoder.embeddings import moments_of
from training.encoder.trunk import WIDTH, Trunk
from training.export import specs
from training.export.head_graph import EmotionScale, pooling_sums, write_clarity, write_emotion
from training.export.trunk_graph import write_trunk
from training.export.vad_graph import SIZES, read_vad, write_vad
from training.features.level import normalize_level
from training.features.windows import SILENCE
from training.heads import emotion
from training.heads.attention_head import AttentionHead, moments
from training.session import Session
from training.vad.detector import Detector
from training.vad.model import LOOKAHEAD, VadNet


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


@pytest.mark.parametrize("coarse", [False, True])
def test_trunk_in_int8_follows_the_one_in_fp32(tmp_path, coarse):
    trunk = (new_student() if coarse else Trunk()).eval()
    write_trunk(trunk, tmp_path / "trunk.onnx")
    x = rows(203)
    found = Session(tmp_path / "trunk.onnx").run(features=x)["tokens"]
    with torch.no_grad():
        wanted = trunk(normalize_level(torch.from_numpy(x))).numpy()
    wanted = wanted[:, ::2] if coarse else wanted
    assert found.shape == wanted.shape and correlation(found, wanted) > 0.999


def test_padding_does_not_change_embeddings():
    trunk = Trunk().eval()
    x = torch.from_numpy(rows(120))
    padded = torch.cat([x, torch.full((1, 40, 80), -10.0)], 1)
    lengths = torch.tensor([120])
    with torch.no_grad():
        alone = trunk(normalize_level(x))
        longer = trunk(normalize_level(padded, lengths), lengths)
    assert torch.allclose(alone, longer[:, :60], atol=1e-4)


def test_pruning_keeps_the_strongest_units():
    teacher = Trunk()
    student = prune_ffn(teacher)
    strength = [layer.ffn_in.weight.norm(dim=1) * layer.ffn_out.weight.norm(dim=0) for layer in (teacher.layers[0], student.layers[0])]
    assert student.layers[0].ffn_in.out_features == 512 and strength[1].min() >= strength[0].sort().values[-513]


def test_emotion_head(tmp_path):
    x, w = embeddings(40)
    heads = [nn.Sequential(nn.Linear(2 * WIDTH, 10)), nn.Sequential(nn.Linear(2 * WIDTH, 16), nn.GELU(), nn.Linear(16, 10))]
    scale = EmotionScale(0.4, 1.3, np.array([1.2, 0.9]), np.array([0.1, -0.05]), np.array([0.01, 0.02]), np.array([0.5, 0.3]), 0.8, 0.4)
    stored = np.stack([moments_of(*(v[0] for v in embeddings(count))) for count in range(30, 130)])
    distance = emotion.fit_distance(stored, np.repeat(["a", "b"], [30, 70]))
    write_emotion(heads, scale, distance, tmp_path / "head.onnx")
    session = Session(tmp_path / "head.onnx")
    assert tuple(session.outputs) == specs.EMOTION.outputs
    found = session.run(tokens=x, weights=w)
    values = torch.from_numpy(emotion.predict_mean(heads, moments_of(x[0], w[0])[None]))
    apart = distance(moments_of(x[0], w[0])[None])
    beyond = max(0, apart[0] - scale.near)
    assert found["distance"] == pytest.approx(apart, rel=1e-3) and beyond > 0
    logits = values[:, emotion.CATEGORIES] + 0.4 * torch.eye(1, 8)
    probabilities = torch.softmax(logits / (1.3 * (1 + 0.4 * beyond)), 1).numpy()
    assert np.allclose(found["probabilities"], probabilities, atol=1e-5)
    dimensions = np.clip(scale.slopes * torch.sigmoid(values[0, emotion.DIMENSIONS]).numpy() + scale.intercepts, 0, 1)
    assert np.allclose([found["valence"][0], found["arousal"][0]], dimensions, atol=1e-5)
    for index, name in enumerate(("valence", "arousal")):
        places = np.array([PLACES[name][label] for label in EMOTIONS])
        variance = probabilities[0] @ places**2 - (probabilities[0] @ places) ** 2
        wanted = np.sqrt(scale.spread_floor[index] + scale.spread_gain[index] * variance) * (1 + 0.4 * beyond)
        assert found[f"{name}_spread"][0] == pytest.approx(wanted, rel=1e-3)


def clarity_heads() -> list[AttentionHead]:
    return [AttentionHead(1, np.full(WIDTH, 0.1, np.float32), np.full(WIDTH, 1.2, np.float32)).eval(), AttentionHead(1).eval()]


def test_clarity_of_utterances_is_that_of_all_their_embeddings(tmp_path):
    x, w = embeddings(25)
    heads = clarity_heads()
    write_clarity(heads, 0.5, 0.4, tmp_path / "head.onnx")
    session = Session(tmp_path / "head.onnx")
    sums = np.zeros((1, pooling_sums(heads)), np.float32)
    assert tuple(session.outputs) == specs.CLARITY.outputs
    for start, end in ((0, 12), (12, 25)):
        found = session.run(tokens=x[:, start:end], weights=w[:, start:end], sums=sums)
        sums = found["next_sums"]
        with torch.no_grad():
            wanted = np.mean([float(head(torch.from_numpy(x[:, :end]), torch.from_numpy(w[:, :end]))) for head in heads])
        assert found["clarity"][0] == pytest.approx(np.clip(0.5 * wanted + 0.4, 0, 1), abs=1e-4)


def test_moments_of_stored_embeddings_are_those_of_the_heads():
    x, w = embeddings(30)
    stored = moments_of(x[0], w[0])
    share = torch.from_numpy(w / w.sum())[:, :, None]
    mean, deviation = moments(torch.from_numpy(x), share)
    assert np.allclose(stored, torch.cat([mean, deviation], 1)[0].numpy(), atol=1e-5)


@pytest.mark.parametrize("frames", [57, 333, 1000])
def test_camplusplus(tmp_path, frames):
    path = tmp_path / "camplusplus.onnx"
    x = rows(frames)
    frozen.write_layers(frozen.CAMPLUSPLUS, path)
    with torch.no_grad():
        network = frozen.load_camplusplus()
        layers = network.xvector
        first = layers.block1(layers.tdnn(network.head(torch.from_numpy(x - x.mean(1, keepdims=True)).transpose(1, 2))))
        expected = torch.cat([first, layers.block2(layers.transit1(first))], 1).transpose(1, 2)
    np.testing.assert_allclose(Session(path).run(features=x)["tokens"], expected, atol=1e-3)


@pytest.mark.parametrize("frames", [97, 202])
def test_large_trunk_averages_pairs_and_projects_frozen_layers(tmp_path, frames):
    inputs = {encoder.input: rows(frames, seed) for seed, encoder in enumerate(frozen.LARGE_ENCODERS)}
    write_trunk(Trunk().eval(), tmp_path / "tuned.onnx")
    layers = [Session(tmp_path / "tuned.onnx").run(features=inputs["features"])["tokens"][0]]
    for encoder in frozen.LARGE_ENCODERS:
        frozen.write_layers(encoder, tmp_path / "layers.onnx")
        layers.append(Session(tmp_path / "layers.onnx").run(features=inputs[encoder.input])["tokens"][0])
    joined = np.concatenate(layers, 1)
    pairs = np.stack([joined[start : start + 2].mean(0) for start in range(0, len(joined), 2)])
    rng = np.random.default_rng(3)
    width = joined.shape[1] - WIDTH
    centre = pairs[:, WIDTH:].mean(0)
    deviation = pairs[:, WIDTH:].std(0) + 0.1
    directions = rng.normal(0, 0.1, (width, frozen.PROJECTED)).astype(np.float32)
    frozen.large_trunk_graph(onnx.load(tmp_path / "tuned.onnx"), frozen.Projection(centre, deviation, directions)).save(tmp_path / "trunk.onnx")
    found = Session(tmp_path / "trunk.onnx").run(**inputs)["tokens"][0]
    assert found.shape == (-(-frames // frozen.LARGE_FRAMES_PER_EMBEDDING), WIDTH + frozen.PROJECTED)
    np.testing.assert_allclose(found[:, :WIDTH], pairs[:, :WIDTH], atol=1e-4)
    assert correlation(found[:, WIDTH:], (pairs[:, WIDTH:] - centre) / deviation @ directions) > 0.999
