"""The feature specifications that training and the shipped models share."""

import json
from pathlib import Path

SPEC = json.loads(Path(__file__).with_name("spec.json").read_text())
FILTERBANKS = json.loads(Path(__file__).with_name("filterbanks.json").read_text())  # of Kaldi, which CAM++ reads
HOP_LENGTH = SPEC["hopLength"]  # samples
VOICE_FILTERBANKS = {**FILTERBANKS, "topDb": 80}  # the same for voices, which quiet speech belongs to as well
FRAMES_PER_SECOND = SPEC["sampleRate"] // HOP_LENGTH
