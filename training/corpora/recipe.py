"""Corpora of each set of models by task. A corpus that is not listed is not used."""

from dataclasses import dataclass, field

from training import settings


@dataclass(frozen=True)
class Recipe:
    """Names of corpora. The order is that of tables and model cards."""

    version: str
    emotion: tuple[str, ...]  # acted categories
    ordinary: tuple[str, ...]  # speech that nobody acted, without labels of emotion
    rated: str  # valence and arousal are calibrated on it: ratings of listeners, or the categories that listeners chose
    arousal: str | None  # levels of activation
    clarity: str  # fluency and prosody judged by experts
    unlabelled: tuple[str, ...]  # speech without a target
    sounds: tuple[str, ...]  # no speech
    rooms: str  # impulse responses
    unseen: tuple[str, ...]  # acted categories of which no speaker is trained on: corpora that the models have not seen
    known: tuple[str, ...] = field(init=False)  # acted categories that are trained on
    labelled: tuple[str, ...] = field(init=False)  # speech with a target of some score
    trained: tuple[str, ...] = field(init=False)  # the same without `unseen`
    speech: tuple[str, ...] = field(init=False)
    corpora: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        named = (*self.emotion, self.arousal, self.rated, self.clarity, *self.ordinary)
        labelled = tuple(dict.fromkeys(name for name in named if name is not None))
        object.__setattr__(self, "known", tuple(name for name in self.emotion if name not in self.unseen))
        object.__setattr__(self, "labelled", labelled)
        object.__setattr__(self, "trained", tuple(name for name in labelled if name not in self.unseen))
        object.__setattr__(self, "speech", (*labelled, *self.unlabelled))
        object.__setattr__(self, "corpora", (*self.speech, *self.sounds, self.rooms))


# fmt: off
STANDARD = Recipe(
    version="3.0.0",
    emotion=("RAVDESS", "TESS", "SAVEE", "EMOVO", "nEMO", "ASED", "EmotionTTSKorean", "CREMA-D", "CASIA", "AESDD"),
    ordinary=(
        "LibriSpeech", "AMI", "VoxLingua107", "SpeechAccentArchive", "PicovoiceIntent", "MSC", "LibriSpeechMany", "Alphanumeric", "AsteriskPrompts",
        "IBMSamples", "Frisian", "AWSCalls", "AMIMixed", "AishellSample", "SDKSamples", "MycroftWords",
    ),
    rated="TAVA",
    arousal="BAVED",
    clarity="speechocean762",
    unlabelled=("MFA",),
    sounds=("EmoGator", "ESC10"),
    rooms="RIR",
    unseen=("AESDD",),
)
# Recordings whose licences allow commercial use of what is trained on them.
OPEN = Recipe(
    version="2.1.0",
    emotion=("CREMA-D",),
    ordinary=(
        "LibriSpeech", "AMI", "PicovoiceIntent", "LibriSpeechMany", "Alphanumeric", "IBMSamples", "Frisian", "AWSCalls", "AMIMixed",
        "AishellSample", "SDKSamples", "MycroftWords",
    ),
    rated="CREMA-D",
    arousal=None,
    clarity="speechocean762",
    unlabelled=("MFA",),
    sounds=("EmoGator", "ESC10"),
    rooms="RIR",
    unseen=(),
)
# fmt: on
RECIPE = {"standard": STANDARD, "open": OPEN}[settings.RECIPE]
