"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import (
    CreateAttachmentResponse,
)
from .._resource import Resource, to_raw


class AttachmentsBase(Resource):
    @cached_property
    def with_raw_response(self) -> AttachmentsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AttachmentsWithRawResponse(AttachmentsBase(self._client, _raw=True))

    def create(
        self, *, file_name: str, mime_type: str, size_bytes: int, sha256: str, **options: Unpack[RequestOptions]
    ) -> CreateAttachmentResponse:
        """Creates an upload URL for an attachment of up to 100 MiB.

        Upload the bytes to `upload` within 10 minutes, then pass `attachment_id` when you create a run. The file
        must have the given size and SHA-256 digest. Attachments expire after 24 hours.

        `POST /agent/attachments`

        Args:
            file_name: The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories.
            mime_type: The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain.
            size_bytes: The file's size in bytes.
            sha256: The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits.
        """
        return self._call(
            "POST",
            "/agent/attachments",
            cast_to=CreateAttachmentResponse,
            body={"file_name": file_name, "mime_type": mime_type, "size_bytes": size_bytes, "sha256": sha256},
            options=options,
        )


class AttachmentsWithRawResponse:
    def __init__(self, raw: AttachmentsBase) -> None:
        self.create = to_raw(raw.create)
