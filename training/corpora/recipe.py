"""Corpora of the sets of models by task. A corpus that is not listed is not used."""

from dataclasses import dataclass, field

VERSION = "4.0.0"  # of the models


@dataclass(frozen=True)
class Recipe:
    """Names of corpora. The order is that of tables and model cards."""

    labels: tuple[str, ...]  # categories that the acted corpora have
    emotion: tuple[str, ...]  # acted categories
    ordinary: tuple[str, ...]  # speech that nobody acted, without labels of emotion
    rated: str  # valence and arousal are calibrated on it: ratings of listeners, or the categories that listeners chose
    arousal: str | None  # levels of activation
    clarity: str  # fluency and prosody judged by experts
    unlabelled: tuple[str, ...]  # speech without a target
    sounds: tuple[str, ...]  # no speech
    rooms: str  # impulse responses
    labelled: tuple[str, ...] = field(init=False)  # speech with a target of some score
    speech: tuple[str, ...] = field(init=False)
    corpora: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        named = (*self.emotion, self.arousal, self.rated, self.clarity, *self.ordinary)
        labelled = tuple(dict.fromkeys(name for name in named if name is not None))
        object.__setattr__(self, "labelled", labelled)
        object.__setattr__(self, "speech", (*labelled, *self.unlabelled))
        object.__setattr__(self, "corpora", (*self.speech, *self.sounds, self.rooms))


# Recordings whose licences allow commercial use of what is trained on them: ordinary speech that nobody acted.
PERMISSIVE_ORDINARY = (
    "LibriSpeech", "AMI", "PicovoiceIntent", "LibriSpeechMany", "Alphanumeric", "IBMSamples", "Frisian", "AWSCalls", "AishellSample", "SDKSamples",
    "MycroftWords", "Samromur", "FLEURSSamples", "RhasspyVoices", "CommonVoiceSamples", "ArabicCommands", "PicovoiceWakeWords", "LibriVoxFleursDuMal",
    "VCTKSamples",
)  # fmt: skip
# models/standard, models/fast and models/large.
SOLD = Recipe(
    labels=("neutral", "happy", "sad", "angry", "fearful", "disgusted", "surprised"),
    emotion=("CREMA-D", "BanglaSER", "EmoDB"),
    ordinary=PERMISSIVE_ORDINARY,
    rated="CREMA-D",
    arousal=None,
    clarity="speechocean762",
    unlabelled=("MFA",),
    sounds=("EmoGator", "ESC10"),
    rooms="RIR",
)
# models/research: not to be sold.
RESEARCH = Recipe(
    labels=("neutral", "calm", *SOLD.labels[1:]),
    emotion=(*SOLD.emotion, "RAVDESS", "TESS", "SAVEE", "EMOVO", "nEMO", "ASED", "EmotionTTSKorean", "CASIA", "AESDD"),
    ordinary=(*PERMISSIVE_ORDINARY, "VoxLingua107", "SpeechAccentArchive", "MSC", "AsteriskPrompts"),
    rated="TAVA",
    arousal="BAVED",
    clarity=SOLD.clarity,
    unlabelled=SOLD.unlabelled,
    sounds=SOLD.sounds,
    rooms=SOLD.rooms,
)
