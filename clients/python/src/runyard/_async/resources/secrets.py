"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    CreateSecretRequestRenewalParam,
)
from ...types import (
    ListSecretsResponse,
    SecretItem,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw


class AsyncSecrets(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncSecretsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncSecretsWithRawResponse(AsyncSecrets(self._client, _raw=True))

    async def create(
        self,
        *,
        name: str,
        value: str,
        renewal: Union[CreateSecretRequestRenewalParam, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> SecretItem:
        """Creates a secret for the runs of a team.

        Environments and identities refer to the secret by name. The value is never returned; to change it,
        delete the secret and create it again. A team can have at most 100 secrets. Requires the role `admin`.

        `POST /agent/secrets`

        Args:
            name: The name that configurations refer to, unique within the team. Also the name of the environment variable with the value. Names that change how programs behave, such as PATH or LD_PRELOAD, are reserved.
            value: The value. It is never returned. At most 4096 bytes in UTF-8.
            renewal: Makes the value an access token that the service renews before executions start.
        """
        return await self._call(
            "POST",
            "/agent/secrets",
            cast_to=SecretItem,
            body={"name": name, "value": value, "renewal": renewal},
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[SecretItem]:
        """Lists the metadata of a team's secrets, without values.

        Requires the role `admin`.

        `GET /agent/secrets`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/secrets",
            cast_to=ListSecretsResponse,
            items=lambda response: response.secrets,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def retrieve(self, secret: str, **options: Unpack[RequestOptions]) -> SecretItem:
        """Returns a secret's metadata, without its value.

        Requires the role `admin`.

        `GET /agent/secrets/{secret}`

        Args:
            secret: The secret's name.
        """
        return await self._call(
            "GET", _wire.path("/agent/secrets/{secret}", secret=secret), cast_to=SecretItem, options=options
        )

    async def delete(self, secret: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a secret.

        Executions that have started keep the value until they end. Requires the role `admin`.

        `DELETE /agent/secrets/{secret}`

        Args:
            secret: The secret's name.
        """
        return await self._call(
            "DELETE", _wire.path("/agent/secrets/{secret}", secret=secret), cast_to=type(None), options=options
        )


class AsyncSecretsWithRawResponse:
    def __init__(self, raw: AsyncSecrets) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.delete = to_raw(raw.delete)
