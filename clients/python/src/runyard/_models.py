"""What all models of answers have in common."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, Callable

import pydantic
from pydantic import ConfigDict, PlainSerializer
from typing_extensions import Annotated


class BaseModel(pydantic.BaseModel):
    """An object of an answer.

    A newer service may send more than this client knows: unknown members are kept and can be read as attributes,
    unknown values of an enumeration are strings, and an unknown kind of a union is its `Unknown…` model.
    """

    model_config = ConfigDict(extra="allow", protected_namespaces=(), defer_build=True)

    def to_dict(self) -> dict[str, Any]:
        """The members that the service sent, by their names in JSON, times as text."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)

    def to_json(self, *, indent: int | None = None) -> str:
        """The same as JSON text."""
        return self.model_dump_json(indent=indent, by_alias=True, exclude_unset=True, warnings=False)


def _timestamp(value: datetime) -> str:
    """A time as the service writes it: in UTC, with milliseconds, or with microseconds where it has them."""
    if not isinstance(value, datetime):
        return value
    precision = "microseconds" if value.microsecond % 1000 else "milliseconds"
    return value.astimezone(timezone.utc).isoformat(timespec=precision).replace("+00:00", "Z")


Timestamp = Annotated[datetime, PlainSerializer(_timestamp, when_used="json")]


def kind_of(tag: str, known: list[str]) -> Callable[[Any], str]:
    """Tells which model of a union a value is for: its kind where that is known, else the empty one's."""

    def kind(value: Any) -> str:
        found = value.get(tag) if isinstance(value, dict) else getattr(value, tag, None)
        return found if found in known else ""

    return kind
