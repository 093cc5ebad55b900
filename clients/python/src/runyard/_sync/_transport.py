# Generated from src/runyard/_async/_transport.py by scripts/generate: do not edit.
from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import Any, Callable, Iterator, Mapping, TypeVar

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


class Transport:
    """Sends requests and retries temporary failures."""

    _settings: Settings
    _headers: dict[str, str]
    _http: httpx.Client
    _deadline: float | None = None
    """The moment of `time.monotonic()` at which all calls end with `DeadlineError`."""

    def _until(self, deadline: float | None) -> Transport:
        """Returns a transport with the same settings and connections, and a deadline."""
        made = Transport()
        made._settings, made._headers, made._http = self._settings, self._headers, self._http
        made._deadline = deadline
        return made

    def _call(
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
        response = self._repeat(call, lambda response: decode(response, cast_to))
        for warning in list_warnings(response.http_response):
            LOGGER.warning("%s %s: %s", method, path, warning)
        return response

    @contextmanager
    def _stream(self, url: str, options: RequestOptions) -> Iterator[httpx.Response]:
        """Fetches a signed URL without the API's headers and credentials. The body is not read."""
        call = Call.plain(self._settings, "GET", url, options=options)
        response = self._repeat(call, lambda response: None, stream=True)
        try:
            yield response.http_response
        finally:
            response.http_response.close()

    def _repeat(self, call: Call, read: Callable[[httpx.Response], T], stream: bool = False) -> APIResponse[T]:
        attempt = 0
        error: APIError | None = None
        while True:
            left = seconds_until(self._deadline)
            if left == 0:
                raise DeadlineError from error
            headers = call.headers_of(attempt)
            if callable(self._settings.api_key) and not call.signed and "authorization" not in headers:
                key = check_key(invoke(self._settings.api_key))
                headers = {**headers, "authorization": f"Bearer {key}"}
            timeout = limit_timeout(call.timeout, left)
            request = self._http.build_request(
                call.method, call.url, content=call.content, headers=headers, timeout=timeout
            )
            try:
                response = self._send(request, stream, call.signed)
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
            sleep(min(wait, left))
            attempt += 1

    def _send(self, request: httpx.Request, stream: bool, signed: bool) -> httpx.Response:
        """One attempt. Unless the body is streamed, the time limit applies to the whole response, not to each chunk."""
        auth = None if signed else httpx.USE_CLIENT_DEFAULT
        deadline = _deadline(request)
        response = self._http.send(request, auth=auth, follow_redirects=True, stream=True)
        if stream and response.is_success:
            return response
        if deadline is not None:
            response.stream = DeadlineStream(response, deadline)
        try:
            response.read()
        except BaseException:
            response.close()
            raise
        return response


class DeadlineStream(httpx.SyncByteStream):
    """A body that must be complete before a deadline."""

    def __init__(self, response: httpx.Response, deadline: float) -> None:
        self._stream = response.stream
        self._request = response.request
        self._deadline = deadline

    def __iter__(self) -> Iterator[bytes]:
        assert isinstance(self._stream, httpx.SyncByteStream)
        for chunk in self._stream:
            if time.monotonic() > self._deadline:
                raise httpx.ReadTimeout("The response took too long.", request=self._request)
            yield chunk

    def close(self) -> None:
        assert isinstance(self._stream, httpx.SyncByteStream)
        self._stream.close()


def _deadline(request: httpx.Request) -> float | None:
    limit: float | None = request.extensions["timeout"].get("read")
    return None if limit is None else time.monotonic() + limit
