"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    TokenResponse,
)
from .._resource import AsyncResource, to_raw


class AsyncToken(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncTokenWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncTokenWithRawResponse(AsyncToken(self._client, _raw=True))

    async def create(
        self, *, token: str, identity_uid: Union[Optional[str], NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> TokenResponse:
        """Exchanges an OIDC token for an API key of an identity.

        The token may be that of a GitHub Actions job, for example. A trust rule of the identity must match the
        token's `iss`, `aud` and `sub` claims; otherwise the response is 403 and names the claim. The key expires
        after the rule's `ttl_seconds`. Requires no API key.

        `POST /agent/token`

        Args:
            token: The OIDC token, a signed JWT. At most 16384 bytes in UTF-8.
            identity_uid: The identity that the key is for. Required if the token matches rules of several identities.
        """
        return await self._call(
            "POST",
            "/agent/token",
            cast_to=TokenResponse,
            body={"token": token, "identity_uid": identity_uid},
            options=options,
        )


class AsyncTokenWithRawResponse:
    def __init__(self, raw: AsyncToken) -> None:
        self.create = to_raw(raw.create)
