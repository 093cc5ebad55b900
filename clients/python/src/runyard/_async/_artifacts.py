from __future__ import annotations

from contextlib import asynccontextmanager
from typing import AsyncIterator

import httpx
from typing_extensions import Unpack

from .._options import RequestOptions
from ..errors import RunyardError
from ._download import AsyncDownload
from .resources.artifacts import AsyncArtifactsBase


class AsyncArtifacts(AsyncArtifactsBase):
    @asynccontextmanager
    async def download(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> AsyncIterator[AsyncDownload]:
        """Downloads the content of an artifact as a stream. Use it with `async with`."""
        artifact = await self.retrieve(artifact_uid, **options)
        data = artifact.to_dict().get("data", {})
        if "content" in data:
            yield AsyncDownload(_inline_response(data["content"], data.get("content_type", "text/plain")))
            return
        if "download_url" not in data:
            raise RunyardError(f"{artifact.artifact_type} {artifact_uid} has nothing to download.")
        async with self._client._stream(data["download_url"], options) as response:
            yield AsyncDownload(response)


def _inline_response(content: str, content_type: str) -> httpx.Response:
    """Wraps the text of a plan, which is part of the artifact."""
    return httpx.Response(200, content=content.encode("utf-8"), headers={"content-type": content_type})
