"""Runs test/clients/vectors.json, which the clients of all languages share, with both clients."""

from __future__ import annotations

import inspect
import json
import re
from functools import reduce
from typing import Any, AsyncIterator, Iterator
from urllib.parse import parse_qsl

import anyio
import pytest
from fault_server import FaultServer, Seen
from repository import METHODS, operations, read_json

import runyard
from runyard import AsyncRunyard, Runyard

VECTORS: list[dict[str, Any]] = read_json("test/clients/vectors.json")["vectors"]
OPERATIONS = operations()

HELPERS = {
    "events": "runs.events",
    "follow_until_done": "runs.follow_until_done",
    "create_and_wait": "runs.create_and_wait",
    "download_transcript": "runs.download_transcript",
    "download_artifact": "artifacts.download",
}

KINDS = {
    "bad_request": runyard.BadRequestError,
    "authentication": runyard.AuthenticationError,
    "permission_denied": runyard.PermissionDeniedError,
    "not_found": runyard.NotFoundError,
    "conflict": runyard.ConflictError,
    "unprocessable_entity": runyard.UnprocessableEntityError,
    "rate_limit": runyard.RateLimitError,
    "internal_server": runyard.InternalServerError,
    "status": runyard.APIStatusError,
    "connection": runyard.APIConnectionError,
    "timeout": runyard.APITimeoutError,
}


PATIENCE = 3
"""Multiplies all times of a vector, for busy machines."""


@pytest.mark.parametrize("flavour", ["sync", "async"])
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_vector(vector: dict[str, Any], flavour: str, server: FaultServer, waits: list[float]) -> None:
    server.play(vector["server"], PATIENCE)
    settings = settings_of(vector, server)
    play = play_sync if flavour == "sync" else play_async
    outcome = play(settings, vector["call"], vector["expect"]["outcome"])

    assert server.mismatches == []
    assert server.script == [], "unused responses of the script"
    expected = vector["expect"]
    assert len(server.seen) == len(expected["requests"])
    for seen, wanted in zip(server.seen, expected["requests"]):
        check_request(seen, wanted, server.seen)
    if "waits_ms" in expected:
        assert len(waits) == len(expected["waits_ms"])
        for seconds, (least, most) in zip(waits, expected["waits_ms"]):
            assert least <= seconds * 1000 <= most
    check_outcome(outcome, expected["outcome"])


def settings_of(vector: dict[str, Any], server: FaultServer) -> dict[str, Any]:
    given = vector.get("client", {})
    settings = {
        "api_key": given.get("api_key", "ryp_vector"),
        "base_url": server.api,
        "team_uid": given.get("team"),
        "default_headers": given.get("headers"),
        "max_retries": given.get("max_retries", 2),
    }
    return {**settings, "timeout": given["timeout_ms"] * PATIENCE / 1000} if "timeout_ms" in given else settings


def play_sync(settings: dict[str, Any], call: dict[str, Any], wanted: dict[str, Any]) -> Any:
    with Runyard(**settings) as client:
        try:
            result = invoke(client, call)
            if hasattr(result, "__enter__"):
                with result as download:
                    return download.read().decode()
            is_list = isinstance(result, (runyard.Page, Iterator))
            return list(result) if is_list and "result" not in wanted else result
        except runyard.RunyardError as error:
            return error


def play_async(settings: dict[str, Any], call: dict[str, Any], wanted: dict[str, Any]) -> Any:
    async def play() -> Any:
        async with AsyncRunyard(**settings) as client:
            try:
                result = invoke(client, call)
                if hasattr(result, "__aenter__"):
                    async with result as download:
                        return (await download.read()).decode()
                is_list = isinstance(result, (runyard.AsyncPaginator, AsyncIterator))
                return [item async for item in result] if is_list and "result" not in wanted else await result
            except runyard.RunyardError as error:
                return error

    return anyio.run(play)


