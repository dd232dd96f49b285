"""nEMO: acted Polish sentences (Christop 2024)."""

from training.corpora.corpus import ActedCorpus, Sampling


class Nemo(ActedCorpus):
    name = "nEMO"
    licence = "CC BY-NC-SA 4.0"
    sampling = Sampling(head=0.6, finetune=0.6, vad=0.5, telephone_every=4)
