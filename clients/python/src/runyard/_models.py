"""The base class of all response models."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Callable

import pydantic
from pydantic import ConfigDict, PlainSerializer
from typing_extensions import Annotated


class BaseModel(pydantic.BaseModel):
    """An object of a response.

    A newer service may send more than this client knows: unknown members are kept and can be read as attributes,
    unknown values of an enumeration are strings, and an unknown kind of a union is its `Unknown…` model.
    """

    model_config = ConfigDict(extra="allow", protected_namespaces=(), defer_build=True)

    def to_dict(self) -> dict[str, Any]:
        """Returns the members that the service sent, by JSON name, with times as text."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)

    def to_json(self, *, indent: int | None = None) -> str:
        """Returns the same as JSON text."""
        return self.model_dump_json(indent=indent, by_alias=True, exclude_unset=True, warnings=False)


def _timestamp(value: datetime) -> str:
    """Formats a time as the service does: in UTC, with milliseconds, or with microseconds if it has them."""
    if not isinstance(value, datetime):
        return value
    precision = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return value.astimezone(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


Timestamp = Annotated[datetime, PlainSerializer(_timestamp, when_used="json")]


def kind_of(tag: str, known: list[str]) -> Callable[[Any], str]:
    """Returns a function that selects a value's model in a union: by its kind if known, otherwise the empty tag."""

    def kind(value: Any) -> str:
        found = value.get(tag) if isinstance(value, dict) else getattr(value, tag, None)
        return found if found in known else ""

    return kind
