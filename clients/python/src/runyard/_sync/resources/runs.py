"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Mapping, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    AmbientAgentConfigParam,
    CancelRunsRequestFilterParam,
    ClientEventPayloadParam,
    RunAgentRequestAttachmentByAttachmentIdParam,
    RunAgentRequestAttachmentByFileNameParam,
    RunAgentRequestImageParam,
)
from ...types import (
    ArtifactType,
    CancelRunsResponse,
    Conversation,
    Empty,
    ExecutionLocation,
    FollowupPolicy,
    HandoffAttachments,
    ListRunsResponse,
    RunAgentResponse,
    RunEvents,
    RunItem,
    RunMode,
    RunResponse,
    RunState,
    Step,
    Timeline,
    TimelineEvent,
    TranscriptLocation,
)
from .._io import Page
from .._resource import Resource, to_raw


class RunsBase(Resource):
    @cached_property
    def with_raw_response(self) -> RunsWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return RunsWithRawResponse(RunsBase(self._client, _raw=True))

    def create(
        self,
        *,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        title: Union[str, NotGiven] = NOT_GIVEN,
        config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        skill: Union[str, NotGiven] = NOT_GIVEN,
        team: Union[bool, NotGiven] = NOT_GIVEN,
        agent_identity_uid: Union[str, NotGiven] = NOT_GIVEN,
        conversation_id: Union[str, NotGiven] = NOT_GIVEN,
        parent_run_id: Union[str, NotGiven] = NOT_GIVEN,
        attachments: Union[
            Sequence[Union[RunAgentRequestAttachmentByFileNameParam, RunAgentRequestAttachmentByAttachmentIdParam]],
            NotGiven,
        ] = NOT_GIVEN,
        images: Union[Sequence[RunAgentRequestImageParam], NotGiven] = NOT_GIVEN,
        interactive: Union[bool, NotGiven] = NOT_GIVEN,
        mode: Union[RunMode, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        on_behalf_of: Union[str, NotGiven] = NOT_GIVEN,
        execution_location: Union[ExecutionLocation, NotGiven] = NOT_GIVEN,
        dry_run: Union[bool, NotGiven] = NOT_GIVEN,
        run_source: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RunAgentResponse:
        """Takes a prompt and answers with the run's id at once.

        `POST /agent/runs`

        Args:
            prompt: The task, in words. At most 262144 bytes in UTF-8.
            title: What the run is called; made from the prompt's first line where none was given.
            config: How the agent is set up.
            skill: The skill to start from; wins over the configuration's. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md.
            team: Whether it belongs to the team. By default it does, where the caller has one.
            agent_identity_uid: The identity that carries the run out; for runs of a team. At most 512 bytes in UTF-8.
            conversation_id: The conversation that the run belongs to, or is to continue. At most 512 bytes in UTF-8.
            parent_run_id: The run that started this one. At most 512 bytes in UTF-8.
            attachments: Files beside the prompt, at most 2.9 MiB in all once decoded; larger ones are uploaded first.
            images: The older name of `attachments`.
            interactive: Whether somebody is there to answer the agent's questions.
            mode: `normal` works, `plan` only plans, `orchestrate` starts other runs.
            metadata: Labels of the caller's own, to find the run by.
            on_behalf_of: The member (uid or e-mail) for whom an agent asks; agent keys only, where the identity allows it. At most 512 bytes in UTF-8.
            execution_location: `REMOTE`: in a sandbox of the service or a worker; `LOCAL`: by the caller itself.
            dry_run: `true` is refused with 422: checking a run without creating it is not supported yet.
            run_source: Where the run comes from: `API`, `CLI`, `LOCAL`, `SCHEDULED_AGENT`, `WEB_APP`, `GITHUB_ACTION`, `SLACK`, `LINEAR`, `CLOUD_MODE`, `JIRA`, `GITHUB_WEBHOOK`, `GITLAB_WEBHOOK`, `ORCHESTRATION`. Anything else counts as `API`, and `SCHEDULED_AGENT` and `ORCHESTRATION` are set by the service alone. `X-Oz-Api-Source` means the same.
        """
        return self._call(
            "POST",
            "/agent/runs",
            cast_to=RunAgentResponse,
            query={"dry_run": dry_run},
            body={
                "prompt": prompt,
                "title": title,
                "config": config,
                "skill": skill,
                "team": team,
                "agent_identity_uid": agent_identity_uid,
                "conversation_id": conversation_id,
                "parent_run_id": parent_run_id,
                "attachments": attachments,
                "images": images,
                "interactive": interactive,
                "mode": mode,
                "metadata": metadata,
                "on_behalf_of": on_behalf_of,
                "execution_location": execution_location,
            },
            headers={"X-Run-Source": run_source},
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        sort_by: Union[Literal["updated_at", "created_at", "title", "agent"], NotGiven] = NOT_GIVEN,
        sort_order: Union[Literal["asc", "desc"], NotGiven] = NOT_GIVEN,
        state: Union[Sequence[RunState], NotGiven] = NOT_GIVEN,
        name: Union[str, NotGiven] = NOT_GIVEN,
        model_id: Union[str, NotGiven] = NOT_GIVEN,
        creator: Union[str, NotGiven] = NOT_GIVEN,
        executor: Union[str, NotGiven] = NOT_GIVEN,
        source: Union[str, NotGiven] = NOT_GIVEN,
        execution_location: Union[Literal["REMOTE", "LOCAL"], NotGiven] = NOT_GIVEN,
        created_after: Union[str, datetime, NotGiven] = NOT_GIVEN,
        created_before: Union[str, datetime, NotGiven] = NOT_GIVEN,
        updated_after: Union[str, datetime, NotGiven] = NOT_GIVEN,
        environment_id: Union[str, NotGiven] = NOT_GIVEN,
        skill: Union[str, NotGiven] = NOT_GIVEN,
        skill_spec: Union[str, NotGiven] = NOT_GIVEN,
        schedule_id: Union[str, NotGiven] = NOT_GIVEN,
        ancestor_run_id: Union[str, NotGiven] = NOT_GIVEN,
        artifact_type: Union[ArtifactType, NotGiven] = NOT_GIVEN,
        q: Union[str, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[RunItem]:
        """The runs that the caller sees, page by page.

        `GET /agent/runs`

        Args:
            limit: How many runs at most.
            cursor: `page_info.next_cursor` of the page before.
            sort_by: What to sort by. `agent` is the skill, and runs without one come last in both directions.
            sort_order: The direction.
            state: Runs in one of these states; repeat it for several.
            name: Runs whose configuration has this name.
            model_id: Runs with this model.
            creator: Runs that this person or identity asked for, by uid.
            executor: Runs that work as this person or identity, by uid.
            source: Runs that came about this way (RunSourceType). What is none of them matches nothing.
            execution_location: Runs that are executed there.
            created_after: Runs made after this time.
            created_before: Runs made before this time.
            updated_after: Runs that changed after this time.
            environment_id: Runs in this environment; `empty-environment`: runs without one.
            skill: The same as `skill_spec`.
            skill_spec: Runs that started from this skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`.
            schedule_id: Runs of this schedule, also of one that was deleted.
            ancestor_run_id: Runs below this one, at any depth. It must exist and be visible.
            artifact_type: Runs that left such an artifact.
            q: Runs whose title, prompt or skill has these words, in any order, case and accents aside; longer words may have a typo.
            metadata: Runs with these labels: `metadata[ticket]=SHOP-1412`.
        """
        return self._list(
            "/agent/runs",
            cast_to=ListRunsResponse,
            items=lambda answer: answer.runs,
            query={
                "limit": limit,
                "cursor": cursor,
                "sort_by": sort_by,
                "sort_order": sort_order,
                "state": state,
                "name": name,
                "model_id": model_id,
                "creator": creator,
                "executor": executor,
                "source": source,
                "execution_location": execution_location,
                "created_after": created_after,
                "created_before": created_before,
                "updated_after": updated_after,
                "environment_id": environment_id,
                "skill": skill,
                "skill_spec": skill_spec,
                "schedule_id": schedule_id,
                "ancestor_run_id": ancestor_run_id,
                "artifact_type": artifact_type,
                "q": q,
                "metadata": metadata,
            },
            options=options,
        )

    def cancel_many(
        self,
        *,
        filter: CancelRunsRequestFilterParam,
        force: Union[bool, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CancelRunsResponse:
        """Cancels all runs that match a filter and have not ended, up to 1,000 at once.

        `POST /agent/runs/cancel`

        Args:
            filter: Which runs; the same as the filters of the list, and at least one.
            force: Cancels also what is PENDING, CLAIMED or with a self-hosted worker.
        """
        return self._call(
            "POST",
            "/agent/runs/cancel",
            cast_to=CancelRunsResponse,
            body={"filter": filter, "force": force},
            options=options,
        )

    def retrieve(self, run_id: str, **options: Unpack[RequestOptions]) -> RunItem:
        """The run in full.

        `GET /agent/runs/{runId}`

        Args:
            run_id: The run's id.
        """
        return self._call("GET", _wire.path("/agent/runs/{run_id}", run_id=run_id), cast_to=RunItem, options=options)

    def cancel(
        self, run_id: str, *, force: Union[bool, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> str:
        """Stops the run and its agent's processes.

        `POST /agent/runs/{runId}/cancel`

        Args:
            run_id: The run's id.
            force: Cancels also what is PENDING, CLAIMED or with a self-hosted worker.
        """
        return self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/cancel", run_id=run_id),
            cast_to=str,
            query={"force": force},
            options=options,
        )

    def send_followup(
        self,
        run_id: str,
        *,
        message: Union[str, NotGiven] = NOT_GIVEN,
        mode: Union[RunMode, NotGiven] = NOT_GIVEN,
        policy: Union[FollowupPolicy, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Empty:
        """A message for the agent, whatever the run's state.

        `POST /agent/runs/{runId}/followups`

        Args:
            run_id: The run's id.
            message: What to tell the agent. May be absent where the run has ended: it goes on from there. At most 262144 bytes in UTF-8.
            mode: `normal` works, `plan` only plans, `orchestrate` starts other runs.
            policy: What to do about the turn that is under way.
        """
        return self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/followups", run_id=run_id),
            cast_to=Empty,
            body={"message": message, "mode": mode, "policy": policy},
            options=options,
        )

    def timeline(
        self,
        run_id: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[TimelineEvent]:
        """What happened to the run, in order.

        `GET /agent/runs/{runId}/timeline`

        Args:
            run_id: The run's id.
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            _wire.path("/agent/runs/{run_id}/timeline", run_id=run_id),
            cast_to=Timeline,
            items=lambda answer: answer.events,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def conversation(
        self,
        run_id: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[Step]:
        """What was said in the run, as normalized blocks.

        `GET /agent/runs/{runId}/conversation`

        Args:
            run_id: The run's id.
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            _wire.path("/agent/runs/{run_id}/conversation", run_id=run_id),
            cast_to=Conversation,
            items=lambda answer: answer.steps,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def transcript(self, run_id: str, **options: Unpack[RequestOptions]) -> TranscriptLocation:
        """302 to a time-limited URL of the raw transcript, or with redirect=false the URL itself. That of a harness of others is its own, as soon as there is one.

        `GET /agent/runs/{runId}/transcript`

        Args:
            run_id: The run's id.
        """
        return self._call(
            "GET",
            _wire.path("/agent/runs/{run_id}/transcript", run_id=run_id),
            cast_to=TranscriptLocation,
            query={"redirect": False},
            options=options,
        )

    def handoff_attachments(self, run_id: str, **options: Unpack[RequestOptions]) -> HandoffAttachments:
        """Snapshot files of the latest execution that has ended.

        `GET /agent/runs/{runId}/handoff/attachments`

        Args:
            run_id: The run's id.
        """
        return self._call(
            "GET",
            _wire.path("/agent/runs/{run_id}/handoff/attachments", run_id=run_id),
            cast_to=HandoffAttachments,
            options=options,
        )

    def list_events(
        self,
        run_id: str,
        *,
        after: Union[int, NotGiven] = NOT_GIVEN,
        wait: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RunEvents:
        """Everything in one gapless sequence; `wait` holds the answer until there is more.

        `GET /agent/runs/{runId}/events`

        Args:
            run_id: The run's id.
            after: Events after this number.
            wait: Seconds to wait for an event, where there is none yet.
        """
        return self._call(
            "GET",
            _wire.path("/agent/runs/{run_id}/events", run_id=run_id),
            cast_to=RunEvents,
            query={"after": after, "wait": wait},
            options=options,
        )

    def response(self, run_id: str, **options: Unpack[RequestOptions]) -> RunResponse:
        """The agent's last words.

        `GET /agent/runs/{runId}/response`

        Args:
            run_id: The run's id.
        """
        return self._call(
            "GET", _wire.path("/agent/runs/{run_id}/response", run_id=run_id), cast_to=RunResponse, options=options
        )

    def create_client_event(
        self,
        run_id: str,
        *,
        event_uuid: str,
        event_name: Literal[
            "setup_environment_resolution",
            "setup_repo_clone",
            "setup_commands",
            "setup_mcp_servers",
            "setup_skill_loading",
            "agent_started",
            "checkpoint_saved",
        ],
        timestamp: Union[str, datetime],
        payload: Union[ClientEventPayloadParam, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Empty:
        """An execution's own entry in its timeline, once per event_uuid.

        `POST /agent/runs/{runId}/client-events`

        Args:
            run_id: The run's id.
            event_uuid: The event's id. At most 512 bytes in UTF-8.
            event_name: What happened.
            timestamp: When it was said, or happened. RFC 3339 with an offset.
            payload: More about it, such as `duration_ms` and `is_error`.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/client-events", run_id=run_id),
            cast_to=Empty,
            body={"event_uuid": event_uuid, "event_name": event_name, "timestamp": timestamp, "payload": payload},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )


class RunsWithRawResponse:
    def __init__(self, raw: RunsBase) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.cancel_many = to_raw(raw.cancel_many)
        self.retrieve = to_raw(raw.retrieve)
        self.cancel = to_raw(raw.cancel)
        self.send_followup = to_raw(raw.send_followup)
        self.timeline = to_raw(raw.timeline)
        self.conversation = to_raw(raw.conversation)
        self.transcript = to_raw(raw.transcript)
        self.handoff_attachments = to_raw(raw.handoff_attachments)
        self.list_events = to_raw(raw.list_events)
        self.response = to_raw(raw.response)
        self.create_client_event = to_raw(raw.create_client_event)
