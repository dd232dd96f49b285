"""TAVA: English affects acted by 14 people, each clip rated by about 150 listeners (tava-data)."""

from training.corpora.corpus import Clip, Corpus, Dimensions, Sampling

RATING_WEIGHT = 4
EMOTION_OF_AFFECT = {
    "happy": "happy", "joyful": "happy", "tranquil": "calm", "serene": "calm", "depressed": "sad",
    "miserable": "sad", "frightened": "fearful", "enraged": "angry",
}  # fmt: skip


class Tava(Corpus):
    name = "TAVA"
    licence = "AGPL-3.0"
    sampling = Sampling(finetune=4, vad=2, corrupted=1000)
    studio = True

    def emotion(self, clip: Clip) -> str | None:
        return EMOTION_OF_AFFECT.get(clip.label)

    def dimensions(self, clip: Clip) -> Dimensions:
        valence, arousal = float(clip.row["valence"]), float(clip.row["arousal"])
        return Dimensions(valence, arousal, RATING_WEIGHT, RATING_WEIGHT, rated=True)
