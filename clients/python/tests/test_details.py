"""Details of bodies, request options, errors and models, member by member."""

from __future__ import annotations

import json
import uuid
from datetime import date, datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

import httpx
import pytest
from fault_server import FaultServer, Seen

import runyard
from runyard import AsyncRunyard, Runyard
from runyard._decode import decode
from runyard._models import kind_of
from runyard._options import NOT_GIVEN
from runyard._sync._runs import _longer
from runyard._upload import form_of
from runyard._wire import json_bytes, path, query_items
from runyard.errors import status_error
from runyard.types import Me, RunItem, UploadTarget

RUN: dict[str, Any] = {"run_id": "r1", "task_id": "r1", "title": "T", "state": "SUCCEEDED", "prompt": "P"}
TIMES = {"created_at": "2026-05-18T19:00:00.000Z", "updated_at": "2026-05-18T19:00:00.518Z"}
TIME = "2026-05-18T19:00:00.000Z"


def body_of(value: object) -> Any:
    return json.loads(json_bytes({"value": value}))["value"]


class TestBody:
    def test_has_times_with_their_offset(self) -> None:
        local = datetime(2026, 5, 18, 21, 0, 0, 123456)
        assert body_of(local.replace(tzinfo=timezone(timedelta(hours=2)))) == "2026-05-18T21:00:00.123456+02:00"
        assert body_of(local) == local.astimezone().isoformat()
        assert query_items({"at": local}) == [("at", local.astimezone().isoformat())]

    def test_has_models_as_received(self) -> None:
        run = decode(httpx.Response(200, content=json.dumps({**RUN, "created_at": TIME})), RunItem)
        assert body_of(run) == {**RUN, "created_at": TIME}

    def test_has_maps_and_collections(self) -> None:
        assert body_of(MappingProxyType({"a": (1, 2)})) == {"a": [1, 2]}
        assert [body_of({1}), body_of(frozenset({2})), body_of(bytearray(b"\x00\xff"))] == [[1], [2], "AP8="]

    def test_has_dates_and_ids_as_text(self) -> None:
        name = uuid.UUID(int=5)
        assert [body_of(date(2026, 5, 18)), body_of(name)] == ["2026-05-18", str(name)]

    def test_refuses_anything_else_by_its_type(self) -> None:
        with pytest.raises(TypeError, match=r"^object has no form in JSON$"):
            json_bytes({"value": object()})

    def test_escapes_only_what_utf8_cannot_encode(self) -> None:
        assert json_bytes({"a": "é", "b": [1]}) == '{"a":"é","b":[1]}'.encode()
        assert json_bytes({"a": "\ud800", "b": {1}}) == b'{"a":"\\ud800","b":[1]}'
        with pytest.raises(ValueError, match="JSON compliant"):
            json_bytes({"a": "\ud800", "b": float("inf")})

    def test_of_an_upload_is_a_form_with_its_own_boundary(self) -> None:
        fields = [
            {"name": "key", "value": {"kind": "static", "value": "k1"}},
            {"name": "file", "value": {"kind": "content_data"}},
        ]
        target = {"method": "POST", "url": "http://x", "headers": {"x-a": "1"}, "fields": fields}
        read = decode(httpx.Response(200, content=json.dumps(target)), UploadTarget)
        headers, content = form_of(read, b"data")
        kind, boundary = headers["content-type"].split("; boundary=")
        assert (kind, headers["x-a"], len(boundary)) == ("multipart/form-data", "1", 32)
        assert content.decode() == (
            f'--{boundary}\r\nContent-Disposition: form-data; name="key"\r\n\r\nk1\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="file"\r\n\r\ndata\r\n'
            f"--{boundary}--\r\n"
        )
        assert form_of(read, b"data")[0]["content-type"] != headers["content-type"]


def test_skills_are_listed_by_either_name_of_their_group() -> None:
    client = Runyard(api_key="ryp_secret", base_url="https://runyard.test/api/v1")
    assert client.skills is client.agents


def test_a_path_and_a_query_are_encoded() -> None:
    assert path("/a/{one}/{two}", one="x/y z", two=".") == "/a/x%2Fy%20z/%2E"
    values = {"a": None, "b": NOT_GIVEN, "c": [True, False], "d": {"e": {"f": 1}}, "g": frozenset({2}), "h": (3,)}
    expected = [("c", "true"), ("c", "false"), ("d[e][f]", "1"), ("g", "2"), ("h", "3")]
    assert query_items(values) == expected


