"""Encodes arguments as parts of a request. No I/O."""

from __future__ import annotations

import base64
import json
from datetime import date, datetime
from typing import Any, Iterator, Mapping
from urllib.parse import quote

from pydantic import BaseModel

from ._options import NOT_GIVEN


def path(template: str, **values: str) -> str:
    """Inserts the values, percent-encoded. An empty value is refused, because it would address another operation."""
    encoded = {}
    for name, value in values.items():
        if not value:
            raise ValueError(f"{name} must not be empty")
        encoded[name] = "%2E" * len(value) if value in (".", "..") else quote(str(value), safe="")
    return template.format(**encoded)


def given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments that were not omitted."""
    return {name: value for name, value in values.items() if value is not NOT_GIVEN}


def query_items(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Encodes a query: lists repeat their name, maps become `name[key]`, and `None` is omitted."""
    return [item for name, value in values.items() for item in _query_items(name, value)]


def _query_items(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if value is None or value is NOT_GIVEN:
        return
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _query_items(f"{name}[{key}]", inner)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for inner in value:
            yield from _query_items(name, inner)
    elif isinstance(value, bool):
        yield name, "true" if value else "false"
    elif isinstance(value, datetime):
        yield name, _timestamp(value)
    else:
        yield name, str(value)


def json_bytes(body: object) -> bytes:
    """Encodes the body as compact JSON: times become RFC 3339, bytes become base64, models their members."""
    text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        # UTF-8 cannot encode a lone surrogate. Escaped, it reaches the service, which names the invalid field.
        return json.dumps(body, allow_nan=False, separators=(",", ":"), default=_plain).encode("ascii")


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return _timestamp(value)
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_unset=True)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (tuple, set, frozenset)):
        return list(value)
    if isinstance(value, date) or hasattr(value, "hex"):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _timestamp(value: datetime) -> str:
    """Formats a time. Without an offset it is local time, as everywhere in `datetime`."""
    return (value if value.tzinfo is not None else value.astimezone()).isoformat()
