"""RIR: recorded impulse responses of rooms (speechbrain's samples)."""

from training.corpora.corpus import Corpus


class Rir(Corpus):
    name = "RIR"
    licence = "Apache-2.0"
    is_speech = False
