"""Receipts of reports; the packages they need are the extra ``undertone-client[receipts]``."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from .errors import ReceiptError

_SIGNATURE_BYTES = 64
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")


def verify_receipt(
    report: Mapping[str, Any] | bytes | str,
    recording: bytes,
    keys: Mapping[str, Any],
    *,
    baselines: Sequence[bytes] = (),
) -> Mapping[str, Any]:
    """
    Returns the receipt of a report after a check of its signature and of the hashes of report and recording.

    :param report: the response with its ``receipt``, parsed or as JSON; only JSON shows names that occur twice
    :param recording: the bytes of the file that was sent
    :param keys: the JSON of ``/.well-known/undertone-keys.json``; keep it, since a service may lose its keys
    :param baselines: the bytes of each part ``baseline`` that was sent, in their order
    :raises ReceiptError: says what differs
    """
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = _parse(report) if isinstance(report, (bytes, str)) else dict(report)
    receipt = content.pop("receipt", None)
    if not isinstance(receipt, Mapping):
        raise ReceiptError("Expected a report with a receipt, got one without")
    unsigned = {name: value for name, value in receipt.items() if name != "signature"}
    key = _key_of(keys, receipt.get("key_id"))
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(_signature_of(receipt.get("signature")), _canonical(unsigned))
    except InvalidSignature:
        raise ReceiptError("The signature is not that of the receipt") from None
    if receipt.get("upload_sha256") != hashlib.sha256(recording).hexdigest():
        raise ReceiptError("The recording is another")
    if receipt.get("baselines_sha256") != [hashlib.sha256(one).hexdigest() for one in baselines]:
        raise ReceiptError("A baseline is another, or missing")
    if receipt.get("report_sha256") != hashlib.sha256(_canonical(_signed(content))).hexdigest():
        raise ReceiptError("The report is another")
    return receipt


def _parse(text: bytes | str) -> dict[str, Any]:
    """Names occur once, and numbers are written as in the canonical form: every reader sees the same values."""
    try:
        content = json.loads(
            text.decode("utf-8-sig") if isinstance(text, bytes) else text,
            object_pairs_hook=_object,
            parse_int=lambda digits: _number(digits, int(digits)),
            parse_float=lambda digits: _number(digits, float(digits)),
            parse_constant=_refuse,
        )
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        raise ReceiptError("Expected the JSON of a report, got something else")
    return content


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    return found if len(found) == len(pairs) else _refuse("a name that occurs twice")


def _number(digits: str, value: float) -> float:
    return value if _canonical(value) == digits.encode() else _refuse(digits)


def _refuse(what: str) -> NoReturn:
    raise ValueError(f"Unexpected {what}")


def _canonical(value: Any) -> bytes:
    import rfc8785

    try:
        return rfc8785.dumps(value)
    except (rfc8785.CanonicalizationError, RecursionError):
        raise ReceiptError("Expected values of JSON, got something else") from None


def _key_of(keys: Mapping[str, Any], identity: object) -> bytes:
    published: Sequence[Mapping[str, Any]] = keys.get("keys", [])
    found = [key for key in published if key.get("kid") == identity]
    if not found:
        raise ReceiptError(f"No key has the id {identity}")
    return base64.urlsafe_b64decode(found[0]["x"] + "=")


def _signature_of(text: object) -> bytes:
    """Refuses other texts of the same bytes."""
    if isinstance(text, str) and text.isascii():
        try:
            signature = base64.b64decode(text, validate=True)
        except binascii.Error:
            signature = b""
        if len(signature) == _SIGNATURE_BYTES and base64.b64encode(signature).decode() == text:
            return signature
    raise ReceiptError("The signature is not that of the receipt")


def _signed(report: dict[str, Any]) -> dict[str, Any]:
    """The report's hash covers all but the ``request_id`` of the report and of each channel or speaker."""
    signed = _without_id(report)
    for name in ("channels", "speakers"):
        if isinstance(parts := signed.get(name), list):
            signed[name] = [_without_id(part) if isinstance(part, dict) else part for part in parts]
    return signed


def _without_id(report: dict[str, Any]) -> dict[str, Any]:
    identity = report.get("request_id")
    if not isinstance(identity, str) or not _REQUEST_ID.fullmatch(identity):
        raise ReceiptError("Expected 1 to 128 of A-Z a-z 0-9 . _ - for `request_id`, got something else")
    return {name: value for name, value in report.items() if name != "request_id"}
