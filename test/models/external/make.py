"""Writes graph.onnx, whose one matrix lies in values.f32 in the same folder. Run from the project's folder; needs onnx.

The location is relative to the working folder: that is where ONNX Runtime looks when it is given bytes.
"""
from pathlib import Path

from onnx import TensorProto, helper

FOLDER = Path("test/models/external")
SIZE = 8

matrix = TensorProto(name="matrix", dims=[SIZE, SIZE], data_type=TensorProto.FLOAT)
matrix.data_location = TensorProto.EXTERNAL
matrix.external_data.add(key="location", value=str(FOLDER / "values.f32"))
graph = helper.make_graph(
    [helper.make_node("MatMul", ["features", "matrix"], ["speech"])],
    "external",
    [helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, SIZE])],
    [helper.make_tensor_value_info("speech", TensorProto.FLOAT, [1, SIZE])],
    [matrix],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
(FOLDER / "graph.onnx").write_bytes(model.SerializeToString())
(FOLDER / "values.f32").write_bytes(bytes(4 * SIZE * SIZE))
