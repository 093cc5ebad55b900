# Generated from src/runyard/_async/_runs.py by scripts/generate: do not edit.
from __future__ import annotations

import hashlib
import math
import os
import time
from contextlib import contextmanager
from functools import partial
from typing import Callable, Iterator

import httpx
from typing_extensions import Unpack

from .. import _wire
from .._artifact_files import ArtifactFile, place_files, plan_files
from .._base import Call
from .._decode import UnreadableError, decode
from .._options import RequestOptions
from .._retry import DeadlineError, seconds_until, wait_before_retry
from .._stream import EventParser, GapError, RunStreamItem, StreamState, Waiting
from ..errors import APIError, RunTimeoutError, connection_error
from ..params import PrepareAttachmentsRequestFileParam, RunAgentRequestParam
from ..types import RunEvent, RunEvents, RunItem
from ._artifacts import Artifacts
from ._attachments import read_file, store_file
from ._download import Download
from ._io import invoke, sleep
from ._transport import DeadlineStream
from .resources.runs import RunsBase

ENDED = frozenset({"SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"})

PAUSE_SECONDS = 1.0
"""The minimum time between the starts of two connections without anything new."""

SILENCE_SECONDS = 45.0
"""The service sends something every 15 seconds; without it for this long, the connection is lost."""

POLL_RETRIES = 30
"""Covers about two minutes of an unreachable service."""


class _CreateParams(RunAgentRequestParam, RequestOptions, total=False):
    """The parameters of `create`."""

    run_source: str


