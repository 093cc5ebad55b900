"""Converts responses to values. No I/O.

pydantic parses responses at full speed. A response that does not match its type (a newer service, a missing member) is
parsed again leniently: what matches is converted, the rest stays as received, and missing members are `None`.
"""

from __future__ import annotations

import json
from functools import lru_cache
from inspect import isclass
from typing import Any, Generic, TypeVar, Union, cast, get_args, get_origin

import httpx
from pydantic import TypeAdapter, ValidationError
from typing_extensions import Annotated, Literal

from ._models import BaseModel

T = TypeVar("T")


class Shape(Generic[T]):
    """A type that is not a class, such as a union: `Shape(ArtifactResponse)`."""

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation


CastTo = Union["type[T]", Shape[T]]
"""The type of a parsed response."""


class UnreadableError(Exception):
    """The body is not JSON, or not of the expected type."""


def decode(response: httpx.Response, cast_to: CastTo[T]) -> T:
    """Returns the value of a response whose body has been read."""
    # A 202 may have a body or none.
    if cast_to is type(None) or (response.status_code == 202 and response.content == b""):
        return cast(T, None)
    if cast_to is str and "json" not in response.headers.get("content-type", ""):
        return cast(T, response.text)
    annotation: Any = cast_to.annotation if isinstance(cast_to, Shape) else cast_to
    value: T
    try:
        value = _validate_json(response.content, annotation)
    except ValidationError:
        value = _decode_leniently(response, annotation)
    return value


def _validate_json(content: bytes, annotation: Any) -> Any:
    if isclass(annotation) and issubclass(annotation, BaseModel):
        return annotation.model_validate_json(content)
    return _adapter(annotation).validate_json(content)


def _decode_leniently(response: httpx.Response, annotation: Any) -> Any:
    try:
        value = json.loads(response.content)
    except (ValueError, RecursionError) as error:
        kind = response.headers.get("content-type", "").split(";")[0]
        # A web page means that the base URL is the address of the web app, or of something else.
        is_other = kind != "" and "json" not in kind
        hint = f": it is {kind}. Check that the base URL ends in /api/v1." if is_other else "."
        raise UnreadableError(f"The response body is not JSON{hint}") from error
    is_model = isclass(annotation) and issubclass(annotation, BaseModel)
    if annotation is str or (is_model and not isinstance(value, dict)):
        raise UnreadableError(f"The response body is JSON, but not a {annotation.__name__}.")
    return construct(annotation, value)


def construct(annotation: Any, value: Any) -> Any:
    """Converts the parts of a value that match the type. The rest stays as received."""
    try:
        return _adapter(annotation).validate_python(value)
    except ValidationError:
        pass
    if get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) is list and isinstance(value, list):
        return [construct(get_args(annotation)[0], item) for item in value]
    if get_origin(annotation) is dict and isinstance(value, dict):
        return {key: construct(get_args(annotation)[1], item) for key, item in value.items()}
    if get_origin(annotation) is Union:
        branch = _branch(get_args(annotation), value)
        return value if branch is None else construct(branch, value)
    if isclass(annotation) and issubclass(annotation, BaseModel) and isinstance(value, dict):
        return _construct_model(annotation, value)
    return value


def _construct_model(model: type[BaseModel], value: dict[str, Any]) -> BaseModel:
    members = dict(value)
    for name, field in model.model_fields.items():
        alias = field.alias or name
        if alias in value:
            members[name] = construct(field.annotation, members.pop(alias))
        elif field.is_required():
            members[name] = None
    given = {name for name in members if name in value or model.model_fields[name].alias in value}
    return model.model_construct(_fields_set=given, **members)


def _branch(branches: tuple[Any, ...], value: Any) -> Any:
    """Returns the union member for a value: the first whose fixed members match, or a list for a list."""
    for branch in branches:
        inner = get_args(branch)[0] if get_origin(branch) is Annotated else branch
        if isinstance(value, dict) and isclass(inner) and issubclass(inner, BaseModel) and _has_fixed(inner, value):
            return inner
        if isinstance(value, dict) and get_origin(inner) is dict:
            return inner
        if isinstance(value, list) and get_origin(inner) is list:
            return inner
    return None


def _has_fixed(model: type[BaseModel], value: dict[str, Any]) -> bool:
    fixed = {
        name: get_args(field.annotation)
        for name, field in model.model_fields.items()
        if field.is_required() and get_origin(field.annotation) is Literal
    }
    return all(value.get(name) in allowed for name, allowed in fixed.items())


@lru_cache(maxsize=4096)
def _cached_adapter(annotation: Any) -> TypeAdapter[Any]:
    return TypeAdapter(annotation)


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    try:
        return _cached_adapter(annotation)
    except TypeError:
        # Unhashable metadata in an annotation; rare, and only slower.
        return TypeAdapter(annotation)
