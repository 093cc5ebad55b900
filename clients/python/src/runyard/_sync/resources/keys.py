"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    CreatedKey,
    KeyItem,
    ListKeysResponse,
)
from .._io import Page
from .._resource import Resource, to_raw


class Keys(Resource):
    @cached_property
    def with_raw_response(self) -> KeysWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return KeysWithRawResponse(Keys(self._client, _raw=True))

    def create(
        self,
        *,
        name: str,
        expires_at: Union[Optional[Union[str, datetime]], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CreatedKey:
        """Creates a personal API key; only this response shows it.

        `POST /agent/keys`

        Args:
            name: What the key is called.
            expires_at: In the future; without it the key is good until it is deleted.
        """
        return self._call(
            "POST", "/agent/keys", cast_to=CreatedKey, body={"name": name, "expires_at": expires_at}, options=options
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[KeyItem]:
        """Lists the metadata of the caller's API keys, oldest first.

        `GET /agent/keys`

        Args:
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            "/agent/keys",
            cast_to=ListKeysResponse,
            items=lambda answer: answer.keys,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def delete(self, key_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes one of the caller's API keys. It may be the key of the request itself.

        `DELETE /agent/keys/{keyUid}`

        Args:
            key_uid: The key's uid.
        """
        return self._call(
            "DELETE", _wire.path("/agent/keys/{key_uid}", key_uid=key_uid), cast_to=type(None), options=options
        )


class KeysWithRawResponse:
    def __init__(self, raw: Keys) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.delete = to_raw(raw.delete)
