"""Writes a small set of models with every optional part of a manifest: filterbanks, frames, voices and the state of a stream.

training/.venv/bin/python test/upgrade/make_models.py FOLDER

The graphs have the inputs and outputs of shipped ones, and weights of a seeded generator; speech is what is loud.
Manifests are those of models/large without its figures.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, checker, helper, numpy_helper

BINS = 80
DIMENSIONS = 8
FRAMES_PER_TOKEN = 4
FRAMES_PER_ROW = 2
WINDOW_ROWS = 50
LOOKAHEAD = 4
VOICE = 4
LABELS = 7
#: Mean log-mel power of a frame that is speech with probability 0.5.
SPEECH_LEVEL = -4.3

random = np.random.default_rng(1)


def graph(path, nodes, inputs, outputs, constants):
    def shaped(shapes):
        kinds = {"frames": TensorProto.UINT8}
        return [helper.make_tensor_value_info(name, kinds.get(name, TensorProto.FLOAT), shape) for name, shape in shapes.items()]

    tensors = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    made = helper.make_graph(nodes, path.parent.name, shaped(inputs), shaped(outputs), tensors)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(model, full_check=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(model.SerializeToString())


def node(kind, inputs, outputs, **attributes):
    return helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def draw(*shape, scale=1.0):
    return (scale * random.standard_normal(shape)).astype(np.float32)


def floats(*values):
    return np.asarray(values, np.float32)


def make_vad(path):
    nodes = [
        node("ReduceMean", "features", "level", axes=[2], keepdims=0),
        node("Concat", "state level", "levels", axis=1),
        node("Slice", "levels from to second", "decided"),
        node("Slice", "levels to end second", "next_state"),
        node("Sub", "decided middle", "above"),
        node("Mul", "above slope", "voice"),
        node("Sigmoid", "voice", "speech"),
        node("Mul", "speech rate", "syllable_rate"),
    ]
    constants = {
        **{"from": np.asarray([0]), "to": np.asarray([-LOOKAHEAD]), "end": np.asarray([2**31])},
        **{"second": np.asarray([1]), "middle": floats(SPEECH_LEVEL), "slope": floats(8), "rate": floats(4)},
    }
    inputs = {"features": [1, "frames", BINS], "state": [1, LOOKAHEAD]}
    outputs = dict.fromkeys(("speech", "syllable_rate", "voice"), [1, "frames"]) | {"next_state": [1, LOOKAHEAD]}
    graph(path, nodes, inputs, outputs, constants)


def strided(columns, kernel, stride, output):
    """Nodes from [1,bins,frames] to [1,ceil(frames / stride),values] in (-1, 1)."""
    return [
        node("Conv", f"{columns} {kernel}", f"{output}_sums", strides=[stride], pads=[0, stride - 1]),
        node("Tanh", f"{output}_sums", f"{output}_bounded"),
        node("Transpose", f"{output}_bounded", output, perm=[0, 2, 1]),
    ]


def make_trunk(path):
    nodes = [
        node("Concat", "features filterbanks", "rows", axis=2),
        node("Transpose", "rows", "columns", perm=[0, 2, 1]),
        *strided("columns", "kernel", FRAMES_PER_TOKEN, "tokens"),
        *strided("columns", "row_kernel", FRAMES_PER_ROW, "values"),
        node("Mul", "values scale", "scaled"),
        node("Add", "scaled middle", "moved"),
        node("Cast", "moved", "frames", to=TensorProto.UINT8),
    ]
    constants = {
        "kernel": draw(DIMENSIONS, 2 * BINS, FRAMES_PER_TOKEN, scale=0.01),
        "row_kernel": draw(DIMENSIONS, 2 * BINS, FRAMES_PER_ROW, scale=0.01),
        **{"scale": floats(100), "middle": floats(128)},
    }
    inputs = dict.fromkeys(("features", "filterbanks"), [1, "frames_of_10_ms", BINS])
    outputs = {"tokens": [1, "count", DIMENSIONS], "frames": [1, "rows", DIMENSIONS]}
    graph(path, nodes, inputs, outputs, constants)


def make_trunk_voice(path):
    nodes = [
        node("Cast", "frames", "values", to=TensorProto.FLOAT),
        node("ReduceMean", "values", "pooled", axes=[1], keepdims=0),
        node("MatMul", "pooled kernel", "turned"),
        node("LpNormalization", "turned", "voice", axis=1),
    ]
    inputs = {"frames": ["voices", WINDOW_ROWS, DIMENSIONS]}
    graph(path, nodes, inputs, {"voice": ["voices", VOICE]}, {"kernel": draw(DIMENSIONS, VOICE)})


def make_voice_base(path):
    nodes = [
        node("Transpose", "filterbanks", "columns", perm=[0, 2, 1]),
        *strided("columns", "row_kernel", FRAMES_PER_ROW, "values"),
        node("Squeeze", "values first", "rows"),
        node("Mul", "rows scale", "scaled"),
        node("Add", "scaled middle", "moved"),
        node("Cast", "moved", "frames", to=TensorProto.UINT8),
    ]
    kernel = {"row_kernel": draw(DIMENSIONS, BINS, FRAMES_PER_ROW, scale=0.01)}
    constants = kernel | {"first": np.asarray([0]), "scale": floats(100), "middle": floats(128)}
    inputs = {"filterbanks": [1, "frames_of_10_ms", BINS]}
    graph(path, nodes, inputs, {"frames": ["count", DIMENSIONS]}, constants)


def make_voice(path):
    nodes = [
        node("Cast", "frames", "values", to=TensorProto.FLOAT),
        node("MatMul", "weights values", "pooled"),
        node("MatMul", "pooled kernel", "turned"),
        node("LpNormalization", "turned", "voice", axis=1),
    ]
    inputs = {"frames": ["count", DIMENSIONS], "weights": ["windows", "count"]}
    graph(path, nodes, inputs, {"voice": ["windows", VOICE]}, {"kernel": draw(DIMENSIONS, VOICE)})


def pool(sums):
    """Nodes for the weighted sum of tokens, and the sum of weights."""
    return [
        node("Unsqueeze", "weights second", "row"),
        node("MatMul", "row tokens", "product"),
        node("Squeeze", "product second", sums),
        node("ReduceSum", "weights second", "weight", keepdims=1),
    ]


def make_emotion(path):
    columns = {"valence": 1.0, "arousal": 1.0, "valence_spread": 0.1, "arousal_spread": 0.1, "distance": 2.0}
    nodes = [
        *pool("sum"),
        node("Div", "sum weight", "pooled"),
        node("MatMul", "pooled kernel", "logits"),
        node("Softmax", "logits", "probabilities", axis=1),
    ]
    constants = {"second": np.asarray([1]), "kernel": draw(DIMENSIONS, LABELS, scale=3)}
    for name, scale in columns.items():
        nodes += [
            node("MatMul", f"pooled {name}_kernel", f"{name}_row"),
            node("Sigmoid", f"{name}_row", f"{name}_share"),
            node("Mul", f"{name}_share {name}_scale", name),
        ]
        constants |= {f"{name}_kernel": draw(DIMENSIONS), f"{name}_scale": floats(scale)}
    outputs = {"probabilities": [1, LABELS]} | dict.fromkeys(columns, [1])
    graph(path, nodes, {"tokens": [1, "count", DIMENSIONS], "weights": [1, "count"]}, outputs, constants)


def make_cognitive(path):
    nodes = [
        *pool("sum"),
        node("Concat", "weight sum", "own", axis=1),
        node("Add", "sums own", "next_sums"),
        node("Split", "next_sums parts", "total rest", axis=1),
        node("Div", "rest total", "pooled"),
        node("MatMul", "pooled kernel", "row_sum"),
        node("Sigmoid", "row_sum", "clarity"),
    ]
    constants = {"second": np.asarray([1]), "parts": np.asarray([1, DIMENSIONS]), "kernel": draw(DIMENSIONS)}
    sums = [1, DIMENSIONS + 1]
    inputs = {"tokens": [1, "count", DIMENSIONS], "weights": [1, "count"], "sums": sums}
    graph(path, nodes, inputs, {"clarity": [1], "next_sums": sums}, constants)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_manifest(folder, trunk):
    """`trunk`: the hash of its weights."""
    manifest = json.loads(Path("models/large", folder.name, "manifest.json").read_text())
    manifest |= {"version": "1.0.0", "description": "A small model for tests", "licence": "Apache-2.0"}
    manifest["weights"]["sha256"] = sha256(folder / "weights.onnx")
    manifest["training"] = {"data": [], "seed": 1, "metrics": {}, "limits": []}
    manifest["evidence"]["figures"] = []
    params = manifest["params"]
    if folder.name == "vad":
        params["stream"] = {"stateSize": LOOKAHEAD, "settleFrames": 2 * LOOKAHEAD, "lookaheadFrames": LOOKAHEAD}
    if folder.name == "trunk":
        params["severalSpeakers"]["weights"]["sha256"] = sha256(folder / "voice.onnx")
    if folder.name == "voice":
        params["base"]["sha256"] = sha256(folder / "base.onnx")
    if folder.name == "cognitive":
        params["poolingSums"] = DIMENSIONS + 1
    if manifest["trunk"] is not None:
        manifest["trunk"] = {"name": "trunk", "version": "1.0.0", "sha256": trunk}
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def main(output):
    makers = {"vad": make_vad, "trunk": make_trunk, "voice": make_voice, "emotion": make_emotion, "cognitive": make_cognitive}
    for name, make in makers.items():
        make(output / name / "weights.onnx")
    make_trunk_voice(output / "trunk/voice.onnx")
    make_voice_base(output / "voice/base.onnx")
    for name in makers:
        write_manifest(output / name, sha256(output / "trunk/weights.onnx"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
