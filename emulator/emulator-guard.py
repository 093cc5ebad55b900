"""Starts MiniStack behind a guard, since MiniStack itself serves every local process and web page as root of the account.

A request passes if it
- names the secret access key of this start in the header `x-emulator-key`, which the guard removes, or
- is signed with that key, or with temporary credentials that MiniStack has issued (Signature Version 4), or
- is an S3 presigned URL or an S3 upload form, signed likewise.
All others get 403, as do those with an `Origin` or a foreign `Host`. Responses carry no CORS headers.

AWS_SECRET_ACCESS_KEY holds the key; MiniStack hands it on to the Lambda functions that it starts.
"""

import hmac
import os
import re
from urllib.parse import parse_qs

import ministack.app
from ministack.core.iam_evaluator import resolve_credential
from ministack.core.sigv4 import (
    HeaderSignature,
    calculate_signature,
    decode_header_value,
    header_signature_failure,
    parse_header_signature,
    parse_query_signature,
)

KEY_HEADER = "x-emulator-key"
KEY = os.environ["AWS_SECRET_ACCESS_KEY"]
ACCOUNT = os.environ.get("MINISTACK_ACCOUNT_ID", "000000000000")
PORT = os.environ["GATEWAY_PORT"]
HOSTS = {f"127.0.0.1:{PORT}", f"localhost:{PORT}"}

# A presigned URL or form may become known to others. With other headers than these it could be routed to another service.
OBJECT_HEADER = re.compile(
    r"host|range|expect|user-agent|accept(-encoding)?|transfer-encoding|cache-control|content-\w+"
    r"|if-[\w-]+|x-amz-(meta-[\w-]+|checksum-\w+|sdk-checksum-algorithm|content-sha256)"
)
OBJECT_PATH = re.compile(r"/[a-z0-9][a-z0-9.-]{2,62}/.+", re.DOTALL)
BUCKET_PATH = re.compile(r"/[a-z0-9][a-z0-9.-]{2,62}/?")
SOCKET_PATH = re.compile(r"/_aws/execute-api/[a-z0-9]+/workers/?")
FORM_FIELDS = ("policy", "x-amz-credential", "x-amz-signature")


def is_key(text: str) -> bool:
    return hmac.compare_digest(text.encode(), KEY.encode())


def secret_of(access_key_id: str, token: str) -> str | None:
    credential = resolve_credential(access_key_id, ACCOUNT, token)
    return getattr(credential, "secret_access_key", None)


def headers_of(scope) -> dict[str, str]:
    """Repeated headers are joined as they are for a signature."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), decode_header_value(value)
        headers[key] = f"{headers[key]},{text}" if key in headers else text
    return headers


def is_signed(scope, headers, query, signature, presigned: bool) -> bool:
    if not isinstance(signature, HeaderSignature) or signature.region_set is not None:
        return False
    if "host" not in signature.signed_headers.split(";"):
        return False
    token = query.get("X-Amz-Security-Token", [""])[0] if presigned else headers.get("x-amz-security-token", "")
    secret = secret_of(signature.access_key_id, token)
    if secret is None:
        return False
    path = scope["raw_path"].decode("latin-1")
    return (
        header_signature_failure(signature, secret, scope["method"], path, query, headers, b"", presigned=presigned)
        is None
    )


def is_signed_by_header(scope, headers, query) -> bool:
    # Without the hash of the body there is nothing to check before the body was read; SDKs always send it.
    if not headers.get("authorization", "").startswith("AWS4-HMAC-SHA256 ") or "x-amz-content-sha256" not in headers:
        return False
    return is_signed(scope, headers, query, parse_header_signature(headers), presigned=False)


def is_presigned(scope, headers, query) -> bool:
    signature = parse_query_signature(query) if "X-Amz-Signature" in query else None
    if getattr(signature, "service", None) != "s3" or OBJECT_PATH.fullmatch(scope["path"]) is None:
        return False
    return is_signed(scope, headers, query, signature, presigned=True)


def may_be_form(scope, headers) -> bool:
    is_upload = scope["method"] == "POST" and headers.get("content-type", "").startswith("multipart/form-data")
    return is_upload and scope["query_string"] == b"" and BUCKET_PATH.fullmatch(scope["path"]) is not None


def is_signed_form(body: bytes) -> bool:
    fields = {}
    for name in FORM_FIELDS:
        header = rb"content-disposition:[^\r\n]*\bname\*?\s*=\s*\"?" + name.encode() + rb"\b"
        found = re.findall(header + rb"[^\r\n]*\r\n\r\n([^\r\n]*)\r\n", body, re.IGNORECASE)
        # Where there are two of a name, MiniStack could read the one that is not checked here.
        if len(found) != 1 or len(re.findall(header, body, re.IGNORECASE)) != 1:
            return False
        fields[name] = found[0].decode("latin-1")
    access_key_id, *rest = fields["x-amz-credential"].split("/")
    secret = secret_of(access_key_id, "")
    if secret is None or len(rest) != 4 or rest[2:] != ["s3", "aws4_request"]:
        return False
    expected = calculate_signature(secret, rest[0], rest[1], "s3", fields["policy"])
    return hmac.compare_digest(expected.encode(), fields["x-amz-signature"].encode())


async def read_body(receive) -> bytes | None:
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def replayed(body: bytes, receive):
    rest = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again():
        return rest.pop() if rest else await receive()

    return receive_again


def without_cors(send):
    async def send_on(message):
        if message["type"] == "http.response.start":
            headers = [pair for pair in message.get("headers", []) if not pair[0].lower().startswith(b"access-control-")]
            message = {**message, "headers": headers}
        await send(message)

    return send_on


async def refuse(send):
    body = b'{"message":"This emulator serves the start of Runyard that it belongs to, and nobody else."}'
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def with_headers(scope, is_kept):
    return {**scope, "headers": [pair for pair in scope["headers"] if is_kept(pair[0].decode("latin-1").lower())]}


async def admitted(scope, receive):
    """The scope and the receive function to go on with, or None for what is refused."""
    headers = headers_of(scope)
    if headers.get("host", "") not in HOSTS:
        return None
    if is_key(headers.get(KEY_HEADER, "")):
        return with_headers(scope, lambda name: name != KEY_HEADER), receive
    if "origin" in headers:
        return None
    query = parse_qs(scope["query_string"].decode("utf-8", errors="replace"), keep_blank_values=True)
    if is_signed_by_header(scope, headers, query):
        return scope, receive
    as_object = with_headers(scope, lambda name: OBJECT_HEADER.fullmatch(name) is not None)
    if "authorization" not in headers and is_presigned(scope, headers, query):
        return as_object, receive
    if may_be_form(scope, headers):
        body = await read_body(receive)
        if body is not None and is_signed_form(body):
            return as_object, replayed(body, receive)
    return None


unguarded = ministack.app.app


async def guarded(scope, receive, send):
    if scope["type"] == "lifespan":
        return await unguarded(scope, receive, send)
    if scope["type"] != "http":
        # Workers connect to the WebSocket API, whose functions authenticate them. No web page may, and nothing else has a socket.
        headers = headers_of(scope)
        if headers.get("host", "") in HOSTS and "origin" not in headers and SOCKET_PATH.fullmatch(scope["path"]):
            return await unguarded(scope, receive, send)
        await receive()
        return await send({"type": "websocket.close", "code": 1008})
    passed = await admitted(scope, receive)
    if passed is None:
        return await refuse(send)
    await unguarded(*passed, without_cors(send))


if __name__ == "__main__":
    ministack.app.app = guarded
    ministack.app.main()
