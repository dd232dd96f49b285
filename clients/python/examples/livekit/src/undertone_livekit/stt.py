"""A speech-to-text service of LiveKit whose final transcripts have a voice profile."""

import asyncio
import contextlib
from collections.abc import AsyncIterable
from dataclasses import replace
from typing import Any

from livekit.agents import DEFAULT_API_CONNECT_OPTIONS, NOT_GIVEN, APIConnectOptions, NotGivenOr, stt
from livekit.agents.utils import AudioBuffer, aio
from livekit.agents.voice import ConversationItemAddedEvent
from undertone_client import AsyncClient

from .metadata import add_profile
from .session import VoiceSession


class VoiceProfileSTT(stt.STT[Any]):
    """
    Streams the audio to `wrapped` and to an Undertone service, and adds the emotion of the voice to `metadata` of each
    final transcript. The audio is that of one person.

    A lost session is a recoverable `STTError` once another follows it, and transcripts in between have no profile. After
    another error of the service, which is a recoverable `STTError` too, transcripts continue without a profile.

    :param wrapped: transcribes. Its owner closes it
    :param client: stays open, its owner closes it
    :param max_wait_s: how long a final transcript waits for the service
    """

    def __init__(self, wrapped: stt.STT[Any], client: AsyncClient, *, max_wait_s: float = 0.3) -> None:
        if not wrapped.capabilities.streaming:
            expected = "Expected an STT that streams for `wrapped`, such as stt.StreamAdapter"
            raise ValueError(f"{expected}, got {wrapped.label}")
        super().__init__(capabilities=wrapped.capabilities)
        self._wrapped = wrapped
        self._client = client
        self._max_wait_s = max_wait_s
        self._recognize_metrics_needed = False
        wrapped.on("metrics_collected", self._on_metrics)

    @property
    def capabilities(self) -> stt.STTCapabilities:
        return self._wrapped.capabilities

    @property
    def model(self) -> str:
        return self._wrapped.model

    @property
    def provider(self) -> str:
        return self._wrapped.provider

    def stream(
        self,
        *,
        language: NotGivenOr[str] = NOT_GIVEN,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
    ) -> stt.RecognizeStream:
        return _Stream(self, self._wrapped, self._client, language, conn_options, self._max_wait_s)

    def prewarm(self) -> None:
        self._wrapped.prewarm()

    async def aclose(self) -> None:
        self._wrapped.off("metrics_collected", self._on_metrics)

    async def _recognize_impl(
        self, buffer: AudioBuffer, *, language: NotGivenOr[str] = NOT_GIVEN, conn_options: APIConnectOptions
    ) -> stt.SpeechEvent:
        return await self._wrapped.recognize(buffer, language=language, conn_options=conn_options)

    def _update_session_keyterms(self, keyterms: list[str]) -> None:
        self._wrapped._update_session_keyterms(keyterms)

    def _push_conversation_item(self, ev: ConversationItemAddedEvent) -> None:
        self._wrapped._push_conversation_item(ev)

    def _on_metrics(self, *metrics: Any) -> None:
        self.emit("metrics_collected", *metrics)


class _Stream(stt.RecognizeStream):
    """The wrapped stream retries: this one does not."""

    def __init__(
        self,
        owner: VoiceProfileSTT,
        wrapped: stt.STT[Any],
        client: AsyncClient,
        language: NotGivenOr[str],
        conn_options: APIConnectOptions,
        max_wait_s: float,
    ) -> None:
        super().__init__(stt=owner, conn_options=replace(conn_options, max_retry=0))
        self._wrapped = wrapped
        self._language = language
        self._wrapped_options = conn_options
        self._session = VoiceSession(client, lambda error: self._emit_error(error, recoverable=True))
        self._max_wait_s = max_wait_s

    async def _run(self) -> None:
        wrapped = self._wrapped.stream(language=self._language, conn_options=self._wrapped_options)
        wrapped.start_time_offset = self.start_time_offset
        forwarding = asyncio.create_task(self._forward_input(wrapped))
        try:
            async for event in wrapped:
                if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT and event.alternatives:
                    event = await self._add_profile(event)
                self._event_ch.send_nowait(event)
        finally:
            await aio.cancel_and_wait(forwarding)
            await wrapped.aclose()
            await self._session.aclose()

    async def _forward_input(self, wrapped: stt.RecognizeStream) -> None:
        # A wrapped stream that has failed accepts no input: iterating it raises the error.
        with contextlib.suppress(RuntimeError):
            async for item in self._input_ch:
                if isinstance(item, self._FlushSentinel):
                    wrapped.flush()
                else:
                    self._session.push(item)
                    wrapped.push_frame(item)
            wrapped.end_input()

    async def _add_profile(self, event: stt.SpeechEvent) -> stt.SpeechEvent:
        """Services without times have 0 as `end_time`."""
        if not event.alternatives[0].text:
            return event
        end_s = event.alternatives[0].end_time - self.start_time_offset
        utterances, measurement = await self._session.end_transcript(end_s, self._max_wait_s)
        alternatives = [
            replace(one, metadata=add_profile(one.metadata, utterances, measurement)) for one in event.alternatives
        ]
        return replace(event, alternatives=alternatives)

    async def _metrics_monitor_task(self, event_aiter: AsyncIterable[stt.SpeechEvent]) -> None:
        """Those of the wrapped stream are emitted."""
        async for _ in event_aiter:
            pass
