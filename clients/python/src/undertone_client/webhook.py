"""Callbacks of jobs, signed as in the Standard Webhooks specification."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import cast

from .errors import WebhookError
from .reports import JobEvent

TOLERANCE_S = 300


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secret: str) -> JobEvent:
    """
    Returns the job of a callback. A callback may arrive twice: deduplicate by its ``id``.

    :param body: as received, before it is parsed
    :param secret: ``callback_secret`` of the submitted job
    :raises WebhookError: for a wrong signature, or a timestamp that is 5 minutes away
    """
    names = {name.lower(): value for name, value in headers.items()}
    try:
        identity, timestamp = names["webhook-id"], names["webhook-timestamp"]
        signatures = names["webhook-signature"].split(" ")
    except KeyError as missing:
        raise WebhookError(f"Expected the header {missing.args[0]}, got none") from None
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_S:
        raise WebhookError(f"Expected a timestamp of the last {TOLERANCE_S} s, got {timestamp}")
    content = body.encode() if isinstance(body, str) else body
    signed = f"{identity}.{timestamp}.".encode() + content
    key = _key_of(secret)
    want = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    if not any(hmac.compare_digest(want.encode(), signature.encode()) for signature in signatures):
        raise WebhookError("Expected a signature by the callback secret, got another")
    return cast(JobEvent, json.loads(content))


def _key_of(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise WebhookError("Expected the callback secret of the job, got an empty or malformed one")
    return key
