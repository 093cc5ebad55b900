"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    ListWebSessionsResponse,
    SessionInfo,
    SignInLink,
    SignInMethods,
    SignInToken,
    WebSessionItem,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw


class AsyncWebSessions(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncWebSessionsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncWebSessionsWithRawResponse(AsyncWebSessions(self._client, _raw=True))

    async def create(
        self,
        *,
        key: Union[Optional[str], NotGiven] = NOT_GIVEN,
        token: Union[Optional[str], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> None:
        """Creates a web session.

        Requires no API key in a header: the body has a personal API key or a one-time token. The response sets
        an HttpOnly cookie that authenticates later requests of the same browser. A session ends after 12 hours
        without use and after 7 days at most. A person has at most 50 sessions: a new one replaces the session
        that was not used for the longest time. Requests that change something and are authenticated by the
        cookie need an `Origin` header of the deployment, as browsers send it.

        `POST /session`

        Args:
            key: A personal API key. The session ends with the key.
            token: The token of a sign-in link. It works once.
        """
        return await self._call(
            "POST", "/session", cast_to=type(None), body={"key": key, "token": token}, options=options
        )

    async def retrieve(self, **options: Unpack[RequestOptions]) -> SessionInfo:
        """Returns the caller, the caller's teams, and when the web session ends.

        Does not extend the session.

        `GET /session`
        """
        return await self._call("GET", "/session", cast_to=SessionInfo, options=options)

    async def extend(self, **options: Unpack[RequestOptions]) -> None:
        """Renews the web session of the request.

        It then ends after 12 hours without use. Every request that changes something does so too, at most every
        five minutes; requests that only read do not. A page that is open sends it every few minutes.

        `PUT /session`
        """
        return await self._call("PUT", "/session", cast_to=type(None), options=options)

    async def end(self, *, all: Union[bool, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]) -> None:
        """Ends the web session of the request and removes its cookie.

        With `all=true`, ends all web sessions of the caller, which takes the scope `keys`. API keys remain
        valid.

        `DELETE /session`

        Args:
            all: Whether to end all web sessions of the caller.
        """
        return await self._call("DELETE", "/session", cast_to=type(None), query={"all": all}, options=options)

    async def create_link(self, **options: Unpack[RequestOptions]) -> SignInLink:
        """Creates a one-time link to sign in to the web app.

        The link works for ten minutes.

        `POST /session/link`
        """
        return await self._call("POST", "/session/link", cast_to=SignInLink, options=options)

    async def methods(self, **options: Unpack[RequestOptions]) -> SignInMethods:
        """Returns how people sign in, besides API keys and links.

        Requires no API key.

        `GET /session/methods`
        """
        return await self._call("GET", "/session/methods", cast_to=SignInMethods, options=options)

    async def exchange_code(
        self, *, code: str, state: str, code_verifier: str, **options: Unpack[RequestOptions]
    ) -> SignInToken:
        """Exchanges an OIDC authorization code for a one-time token.

        `POST /session` with the token starts a web session. Requires no API key: `state` and the ID token's
        `nonce` must be digests of `code_verifier`, the base64url-encoded SHA-256 of `state.` or `nonce.`
        followed by it. A person at the issuer is bound to the user with the same verified email address at the
        first sign-in; an address that was invited and has no account yet gets one. The first sign-in ends all
        API keys and sessions of an account that was created through an invitation.

        `POST /session/oidc`

        Args:
            code: The authorization code.
            state: The `state` of the redirect.
            code_verifier: The PKCE code verifier. Must have 43 to 128 letters, digits and characters of `-._~`.
        """
        return await self._call(
            "POST",
            "/session/oidc",
            cast_to=SignInToken,
            body={"code": code, "state": state, "code_verifier": code_verifier},
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[WebSessionItem]:
        """Lists the caller's web sessions, oldest first.

        `GET /sessions`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/sessions",
            cast_to=ListWebSessionsResponse,
            items=lambda response: response.sessions,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def revoke(self, session_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Ends one of the caller's web sessions.

        It is refused from the next request.

        `DELETE /sessions/{sessionUid}`

        Args:
            session_uid: The web session's id.
        """
        return await self._call(
            "DELETE",
            _wire.path("/sessions/{session_uid}", session_uid=session_uid),
            cast_to=type(None),
            options=options,
        )


class AsyncWebSessionsWithRawResponse:
    def __init__(self, raw: AsyncWebSessions) -> None:
        self.create = to_raw(raw.create)
        self.retrieve = to_raw(raw.retrieve)
        self.extend = to_raw(raw.extend)
        self.end = to_raw(raw.end)
        self.create_link = to_raw(raw.create_link)
        self.methods = to_raw(raw.methods)
        self.exchange_code = to_raw(raw.exchange_code)
        self.list = to_raw(raw.list)
        self.revoke = to_raw(raw.revoke)
