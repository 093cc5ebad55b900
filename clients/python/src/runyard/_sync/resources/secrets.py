"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    ListSecretsResponse,
    SecretItem,
)
from .._io import Page
from .._resource import Resource, to_raw


class Secrets(Resource):
    @cached_property
    def with_raw_response(self) -> SecretsWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return SecretsWithRawResponse(Secrets(self._client, _raw=True))

    def create(self, *, name: str, value: str, **options: Unpack[RequestOptions]) -> SecretItem:
        """Creates a secret that configurations refer to by name. No response shows its value.

        `POST /agent/secrets`

        Args:
            name: By what name configurations refer to it. The variable in which commands find the value: none that programs obey, such as PATH or LD_PRELOAD.
            value: The secret itself; no answer ever shows it. At most 4096 bytes in UTF-8.
        """
        return self._call(
            "POST", "/agent/secrets", cast_to=SecretItem, body={"name": name, "value": value}, options=options
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[SecretItem]:
        """Lists the names of the team's secrets.

        `GET /agent/secrets`

        Args:
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            "/agent/secrets",
            cast_to=ListSecretsResponse,
            items=lambda answer: answer.secrets,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def retrieve(self, secret: str, **options: Unpack[RequestOptions]) -> SecretItem:
        """Returns a secret's metadata.

        `GET /agent/secrets/{secret}`

        Args:
            secret: The secret.
        """
        return self._call(
            "GET", _wire.path("/agent/secrets/{secret}", secret=secret), cast_to=SecretItem, options=options
        )

    def delete(self, secret: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a secret. Executions that started with its value keep it until they end.

        `DELETE /agent/secrets/{secret}`

        Args:
            secret: The secret.
        """
        return self._call(
            "DELETE", _wire.path("/agent/secrets/{secret}", secret=secret), cast_to=type(None), options=options
        )


class SecretsWithRawResponse:
    def __init__(self, raw: Secrets) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.delete = to_raw(raw.delete)
