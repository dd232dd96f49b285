from __future__ import annotations

import json
from typing import Any, Mapping, cast

import httpx

from .reports import Job, ValidationItem
from .retry import retry_after_of


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
        #: Seconds of ``Retry-After``, from 1 to 3600; None without it.
        self.retry_after: float | None = None


class UnauthenticatedError(ApiError):
    """401: the token is missing, unknown, expired or revoked."""


class ForbiddenError(ApiError):
    """403: the token lacks a scope."""


class NotFoundError(ApiError):
    """404: no such job of this token."""


class RateLimitedError(ApiError):
    """429: over a rate limit; ``retry_after`` says how long."""


class UnavailableError(ApiError):
    """503, after the retries: ``code`` says why."""


class JobFailedError(UndertoneError):
    """A job failed, or was cancelled."""

    def __init__(self, job: Job) -> None:
        error = job["error"] or {"detail": job["status"]}
        detail = error["detail"]
        #: Of an invalid recording: the reasons.
        self.items = cast("list[ValidationItem]", detail) if isinstance(detail, list) else []
        super().__init__(f"Job {job['id']}: {_describe(self.items) if self.items else detail}")
        self.job = job
        #: Such as ``deadline`` or ``worker_lost``; None for an invalid recording.
        self.code: str | None = error.get("code")


class WebhookError(UndertoneError):
    """A callback without a valid signature."""


class ReceiptError(UndertoneError):
    """A receipt that is not one of this report and recording."""


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
        super().__init__(status, _describe(items), None, request_id)
        self.items = items


def error_of(response: httpx.Response) -> ApiError:
    """Returns the error of a response other than 200."""
    fallback = f"HTTP {response.status_code} {response.reason_phrase}"
    request_id = response.headers.get("X-Request-Id")
    error = to_api_error(response.status_code, parse_body(response.content), request_id, fallback)
    error.retry_after = retry_after_of(response.headers)
    return error


def _describe(items: list[ValidationItem]) -> str:
    return "; ".join(f"{'.'.join(item['loc'])}: {item['msg']}" for item in items)


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
    kind = _KINDS.get(status, ApiError)
    return kind(status, detail or fallback, body.get("code"), request_id)


_KINDS: dict[int, type[ApiError]] = {
    401: UnauthenticatedError,
    403: ForbiddenError,
    404: NotFoundError,
    429: RateLimitedError,
    503: UnavailableError,
}
