"""Corpora of the shipped models by task. A corpus that is not listed is not used."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Recipe:
    """Names of corpora. The order is that of tables and model cards."""

    version: str
    emotion: tuple[str, ...]  # acted categories
    ordinary: tuple[str, ...]  # speech that nobody acted, without labels of emotion
    rated: str  # valence and arousal rated by listeners
    arousal: str  # levels of activation
    clarity: str  # fluency and prosody judged by experts
    unlabelled: tuple[str, ...]  # speech without a target
    sounds: tuple[str, ...]  # no speech
    rooms: str  # impulse responses
    unseen: tuple[str, ...]  # acted categories of which no speaker is trained on: corpora that the models have not seen
    known: tuple[str, ...] = field(init=False)  # acted categories that are trained on
    labelled: tuple[str, ...] = field(init=False)  # speech with a target of some score
    speech: tuple[str, ...] = field(init=False)
    corpora: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        labelled = (*self.emotion, self.arousal, self.rated, self.clarity, *self.ordinary)
        object.__setattr__(self, "known", tuple(name for name in self.emotion if name not in self.unseen))
        object.__setattr__(self, "labelled", labelled)
        object.__setattr__(self, "speech", (*labelled, *self.unlabelled))
        object.__setattr__(self, "corpora", (*self.speech, *self.sounds, self.rooms))


RECIPE = Recipe(
    version="1.8.0",
    emotion=("RAVDESS", "TESS", "SAVEE", "EMOVO", "nEMO", "ASED", "EmotionTTSKorean", "CREMA-D", "CASIA", "AESDD", "TurEV"),
    ordinary=("LibriSpeech", "AMI"),
    rated="TAVA",
    arousal="BAVED",
    clarity="speechocean762",
    unlabelled=("MFA",),
    sounds=("EmoGator", "ESC10"),
    rooms="RIR",
    unseen=("AESDD",),
)
