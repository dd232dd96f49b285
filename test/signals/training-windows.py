"""Windows as training cuts them. Standard input: {seconds, framesPerToken, recordings}, speech probability a frame."""

import json
import sys

import numpy as np

sys.path.insert(0, "training")
from windows import RULE, SILENCE, cut_windows, find_segments, frames_of, token_weights

told = json.load(sys.stdin)


def windows_of(recording: list[float]) -> list[dict]:
    """The feature of a frame is its number, so that it tells where it came from."""
    speech = np.array(recording, np.float32)
    numbers = np.arange(len(speech), dtype=np.float32)
    cut = cut_windows(find_segments(speech), len(speech), told["seconds"])
    return [
        {
            "features": frames_of(numbers, start, end, SILENCE).tolist(),
            "weights": token_weights(frames_of(speech, start, end, 0), told["framesPerToken"]).tolist(),
            "speechFrames": inside,
        }
        for start, end, inside in cut
    ]


json.dump({"rule": RULE, "recordings": [windows_of(each) for each in told["recordings"]]}, sys.stdout)
