"""Which answers are asked for again, and when."""

from __future__ import annotations

import email.utils
import time

import httpx

RETRIED = (500, 503)


def wait_before_retry(response: httpx.Response, done: int) -> float:
    """Seconds: 1, 2, 4 and so on, or as long as ``Retry-After`` says where that is longer."""
    return max(2.0**done, _asked_for(response.headers.get("Retry-After", "")))


def _asked_for(retry_after: str) -> float:
    if retry_after.isdecimal():
        return float(retry_after)
    try:
        return email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time()
    except ValueError:
        return 0.0
