"""Retry policy: which responses are retried, and after which delay."""

from __future__ import annotations

import email.utils
import random
import time
from collections.abc import Mapping

import httpx

# 502 and 504 come from proxies.
RETRIED = (500, 502, 503, 504)


# Bounds of delays, s.
MIN_S, MAX_S = 1.0, 3600.0
MAX_RECONNECT_S = 30.0


def wait_before_retry(response: httpx.Response | None, done: int) -> float:
    """Delay in seconds: 1, 2, 4 and so on, or ``Retry-After`` if that is longer. None as response: the connection was lost."""
    asked = None if response is None else retry_after_of(response.headers)
    return _bounded(max(2.0 ** min(done, 16), asked or 0.0))


def wait_before_reconnect(asked: float | None, done: int) -> float:
    """Delay in seconds, drawn between 0 and 1, 2, 4 and so on up to 30, or ``asked`` of ``Retry-After`` if that is longer."""
    return max(random.uniform(0.0, min(MAX_RECONNECT_S, 2.0**done)), asked or 0.0)


def retry_after_of(headers: Mapping[str, str]) -> float | None:
    """Seconds of ``Retry-After``, which holds seconds or a date, from 1 to 3600; None without it."""
    text = headers.get("Retry-After", "")
    if text.isdecimal():
        return _bounded(float(text))
    try:
        return _bounded(email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None


def _bounded(seconds: float) -> float:
    return min(MAX_S, max(MIN_S, seconds))
