"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import (
    GetOpenidConfigurationResponse,
    ListSigningKeysResponse,
)
from .._resource import AsyncResource, to_raw


class AsyncIdentityIssuer(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncIdentityIssuerWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncIdentityIssuerWithRawResponse(AsyncIdentityIssuer(self._client, _raw=True))

    async def configuration(self, **options: Unpack[RequestOptions]) -> GetOpenidConfigurationResponse:
        """Returns the metadata of the issuer of identity tokens.

        The issuer is this deployment. Returns 404 if no public address is configured.

        `GET /.well-known/openid-configuration`
        """
        return await self._call(
            "GET", "/.well-known/openid-configuration", cast_to=GetOpenidConfigurationResponse, options=options
        )

    async def keys(self, **options: Unpack[RequestOptions]) -> ListSigningKeysResponse:
        """Returns the public keys that verify identity tokens.

        The format is a JSON Web Key Set. A key is in the set a day before it signs its first token. Returns 404
        if no public address is configured.

        `GET /.well-known/jwks.json`
        """
        return await self._call("GET", "/.well-known/jwks.json", cast_to=ListSigningKeysResponse, options=options)


class AsyncIdentityIssuerWithRawResponse:
    def __init__(self, raw: AsyncIdentityIssuer) -> None:
        self.configuration = to_raw(raw.configuration)
        self.keys = to_raw(raw.keys)
