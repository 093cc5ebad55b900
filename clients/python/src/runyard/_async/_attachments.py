from __future__ import annotations

import hashlib
import mimetypes
import os

from typing_extensions import Unpack

from .._base import Call
from .._options import RequestOptions
from .._upload import form_of
from ..errors import APIStatusError
from ..types import UploadTarget
from ._transport import AsyncTransport
from .resources.attachments import AsyncAttachmentsBase


class AsyncAttachments(AsyncAttachmentsBase):
    async def upload(
        self,
        file: str | os.PathLike[str] | bytes,
        *,
        file_name: str | None = None,
        mime_type: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> str:
        """Uploads a file of up to 100 MB and returns its id, for `attachments=[{"attachment_id": …}]` of a run.

        Small files can go into the request for the run itself.

        Args:
            file: A path, or the bytes themselves.
            file_name: The name that the agent sees. Default: the path's last part; needed for bytes.
            mime_type: Default: what the name's ending means, else `application/octet-stream`.
        """
        name, kind, data = read_file(file, file_name, mime_type)
        made = await self.create(
            file_name=name, mime_type=kind, size_bytes=len(data), sha256=hashlib.sha256(data).hexdigest(), **options
        )
        # An earlier attempt with the same Idempotency-Key may have uploaded the file already.
        if made.upload is not None:
            await store_file(self._client, made.upload, data, options)
        return made.attachment_id


def read_file(
    file: str | os.PathLike[str] | bytes, file_name: str | None, mime_type: str | None
) -> tuple[str, str, bytes]:
    """Returns the name, the media type and the bytes of a file to upload."""
    data = file if isinstance(file, bytes) else _read(file)
    name = file_name or (None if isinstance(file, bytes) else os.path.basename(os.fspath(file)))
    if not name:
        raise ValueError("file_name is needed for bytes")
    return name, mime_type or mimetypes.guess_type(name)[0] or "application/octet-stream", data


async def store_file(client: AsyncTransport, target: UploadTarget, data: bytes, options: RequestOptions) -> None:
    """Uploads a file to the storage."""
    headers, content = form_of(target, data)
    call = Call.plain(client._settings, target.method, target.url, headers=headers, content=content, options=options)
    try:
        await client._repeat(call, lambda response: None)
    except APIStatusError as error:
        # 412: an earlier attempt has already stored the file, whose size and digest the URL fixes.
        if error.status_code != 412:
            raise


def _read(path: str | os.PathLike[str]) -> bytes:
    with open(path, "rb") as file:
        return file.read()
