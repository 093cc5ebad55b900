"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Optional, Sequence, Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    CreatedKey,
    KeyItem,
    ListKeysResponse,
    Scope,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw


class AsyncKeys(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncKeysWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncKeysWithRawResponse(AsyncKeys(self._client, _raw=True))

    async def create(
        self,
        *,
        name: str,
        expires_at: Union[Optional[Union[str, datetime]], NotGiven] = NOT_GIVEN,
        scopes: Union[Optional[Sequence[Scope]], NotGiven] = NOT_GIVEN,
        max_budget_usd: Union[Optional[float], NotGiven] = NOT_GIVEN,
        max_runs_per_day: Union[Optional[int], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CreatedKey:
        """Creates a personal API key.

        The response contains the key, which is never shown again. The key does not expire unless `expires_at` is
        set. A person can have at most 50 keys.

        `POST /agent/keys`

        Args:
            name: The key's name.
            expires_at: The expiry time, in the future. By default the key does not expire.
            scopes: What the key may be used for. By default it has all scopes of the request's own credential, which has to have each of them.
            max_budget_usd: The maximum cost of the runs that the key creates, and of their descendants, in a calendar month (UTC). By default it is not limited.
            max_runs_per_day: The maximum number of runs that the key creates in a day (UTC). By default it is not limited.
        """
        return await self._call(
            "POST",
            "/agent/keys",
            cast_to=CreatedKey,
            body={
                "name": name,
                "expires_at": expires_at,
                "scopes": scopes,
                "max_budget_usd": max_budget_usd,
                "max_runs_per_day": max_runs_per_day,
            },
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[KeyItem]:
        """Lists the caller's API keys, without their values.

        `GET /agent/keys`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/keys",
            cast_to=ListKeysResponse,
            items=lambda response: response.keys,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def delete(self, key_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Revokes one of the caller's API keys.

        The key is refused from the next request. The key of the request itself can be revoked too.

        `DELETE /agent/keys/{keyUid}`

        Args:
            key_uid: The key's id.
        """
        return await self._call(
            "DELETE", _wire.path("/agent/keys/{key_uid}", key_uid=key_uid), cast_to=type(None), options=options
        )


class AsyncKeysWithRawResponse:
    def __init__(self, raw: AsyncKeys) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.delete = to_raw(raw.delete)
