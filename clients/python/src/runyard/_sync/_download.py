# Generated from src/runyard/_async/_download.py by scripts/generate: do not edit.
from __future__ import annotations

import os
from contextlib import suppress
from typing import Iterator

import httpx

from ..errors import connection_error


class Download:
    """A file being downloaded: the headers have arrived, the bytes are read on demand."""

    def __init__(self, response: httpx.Response) -> None:
        self._response = response

    @property
    def headers(self) -> httpx.Headers:
        return self._response.headers

    @property
    def content_type(self) -> str | None:
        value: str | None = self.headers.get("content-type")
        return value

    def iter_bytes(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Iterates over the bytes in chunks. Raises `APIConnectionError` if the connection breaks."""
        try:
            for chunk in self._response.iter_bytes(chunk_size):
                yield chunk
        except httpx.RequestError as cause:
            raise connection_error(cause, self._response.request) from cause

    def iter_lines(self) -> Iterator[str]:
        """Iterates over the lines of a text, without line endings, such as the objects of JSON Lines."""
        try:
            for line in self._response.iter_lines():
                yield line
        except httpx.RequestError as cause:
            raise connection_error(cause, self._response.request) from cause

    def read(self) -> bytes:
        """Reads all bytes into memory."""
        return b"".join([chunk for chunk in self.iter_bytes()])

    def write_to_file(self, path: str | os.PathLike[str]) -> None:
        """Writes the bytes to a file, which is created only if the download is complete."""
        partial = f"{os.fspath(path)}.part"
        try:
            # Writing to a local file is fast compared with the network, so it needs no thread.
            with open(partial, "wb") as file:  # noqa: ASYNC230
                for chunk in self.iter_bytes():
                    file.write(chunk)
            os.replace(partial, path)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(partial)
