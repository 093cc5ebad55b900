"""Parses server-sent events and passes each part of live output on once. No I/O."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Union

from typing_extensions import Literal

from ._decode import construct
from .types import LiveFrame, RunEvent, RunEvents, RunEventsWaiting


@dataclass(frozen=True)
class RunStreamEvent:
    """An event of a run."""

    event: RunEvent
    kind: Literal["event"] = "event"


@dataclass(frozen=True)
class RunStreamOutput:
    """A piece of the output that a run is producing.

    The event with the whole output replaces the pieces: it has the same `action_id` or `message_id`.
    """

    frame: LiveFrame
    kind: Literal["live"] = "live"


RunStreamItem = Union[RunStreamEvent, RunStreamOutput]


@dataclass(frozen=True)
class Waiting:
    """The run waits for capacity, at this position of the queue, from 1."""

    position: int


class EventParser:
    """Reads a `text/event-stream` piece by piece."""

    def __init__(self) -> None:
        self._rest = ""
        self._name = ""
        self._data: list[str] = []

    def push(self, piece: str) -> list[tuple[str, str]]:
        """Adds a piece. Returns the names and the data of the events that are complete."""
        text = self._rest + piece
        # A carriage return at the end may be the first half of a line break.
        is_cut = text.endswith("\r")
        *lines, rest = re.split("\r\n|\n|\r", text[:-1] if is_cut else text)
        self._rest = rest + "\r" if is_cut else rest
        events = [self._read(line) for line in lines]
        return [event for event in events if event is not None]

    def _read(self, line: str) -> tuple[str, str] | None:
        if line == "":
            event = (self._name or "message", "\n".join(self._data)) if self._data else None
            self._name, self._data = "", []
            return event
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        return None


class StreamState:
    """Tracks what has been passed on of a run, over all connections."""

    def __init__(self, after: int) -> None:
        self.last = after
        self.live_after: str | None = None
        self.ended = False
        self._position: int | None = None
        self._ends: dict[tuple[str | None, str | None], int] = {}
        self._finished: set[str] = set()

    def take_named(self, name: str, data: str) -> RunStreamItem | Waiting | None:
        """Returns what is new in a server-sent event.

        Raises:
            GapError: An event before it is missing.
        """
        if name == "end":
            self.ended = True
        if name == "message":
            return self._take_event(construct(RunEvent, json.loads(data)))
        if name == "live":
            return self._take_frame(construct(LiveFrame, json.loads(data)))
        if name == "waiting":
            return self._take_waiting(construct(RunEventsWaiting, json.loads(data)))
        return None

    def take_page(self, page: RunEvents) -> list[RunStreamItem | Waiting]:
        """Returns what is new in a response of long polling."""
        items: list[RunStreamItem | Waiting | None] = [self._take_event(event) for event in page.events or []]
        items += [self._take_frame(frame) for frame in page.live or []]
        if page.waiting is not None:
            items.append(self._take_waiting(page.waiting))
        self.live_after = page.live_next or self.live_after
        self.ended = bool(page.ended)
        return [item for item in items if item is not None]

    def _take_event(self, event: RunEvent) -> RunStreamItem | None:
        if event.sequence <= self.last:
            return None
        if event.sequence > self.last + 1:
            raise GapError
        self.last = event.sequence
        self._finished.update(_finished_ids(event))
        return RunStreamEvent(event)

    def _take_waiting(self, waiting: RunEventsWaiting) -> Waiting | None:
        if waiting.position == self._position:
            return None
        self._position = waiting.position
        return Waiting(waiting.position)

    def _take_frame(self, frame: LiveFrame) -> RunStreamItem | None:
        owner = frame.action_id or frame.message_id
        if owner in self._finished:
            return None
        key = (frame.stream, owner)
        end = self._ends.get(key, 0)
        data = frame.text.encode()
        seen = end - frame.offset
        if seen >= len(data):
            return None
        self._ends[key] = frame.offset + len(data)
        if seen <= 0:
            return RunStreamOutput(frame)
        rest = data[seen:].decode(errors="replace")
        return RunStreamOutput(frame.model_copy(update={"offset": end, "text": rest}))


class GapError(Exception):
    """An event is missing; it comes with the next connection."""


def _finished_ids(event: RunEvent) -> list[str]:
    """The actions and messages that are complete with an event."""
    if event.type != "messages" or not isinstance(event.data, dict):
        return []
    blocks = [block for message in _list(event.data.get("messages")) for block in _list(_member(message, "content"))]
    ids = [_member(block, "message_id" if _member(block, "type") == "text" else "action_id") for block in blocks]
    return [one for one in ids if isinstance(one, str)]


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
