"""EmotionTTSKorean: acted Korean sentences (emotiontts_open_db)."""

from training.corpora.corpus import ActedCorpus, Sampling


class EmotionTtsKorean(ActedCorpus):
    name = "EmotionTTSKorean"
    licence = "CC BY-NC-SA, research only"
    sampling = Sampling(head=1.5, finetune=1.5)
