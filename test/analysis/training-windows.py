"""Segments and inputs of the trunk as training has them. Standard input: {framesPerToken, recordings}; a recording is the speech probability of
each frame, and windows."""

import json
import sys

import numpy as np

sys.path.insert(0, ".")
from training.features.windows import SEGMENT_PARAMS, SILENCE, WINDOW_PARAMS, embedding_weights, find_segments, slice_padded

request = json.load(sys.stdin)


def read(recording: dict) -> dict:
    """The feature of a frame is its index, which identifies it in the output."""
    speech = np.array(recording["speech"], np.float32)
    numbers = np.arange(len(speech), dtype=np.float32)
    windows = [
        {
            "features": slice_padded(numbers, start, end, SILENCE).tolist(),
            "weights": embedding_weights(slice_padded(speech, start, end, 0), request["framesPerToken"]).tolist(),
        }
        for start, end in recording["windows"]
    ]
    return {"segments": find_segments(speech), "windows": windows}


json.dump({"vad": SEGMENT_PARAMS, "trunk": WINDOW_PARAMS, "silence": SILENCE, "recordings": [read(each) for each in request["recordings"]]}, sys.stdout)
