"""The examples of docs/openapi.json match the models, and invalid responses are parsed too."""

from __future__ import annotations

import json
import random
from typing import Any, Iterator

import pytest
from fault_server import FaultServer
from repository import METHODS
from test_operations import ALIASES, OPERATIONS, find, positional, required

from runyard import BaseModel, Page, Runyard


def examples() -> Iterator[Any]:
    for operation_id, operation in OPERATIONS.items():
        status = min(code for code in operation["responses"] if code.startswith("2"))
        content = operation["responses"][status].get("content", {}).get("application/json", {})
        given = [content["example"]] if "example" in content else []
        given += [each["value"] for each in content.get("examples", {}).values()]
        for number, example in enumerate(given):
            if operation_id not in ALIASES and isinstance(example, dict) and operation_id != "getOpenapi":
                yield pytest.param(operation_id, example, id=f"{operation_id}-{number}")


EXAMPLES = list(examples())


def fetch_response(operation_id: str, body: Any, server: FaultServer, client: Runyard) -> BaseModel:
    server.play([{"body": body}])
    method = find(client, METHODS[operation_id])
    result = method(*positional(OPERATIONS[operation_id]), **required(method))
    return result.body if isinstance(result, Page) else result


@pytest.mark.parametrize(("operation_id", "example"), EXAMPLES)
def test_example_matches_its_model_and_is_serialized_unchanged(
    operation_id: str, example: dict[str, Any], server: FaultServer, client: Runyard
) -> None:
    response = fetch_response(operation_id, example, server, client)
    assert response.to_dict() == example
    assert type(response).model_validate_json(json.dumps(example)) == response


@pytest.mark.parametrize(("operation_id", "example"), EXAMPLES)
def test_modified_example_is_parsed_and_serialized_unchanged(
    operation_id: str, example: dict[str, Any], server: FaultServer, client: Runyard
) -> None:
    chance = random.Random(operation_id)
    for _ in range(20):
        tampered = tamper(example, chance)
        assert fetch_response(operation_id, tampered, server, client).to_dict() == tampered


def tamper(value: Any, chance: random.Random) -> Any:
    """Removes members, adds unknown ones, and changes types."""
    if isinstance(value, dict):
        kept = {name: tamper(each, chance) for name, each in value.items() if chance.random() > 0.1}
        return {**kept, **({"not_invented_yet": [1, {"deep": None}]} if chance.random() > 0.7 else {})}
    if isinstance(value, list):
        return [tamper(each, chance) for each in value]
    return chance.choice(["other", None, [], {}]) if chance.random() < 0.1 else value
