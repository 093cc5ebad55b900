"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ... import _wire
from ..._decode import Shape
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    ArtifactResponse,
    DownloadUrl,
)
from .._resource import AsyncResource, to_raw

_ARTIFACT_RESPONSE: Shape[ArtifactResponse] = Shape(ArtifactResponse)


class AsyncArtifactsBase(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncArtifactsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncArtifactsWithRawResponse(AsyncArtifactsBase(self._client, _raw=True))

    async def retrieve(self, artifact_uid: str, **options: Unpack[RequestOptions]) -> ArtifactResponse:
        """Returns an artifact with its content or a download URL.

        A plan is returned inline as Markdown; a file or a screenshot has a download URL that expires after 15
        minutes by default. Pull requests and external references have no content and return 404.

        `GET /agent/artifacts/{artifactUid}`

        Args:
            artifact_uid: The artifact's id.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/artifacts/{artifact_uid}", artifact_uid=artifact_uid),
            cast_to=_ARTIFACT_RESPONSE,
            options=options,
        )

    async def download_url(
        self, artifact_uid: str, *, redirect: Union[bool, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> DownloadUrl:
        """Redirects to the content of an artifact.

        That is a file, a screenshot, or the Markdown of a plan. The URL expires after 15 minutes by default and
        needs no credentials. With `redirect=false` the response is 200 and contains the URL. Pull requests and
        external references have no content and return 404.

        `GET /agent/artifacts/{artifactUid}/download`

        Args:
            artifact_uid: The artifact's id.
            redirect: Whether to redirect to the URL. `false` returns it in the body instead.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/artifacts/{artifact_uid}/download", artifact_uid=artifact_uid),
            cast_to=DownloadUrl,
            query={"redirect": redirect},
            options=options,
        )


class AsyncArtifactsWithRawResponse:
    def __init__(self, raw: AsyncArtifactsBase) -> None:
        self.retrieve = to_raw(raw.retrieve)
        self.download_url = to_raw(raw.download_url)
