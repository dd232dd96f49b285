"""TurEV: acted Turkish words, about a second each, six speakers (Canpolat et al. 2020)."""

from training.corpora.corpus import ActedCorpus


class TurEv(ActedCorpus):
    name = "TurEV"
    licence = "contradictory (CC BY-NC-ND 4.0 and GPL-3)"
