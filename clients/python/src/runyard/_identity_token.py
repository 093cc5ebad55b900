"""Verification of the identity tokens of runs."""

from __future__ import annotations

import base64
import hashlib
import json
import time
from typing import Any
from urllib.parse import urlsplit

import httpx

from .errors import RunyardError

_MAX_LIFETIME_SECONDS = 15 * 60
_TOLERANCE_SECONDS = 60

# The curve P-256: y^2 = x^3 - 3x + b modulo p, with a generator of order n.
_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_GENERATOR = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
# What precedes a SHA-256 digest in a signature with RSASSA-PKCS1-v1_5.
_DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420")


class IdentityTokenError(RunyardError):
    """A token that does not prove the identity of a run of the issuer to the audience."""


def verify_identity_token(
    token: str,
    *,
    issuer: str,
    audience: str,
    http_client: httpx.Client | None = None,
    now: float | None = None,
) -> dict[str, Any]:
    """Verifies the identity token of a run with the keys that its issuer publishes, and returns its claims.

    `issuer` is the base URL of the deployment whose runs are trusted, which ends in `/api/v1`; `audience` is the
    name of the receiver that the run has requested the token for; `now` is in seconds and defaults to the present.
    Two requests read the issuer's keys at each call. Compare the claims with what the receiver allows, such as `sub`.

    Raises `IdentityTokenError` if the token is not valid.
    """
    header_text, _, rest = token.partition(".")
    payload_text, _, signature_text = rest.partition(".")
    header = _decode_object(header_text)
    claims = _decode_object(payload_text)
    algorithm, key_id = header.get("alg"), header.get("kid")
    if "." in signature_text or algorithm not in ("ES256", "RS256"):
        raise IdentityTokenError("the token is not signed with ES256 or RS256")
    _check_claims(claims, issuer, audience, time.time() if now is None else now)
    for key in _read_keys(issuer, http_client):
        if isinstance(key_id, str) and key.get("kid") == key_id and key.get("alg", algorithm) == algorithm:
            break
    else:
        raise IdentityTokenError("the issuer has no such key")
    digest = hashlib.sha256(f"{header_text}.{payload_text}".encode()).digest()
    verify = _verify_es256 if algorithm == "ES256" else _verify_rs256
    try:
        is_valid = verify(key, digest, _decode(signature_text))
    except (KeyError, TypeError, ValueError):
        is_valid = False
    if not is_valid:
        raise IdentityTokenError("the signature is not valid")
    return claims


def _check_claims(claims: dict[str, Any], issuer: str, audience: str, now: float) -> None:
    if claims.get("iss") != issuer:
        raise IdentityTokenError("the token is from another issuer")
    audiences = claims.get("aud")
    if audience not in (audiences if isinstance(audiences, list) else [audiences]):
        raise IdentityTokenError("the token is for another audience")
    expires: Any = claims.get("exp")
    issued: Any = claims.get("iat")
    has_times = isinstance(expires, (int, float)) and isinstance(issued, (int, float))
    if not has_times or not isinstance(claims.get("run_id"), str):
        raise IdentityTokenError("the token is not one of a run")
    if expires - issued > _MAX_LIFETIME_SECONDS:
        raise IdentityTokenError("the token is valid for more than 15 minutes")
    if expires + _TOLERANCE_SECONDS <= now:
        raise IdentityTokenError("the token has expired")
    if issued - _TOLERANCE_SECONDS > now:
        raise IdentityTokenError("the token is not valid yet")


def _read_keys(issuer: str, http_client: httpx.Client | None) -> list[dict[str, Any]]:
    """Reads the keys of the issuer, at the address that its configuration names."""
    if http_client is None:
        with httpx.Client() as client:
            return _read_keys(issuer, client)
    configuration = _read_object(f"{issuer}/.well-known/openid-configuration", http_client)
    address = configuration.get("jwks_uri")
    is_own = configuration.get("issuer") == issuer and isinstance(address, str)
    if not is_own or urlsplit(str(address))[:2] != urlsplit(issuer)[:2]:
        raise IdentityTokenError("the configuration of the issuer is not its own")
    keys = _read_object(str(address), http_client).get("keys")
    return [key for key in keys if isinstance(key, dict)] if isinstance(keys, list) else []


def _read_object(url: str, client: httpx.Client) -> dict[str, Any]:
    try:
        response = client.get(url, follow_redirects=False)
        body = response.json() if response.status_code == 200 else None
    except (httpx.HTTPError, ValueError) as error:
        raise IdentityTokenError(f"the keys of the issuer cannot be read from {url}") from error
    if not isinstance(body, dict):
        raise IdentityTokenError(f"the keys of the issuer cannot be read from {url}")
    return body


def _decode_object(part: str) -> dict[str, Any]:
    try:
        value = json.loads(_decode(part))
    except (ValueError, RecursionError) as error:
        raise IdentityTokenError("the token is malformed") from error
    if not isinstance(value, dict):
        raise IdentityTokenError("the token is malformed")
    return value


def _decode(part: str) -> bytes:
    return base64.b64decode(part + "=" * (-len(part) % 4), altchars=b"-_", validate=True)


def _to_number(part: str) -> int:
    return int.from_bytes(_decode(part), "big")


def _verify_rs256(key: dict[str, Any], digest: bytes, signature: bytes) -> bool:
    modulus, exponent = _to_number(key["n"]), _to_number(key["e"])
    length = (modulus.bit_length() + 7) // 8
    if key["kty"] != "RSA" or modulus.bit_length() < 2048 or exponent < 3 or len(signature) != length:
        return False
    number = int.from_bytes(signature, "big")
    content = _DIGEST_INFO + digest
    padded = b"\x00\x01" + b"\xff" * (length - 3 - len(content)) + b"\x00" + content
    return number < modulus and pow(number, exponent, modulus).to_bytes(length, "big") == padded


def _verify_es256(key: dict[str, Any], digest: bytes, signature: bytes) -> bool:
    """Verifies an ECDSA signature. Everything that it computes with is public, so its duration tells nothing."""
    x, y = _to_number(key["x"]), _to_number(key["y"])
    is_on_curve = x < _P and y < _P and (y * y - (x * x * x - 3 * x + _B)) % _P == 0
    if key["kty"] != "EC" or key["crv"] != "P-256" or not is_on_curve or len(signature) != 64:
        return False
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if not (0 < r < _N and 0 < s < _N):
        return False
    inverse = pow(s, -1, _N)
    first = _multiply(int.from_bytes(digest, "big") * inverse % _N, _GENERATOR)
    point = _add(first, _multiply(r * inverse % _N, (x, y)))
    return point is not None and point[0] % _N == r


def _add(one: tuple[int, int] | None, other: tuple[int, int] | None) -> tuple[int, int] | None:
    """Adds two points of the curve; None is the point at infinity."""
    if one is None or other is None:
        return other if one is None else one
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % _P == 0:
        return None
    slope = (3 * x1 * x1 - 3) * pow(2 * y1, -1, _P) if one == other else (y2 - y1) * pow(x2 - x1, -1, _P)
    x3 = (slope * slope - x1 - x2) % _P
    return x3, (slope * (x1 - x3) - y1) % _P


def _multiply(factor: int, point: tuple[int, int]) -> tuple[int, int] | None:
    result: tuple[int, int] | None = None
    doubled: tuple[int, int] | None = point
    while factor > 0:
        if factor & 1:
            result = _add(result, doubled)
        doubled = _add(doubled, doubled)
        factor >>= 1
    return result
