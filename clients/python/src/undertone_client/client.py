from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Literal, TypedDict, cast, overload

import httpx

from .base import REFUSED, Base, Options, SpeakerMode, is_above_limit, speakers_options
from .errors import ApiError, UndertoneError, ValidationError
from .jobs import PATH as JOBS
from .jobs import AsyncJobs, Jobs, upload_of
from .reconnect import stream_session
from .recording import AsyncBaseline, AsyncRecording, Baseline, Recording, read, read_all, read_all_async, read_async
from .reports import (
    ChannelsReport,
    CognitiveReport,
    EmbeddingReport,
    EmotionReport,
    Report,
    Scope,
    Signal,
    SignalReport,
    SpeakersReport,
    StreamToken,
    Usage,
)
from .stream import Encoding, StreamSession


class SpeakerSegment(TypedDict):
    """Times in seconds."""

    start: float
    end: float
    speaker: str


STREAM_TOKENS = "v1/stream/tokens"
USAGE = "v1/usage"
ANALYZE = "v1/analyze"
EMBED = "v1/embed"


class Client(Base):
    """Calls raise ApiError and its subclasses, NoAnswerError or JobFailedError."""

    def __init__(self, url: str, token: str, *, timeout: float = 60.0, retries: int = 3) -> None:
        super().__init__(url, token, timeout=timeout, retries=retries)
        self._http = httpx.Client(**self._how)
        #: Long recordings and lists, analysed in the background.
        self.jobs = Jobs(self._request, self._form)

    def analyze(
        self,
        audio: Recording,
        *,
        baseline: Baseline | None = None,
        channel: int | None = None,
        track: int | None = None,
        receipt: bool = False,
    ) -> Report:
        """
        Both reports from one pass. A recording above the limits of a request is analysed as a job, by this call and the
        next two: it may take minutes, and the job is deleted at the end.
        """
        options = {"channel": channel, "track": track, "receipt": "true" if receipt else None}
        return cast(Report, self._post_any(audio, baseline, options))

    def analyze_channels(self, audio: Recording, *, track: int | None = None, receipt: bool = False) -> ChannelsReport:
        """One report per channel of a recording with two, and their conversation."""
        options = {"channels": "split", "track": track, "receipt": "true" if receipt else None}
        return cast(ChannelsReport, self._post_any(audio, None, options))

    def analyze_speakers(
        self,
        audio: Recording,
        segments: Sequence[SpeakerSegment] | str | None = None,
        *,
        speakers: SpeakerMode | None = None,
        channel: int | None = None,
        track: int | None = None,
        receipt: bool = False,
    ) -> SpeakersReport:
        """
        One report per speaker.

        :param segments: of a diarizer or a transcript; a text is RTTM
        :param speakers: without ``segments``: ``2`` to ``6`` voices on one channel, or as many as ``auto`` finds, are separated
        :raises ValueError: for both, or neither
        """
        options = speakers_options(segments, speakers, channel, track, receipt)
        return cast(SpeakersReport, self._post_any(audio, None, options))

    def emotion(
        self,
        audio: Recording,
        *,
        baseline: Baseline | None = None,
        channel: int | None = None,
        track: int | None = None,
        receipt: bool = False,
    ) -> EmotionReport:
        options = {"channel": channel, "track": track, "receipt": "true" if receipt else None}
        return cast(EmotionReport, self._post(f"{ANALYZE}/emotion", audio, baseline, options))

    def cognitive(
        self,
        audio: Recording,
        *,
        baseline: Baseline | None = None,
        channel: int | None = None,
        track: int | None = None,
        receipt: bool = False,
    ) -> CognitiveReport:
        options = {"channel": channel, "track": track, "receipt": "true" if receipt else None}
        return cast(CognitiveReport, self._post(f"{ANALYZE}/cognitive", audio, baseline, options))

    def embed(self, audio: Recording, *, channel: int | None = None, track: int | None = None) -> EmbeddingReport:
        """Embeddings of the recording and of its utterances; needs the scope ``embed``."""
        return cast(EmbeddingReport, self._post(EMBED, audio, None, {"channel": channel, "track": track}))

    def _post_any(self, audio: Recording, baseline: Baseline | None, options: Options) -> object:
        form = self._form(read(audio), read_all(baseline), options)
        try:
            return self._request("POST", ANALYZE, form)
        except ValidationError as error:
            job_id = self._create_job(error, form)
        try:
            return self.jobs.wait(job_id)
        finally:
            with contextlib.suppress(UndertoneError):
                self.jobs.cancel(job_id)

    def _create_job(self, error: ValidationError, form: dict[str, Any]) -> str:
        """Raises `error` if it is no limit, or where the service takes no jobs, or not with this token."""
        if not is_above_limit(error):
            raise error
        try:
            return cast(str, cast(Any, self._request("POST", JOBS, upload_of(form)))["id"])
        except ApiError as refusal:
            if refusal.status in REFUSED:
                raise error from None
            raise

    def _post(
        self, path: str, audio: Recording, baseline: Baseline | None, options: Options
    ) -> object:
        form = self._form(read(audio), read_all(baseline), options)
        return self._request("POST", path, form)

    def usage(self) -> Usage:
        """Requests, errors and seconds of audio of the client's token, per day."""
        return cast(Usage, self._request("GET", USAGE, {}))

    def create_stream_token(self, scopes: Sequence[Scope] | None = None) -> StreamToken:
        """
        A token for one live session of a page, which opens it within 60 s.

        :param scopes: at most those of the client's token; all of them by default
        """
        return cast(StreamToken, self._request("POST", STREAM_TOKENS, self._scopes(scopes)))

    def _request(self, method: str, path: str, content: Mapping[str, Any]) -> object:
        done = 0
        while True:
            try:
                response = self._http.request(method, self._url + path, **content)
                wait = self._wait(response, done)
            except httpx.TransportError as cause:
                wait = self._wait_after(cause, path, done)
            if wait is None:
                break
            time.sleep(wait)
            done += 1
        return self._answer(method, response, done)

    def close(self) -> None:
        self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class AsyncClient(Base):
    """As Client, for asyncio, and with live sessions, which raise SessionEndedError too."""

    def __init__(self, url: str, token: str, *, timeout: float = 60.0, retries: int = 3) -> None:
        super().__init__(url, token, timeout=timeout, retries=retries)
        self._http = httpx.AsyncClient(**self._how)
        #: Long recordings and lists, analysed in the background.
        self.jobs = AsyncJobs(self._request, self._form)

    async def analyze(
        self,
        audio: AsyncRecording,
        *,
        baseline: AsyncBaseline | None = None,
        channel: int | None = None,
        track: int | None = None,
        receipt: bool = False,
    ) -> Report:
        """As Client.analyze."""
        options = {"channel": channel, "track": track, "receipt": "true" if receipt else None}
        return cast(Report, await self._post_any(audio, baseline, options))

    async def analyze_channels(self, audio: AsyncRecording, *, track: int | None = None, receipt: bool = False) -> ChannelsReport:
        """One report per channel of a recording with two, and their conversation."""
        options = {"channels": "split", "track": track, "receipt": "true" if receipt else None}
        return cast(ChannelsReport, await self._post_any(audio, None, options))

    async def analyze_speakers(
        self,
        audio: AsyncRecording,
        segments: Sequence[SpeakerSegment] | str | None = None,
        *,
        speakers: SpeakerMode | None = None,
        channel: int | None = None,
        track: int | None = None,
        receipt: bool = False,
    ) -> SpeakersReport:
        """
        One report per speaker.

        :param segments: of a diarizer or a transcript; a text is RTTM
        :param speakers: without ``segments``: ``2`` to ``6`` voices on one channel, or as many as ``auto`` finds, are separated
        :raises ValueError: for both, or neither
        """
        options = speakers_options(segments, speakers, channel, track, receipt)
        return cast(SpeakersReport, await self._post_any(audio, None, options))

    async def emotion(
        self,
        audio: AsyncRecording,
        *,
        baseline: AsyncBaseline | None = None,
        channel: int | None = None,
        track: int | None = None,
        receipt: bool = False,
    ) -> EmotionReport:
        options = {"channel": channel, "track": track, "receipt": "true" if receipt else None}
        return cast(EmotionReport, await self._post(f"{ANALYZE}/emotion", audio, baseline, options))

    async def cognitive(
        self,
        audio: AsyncRecording,
        *,
        baseline: AsyncBaseline | None = None,
        channel: int | None = None,
        track: int | None = None,
        receipt: bool = False,
    ) -> CognitiveReport:
        options = {"channel": channel, "track": track, "receipt": "true" if receipt else None}
        return cast(CognitiveReport, await self._post(f"{ANALYZE}/cognitive", audio, baseline, options))

    async def embed(self, audio: AsyncRecording, *, channel: int | None = None, track: int | None = None) -> EmbeddingReport:
        """As Client.embed."""
        return cast(EmbeddingReport, await self._post(EMBED, audio, None, {"channel": channel, "track": track}))

    async def _post_any(
        self, audio: AsyncRecording, baseline: AsyncBaseline | None, options: Options
    ) -> object:
        rest = await read_all_async(baseline)
        form = self._form(await read_async(audio), rest, options)
        try:
            return await self._request("POST", ANALYZE, form)
        except ValidationError as error:
            job_id = await self._create_job(error, form)
        try:
            return await self.jobs.wait(job_id)
        finally:
            with contextlib.suppress(UndertoneError):
                await self.jobs.cancel(job_id)

    async def _create_job(self, error: ValidationError, form: dict[str, Any]) -> str:
        """As Client._create_job."""
        if not is_above_limit(error):
            raise error
        try:
            return cast(str, cast(Any, await self._request("POST", JOBS, upload_of(form)))["id"])
        except ApiError as refusal:
            if refusal.status in REFUSED:
                raise error from None
            raise

    async def _post(
        self, path: str, audio: AsyncRecording, baseline: AsyncBaseline | None, options: Options
    ) -> object:
        rest = await read_all_async(baseline)
        form = self._form(await read_async(audio), rest, options)
        return await self._request("POST", path, form)

    async def usage(self) -> Usage:
        """As Client.usage."""
        return cast(Usage, await self._request("GET", USAGE, {}))

    async def create_stream_token(self, scopes: Sequence[Scope] | None = None) -> StreamToken:
        """As Client.create_stream_token."""
        return cast(StreamToken, await self._request("POST", STREAM_TOKENS, self._scopes(scopes)))

    @overload
    def stream(
        self,
        *,
        encoding: Encoding,
        sample_rate_hz: int,
        channels: Literal[1, 2] = 1,
        interval_s: float | None = None,
        reconnect: bool = False,
    ) -> AbstractAsyncContextManager[StreamSession[Report]]: ...

    @overload
    def stream(
        self,
        *,
        encoding: Encoding,
        sample_rate_hz: int,
        channels: Literal[1, 2] = 1,
        signals: Sequence[Signal],
        interval_s: float | None = None,
        reconnect: bool = False,
    ) -> AbstractAsyncContextManager[StreamSession[Report | SignalReport]]: ...

    @overload
    def stream(
        self,
        *,
        encoding: Encoding,
        sample_rate_hz: int,
        channels: Literal[2],
        split: Literal[True],
        interval_s: float | None = None,
        reconnect: bool = False,
    ) -> AbstractAsyncContextManager[StreamSession[ChannelsReport]]: ...

    @overload
    def stream(
        self,
        *,
        encoding: Encoding,
        sample_rate_hz: int,
        channels: Literal[1, 2] = 1,
        speakers: SpeakerMode,
        interval_s: float | None = None,
        reconnect: bool = False,
    ) -> AbstractAsyncContextManager[StreamSession[SpeakersReport]]: ...

    def stream(
        self,
        *,
        encoding: Encoding,
        sample_rate_hz: int,
        channels: Literal[1, 2] = 1,
        split: Literal[True] | None = None,
        speakers: SpeakerMode | None = None,
        signals: Sequence[Signal] | None = None,
        interval_s: float | None = None,
        reconnect: bool = False,
    ) -> AbstractAsyncContextManager[Any]:
        """
        A live session. Leaving the context without ``end()`` ends it without a report.

        :param signals: all by default; the report of one signal is that of its method, such as ``emotion()``
        :param split: analyse each of two channels alone; the report is that of ``analyze_channels()``
        :param speakers: voices on one channel; each turn has its speaker, and the report is that of ``analyze_speakers()``
        :param interval_s: between measurements, s
        :param reconnect: when a session is lost, to a lost connection, a shutdown or an error of the service, open a new one with
            the same configuration, in 8 attempts. Samples sent meanwhile are dropped, and a ``reconnected`` message says how many
        """
        fields = {
            "encoding": encoding,
            "sample_rate_hz": sample_rate_hz,
            "channels": channels,
            "split": split,
            "speakers": speakers,
            "signals": None if signals is None else list(signals),
            "interval_s": interval_s,
        }
        config = {name: value for name, value in fields.items() if value is not None}
        return stream_session(self._url, config, **self._how, reconnect=reconnect)

    async def _request(self, method: str, path: str, content: Mapping[str, Any]) -> object:
        done = 0
        while True:
            try:
                response = await self._http.request(method, self._url + path, **content)
                wait = self._wait(response, done)
            except httpx.TransportError as cause:
                wait = self._wait_after(cause, path, done)
            if wait is None:
                break
            await asyncio.sleep(wait)
            done += 1
        return self._answer(method, response, done)

    async def close(self) -> None:
        await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
