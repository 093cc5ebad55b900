"""Every operation of docs/openapi.json has a method, which sends the documented request."""

from __future__ import annotations

import inspect
import re
from functools import reduce
from typing import Any

import httpx
import pytest
from fault_server import BASE_PATH, FaultServer
from repository import CLIENT, METHODS, operations

from runyard import AsyncRunyard, Runyard

OPERATIONS = operations()
ALIASES = {"createRunAtOlderPath": "createRun"}
"""Operations at a second path, which share the method of the first."""

SYNCHRONOUS = Runyard(api_key="k", base_url="http://127.0.0.1:9/api/v1", http_client=httpx.Client(verify=False))
ASYNCHRONOUS = AsyncRunyard(
    api_key="k", base_url="http://127.0.0.1:9/api/v1", http_client=httpx.AsyncClient(verify=False)
)


def find(client: Any, dotted: str) -> Any:
    return reduce(getattr, dotted.split("."), client)


def test_methods_json_names_every_operation_once() -> None:
    assert set(METHODS) == set(OPERATIONS)
    methods = [method for operation, method in METHODS.items() if operation not in ALIASES]
    assert len(set(methods)) == len(methods)


@pytest.mark.parametrize("operation_id", sorted(OPERATIONS.keys() - ALIASES.keys()))
def test_method_requests_its_operation(operation_id: str, server: FaultServer, client: Runyard) -> None:
    operation = OPERATIONS[operation_id]
    method = find(client, METHODS[operation_id])
    returns_text = inspect.signature(method).return_annotation == "str"
    server.play([{"body": "text" if returns_text else {}}])

    result = method(*positional(operation), **required(method))
    assert (result == "text") == returns_text
    (seen,) = server.seen
    assert (seen.method, seen.path) == (operation["verb"], path_of(operation))
    assert ("idempotency-key" in seen.headers) == (operation["verb"] == "POST")
    assert bool(seen.body) == ("requestBody" in operation)
    declared = {parameter["name"] for parameter in operation.get("parameters", []) if "in" in parameter}
    assert {name.split("=")[0] for name in seen.raw_query.split("&") if name} <= declared


@pytest.mark.parametrize("operation_id", sorted(OPERATIONS.keys() - ALIASES.keys()))
def test_both_clients_take_the_same_parameters(operation_id: str) -> None:
    synchronous = find(SYNCHRONOUS, METHODS[operation_id])
    asynchronous = find(ASYNCHRONOUS, METHODS[operation_id])
    taken = inspect.signature(synchronous).parameters
    assert list(taken) == list(inspect.signature(asynchronous).parameters)
    operation = OPERATIONS[operation_id]
    declared = {parameter["name"] for parameter in operation.get("parameters", []) if parameter.get("in") == "query"}
    # Other methods do what these parameters do: `create_and_wait` follows a run in place of `wait`.
    assert declared - {"redirect", "dry_run", "wait"} <= {name.rstrip("_") for name in taken}


def test_api_md_lists_every_method() -> None:
    text = (CLIENT / "api.md").read_text(encoding="utf-8")
    assert [method for method in METHODS.values() if f"| `{method}(" not in text] == []


def positional(operation: dict[str, Any]) -> list[str]:
    return ["x 1" for _ in re.findall(r"\{\w+\}", operation["path"])]


def path_of(operation: dict[str, Any]) -> str:
    return re.sub(r"\{\w+\}", "x%201", operation["path"]).replace(BASE_PATH, "")


def required(method: Any) -> dict[str, str]:
    parameters = inspect.signature(method).parameters.values()
    return {
        each.name: "x"
        for each in parameters
        if each.kind is each.KEYWORD_ONLY and each.default is inspect.Parameter.empty
    }
