"""The emotion of a user turn as a frame."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from pipecat.frames.frames import DataFrame
from undertone_client.reports import TurnMessage


@dataclass
class UserEmotionFrame(DataFrame):
    """
    Emotion of a user turn so far, pushed after each utterance. The last frame of a turn covers all of it.
    Interruptions do not drop it.

    :param turn: counts user turns from 0
    :param utterances: messages of the service, oldest first
    """

    interruptible: bool = field(default=False, init=False)

    turn: int
    utterances: Sequence[TurnMessage]

    @property
    def start_s(self) -> float:
        """Seconds from the first sample."""
        return self.utterances[0]["start_s"]

    @property
    def end_s(self) -> float:
        return self.utterances[-1]["end_s"]

    @property
    def valence(self) -> float:
        return self._mean(lambda utterance: utterance["emotion"]["valence"])

    @property
    def arousal(self) -> float:
        return self._mean(lambda utterance: utterance["emotion"]["arousal"])

    @property
    def emotions(self) -> dict[str, float]:
        """Probability of each label."""
        labels = self.utterances[0]["emotion"]["emotions"]
        return {label: self._mean(lambda utterance: utterance["emotion"]["emotions"][label]) for label in labels}

    @property
    def dominant_emotion(self) -> str:
        emotions = self.emotions
        return max(emotions, key=lambda label: emotions[label])

    def _mean(self, value: Callable[[TurnMessage], float]) -> float:
        """Mean over the utterances, weighted by their duration."""
        durations = [utterance["end_s"] - utterance["start_s"] for utterance in self.utterances]
        values = [value(utterance) for utterance in self.utterances]
        return sum(x * duration for x, duration in zip(values, durations, strict=True)) / sum(durations)

    def __str__(self) -> str:
        return f"{self.name}(turn: {self.turn}, emotion: {self.dominant_emotion})"
