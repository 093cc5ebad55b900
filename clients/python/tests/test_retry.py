from __future__ import annotations

import time
from email.utils import formatdate

import httpx
import pytest

from runyard._retry import retry_seconds, should_retry


def get_wait(**headers: str) -> float | None:
    return retry_seconds(0, httpx.Headers({name.replace("_", "-"): value for name, value in headers.items()}))


@pytest.mark.parametrize(("attempt", "most"), [(0, 0.5), (1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (10_000, 8)])
def test_waits_are_random_up_to_a_growing_bound(attempt: int, most: float) -> None:
    waits = [retry_seconds(attempt) or 0 for _ in range(400)]
    assert 0 <= min(waits) < most * 0.1
    assert most * 0.9 < max(waits) <= most


def test_milliseconds_take_precedence_over_seconds() -> None:
    assert get_wait(retry_after_ms="1500", retry_after="7") == 1.5


@pytest.mark.parametrize(("value", "seconds"), [("0", 0), ("7", 7), ("0.25", 0.25), (" 60 ", 60)])
def test_seconds_are_respected(value: str, seconds: float) -> None:
    assert get_wait(retry_after=value) == seconds


def test_dates_are_respected_and_past_dates_mean_now() -> None:
    wait = get_wait(retry_after=formatdate(time.time() + 20, usegmt=True))
    assert wait is not None
    assert 18 <= wait <= 20
    assert get_wait(retry_after=formatdate(time.time() - 500, usegmt=True)) == 0


def test_more_than_a_minute_means_no_retry() -> None:
    assert get_wait(retry_after="61") is None
    assert get_wait(retry_after_ms="60001") is None
    assert get_wait(retry_after=formatdate(time.time() + 90, usegmt=True)) is None


@pytest.mark.parametrize("value", ["", "soon", "-1", "nan", "inf", "1e9", "Mon, 99 Foo"])
def test_unreadable_values_are_ignored(value: str) -> None:
    wait = get_wait(retry_after=value)
    assert wait is not None
    assert 0 <= wait <= 0.5


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_temporary_failures_are_retried_with_any_body(status: int) -> None:
    assert should_retry(httpx.Response(status))
    assert should_retry(httpx.Response(status, text="<html>"))
    assert not should_retry(httpx.Response(status, headers={"x-should-retry": "false"}))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 422, 426])
def test_client_errors_are_retried_only_if_the_response_says_so(status: int) -> None:
    assert not should_retry(httpx.Response(status))
    assert should_retry(httpx.Response(status, headers={"x-should-retry": "true"}))


def test_a_conflict_is_retried_if_its_body_says_so() -> None:
    assert should_retry(httpx.Response(409, json={"retryable": True}))
    assert not should_retry(httpx.Response(409, json={"retryable": "true"}))
    assert not should_retry(httpx.Response(409, json=[True]))
    assert not should_retry(httpx.Response(409, content=b"["))
