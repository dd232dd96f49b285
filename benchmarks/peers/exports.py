"""Classifiers of the architectures that `undertone models add` names, with random weights, and what transformers computes with them.

`exports.py export FOLDER RECORDING` writes a folder per architecture, as Optimum exports it, with the logits of the recording,
and prints their names;
`exports.py compare FOLDER RECORDING` prints by how much those of the added sets differ.
"""

import json
import sys
from pathlib import Path

import numpy as np
import soundfile

RATE = 16000
LABELS = {0: "ang", 1: "hap", 2: "neu", 3: "sad"}
SECONDS = 8
ENCODER = {"hidden_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 192,
           "conv_dim": (64,) * 7, "initializer_range": 0.1, "num_conv_pos_embedding_groups": 4, "classifier_proj_size": 32}  # fmt: skip
WHISPER = {"encoder_layers": 2, "decoder_layers": 1, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
           "d_model": 96, "encoder_ffn_dim": 192, "decoder_ffn_dim": 192, "init_std": 0.1}  # fmt: skip

def described():
    """Name, model and feature extractor."""
    import transformers as hf

    labels = {"num_labels": len(LABELS), "id2label": LABELS}
    samples = hf.Wav2Vec2FeatureExtractor
    yield "wav2vec2", hf.Wav2Vec2ForSequenceClassification(hf.Wav2Vec2Config(**ENCODER, **labels)), samples()
    large = hf.Wav2Vec2Config(**ENCODER, **labels, feat_extract_norm="layer", do_stable_layer_norm=True, conv_bias=True)
    yield "wav2vec2 of the large layout", hf.Wav2Vec2ForSequenceClassification(large), samples(do_normalize=True)
    yield "hubert", hf.HubertForSequenceClassification(hf.HubertConfig(**ENCODER, **labels)), samples()
    yield "wavlm", hf.WavLMForSequenceClassification(hf.WavLMConfig(**ENCODER, **labels)), samples(do_normalize=False)

    config = hf.Data2VecAudioConfig(**ENCODER, **labels)
    yield "data2vec", hf.Data2VecAudioForSequenceClassification(config), samples()
    yield "unispeech", hf.UniSpeechForSequenceClassification(hf.UniSpeechConfig(**ENCODER, **labels)), samples()
    for mels in (80, 128):
        config = hf.WhisperConfig(**WHISPER, **labels, num_mel_bins=mels)
        extractor = hf.WhisperFeatureExtractor(feature_size=mels)
        yield f"whisper of {mels} bands", hf.WhisperForAudioClassification(config), extractor
    sizes = {"hidden_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 192, "initializer_range": 0.1}
    yield "ast", hf.ASTForAudioClassification(hf.ASTConfig(**sizes, **labels)), hf.ASTFeatureExtractor()

def read(recording):
    samples, rate = soundfile.read(recording, dtype="float32", frames=SECONDS * RATE)
    assert rate == RATE
    return samples

def export(folder, recording):
    import torch

    class Logits(torch.nn.Module):
        def __init__(self, model):
            super().__init__()
            self.model = model

        def forward(self, values):
            return self.model(values).logits

    torch.manual_seed(1)
    names = []
    for name, model, extractor in described():
        names.append(name)
        out = folder / name
        model.eval().save_pretrained(out)
        extractor.save_pretrained(out)
        (out / "README.md").write_text("---\nlicense: cc0-1.0\n---\n")
        values = extractor(read(recording), sampling_rate=RATE, return_tensors="pt")
        field = model.main_input_name
        axes = {field: {0: "batch", 1: "samples"}} if values[field].dim() == 2 else {}
        with torch.inference_mode():
            np.save(out / "logits.npy", model(values[field]).logits.numpy())
        torch.onnx.export(Logits(model), (values[field],), out / "model.onnx", input_names=[field], output_names=["logits"],
                          dynamic_axes=axes, opset_version=17, dynamo=False)  # fmt: skip
    print(json.dumps(names))

def compare(folder, recording):
    import onnxruntime

    samples = read(recording)[None]
    found = {}
    for logits in sorted(folder.glob("*/logits.npy")):
        graph = folder / f"{logits.parent.name}-set" / "trunk" / "samples.onnx"
        (ours,) = onnxruntime.InferenceSession(graph).run(None, {"undertone/samples": samples})
        found[logits.parent.name] = float(np.abs(ours - np.load(logits)).max())
    print(json.dumps(found))

if __name__ == "__main__":
    {"export": export, "compare": compare}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
