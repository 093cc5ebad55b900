"""Whether and when to retry a request. No I/O."""

from __future__ import annotations

import email.utils
import json
import math
import random
import re
import time

import httpx

from .errors import APIError, APIStatusError

INITIAL_SECONDS = 0.5
MAX_SECONDS = 8.0
MAX_RETRY_AFTER_SECONDS = 60.0


class DeadlineError(Exception):
    """The deadline of a call has passed. `__cause__` is the error of its last attempt, if there was one."""


def seconds_until(deadline: float | None) -> float:
    """Returns the seconds until a moment of `time.monotonic()`, 0 after it, and infinity without one."""
    return math.inf if deadline is None else max(0.0, deadline - time.monotonic())


def limit_timeout(timeout: httpx.Timeout, seconds: float) -> httpx.Timeout:
    """Returns a timeout none of whose parts is longer than `seconds`."""
    if seconds == math.inf:
        return timeout
    limited = {name: seconds if each is None else min(each, seconds) for name, each in timeout.as_dict().items()}
    return httpx.Timeout(**limited)


_PERMANENT_ERRORS = (httpx.LocalProtocolError, httpx.UnsupportedProtocol, httpx.TooManyRedirects)


def wait_before_retry(error: APIError, attempt: int) -> float | None:
    """Returns the seconds to wait after an attempt, counted from 0, has failed. `None` if the error is permanent."""
    if isinstance(error, APIStatusError):
        return retry_seconds(attempt, error.response.headers) if should_retry(error.response) else None
    return None if isinstance(error.__cause__, _PERMANENT_ERRORS) else retry_seconds(attempt)


def should_retry(response: httpx.Response) -> bool:
    """Whether the header or status of a response says that the same request may succeed later."""
    override = response.headers.get("x-should-retry")
    if override == "true":
        return True
    if override == "false":
        return False
    status = response.status_code
    if status == 409:
        return _is_retryable_problem(response)
    return status in (408, 429) or status >= 500


def retry_seconds(attempt: int, headers: httpx.Headers | None = None) -> float | None:
    """Returns the seconds to wait after an attempt, counted from 0.

    Returns `None` if the response requests more than a minute. Without a requested wait, the wait is random up to an
    exponentially growing bound, so that clients that fail together do not retry together.
    """
    requested = _read_retry_after(headers) if headers is not None else None
    if requested is not None:
        return requested if requested <= MAX_RETRY_AFTER_SECONDS else None
    return random.uniform(0, min(MAX_SECONDS, INITIAL_SECONDS * 2.0 ** min(attempt, 30)))


def _read_retry_after(headers: httpx.Headers) -> float | None:
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
