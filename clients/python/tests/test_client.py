from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import anyio
import anyio.lowlevel
import httpx
import pytest
from fault_server import FaultServer

import runyard
from runyard import AsyncRunyard, Runyard
from runyard.types import Me, RunItem

RUN = {"run_id": "r1", "task_id": "r1", "title": "T", "state": "QUEUED", "prompt": "P"}
TIMES = {"created_at": "2026-05-18T19:00:00.000Z", "updated_at": "2026-05-18T19:00:00.518Z"}
RESPONSE: dict[str, Any] = {"body": {**RUN, **TIMES}, "headers": {"x-request-id": "t-1"}}


class TestSettings:
    def test_come_from_the_environment(self, server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("RUNYARD_API_KEY", "ryp_environment")
        monkeypatch.setenv("RUNYARD_BASE_URL", server.api + "/")
        server.play([RESPONSE])
        with Runyard() as client:
            assert client.base_url == server.api
            client.runs.retrieve("r1")
        assert server.seen[0].headers["authorization"] == "Bearer ryp_environment"

    @pytest.mark.parametrize(
        ("missing", "variable"), [("api_key", "RUNYARD_API_KEY"), ("base_url", "RUNYARD_BASE_URL")]
    )
    def test_name_what_is_missing(self, missing: str, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(variable, raising=False)
        given: dict[str, Any] = {"api_key": "k", "base_url": "http://127.0.0.1:9/api/v1"}
        with pytest.raises(runyard.RunyardError, match=f"{missing}.*{variable}"):
            Runyard(**{**given, missing: None})
        with pytest.raises(runyard.RunyardError, match=f"{missing}.*{variable}"):
            AsyncRunyard(**{**given, missing: ""})

    @pytest.mark.parametrize("name", ["api_key", "base_url"])
    def test_do_not_replace_an_empty_value_by_the_environment(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(f"RUNYARD_{name.upper()}", "http://127.0.0.1:9/api/v1")
        given: dict[str, Any] = {"api_key": "k", "base_url": "http://127.0.0.1:9/api/v1"}
        with pytest.raises(runyard.RunyardError, match=name):
            Runyard(**{**given, name: ""})

    def test_refuse_a_negative_number_of_retries(self) -> None:
        with pytest.raises(ValueError, match="max_retries"):
            Runyard(api_key="k", base_url="http://127.0.0.1:9", max_retries=-1)

    def test_may_have_a_key_function(self, server: FaultServer, waits: list[float]) -> None:
        server.play([{"status": 503}, RESPONSE, RESPONSE, {"at": "storage"}])
        keys = iter(["ryp_1", "ryp_2"])
        with Runyard(api_key=lambda: next(keys), base_url=server.api) as client:
            client.runs.retrieve("r1")
            client.runs.retrieve("r1", extra_headers={"Authorization": "Bearer own"})
            with client._stream(f"{server.storage}/x", {}):
                pass
        sent = [seen.headers.get("authorization") for seen in server.seen]
        assert sent == ["Bearer ryp_1", "Bearer ryp_2", "Bearer own", None]

    def test_log_the_warnings_of_responses(self, server: FaultServer, caplog: pytest.LogCaptureFixture) -> None:
        warnings = [{"code": "unknown_member", "path": "promt", "message": "did you mean prompt?"}]
        bodies = [{**RUN, **TIMES, "warnings": value} for value in (warnings, "none", None)]
        server.play([{"body": body} for body in bodies])
        with Runyard(api_key="k", base_url=server.api) as client:
            for _ in bodies:
                client.runs.create(prompt="x")
        assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == [
            "POST /agent/runs: promt: did you mean prompt?"
        ]

    @pytest.mark.anyio
    async def test_may_have_an_asynchronous_key_function(self, server: FaultServer) -> None:
        async def current() -> str:
            await anyio.lowlevel.checkpoint()
            return "ryp_awaited"

        server.play([RESPONSE])
        async with AsyncRunyard(api_key=current, base_url=server.api) as client:
            await client.runs.retrieve("r1")
        assert server.seen[0].headers["authorization"] == "Bearer ryp_awaited"

    @pytest.mark.parametrize("key", ["line\nbreak", "ryp_\u00fc", "two words", "ryp_a\r"])
    def test_refuse_an_invalid_key(self, key: str) -> None:
        with pytest.raises(runyard.RunyardError, match="characters that no key has"):
            Runyard(api_key=key, base_url="http://127.0.0.1:9/api/v1")

    @pytest.mark.parametrize("key", ["ryp_secret\nbreak", "ryp_secret\0", "ryp_secret\u00fc"])
    def test_do_not_show_an_invalid_key_of_a_function(self, key: str, server: FaultServer) -> None:
        with Runyard(api_key=lambda: key, base_url=server.api) as client:
            for call in (lambda: client.me.retrieve(), lambda: list(client.runs.stream("r1"))):
                with pytest.raises(runyard.RunyardError, match="characters that no key has") as caught:
                    call()
                assert "ryp_secret" not in str(caught.value)
        assert server.seen == []

    @pytest.mark.parametrize("address", ["127.0.0.1/api/v1", "ftp://127.0.0.1/api/v1", "localhost:4500"])
    def test_refuse_an_invalid_base_url(self, address: str, client: Runyard) -> None:
        with pytest.raises(runyard.RunyardError, match="base_url must begin with http"):
            Runyard(api_key="k", base_url=address)
        with pytest.raises(runyard.RunyardError, match="base_url must begin with http"):
            client.with_options(base_url=address)

    def test_do_not_show_the_key(self, server: FaultServer) -> None:
        with Runyard(api_key="ryp_secret", base_url=server.api) as client:
            assert "ryp_secret" not in repr(client) + repr(vars(client)["_settings"])

    def test_are_kept_unless_with_options_changes_them(self, server: FaultServer, client: Runyard) -> None:
        server.play([RESPONSE, RESPONSE])
        other = client.with_options(team_uid="team-1", max_retries=0, timeout=3, default_headers={"X-Extra": "1"})
        other.runs.retrieve("r1")
        client.runs.retrieve("r1")
        first, second = (seen.headers for seen in server.seen)
        assert (first["x-team-uid"], first["x-extra"], first["authorization"]) == ("team-1", "1", "Bearer ryp_test")
        assert "x-team-uid" not in second
        assert (other.max_retries, other.timeout, client.max_retries) == (0, 3, 2)
        assert (other.team_uid, client.team_uid) == ("team-1", None)


class TestConnections:
    def test_are_closed_with_the_client(self, server: FaultServer) -> None:
        with Runyard(api_key="k", base_url=server.api) as client:
            derived = client.with_options(max_retries=0)
            derived.close()
            server.play([RESPONSE])
            client.runs.retrieve("r1")
        with pytest.raises(RuntimeError, match="closed"):
            client.runs.retrieve("r1")

    def test_of_a_custom_http_client_stay_open(self, server: FaultServer) -> None:
        server.play([RESPONSE, RESPONSE])
        with httpx.Client(headers={"x-own": "1"}) as http:
            with Runyard(api_key="k", base_url=server.api, http_client=http) as client:
                client.runs.retrieve("r1")
            assert http.get(f"{server.api}/agent/runs/r1").status_code == 200
        assert server.seen[0].headers["x-own"] == "1"

    @pytest.mark.anyio
    async def test_are_closed_with_the_asynchronous_client(self, server: FaultServer) -> None:
        server.play([RESPONSE])
        async with AsyncRunyard(api_key="k", base_url=server.api) as client:
            assert (await client.runs.retrieve("r1")).run_id == "r1"
        with pytest.raises(RuntimeError, match="closed"):
            await client.runs.retrieve("r1")


class TestCall:
    def test_takes_options(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": RUN}])
        client.runs.create(
            prompt="x",
            idempotency_key="mine",
            extra_headers={"X-Run-Source": "CLI", "Authorization": "Bearer other"},
            extra_query={"dry_run": True, "tags": ["a", "b"]},
            extra_body={"invented": {"later": [1]}},
            timeout=httpx.Timeout(3),
        )
        (seen,) = server.seen
        assert seen.headers["idempotency-key"] == "mine"
        assert (seen.headers["x-run-source"], seen.headers["authorization"]) == ("CLI", "Bearer other")
        assert seen.raw_query == "dry_run=true&tags=a&tags=b"
        assert json.loads(seen.body) == {"prompt": "x", "invented": {"later": [1]}}

    def test_refuses_a_misspelled_argument(self, server: FaultServer, client: Runyard) -> None:
        options: Any = {"enviroment_id": "e1"}
        with pytest.raises(TypeError, match="'enviroment_id'"):
            client.runs.create(prompt="Hi", **options)
        with pytest.raises(TypeError, match="'enviroment_id'"):
            list(client.runs.list(**options))
        assert server.seen == []

    def test_of_dry_run_returns_the_findings(self, server: FaultServer, client: Runyard) -> None:
        finding = {"code": "default_model", "severity": "info", "message": "m", "remedy": "r"}
        server.play([{"body": {"would_start": True, "findings": [finding]}}])
        result = client.runs.dry_run(prompt="x")
        assert result.would_start
        assert [each.code for each in result.findings] == ["default_model"]
        assert result.resolved_config is None
        (seen,) = server.seen
        assert (seen.method, seen.path, seen.raw_query) == ("POST", "/agent/runs", "dry_run=true")
        assert json.loads(seen.body) == {"prompt": "x"}

    def test_uses_a_new_idempotency_key_for_each_post(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": RUN}] * 2)
        client.runs.create(prompt="x")
        client.runs.create(prompt="x")
        first, second = (seen.headers["idempotency-key"] for seen in server.seen)
        assert first != second

    def test_sends_times_bytes_and_nulls_as_the_service_reads_them(self, server: FaultServer, client: Runyard) -> None:
        page = {"body": {"runs": [], "page_info": {"has_next_page": False}}}
        server.play([{"body": RUN}, page, {"body": {}}])
        moment = datetime(2026, 5, 18, 21, 0, 0, 123456, tzinfo=timezone(timedelta(hours=2)))
        image = {"file_name": "a.png", "mime_type": "image/png", "data": b"\x00\xff"}
        client.runs.create(prompt="grüß 日本", attachments=[image])  # type: ignore[list-item]
        client.runs.list(created_after=moment, metadata={"a": "b c"}, state=["QUEUED"])
        client.keys.create(name="k", expires_at=None)
        create, listing, key = server.seen
        assert create.body.decode() == (
            '{"prompt":"grüß 日本","attachments":[{"file_name":"a.png","mime_type":"image/png","data":"AP8="}]}'
        )
        assert listing.raw_query == (
            "state=QUEUED&created_after=2026-05-18T21%3A00%3A00.123456%2B02%3A00&metadata%5Ba%5D=b+c"
        )
        assert json.loads(key.body) == {"name": "k", "expires_at": None}

    def test_sends_text_that_utf8_cannot_encode(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": RUN}])
        client.runs.create(prompt="\ud800")
        assert server.seen[0].body == b'{"prompt":"\\ud800"}'

    @pytest.mark.parametrize("value", [float("nan"), object()])
    def test_refuses_values_without_a_form_in_json(self, value: object, server: FaultServer, client: Runyard) -> None:
        with pytest.raises((TypeError, ValueError)):
            client.runs.create(prompt="x", extra_body={"value": value})
        assert server.seen == []

    def test_refuses_an_empty_id(self, server: FaultServer, client: Runyard) -> None:
        with pytest.raises(ValueError, match="run_id"):
            client.runs.retrieve("")
        assert server.seen == []

    @pytest.mark.parametrize(("value", "sent"), [("..", "%2E%2E"), ("a/b?c#d%", "a%2Fb%3Fc%23d%25"), ("é", "%C3%A9")])
    def test_encodes_an_id_as_one_segment(self, value: str, sent: str, server: FaultServer, client: Runyard) -> None:
        server.play([RESPONSE])
        client.runs.retrieve(value)
        assert server.seen[0].path == f"/agent/runs/{sent}"

    def test_can_use_a_path_without_a_method(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"body": {"uid": "u1", "display_name": "Ada", "email": "a@example.com", "teams": []}}])
        me = client.request("GET", "/agent/me", cast_to=Me, query={"a": 1})
        assert (me.uid, server.seen[0].raw_query) == ("u1", "a=1")


class TestRawResponse:
    def test_has_status_headers_and_value(self, server: FaultServer, client: Runyard) -> None:
        server.play([{"status": 503, "headers": {"retry-after-ms": "0"}}, RESPONSE])
        response = client.runs.with_raw_response.retrieve("r1")
        run: RunItem = response.parse()
        assert (run.run_id, response.status_code, response.request_id, response.retries_taken) == ("r1", 200, "t-1", 1)
        assert json.loads(response.text) == json.loads(response.content) == RESPONSE["body"]
        assert response.headers["content-type"] == "application/json"
        assert "200" in repr(response)

    def test_has_pages(self, server: FaultServer, client: Runyard) -> None:
        more = {"has_next_page": True, "next_cursor": "c"}
        server.play(
            [
                {"body": {"keys": [{"uid": "1"}], "page_info": more}, "headers": {"x-request-id": "t-2"}},
                {"body": {"keys": [{"uid": "2"}]}},
            ]
        )
        response = client.identities.keys.with_raw_response.list("i1")
        assert response.request_id == "t-2"
        assert [key.uid for key in response.parse().data] == ["1"]
        assert response.parse().has_next_page()
        assert [key.uid for key in response.parse()] == ["1", "2"]

    @pytest.mark.anyio
    async def test_has_pages_asynchronously(self, server: FaultServer, async_client: AsyncRunyard) -> None:
        more = {"has_next_page": True, "next_cursor": "c"}
        second = {"body": {"runs": [{"run_id": "2"}]}}
        server.play([{"body": {"runs": [{"run_id": "1"}], "page_info": more}}, second, second])
        async with async_client as client:
            page = (await client.runs.with_raw_response.list(limit=1)).parse()
            assert [run.run_id async for run in page] == ["1", "2"]
            assert [run.run_id for run in (await page.get_next_page()).data] == ["2"]
        assert [seen.raw_query for seen in server.seen] == ["limit=1", "limit=1&cursor=c", "limit=1&cursor=c"]

    @pytest.mark.anyio
    async def test_works_asynchronously(self, server: FaultServer, async_client: AsyncRunyard) -> None:
        page = {"body": {"runs": [RESPONSE["body"]], "page_info": {"has_next_page": False}}}
        server.play([RESPONSE, page, {"status": 204}])
        async with async_client as client:
            assert (await client.runs.with_raw_response.retrieve("r1")).parse().run_id == "r1"
            listed = await client.runs.with_raw_response.list()
            assert [run.run_id for run in listed.parse().data] == ["r1"]
            nothing = await client.keys.with_raw_response.delete("k1")
            assert nothing.status_code == 204


class TestSharing:
    def test_threads_share_a_client(self, server: FaultServer, client: Runyard) -> None:
        server.respond(lambda seen: {"body": {**RESPONSE["body"], "run_id": seen.path.rsplit("/", 1)[1]}})
        ids = [f"r{number}" for number in range(200)]
        with ThreadPoolExecutor(16) as pool:
            runs = list(pool.map(client.runs.retrieve, ids))
        assert [run.run_id for run in runs] == ids

    @pytest.mark.anyio
    async def test_a_cancelled_call_leaves_the_client_usable(
        self, server: FaultServer, async_client: AsyncRunyard
    ) -> None:
        server.respond(lambda seen: {**RESPONSE, **({"delay_ms": 2000} if "slow" in seen.path else {})})
        async with async_client as client:
            for _ in range(3):
                with anyio.move_on_after(0.1) as scope:
                    await client.runs.retrieve("slow")
                assert scope.cancel_called
            assert (await client.runs.retrieve("fast")).run_id == "r1"


class TestPages:
    PAGES = (
        {"body": {"runs": [{"run_id": "1"}], "page_info": {"has_next_page": True, "next_cursor": "c"}}},
        {"body": {"runs": [{"run_id": "2"}], "page_info": {"has_next_page": False}}},
    )

    def test_are_fetched_one_by_one(self, server: FaultServer, client: Runyard) -> None:
        server.play(list(self.PAGES))
        page = client.runs.list(limit=1, timeout=9)
        assert (page.has_next_page(), [run.run_id for run in page.data]) == (True, ["1"])
        last = page.get_next_page()
        assert (last.has_next_page(), [run.run_id for run in last.data]) == (False, ["2"])
        assert "1 items" in repr(last)
        assert last.body.to_dict() == self.PAGES[1]["body"]
        with pytest.raises(RuntimeError, match="no page"):
            last.get_next_page()
        assert [seen.raw_query for seen in server.seen] == ["limit=1", "limit=1&cursor=c"]

    def test_are_fetched_as_needed(self, server: FaultServer, client: Runyard) -> None:
        server.play(list(self.PAGES))
        items = iter(client.runs.list())
        assert next(items).run_id == "1"
        assert len(server.seen) == 1
        assert next(items).run_id == "2"
        assert len(server.seen) == 2

    @pytest.mark.anyio
    async def test_are_fetched_asynchronously(self, server: FaultServer, async_client: AsyncRunyard) -> None:
        server.play([*self.PAGES, *self.PAGES, *self.PAGES])
        async with async_client as client:
            page = await client.runs.list()
            assert [run.run_id async for run in page] == ["1", "2"]
            assert [run.run_id async for run in client.runs.list()] == ["1", "2"]
            assert [len(each.data) async for each in client.runs.list().iter_pages()] == [1, 1]