class Runs(RunsBase):
    def events(
        self, run_id: str, *, after: int = 0, wait: int = 25, **options: Unpack[RequestOptions]
    ) -> Iterator[RunEvent]:
        """Iterates over the events of a run as they happen, in order and without duplicates, until the run has ended.

        Resumes after connection errors: a poll is retried up to 30 times unless `max_retries` is set.

        Args:
            after: The sequence number of the last known event.
            wait: Seconds, 0 to 25, for which the service waits for an event, in addition to the timeout.
        """
        for event in self._events(run_id, after, wait, options):
            yield event

    def stream(
        self,
        run_id: str,
        *,
        after: int = 0,
        live: bool = True,
        wait: int = 25,
        on_waiting: Callable[[int], object] | None = None,
        **options: Unpack[RequestOptions],
    ) -> Iterator[RunStreamItem]:
        """Iterates over the events of a run as they happen, and over the output that it is producing.

        Events come in order and without duplicates, until the run has ended. Reconnects after errors. Uses server-sent
        events, or long polling where the deployment cannot stream. An item has a `kind`: `event` with an `event`, or
        `live` with a `frame`.

        Args:
            after: The sequence number of the last known event.
            live: Whether to include the output that the run is producing.
            wait: Seconds, 0 to 25, for which the service waits for an event where it cannot stream.
            on_waiting: Called with the run's position in the queue for capacity, from 1, when it changes. Requires
                `live`.
        """
        state = StreamState(after)
        failures = 0
        while not state.ended:
            began = time.monotonic()
            is_new = False
            try:
                for item in self._connection(run_id, state, live, wait, options):
                    if isinstance(item, Waiting):
                        if on_waiting is not None:
                            invoke(partial(on_waiting, item.position))
                        continue
                    is_new = True
                    failures = 0
                    yield item
            except GapError:
                pass
            except APIError as error:
                seconds = wait_before_retry(error, failures)
                if seconds is None or failures >= options.get("max_retries", POLL_RETRIES):
                    raise
                failures += 1
                sleep(seconds)
                continue
            failures = 0
            if not is_new and not state.ended:
                # A response that is empty and did not wait would otherwise cause requests without pauses.
                sleep(max(0.0, PAUSE_SECONDS - (time.monotonic() - began)))

    def _connection(
        self, run_id: str, state: StreamState, live: bool, wait: int, options: RequestOptions
    ) -> Iterator[RunStreamItem | Waiting]:
        """Sends one request and reads its response."""
        client = self._client
        query = {"after": state.last, "wait": wait, "live": live or None, "live_after": state.live_after}
        call = Call.make(
            client._settings,
            client._headers,
            "GET",
            _wire.path("/agent/runs/{run_id}/events", run_id=run_id),
            query=query,
            body=None,
            headers={"accept": "text/event-stream, application/json", "last-event-id": state.last},
            # `stream` retries.
            options={**options, "max_retries": 0},
        )
        timeout = options.get("timeout", client._settings.timeout)
        call.timeout = _longer(timeout, max(wait, SILENCE_SECONDS))
        began = time.monotonic()
        raw = client._repeat(call, lambda response: None, stream=True)
        response = raw.http_response
        try:
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                parser = EventParser()
                for piece in response.iter_text():
                    for name, data in parser.push(piece):
                        item = state.take_named(name, data)
                        if item is not None:
                            yield item
                    if state.ended:
                        return
                return
            # Unlike a stream, a page has to be complete within the timeout, which began with the request.
            limit = _longer(timeout, wait).read
            if limit is not None:
                response.stream = DeadlineStream(response, began + limit)
            response.read()
            for item in state.take_page(decode(response, RunEvents)):
                yield item
        except (httpx.RequestError, UnreadableError, ValueError) as cause:
            raise connection_error(cause, response.request) from cause
        finally:
            response.close()

    def follow_until_done(
        self,
        run_id: str,
        *,
        on_event: Callable[[RunEvent], object] | None = None,
        after: int = 0,
        max_wait: float | None = None,
        **options: Unpack[RequestOptions],
    ) -> RunItem:
        """Follows a run until it ends and returns it.

        A failed run is returned too, not raised: see its `state` and `status_message`.

        Args:
            on_event: Called with each event, in order. The next event follows once the call has returned.
            after: The sequence number of the last known event.
            max_wait: The maximum number of seconds to follow the run, including retries. Default: no limit.

        Raises:
            RunTimeoutError: The run has not ended within `max_wait` seconds. It continues.
        """
        deadline = None if max_wait is None else time.monotonic() + max_wait
        runs = Runs(self._client._until(deadline))
        last = None
        try:
            while True:
                for event in runs._events(run_id, after, 25, options):
                    after = event.sequence
                    if on_event is not None:
                        invoke(partial(on_event, event))
                run = runs.retrieve(run_id, **options)
                # A follow-up may have restarted the run. Without new events, the state is unknown to this version.
                if run.state in ENDED or after == last:
                    return run
                last = after
        except DeadlineError as error:
            raise RunTimeoutError(run_id) from error.__cause__

    def upload_attachment(
        self,
        run_id: str,
        file: str | os.PathLike[str] | bytes,
        *,
        file_name: str | None = None,
        mime_type: str | None = None,
        **options: Unpack[RequestOptions],
    ) -> str:
        """Uploads a file of up to 100 MB for a follow-up to a run.

        Returns its id, for `attachments=[{"attachment_id": …}]` of the follow-up.

        Args:
            file: A path, or the bytes themselves.
            file_name: The name that the agent sees. Default: the path's last part; needed for bytes.
            mime_type: Default: what the name's ending means, else `application/octet-stream`.
        """
        name, kind, data = read_file(file, file_name, mime_type)
        digest = hashlib.sha256(data).hexdigest()
        described: PrepareAttachmentsRequestFileParam = {
            "filename": name,
            "mime_type": kind,
            "size_bytes": len(data),
            "sha256": digest,
        }
        made = self.prepare_attachments(run_id, files=[described], **options)
        [prepared] = made.attachments
        store_file(self._client, prepared.upload_target, data, options)
        return prepared.attachment_id

    def download_artifacts(
        self,
        run_id: str,
        folder: str | os.PathLike[str],
        *,
        overwrite: bool = False,
        **options: Unpack[RequestOptions],
    ) -> list[ArtifactFile]:
        """Saves the content of each artifact of a run in a folder, which is created if it does not exist.

        Returns the artifacts with the paths of their files. The agent chose the names of its files; none is saved
        outside of the folder, and each has a file of its own. Artifacts without content, such as pull requests, are
        left out.

        Args:
            overwrite: Whether to replace files that exist. Otherwise such a file raises `FileExistsError`, before
                anything is saved.
        """
        run = self.retrieve(run_id, **options)
        files = place_files(plan_files(run.artifacts or []), folder, overwrite=overwrite)
        os.makedirs(folder, exist_ok=True)
        for file in files:
            os.makedirs(os.path.dirname(file.path), exist_ok=True)
            with Artifacts(self._client).download(file.artifact_uid, **options) as download:
                download.write_to_file(file.path)
        return files

    def create_and_wait(
        self,
        prompt: str | None = None,
        /,
        *,
        on_event: Callable[[RunEvent], object] | None = None,
        max_wait: float | None = None,
        **params: Unpack[_CreateParams],
    ) -> RunItem:
        """Creates a run, follows it until it ends and returns it: combines `create` and `follow_until_done`."""
        if prompt is not None:
            params["prompt"] = prompt
        made = self.create(**params)
        options: RequestOptions = {}
        if "timeout" in params:
            options["timeout"] = params["timeout"]
        if "max_retries" in params:
            options["max_retries"] = params["max_retries"]
        if "extra_headers" in params:
            options["extra_headers"] = params["extra_headers"]
        return self.follow_until_done(made.run_id, on_event=on_event, max_wait=max_wait, **options)

    @contextmanager
    def download_transcript(self, run_id: str, **options: Unpack[RequestOptions]) -> Iterator[Download]:
        """Downloads the raw transcript, a JSON Lines file, as a stream. Use it with `with`.

        Waits for the transcript of a run that has just ended: `max_retries` retries, 30 by default, a second apart.
        """
        waiting: RequestOptions = {"max_retries": POLL_RETRIES, **options}
        where = self.transcript(run_id, **waiting)
        with self._client._stream(where.download_url, options) as response:
            yield Download(response)

    def _events(self, run_id: str, after: int, wait: int, options: RequestOptions) -> Iterator[RunEvent]:
        polling: RequestOptions = {"max_retries": POLL_RETRIES, **options}
        polling["timeout"] = _longer(options.get("timeout", self._client._settings.timeout), wait)
        deadline = self._client._deadline
        while True:
            began = time.monotonic()
            wait = math.ceil(min(wait, seconds_until(deadline)))
            page = self.list_events(run_id, after=after, wait=wait, **polling)
            for event in page.events or []:
                yield event
            if page.ended:
                return
            after = max(after, page.next or 0)
            if not page.events and time.monotonic() - began < 1:
                # A response that is empty and did not wait would otherwise cause requests without pauses.
                sleep(min(1, seconds_until(deadline)))


def _longer(timeout: float | httpx.Timeout | None, seconds: float) -> httpx.Timeout:
    given = timeout if isinstance(timeout, httpx.Timeout) else httpx.Timeout(timeout)
    read = None if given.read is None else given.read + seconds
    return httpx.Timeout(read, connect=given.connect, write=given.write, pool=given.pool)
