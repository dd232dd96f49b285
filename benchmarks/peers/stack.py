"""What one would build in Python for the same job: FastAPI, python-multipart, librosa, kaldi-native-fbank and ONNX Runtime.

`stack.py graph FILE` writes the graph of one node; `uvicorn stack:app` serves, with PEER_GRAPH and PEER_MODELS
in the environment. The endpoints compute in the event loop: with one process a core, a pool of threads would only add to it.
"""

import io
import os
import sys
import time
from pathlib import Path

import numpy as np

RATE = 16000
NAMES = ["vad", "trunk", "emotion", "cognitive"]


def write_graph(path):
    import onnx
    from onnx import TensorProto, helper

    node = helper.make_node("ReduceMean", ["features"], ["mean"], axes=[1], keepdims=0)
    features = helper.make_tensor_value_info("features", TensorProto.FLOAT, [1, "frames", 80])
    mean = helper.make_tensor_value_info("mean", TensorProto.FLOAT, [1, 80])
    graph = helper.make_graph([node], "mean", [features], [mean])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(made, path)


def open_session(path):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


class Sessions:
    """Runs models and adds up the processor time inside them."""

    def __init__(self):
        models = Path(os.environ["PEER_MODELS"])
        self.models = {name: open_session(models / name / "weights.onnx") for name in NAMES}
        if "PEER_GRAPH" in os.environ:
            self.models["graph"] = open_session(os.environ["PEER_GRAPH"])
        self.spent = 0

    def run(self, name, inputs):
        # States before a recording.
        for one in self.models[name].get_inputs():
            if one.name not in inputs:
                inputs = inputs | {one.name: np.zeros(one.shape, np.float32)}
        start = time.process_time_ns()
        outputs = self.models[name].run(None, inputs)
        self.spent += time.process_time_ns() - start
        return outputs


def read(data):
    import librosa

    return librosa.load(io.BytesIO(data), sr=RATE, mono=True)[0]


def log_mel(samples):
    import librosa

    mel = librosa.feature.melspectrogram(
        y=samples, sr=RATE, n_fft=400, hop_length=160, n_mels=80, pad_mode="reflect"
    )
    return np.log10(np.maximum(mel, 1e-10)).T[:-1]


def filterbanks(samples):
    import kaldi_native_fbank as knf

    options = knf.FbankOptions()
    options.frame_opts.dither = 0
    options.frame_opts.snip_edges = False
    options.mel_opts.num_bins = 80
    fbank = knf.OnlineFbank(options)
    fbank.accept_waveform(RATE, samples.tolist())
    fbank.input_finished()
    return np.stack([fbank.get_frame(at) for at in range(fbank.num_frames_ready)])


def median_pitch(samples):
    import librosa

    pitch, voiced, _ = librosa.pyin(samples, sr=RATE, fmin=60, fmax=500, hop_length=160)
    return float(np.median(pitch[voiced])) if voiced.any() else 0.0


def batch(features):
    return np.ascontiguousarray(features[None], np.float32)


def judge(sessions, samples, heads, windows=""):
    """`windows`: frames `START-END,...`, of which the trunk and the heads read each alone; by default the whole recording"""
    sessions.run("vad", {"features": batch(log_mel(samples))})
    frames = filterbanks(samples)
    spans = [map(int, window.split("-")) for window in windows.split(",") if window] or [(0, len(frames))]
    found = {head: [] for head in heads}
    for start, end in spans:
        tokens = sessions.run("trunk", {"filterbanks": batch(frames[start:end])})[0]
        weights = np.ones((1, tokens.shape[1]), np.float32)
        for head in heads:
            outputs = sessions.run(head, {"tokens": tokens, "weights": weights})
            found[head].append([np.asarray(one).ravel().tolist() for one in outputs])
    return found


def create_app():
    from fastapi import FastAPI, Response, UploadFile

    app = FastAPI()
    sessions = Sessions()

    @app.post("/graph")
    async def graph(audio: UploadFile, pitch: bool = False):
        samples = read(await audio.read())
        mean = sessions.run("graph", {"features": batch(log_mel(samples))})[0][0].tolist()
        return {"mean": mean, "pitch": median_pitch(samples) if pitch else None}

    @app.post("/models")
    async def models(audio: UploadFile, response: Response, pitch: bool = False, windows: str = ""):
        samples = read(await audio.read())
        sessions.spent = 0
        answer = judge(sessions, samples, ["emotion", "cognitive"] if pitch else ["emotion"], windows)
        if pitch:
            answer["pitch"] = median_pitch(samples)
        response.headers["Server-Timing"] = f"sessions;dur={sessions.spent / 1e6:.3f}"
        return answer

    @app.get("/usage")
    async def usage():
        return {"microseconds": time.process_time_ns() / 1000}

    return app


if __name__ == "__main__":
    write_graph(sys.argv[2])
