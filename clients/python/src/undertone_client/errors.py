from __future__ import annotations

import json
from typing import Any, Mapping

import httpx

from .reports import ValidationItem


class UndertoneError(Exception):
    """Whatever a call raises."""


class NoAnswerError(UndertoneError):
    """No response: the connection failed or timed out. ``__cause__`` has the details."""


class ApiError(UndertoneError):
    """The service refused."""

    def __init__(self, status: int, message: str, code: str | None, request_id: str | None) -> None:
        super().__init__(message)
        self.status = status
        #: Such as ``unauthenticated`` or ``overloaded``; None for a validation error.
        self.code = code
        self.request_id = request_id


class SessionEndedError(UndertoneError):
    """A live session ended without a report, or is over."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(f"Expected an open session, got close code {code} {reason}".rstrip())
        #: The close code of the WebSocket.
        self.code = code
        #: The close code in words, such as ``idle``.
        self.reason = reason


class ValidationError(ApiError):
    """413 or 422: the upload is invalid; ``items`` list the reasons."""

    def __init__(self, status: int, items: list[ValidationItem], request_id: str | None) -> None:
        message = "; ".join(f"{'.'.join(item['loc'])}: {item['msg']}" for item in items)
        super().__init__(status, message, None, request_id)
        self.items = items


def error_of(response: httpx.Response) -> ApiError:
    """Returns the error of a response other than 200."""
    fallback = f"HTTP {response.status_code} {response.reason_phrase}"
    request_id = response.headers.get("X-Request-Id")
    return to_api_error(response.status_code, parse_body(response.content), request_id, fallback)


def parse_body(content: bytes) -> dict[str, Any]:
    """Returns the JSON object of a body; an empty one if it is none."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    return body if isinstance(body, dict) else {}


def to_api_error(
    status: int, body: Mapping[str, Any], request_id: str | None, fallback: str = ""
) -> ApiError:
    """:param fallback: message of a body without ``detail``"""
    detail = body.get("detail")
    if isinstance(detail, list):
        return ValidationError(status, detail, request_id)
    return ApiError(status, detail or fallback, body.get("code"), request_id)
