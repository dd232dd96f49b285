from __future__ import annotations

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


class ValidationError(ApiError):
    """413 or 422: the upload is invalid; ``items`` list the reasons."""

    def __init__(self, status: int, items: list[ValidationItem], request_id: str | None) -> None:
        message = "; ".join(f"{'.'.join(item['loc'])}: {item['msg']}" for item in items)
        super().__init__(status, message, None, request_id)
        self.items = items


def error_of(response: httpx.Response) -> ApiError:
    """Returns the error of a response other than 200."""
    request_id = response.headers.get("X-Request-Id")
    try:
        body = response.json()
    except ValueError:
        body = None
    body = body if isinstance(body, dict) else {}
    detail = body.get("detail")
    if isinstance(detail, list):
        return ValidationError(response.status_code, detail, request_id)
    message = detail or f"HTTP {response.status_code} {response.reason_phrase}"
    return ApiError(response.status_code, message, body.get("code"), request_id)
