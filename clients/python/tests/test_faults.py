"""Network failures: resets, slow and incomplete bodies, redirects, and large responses."""

from __future__ import annotations

import json
import time
import tracemalloc
from pathlib import Path
from typing import Any, Iterator
from urllib.parse import parse_qs

import pytest
from fault_server import FaultServer, Seen

import runyard
from runyard import AsyncRunyard, Runyard
from runyard.types import RunEvent

MIB = 1024 * 1024
RUN = {"run_id": "r1", "task_id": "r1", "state": "SUCCEEDED"}


class TestSlowBody:
    def test_raises_a_timeout_error(self, server: FaultServer, waits: list[float]) -> None:
        def trickle() -> Iterator[bytes]:
            for _ in range(200):
                time.sleep(0.05)
                yield b" "

        server.play([{"headers": {"content-length": "200"}, "trickle": trickle()}])
        begin = time.monotonic()
        with Runyard(api_key="k", base_url=server.api, timeout=0.2, max_retries=0) as client:
            with pytest.raises(runyard.APITimeoutError):
                client.runs.retrieve("r1")
        assert time.monotonic() - begin < 9

    @pytest.mark.anyio
    async def test_raises_a_timeout_error_asynchronously(self, server: FaultServer, waits: list[float]) -> None:
        def trickle() -> Iterator[bytes]:
            for _ in range(200):
                time.sleep(0.05)
                yield b" "

        server.play([{"headers": {"content-length": "200"}, "trickle": trickle()}])
        async with AsyncRunyard(api_key="k", base_url=server.api, timeout=0.2, max_retries=0) as client:
            with pytest.raises(runyard.APITimeoutError):
                await client.runs.retrieve("r1")

    def test_of_a_download_may_take_longer(self, server: FaultServer, client: Runyard) -> None:
        def trickle() -> Iterator[bytes]:
            for _ in range(6):
                time.sleep(0.05)
                yield b"x"

        where = {"body": {"download_url": "{storage}/t", "expires_at": "2026-05-18T19:00:00.000Z"}}
        server.play([where, {"at": "storage", "headers": {"content-length": "6"}, "trickle": trickle()}])
        with client.runs.download_transcript("r1", timeout=0.2) as download:
            assert download.read() == b"xxxxxx"

    def test_is_read_without_a_timeout(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": RUN, "stall_ms": 100}])
        assert client.runs.retrieve("r1", timeout=None).run_id == "r1"


class TestRedirect:
    def test_to_the_same_origin_keeps_the_key(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"status": 307, "headers": {"location": "{api}/agent/elsewhere"}}, {"body": RUN}])
        assert client.runs.retrieve("r1").run_id == "r1"
        assert server.seen[1].headers["authorization"] == "Bearer ryp_test"

    def test_loop_is_an_error_and_not_retried(self, server: FaultServer, client: Runyard, waits: list[float]) -> None:
        server.respond(lambda seen: {"status": 302, "headers": {"location": server.api + "/agent/me"}})
        with pytest.raises(runyard.APIConnectionError, match="redirect"):
            client.me.retrieve()
        assert waits == []


