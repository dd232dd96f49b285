"""BAVED: Arabic words at three levels of activation."""

from training.corpora.corpus import CATEGORY_WEIGHT, Clip, Corpus, Dimensions, Sampling

AROUSAL_OF_LEVEL = {"low": 0.25, "normal": 0.45, "high": 0.80}


class Baved(Corpus):
    name = "BAVED"
    licence = "unstated"
    sampling = Sampling(vad=2.5, speech_check=2.0)
    studio = True

    def dimensions(self, clip: Clip) -> Dimensions:
        return Dimensions(0.5, AROUSAL_OF_LEVEL[clip.label], 0, CATEGORY_WEIGHT)
