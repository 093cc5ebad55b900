"""Streams a run over connections that break, in both formats of the response."""

from __future__ import annotations

import json
import random
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Iterator
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.lowlevel
import pytest
from fault_server import FaultServer

import runyard
from runyard import AsyncRunyard, Runyard
from runyard._decode import construct
from runyard._stream import EventParser, GapError, RunStreamEvent, RunStreamOutput, StreamState
from runyard.types import LiveFrame, RunEvent, RunEvents

EVENTS = 5_000
KILLS = 100
LINES = 40


def event_of(sequence: int) -> dict[str, Any]:
    data = {"note": "a\u2028b\x85c"} if sequence % 7 == 0 else {}
    return {"sequence": sequence, "type": "agent_started", "occurred_at": "2026-05-18T19:00:00.000Z", "data": data}


class FlakyHandler(BaseHTTPRequestHandler):
    """Serves 5,000 events, as a stream or as JSON, and breaks off 100 responses."""

    protocol_version = "HTTP/1.1"
    random = random.Random(3)
    kills = KILLS
    lock = threading.Lock()
    requests: list[str] = []

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        with self.lock:
            kill = self.kills > 0 and self.random.random() < 0.8
            type(self).kills -= int(kill)
            as_stream = self.random.random() < 0.5
            count = self.random.randint(1, 60)
        self.requests.append(self.path)
        query = parse_qs(urlsplit(self.path).query)
        after = int(self.headers.get("last-event-id", query["after"][0]))
        self.close_connection = True
        if as_stream:
            self._stream(after, count, kill)
        else:
            self._page(after, count, kill)

    def _stream(self, after: int, count: int, kill: bool) -> None:
        last = min(after + count, EVENTS)
        parts = ["retry: 1\n\n", ": a comment\n\n"]
        # Each connection repeats the end of the output.
        parts += [live(offset) for offset in range(0, LINES * 8, 80)]
        parts += [
            f"id: {sequence}\ndata: {json.dumps(event_of(sequence), ensure_ascii=False)}\n\n"
            for sequence in range(after + 1, last + 1)
        ]
        if last == EVENTS and not kill:
            parts.append('event: end\ndata: {"next":5000,"ended":true}\n\n')
        text = "".join(parts).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream; charset=utf-8")
        self.end_headers()
        self.wfile.write(text[: len(text) // 2] if kill else text)

    def _page(self, after: int, count: int, kill: bool) -> None:
        last = min(after + count, EVENTS)
        page = {
            "events": [event_of(sequence) for sequence in range(after + 1, last + 1)],
            "next": last,
            "ended": last == EVENTS,
            "live": [],
            "live_next": "W10",
        }
        text = json.dumps(page).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text[: len(text) // 2] if kill else text)


def live(offset: int) -> str:
    """Ten lines of eight bytes."""
    text = "".join(f"line {number:02}\n" for number in range(offset // 8, offset // 8 + 10))
    frame = {"action_id": "a1", "stream": "stdout", "offset": offset, "text": text}
    return f"event: live\ndata: {json.dumps(frame)}\n\n"


@pytest.fixture
def flaky_service(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr("runyard._retry.INITIAL_SECONDS", 0.001)
    monkeypatch.setattr("runyard._retry.MAX_SECONDS", 0.001)
    monkeypatch.setattr("runyard._sync._runs.PAUSE_SECONDS", 0.001)
    monkeypatch.setattr("runyard._async._runs.PAUSE_SECONDS", 0.001)
    FlakyHandler.kills = KILLS
    FlakyHandler.requests = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), FlakyHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/api/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def check(sequences: list[int], output: str) -> None:
    assert sequences == list(range(1, EVENTS + 1))
    assert output == "".join(f"line {number:02}\n" for number in range(LINES))
    assert FlakyHandler.kills == 0


def test_stream_yields_each_event_once_over_100_broken_connections_in_both_formats(flaky_service: str) -> None:
    sequences: list[int] = []
    output = ""
    with Runyard(api_key="ryp_x", base_url=flaky_service) as client:
        for item in client.runs.stream("r1"):
            if item.kind == "event":
                sequences.append(item.event.sequence)
            else:
                output += item.frame.text
    check(sequences, output)


def test_the_asynchronous_stream_yields_each_event_once_too(flaky_service: str) -> None:
    sequences: list[int] = []
    output: list[str] = []

    async def follow() -> None:
        async with AsyncRunyard(api_key="ryp_x", base_url=flaky_service) as client:
            async for item in client.runs.stream("r1"):
                if item.kind == "event":
                    sequences.append(item.event.sequence)
                else:
                    output.append(item.frame.text)

    anyio.run(follow)
    check(sequences, "".join(output))


def waiting_script() -> list[dict[str, Any]]:
    """A page, and then a stream, of a run that waits for capacity."""
    page = {"events": [], "next": 0, "ended": False, "live": [], "live_next": "W10", "waiting": {"position": 3}}
    stream = [f'event: waiting\ndata: {{"position":{position}}}\n\n' for position in (3, 2)]
    text = "".join([*stream, "event: end\ndata: {}\n\n"])
    return [{"body": page}, {"raw": text, "headers": {"content-type": "text/event-stream"}}]


def test_stream_reports_each_position_in_the_queue_once_in_both_formats(server: FaultServer, client: Runyard) -> None:
    server.play(waiting_script())
    positions: list[int] = []
    assert list(client.runs.stream("r1", on_waiting=positions.append)) == []
    assert positions == [3, 2]
    assert "live=true" in server.seen[0].raw_query


@pytest.mark.anyio
async def test_the_asynchronous_stream_awaits_on_waiting(server: FaultServer, waits: list[float]) -> None:
    server.play(waiting_script())
    positions: list[int] = []

    async def note(position: int) -> None:
        await anyio.lowlevel.checkpoint()
        positions.append(position)

    async with AsyncRunyard(api_key="ryp_x", base_url=server.api) as client:
        assert [item async for item in client.runs.stream("r1", on_waiting=note)] == []
    assert positions == [3, 2]


def test_stream_without_on_waiting_drops_positions(server: FaultServer, client: Runyard) -> None:
    server.play(waiting_script())
    assert list(client.runs.stream("r1")) == []


def slow_page() -> dict[str, Any]:
    """A page whose parts arrive within a second."""
    page = json.dumps({"events": [event_of(1)], "next": 1, "ended": True}).encode()

    def trickle() -> Iterator[bytes]:
        for part in range(20):
            time.sleep(0.05)
            yield page[len(page) * part // 20 : len(page) * (part + 1) // 20]

    return {"headers": {"content-type": "application/json", "content-length": str(len(page))}, "trickle": trickle()}


def test_stream_requests_a_page_again_that_is_not_complete_within_the_timeout(
    server: FaultServer, client: Runyard, waits: list[float]
) -> None:
    server.play([slow_page(), slow_page()])
    begin = time.monotonic()
    with pytest.raises(runyard.APITimeoutError):
        list(client.runs.stream("r1", wait=0, timeout=0.2, max_retries=1))
    assert (len(server.seen), len(waits)) == (2, 1)
    assert time.monotonic() - begin >= 0.4


@pytest.mark.anyio
async def test_the_asynchronous_stream_limits_the_time_of_a_page_too(server: FaultServer, waits: list[float]) -> None:
    server.play([slow_page()])
    async with AsyncRunyard(api_key="ryp_x", base_url=server.api) as client:
        with pytest.raises(runyard.APITimeoutError):
            await client.runs.stream("r1", wait=0, timeout=0.2, max_retries=0).__anext__()


def test_stream_adds_the_wait_to_the_time_limit_of_a_page_which_may_be_none(
    server: FaultServer, client: Runyard
) -> None:
    for options in ({"wait": 25, "timeout": 0.2}, {"wait": 0, "timeout": None}):
        server.play([slow_page()])
        assert len(list(client.runs.stream("r1", **options))) == 1


def test_stream_has_no_time_limit_as_long_as_something_arrives(server: FaultServer, client: Runyard) -> None:
    headers = {"content-type": "text/event-stream", "content-length": str(len(END["raw"]))}

    def trickle() -> Iterator[bytes]:
        for character in END["raw"]:
            time.sleep(0.02)
            yield character.encode()

    server.play([{"headers": headers, "trickle": trickle()}])
    assert list(client.runs.stream("r1", wait=0, timeout=0.2, max_retries=0)) == []


END: dict[str, Any] = {"raw": "event: end\ndata: {}\n\n", "headers": {"content-type": "text/event-stream"}}


@pytest.mark.parametrize(("options", "attempts"), [({}, 31), ({"max_retries": 2}, 3)])
@pytest.mark.parametrize("response", [{"status": 503}, {"reset": "before"}])
def test_stream_retries_at_one_level(
    response: dict[str, Any], options: Any, attempts: int, server: FaultServer, client: Runyard, waits: list[float]
) -> None:
    server.respond(lambda seen: response)
    with pytest.raises(runyard.APIError):
        list(client.runs.stream("r1", **options))
    assert (len(server.seen), len(waits)) == (attempts, attempts - 1)


@pytest.mark.anyio
async def test_the_asynchronous_stream_retries_at_one_level(server: FaultServer, waits: list[float]) -> None:
    server.respond(lambda seen: {"status": 503})
    async with AsyncRunyard(api_key="ryp_x", base_url=server.api) as client:
        with pytest.raises(runyard.InternalServerError):
            await client.runs.stream("r1").__anext__()
    assert (len(server.seen), len(waits)) == (31, 30)


def test_stream_waits_as_long_as_a_response_requests(server: FaultServer, client: Runyard, waits: list[float]) -> None:
    changed = {"status": 409, "body": {"retryable": True}, "headers": {"retry-after-ms": "250"}}
    server.play([{"status": 429, "headers": {"retry-after": "7"}}, changed, END])
    assert list(client.runs.stream("r1")) == []
    assert waits == [7, 0.25]


def test_stream_starts_a_new_row_of_retries_after_a_complete_response(server: FaultServer, client: Runyard) -> None:
    page = {"body": {"events": [], "next": 0, "ended": False}}
    server.play([{"status": 503}, page, {"status": 503}, END])
    assert list(client.runs.stream("r1", max_retries=1)) == []


@pytest.mark.parametrize("response", [{"status": 404}, {"status": 302, "headers": {"location": "{api}/agent/me"}}])
def test_stream_does_not_retry_permanent_errors(
    response: dict[str, Any], server: FaultServer, client: Runyard, waits: list[float]
) -> None:
    server.respond(lambda seen: response)
    with pytest.raises(runyard.APIError):
        list(client.runs.stream("r1"))
    assert waits == []


def test_event_parser_reads_an_event_cut_anywhere_with_any_line_break() -> None:
    for newline in ("\n", "\r\n", "\r"):
        text = newline.join([": comment", "event: live", "data: a\u2028b", "data:c", "", "id: 1", "data: d", "", ""])
        for cut in range(len(text)):
            parser = EventParser()
            events = parser.push(text[:cut]) + parser.push(text[cut:]) + parser.push(": next")
            assert events == [("live", "a\u2028b\nc"), ("message", "d")]


class TestStreamState:
    @staticmethod
    def taken(state: StreamState, *events: dict[str, Any], **more: Any) -> list[Any]:
        page = construct(RunEvents, {"events": list(events), "next": 0, "ended": False, **more})
        return [item.event.sequence if isinstance(item, RunStreamEvent) else item for item in state.take_page(page)]

    def test_drops_known_events_and_reports_a_missing_one(self) -> None:
        state = StreamState(2)
        assert self.taken(state, event_of(2), event_of(3), event_of(3), event_of(4)) == [3, 4]
        with pytest.raises(GapError):
            self.taken(state, event_of(6))
        assert (state.last, self.taken(state, event_of(5))) == (4, [5])

    def test_passes_on_the_new_bytes_of_each_stream(self) -> None:
        def text_of(offset: int, text: str, stream: str = "stdout") -> tuple[int, str] | None:
            frame = {"action_id": "a1", "stream": stream, "offset": offset, "text": text}
            item = state._take_frame(construct(LiveFrame, frame))
            return (item.frame.offset, item.frame.text) if isinstance(item, RunStreamOutput) else None

        state = StreamState(0)
        assert text_of(0, "ab\u00e9") == (0, "ab\u00e9")
        assert text_of(2, "\u00e9") is None
        assert text_of(2, "\u00e9f") == (4, "f")
        assert text_of(5, "g") == (5, "g")
        assert text_of(9, "later") == (9, "later")
        assert text_of(0, "ab", stream="stderr") == (0, "ab")

    def test_drops_output_that_an_event_has_completed(self) -> None:
        frames = [
            {"action_id": "a1", "stream": "stdout", "offset": 0, "text": "x"},
            {"message_id": "m1", "stream": "text", "offset": 0, "text": "x"},
            {"action_id": "a2", "stream": "stdout", "offset": 0, "text": "x"},
        ]
        blocks = [{"type": "action_result", "action_id": "a1"}, {"type": "text", "message_id": "m1"}, {"type": "text"}]
        event: RunEvent = construct(
            RunEvent, {**event_of(1), "type": "messages", "data": {"messages": [None, {"content": blocks}]}}
        )
        state = StreamState(0)
        shown = self.taken(state, event.model_dump(), live=frames)
        assert [item if isinstance(item, int) else item.frame.action_id for item in shown] == [1, "a2"]
