"""ESC10: environmental sounds (Piczak 2015). A fold counts as one speaker. Some files are chained or stereo Ogg."""

from training.corpora.corpus import Clip, Corpus, Sampling

STEADY = ("Rain", "Sea waves", "Helicopter", "Chainsaw")


class Esc10(Corpus):
    name = "ESC10"
    licence = "CC BY 3.0"
    sampling = Sampling(speech_check=2.0)
    is_speech = False

    def speaker(self, row: dict[str, str]) -> str:
        return row["extra"].removeprefix("fold=")


def is_steady(clip: Clip) -> bool:
    """Whether it serves as background noise."""
    return clip.corpus == "ESC10" and clip.label in STEADY
