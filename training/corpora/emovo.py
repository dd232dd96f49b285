"""EMOVO: acted Italian sentences (Costantini et al. 2014)."""

from training.corpora.corpus import ActedCorpus, Sampling


class Emovo(ActedCorpus):
    name = "EMOVO"
    licence = "unstated, research use"
    sampling = Sampling(head=1.5)
