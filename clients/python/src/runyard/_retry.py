"""When a request is sent again, and after how long. No I/O."""

from __future__ import annotations

import email.utils
import json
import random
import re
import time

import httpx

INITIAL_SECONDS = 0.5
MAX_SECONDS = 8.0
MAX_RETRY_AFTER_SECONDS = 60.0


def should_retry(response: httpx.Response) -> bool:
    """Whether the answer says, or its status means, that the same request may succeed later."""
    said = response.headers.get("x-should-retry")
    if said == "true":
        return True
    if said == "false":
        return False
    status = response.status_code
    if status == 409:
        return _is_retryable_problem(response)
    return status in (408, 429) or status >= 500


def retry_seconds(attempt: int, headers: httpx.Headers | None = None) -> float | None:
    """How long to wait after the `attempt`-th try, counted from 0; `None`: longer than anybody wants to wait.

    What the answer asks for; else anything from nothing to an exponentially growing bound, so that clients that failed
    together do not come back together.
    """
    asked = _asked_seconds(headers) if headers is not None else None
    if asked is not None:
        return asked if asked <= MAX_RETRY_AFTER_SECONDS else None
    return random.uniform(0, min(MAX_SECONDS, INITIAL_SECONDS * 2.0 ** min(attempt, 30)))


def _asked_seconds(headers: httpx.Headers) -> float | None:
    milliseconds = headers.get("retry-after-ms", "").strip()
    if _NUMBER.fullmatch(milliseconds):
        return float(milliseconds) / 1000
    after = headers.get("retry-after", "").strip()
    if _NUMBER.fullmatch(after):
        return float(after)
    moment = email.utils.parsedate_tz(after)
    return None if moment is None else max(0.0, email.utils.mktime_tz(moment) - time.time())


_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


def _is_retryable_problem(response: httpx.Response) -> bool:
    try:
        body = json.loads(response.content)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and body.get("retryable") is True
