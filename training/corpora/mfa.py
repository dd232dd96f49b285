"""MFA: words, hesitations, whisper and creak of one English speaker (tests of the Montreal Forced Aligner).

The file name is the label. A recording counts as one speaker.
"""

from training.corpora.corpus import Corpus, Sampling


class Mfa(Corpus):
    name = "MFA"
    licence = "MIT"
    sampling = Sampling(vad=6)
