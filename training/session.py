"""Runs exported graphs with ONNX Runtime."""

from pathlib import Path

import numpy as np
import onnxruntime

from training.settings import THREADS


class Session:
    def __init__(self, path: Path, threads: int = THREADS):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(path), options)
        self.outputs = [output.name for output in self.session.get_outputs()]

    def run(self, **inputs: np.ndarray) -> dict[str, np.ndarray]:
        feed = {name: np.ascontiguousarray(value) for name, value in inputs.items()}
        return dict(zip(self.outputs, self.session.run(None, feed)))
