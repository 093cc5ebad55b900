"""Runs test/clients/identity-token-vectors.json, which the clients of all languages share."""

from __future__ import annotations

import base64
from typing import Any

import httpx
import pytest
from repository import read_json

from runyard import IdentityTokenError, verify_identity_token

SHARED: dict[str, Any] = read_json("test/clients/identity-token-vectors.json")
ISSUER: str = SHARED["issuer"]
CONFIGURATION = {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/.well-known/jwks.json"}


def create_issuer(configuration: Any = CONFIGURATION, status: int = 200) -> httpx.Client:
    """Returns a client whose requests the issuer responds to."""

    def respond(request: httpx.Request) -> httpx.Response:
        if str(request.url) == f"{ISSUER}/.well-known/openid-configuration":
            return httpx.Response(status, json=configuration)
        return httpx.Response(200, json={"keys": SHARED["keys"]})

    return httpx.Client(transport=httpx.MockTransport(respond))


def verify(vector: dict[str, Any], client: httpx.Client) -> dict[str, Any]:
    audience: str = SHARED["audience"]
    return verify_identity_token(
        vector["token"], issuer=ISSUER, audience=audience, now=vector["now"], http_client=client
    )


@pytest.mark.parametrize("vector", SHARED["vectors"], ids=lambda vector: vector["name"])
def test_vector(vector: dict[str, Any]) -> None:
    with create_issuer() as client:
        if "error" not in vector:
            assert verify(vector, client) == vector["claims"]
            return
        with pytest.raises(IdentityTokenError) as raised:
            verify(vector, client)
        assert str(raised.value) == vector["error"]


@pytest.mark.parametrize(
    "configuration",
    [
        {**CONFIGURATION, "jwks_uri": "https://evil.example.com/jwks.json"},
        {**CONFIGURATION, "issuer": "https://evil.example.com"},
        {"issuer": ISSUER},
    ],
)
def test_refuses_keys_of_another_origin_and_a_configuration_of_another_issuer(configuration: Any) -> None:
    with create_issuer(configuration) as client, pytest.raises(IdentityTokenError, match="is not its own"):
        verify(SHARED["vectors"][0], client)


@pytest.mark.parametrize(("configuration", "status"), [(CONFIGURATION, 503), ("text", 200)])
def test_names_the_address_that_it_cannot_read_the_keys_from(configuration: Any, status: int) -> None:
    with create_issuer(configuration, status) as client, pytest.raises(IdentityTokenError, match="cannot be read"):
        verify(SHARED["vectors"][0], client)


@pytest.mark.parametrize("signature", ["A" * 86, "AAAA", "_" * 85 + "w"])
def test_refuses_signatures_that_are_no_numbers_of_the_curve(signature: str) -> None:
    head = SHARED["vectors"][0]["token"].rsplit(".", 1)[0]
    with create_issuer() as client, pytest.raises(IdentityTokenError, match="signature"):
        verify({**SHARED["vectors"][0], "token": f"{head}.{signature}"}, client)


def test_refuses_claims_of_any_depth_that_cannot_be_parsed() -> None:
    nested = base64.urlsafe_b64encode(b'{"alg":' + b"[" * 100_000).decode().rstrip("=")
    with create_issuer() as client, pytest.raises(IdentityTokenError, match="malformed"):
        verify({**SHARED["vectors"][0], "token": f"{nested}.{nested}.AAAA"}, client)
