"""What one would serve in Python: an audio classifier of transformers behind FastAPI. Its weights are random: they do not change the time.

`classifiers.py export NAME FOLDER` writes what Optimum exports, `classifiers.py quantize FOLDER OUT` the same in int8; `uvicorn classifiers:create_app` serves, with PEER_FOLDER and
PEER_BACKEND (torch or onnxruntime) in the environment.
"""

import io
import json
import os
import shutil
import sys
import time
from pathlib import Path

RATE = 16000
LABELS = {0: "ang", 1: "hap", 2: "neu", 3: "sad"}


def describe(name):
    """Configuration, model and feature extractor, in the sizes of the published ones."""
    import transformers as hf

    if name == "whisper-small":
        sizes = {"d_model": 768, "encoder_layers": 12, "encoder_attention_heads": 12, "encoder_ffn_dim": 3072, "decoder_layers": 1}
        config = hf.WhisperConfig(**sizes, num_labels=len(LABELS), id2label=LABELS)
        return hf.WhisperForAudioClassification(config), hf.WhisperFeatureExtractor()
    large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096, "conv_bias": True}
    large |= {"feat_extract_norm": "layer", "do_stable_layer_norm": True}
    config = hf.Wav2Vec2Config(**(large if name == "wav2vec2-large" else {}), num_labels=len(LABELS), id2label=LABELS)
    return hf.Wav2Vec2ForSequenceClassification(config), hf.Wav2Vec2FeatureExtractor()


def export(name, folder):
    import torch

    torch.manual_seed(1)
    model, extractor = describe(name)
    model.eval().save_pretrained(folder)
    extractor.save_pretrained(folder)
    (folder / "README.md").write_text("---\nlicense: cc0-1.0\n---\n")
    if name != "wav2vec2-base":  # the one that both sides serve
        return

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, values):
            return self.model(values).logits

    axes = {"input_values": {0: "batch", 1: "samples"}, "logits": {0: "batch"}}
    example = (torch.zeros(1, 2 * RATE),)
    torch.onnx.export(Logits().eval(), example, folder / "model.onnx", input_names=["input_values"], output_names=["logits"],
                      dynamic_axes=axes, opset_version=17, dynamo=False)  # fmt: skip


def quantize(folder, out):
    """As docs/your-model.md does."""
    from onnxruntime.quantization import quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    prepared = out.with_suffix(".onnx")
    shutil.copytree(folder, out, ignore=shutil.ignore_patterns("*.onnx", "*.safetensors"))
    quant_pre_process(folder / "model.onnx", prepared)
    quantize_dynamic(prepared, out / "model.onnx", op_types_to_quantize=["MatMul"])
    prepared.unlink()


def create_app():
    import numpy as np
    import soundfile
    import transformers as hf
    from fastapi import FastAPI, UploadFile

    folder = Path(os.environ["PEER_FOLDER"])
    extractor = hf.AutoFeatureExtractor.from_pretrained(folder)
    labels = json.loads((folder / "config.json").read_text())["id2label"]
    if os.environ["PEER_BACKEND"] == "torch":
        import torch

        torch.set_num_threads(1)
        model = hf.AutoModelForAudioClassification.from_pretrained(folder).eval()

        @torch.inference_mode()
        def logits(samples):
            return model(**extractor(samples, sampling_rate=RATE, return_tensors="pt")).logits[0].numpy()
    else:
        from stack import open_session

        session = open_session(str(folder / "model.onnx"))

        def logits(samples):
            values = extractor(samples, sampling_rate=RATE, return_tensors="np")["input_values"]
            return session.run(None, {"input_values": values.astype(np.float32)})[0][0]

    app = FastAPI()

    @app.post("/classify")
    async def classify(audio: UploadFile):
        samples, rate = soundfile.read(io.BytesIO(await audio.read()), dtype="float32")
        assert rate == RATE
        found = np.exp(logits(samples))
        return {labels[str(at)]: float(value) for at, value in enumerate(found / found.sum())}

    @app.get("/usage")
    async def usage():
        return {"microseconds": time.process_time_ns() / 1000}

    return app


if __name__ == "__main__":
    command, source, target = sys.argv[1:]
    if command == "export":
        export(source, Path(target))
    else:
        quantize(Path(source), Path(target))