class TestDownload:
    WHERE = {"body": {"download_url": "{storage}/t?sig=1", "expires_at": "2026-05-18T19:00:00.000Z"}}

    def test_sends_no_headers_of_the_api_to_the_storage(self, server: FaultServer) -> None:
        server.play([self.WHERE, {"at": "storage", "raw": '{"a":1}\n{"b":2}\n'}])
        with Runyard(api_key="k", base_url=server.api, team_uid="t", default_headers={"x-secret": "1"}) as client:
            with client.runs.download_transcript("r1") as download:
                assert [json.loads(line) for line in download.iter_lines()] == [{"a": 1}, {"b": 2}]
        sent = server.seen[1].headers
        assert {"authorization", "x-team-uid", "x-secret", "x-stainless-retry-count"}.isdisjoint(sent)

    def test_that_is_incomplete_leaves_no_file(self, server: FaultServer, client: Runyard, tmp_path: Path) -> None:
        server.play([self.WHERE, {"at": "storage", "raw": "x" * 1000, "reset": "during"}])
        with client.runs.download_transcript("r1") as download, pytest.raises(runyard.APIConnectionError):
            download.write_to_file(tmp_path / "transcript.jsonl")
        assert list(tmp_path.iterdir()) == []

    def test_is_written_to_a_file(self, server: FaultServer, client: Runyard, tmp_path: Path) -> None:
        headers = {"content-type": "text/markdown"}
        artifact = {"artifact_uid": "a", "artifact_type": "FILE", "data": {"download_url": "{storage}/f"}}
        server.play([{"body": artifact}, {"at": "storage", "raw": "# Report", "headers": headers}])
        with client.artifacts.download("a") as download:
            assert download.content_type == "text/markdown"
            download.write_to_file(tmp_path / "report.md")
        assert (tmp_path / "report.md").read_text() == "# Report"

    def test_of_a_plan_needs_no_storage(self, server: FaultServer, client: Runyard) -> None:
        data = {"document_uid": "d", "content": "# Plän", "content_type": "text/markdown"}
        server.play([{"body": {"artifact_uid": "a", "artifact_type": "PLAN", "data": data}}])
        with client.artifacts.download("a") as download:
            assert download.read().decode() == "# Plän"

    def test_of_an_artifact_without_a_file_is_an_error(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": {"artifact_uid": "a", "artifact_type": "PULL_REQUEST", "data": {"url": "u"}}}])
        with pytest.raises(runyard.RunyardError, match="PULL_REQUEST a has nothing to download"):
            client.artifacts.download("a").__enter__()

    @pytest.mark.anyio
    async def test_is_streamed_asynchronously(
        self, server: FaultServer, async_client: AsyncRunyard, tmp_path: Path
    ) -> None:
        storage = {"at": "storage", "raw": "one\ntwo\n"}
        server.play([self.WHERE, storage, self.WHERE, storage])
        async with async_client as client:
            async with client.runs.download_transcript("r1") as download:
                assert [line async for line in download.iter_lines()] == ["one", "two"]
            async with client.runs.download_transcript("r1") as download:
                await download.write_to_file(tmp_path / "t")
        assert (tmp_path / "t").read_text() == "one\ntwo\n"

    def test_of_fifty_megabytes_needs_little_memory(self, server: FaultServer, client: Runyard) -> None:
        size = 50 * MIB
        pieces = (b"x" * MIB for _ in range(50))
        server.play([self.WHERE, {"at": "storage", "headers": {"content-length": str(size)}, "trickle": pieces}])
        tracemalloc.start()
        try:
            with client.runs.download_transcript("r1") as download:
                assert sum(len(chunk) for chunk in download.iter_bytes()) == size
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak < 8 * MIB


class TestUpload:
    def test_sends_a_file_to_the_storage(self, server: FaultServer, client: Runyard, tmp_path: Path) -> None:
        (tmp_path / "notes.md").write_text("hello")
        upload = {"url": "{storage}/u", "method": "PUT", "headers": {"x-amz-checksum": "c"}}
        server.play([{"body": {"attachment_id": "a1", "upload": upload}}, {"at": "storage"}])
        assert client.attachments.upload(tmp_path / "notes.md") == "a1"
        declared, sent = server.seen
        assert json.loads(declared.body) == {
            "file_name": "notes.md",
            "mime_type": "text/markdown",
            "size_bytes": 5,
            "sha256": "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
        }
        assert (sent.method, sent.body, sent.headers["x-amz-checksum"]) == ("PUT", b"hello", "c")
        assert "authorization" not in sent.headers

    def test_fills_in_the_form_of_the_storage(self, server: FaultServer, client: Runyard) -> None:
        fields = [
            {"name": "key", "value": {"kind": "static", "value": "k1"}},
            {"name": "file", "value": {"kind": "content_data"}},
        ]
        upload = {"url": "{storage}/u", "method": "POST", "headers": None, "fields": fields}
        server.play([{"body": {"attachment_id": "a1", "upload": upload}}, {"at": "storage", "status": 204}])
        assert client.attachments.upload(b"\x00hello", file_name="h.bin") == "a1"
        sent = server.seen[1]
        assert sent.headers["content-type"].startswith("multipart/form-data; boundary=")
        assert b'name="key"\r\n\r\nk1\r\n' in sent.body
        assert b'name="file"; filename="file"\r\n\r\n\x00hello\r\n' in sent.body
        assert json.loads(server.seen[0].body)["mime_type"] == "application/octet-stream"

    def test_does_not_send_a_file_that_is_already_stored(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": {"attachment_id": "a1"}}])
        assert client.attachments.upload(b"x", file_name="x") == "a1"
        with pytest.raises(ValueError, match="file_name"):
            client.attachments.upload(b"x")

    @pytest.mark.parametrize("first", [[], [{"at": "storage", "reset": "before"}]])
    def test_accepts_that_the_file_is_already_stored(
        self, first: list[Any], server: FaultServer, client: Runyard
    ) -> None:
        made = {"body": {"attachment_id": "a1", "upload": {"url": "{storage}/u", "method": "PUT", "headers": None}}}
        server.play([made, *first, {"at": "storage", "status": 412}])
        assert client.attachments.upload(b"x", file_name="x") == "a1"
        server.play([made, {"at": "storage", "status": 403}])
        with pytest.raises(runyard.PermissionDeniedError):
            client.attachments.upload(b"x", file_name="x")

    @pytest.mark.anyio
    async def test_accepts_asynchronously_that_the_file_is_already_stored(
        self, server: FaultServer, async_client: AsyncRunyard
    ) -> None:
        upload = {"url": "{storage}/u", "method": "PUT", "headers": None}
        server.play([{"body": {"attachment_id": "a1", "upload": upload}}, {"at": "storage", "status": 412}])
        async with async_client as client:
            assert await client.attachments.upload(b"x", file_name="x") == "a1"

    def test_refuses_an_unsupported_form_field(self, server: FaultServer, client: Runyard) -> None:
        fields = [{"name": "c", "value": {"kind": "content_moon_phase"}}]
        upload = {"url": "{storage}/u", "method": "POST", "headers": None, "fields": fields}
        server.play([{"body": {"attachment_id": "a1", "upload": upload}}])
        with pytest.raises(runyard.RunyardError, match="content_moon_phase"):
            client.attachments.upload(b"x", file_name="x")


class TestEvents:
    TOTAL = 100_000

    def test_of_a_hundred_thousand_come_in_order_and_in_constant_memory(
        self, server: FaultServer, client: Runyard
    ) -> None:
        server.respond(many_events(self.TOTAL))
        expected = 1
        peaks = []
        tracemalloc.start()
        try:
            for event in client.runs.events("r1"):
                assert event.sequence == expected
                expected += 1
                if expected % 20_000 == 0:
                    peaks.append(tracemalloc.get_traced_memory()[1])
                    server.seen.clear()
        finally:
            tracemalloc.stop()
        assert expected == self.TOTAL + 1
        assert peaks[-1] < peaks[0] + 2 * MIB

    def test_come_once_although_connections_are_reset(self, server: FaultServer, client: Runyard) -> None:
        respond = many_events(3000)
        calls = 0

        def flaky(seen: Seen) -> dict[str, Any]:
            nonlocal calls
            calls += 1
            return {**respond(seen), **({"reset": ["before", "during"][calls // 3 % 2]} if calls % 3 else {})}

        server.respond(flaky)
        assert [event.sequence for event in client.runs.events("r1")] == list(range(1, 3001))
        assert calls > 3

    def test_end_with_an_error_if_the_service_is_unreachable(
        self, server: FaultServer, client: Runyard, waits: list[float]
    ) -> None:
        server.respond(lambda seen: {"reset": "before"})
        with pytest.raises(runyard.APIConnectionError):
            list(client.runs.events("r1"))
        assert len(waits) == 30
        with pytest.raises(runyard.APIConnectionError):
            list(client.runs.events("r1", max_retries=1))
        assert len(waits) == 31

    def test_stop_after_max_wait(self, server: FaultServer, client: Runyard) -> None:
        server.respond(lambda seen: {"body": {"events": [], "next": 0, "ended": False}, "delay_ms": 60})
        with pytest.raises(runyard.RunTimeoutError) as caught:
            client.runs.follow_until_done("r1", max_wait=0.2)
        assert caught.value.run_id == "r1"
        assert server.seen
        assert [parse_qs(seen.raw_query)["wait"] for seen in server.seen] == [["1"]] * len(server.seen)

    @pytest.mark.parametrize(
        ("response", "options"),
        [
            ({"reset": "before"}, {}),
            ({"status": 429, "headers": {"retry-after": "30"}}, {}),
            ({"delay_ms": 60_000}, {}),
            ({"delay_ms": 60_000}, {"max_retries": 0, "timeout": None}),
            ({"body": {"events": [], "next": 0, "ended": False}}, {}),
        ],
    )
    def test_stop_after_max_wait_whatever_the_service_does(
        self, response: dict[str, Any], options: Any, server: FaultServer
    ) -> None:
        server.respond(lambda seen: response)
        with Runyard(api_key="k", base_url=server.api) as client:
            begin = time.monotonic()
            with pytest.raises(runyard.RunTimeoutError):
                client.runs.follow_until_done("r1", max_wait=0.4, **options)
        assert 0.4 <= time.monotonic() - begin < 50

    @pytest.mark.anyio
    async def test_stop_after_max_wait_asynchronously(self, server: FaultServer) -> None:
        server.respond(lambda seen: {"reset": "before"})
        async with AsyncRunyard(api_key="k", base_url=server.api) as client:
            begin = time.monotonic()
            with pytest.raises(runyard.RunTimeoutError) as caught:
                await client.runs.follow_until_done("r1", max_wait=0.4)
        assert 0.4 <= time.monotonic() - begin < 50
        assert isinstance(caught.value.__cause__, runyard.APIConnectionError)

    def test_stop_after_max_wait_if_the_run_cannot_be_read(self, server: FaultServer) -> None:
        ended = {"body": {"events": [], "next": 0, "ended": True}}
        server.respond(lambda seen: ended if "/events" in seen.path else {"status": 503})
        with Runyard(api_key="k", base_url=server.api) as client:
            with pytest.raises(runyard.RunTimeoutError) as caught:
                client.runs.follow_until_done("r1", max_wait=3, max_retries=30)
        assert isinstance(caught.value.__cause__, runyard.InternalServerError)

    @pytest.mark.anyio
    async def test_are_passed_to_on_event(self, server: FaultServer, async_client: AsyncRunyard) -> None:
        respond = many_events(5)
        server.respond(lambda seen: respond(seen) if "/events" in seen.path else {"body": RUN})
        sequences: list[int] = []

        async def record(event: RunEvent) -> None:
            sequences.append(event.sequence)

        async with async_client as client:
            run = await client.runs.create_and_wait(prompt="x", on_event=record, timeout=5, max_retries=1)
            again = await client.runs.follow_until_done("r1", on_event=lambda event: sequences.append(event.sequence))
        assert (run.state, again.state, sequences) == ("SUCCEEDED", "SUCCEEDED", [1, 2, 3, 4, 5] * 2)

    def test_end_in_an_unknown_state(self, server: FaultServer, client: Runyard) -> None:
        respond = many_events(5)
        ended = {"body": {"events": [], "next": 5, "ended": True}}
        run = {"body": {**RUN, "state": "ARCHIVED"}}
        server.play([respond(Seen("api", "GET", "", "after=0", {}, b"")), run, ended, run])
        assert client.runs.follow_until_done("r1").state == "ARCHIVED"


def many_events(total: int) -> Any:
    """Returns a responder with `total` events, in precomputed pages of 1,000, so that only the client is measured."""
    bodies = {after: json.dumps(events_after(after, total)).encode() for after in range(0, total, 1000)}

    def respond(seen: Seen) -> dict[str, Any]:
        return {"raw": bodies[int(parse_qs(seen.raw_query)["after"][0])]}

    return respond


def events_after(after: int, total: int) -> dict[str, Any]:
    until = min(after + 1000, total)
    events = [
        {"sequence": n, "type": "messages", "occurred_at": "2026-05-18T19:00:00.000Z", "data": {"n": n}}
        for n in range(after + 1, until + 1)
    ]
    return {"events": events, "next": until, "ended": until == total}
