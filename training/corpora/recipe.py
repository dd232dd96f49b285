"""Corpora of the shipped models by task. A corpus that is not listed is not used."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Recipe:
    """Names of corpora. The order is that of tables and model cards."""

    version: str
    emotion: tuple[str, ...]  # acted categories
    rated: str  # valence and arousal rated by listeners
    arousal: str  # levels of activation
    clarity: str  # fluency and prosody judged by experts
    unlabelled: tuple[str, ...]  # speech without labels
    sounds: tuple[str, ...]  # no speech
    rooms: str  # impulse responses
    unseen: str  # left out of fine-tuning, to compare recipes on an unseen corpus
    labelled: tuple[str, ...] = field(init=False)  # speech with a target of some score
    speech: tuple[str, ...] = field(init=False)
    corpora: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        labelled = (*self.emotion, self.arousal, self.rated, self.clarity)
        object.__setattr__(self, "labelled", labelled)
        object.__setattr__(self, "speech", (*labelled, *self.unlabelled))
        object.__setattr__(self, "corpora", (*self.speech, *self.sounds, self.rooms))


RECIPE = Recipe(
    version="1.5.0",
    emotion=("RAVDESS", "TESS", "SAVEE", "EMOVO", "nEMO", "ASED", "EmotionTTSKorean"),
    rated="TAVA",
    arousal="BAVED",
    clarity="speechocean762",
    unlabelled=("LibriSpeech", "AMI", "MFA"),
    sounds=("EmoGator", "ESC10"),
    rooms="RIR",
    unseen="EMOVO",
)
