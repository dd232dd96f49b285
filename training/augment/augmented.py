"""Features of the augmented copies, window by window beside those of the recordings."""

import json

import numpy as np

from training import cache, settings
from training.augment import audio, augmentation, mix
from training.corpora.index import read_clips
from training.corpora.recipe import RECIPE
from training.corpora.registry import is_training_noise
from training.features import log_mel
from training.features.spec import HOP_LENGTH
from training.features.windows import EDGE, MAX_FRAMES, SILENCE, slice_padded
from training.session import Session


class AugmentedCopies:
    """One augmented copy of every labelled recording: log-mel rows, and the VAD model's speech probability of each frame."""

    def __init__(self):
        clips = read_clips()
        inputs = {
            "recordings": log_mel.content_of(clips),
            "labelled": sorted(RECIPE.labelled),
            "noises": [clip.path for clip in clips if is_training_noise(clip)],
            "code": cache.code_hash(augmentation, audio, mix),
        }
        folder = cache.build("augmented", inputs, augmentation.write_copies)
        self.source = log_mel.of_generated("augmented", folder)
        self.speech = self.find_speech()
        row_of = {int(path.removesuffix(".wav")): row for row, path in enumerate(self.source.paths)}
        self.places = {}
        for group in folder.glob("group-*.json"):
            for clip, (_, lead, ratio) in json.loads(group.read_text()).items():
                self.places[int(clip)] = row_of[int(clip)], lead / HOP_LENGTH, ratio

    def find_speech(self) -> np.ndarray:
        """float16 [frames]"""
        weights = settings.weights("vad")
        vad = Session(weights)
        inputs = {"vad": cache.file_hash(weights)}
        return log_mel.map_frames(self.source, "augmented-speech", inputs, lambda i: vad.run(features=self.source[i][None])["speech"][0])

    def window(self, clip: int, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Frames start to end of a recording -> [T,80] rows of its copy, speech [T]; T differs where the speed does."""
        row, lead, ratio = self.places[clip]
        first, last = self.source.offsets[row : row + 2]
        rows, speech = self.source.rows[first:last], self.speech[first:last].astype(np.float32)
        a = min(max(round(lead + start * ratio), -EDGE), len(rows) - 1)
        b = max(a + 1, min(round(lead + end * ratio), len(rows) + EDGE, a + MAX_FRAMES))
        return slice_padded(rows, a, b, SILENCE), slice_padded(speech, a, b, 0)
