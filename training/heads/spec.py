"""Descriptions of the heads."""

from dataclasses import replace

from training.corpora.corpus import EMOTIONS
from training.corpora.recipe import OPEN as OPEN_RECIPE
from training.corpora.recipe import STANDARD as RECIPE
from training.export.model_spec import PERMISSIVE, ModelSpec

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
        "No public recordings carry labels of cognitive load: the index is documented, not learned.",
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
    failures=("Rated on English sentences read by Mandarin speakers only; children are ranked less well than adults.",),
)
OPEN_EMOTION = replace(
    EMOTION,
    unavailable="Recordings whose licences allow commercial use do not carry emotion beyond their own corpus: the only acted one is CREMA-D, "
    "and a head that learns that ordinary speech is mostly neutral takes the speech of every other corpus for neutral (CARD.md)",
    corpora=OPEN_RECIPE.trained,
    limits=(
        "One acted corpus, CREMA-D: English sentences of US American actors. The targets are the votes of listeners. It has neutral, happy, "
        "sad, angry, fearful and disgusted speech: nothing was learned about calm and surprised speech, which get low probabilities.",
        "Valence and arousal were never rated: their targets are fixed values of the categories that listeners chose (neutral 0.5 and 0.4, "
        "angry 0.15 and 0.8, ...). Their intervals hold for such values, and are too narrow for ratings: see the metrics of TAVA.",
        "Speech that nobody acted (LibriSpeech, AMI, speechocean762) has no labels of emotion: its target is weakly neutral, "
        "a probability of 0.8 for every recording. Weak emotions in such speech are reported as neutral.",
        "Temperature, affine calibration, thresholds and intervals were fitted on the calibration part, on none of the evaluated speakers.",
    ),
    licence=PERMISSIVE,
    failures=(
        "Emotions are acted in the only labelled corpus: how well emotions of natural speech are recognised was not measured, only how "
        "often ordinary speech gets one.",
        "Every corpus of the metrics but CREMA-D, speechocean762, LibriSpeech and AMI is new to these weights: other languages and other "
        "ways of acting are recognised much worse than by models/standard.",
    ),
)
OPEN_CLARITY = replace(
    CLARITY, corpora=(OPEN_RECIPE.clarity, *OPEN_RECIPE.ordinary), licence=PERMISSIVE
)
