"""Retry policy: which responses are retried, and after which delay."""

from __future__ import annotations

import email.utils
import time

import httpx

# 502 and 504 come from proxies.
RETRIED = (500, 502, 503, 504)


def wait_before_retry(response: httpx.Response | None, done: int) -> float:
    """Delay in seconds: 1, 2, 4 and so on, or ``Retry-After`` if that is longer. None as response: the connection was lost."""
    return max(2.0**done, _asked_for("" if response is None else response.headers.get("Retry-After", "")))


def _asked_for(retry_after: str) -> float:
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
    except ValueError:
        return 0.0
