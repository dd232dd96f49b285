"""Description of the VAD model."""

from dataclasses import replace

from training.corpora.recipe import OPEN as OPEN_RECIPE
from training.corpora.recipe import STANDARD as RECIPE
from training.export.model_spec import PERMISSIVE, ModelSpec

# Minimum speech of a recording with scores, and the bounds of its warnings.
RECORDING_PARAMS = {
    "minTotalSpeechSeconds": 0.5,
    "warnings": {"minSnrDb": 10, "maxClippedRatio": 0.001, "minBandwidthHz": 4500, "audibleDbfs": -50, "minChannelCorrelation": 0.5},
}

SPEC = ModelSpec(
    name="vad",
    description="Speech probability and syllable rate of each 10 ms frame of a stream, and whether it is speech or another sound",
    inputs=("features", "state"),
    outputs=("speech", "syllable_rate", "voice", "next_state"),
    corpora=(*RECIPE.trained, *RECIPE.unlabelled, *RECIPE.sounds),
    limits=(
        "Speech labels come from Silero VAD 6 (MIT), not from people; laughter, crying and other vocal bursts "
        "without words count as no speech.",
        "Syllable rates were trained on English sentences only.",
        "Music in training was synthesised; singing may pass for speech.",
        "The threshold of `voice` was chosen on speech of the dev part.",
        "It looks back 5 s and ahead 0.22 s. The level is that of the last 3 s: a voice more than 60 dB below a louder one is missed for so long.",
    ),
    use="Detects speech and counts its syllables. Every other number of a report depends on its segments.",
    origin="Trained from scratch; Silero VAD 6.2.3 (MIT) labelled the recordings, with its labels corrected by level in "
    "studio recordings. The output `voice` was fitted on its frames afterwards and rejects other sounds that pass as speech.",
    intended=("Separating speech from other sound, to measure pauses and rate.",),
    unintended=("Proving the absence of speech: whispering, shouting and voices under loud noise can be missed.",),
    failures=("Cries, laughter and other vocal bursts without words count as no speech.",),
)
OPEN = replace(SPEC, corpora=(*OPEN_RECIPE.trained, *OPEN_RECIPE.unlabelled, *OPEN_RECIPE.sounds), licence=PERMISSIVE)