def test_not_given_is_false_and_shows_its_name() -> None:
    assert (bool(NOT_GIVEN), repr(NOT_GIVEN)) == (False, "NOT_GIVEN")


def test_the_kind_of_a_value_is_its_tag_if_known() -> None:
    kind = kind_of("type", ["text", "event"])
    read = type("Read", (), {"type": "event"})()
    assert [kind({"type": "text"}), kind(read), kind({"type": "new"}), kind({}), kind(5)] == [
        "text",
        "event",
        "",
        "",
        "",
    ]


class TestModel:
    def test_is_serialized_with_the_members_that_the_service_sent(self) -> None:
        run = decode(httpx.Response(200, content=json.dumps({**RUN, "created_at": TIME, "mood": 1})), RunItem)
        assert run.to_json() == json.dumps({**RUN, "created_at": TIME, "mood": 1}, separators=(",", ":"))
        assert run.to_json(indent=2).startswith('{\n  "run_id": "r1"')
        run.state = 5  # type: ignore[assignment]
        assert json.loads(run.to_json())["state"] == 5

    @pytest.mark.parametrize("time", ["2026-05-18T19:00:00.000001Z", "2026-05-18T19:00:00.120Z"])
    def test_keeps_the_precision_of_times(self, time: str) -> None:
        run = decode(httpx.Response(200, content=json.dumps({**RUN, "created_at": time})), RunItem)
        assert run.to_dict()["created_at"] == time

    def test_writes_times_in_utc(self) -> None:
        run = decode(
            httpx.Response(200, content=json.dumps({**RUN, "created_at": "2026-05-18T21:00:00+02:00"})), RunItem
        )
        assert run.to_dict()["created_at"] == TIME


class TestError:
    def test_has_all_members_of_the_problem(self) -> None:
        problem = {
            **{"type": "https://x.test/e", "title": "Bad", "detail": "d", "instance": "/agent/me", "error_code": "c"},
            **{"retryable": False, "trace_id": "t-1", "errors": [{"path": "a", "message": "b"}, {}]},
        }
        request = httpx.Request("GET", "http://x.test/a")
        response = httpx.Response(400, json=problem, headers={"x-request-id": "h-1"}, request=request)
        error = status_error(response)
        assert (error.type, error.title, error.detail, error.instance) == ("https://x.test/e", "Bad", "d", "/agent/me")
        assert (error.error_code, error.retryable, error.trace_id, error.request_id) == ("c", False, "t-1", "h-1")
        assert (error.response, error.request, error.status_code) == (response, request, 400)
        assert error.errors == [("a", "b"), ("", "")]

    @pytest.mark.parametrize(
        ("problem", "text"),
        [
            ({"error": "E", "title": "T"}, "E"),
            ({"title": "T", "message": "M"}, "T"),
            ({"message": "M"}, "M"),
            ({}, "Bad Request"),
        ],
    )
    def test_message_has_the_text_of_the_service(self, problem: object, text: str) -> None:
        request = httpx.Request("GET", "http://x.test/a")
        assert status_error(httpx.Response(400, json=problem, request=request)).message.startswith(f"400 {text}")


