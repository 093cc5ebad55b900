from __future__ import annotations

import logging
import time
from contextlib import asynccontextmanager
from typing import Any, AsyncIterator, Callable, Mapping, TypeVar

import httpx

from .._base import Call, Settings, check_key
from .._decode import CastTo, UnreadableError, decode
from .._options import RequestOptions
from .._response import APIResponse, list_warnings
from .._retry import DeadlineError, limit_timeout, seconds_until, wait_before_retry
from ..errors import APIError, connection_error, status_error
from ._io import invoke, sleep

T = TypeVar("T")

LOGGER = logging.getLogger("runyard")


class AsyncTransport:
    """Sends requests and retries temporary failures."""

    _settings: Settings
    _headers: dict[str, str]
    _http: httpx.AsyncClient
    _deadline: float | None = None
    """The moment of `time.monotonic()` at which all calls end with `DeadlineError`."""

    def _until(self, deadline: float | None) -> AsyncTransport:
        """Returns a transport with the same settings and connections, and a deadline."""
        made = AsyncTransport()
        made._settings, made._headers, made._http = self._settings, self._headers, self._http
        made._deadline = deadline
        return made

    async def _call(
        self,
        method: str,
        path: str,
        *,
        cast_to: CastTo[T],
        options: RequestOptions,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        headers: Mapping[str, Any] | None = None,
    ) -> APIResponse[T]:
        """Calls the API and reads the response."""
        call = Call.make(
            self._settings, self._headers, method, path, query=query, body=body, headers=headers, options=options
        )
        response = await self._repeat(call, lambda response: decode(response, cast_to))
        for warning in list_warnings(response.http_response):
            LOGGER.warning("%s %s: %s", method, path, warning)
        return response

    @asynccontextmanager
    async def _stream(self, url: str, options: RequestOptions) -> AsyncIterator[httpx.Response]:
        """Fetches a signed URL without the API's headers and credentials. The body is not read."""
        call = Call.plain(self._settings, "GET", url, options=options)
        response = await self._repeat(call, lambda response: None, stream=True)
        try:
            yield response.http_response
        finally:
            await response.http_response.aclose()

    async def _repeat(self, call: Call, read: Callable[[httpx.Response], T], stream: bool = False) -> APIResponse[T]:
        attempt = 0
        error: APIError | None = None
        while True:
            left = seconds_until(self._deadline)
            if left == 0:
                raise DeadlineError from error
            headers = call.headers_of(attempt)
            if callable(self._settings.api_key) and not call.signed and "authorization" not in headers:
                key = check_key(await invoke(self._settings.api_key))
                headers = {**headers, "authorization": f"Bearer {key}"}
            timeout = limit_timeout(call.timeout, left)
            request = self._http.build_request(
                call.method, call.url, content=call.content, headers=headers, timeout=timeout
            )
            try:
                response = await self._send(request, stream, call.signed)
                if response.is_success:
                    return APIResponse(response, read(response), attempt)
                error = status_error(response)
            except (httpx.RequestError, UnreadableError) as cause:
                error = connection_error(cause, request)
            wait = wait_before_retry(error, attempt)
            left = seconds_until(self._deadline)
            # An attempt that the deadline cut short may have failed only for that reason.
            if wait is None or (attempt >= call.max_retries and left > 0):
                raise error
            LOGGER.info("%s, so %s %s is sent again in %.2f s", error.message, call.method, request.url.path, wait)
            await sleep(min(wait, left))
            attempt += 1

    async def _send(self, request: httpx.Request, stream: bool, signed: bool) -> httpx.Response:
        """One attempt. Unless the body is streamed, the time limit applies to the whole response, not to each chunk."""
        auth = None if signed else httpx.USE_CLIENT_DEFAULT
        deadline = _deadline(request)
        response = await self._http.send(request, auth=auth, follow_redirects=True, stream=True)
        if stream and response.is_success:
            return response
        if deadline is not None:
            response.stream = DeadlineStream(response, deadline)
        try:
            await response.aread()
        except BaseException:
            await response.aclose()
            raise
        return response


class DeadlineStream(httpx.AsyncByteStream):
    """A body that must be complete before a deadline."""

    def __init__(self, response: httpx.Response, deadline: float) -> None:
        self._stream = response.stream
        self._request = response.request
        self._deadline = deadline

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._stream, httpx.AsyncByteStream)
        async for chunk in self._stream:
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("The response took too long.", request=self._request)
            yield chunk

    async def aclose(self) -> None:
        assert isinstance(self._stream, httpx.AsyncByteStream)
        await self._stream.aclose()


def _deadline(request: httpx.Request) -> float | None:
    limit: float | None = request.extensions["timeout"].get("read")
    return None if limit is None else time.monotonic() + limit
