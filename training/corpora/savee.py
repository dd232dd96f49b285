"""SAVEE: English sentences acted by four men (Haq & Jackson 2010)."""

from training.corpora.corpus import ActedCorpus, Sampling


class Savee(ActedCorpus):
    name = "SAVEE"
    licence = "unstated, research use"
    sampling = Sampling(head=1.5, finetune=1.5)
    studio = True
