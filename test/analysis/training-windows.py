"""Windows as cut by training. Standard input: {seconds, framesPerToken, recordings}; a recording is the speech probability of each frame."""

import json
import sys

import numpy as np

sys.path.insert(0, ".")
from training.features.windows import SEGMENT_PARAMS, SILENCE, WINDOW_PARAMS, cut_windows, embedding_weights, find_segments, slice_padded

request = json.load(sys.stdin)


def windows_of(recording: list[float]) -> list[dict]:
    """The feature of a frame is its index, which identifies it in the output."""
    speech = np.array(recording, np.float32)
    numbers = np.arange(len(speech), dtype=np.float32)
    cut = cut_windows(find_segments(speech), len(speech), request["seconds"])
    return [
        {
            "features": slice_padded(numbers, start, end, SILENCE).tolist(),
            "weights": embedding_weights(slice_padded(speech, start, end, 0), request["framesPerToken"]).tolist(),
            "speechFrames": inside,
        }
        for start, end, inside in cut
    ]


json.dump({"vad": SEGMENT_PARAMS, "trunk": WINDOW_PARAMS, "recordings": [windows_of(each) for each in request["recordings"]]}, sys.stdout)
