"""The emotion of a user turn as a frame."""

from collections.abc import Sequence
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
    def valence(self) -> float | None:
        """None with models that were adapted without ratings of it."""
        return self._mean([utterance["emotion"]["valence"] for utterance in self.utterances])

    @property
    def arousal(self) -> float | None:
        """None as for valence."""
        return self._mean([utterance["emotion"]["arousal"] for utterance in self.utterances])

    @property
    def emotions(self) -> dict[str, float]:
        """Probability of each label."""
        spoken = [utterance["emotion"]["emotions"] for utterance in self.utterances]
        return {label: self._mean([emotions[label] for emotions in spoken]) or 0.0 for label in spoken[0]}

    @property
    def dominant_emotion(self) -> str:
        emotions = self.emotions
        return max(emotions, key=lambda label: emotions[label])

    def _mean(self, scores: Sequence[float | None]) -> float | None:
        """Mean over the utterances, weighted by their duration; None where one has no score."""
        known = [score for score in scores if score is not None]
        if len(known) < len(scores):
            return None
        durations = [utterance["end_s"] - utterance["start_s"] for utterance in self.utterances]
        return sum(x * duration for x, duration in zip(known, durations, strict=True)) / sum(durations)

    def __str__(self) -> str:
        return f"{self.name}(turn: {self.turn}, emotion: {self.dominant_emotion})"
