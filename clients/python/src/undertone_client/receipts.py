"""Receipts of reports; the packages they need are the extra ``undertone-client[receipts]``."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ReceiptError

_SIGNATURE_BYTES = 64


def verify_receipt(
    report: Mapping[str, Any] | bytes | str,
    recording: bytes,
    keys: Mapping[str, Any],
    *,
    baselines: Sequence[bytes] = (),
) -> Mapping[str, Any]:
    """
    Returns the receipt of a report after a check of its signature and of the hashes of report and recording.

    :param report: the response with its ``receipt``, parsed or as JSON
    :param recording: the bytes of the file that was sent
    :param keys: the JSON of ``/.well-known/undertone-keys.json``; keep it, since a service may lose its keys
    :param baselines: the bytes of each part ``baseline`` that was sent, in their order
    :raises ReceiptError: says what differs
    """
    import rfc8785
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    content = _parse(report) if isinstance(report, (bytes, str)) else dict(report)
    receipt = content.pop("receipt", None)
    if not isinstance(receipt, Mapping):
        raise ReceiptError("Expected a report with a receipt, got one without")
    unsigned = {name: value for name, value in receipt.items() if name != "signature"}
    key = _key_of(keys, receipt.get("key_id"))
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(
            _signature_of(receipt.get("signature")), rfc8785.dumps(unsigned)
        )
    except (InvalidSignature, rfc8785.CanonicalizationError):
        raise ReceiptError("The signature is not that of the receipt") from None
    if receipt.get("upload_sha256") != hashlib.sha256(recording).hexdigest():
        raise ReceiptError("The recording is another")
    if receipt.get("baselines_sha256") != [hashlib.sha256(one).hexdigest() for one in baselines]:
        raise ReceiptError("A baseline is another, or missing")
    if receipt.get("report_sha256") != hashlib.sha256(rfc8785.dumps(_without_ids(content))).hexdigest():
        raise ReceiptError("The report is another")
    return receipt


def _parse(text: bytes | str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ReceiptError("Expected the JSON of a report, got something else")
    return content


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


def _without_ids(value: Any) -> Any:
    """The report's hash covers no ``request_id``."""
    if isinstance(value, list):
        return [_without_ids(item) for item in value]
    if isinstance(value, dict):
        return {name: _without_ids(item) for name, item in value.items() if name != "request_id"}
    return value
