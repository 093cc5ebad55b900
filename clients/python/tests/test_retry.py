from __future__ import annotations

import time
from email.utils import formatdate

import httpx
import pytest

from runyard._retry import retry_seconds, should_retry


def asked(**headers: str) -> float | None:
    return retry_seconds(0, httpx.Headers({name.replace("_", "-"): value for name, value in headers.items()}))


@pytest.mark.parametrize(("attempt", "most"), [(0, 0.5), (1, 1), (2, 2), (3, 4), (4, 8), (5, 8), (10_000, 8)])
def test_waits_spread_from_nothing_to_a_growing_bound(attempt: int, most: float) -> None:
    waits = [retry_seconds(attempt) or 0 for _ in range(400)]
    assert 0 <= min(waits) < most * 0.1
    assert most * 0.9 < max(waits) <= most


def test_milliseconds_win_over_seconds() -> None:
    assert asked(retry_after_ms="1500", retry_after="7") == 1.5


@pytest.mark.parametrize(("value", "seconds"), [("0", 0), ("7", 7), ("0.25", 0.25), (" 60 ", 60)])
def test_seconds_are_kept_to(value: str, seconds: float) -> None:
    assert asked(retry_after=value) == seconds


def test_dates_are_kept_to_and_those_past_mean_now() -> None:
    wait = asked(retry_after=formatdate(time.time() + 20, usegmt=True))
    assert wait is not None
    assert 18 <= wait <= 20
    assert asked(retry_after=formatdate(time.time() - 500, usegmt=True)) == 0


def test_more_than_a_minute_is_not_waited_for() -> None:
    assert asked(retry_after="61") is None
    assert asked(retry_after_ms="60001") is None
    assert asked(retry_after=formatdate(time.time() + 90, usegmt=True)) is None


@pytest.mark.parametrize("value", ["", "soon", "-1", "nan", "inf", "1e9", "Mon, 99 Foo"])
def test_what_cannot_be_read_is_not_asked_for(value: str) -> None:
    wait = asked(retry_after=value)
    assert wait is not None
    assert 0 <= wait <= 0.5


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504, 529])
def test_failures_that_pass_are_tried_again_whatever_their_body(status: int) -> None:
    assert should_retry(httpx.Response(status))
    assert should_retry(httpx.Response(status, text="<html>"))
    assert not should_retry(httpx.Response(status, headers={"x-should-retry": "false"}))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 422, 426])
def test_refusals_are_not_unless_they_say_so(status: int) -> None:
    assert not should_retry(httpx.Response(status))
    assert should_retry(httpx.Response(status, headers={"x-should-retry": "true"}))


def test_a_conflict_is_tried_again_where_its_body_says_so() -> None:
    assert should_retry(httpx.Response(409, json={"retryable": True}))
    assert not should_retry(httpx.Response(409, json={"retryable": "true"}))
    assert not should_retry(httpx.Response(409, json=[True]))
    assert not should_retry(httpx.Response(409, content=b"["))
