"""Tests against a running service: models match its responses, and its storage receives no keys."""

from __future__ import annotations

import hashlib

import anyio
import pytest

import runyard
from runyard import AsyncRunyard, Runyard
from runyard.types import FileArtifactItem

REPORT = "```sh\nmkdir -p reports && printf '# Report\\n' > reports/r.md && echo done\n```"


@pytest.fixture(scope="module")
def run_id() -> str:
    with Runyard() as client:
        return client.runs.create_and_wait(prompt=REPORT, metadata={"client": "python"}).run_id


def test_a_repeated_create_makes_one_run() -> None:
    with Runyard() as client:
        first = client.runs.create(prompt="```sh\ntrue\n```", idempotency_key="python-live-1")
        again = client.runs.with_raw_response.create(prompt="```sh\ntrue\n```", idempotency_key="python-live-1")
        assert again.parse().run_id == first.run_id
        assert again.headers["idempotent-replay"] == "true"
        with pytest.raises(runyard.ConflictError) as caught:
            client.runs.create(prompt="```sh\nfalse\n```", idempotency_key="python-live-1")
        assert (caught.value.error_code, caught.value.retryable) == ("conflict", False)


def test_an_invalid_request_names_its_fields() -> None:
    with Runyard() as client, pytest.raises(runyard.BadRequestError) as caught:
        client.schedules.create(name="", cron_schedule="never", prompt="x")
    assert {field.path for field in caught.value.errors} >= {"name"}
    assert caught.value.request_id == caught.value.trace_id


def test_models_match_the_responses(run_id: str) -> None:
    """Validates strictly: in a response that does not match, members would have the wrong types."""
    with Runyard() as client:
        run = client.runs.retrieve(run_id)
        assert type(run).model_validate_json(client.runs.with_raw_response.retrieve(run_id).content) == run
        for read in (client.runs.with_raw_response.response, client.runs.with_raw_response.transcript):
            response = read(run_id)
            value = response.parse()
            assert type(value).model_validate_json(response.content) == value
        for listed in (
            client.runs.list(),
            client.runs.timeline(run_id),
            client.runs.conversation(run_id),
            client.schedules.list(),
            client.identities.list(),
            client.environments.list(),
            client.keys.list(),
            client.teams.list(),
            client.secrets.list(),
        ):
            assert type(listed.body).model_validate(listed.body.to_dict()) == listed.body
        me = client.me.retrieve()
        assert [member.uid for member in client.teams.members.list(me.teams[0].uid)] == [me.uid]


def test_files_of_a_run_are_downloaded_without_the_key(run_id: str) -> None:
    with Runyard() as client:
        with client.runs.download_transcript(run_id) as transcript:
            assert sum(1 for _ in transcript.iter_lines()) > 0
        files = [each for each in client.runs.retrieve(run_id).artifacts or [] if isinstance(each, FileArtifactItem)]
        for file in files:
            with client.artifacts.download(file.data.artifact_uid) as download:
                assert download.read() == b"# Report\n"


def test_an_upload_is_bound_to_its_digest() -> None:
    data = b"attached " * 1000
    with Runyard() as client:
        assert client.attachments.upload(data, file_name="a.txt")
        made = client.attachments.create(
            file_name="b.txt", mime_type="text/plain", size_bytes=3, sha256=hashlib.sha256(b"abc").hexdigest()
        )
        assert made.upload.url.startswith("http")


def test_the_asynchronous_client_follows_several_runs_at_once() -> None:
    seen: dict[str, list[int]] = {}

    async def follow(client: AsyncRunyard, number: int) -> None:
        made = await client.runs.create(prompt=f"```sh\necho {number}\n```")
        seen[made.run_id] = [event.sequence async for event in client.runs.events(made.run_id)]

    async def main() -> None:
        async with AsyncRunyard() as client, anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(follow, client, number)

    anyio.run(main)
    assert len(seen) == 3
    assert all(sequences == list(range(1, len(sequences) + 1)) for sequences in seen.values())
