"""Augmented copies of labelled recordings."""

from training import cache
from training.augment import audio, augmentation, mix
from training.corpora.recipe import RESEARCH
from training.corpora.registry import is_training_noise, read_clips
from training.features import log_mel


class AugmentedCopies:
    """An augmented copy of every second labelled recording: `paths` below `folder`, and the index of the clip of each."""

    def __init__(self):
        clips = read_clips()
        inputs = {
            "recordings": log_mel.content_of(clips),
            "labelled": sorted(RESEARCH.labelled),
            "noises": [clip.path for clip in clips if is_training_noise(clip)],
            "code": cache.code_hash(augmentation, audio, mix),
        }
        self.folder = cache.build("augmented", inputs, augmentation.write_copies)
        self.paths = sorted(path.name for path in self.folder.glob("*.wav"))
        self.clips = [int(path.removesuffix(".wav")) for path in self.paths]
