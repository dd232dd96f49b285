"""The emotion categories of the report, and where each lies in valence and arousal."""

EMOTIONS = ["neutral", "calm", "happy", "sad", "angry", "fearful", "disgusted", "surprised"]
NEGATIVE = [EMOTIONS.index(name) for name in ("sad", "angry", "fearful", "disgusted")]
INDEX_NAMES = {"disgust": "disgusted"}  # word of index.csv -> word of the report
DIMENSIONS = ("valence", "arousal")
# Both in [0, 1]. They stand in for ratings that acted corpora do not have.
VALENCE = {
    "neutral": 0.5, "calm": 0.6, "happy": 0.85, "sad": 0.2,
    "angry": 0.15, "fearful": 0.2, "disgusted": 0.2, "surprised": 0.6,
}  # fmt: skip
AROUSAL = {
    "neutral": 0.4, "calm": 0.25, "happy": 0.7, "sad": 0.25,
    "angry": 0.8, "fearful": 0.7, "disgusted": 0.5, "surprised": 0.75,
}  # fmt: skip
PLACES = {"valence": VALENCE, "arousal": AROUSAL}
# Target of speech that nobody acted: most of it is neutral, which clips are not is unknown.
ORDINARY = [0.8 if name == "neutral" else 0.2 / 7 for name in EMOTIONS]
