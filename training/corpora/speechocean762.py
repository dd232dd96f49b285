"""speechocean762: English sentences read by Mandarin speakers, half of them children, scored by experts (Zhang et al. 2021)."""

from training.corpora.corpus import Clip, Corpus, Sampling
from training.corpora.syllables import count_syllables


class Speechocean762(Corpus):
    name = "speechocean762"
    licence = "CC BY 4.0"
    sampling = Sampling(vad=1.5, speech_check=2.0, telephone_every=2, corrupted=120)

    def clarity(self, clip: Clip) -> float:
        return (float(clip.row["fluency"]) + float(clip.row["prosody"])) / 20

    def syllables(self, clip: Clip) -> int:
        return count_syllables(clip.row["text"])
