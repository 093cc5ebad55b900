"""Builds the request of an upload. No I/O."""

from __future__ import annotations

import secrets

from .errors import RunyardError
from .types import UploadTarget


def form_of(target: UploadTarget, data: bytes) -> tuple[dict[str, str], bytes]:
    """Returns the headers and the body of an upload: the bytes themselves, or a form that contains them."""
    headers = dict(target.headers or {})
    if target.fields is None:
        return headers, data
    boundary = secrets.token_hex(16)
    parts = []
    for each in target.fields:
        disposition = f'--{boundary}\r\nContent-Disposition: form-data; name="{each.name}"'
        if each.value.kind == "content_data":
            parts.append(f'{disposition}; filename="file"\r\n\r\n'.encode() + data + b"\r\n")
        elif each.value.kind == "static":
            parts.append(f"{disposition}\r\n\r\n{each.value.to_dict()['value']}\r\n".encode())
        else:
            raise RunyardError(f"This storage requires a {each.value.kind}, which this version does not support.")
    headers["content-type"] = f"multipart/form-data; boundary={boundary}"
    return headers, b"".join(parts) + f"--{boundary}--\r\n".encode()
