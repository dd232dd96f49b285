"""EmoGator: vocal bursts without words (Buhl 2023). For the VAD model they are not speech."""

from training.corpora.corpus import Corpus, Sampling


class EmoGator(Corpus):
    name = "EmoGator"
    licence = "Apache-2.0"
    sampling = Sampling(speech_check=0.4, telephone_every=3)  # a laugh that passes for speech is hardly a fault
    is_speech = False
