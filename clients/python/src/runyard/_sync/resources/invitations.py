"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ... import _wire
from ..._options import RequestOptions
from ...types import (
    Membership,
)
from .._resource import Resource, to_raw


class Invitations(Resource):
    @cached_property
    def with_raw_response(self) -> InvitationsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return InvitationsWithRawResponse(Invitations(self._client, _raw=True))

    def accept(self, token: str, **options: Unpack[RequestOptions]) -> Membership:
        """Accepts an invitation to a team.

        With an API key, the caller joins the team (200). Without an API key, an account is created for the
        invited address (201), and its first API key is returned. A repeat with the same `Idempotency-Key`
        returns the same API key; no other request does. If the address already has an account, the response is
        401: use a key of that account.

        `POST /agent/invitations/{token}/accept`

        Args:
            token: The token of the invitation, the last segment of its link.
        """
        return self._call(
            "POST", _wire.path("/agent/invitations/{token}/accept", token=token), cast_to=Membership, options=options
        )


class InvitationsWithRawResponse:
    def __init__(self, raw: Invitations) -> None:
        self.accept = to_raw(raw.accept)
