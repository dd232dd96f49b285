"""AESDD: acted Greek sentences, six speakers, no neutral ones (Vryzas et al. 2018)."""

from training.corpora.corpus import ActedCorpus


class Aesdd(ActedCorpus):
    name = "AESDD"
    licence = "unstated"
