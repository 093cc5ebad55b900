from __future__ import annotations

import re

import httpx
import pytest
from fault_server import FaultServer

import runyard
from runyard import Runyard, errors
from runyard.errors import status_error


def answer(status: int, **more: object) -> httpx.Response:
    request = httpx.Request("GET", "http://127.0.0.1/api/v1/agent/me", headers={"authorization": "Bearer ryp_secret"})
    return httpx.Response(status, request=request, **more)  # type: ignore[arg-type]


def test_the_drawn_tree_is_the_classes() -> None:
    drawn = errors.__doc__ or ""
    for line in drawn.splitlines():
        found = re.match(r"    ([│├└ ─]*)(\w+Error)\b", line)
        if found is None:
            continue
        depth = len(found[1]) // 4
        cls = getattr(runyard, found[2])
        assert len([base for base in cls.__mro__ if base.__module__ == "runyard.errors"]) - 1 == depth
    names = [name for name, value in vars(errors).items() if isinstance(value, type) and name.endswith("Error")]
    assert [name for name in names if name != "FieldError" and name not in drawn] == []


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (304, runyard.APIStatusError),
        (400, runyard.BadRequestError),
        (401, runyard.AuthenticationError),
        (403, runyard.PermissionDeniedError),
        (404, runyard.NotFoundError),
        (409, runyard.ConflictError),
        (413, runyard.APIStatusError),
        (422, runyard.UnprocessableEntityError),
        (429, runyard.RateLimitError),
        (500, runyard.InternalServerError),
        (599, runyard.InternalServerError),
    ],
)
def test_each_status_has_its_error(status: int, kind: type[runyard.APIStatusError]) -> None:
    assert type(status_error(answer(status))) is kind


def test_a_gateways_page_is_an_error_too() -> None:
    error = status_error(answer(502, text="<html>Bad Gateway</html>", headers={"x-request-id": "g-1"}))
    assert (error.body, error.error_code, error.retryable, error.errors) == ("<html>Bad Gateway</html>", None, None, [])
    assert (error.request_id, error.trace_id, error.message) == ("g-1", "g-1", "502 Bad Gateway")


@pytest.mark.parametrize("body", [{"errors": "no", "retryable": "yes", "title": 7}, [1], "text", {"errors": [1, {}]}])
def test_a_problem_that_is_none_raises_nothing_else(body: object) -> None:
    error = status_error(answer(400, json=body))
    assert error.body == body
    assert (error.retryable, error.title) == (None, None)


def test_no_error_shows_the_key(server: FaultServer) -> None:
    server.play([{"status": 401, "body": {"title": "A valid API key is required"}}])
    with Runyard(api_key="ryp_secret", base_url=server.api) as client:
        with pytest.raises(runyard.AuthenticationError) as caught:
            client.me.retrieve()
    assert "ryp_secret" not in str(caught.value) + repr(caught.value) + repr(caught.value.request.headers)
    assert str(caught.value) == "401 A valid API key is required"


def test_a_refused_connection_names_its_cause(waits: list[float]) -> None:
    with Runyard(api_key="k", base_url="http://127.0.0.1:1/api/v1") as client:
        with pytest.raises(runyard.APIConnectionError) as caught:
            client.me.retrieve()
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    assert len(waits) == 2


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/api/v1", "127.0.0.1/api/v1"])
def test_an_address_that_is_none_is_not_tried_again(url: str, waits: list[float]) -> None:
    with Runyard(api_key="k", base_url=url) as client, pytest.raises(runyard.APIConnectionError):
        client.me.retrieve()
    assert waits == []


def test_a_key_that_is_no_header_is_not_tried_again(server: FaultServer, waits: list[float]) -> None:
    with Runyard(api_key="line\nbreak", base_url=server.api) as client, pytest.raises(runyard.APIConnectionError):
        client.me.retrieve()
    assert (waits, server.seen) == ([], [])
