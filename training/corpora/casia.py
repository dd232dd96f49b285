"""CASIA: acted Chinese sentences, four speakers."""

from training.corpora.corpus import ActedCorpus


class Casia(ActedCorpus):
    name = "CASIA"
    licence = "unstated, research use"
