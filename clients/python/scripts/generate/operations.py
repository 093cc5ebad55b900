"""Reads the operations of docs/openapi.json."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .schemas import INLINE_NAMES, Types, identifier, pascal, snake

EXTENDED = {"runs", "artifacts", "attachments"}
"""Resources to which `_async/` adds methods that send more than one request."""

FIXED_QUERY = {"getTranscript": {"redirect": False}, "getRawTranscript": {"redirect": False}}
"""Parameters that the client sets itself: a method cannot return a redirect."""

DRY_RUN = "dry_run"
# Makes the response another one too; methods that wait for the end of a run follow it.
WAIT = "wait"
"""The query parameter that selects the second alternative of an operation's response: a method of its own."""

DRY_RUN_SUMMARY = "Checks a request for a run and creates nothing."
DRY_RUN_DESCRIPTION = (
    f"{DRY_RUN_SUMMARY} The response says whether the run would be created, what to know before, "
    "and which configuration it would have."
)

CLIENTS_OWN = {"x-team-uid", "idempotency-key", "x-stainless-retry-count"}
"""Headers that the client sets itself."""

RESERVED = {"timeout", "max_retries", "idempotency_key", "extra_headers", "extra_query", "extra_body", "options"}


@dataclass
class Argument:
    name: str
    wire: str
    kind: str
    required: bool
    description: str


@dataclass
class Operation:
    id: str
    verb: str
    path: str
    resource: str
    """The resource of its method, such as `identities.keys`."""
    method: str
    tag: str
    summary: str
    description: str
    response_type: str
    """The type of the response, as Python code."""
    in_path: list[Argument] = field(default_factory=list)
    in_query: list[Argument] = field(default_factory=list)
    in_body: list[Argument] | None = None
    in_headers: list[Argument] = field(default_factory=list)
    fixed_query: dict[str, bool] = field(default_factory=dict)
    """Parameters that the method always sends."""
    items: tuple[str, str] | None = None
    """For a paginated list: the member with the items, and their type."""

    @property
    def keywords(self) -> list[Argument]:
        return sorted([*(self.in_body or []), *self.in_query, *self.in_headers], key=lambda each: not each.required)


def read_operations(document: dict[str, Any], methods: dict[str, str], types: Types) -> list[Operation]:
    """Reads all operations. Of several operations with the same method, only the first is kept."""
    operations: dict[str, Operation] = {}
    for path, verbs in document["paths"].items():
        for verb, raw in verbs.items():
            where = methods.get(raw["operationId"])
            if where is None:
                raise SystemExit(f"{raw['operationId']} ({verb.upper()} {path}) has no method in clients/methods.json")
            if where in operations:
                continue
            operation = _read(document, path, verb.upper(), raw, where, types)
            operations[where] = operation
            if DRY_RUN in (argument.wire for argument in operation.in_query):
                dry = _take_dry_run(document, raw, operation, types)
                operations[f"{dry.resource}.{dry.method}"] = dry
    return list(operations.values())


def _take_dry_run(document: dict[str, Any], raw: dict[str, Any], operation: Operation, types: Types) -> Operation:
    """Splits the dry run from its operation, which keeps the first type of the response, and returns it."""
    operation.in_query = [argument for argument in operation.in_query if argument.wire not in (DRY_RUN, WAIT)]
    schemas = _resolve(document, raw["responses"]["200"])["content"]["application/json"]["schema"]["anyOf"]
    named = {schema["$ref"].rsplit("/", 1)[-1]: schema for schema in schemas}
    usual, dry = named["RunAgentResponse"], named["DryRunResponse"]
    operation.response_type = types.of(usual, "response", operation.response_type)
    return replace(
        operation,
        method=DRY_RUN,
        summary=DRY_RUN_SUMMARY,
        description=DRY_RUN_DESCRIPTION,
        response_type=types.of(dry, "response", operation.response_type),
        fixed_query={DRY_RUN: True},
    )


def _read(document: dict[str, Any], path: str, verb: str, raw: dict[str, Any], where: str, types: Types) -> Operation:
    resource, method = where.rsplit(".", 1)
    operation = Operation(
        id=raw["operationId"],
        verb=verb,
        path=path,
        resource=resource,
        method=method,
        tag=raw["tags"][0],
        summary=raw["summary"],
        description=raw.get("description", raw["summary"]),
        response_type="",
        fixed_query=FIXED_QUERY.get(raw["operationId"], {}),
    )
    for parameter in raw.get("parameters", []):
        _read_parameter(_resolve(document, parameter), operation, types)
    body = raw.get("requestBody")
    if body is not None:
        operation.in_body = _read_body(body["content"]["application/json"]["schema"], operation, types)
    _read_response(document, raw, operation, types)
    for argument in operation.keywords:
        if argument.name in RESERVED:
            raise SystemExit(f"{operation.id}: {argument.name} is the name of an option; give the generator a rule")
    return operation


def _read_parameter(parameter: dict[str, Any], operation: Operation, types: Types) -> None:
    wire, place = parameter["name"], parameter["in"]
    if wire.lower() in CLIENTS_OWN or wire in FIXED_QUERY.get(operation.id, {}):
        return
    argument = Argument(
        name=identifier(snake(wire.removeprefix("X-"))),
        wire=wire,
        kind=types.of(parameter["schema"], "request", pascal(operation.id) + pascal(wire)),
        required=bool(parameter.get("required")),
        description=parameter.get("description", ""),
    )
    {"path": operation.in_path, "query": operation.in_query, "header": operation.in_headers}[place].append(argument)


def _read_body(schema: dict[str, Any], operation: Operation, types: Types) -> list[Argument]:
    name = schema["$ref"].rsplit("/", 1)[1] if "$ref" in schema else pascal(operation.id) + "Request"
    schema = types.components.get(name, schema)
    types.define(name, schema, "request")
    return [
        Argument(
            name=identifier(member),
            wire=member,
            kind=types.of(property_, "request", name + pascal(member)),
            required=member in schema.get("required", []),
            description=property_.get("description", ""),
        )
        for member, property_ in schema.get("properties", {}).items()
    ]


def _read_response(document: dict[str, Any], raw: dict[str, Any], operation: Operation, types: Types) -> None:
    status = min(code for code in raw["responses"] if code.startswith("2"))
    content = _resolve(document, raw["responses"][status]).get("content", {})
    schema = content.get("application/json", {}).get("schema")
    if schema is None:
        operation.response_type = "str" if content else "None"
        return
    place = INLINE_NAMES.get(pascal(operation.id), pascal(operation.id) + "Response")
    operation.response_type = place if "[" in place else types.of(schema, "response", place)
    if any(argument.wire == "cursor" for argument in operation.in_query):
        operation.items = _items_of(types.components[schema["$ref"].rsplit("/", 1)[1]], operation, types)


def _items_of(schema: dict[str, Any], operation: Operation, types: Types) -> tuple[str, str]:
    required = [(name, schema["properties"][name]) for name in schema["required"]]
    lists = {name: each for name, each in required if each.get("type") == "array"}
    if len(lists) != 1:
        raise SystemExit(f"{operation.id} has a cursor, but its response does not have exactly one required list")
    ((member, each),) = lists.items()
    kind = types.of(each, "response", operation.response_type + pascal(member))
    return member, kind.removeprefix("List[").removesuffix("]")


def _resolve(document: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in value:
        found: Any = document
        for part in value["$ref"].removeprefix("#/").split("/"):
            found = found[part]
        value = {**found, **{key: each for key, each in value.items() if key != "$ref"}}
    return value
