"""RAVDESS: acted English sentences, two takes, two intensities (Livingstone & Russo 2018)."""

from dataclasses import replace

from training.corpora.corpus import ActedCorpus, Clip, Dimensions, Sampling

STRONG_AROUSAL = 0.1  # what strong intensity adds to arousal


class Ravdess(ActedCorpus):
    name = "RAVDESS"
    licence = "CC BY-NC-SA 4.0"
    sampling = Sampling(telephone_every=2)
    studio = True

    def dimensions(self, clip: Clip) -> Dimensions | None:
        found = super().dimensions(clip)
        return replace(found, arousal=found.arousal + STRONG_AROUSAL) if found and is_strong(clip) else found

    def syllables(self, clip: Clip) -> int:
        return 7  # "Kids are talking by the door", "Dogs are sitting by the door"


def is_strong(clip: Clip) -> bool:
    return clip.corpus == "RAVDESS" and clip.extra.get("intensity") == "2"
