"""ASED: acted Amharic sentences kept by eight judges (Retta et al. 2023)."""

from training.corpora.corpus import ActedCorpus, Sampling


class Ased(ActedCorpus):
    name = "ASED"
    licence = "unstated"
    sampling = Sampling(telephone_every=3)
    studio = True
