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
    """One augmented copy of every labelled recording: log-mel frames, and the VAD model's speech probability of each frame."""

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
        index_of = {int(path.removesuffix(".wav")): index for index, path in enumerate(self.source.paths)}
        self.places = {}
        for group in folder.glob("group-*.json"):
            for clip, (_, lead, ratio) in json.loads(group.read_text()).items():
                self.places[int(clip)] = index_of[int(clip)], lead / HOP_LENGTH, ratio

    def find_speech(self) -> np.ndarray:
        """float16 [frames]"""
        weights = settings.weights("vad")
        vad = Session(weights)
        inputs = {"vad": cache.file_hash(weights)}
        return log_mel.map_frames(self.source, "augmented-speech", inputs, lambda i: vad.run(features=self.source[i][None])["speech"][0])

    def window(self, clip: int, start: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Frames start to end of a recording -> log-mel frames [T,80] of its copy, speech [T]; T differs where the speed does."""
        index, lead, ratio = self.places[clip]
        first, last = self.source.offsets[index : index + 2]
        frames, speech = self.source.frames[first:last], self.speech[first:last].astype(np.float32)
        a = min(max(round(lead + start * ratio), -EDGE), len(frames) - 1)
        b = max(a + 1, min(round(lead + end * ratio), len(frames) + EDGE, a + MAX_FRAMES))
        return slice_padded(frames, a, b, SILENCE), slice_padded(speech, a, b, 0)
