"""LibriSpeech: read English audiobooks (Panayotov et al. 2015)."""

from pathlib import Path

from training.corpora.corpus import Corpus, Sampling


class LibriSpeech(Corpus):
    name = "LibriSpeech"
    licence = "CC BY 4.0"
    sampling = Sampling(vad=6, speech_check=2.0)

    def speaker(self, row: dict[str, str]) -> str:
        return Path(row["path"]).stem.split("-")[0]
