"""One live session: samples -> messages and a report."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, Generic, Literal, TypedDict, TypeVar, Union, cast

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.typing import Subprotocol

from .errors import NoAnswerError, SessionEndedError, UndertoneError, parse_body, to_api_error
from .reports import (
    FinalMessage,
    MeasurementMessage,
    SessionEndedMessage,
    SessionReadyMessage,
    SpeechEndedMessage,
    SpeechStartedMessage,
    TurnMessage,
)
from .retry import retry_after_of

Encoding = Literal["s16le", "f32le", "mulaw", "alaw"]


class ReconnectedMessage(TypedDict):
    """
    With ``reconnect``: a new session follows a lost one. It is a message of the client, without ``seq``. Times, utterances
    and speakers of later messages begin anew.
    """

    type: Literal["reconnected"]
    #: Why the earlier session ended.
    error: UndertoneError
    #: Seconds of audio before the new session, lost ones included: added to later times, they count from the first sample.
    offset_s: float
    #: Seconds of audio since the previous session began that no session received; of a lost connection, not what was on its way.
    lost_s: float


#: A message of the service; an error is raised instead.
Message = Union[
    SessionReadyMessage,
    SpeechStartedMessage,
    SpeechEndedMessage,
    MeasurementMessage,
    TurnMessage,
    FinalMessage,
    SessionEndedMessage,
    ReconnectedMessage,
]
AnyReport = TypeVar("AnyReport")

SUBPROTOCOL = Subprotocol("undertone.v1")
MAX_FRAME_BYTES = 2**20
LOST = 1006
PROTOCOL_ERROR = 1002


class StreamSession(Generic[AnyReport]):
    """Iteration yields the messages until the session is over. It raises when there is no report."""

    def __init__(self, connection: ClientConnection, place: str) -> None:
        self._connection = connection
        self._place = place
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        self._ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._report: AnyReport | None = None
        # Audio that the service received, where it said so.
        self._received_s: float | None = None
        self._failure: UndertoneError | None = None
        self._is_ending = False
        self._is_idle = False
        self._reader = asyncio.create_task(self._read())
        self._keeper: asyncio.Task[None] | None = None

    async def send(self, samples: bytes | bytearray | memoryview) -> None:
        """Sends samples, which may be cut anywhere. Returns when the connection accepts more."""
        view = memoryview(samples).cast("B")
        for start in range(0, len(view), MAX_FRAME_BYTES):
            await self._send(bytes(view[start : start + MAX_FRAME_BYTES]))
        self._is_idle = False

    async def turn_end(self) -> None:
        """The service returns the utterance that is still open, as provisional."""
        await self._send_message({"type": "turn.end"})

    async def end(self) -> AnyReport:
        """Ends the audio. Returns the report."""
        if not self._is_ending and not self._reader.done():
            self._is_ending = True
            with contextlib.suppress(UndertoneError):
                await self._send_message({"type": "session.end"})
        await asyncio.wait([self._reader])
        if self._report is None:
            raise self._ended()
        return self._report

    async def __aiter__(self) -> AsyncIterator[Message]:
        while (message := await self._messages.get()) is not None:
            yield message
        self._messages.put_nowait(None)
        if self._report is None:
            raise self._ended()

    async def _configure(self, config: Mapping[str, object], timeout: float) -> None:
        with contextlib.suppress(UndertoneError):
            await self._send_message({"type": "session.configure", **config})
        # wait_for of Python 3.11 and earlier can swallow a cancellation.
        await asyncio.wait([self._ready], timeout=timeout)
        if not self._ready.done():
            raise NoAnswerError(f"Expected a session from {self._place} within {timeout} s, got no message")
        if self._reader.done():
            raise self._ended()

    async def _close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
        await self._connection.close()
        await self._reader

    async def _send_message(self, message: Mapping[str, object]) -> None:
        await self._send(json.dumps(message))

    async def _send(self, frame: str | bytes) -> None:
        try:
            await self._connection.send(frame)
        except ConnectionClosed:
            await asyncio.wait([self._reader])
            raise self._ended() from None

    async def _read(self) -> None:
        try:
            with contextlib.suppress(ConnectionClosed):
                async for text in self._connection:
                    if not self._receive(text):
                        await self._connection.close(PROTOCOL_ERROR)
                        break
        finally:
            if self._keeper is not None:
                self._keeper.cancel()
            self._messages.put_nowait(None)
            self._set_ready()

    def _receive(self, text: str | bytes) -> bool:
        """False for a frame that is no message: the session fails."""
        try:
            self._on_message(json.loads(text))
        except (ValueError, LookupError, TypeError) as cause:
            text_start = text[:60]
            self._failure = NoAnswerError(
                f"Expected messages of a session from {self._place}, got {text_start!r}"
            )
            self._failure.__cause__ = cause
            return False
        return True

    def _on_message(self, message: dict[str, Any]) -> None:
        if message["type"] == "error":
            self._failure = to_api_error(message["status"], message, message["request_id"])
            return
        if message["type"] == "session.ready":
            self._keeper = asyncio.create_task(self._keep_alive(message["limits"]["idle_s"] / 4))
            self._set_ready()
        if message["type"] == "final":
            self._report = message["report"]
        if message["type"] == "session.ended":
            self._received_s = message["audio_s"]
        self._messages.put_nowait(cast(Message, message))

    def _set_ready(self) -> None:
        if not self._ready.done():
            self._ready.set_result(None)

    async def _keep_alive(self, seconds: float) -> None:
        with contextlib.suppress(UndertoneError):
            while not self._is_ending:
                await asyncio.sleep(seconds)
                if self._is_idle:
                    await self._send_message({"type": "keep_alive"})
                self._is_idle = True

    def _ended(self) -> UndertoneError:
        if self._failure is not None:
            return self._failure
        code = self._connection.close_code
        if code is None or code == LOST:
            return NoAnswerError(f"Expected an open session from {self._place}, got a lost connection")
        return SessionEndedError(code, self._connection.close_reason or "")


async def open_session(
    url: str, config: Mapping[str, object], headers: Mapping[str, str], timeout: float
) -> StreamSession[Any]:
    """:param url: of the service, with ``/`` at its end"""
    place = url.replace("http", "ws", 1) + "v1/stream"
    session = StreamSession[Any](await _connect(place, headers, timeout), place)
    try:
        await session._configure(config, timeout)
    except BaseException:
        await session._close()
        raise
    return session


class _ConnectWithoutRedirects(connect):
    """Redirects are not followed: the target would receive the token."""

    def process_redirect(self, exc: Exception) -> Exception:
        return exc


async def _connect(place: str, headers: Mapping[str, str], timeout: float) -> ClientConnection:
    """The service does not read while it is behind: it would not answer pings of the client."""
    try:
        return await _ConnectWithoutRedirects(
            place,
            subprotocols=[SUBPROTOCOL],
            additional_headers=headers,
            open_timeout=timeout,
            compression=None,
            max_size=None,
            ping_interval=None,
        )
    except InvalidStatus as cause:
        response = cause.response
        request_id = response.headers.get("X-Request-Id")
        fallback = f"HTTP {response.status_code} {response.reason_phrase}"
        error = to_api_error(response.status_code, parse_body(bytes(response.body or b"")), request_id, fallback)
        error.retry_after = retry_after_of(response.headers)
        raise error from cause
    except (OSError, TimeoutError, asyncio.TimeoutError, WebSocketException) as cause:
        message = f"Expected a session from {place}, got {type(cause).__name__}: {cause}"
        raise NoAnswerError(message.rstrip(": ")) from cause
