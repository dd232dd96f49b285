"""What both clients share: how a request is made, answered and tried again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import httpx

from .errors import NoAnswerError, ValidationError, error_of
from .reports import Scope
from .retry import RETRIED, wait_before_retry

Options = Mapping[str, object]
# Voices on one channel: so many, or as many as the service finds.
SpeakerMode = Literal["auto", "2", "3", "4", "5", "6"]

# Statuses of a service that takes no jobs, or not with this token.
REFUSED = (403, 501)
LIMITS = ("value_error.audio.too_long", "value_error.audio.too_large")


def speakers_options(
    segments: object, speakers: str | None, channel: int | None, track: int | None, receipt: bool
) -> Options:
    """
    Form parts of ``analyze_speakers``.

    :raises ValueError: for both of ``segments`` and ``speakers``, or neither
    """
    if (segments is None) == (speakers is None):
        raise ValueError(f"Expected `segments` or `speakers`, got {'neither' if segments is None else 'both'}")
    text = segments if segments is None or isinstance(segments, str) else json.dumps(segments)
    return {
        "segments": text,
        "speakers": speakers,
        "channel": channel,
        "track": track,
        "receipt": "true" if receipt else None,
    }


def is_above_limit(error: ValidationError) -> bool:
    return any(item["type"] in LIMITS for item in error.items)


class Base:
    def __init__(self, url: str, token: str, *, timeout: float = 60.0, retries: int = 3) -> None:
        """
        :param url: where the service is, such as ``http://127.0.0.1:8080``
        :param timeout: longest wait for a connection, and then for each byte of the answer, s
        :param retries: retries after 500, 502, 503, 504 or a lost connection
        """
        self._url = url.rstrip("/") + "/"
        self._retries = retries
        self._how: dict[str, Any] = {
            "headers": {"Authorization": f"Bearer {token}"},
            "timeout": timeout,
        }

    def _form(self, audio: bytes, baselines: Sequence[bytes], options: Options) -> dict[str, Any]:
        parts = [("audio", audio), *(("baseline", baseline) for baseline in baselines)]
        files = [(name, (name, content, "application/octet-stream")) for name, content in parts]
        data = {name: str(value) for name, value in options.items() if value is not None}
        return {"files": files, "data": data}

    def _scopes(self, scopes: Sequence[Scope] | None) -> dict[str, Any]:
        return {"json": {} if scopes is None else {"scopes": list(scopes)}}

    def _wait(self, response: httpx.Response, done: int) -> float | None:
        """Seconds until the next attempt; None when there is to be none."""
        if done >= self._retries or response.status_code not in RETRIED:
            return None
        return wait_before_retry(response, done)

    def _answer(self, method: str, response: httpx.Response, done: int) -> object:
        # A 404 after a lost answer: an earlier attempt deleted it.
        if response.is_success or (method == "DELETE" and done > 0 and response.status_code == 404):
            return response.json()
        raise error_of(response)

    def _wait_after(self, cause: httpx.TransportError, path: str, done: int) -> float:
        """Seconds until the next attempt; raises NoAnswerError when there is to be none: what was late would be late again."""
        if done >= self._retries or isinstance(cause, httpx.TimeoutException):
            raise self._lost(path, cause) from cause
        return wait_before_retry(None, done)

    def _lost(self, path: str, cause: httpx.TransportError) -> NoAnswerError:
        kind = type(cause).__name__
        return NoAnswerError(f"Expected an answer from {self._url}{path}, got {kind}: {cause}".rstrip(": "))
