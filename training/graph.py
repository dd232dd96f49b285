"""A small ONNX graph writer: convolution weights may be float16 in the file, float32 once loaded.

The casts hang on constants, so onnxruntime folds them when it opens the session.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 20
IR_VERSION = 9


class Graph:
    def __init__(self, name: str):
        self.name = name
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []
        self.outputs: list[onnx.ValueInfoProto] = []
        self.count = 0

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}_{self.count}"

    def input(self, name: str, shape: list[int | str]) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        return name

    def output(self, value: str, name: str, shape: list[int | str]) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def op(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes):
        names = [self.fresh(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array) -> str:
        array = np.asarray(array)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        name = self.fresh("constant")
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def half(self, array) -> str:
        """A float16 constant, cast to float32 at load."""
        return self.op("Cast", self.constant(np.asarray(array, np.float16)), to=TensorProto.FLOAT)

    def extras(self) -> list[onnx.OperatorSetIdProto]:
        """The operator sets of onnxruntime that the graph uses."""
        domains = {node.domain for node in self.nodes} - {""}
        return [helper.make_opsetid(domain, 1) for domain in sorted(domains)]

    def save(self, path: str) -> None:
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET), *self.extras()],
            producer_name="undertone-training",
        )
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model)
        onnx.save(model, path)


def level_normalised(graph: Graph, features: str, offset: float, floor: float) -> str:
    """log10 mel [1,T,80] -> the same at one loudness, as Whisper scales it.

    Frame power is the sum of the mel energies; the reference is the mean power of the frames above a
    tenth of the mean (the relative gate of ITU-R BS.1770, with one pass). Values are floored at
    reference - `floor`, then (x + offset + 4) / 4 as in Whisper's log_mel_spectrogram.
    """
    g = graph
    energy = g.op("Exp", g.op("Mul", features, g.constant(np.float32(np.log(10)))))  # a tenth of the time of Pow
    power = g.op("ReduceSum", energy, g.constant(np.array([2], np.int64)), keepdims=1)
    mean = g.op("ReduceMean", power, g.constant(np.array([1], np.int64)), keepdims=1)
    gate = g.op("Mul", mean, g.constant(np.float32(0.1)))
    loud = g.op("Cast", g.op("Greater", power, gate), to=TensorProto.FLOAT)
    axis = g.constant(np.array([1], np.int64))
    total = g.op("ReduceSum", g.op("Mul", power, loud), axis, keepdims=1)
    count = g.op("ReduceSum", loud, axis, keepdims=1)
    reference = g.op("Div", total, count)
    log = g.op("Div", g.op("Log", reference), g.constant(np.float32(np.log(10))))
    relative = g.op("Sub", features, log)
    floored = g.op("Max", relative, g.constant(np.float32(-floor)))
    return g.op("Mul", g.op("Add", floored, g.constant(np.float32(offset + 4))), g.constant(np.float32(0.25)))
