"""Responses of a newer service are parsed by an older client."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import httpx
import pytest

from runyard import BaseModel
from runyard._decode import Shape, UnreadableError, decode
from runyard.types import (
    ArtifactResponse,
    Conversation,
    FileArtifactItem,
    RunItem,
    TextBlock,
    UnknownArtifactItem,
    UnknownBlock,
)

RUN: dict[str, Any] = {
    "run_id": "r1",
    "task_id": "r1",
    "title": "T",
    "state": "SUCCEEDED",
    "prompt": "P",
    "created_at": "2026-05-18T19:00:00.000Z",
    "updated_at": "2026-05-18T19:04:12.518Z",
    "started_at": None,
}


def read(body: Any, cast_to: type[BaseModel] = RunItem) -> Any:
    return decode(httpx.Response(200, content=json.dumps(body)), cast_to)


class TestResponse:
    def test_has_times_as_datetimes_and_serializes_them_unchanged(self) -> None:
        run = read(RUN)
        assert run.updated_at == datetime(2026, 5, 18, 19, 4, 12, 518000, tzinfo=timezone.utc)
        assert run.started_at is None
        assert run.to_dict() == RUN
        assert '"updated_at":"2026-05-18T19:04:12.518Z"' in run.to_json()

    def test_keeps_unknown_members(self) -> None:
        run = read({**RUN, "mood": {"is": "fine"}})
        assert run.mood == {"is": "fine"}
        assert run.to_dict()["mood"] == {"is": "fine"}

    def test_keeps_unknown_values_of_enumerations(self) -> None:
        assert read({**RUN, "state": "DREAMING", "source": "TELEPATHY"}).state == "DREAMING"

    def test_has_none_for_missing_required_members(self) -> None:
        run = read({"run_id": "r1", "updated_at": "2026-05-18T19:04:12.518Z"})
        assert (run.run_id, run.state, run.title, run.source) == ("r1", None, None, None)
        assert run.updated_at.year == 2026
        assert run.to_dict() == {"run_id": "r1", "updated_at": "2026-05-18T19:04:12.518Z"}

    def test_keeps_values_of_the_wrong_type_and_parses_the_rest(self) -> None:
        run = read({**RUN, "created_at": "yesterday", "creator": {"uid": 7}, "artifacts": "none", "run_time": 3})
        assert (run.created_at, run.artifacts, run.run_time) == ("yesterday", "none", 3)
        assert (run.creator.uid, run.creator.type) == (7, None)
        assert run.updated_at.year == 2026
        assert run.to_dict()["created_at"] == "yesterday"

    @pytest.mark.parametrize("body", ["a string", 7, None, [], True])
    def test_must_be_an_object_if_its_type_is_one(self, body: object) -> None:
        with pytest.raises(UnreadableError, match="RunItem"):
            read(body)

    @pytest.mark.parametrize("content", [b"", b"{", b'{"run_id": "r1"', b"<html>", b"\xff", b"[" * 100_000])
    def test_must_be_json(self, content: bytes) -> None:
        with pytest.raises(UnreadableError, match="not JSON"):
            decode(httpx.Response(200, content=content), RunItem)

    def test_names_the_base_url_if_the_body_is_a_web_page(self) -> None:
        page = httpx.Response(200, html="<html>")
        with pytest.raises(UnreadableError, match="it is text/html"):
            decode(page, RunItem)


class TestUnion:
    FILE = {
        "artifact_type": "FILE",
        "created_at": "2026-05-18T19:00:00.000Z",
        "data": {"artifact_uid": "a", "filepath": "a/b", "filename": "b", "mime_type": "text/plain"},
    }

    def test_is_resolved_by_its_tag(self) -> None:
        run = read({**RUN, "artifacts": [self.FILE, {"artifact_type": "HOLOGRAM", "data": {"depth": 3}}]})
        file, unknown = run.artifacts
        assert isinstance(file, FileArtifactItem)
        assert file.data.filename == "b"
        assert isinstance(unknown, UnknownArtifactItem)
        assert (unknown.artifact_type, unknown.to_dict()["data"]) == ("HOLOGRAM", {"depth": 3})

    def test_is_parsed_in_a_response_that_does_not_match(self) -> None:
        run = read({"artifacts": [self.FILE, {"artifact_type": "FILE"}, {"artifact_type": "X"}, 7]})
        file, bare, unknown, number = run.artifacts
        assert file.data.filepath == "a/b"
        assert isinstance(bare, FileArtifactItem)
        assert bare.data is None
        assert isinstance(unknown, UnknownArtifactItem)
        assert number == 7

    def test_may_be_the_whole_response(self) -> None:
        shape: Shape[Any] = Shape(ArtifactResponse)
        response = httpx.Response(200, json={"artifact_uid": "a", "artifact_type": "NEW", "data": {"x": 1}})
        assert decode(response, shape).to_dict()["data"] == {"x": 1}
        bare = decode(httpx.Response(200, json={"artifact_uid": "a", "artifact_type": "FILE"}), shape)
        assert bare.artifact_uid == "a"

    def test_is_parsed_in_nested_steps(self) -> None:
        blocks = [{"type": "text", "text": "hello"}, {"type": "smell", "of": "roses"}]
        inner = {"id": "2", "messages": [], "steps": []}
        outer = {"id": "1", "messages": [{"role": "assistant", "content": blocks}], "steps": [inner]}
        body = {"conversation_id": "c", "steps": [outer]}
        conversation: Conversation = read(body, Conversation)
        text, unknown = conversation.steps[0].messages[0].content
        assert isinstance(text, TextBlock)
        assert text.text == "hello"
        assert isinstance(unknown, UnknownBlock)
        assert conversation.steps[0].steps[0].id == "2"
        assert conversation.to_dict() == body
