"""Retry policy: which responses are retried, and after which delay."""

from __future__ import annotations

import email.utils
import time

import httpx

# 502 and 504 come from proxies.
RETRIED = (500, 502, 503, 504)


# Bounds of delays, s.
MIN_S, MAX_S = 1.0, 3600.0


def wait_before_retry(response: httpx.Response | None, done: int) -> float:
    """Delay in seconds: 1, 2, 4 and so on, or ``Retry-After`` if that is longer. None as response: the connection was lost."""
    asked = None if response is None else retry_after_of(response)
    return _bounded(max(2.0 ** min(done, 16), asked or 0.0))


def retry_after_of(response: httpx.Response) -> float | None:
    """Seconds of ``Retry-After``, which holds seconds or a date, from 1 to 3600; None without it."""
    text = response.headers.get("Retry-After", "")
    if text.isdecimal():
        return _bounded(float(text))
    try:
        return _bounded(email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _bounded(seconds: float) -> float:
    return min(MAX_S, max(MIN_S, seconds))
