"""Verification of deliveries of webhooks."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import re
import time
from typing import Any, Mapping

from .errors import RunyardError

_TOLERANCE_SECONDS = 300
_PREFIX = "whsec_"


class WebhookVerificationError(RunyardError):
    """A request that is not a valid delivery of the webhook."""


def verify_webhook(
    secret: str,
    headers: Mapping[str, str],
    body: bytes | str,
    *,
    now: float | None = None,
) -> dict[str, Any]:
    """Verifies the signature of a delivery, by the Standard Webhooks specification, and returns its event.

    `secret` is the webhook's signing secret, `whsec_…`; `body` is the body exactly as it was received; `now` is in
    seconds and defaults to the present.

    Raises `WebhookVerificationError` if the signature is not valid, or the timestamp differs by more than five minutes.
    """
    given = {name.lower(): value for name, value in headers.items()}
    identifier = _read(given, "webhook-id")
    timestamp = _read(given, "webhook-timestamp")
    signatures = _read(given, "webhook-signature")
    present = time.time() if now is None else now
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(present - int(timestamp)) > _TOLERANCE_SECONDS:
        raise WebhookVerificationError("the timestamp is not within five minutes")
    content = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{identifier}.{timestamp}.".encode() + content
    expected = base64.b64encode(hmac.new(_decode(secret), signed, "sha256").digest())
    for signature in signatures.split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(value.encode(), expected):
            event: dict[str, Any] = json.loads(content)
            return event
    raise WebhookVerificationError("the signature is not valid")


def _read(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise WebhookVerificationError(f"the header {name} is missing")
    return value


def _decode(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[len(_PREFIX) :] if secret.startswith(_PREFIX) else secret, validate=True)
    except binascii.Error as error:
        raise WebhookVerificationError("the secret is not valid") from error
    if not key:
        raise WebhookVerificationError("the secret is not valid")
    return key
