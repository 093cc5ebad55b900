from __future__ import annotations

import pickle
import re
from typing import Any

import httpx
import pytest
from fault_server import FaultServer

import runyard
from runyard import Runyard, errors
from runyard.errors import status_error


def make_response(status: int, **more: object) -> httpx.Response:
    request = httpx.Request("GET", "http://127.0.0.1/api/v1/agent/me", headers={"authorization": "Bearer ryp_secret"})
    return httpx.Response(status, request=request, **more)  # type: ignore[arg-type]


def test_the_documented_tree_matches_the_classes() -> None:
    documented = errors.__doc__ or ""
    for line in documented.splitlines():
        found = re.match(r"    ([│├└ ─]*)(\w+Error)\b", line)
        if found is None:
            continue
        depth = len(found[1]) // 4
        cls = getattr(runyard, found[2])
        assert len([base for base in cls.__mro__ if base.__module__ == "runyard.errors"]) - 1 == depth
    names = [name for name, value in vars(errors).items() if isinstance(value, type) and name.endswith("Error")]
    assert [name for name in names if name != "FieldError" and name not in documented] == []


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
    assert type(status_error(make_response(status))) is kind


def test_an_html_response_of_a_gateway_is_an_error() -> None:
    error = status_error(make_response(502, text="<html>Bad Gateway</html>", headers={"x-request-id": "g-1"}))
    assert (error.body, error.error_code, error.retryable, error.errors) == ("<html>Bad Gateway</html>", None, None, [])
    assert (error.request_id, error.trace_id, error.message) == ("g-1", "g-1", "502 Bad Gateway")


@pytest.mark.parametrize("body", [{"errors": "no", "retryable": "yes", "title": 7}, [1], "text", {"errors": [1, {}]}])
def test_a_malformed_problem_raises_no_other_error(body: object) -> None:
    error = status_error(make_response(400, json=body))
    assert error.body == body
    assert (error.retryable, error.title) == (None, None)


def test_no_error_shows_the_key(server: FaultServer) -> None:
    server.play([{"status": 401, "body": {"title": "A valid API key is required"}}])
    with Runyard(api_key="ryp_secret", base_url=server.api) as client:
        with pytest.raises(runyard.AuthenticationError) as caught:
            client.me.retrieve()
    assert "ryp_secret" not in str(caught.value) + repr(caught.value) + repr(caught.value.request.headers)
    assert str(caught.value) == "401 A valid API key is required"


def test_errors_keep_their_attributes_when_pickled() -> None:
    problem = {"error_code": "conflict", "retryable": True, "errors": [{"path": "a", "message": "b"}]}
    error = pickle.loads(pickle.dumps(status_error(make_response(409, json=problem))))
    assert type(error) is runyard.ConflictError
    assert (error.status_code, error.error_code, error.errors[0].path, error.body) == (409, "conflict", "a", problem)
    late = pickle.loads(pickle.dumps(runyard.APITimeoutError(request=make_response(200).request)))
    assert (type(late), str(late)) == (runyard.APITimeoutError, "The request timed out.")
    assert pickle.loads(pickle.dumps(runyard.RunTimeoutError("r1"))).run_id == "r1"


def test_a_retry_is_logged_without_query_or_key(server: FaultServer, waits: list[float], caplog: Any) -> None:
    server.play([{"status": 503, "body": {"error": "Busy"}}, {"body": {"runs": []}}])
    with caplog.at_level("INFO", logger="runyard"), Runyard(api_key="ryp_secret", base_url=server.api) as client:
        client.runs.list(q="private")
    (line,) = [record.getMessage() for record in caplog.records if record.name == "runyard"]
    assert re.fullmatch(r"503 Busy, so GET /api/v1/agent/runs is sent again in 0\.\d\d s", line)


def test_a_refused_connection_names_its_cause(waits: list[float]) -> None:
    with Runyard(api_key="k", base_url="http://127.0.0.1:1/api/v1") as client:
        with pytest.raises(runyard.APIConnectionError) as caught:
            client.me.retrieve()
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    assert len(waits) == 2


def test_a_request_that_cannot_be_sent_is_not_retried(server: FaultServer, waits: list[float]) -> None:
    headers = {"x-note": "line\nbreak"}
    with Runyard(api_key="k", base_url=server.api, default_headers=headers) as client:
        with pytest.raises(runyard.APIConnectionError):
            client.me.retrieve()
    assert (waits, server.seen) == ([], [])
