"""Messages of a live session -> metadata of a transcript."""

from collections.abc import Sequence
from typing import Any

from undertone_client.reports import MeasurementMessage, TurnMessage


def add_profile(
    metadata: dict[str, Any] | None, utterances: Sequence[TurnMessage], measurement: MeasurementMessage | None
) -> dict[str, Any] | None:
    """
    Returns `metadata` with the emotion of the utterances in `voice_profile`, and the messages of the service in
    `undertone`. Returns it unchanged without scores: the voice profile is absent, not neutral.

    :param metadata: of the speech-to-text service: its other keys and the other categories of its profile stay
    """
    scored = [utterance for utterance in utterances if "emotion" in utterance]
    if not scored:
        return metadata
    metadata = metadata or {}
    messages: dict[str, Any] = {"utterances": scored}
    if measurement is not None:
        messages["measurement"] = measurement
    profile = {**metadata.get("voice_profile", {}), "emotion": _to_candidates(scored)}
    return {**metadata, "voice_profile": profile, "undertone": messages}


def _to_candidates(utterances: Sequence[TurnMessage]) -> list[dict[str, Any]]:
    """All labels, most probable first. The probabilities are means, weighted by the duration of the utterances."""
    durations = [utterance["end_s"] - utterance["start_s"] for utterance in utterances]
    rows = [utterance["emotion"]["emotions"] for utterance in utterances]

    def mean(label: str) -> float:
        total = sum(row[label] * duration for row, duration in zip(rows, durations, strict=True))
        return round(total / sum(durations), 4)

    candidates = [{"label": label, "confidence": mean(label)} for label in rows[0]]
    return sorted(candidates, key=lambda candidate: candidate["confidence"], reverse=True)
