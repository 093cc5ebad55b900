"""An answer with its value, for those who want its headers too."""

from __future__ import annotations

from typing import Generic, TypeVar

import httpx

T_co = TypeVar("T_co", covariant=True)


class APIResponse(Generic[T_co]):
    """What `with_raw_response` gives: status, headers and body of the answer, and the value in `parse()`."""

    http_response: httpx.Response
    """The answer as httpx has it, its body read."""
    retries_taken: int
    """How often the request was sent again."""

    def __init__(self, http_response: httpx.Response, value: T_co, retries_taken: int) -> None:
        self.http_response = http_response
        self.retries_taken = retries_taken
        self._value = value

    def parse(self) -> T_co:
        """What the method would have answered by itself."""
        return self._value

    @property
    def status_code(self) -> int:
        return self.http_response.status_code

    @property
    def headers(self) -> httpx.Headers:
        return self.http_response.headers

    @property
    def request_id(self) -> str | None:
        """Name this one when you report a problem."""
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
