"""Runs test/clients/webhook-vectors.json, which the clients of all languages share."""

from __future__ import annotations

from typing import Any

import pytest
from repository import read_json

from runyard import WebhookVerificationError, verify_webhook

VECTORS: list[dict[str, Any]] = read_json("test/clients/webhook-vectors.json")["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vector(vector: dict[str, Any]) -> None:
    given = (vector["secret"], vector["headers"], vector["body"])
    if "error" not in vector:
        assert verify_webhook(*given, now=vector["now"]) == vector["payload"]
        return
    with pytest.raises(WebhookVerificationError) as raised:
        verify_webhook(*given, now=vector["now"])
    assert str(raised.value) == vector["error"]


def test_accepts_a_body_of_bytes_and_compares_with_the_present() -> None:
    secret, headers, body = (VECTORS[0][name] for name in ("secret", "headers", "body"))
    assert verify_webhook(secret, headers, body.encode(), now=VECTORS[0]["now"]) == VECTORS[0]["payload"]
    with pytest.raises(WebhookVerificationError, match="five minutes"):
        verify_webhook(secret, headers, body)


@pytest.mark.parametrize("secret", ["whsec_", "whsec_%%%"])
def test_refuses_a_secret_that_is_not_base64(secret: str) -> None:
    vector = VECTORS[0]
    with pytest.raises(WebhookVerificationError, match="secret"):
        verify_webhook(secret, vector["headers"], vector["body"], now=vector["now"])
