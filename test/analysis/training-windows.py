"""Segments as training has them. Standard input: recordings, each the speech probability of its frames."""

import json
import sys

import numpy as np

sys.path.insert(0, ".")
from training.features.windows import SEGMENT_PARAMS, SILENCE, WINDOW_PARAMS, find_segments

segments = [find_segments(np.array(speech, np.float32)) for speech in json.load(sys.stdin)]
json.dump({"vad": SEGMENT_PARAMS, "trunk": WINDOW_PARAMS, "silence": SILENCE, "segments": segments}, sys.stdout)
