"""The feature specifications that training and the shipped models share."""

import json
from pathlib import Path

SPEC = json.loads(Path(__file__).with_name("spec.json").read_text())
FILTERBANKS = json.loads(Path(__file__).with_name("filterbanks.json").read_text())  # of Kaldi, which CAM++ reads
HOP_LENGTH = SPEC["hopLength"]  # samples
FRAMES_PER_SECOND = SPEC["sampleRate"] // HOP_LENGTH
