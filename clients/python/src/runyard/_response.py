"""A response with its headers and its parsed value."""

from __future__ import annotations

import json
from typing import Any, Generic, TypeVar

import httpx

T_co = TypeVar("T_co", covariant=True)


class APIResponse(Generic[T_co]):
    """The result of `with_raw_response`: status, headers, body, and the value from `parse()`."""

    http_response: httpx.Response
    """The response of httpx. Its body has been read."""
    retries_taken: int
    """The number of retries."""

    def __init__(self, http_response: httpx.Response, value: T_co, retries_taken: int) -> None:
        self.http_response = http_response
        self.retries_taken = retries_taken
        self._value = value

    def parse(self) -> T_co:
        """Returns what the method returns without `with_raw_response`."""
        return self._value

    @property
    def status_code(self) -> int:
        return self.http_response.status_code

    @property
    def headers(self) -> httpx.Headers:
        return self.http_response.headers

    @property
    def request_id(self) -> str | None:
        """The id to quote in a support request."""
        value: str | None = self.http_response.headers.get("x-request-id")
        return value

    @property
    def content(self) -> bytes:
        return self.http_response.content

    @property
    def text(self) -> str:
        return self.http_response.text

    def __repr__(self) -> str:
        return f"<APIResponse [{self.status_code}] {type(self._value).__name__}>"


def list_warnings(response: httpx.Response) -> list[str]:
    """Returns the warnings of a response, such as members of the request that the service does not know."""
    # Most responses have none, which their bytes show.
    if b'"warnings"' not in response.content:
        return []
    try:
        body: Any = json.loads(response.content)
    except (ValueError, RecursionError):
        return []
    warnings = body.get("warnings") if isinstance(body, dict) else None
    if not isinstance(warnings, list):
        return []
    return [f"{one.get('path')}: {one.get('message')}" for one in warnings if isinstance(one, dict)]
