"""User audio -> a live session of an Undertone service -> emotion frames."""

import asyncio
from bisect import bisect
from typing import Any, Literal, TypeAlias, cast

from pipecat.frames.frames import CancelFrame, EndFrame, Frame, InputAudioRawFrame, UserStoppedSpeakingFrame
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from undertone_client import AsyncClient, StreamSession, UndertoneError
from undertone_client.reports import TurnMessage

from .frames import UserEmotionFrame

#: Samples, the end of a user turn, or the end of the audio.
Input: TypeAlias = bytes | Literal["turn_end", "end"]

#: About one minute of frames of 20 ms.
MAX_WAITING_FRAMES = 3000
END_TIMEOUT_S = 10.0


class UserEmotionProcessor(FrameProcessor):
    """
    Pushes a `UserEmotionFrame` downstream after each utterance of the user, and passes all frames on.
    Place it between the speech-to-text service and the user context aggregator. The audio is that of one user.

    Frames never wait for the service. A lost session is an `ErrorFrame` once another follows it: audio in between has no
    emotion. Another error of the service is a permanent `ErrorFrame`, and the agent continues without emotions.

    :param client: stays open, its owner closes it
    """

    def __init__(self, client: AsyncClient, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._client = client
        self._inputs: asyncio.Queue[Input] = asyncio.Queue(MAX_WAITING_FRAMES)
        self._session: asyncio.Task[None] | None = None
        self._received_s = 0.0
        # Start of the session.
        self._offset_s = 0.0
        self._turn_ends: list[float] = []
        self._turns: dict[int, list[TurnMessage]] = {}

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        await super().process_frame(frame, direction)
        if isinstance(frame, InputAudioRawFrame):
            await self._on_audio(frame)
        elif isinstance(frame, UserStoppedSpeakingFrame):
            self._turn_ends.append(self._received_s)
            await self._put("turn_end")
        elif isinstance(frame, EndFrame):
            await self._end()
        elif isinstance(frame, CancelFrame):
            await self._cancel()
        await self.push_frame(frame, direction)

    async def cleanup(self) -> None:
        await self._cancel()
        await super().cleanup()  # type: ignore[no-untyped-call]

    async def _on_audio(self, frame: InputAudioRawFrame) -> None:
        """The format of the session is that of its first frame."""
        if self._session is None:
            self._session = self.create_task(self._run(frame.sample_rate, frame.num_channels))
        self._received_s += frame.num_frames / frame.sample_rate
        await self._put(frame.audio)

    async def _put(self, item: Input) -> None:
        if self._session is None or self._session.done():
            return
        try:
            self._inputs.put_nowait(item)
        except asyncio.QueueFull:
            await self._cancel()
            message = f"Expected a service that accepts audio in real time, got {MAX_WAITING_FRAMES} waiting frames"
            await self.push_error(message, force_treat_as_permanent=True)

    async def _end(self) -> None:
        await self._put("end")
        if self._session is not None:
            await asyncio.wait([self._session], timeout=END_TIMEOUT_S)

    async def _cancel(self) -> None:
        if self._session is not None and not self._session.done():
            await self.cancel_task(self._session)

    async def _run(self, sample_rate: int, channels: int) -> None:
        stream = self._client.stream(
            encoding="s16le",
            sample_rate_hz=sample_rate,
            channels=cast(Literal[1, 2], channels),
            signals=["emotion"],
            reconnect=True,
        )
        try:
            async with stream as session, asyncio.TaskGroup() as tasks:
                tasks.create_task(self._send(session))
                await self._receive(session)
        except* UndertoneError as errors:
            error = errors.exceptions[0]
            await self.push_error(str(error), error, force_treat_as_permanent=True)

    async def _send(self, session: StreamSession[Any]) -> None:
        while (item := await self._inputs.get()) != "end":
            if item == "turn_end":
                await session.turn_end()
            else:
                await session.send(item)
        await session.end()

    async def _receive(self, session: StreamSession[Any]) -> None:
        async for message in session:
            if message["type"] == "reconnected":
                self._offset_s = message["offset_s"]
                # The category of an error may be permanent.
                await self.push_error(f"Lost {message['lost_s']:.1f} s of audio: {message['error']}")
            elif message["type"] == "turn":
                await self._on_utterance(self._from_first_sample(message))

    def _from_first_sample(self, utterance: TurnMessage) -> TurnMessage:
        start_s, end_s = (round(self._offset_s + at_s, 3) for at_s in (utterance["start_s"], utterance["end_s"]))
        return cast(TurnMessage, {**utterance, "start_s": start_s, "end_s": end_s})

    async def _on_utterance(self, utterance: TurnMessage) -> None:
        """The time decides the turn: `turn_end` has no reply, and a turn may have several utterances."""
        turn = bisect(self._turn_ends, (utterance["start_s"] + utterance["end_s"]) / 2)
        # Replaces the provisional messages of the same utterance.
        ended = [one for one in self._turns.get(turn, []) if one["end_s"] <= utterance["start_s"]]
        self._turns[turn] = utterances = [*ended, utterance]
        await self.push_frame(UserEmotionFrame(turn, tuple(utterances)))
