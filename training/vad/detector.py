"""Runs an exported VAD model over whole recordings."""

from pathlib import Path

import numpy as np

from training.export.vad_graph import SETTLED, SIZES
from training.features.log_mel import BINS
from training.features.windows import SILENCE
from training.session import Session
from training.vad.model import LOOKAHEAD


class Detector:
    def __init__(self, weights: Path):
        self.session = Session(weights)
        silence = np.full((1, SETTLED, BINS), SILENCE, np.float32)
        zeros = np.zeros((1, sum(SIZES)), np.float32)
        self.state = self.session.run(features=silence, state=zeros)["next_state"]

    def run(self, log_mel: np.ndarray) -> dict[str, np.ndarray]:
        """[T,80] -> speech, syllable_rate and voice [T]"""
        after = LOOKAHEAD + len(log_mel) % 2
        features = np.pad(log_mel, [(0, after), (0, 0)], constant_values=SILENCE)[None]
        outputs = self.session.run(features=features.astype(np.float32), state=self.state)
        return {name: outputs[name][0, LOOKAHEAD : LOOKAHEAD + len(log_mel)] for name in ("speech", "syllable_rate", "voice")}
