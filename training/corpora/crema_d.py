"""CREMA-D: English sentences acted at several intensities, each rated by about nine listeners (Cao et al. 2014).

By voice alone the majority hears the intended emotion in 46 % of the clips and neutral in half, so `votes` says what
a voice sounds like and `emotion` what the actor was asked for. `level` in index.csv is the strength of the chosen
emotion, not arousal.
"""

from training.corpora.corpus import ActedCorpus, Clip
from training.corpora.labels import EMOTIONS, INDEX_NAMES


class CremaD(ActedCorpus):
    name = "CREMA-D"
    licence = "ODbL 1.0 / DbCL (a notice is due; the database shares alike)"

    def votes(self, clip: Clip) -> list[float]:
        """Shares of the voice-only votes, in the order of EMOTIONS; they sum to 1."""
        pairs = (vote.split(":") for vote in clip.extra["votes"].split(","))
        counts = {INDEX_NAMES.get(name, name): int(count) for name, count in pairs}
        total = sum(counts.values())
        return [counts.get(name, 0) / total for name in EMOTIONS]