def invoke(client: Any, call: dict[str, Any]) -> Any:
    given = dict(call["arguments"])
    options = dict(call.get("options", {}))
    if "team" in options:
        client = client.with_options(team_uid=options.pop("team"))
    if "timeout_ms" in options:
        options["timeout"] = options.pop("timeout_ms") * PATIENCE / 1000
    if "headers" in options:
        options["extra_headers"] = options.pop("headers")
    if "helper" in call:
        method = find(client, HELPERS[call["helper"]])
        in_path = [name for name in ("run_id", "artifact_uid") if name in given]
    else:
        method = find(client, METHODS[call["operation"]])
        in_path = [snake(name) for name in re.findall(r"\{(\w+)\}", OPERATIONS[call["operation"]]["path"])]
        known = inspect.signature(method).parameters
        options["extra_body"] = {name: given.pop(name) for name in list(given) if name not in known}
    if call.get("operation") == "getTranscript":
        options.pop("extra_body")  # The client sends redirect=false itself.
    positional = [given.pop(name) for name in in_path]
    return method(*positional, **given, **options)


def find(client: Any, dotted: str) -> Any:
    return reduce(getattr, dotted.split("."), client)


def snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def check_request(seen: Seen, wanted: dict[str, Any], all_seen: list[Seen]) -> None:
    if "at" in wanted or "path" in wanted:
        assert seen.at == wanted.get("at", "api")
    if "method" in wanted:
        assert seen.method == wanted["method"]
    if "path" in wanted:
        assert seen.path == wanted["path"]
    if "query" in wanted:
        assert query_of(seen) == wanted["query"]
    for part in wanted.get("raw_query_contains", []):
        assert part in seen.raw_query
    for name, rule in wanted.get("headers", {}).items():
        check_header(seen.headers.get(name), name, rule, all_seen)
    for name in wanted.get("absent_headers", []):
        assert name not in seen.headers
    if "body" in wanted:
        assert (json.loads(seen.body) if seen.body else None) == wanted["body"]


def query_of(seen: Seen) -> dict[str, Any]:
    values: dict[str, list[str]] = {}
    for name, value in parse_qsl(seen.raw_query, keep_blank_values=True):
        values.setdefault(name, []).append(value)
    return {name: each[0] if len(each) == 1 else each for name, each in values.items()}


def check_header(value: str | None, name: str, rule: Any, all_seen: list[Seen]) -> None:
    if isinstance(rule, str):
        assert value == rule
    elif "matches" in rule:
        assert value is not None
        assert re.search(rule["matches"], value)
    elif "same_as" in rule:
        assert value == all_seen[rule["same_as"]].headers.get(name)
    else:
        assert value != all_seen[rule["differs_from"]].headers.get(name)


def check_outcome(outcome: Any, wanted: dict[str, Any]) -> None:
    if "error" in wanted:
        check_error(outcome, wanted["error"])
    elif isinstance(outcome, BaseException):
        raise outcome
    elif "items" in wanted:
        assert [plain(item) for item in outcome] == wanted["items"]
    elif "text" in wanted:
        assert outcome == wanted["text"]
    else:
        assert plain(outcome) == wanted["result"]


def check_error(outcome: Any, wanted: dict[str, Any]) -> None:
    assert isinstance(outcome, runyard.APIError), outcome
    assert isinstance(outcome, KINDS[wanted["kind"]]), outcome
    if wanted["kind"] == "status":
        assert type(outcome) is runyard.APIStatusError
    if wanted["kind"] == "connection":
        assert not isinstance(outcome, runyard.APITimeoutError)
    for name, value in wanted.items():
        if name == "errors":
            assert [each._asdict() for each in outcome.errors] == value
        elif name != "kind":
            assert getattr(outcome, "status_code" if name == "status" else name) == value


def plain(value: Any) -> Any:
    return value.to_dict() if isinstance(value, runyard.BaseModel) else value
