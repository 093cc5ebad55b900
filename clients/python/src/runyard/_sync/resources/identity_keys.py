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
from .._io import Page
from .._resource import Resource, to_raw


class IdentityKeys(Resource):
    @cached_property
    def with_raw_response(self) -> IdentityKeysWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return IdentityKeysWithRawResponse(IdentityKeys(self._client, _raw=True))

    def create(
        self,
        identity_uid: str,
        *,
        name: str,
        expires_at: Union[Optional[Union[str, datetime]], NotGiven] = NOT_GIVEN,
        scopes: Union[Optional[Sequence[Scope]], NotGiven] = NOT_GIVEN,
        max_budget_usd: Union[Optional[float], NotGiven] = NOT_GIVEN,
        max_runs_per_day: Union[Optional[int], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CreatedKey:
        """Creates an API key for an identity.

        The response contains the key, which is never shown again. The key does not expire unless `expires_at` is
        set. An identity can have at most 50 keys. Requires a personal key.

        `POST /agent/identities/{identityUid}/keys`

        Args:
            identity_uid: The identity's id.
            name: The key's name.
            expires_at: The expiry time, in the future. By default the key does not expire.
            scopes: What the key may be used for. By default it has all scopes of the request's own credential, which has to have each of them.
            max_budget_usd: The maximum cost of the runs that the key creates, and of their descendants, in a calendar month (UTC). By default it is not limited.
            max_runs_per_day: The maximum number of runs that the key creates in a day (UTC). By default it is not limited.
        """
        return self._call(
            "POST",
            _wire.path("/agent/identities/{identity_uid}/keys", identity_uid=identity_uid),
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
        identity_uid: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[KeyItem]:
        """Lists the API keys of an identity, without their values.

        `GET /agent/identities/{identityUid}/keys`

        Args:
            identity_uid: The identity's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/identities/{identity_uid}/keys", identity_uid=identity_uid),
            cast_to=ListKeysResponse,
            items=lambda response: response.keys,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def delete(self, identity_uid: str, key_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Revokes an API key of an identity.

        The key is refused from the next request. Requires a personal key.

        `DELETE /agent/identities/{identityUid}/keys/{keyUid}`

        Args:
            identity_uid: The identity's id.
            key_uid: The key's id.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/identities/{identity_uid}/keys/{key_uid}", identity_uid=identity_uid, key_uid=key_uid),
            cast_to=type(None),
            options=options,
        )


class IdentityKeysWithRawResponse:
    def __init__(self, raw: IdentityKeys) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.delete = to_raw(raw.delete)
