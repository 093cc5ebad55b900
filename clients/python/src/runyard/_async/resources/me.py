"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    Me,
)
from .._resource import AsyncResource, to_raw


class AsyncMyself(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncMyselfWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncMyselfWithRawResponse(AsyncMyself(self._client, _raw=True))

    async def retrieve(self, **options: Unpack[RequestOptions]) -> Me:
        """Returns the caller and their team memberships.

        `GET /agent/me`
        """
        return await self._call("GET", "/agent/me", cast_to=Me, options=options)

    async def update(
        self,
        *,
        display_name: Union[Optional[str], NotGiven] = NOT_GIVEN,
        email: Union[Optional[str], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Me:
        """Updates the caller's display name.

        The email address cannot be changed: a different one returns 422.

        `PUT /agent/me`

        Args:
            display_name: The new display name, at most 256 characters.
            email: The current email address. A different one returns 422.
        """
        return await self._call(
            "PUT", "/agent/me", cast_to=Me, body={"display_name": display_name, "email": email}, options=options
        )


class AsyncMyselfWithRawResponse:
    def __init__(self, raw: AsyncMyself) -> None:
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
