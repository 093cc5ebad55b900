"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    UsageGroup,
    UsageReport,
)
from .._resource import AsyncResource, to_raw


class AsyncUsage(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncUsageWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncUsageWithRawResponse(AsyncUsage(self._client, _raw=True))

    async def retrieve(
        self,
        *,
        from_: Union[str, NotGiven] = NOT_GIVEN,
        to: Union[str, NotGiven] = NOT_GIVEN,
        group_by: Union[UsageGroup, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> UsageReport:
        """Returns the usage of the caller's ended runs, in buckets.

        A run counts on the UTC day on which it was created, from its end on; runs that are still active do not
        count. The report covers the runs that the caller sees in lists, and 400 days at most.

        `GET /agent/usage`

        Args:
            from_: The first UTC day. Defaults to 30 days up to `to`, which is included.
            to: The last UTC day, which is included. Defaults to today.
            group_by: What a bucket stands for.
        """
        return await self._call(
            "GET",
            "/agent/usage",
            cast_to=UsageReport,
            query={"from": from_, "to": to, "group_by": group_by},
            options=options,
        )


class AsyncUsageWithRawResponse:
    def __init__(self, raw: AsyncUsage) -> None:
        self.retrieve = to_raw(raw.retrieve)
