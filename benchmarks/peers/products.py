"""A trunk against its multiplications: products.py GRAPH FRAMES ROUNDS, on one thread, in turns.

Prints JSON: milliseconds of each run of the trunk over FRAMES, and those that as many multiplications take at the rate of one large
MatMulInteger of the same runtime. The products of attention count as if they were int8.
"""

import json
import math
import os
import sys
import tempfile
import time

import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

SIDE = 2048  # of the large product
WARM_UPS = 5
BINS = 80
KERNELS = {"QLinearConv": 3, "Conv": 1, "FusedConv": 1}  # place of the weights among the inputs


def open_session(model, profile=None):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    if profile:
        options.enable_profiling, options.profile_file_prefix = True, profile
        options.add_session_config_entry("session.disable_prepacking", "1")  # packed weights have no shape in the profile
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def large_product():
    weight = np.random.default_rng(0).integers(-127, 127, (SIDE, SIDE)).astype(np.int8)
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
    x, y = (helper.make_tensor_value_info(name, kind, [SIDE, SIDE]) for name, kind in (("x", TensorProto.UINT8), ("y", TensorProto.INT32)))
    graph = helper.make_graph([node], "product", [x], [y], [numpy_helper.from_array(weight, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
    values = np.random.default_rng(1).integers(0, 255, (SIDE, SIDE)).astype(np.uint8)
    session = open_session(model.SerializeToString())
    return lambda: session.run(None, {"x": values})


def multiplications(path, inputs):
    """Of one run, from the shapes that the runtime's profile names."""
    with tempfile.TemporaryDirectory() as folder:
        session = open_session(path, profile=os.path.join(folder, "profile"))
        session.run(None, inputs)
        with open(session.end_profiling()) as file:
            events = [event["args"] for event in json.load(file) if event["name"].endswith("_kernel_time")]
    total = 0
    for event in events:
        first, *others = (next(iter(one.values())) for side in ("input", "output") for one in event[f"{side}_type_shape"])
        if event["op_name"] == "MultiHeadAttention":  # queries, keys, values
            total += 2 * math.prod(first) * others[0][1]
        elif "MatMul" in event["op_name"] or "Gemm" in event["op_name"]:
            total += math.prod(first) * others[-1][-1]
        elif event["op_name"] in KERNELS:
            kernel = next(iter(event["input_type_shape"][KERNELS[event["op_name"]]].values()))
            total += math.prod(others[-1]) * math.prod(kernel[1:])
    return total


def milliseconds(run):
    start = time.process_time()
    run()
    return 1000 * (time.process_time() - start)


def main(path, frames, rounds):
    session, product = open_session(path), large_product()
    values = np.random.default_rng(2).standard_normal((1, frames, BINS)).astype(np.float32) - 2
    inputs = {own.name: values for own in session.get_inputs()}
    share = multiplications(path, inputs) / SIDE**3
    runs = {"trunk": lambda: session.run(None, inputs), "products": product}
    found = {name: [] for name in runs}
    for at in range(rounds + WARM_UPS):
        for name, run in runs.items():
            taken = milliseconds(run)
            if at >= WARM_UPS:
                found[name].append(taken)
    print(json.dumps(found | {"products": [share * taken for taken in found["products"]]}))


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
