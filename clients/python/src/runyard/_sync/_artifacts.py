# Generated from src/runyard/_async/_artifacts.py by scripts/generate: do not edit.
from __future__ import annotations

from contextlib import contextmanager
from typing import Iterator

import httpx
from typing_extensions import Unpack

from .._options import RequestOptions
from ..errors import RunyardError
from ._download import Download
from .resources.artifacts import ArtifactsBase


class Artifacts(ArtifactsBase):
    @contextmanager
    def download(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> Iterator[Download]:
        """Downloads the content of an artifact as a stream. Use it with `with`."""
        artifact = self.retrieve(artifact_uid, **options)
        data = artifact.to_dict().get("data", {})
        if "content" in data:
            yield Download(_inline_response(data["content"], data.get("content_type", "text/plain")))
            return
        if "download_url" not in data:
            raise RunyardError(f"{artifact.artifact_type} {artifact_uid} has nothing to download.")
        with self._client._stream(data["download_url"], options) as response:
            yield Download(response)


def _inline_response(content: str, content_type: str) -> httpx.Response:
    """Wraps the text of a plan, which is part of the artifact."""
    return httpx.Response(200, content=content.encode("utf-8"), headers={"content-type": content_type})
