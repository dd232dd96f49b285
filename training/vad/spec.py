"""What is said of the VAD model."""

from training.corpora.recipe import RECIPE
from training.export.model_spec import ModelSpec

SPEC = ModelSpec(
    name="vad",
    description="Speech probability and syllable rate of each 10 ms frame, and whether it is speech or another sound",
    inputs=("features",),
    outputs=("speech", "syllable_rate", "voice"),
    corpora=(*RECIPE.speech, *RECIPE.sounds),
    limits=(
        "The teacher of speech is Silero VAD 6 (MIT), not human labels; laughter, crying and other bursts "
        "of voice without words count as no speech.",
        "Syllables are learned from English sentences alone.",
        "Music was learned from synthesised pieces alone; singing is a voice and may pass for speech.",
    ),
    use="Finds speech, and counts syllables in it. Every other number of a report rests on its segments.",
    origin="Trained from scratch; Silero VAD 6.2.3 (MIT) labelled the recordings, with its labels corrected by level in "
    "studio recordings. The output `voice` was fitted on their frames afterwards, to tell speech from what was taken for it.",
    intended=("Parting speech from the rest, to measure pauses and rate.",),
    unintended=("Proving that nobody spoke: whispering, shouting and voices under loud noise can be missed.",),
    failures=("Cries, laughter and other bursts without words count as no speech.",),
)
