"""The options of a single call, and the marker for omitted arguments."""

from __future__ import annotations

from typing import Any, Mapping, Union

import httpx
from typing_extensions import Literal, TypedDict


class NotGiven:
    """Marks an argument as omitted, where `None` would mean JSON's `null`."""

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()

TimeoutTypes = Union[float, httpx.Timeout, None]


class RequestOptions(TypedDict, total=False):
    """The keyword arguments of every method. They apply to that call only."""

    timeout: TimeoutTypes
    """Seconds, or an `httpx.Timeout`; `None` for no limit. Default: the client's."""
    max_retries: int
    """The number of retries after a temporary failure. Default: the client's."""
    idempotency_key: str
    """For a POST: requests with the same key and body return the first response for 24 hours.
    Default: a random key, which the retries of the call reuse."""
    extra_headers: Mapping[str, str]
    """Additional headers. They override the client's."""
    extra_query: Mapping[str, Any]
    """Additional query parameters."""
    extra_body: Mapping[str, Any]
    """Additional members of the JSON body."""
