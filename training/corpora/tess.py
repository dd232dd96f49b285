"""TESS: English carrier words acted by two women (Pichora-Fuller & Dupuis 2020)."""

from training.corpora.corpus import ActedCorpus, Clip, Sampling


class Tess(ActedCorpus):
    name = "TESS"
    licence = "non-commercial (CC BY-NC-ND 4.0 upstream)"
    sampling = Sampling(head=0.25, finetune=0.25, vad=0.4, telephone_every=6, baseline_every=4)
    studio = True

    def syllables(self, clip: Clip) -> int:
        return 4  # "Say the word" and a monosyllable
