"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    ListWorkersResponse,
    WorkerItem,
)
from .._io import Page
from .._resource import Resource, to_raw


class Workers(Resource):
    @cached_property
    def with_raw_response(self) -> WorkersWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return WorkersWithRawResponse(Workers(self._client, _raw=True))

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[WorkerItem]:
        """Lists the connected self-hosted workers of the caller's teams.

        Workers are sorted by id. Connections that share an id are one worker.

        `GET /agent/connected-self-hosted-workers`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/connected-self-hosted-workers",
            cast_to=ListWorkersResponse,
            items=lambda response: response.workers,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )


class WorkersWithRawResponse:
    def __init__(self, raw: Workers) -> None:
        self.list = to_raw(raw.list)
