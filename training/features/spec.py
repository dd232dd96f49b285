"""The feature specification that training and the shipped models share."""

import json
from pathlib import Path

SPEC = json.loads(Path(__file__).with_name("spec.json").read_text())
FRAMES_PER_SECOND = SPEC["sampleRate"] // SPEC["hopLength"]
