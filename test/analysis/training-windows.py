"""Segments as found by training. Standard input: {recordings}; a recording is the speech probability of each frame."""

import json
import sys

import numpy as np

sys.path.insert(0, ".")
from training.features.windows import SEGMENT_PARAMS, WINDOW_PARAMS, find_segments

request = json.load(sys.stdin)
found = [find_segments(np.array(recording, np.float32)) for recording in request["recordings"]]
json.dump({"vad": SEGMENT_PARAMS, "trunk": WINDOW_PARAMS, "recordings": found}, sys.stdout)