class TestClient:
    def test_keeps_each_setting_that_with_options_does_not_change(self, server: FaultServer) -> None:
        settings: dict[str, Any] = {"timeout": 7.0, "max_retries": 5, "team_uid": "t", "default_headers": {"x-a": "1"}}
        changes: dict[str, Any] = {
            "timeout": 9.0,
            "max_retries": 1,
            "team_uid": None,
            "base_url": f"{server.api}/v2///",
        }
        with Runyard(api_key="ryp_1", base_url=server.api, **settings) as client:
            for name, value in changes.items():
                made = client.with_options(**{name: value})
                seen = {"timeout": made.timeout, "max_retries": made.max_retries, "team_uid": made.team_uid}
                expected: dict[str, Any] = {**settings, "base_url": server.api, name: value}
                assert {**seen, "base_url": made.base_url} == {
                    **{each: expected[each] for each in seen},
                    "base_url": expected["base_url"].rstrip("/"),
                }
            server.play([{"body": {}}, {"body": {}}])
            client.with_options(api_key="ryp_2").runs.retrieve("r1")
            client.with_options(default_headers={"x-b": "2"}).runs.retrieve("r1")
            first, second = (each.headers for each in server.seen)
            assert (first["authorization"], first["x-a"]) == ("Bearer ryp_2", "1")
            assert (second["authorization"], second["x-b"], "x-a" in second) == ("Bearer ryp_1", "2", False)
            assert repr(client) == f"<Runyard {server.api}>"

    def test_sends_requests_that_have_no_method(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": {"uid": "u"}}])
        options: Any = {"extra_headers": {"x-a": "1"}}
        assert client.request("POST", "/agent/other", cast_to=Me, body={"a": 1}, options=options).uid == "u"
        (seen,) = server.seen
        assert (seen.method, seen.path, json.loads(seen.body), seen.headers["x-a"]) == (
            "POST",
            "/agent/other",
            {"a": 1},
            "1",
        )

    def test_shows_the_type_of_a_response_and_of_a_page(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": RUN}, {"body": {"runs": [RUN]}}])
        assert repr(client.runs.with_raw_response.retrieve("r1")) == "<APIResponse [200] RunItem>"
        assert repr(client.runs.list()) == "<Page of 1 items, has_next_page=False>"


class TestWaiting:
    EVENTS = {"events": [{"sequence": 1, "type": "agent_started", "occurred_at": TIME, "data": {}}], "ended": True}

    def respond(self, seen: Seen) -> dict[str, Any]:
        return {"body": self.EVENTS if "/events" in seen.path else RUN}

    def test_passes_the_options_of_a_new_run_to_each_request(self, server: FaultServer, client: Runyard) -> None:
        sequences: list[int] = []
        server.respond(self.respond)
        client.runs.create_and_wait(
            prompt="x", on_event=lambda event: sequences.append(event.sequence), extra_headers={"x-a": "1"}
        )
        assert sequences == [1]
        assert [(seen.method, seen.headers["x-a"]) for seen in server.seen] == [
            ("POST", "1"),
            ("GET", "1"),
            ("GET", "1"),
        ]

    def test_stops_after_max_retries_and_max_wait(
        self, server: FaultServer, client: Runyard, waits: list[float]
    ) -> None:
        server.respond(lambda seen: {"body": RUN} if seen.method == "POST" else {"status": 503})
        with pytest.raises(runyard.InternalServerError):
            client.runs.create_and_wait(prompt="x", max_retries=3)
        assert (len(server.seen), len(waits)) == (5, 3)
        server.respond(lambda seen: {**self.respond(seen), **({"delay_ms": 3000} if seen.path.endswith("/r1") else {})})
        with pytest.raises(runyard.APITimeoutError):
            client.runs.create_and_wait(prompt="x", max_retries=0, timeout=0.5)
        with pytest.raises(runyard.RunTimeoutError):
            client.runs.create_and_wait(prompt="x", max_wait=0)

    def test_adds_the_wait_to_the_read_timeout(self) -> None:
        given = httpx.Timeout(3, connect=4, write=5, pool=6)
        assert _longer(given, 25) == httpx.Timeout(28, connect=4, write=5, pool=6)
        assert _longer(7, 1.5) == httpx.Timeout(8.5, connect=7, write=7, pool=7)
        assert _longer(None, 25) == httpx.Timeout(None)

    def test_requests_events_and_live_output_from_its_position(self, server: FaultServer, client: Runyard) -> None:
        server.respond(self.respond)
        items = list(client.runs.stream("r1", after=0, wait=7))
        assert [item.kind for item in items] == ["event"]
        assert [item.kind for item in client.runs.stream("r1", after=1, live=False)] == []
        first, second = server.seen
        assert (first.method, first.path, first.raw_query) == (
            "GET",
            "/agent/runs/r1/events",
            "after=0&wait=7&live=true",
        )
        assert (first.headers["accept"], first.headers["last-event-id"]) == ("text/event-stream, application/json", "0")
        assert (second.raw_query, second.headers["last-event-id"]) == ("after=1&wait=25", "1")


class TestDownload:
    def test_of_a_text_in_the_artifact_has_its_type(self, server: FaultServer, client: Runyard) -> None:
        data = {"content": "# é", "content_type": "text/markdown"}
        server.play([{"body": {"artifact_uid": "a", "artifact_type": "PLAN", "data": data}}] * 2)
        with client.artifacts.download("a") as download:
            assert (download.content_type, download.headers["content-type"]) == ("text/markdown", "text/markdown")
            assert download.read() == "# é".encode()
        with client.artifacts.download("a") as download:
            assert list(download.iter_bytes(2)) == [b"# ", "é".encode()]

    def test_names_its_request_if_the_connection_breaks(self, server: FaultServer, client: Runyard) -> None:
        where = {"body": {"download_url": f"{server.storage}/t", "expires_at": TIME}}
        broken = {"at": "storage", "headers": {"content-length": "100"}, "trickle": [b"one\n"], "close": True}
        for read in ("iter_lines", "iter_bytes"):
            server.play([where, broken])
            with client.runs.download_transcript("r1") as download:
                with pytest.raises(runyard.APIConnectionError) as caught:
                    list(getattr(download, read)())
            assert str(caught.value.request.url) == f"{server.storage}/t"
            assert isinstance(caught.value.__cause__, httpx.RequestError)

    @pytest.mark.anyio
    async def test_is_the_same_asynchronously(self, server: FaultServer, async_client: AsyncRunyard) -> None:
        data = {"content": "text", "content_type": "text/markdown"}
        server.play([{"body": {"artifact_uid": "a", "artifact_type": "PLAN", "data": data}}])
        async with async_client as client:
            async with client.artifacts.download("a") as download:
                assert (download.content_type, await download.read()) == ("text/markdown", b"text")


class TestPrompt:
    def test_is_the_first_argument_or_a_keyword(self, server: FaultServer, client: Runyard) -> None:
        made = {"body": {"run_id": "r1", "task_id": "r1", "state": "QUEUED"}}
        server.play([made, made])
        client.runs.create("hello")
        client.runs.create(prompt="hello", title="Greeting")
        assert [json.loads(seen.body) for seen in server.seen] == [
            {"prompt": "hello"},
            {"prompt": "hello", "title": "Greeting"},
        ]

    def test_is_the_first_argument_of_create_and_wait(self, server: FaultServer, client: Runyard) -> None:
        made = {"body": {"run_id": "r1", "task_id": "r1", "state": "QUEUED"}}
        run = {"run_id": "r1", "task_id": "r1", "title": "T", "state": "SUCCEEDED", "prompt": "hello", **TIMES}
        server.play([made, {"body": {"events": [], "next": 1, "ended": True}}, {"body": run}])
        assert client.runs.create_and_wait("hello").state == "SUCCEEDED"
        assert json.loads(server.seen[0].body) == {"prompt": "hello"}


class TestUpload:
    def test_for_a_followup_prepares_and_stores_the_file(self, server: FaultServer, client: Runyard) -> None:
        target = {"method": "PUT", "url": f"{server.storage}/u", "headers": {"x-s": "1"}}
        prepared = {
            "attachment_id": "a1",
            "upload_url": f"{server.storage}/p",
            "upload_target": target,
            "expires_at": TIME,
        }
        server.play([{"body": {"attachments": [prepared]}}, {"at": "storage"}])
        assert client.runs.upload_attachment("r1", b"x", file_name="a.png") == "a1"
        asked, stored = server.seen
        assert asked.path == "/agent/runs/r1/attachments/prepare"
        sha256 = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
        file = {"filename": "a.png", "mime_type": "image/png", "size_bytes": 1, "sha256": sha256}
        assert json.loads(asked.body) == {"files": [file]}
        assert (stored.method, stored.headers["x-s"], stored.body) == ("PUT", "1", b"x")

    def test_guesses_the_type_and_passes_options_to_both_requests(self, server: FaultServer, client: Runyard) -> None:
        target = {"method": "PUT", "url": f"{server.storage}/u", "headers": {"x-s": "1"}}
        made = {"body": {"attachment_id": "a1", "upload": target}}
        server.play([made, {"at": "storage"}, made, {"at": "storage"}])
        assert client.attachments.upload(b"x", file_name="a.unknown", idempotency_key="mine") == "a1"
        client.attachments.upload(b"x", file_name="a.png")
        first, stored, second, _ = server.seen
        assert (first.headers["idempotency-key"], stored.method, stored.headers["x-s"], stored.body) == (
            "mine",
            "PUT",
            "1",
            b"x",
        )
        assert [json.loads(seen.body)["mime_type"] for seen in (first, second)] == [
            "application/octet-stream",
            "image/png",
        ]
