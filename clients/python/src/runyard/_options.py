"""What a single call may say beside its own arguments, and the mark for what was not said at all."""

from __future__ import annotations

from typing import Any, Mapping, Union

import httpx
from typing_extensions import Literal, TypedDict


class NotGiven:
    """Stands for an argument that was left out, where `None` would mean JSON's `null`."""

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven()

TimeoutTypes = Union[float, httpx.Timeout, None]


class RequestOptions(TypedDict, total=False):
    """Every method takes these as keyword arguments; they hold for that call alone."""

    timeout: TimeoutTypes
    """Seconds, or an `httpx.Timeout`; `None` waits for ever. Default: the client's."""
    max_retries: int
    """How often the call is repeated after a failure that may pass. Default: the client's."""
    idempotency_key: str
    """For a POST: repeats with this key and the same body are answered as the first one was, for 24 hours.
    Default: a random key, the same over the retries of one call."""
    extra_headers: Mapping[str, str]
    """Headers to send too; they win over the client's."""
    extra_query: Mapping[str, Any]
    """Parameters of the query to send too."""
    extra_body: Mapping[str, Any]
    """Members of the JSON body to send too."""
