"""Audio frames -> a live session of an Undertone service -> its messages about a transcript."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar, cast

from livekit import rtc
from livekit.agents.utils import aio
from undertone_client import AsyncClient, NoAnswerError, StreamSession, UndertoneError
from undertone_client.reports import MeasurementMessage, TurnMessage

#: Samples, or the end of a transcript.
Input: TypeAlias = bytes | Literal["turn_end"]
Timed = TypeVar("Timed", TurnMessage, MeasurementMessage)

#: Half a minute of frames of 10 ms.
MAX_WAITING_FRAMES = 3000
MEASUREMENT_INTERVAL_S = 1.0
#: A transcript arrives at most so long after its last utterance; otherwise it waits for another one.
MAX_TRANSCRIPT_DELAY_S = 1.0


class VoiceSession:
    """
    Frames never wait for the service. Another session follows one that is lost: transcripts in between have no utterances.
    Another error is the last: transcripts that follow have no utterances.

    :param client: stays open, its owner closes it
    :param on_error: called once another session has followed a lost one, and for the last error
    """

    def __init__(self, client: AsyncClient, on_error: Callable[[Exception], None]) -> None:
        self._client = client
        self._on_error = on_error
        self._inputs: asyncio.Queue[Input] = asyncio.Queue(MAX_WAITING_FRAMES)
        self._format: tuple[int, int] | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_over = False
        self._changed = asyncio.Event()
        self._received_s = 0.0
        #: Start of the session.
        self._offset_s = 0.0
        #: End of the last transcript.
        self._transcribed_s = 0.0
        self._speech_started_s = 0.0
        self._utterances: list[TurnMessage] = []
        self._measurements: list[MeasurementMessage] = []

    def push(self, frame: rtc.AudioFrame) -> None:
        """The first frame opens the session. Its format is that of the session."""
        frame_format = (frame.sample_rate, frame.num_channels)
        if self._format is None:
            self._format = frame_format
            self._task = asyncio.create_task(self._run(*frame_format))
        if frame_format != self._format:
            self._fail(ValueError(f"Expected frames of {self._format} Hz and channels, got {frame_format}"))
        self._received_s += frame.duration
        self._put(frame.data[: frame.samples_per_channel * frame.num_channels].tobytes())

    async def end_transcript(
        self, end_s: float, max_wait_s: float
    ) -> tuple[list[TurnMessage], MeasurementMessage | None]:
        """
        Returns the utterances since the last transcript, and the measurement that covers the last one. Waits for the
        service while an utterance is probably missing.

        :param end_s: seconds from the first sample; the end of the received audio when it cannot be right
        """
        start_s = self._transcribed_s
        if not start_s < end_s <= self._received_s:
            end_s = self._received_s
        self._transcribed_s = end_s
        self._put("turn_end")
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max_wait_s):
                while not self._is_complete(end_s):
                    self._changed.clear()
                    await self._changed.wait()
        self._utterances = [utterance for utterance in self._utterances if utterance["end_s"] > start_s]
        utterances = [utterance for utterance in self._utterances if _is_within(utterance, start_s, end_s)]
        return utterances, self._find_measurement(utterances, end_s)

    async def aclose(self) -> None:
        if self._task is not None:
            await aio.cancel_and_wait(self._task)

    def _put(self, item: Input) -> None:
        if self._is_over or self._task is None:
            return
        try:
            self._inputs.put_nowait(item)
        except asyncio.QueueFull:
            expected = "Expected a service that accepts audio in real time"
            self._fail(NoAnswerError(f"{expected}, got {MAX_WAITING_FRAMES} waiting frames"))

    def _fail(self, error: Exception) -> None:
        if self._is_over or self._task is None:
            return
        self._task.cancel()
        self._end()
        self._on_error(error)

    def _end(self) -> None:
        self._is_over = True
        self._changed.set()

    async def _run(self, sample_rate: int, channels: int) -> None:
        stream = self._client.stream(
            encoding="s16le",
            sample_rate_hz=sample_rate,
            channels=cast(Literal[1, 2], channels),
            signals=["emotion"],
            interval_s=MEASUREMENT_INTERVAL_S,
            reconnect=True,
        )
        try:
            async with stream as session, asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send(session))
                await self._receive(session)
        except* UndertoneError as errors:
            self._on_error(cast(UndertoneError, errors.exceptions[0]))
        finally:
            self._end()

    async def _send(self, session: StreamSession[Any]) -> None:
        while True:
            item = await self._inputs.get()
            if item == "turn_end":
                await session.turn_end()
            else:
                await session.send(item)

    async def _receive(self, session: StreamSession[Any]) -> None:
        async for message in session:
            if message["type"] == "reconnected":
                self._offset_s = message["offset_s"]
                self._on_error(message["error"])
            elif message["type"] == "speech.started":
                self._speech_started_s = self._offset_s + message["at_s"]
            elif message["type"] == "measurement":
                self._measurements.append(self._from_first_sample(message))
            elif message["type"] == "turn":
                utterance = self._from_first_sample(message)
                # Replaces the provisional messages of the same utterance.
                ended = [one for one in self._utterances if one["end_s"] <= utterance["start_s"]]
                self._utterances = [*ended, utterance]
            self._changed.set()

    def _from_first_sample(self, message: Timed) -> Timed:
        start_s, end_s = (round(self._offset_s + at_s, 3) for at_s in (message["start_s"], message["end_s"]))
        return cast(Timed, {**message, "start_s": start_s, "end_s": end_s})

    def _is_complete(self, end_s: float) -> bool:
        """Whether no more utterances are expected. `turn_end` has no reply without an open utterance."""
        spoken_s = self._utterances[-1]["end_s"] if self._utterances else 0.0
        return self._is_over or spoken_s > max(self._speech_started_s, end_s - MAX_TRANSCRIPT_DELAY_S)

    def _find_measurement(self, utterances: list[TurnMessage], end_s: float) -> MeasurementMessage | None:
        """The last one that covers half of the last utterance, and little speech after `end_s`."""
        if not utterances:
            return None
        middle_s, last_s = _middle(utterances[-1]), end_s + MEASUREMENT_INTERVAL_S
        found = [one for one in self._measurements if middle_s <= one["end_s"] <= last_s]
        self._measurements = [one for one in self._measurements if one["end_s"] > middle_s]
        return found[-1] if found else None


def _is_within(utterance: TurnMessage, start_s: float, end_s: float) -> bool:
    """Whether either covers the middle of the other. An utterance may have several transcripts."""
    is_covered = start_s < _middle(utterance) <= end_s
    return is_covered or utterance["start_s"] < (start_s + end_s) / 2 <= utterance["end_s"]


def _middle(utterance: TurnMessage) -> float:
    return (utterance["start_s"] + utterance["end_s"]) / 2
