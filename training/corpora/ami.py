"""AMI: 30 s each of twelve spontaneous English meetings. A recording counts as one speaker."""

from training.corpora.corpus import Corpus, Sampling


class Ami(Corpus):
    name = "AMI"
    licence = "CC BY 4.0"
    sampling = Sampling(vad=40, speech_check=2.0)
