"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property

from typing_extensions import Unpack

from ... import _wire
from ..._options import RequestOptions
from ...types import (
    SessionRedirect,
)
from .._resource import Resource, to_raw


class Sessions(Resource):
    @cached_property
    def with_raw_response(self) -> SessionsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return SessionsWithRawResponse(Sessions(self._client, _raw=True))

    def redirect(self, session_id: str, **options: Unpack[RequestOptions]) -> SessionRedirect:
        """Returns the conversation of a public session.

        Requires no API key. If the session is not shared publicly, the response is 404, as for an unknown id.

        `GET /agent/sessions/{sessionId}/redirect`

        Args:
            session_id: The session's id.
        """
        return self._call(
            "GET",
            _wire.path("/agent/sessions/{session_id}/redirect", session_id=session_id),
            cast_to=SessionRedirect,
            options=options,
        )


class SessionsWithRawResponse:
    def __init__(self, raw: Sessions) -> None:
        self.redirect = to_raw(raw.redirect)
