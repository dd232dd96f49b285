"""A small writer of ONNX graphs, and the parts that several graphs share."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime import GraphOptimizationLevel, InferenceSession, SessionOptions
from torch import nn

from training.features.level import FLOOR, OFFSET

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

    def new_name(self, stem: str) -> str:
        self.count += 1
        return f"{stem}_{self.count}"

    def input(self, name: str, shape: list[int | str], kind: int = TensorProto.FLOAT) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, value: str, name: str, shape: list[int | str], kind: int = TensorProto.FLOAT) -> None:
        self.nodes.append(helper.make_node("Identity", [value], [name]))
        self.outputs.append(helper.make_tensor_value_info(name, kind, shape))

    def op(self, kind: str, *inputs: str, outputs: int = 1, domain: str = "", **attributes):
        """Adds a node -> name of its output, or a list of names."""
        names = [self.new_name(kind.lower()) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, array) -> str:
        """float64 becomes float32."""
        array = np.asarray(array)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        name = self.new_name("constant")
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def integers(self, *values: int) -> str:
        return self.constant(np.array(values, np.int64))

    def scalar(self, value: float) -> str:
        return self.constant(np.float32(value))

    def number(self, value: np.generic) -> str:
        """A constant without axes, as operators on bytes read it."""
        name = self.new_name("number")
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def half(self, array) -> str:
        """A float16 constant; onnxruntime folds the cast to float32 when it opens the session."""
        return self.op("Cast", self.constant(np.asarray(array, np.float16)), to=TensorProto.FLOAT)

    def save(self, path: Path) -> None:
        domains = {node.domain for node in self.nodes} - {""}
        opsets = [helper.make_opsetid("", OPSET), *(helper.make_opsetid(domain, 1) for domain in sorted(domains))]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=opsets, producer_name="undertone-training")
        model.ir_version = IR_VERSION
        onnx.checker.check_model(model)
        onnx.save(model, path)


def write_shapes(path: Path, lengths: Iterable[int]) -> None:
    """Adds the shape of every value, as runs of `lengths` frames have it, to a graph whose inputs are of as many frames.

    onnxruntime infers few of them, and then compares each output with every free buffer: opening a session takes a
    time that grows with the square of the nodes.
    """
    model = onnx.load(path)
    named = {value.name for value in model.graph.output}
    inner = [name for node in model.graph.node for name in node.output if name not in named]
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    probe.graph.output.extend(onnx.ValueInfoProto(name=name) for name in inner)
    options = SessionOptions()
    options.graph_optimization_level = GraphOptimizationLevel.ORT_DISABLE_ALL
    session = InferenceSession(probe.SerializeToString(), options, providers=["CPUExecutionProvider"])
    runs = []
    for frames in lengths:
        feeds = {value.name: np.zeros([size.dim_value or frames for size in value.type.tensor_type.shape.dim], np.float32) for value in model.graph.input}
        runs.append(dict(zip(inner, session.run(inner, feeds))))
    symbols: dict[tuple[int, ...], str] = {}  # sizes in the runs -> name of the dimension
    for name in inner:
        shape = []
        for sizes in zip(*(run[name].shape for run in runs)):
            shape.append(sizes[0] if len(set(sizes)) == 1 else symbols.setdefault(sizes, f"size_{len(symbols) + 1}"))
        kind = helper.np_dtype_to_tensor_dtype(runs[0][name].dtype)
        model.graph.value_info.append(helper.make_tensor_value_info(name, kind, shape))
    onnx.checker.check_model(model)
    onnx.save(model, path)


def numpy_of(module: nn.Module, name: str) -> np.ndarray:
    return getattr(module, name).detach().numpy()


def write_normalize_level(g: Graph, features: str) -> str:
    """[1,T,80] log10 of mel energies -> the same as training.features.level.normalize_level."""
    energy = g.op("Exp", g.op("Mul", features, g.scalar(np.log(10))))  # takes a tenth of the time of Pow
    power = g.op("ReduceSum", energy, g.integers(2), keepdims=1)
    mean = g.op("ReduceMean", power, g.integers(1), keepdims=1)
    gate = g.op("Mul", mean, g.scalar(0.1))
    loud = g.op("Cast", g.op("Greater", power, gate), to=TensorProto.FLOAT)
    axis = g.integers(1)
    total = g.op("ReduceSum", g.op("Mul", power, loud), axis, keepdims=1)
    count = g.op("ReduceSum", loud, axis, keepdims=1)
    reference = g.op("Div", total, count)
    log = g.op("Div", g.op("Log", reference), g.scalar(np.log(10)))
    relative = g.op("Sub", features, log)
    floored = g.op("Max", relative, g.scalar(-FLOOR))
    return g.op("Mul", g.op("Add", floored, g.scalar(OFFSET + 4)), g.scalar(0.25))
