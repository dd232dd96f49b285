"""A live session that goes on in a new one when it is lost."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from .errors import ApiError, SessionEndedError, UndertoneError
from .retry import RETRIED, wait_before_reconnect
from .stream import LOST, AnyReport, Message, ReconnectedMessage, StreamSession, open_session

# Shutdown, lost connection, error, restart, overload: https://www.iana.org/assignments/websocket names them.
LOST_CODES = (1001, LOST, 1011, 1012, 1013)
MAX_ATTEMPTS = 8
# A session that is lost sooner counts as an attempt that failed.
SETTLED_S = 10.0
SAMPLE_BYTES = {"s16le": 2, "f32le": 4, "mulaw": 1, "alaw": 1}


class ReconnectingSession(StreamSession[AnyReport]):
    """Has sessions one after the other, and no connection."""

    def __init__(
        self,
        session: StreamSession[AnyReport],
        reopen: Callable[[], Awaitable[StreamSession[AnyReport]]],
        config: Mapping[str, Any],
    ) -> None:
        self._reopen = reopen
        self._frame_bytes = SAMPLE_BYTES[config["encoding"]] * config["channels"]
        self._bytes_per_second = self._frame_bytes * config["sample_rate_hz"]
        # The last that was open.
        self._session = session
        self._messages: asyncio.Queue[Message | None] = asyncio.Queue()
        # The error of the last attempt; None while there may be another.
        self._failure: UndertoneError | None = None
        self._is_ending = False
        self._attempts = 0
        # Bytes given to `send`, those of them before the current session, and those sent to it.
        self._bytes = self._start_bytes = self._sent_bytes = 0
        self._reconnecting: asyncio.Task[bool] | None = None
        self._follower = asyncio.create_task(self._follow())

    async def send(self, samples: bytes | bytearray | memoryview) -> None:
        session = self._session
        view = memoryview(samples).cast("B")
        skipped = min(len(view), max(0, self._start_bytes - self._bytes))
        self._bytes += len(view)
        if not session._reader.done():
            self._sent_bytes += len(view) - skipped
        await self._send_to(session, session.send(view[skipped:]))

    async def turn_end(self) -> None:
        await self._send_to(self._session, self._session.turn_end())

    async def end(self) -> AnyReport:
        if self._failure is not None:
            raise self._failure
        self._is_ending = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
        return await self._session.end()

    async def __aiter__(self) -> AsyncIterator[Message]:
        while (message := await self._messages.get()) is not None:
            yield message
        self._messages.put_nowait(None)
        if self._failure is not None:
            raise self._failure
        if self._session._report is None:
            raise self._session._ended()

    async def _close(self) -> None:
        self._is_ending = True
        if self._reconnecting is not None:
            self._reconnecting.cancel()
            await asyncio.wait([self._reconnecting])
        await self._session._close()
        await self._follower

    async def _send_to(self, session: StreamSession[AnyReport], sending: Awaitable[None]) -> None:
        """What is sent to a lost session is dropped."""
        try:
            await sending
        except UndertoneError as error:
            if not self._is_followed(session):
                raise self._failure or error
            await asyncio.sleep(0)

    def _is_followed(self, session: StreamSession[AnyReport]) -> bool:
        return not self._is_ending and self._failure is None and session._connection.close_code in LOST_CODES

    async def _follow(self) -> None:
        try:
            while True:
                await self._forward(self._session)
                if not self._is_followed(self._session):
                    break
                self._reconnecting = asyncio.create_task(self._reconnect(self._session))
                await asyncio.wait([self._reconnecting])
                if self._reconnecting.cancelled() or not self._reconnecting.result():
                    break
        finally:
            self._messages.put_nowait(None)

    async def _forward(self, session: StreamSession[AnyReport]) -> None:
        opened_at = asyncio.get_running_loop().time()
        with contextlib.suppress(UndertoneError):
            async for message in session:
                self._messages.put_nowait(message)
        if asyncio.get_running_loop().time() - opened_at > SETTLED_S:
            self._attempts = 0

    async def _reconnect(self, lost: StreamSession[AnyReport]) -> bool:
        error = lost._ended()
        while self._attempts < MAX_ATTEMPTS and _is_temporary(error):
            asked = error.retry_after if isinstance(error, ApiError) else None
            self._attempts += 1
            await asyncio.sleep(wait_before_reconnect(asked, self._attempts - 1))
            try:
                session = await self._reopen()
            except UndertoneError as cause:
                error = cause
            else:
                self._start(session, lost)
                return True
        self._failure = error
        return False

    def _start(self, session: StreamSession[AnyReport], lost: StreamSession[AnyReport]) -> None:
        """A session begins with a whole sample of each channel."""
        start_bytes = -(-self._bytes // self._frame_bytes) * self._frame_bytes
        received = lost._received_s
        received_bytes = self._sent_bytes if received is None else round(received * self._bytes_per_second)
        message: ReconnectedMessage = {
            "type": "reconnected",
            "error": lost._ended(),
            "offset_s": start_bytes / self._bytes_per_second,
            "lost_s": max(0, start_bytes - self._start_bytes - received_bytes) / self._bytes_per_second,
        }
        self._messages.put_nowait(message)
        self._session, self._start_bytes, self._sent_bytes = session, start_bytes, 0


def _is_temporary(error: UndertoneError) -> bool:
    """Whether a later attempt may succeed."""
    if isinstance(error, SessionEndedError):
        return error.code in LOST_CODES
    if isinstance(error, ApiError):
        return error.status == 429 or error.status in RETRIED
    return True


@contextlib.asynccontextmanager
async def stream_session(
    url: str, config: Mapping[str, Any], headers: Mapping[str, str], timeout: float, *, reconnect: bool
) -> AsyncIterator[StreamSession[Any]]:
    """:param url: of the service, with ``/`` at its end"""

    def reopen() -> Awaitable[StreamSession[Any]]:
        return open_session(url, config, headers, timeout)

    session = await reopen()
    if reconnect:
        session = ReconnectingSession(session, reopen, config)
    try:
        yield session
    finally:
        await session._close()
