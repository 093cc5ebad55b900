"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ..._options import RequestOptions
from ...types import (
    GetOpenidConfigurationResponse,
    ListSigningKeysResponse,
)
from .._resource import Resource, to_raw


class IdentityIssuer(Resource):
    @cached_property
    def with_raw_response(self) -> IdentityIssuerWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return IdentityIssuerWithRawResponse(IdentityIssuer(self._client, _raw=True))

    def configuration(self, **options: Unpack[RequestOptions]) -> GetOpenidConfigurationResponse:
        """Returns the metadata of the issuer of identity tokens.

        The issuer is this deployment. Returns 404 if no public address is configured.

        `GET /.well-known/openid-configuration`
        """
        return self._call(
            "GET", "/.well-known/openid-configuration", cast_to=GetOpenidConfigurationResponse, options=options
        )

    def keys(self, **options: Unpack[RequestOptions]) -> ListSigningKeysResponse:
        """Returns the public keys that verify identity tokens.

        The format is a JSON Web Key Set. A key is in the set a day before it signs its first token. Returns 404
        if no public address is configured.

        `GET /.well-known/jwks.json`
        """
        return self._call("GET", "/.well-known/jwks.json", cast_to=ListSigningKeysResponse, options=options)


class IdentityIssuerWithRawResponse:
    def __init__(self, raw: IdentityIssuer) -> None:
        self.configuration = to_raw(raw.configuration)
        self.keys = to_raw(raw.keys)
