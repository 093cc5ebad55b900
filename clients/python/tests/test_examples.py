"""The examples of docs/openapi.json fit the models, and what is wrong with an answer breaks nothing."""

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


def answer_to(operation_id: str, body: Any, server: FaultServer, client: Runyard) -> BaseModel:
    server.play([{"body": body}])
    method = find(client, METHODS[operation_id])
    answer = method(*positional(OPERATIONS[operation_id]), **required(method))
    return answer.answer if isinstance(answer, Page) else answer


@pytest.mark.parametrize(("operation_id", "example"), EXAMPLES)
def test_example_fits_its_model_and_comes_back_whole(
    operation_id: str, example: dict[str, Any], server: FaultServer, client: Runyard
) -> None:
    answer = answer_to(operation_id, example, server, client)
    assert answer.to_dict() == example
    assert type(answer).model_validate_json(json.dumps(example)) == answer


@pytest.mark.parametrize(("operation_id", "example"), EXAMPLES)
def test_example_that_was_tampered_with_is_read_and_comes_back_whole(
    operation_id: str, example: dict[str, Any], server: FaultServer, client: Runyard
) -> None:
    chance = random.Random(operation_id)
    for _ in range(20):
        tampered = tamper(example, chance)
        assert answer_to(operation_id, tampered, server, client).to_dict() == tampered


def tamper(value: Any, chance: random.Random) -> Any:
    """Members are left out, invented, or of another type."""
    if isinstance(value, dict):
        kept = {name: tamper(each, chance) for name, each in value.items() if chance.random() > 0.1}
        return {**kept, **({"not_invented_yet": [1, {"deep": None}]} if chance.random() > 0.7 else {})}
    if isinstance(value, list):
        return [tamper(each, chance) for each in value]
    return chance.choice(["other", None, [], {}]) if chance.random() < 0.1 else value
