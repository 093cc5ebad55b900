"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    AmbientAgentConfigParam,
    ClientEventPayloadParam,
    PrepareAttachmentsRequestAttachmentParam,
    PrepareAttachmentsRequestFileParam,
    RunAgentRequestAttachmentByAttachmentIdParam,
    RunAgentRequestAttachmentByFileNameParam,
    RunAgentRequestImageParam,
    RunFilterParam,
    RunFollowupRequestAttachmentParam,
)
from ...types import (
    ArchiveRunsResponse,
    ArtifactType,
    CancelRunsResponse,
    Conversation,
    DeleteRunsResponse,
    DownloadAttachmentsResponse,
    DownloadUrl,
    DryRunResponse,
    Empty,
    ExecutionLocation,
    FindRunByReferenceResponse,
    FollowupItem,
    FollowupPolicy,
    HandoffAttachments,
    InterruptRunResponse,
    ListFollowupsResponse,
    ListRunsResponse,
    PrepareAttachmentsResponse,
    PublicArtifact,
    PublicRun,
    RunAgentResponse,
    RunEvents,
    RunFollowupResponse,
    RunItem,
    RunMode,
    RunResponse,
    RunState,
    ShareRunResponse,
    Step,
    TaskStatus,
    Timeline,
    TimelineEvent,
    UnarchiveRunsResponse,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw


class AsyncRunsBase(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncRunsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncRunsWithRawResponse(AsyncRunsBase(self._client, _raw=True))

    async def create(
        self,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        *,
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
        notify_url: Union[str, NotGiven] = NOT_GIVEN,
        run_source: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RunAgentResponse:
        """Creates a run and returns its id immediately.

        The run starts `QUEUED`; read it, list its events or follow it to see its progress. The body must have a
        `prompt`, a skill or a `conversation_id`. If the team already executes as many runs as its
        `concurrency_limit` allows, the run waits and `at_capacity` is true; if its `queue_limit` is reached, the
        response is 429. A caller can create at most 3,000 runs per minute by default. With `wait`, the response
        is held back up to that many seconds: if the run ends in that time, it is the run, otherwise the usual
        one. Each end of a run with a `notify_url` is sent there, signed with the `notify_secret` of the
        response. With `dry_run=true`, the response says whether the run would be created and what to know
        before, and nothing is created.

        `POST /agent/runs`

        Args:
            prompt: The task of the run. Required unless the request has a skill or a `conversation_id`. At most 262144 bytes in UTF-8.
            title: The run's title, at most 512 characters. Defaults to the first line of the prompt.
            config: The configuration of the agent.
            skill: The skill to start from. Overrides `config.skill_spec`. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md.
            team: Whether the team owns the run. Defaults to the owner of `conversation_id` if that is given, and otherwise to true if the caller has a team; agent keys cannot set it to false.
            agent_identity_uid: The identity that executes the run. For team runs only. At most 512 bytes in UTF-8.
            conversation_id: The conversation to continue. All of its runs have one owner. If its latest run has not ended, the response is 409. At most 512 bytes in UTF-8.
            parent_run_id: The id of the parent run. The depth of a run tree is at most 10. At most 512 bytes in UTF-8.
            attachments: At most 5 files. Inline files can have 2.9 MiB in total after decoding; upload larger ones with `POST /agent/attachments`.
            images: An older form of `attachments`, for images.
            interactive: Whether the run waits for a follow-up after each turn, for `idle_timeout_minutes`. Defaults to false.
            mode: `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs.
            metadata: Labels to find the run by: at most 20 keys, with values of at most 256 bytes.
            on_behalf_of: The uid or email address of the member to act for. Requires an agent key whose identity has `on_behalf_of_enabled`. At most 512 bytes in UTF-8.
            execution_location: `REMOTE` (default) executes the run in a sandbox of the service or on a worker; `LOCAL` leaves it to the caller.
            notify_url: Where each event that ends the run is sent, as webhooks get it; also its later ends, after follow-ups. Child runs do not inherit it, a run's key cannot set it, and no response shows it. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment.
            run_source: The source of the run: `API`, `CLI`, `LOCAL`, `SCHEDULED_AGENT`, `WEB_APP`, `GITHUB_ACTION`, `SLACK`, `LINEAR`, `CLOUD_MODE`, `JIRA`, `TEAMS`, `MCP`, `GITHUB_WEBHOOK`, `GITLAB_WEBHOOK`, `AZURE_DEVOPS_WEBHOOK`, `CUSTOM_WEBHOOK`, `ORCHESTRATION`. Other values count as `API`. Only the service sets `SCHEDULED_AGENT` and `ORCHESTRATION`. `X-Oz-Api-Source` is an alias.
        """
        return await self._call(
            "POST",
            "/agent/runs",
            cast_to=RunAgentResponse,
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
                "notify_url": notify_url,
            },
            headers={"X-Run-Source": run_source},
            options=options,
        )

    async def dry_run(
        self,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        *,
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
        notify_url: Union[str, NotGiven] = NOT_GIVEN,
        run_source: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> DryRunResponse:
        """Checks a request for a run and creates nothing.

        The response says whether the run would be created, what to know before, and which configuration it would
        have.

        `POST /agent/runs`

        Args:
            prompt: The task of the run. Required unless the request has a skill or a `conversation_id`. At most 262144 bytes in UTF-8.
            title: The run's title, at most 512 characters. Defaults to the first line of the prompt.
            config: The configuration of the agent.
            skill: The skill to start from. Overrides `config.skill_spec`. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md.
            team: Whether the team owns the run. Defaults to the owner of `conversation_id` if that is given, and otherwise to true if the caller has a team; agent keys cannot set it to false.
            agent_identity_uid: The identity that executes the run. For team runs only. At most 512 bytes in UTF-8.
            conversation_id: The conversation to continue. All of its runs have one owner. If its latest run has not ended, the response is 409. At most 512 bytes in UTF-8.
            parent_run_id: The id of the parent run. The depth of a run tree is at most 10. At most 512 bytes in UTF-8.
            attachments: At most 5 files. Inline files can have 2.9 MiB in total after decoding; upload larger ones with `POST /agent/attachments`.
            images: An older form of `attachments`, for images.
            interactive: Whether the run waits for a follow-up after each turn, for `idle_timeout_minutes`. Defaults to false.
            mode: `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs.
            metadata: Labels to find the run by: at most 20 keys, with values of at most 256 bytes.
            on_behalf_of: The uid or email address of the member to act for. Requires an agent key whose identity has `on_behalf_of_enabled`. At most 512 bytes in UTF-8.
            execution_location: `REMOTE` (default) executes the run in a sandbox of the service or on a worker; `LOCAL` leaves it to the caller.
            notify_url: Where each event that ends the run is sent, as webhooks get it; also its later ends, after follow-ups. Child runs do not inherit it, a run's key cannot set it, and no response shows it. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment.
            run_source: The source of the run: `API`, `CLI`, `LOCAL`, `SCHEDULED_AGENT`, `WEB_APP`, `GITHUB_ACTION`, `SLACK`, `LINEAR`, `CLOUD_MODE`, `JIRA`, `TEAMS`, `MCP`, `GITHUB_WEBHOOK`, `GITLAB_WEBHOOK`, `AZURE_DEVOPS_WEBHOOK`, `CUSTOM_WEBHOOK`, `ORCHESTRATION`. Other values count as `API`. Only the service sets `SCHEDULED_AGENT` and `ORCHESTRATION`. `X-Oz-Api-Source` is an alias.
        """
        return await self._call(
            "POST",
            "/agent/runs",
            cast_to=DryRunResponse,
            query={"dry_run": True},
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
                "notify_url": notify_url,
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
        task_status: Union[Sequence[TaskStatus], NotGiven] = NOT_GIVEN,
        name: Union[str, NotGiven] = NOT_GIVEN,
        model_id: Union[str, NotGiven] = NOT_GIVEN,
        creator: Union[str, NotGiven] = NOT_GIVEN,
        executor: Union[str, NotGiven] = NOT_GIVEN,
        source: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        execution_location: Union[Literal["REMOTE", "LOCAL"], NotGiven] = NOT_GIVEN,
        created_after: Union[str, datetime, NotGiven] = NOT_GIVEN,
        created_before: Union[str, datetime, NotGiven] = NOT_GIVEN,
        updated_after: Union[str, datetime, NotGiven] = NOT_GIVEN,
        environment_id: Union[str, NotGiven] = NOT_GIVEN,
        skill: Union[str, NotGiven] = NOT_GIVEN,
        skill_spec: Union[str, NotGiven] = NOT_GIVEN,
        schedule_id: Union[str, NotGiven] = NOT_GIVEN,
        trigger_id: Union[str, NotGiven] = NOT_GIVEN,
        automation_id: Union[str, NotGiven] = NOT_GIVEN,
        ancestor_run_id: Union[str, NotGiven] = NOT_GIVEN,
        artifact_type: Union[ArtifactType, NotGiven] = NOT_GIVEN,
        archived: Union[Literal["false", "true", "all"], NotGiven] = NOT_GIVEN,
        q: Union[str, NotGiven] = NOT_GIVEN,
        factory_uid: Union[str, NotGiven] = NOT_GIVEN,
        factory_only: Union[bool, NotGiven] = NOT_GIVEN,
        min_cost_usd: Union[float, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[RunItem]:
        """Lists the runs visible to the caller.

        Filters combine with AND; repeat `state`, `task_status` or `source` to match any of several values. Runs
        are sorted by `updated_at`, newest first, unless `sort_by` and `sort_order` say otherwise. `prompt` is
        truncated to 1,000 characters; read the run for the full text. A page is never empty while
        `has_next_page` is true.

        `GET /agent/runs`

        Args:
            limit: The maximum number of runs, 1 to 500.
            cursor: The `page_info.next_cursor` of the previous page.
            sort_by: The sort key. `agent` sorts by skill; runs without a skill come last in both directions.
            sort_order: The sort direction.
            state: Selects runs in one of these states.
            task_status: Selects runs whose task has one of these statuses. `running`: the run or one of its descendants has not ended. The others match the state of the run itself: `failed` (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete` (`SUCCEEDED`). A run may match two.
            name: Selects runs by the name of their configuration.
            model_id: Selects runs by model.
            creator: Selects runs by the uid of their creator.
            executor: Selects runs by the uid of their executor.
            source: Selects runs from this source or one of these, each a RunSourceType. An unknown value selects no runs.
            execution_location: Selects runs by execution location.
            created_after: Selects runs created after this time.
            created_before: Selects runs created before this time.
            updated_after: Selects runs that changed after this time.
            environment_id: Selects runs by environment; `empty-environment` selects runs without one.
            skill: An alias of `skill_spec`.
            skill_spec: Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`.
            schedule_id: Selects runs by schedule, including deleted schedules.
            trigger_id: Selects runs by the trigger that started them, including deleted triggers.
            automation_id: Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`.
            ancestor_run_id: Selects the descendants of this run, which must exist and be visible.
            artifact_type: Selects runs with an artifact of this type.
            archived: Selects archived runs (`true`), runs that are not archived (`false`, the default), or `all`.
            q: Searches titles, prompts and skills. Ignores case, accents and word order, and allows for a typo in longer words. The id or the URL of a run finds that run.
            factory_uid: Selects no runs, since no run belongs to a factory.
            factory_only: `true` selects no runs, since no run belongs to a factory.
            min_cost_usd: Selects runs that have cost at least this many US dollars by their models and sandboxes, without their child runs.
            metadata: Selects runs by metadata; in a query, as `metadata[ticket]=SHOP-1412`. At most 5 keys.
        """
        return self._list(
            "/agent/runs",
            cast_to=ListRunsResponse,
            items=lambda response: response.runs,
            query={
                "limit": limit,
                "cursor": cursor,
                "sort_by": sort_by,
                "sort_order": sort_order,
                "state": state,
                "task_status": task_status,
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
                "trigger_id": trigger_id,
                "automation_id": automation_id,
                "ancestor_run_id": ancestor_run_id,
                "artifact_type": artifact_type,
                "archived": archived,
                "q": q,
                "factory_uid": factory_uid,
                "factory_only": factory_only,
                "min_cost_usd": min_cost_usd,
                "metadata": metadata,
            },
            options=options,
        )

    async def cancel_many(
        self,
        *,
        filter: RunFilterParam,
        force: Union[bool, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CancelRunsResponse:
        """Cancels all active runs that match a filter.

        One call processes up to 1,000 runs; while `has_more` is true, send the request again with `next_cursor`
        as `cursor`. The filter takes the same members as the list of runs and must have at least one. A run that
        cannot be cancelled is listed in `refused` with its error code and does not fail the request.

        `POST /agent/runs/cancel`

        Args:
            filter: The runs to cancel. Takes the filters of `GET /agent/runs`, at least one.
            force: Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well. Defaults to false.
            cursor: The `next_cursor` of the previous response, to continue after the runs that it processed. At most 4096 bytes in UTF-8.
        """
        return await self._call(
            "POST",
            "/agent/runs/cancel",
            cast_to=CancelRunsResponse,
            body={"filter": filter, "force": force, "cursor": cursor},
            options=options,
        )

    async def delete_many(
        self,
        *,
        filter: Union[RunFilterParam, NotGiven] = NOT_GIVEN,
        all: Union[Literal[True], NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> DeleteRunsResponse:
        """Deletes all ended runs that match a filter.

        Each is deleted as by `DELETE /agent/runs/{runId}`: with the runs below it, and its files within about an
        hour. One call looks at up to 200 matching runs; while `page_info.has_next_page` is true, send the
        request again with `next_cursor` as `cursor`. A run that cannot be deleted is listed in `refused` with
        its error code and does not fail the request.

        `POST /agent/runs/delete`

        Args:
            filter: Which runs. Takes the filters of `GET /agent/runs`, at least one. Required unless `all` is true.
            all: True for all runs, in place of a filter.
            cursor: The `page_info.next_cursor` of the previous response. At most 4096 bytes in UTF-8.
        """
        return await self._call(
            "POST",
            "/agent/runs/delete",
            cast_to=DeleteRunsResponse,
            body={"filter": filter, "all": all, "cursor": cursor},
            options=options,
        )

    async def archive_many(
        self,
        *,
        filter: Union[RunFilterParam, NotGiven] = NOT_GIVEN,
        all: Union[Literal[True], NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ArchiveRunsResponse:
        """Archives all runs that match a filter.

        One call looks at up to 200 matching runs; while `page_info.has_next_page` is true, send the request
        again with `next_cursor` as `cursor`. A run that cannot be archived is listed in `refused` with its error
        code and does not fail the request.

        `POST /agent/runs/archive`

        Args:
            filter: Which runs. Takes the filters of `GET /agent/runs`, at least one. Required unless `all` is true.
            all: True for all runs, in place of a filter.
            cursor: The `page_info.next_cursor` of the previous response. At most 4096 bytes in UTF-8.
        """
        return await self._call(
            "POST",
            "/agent/runs/archive",
            cast_to=ArchiveRunsResponse,
            body={"filter": filter, "all": all, "cursor": cursor},
            options=options,
        )

    async def unarchive_many(
        self,
        *,
        filter: Union[RunFilterParam, NotGiven] = NOT_GIVEN,
        all: Union[Literal[True], NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> UnarchiveRunsResponse:
        """Returns all archived runs that match a filter to the list.

        One call looks at up to 200 matching runs; while `page_info.has_next_page` is true, send the request
        again with `next_cursor` as `cursor`. A run that cannot be returned is listed in `refused` with its error
        code and does not fail the request.

        `POST /agent/runs/unarchive`

        Args:
            filter: Which runs. Takes the filters of `GET /agent/runs`, at least one. Required unless `all` is true.
            all: True for all runs, in place of a filter.
            cursor: The `page_info.next_cursor` of the previous response. At most 4096 bytes in UTF-8.
        """
        return await self._call(
            "POST",
            "/agent/runs/unarchive",
            cast_to=UnarchiveRunsResponse,
            body={"filter": filter, "all": all, "cursor": cursor},
            options=options,
        )

    async def retrieve(self, run_id: str, **options: Unpack[RequestOptions]) -> RunItem:
        """Returns a run with its full prompt, configuration and artifacts.

        The configuration is the resolved one, with the defaults of the identity, the environment and the team
        applied. Secret values are shown as `***`.

        `GET /agent/runs/{runId}`

        Args:
            run_id: The run's id.
        """
        return await self._call(
            "GET", _wire.path("/agent/runs/{run_id}", run_id=run_id), cast_to=RunItem, options=options
        )

    async def delete(self, run_id: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a run that has ended.

        The runs below it and their conversations, transcripts and artifacts are deleted with it. Only the run's
        creator and the admins of its team may delete it. If the run or a run below it has not ended, the
        response is 409. Deleted runs return 404 at once; their files are deleted within about an hour. If
        another run continues the conversation, the conversation keeps the run's turns. Usage reports and budgets
        still count the run.

        `DELETE /agent/runs/{runId}`

        Args:
            run_id: The run's id.
        """
        return await self._call(
            "DELETE", _wire.path("/agent/runs/{run_id}", run_id=run_id), cast_to=type(None), options=options
        )

    async def cancel(
        self, run_id: str, *, force: Union[bool, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> str:
        """Cancels a run and stops its processes.

        Returns the run's id as a JSON string. A run that has ended returns 400. A run that is executed by a
        self-hosted worker or by its caller returns 422, and a `PENDING` or `CLAIMED` run returns a retryable
        409; `force=true` cancels these as well. The timeline event `run_stopped` shows when the sandbox has
        stopped.

        `POST /agent/runs/{runId}/cancel`

        Args:
            run_id: The run's id.
            force: Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/cancel", run_id=run_id),
            cast_to=str,
            query={"force": force},
            options=options,
        )

    async def archive(self, run_id: str, **options: Unpack[RequestOptions]) -> RunItem:
        """Archives a run.

        The list of runs leaves archived runs out unless the filter `archived` asks for them. Everything else
        about the run stays as it is, and nothing archives a run by itself. Archiving an archived run changes
        nothing.

        `POST /agent/runs/{runId}/archive`

        Args:
            run_id: The run's id.
        """
        return await self._call(
            "POST", _wire.path("/agent/runs/{run_id}/archive", run_id=run_id), cast_to=RunItem, options=options
        )

    async def share(
        self, run_id: str, *, public_access: Optional[Literal["VIEWER"]], **options: Unpack[RequestOptions]
    ) -> ShareRunResponse:
        """Shares a run with everybody who has its link.

        A `public_access` of null takes that back. The public view shows the run's conversation and artifacts,
        and neither the runs below it nor its pending follow-ups. The response has the link, unless the
        deployment has no web app. If the team's setting `sharing_allowed` is false, the response is 403.

        `POST /agent/runs/{runId}/share`

        Args:
            run_id: The run's id.
            public_access: The access of anyone with the link. Null: nobody but the run's owner sees it.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/share", run_id=run_id),
            cast_to=ShareRunResponse,
            body={"public_access": public_access},
            options=options,
        )

    async def unarchive(self, run_id: str, **options: Unpack[RequestOptions]) -> RunItem:
        """Returns an archived run to the list of runs.

        For a run that is not archived, this changes nothing.

        `POST /agent/runs/{runId}/unarchive`

        Args:
            run_id: The run's id.
        """
        return await self._call(
            "POST", _wire.path("/agent/runs/{run_id}/unarchive", run_id=run_id), cast_to=RunItem, options=options
        )

    async def interrupt(self, run_id: str, **options: Unpack[RequestOptions]) -> InterruptRunResponse:
        """Interrupts the current turn of a run.

        The agent's command and model call stop within 10 seconds. The run then waits for a follow-up for
        `idle_timeout_minutes`, and becomes `BLOCKED` without one; where waiting is billed, it does so at once. A
        run that has ended returns 400, a run whose harness takes no interrupts returns 422, and a run that has
        not begun returns a retryable 409. A run that waits for a follow-up stays as it is.

        `POST /agent/runs/{runId}/interrupt`

        Args:
            run_id: The run's id.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/interrupt", run_id=run_id),
            cast_to=InterruptRunResponse,
            options=options,
        )

    async def send_followup(
        self,
        run_id: str,
        *,
        message: Union[str, NotGiven] = NOT_GIVEN,
        attachments: Union[Sequence[RunFollowupRequestAttachmentParam], NotGiven] = NOT_GIVEN,
        mode: Union[RunMode, NotGiven] = NOT_GIVEN,
        policy: Union[FollowupPolicy, NotGiven] = NOT_GIVEN,
        approve: Union[str, NotGiven] = NOT_GIVEN,
        deny: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RunFollowupResponse:
        """Sends a follow-up message to a run.

        An active run receives the message before its next turn. A run that has ended returns to `QUEUED`, and a
        new execution continues the same conversation; the response is 409 if another run of the conversation is
        active. Messages are delivered in order and exactly once. A run accepts at most 1,000 follow-ups.
        Attachments are files that were uploaded for this run; the agent gets them with the message. `policy`
        controls the current turn of the agent. The response has the outcome of the follow-up, and the list of
        follow-ups shows its state.

        `POST /agent/runs/{runId}/followups`

        Args:
            run_id: The run's id.
            message: The message to the agent. Optional with attachments, and if the run has ended, to continue where it stopped. At most 262144 bytes in UTF-8.
            attachments: Files for the agent: prepared and uploaded for this run, or by the caller with `POST /agent/attachments`.
            mode: The mode of the next execution. Ignored by an active run. Defaults to the run's mode.
            policy: `enqueue` (default) waits for the current turn, `interrupt` stops it, `reject` returns 409 unless the run has ended.
            approve: The `approval_id` of the call that the run waits for: carries out exactly this call, once. Needs a person's key or session. Excludes `deny`. At most 512 bytes in UTF-8.
            deny: The `approval_id` of the call that the run waits for: the agent learns who denied it, with `message` as the reason. Needs a person's key or session. At most 512 bytes in UTF-8.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/followups", run_id=run_id),
            cast_to=RunFollowupResponse,
            body={
                "message": message,
                "attachments": attachments,
                "mode": mode,
                "policy": policy,
                "approve": approve,
                "deny": deny,
            },
            options=options,
        )

    def list_followups(
        self,
        run_id: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[FollowupItem]:
        """Lists the follow-ups of a run in the order of their delivery.

        A follow-up is `pending` until the agent takes it, then `delivered`. Those that a cancel or a request
        removes while they are pending stay readable as `removed`.

        `GET /agent/runs/{runId}/followups`

        Args:
            run_id: The run's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/runs/{run_id}/followups", run_id=run_id),
            cast_to=ListFollowupsResponse,
            items=lambda response: response.followups,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def update_followup(
        self, run_id: str, followup_id: str, *, message: str, **options: Unpack[RequestOptions]
    ) -> FollowupItem:
        """Replaces the message of a pending follow-up.

        Returns 409 once the agent has taken the follow-up, and after it was removed.

        `PUT /agent/runs/{runId}/followups/{followupId}`

        Args:
            run_id: The run's id.
            followup_id: The id of the follow-up within its run.
            message: The new message to the agent. At most 262144 bytes in UTF-8.
        """
        return await self._call(
            "PUT",
            _wire.path("/agent/runs/{run_id}/followups/{followup_id}", run_id=run_id, followup_id=followup_id),
            cast_to=FollowupItem,
            body={"message": message},
            options=options,
        )

    async def delete_followup(self, run_id: str, followup_id: str, **options: Unpack[RequestOptions]) -> None:
        """Removes a pending follow-up, which the agent then never receives.

        It stays readable as `removed`. Returns 409 once the agent has taken the follow-up, and after it was
        removed.

        `DELETE /agent/runs/{runId}/followups/{followupId}`

        Args:
            run_id: The run's id.
            followup_id: The id of the follow-up within its run.
        """
        return await self._call(
            "DELETE",
            _wire.path("/agent/runs/{run_id}/followups/{followup_id}", run_id=run_id, followup_id=followup_id),
            cast_to=type(None),
            options=options,
        )

    async def promote_followup(self, run_id: str, followup_id: str, **options: Unpack[RequestOptions]) -> FollowupItem:
        """Promotes a pending follow-up to the agent's next message.

        Interrupts the current turn for it. Returns 409 once the agent has taken the follow-up, and after it was
        removed.

        `POST /agent/runs/{runId}/followups/{followupId}/promote`

        Args:
            run_id: The run's id.
            followup_id: The id of the follow-up within its run.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/followups/{followup_id}/promote", run_id=run_id, followup_id=followup_id),
            cast_to=FollowupItem,
            options=options,
        )

    def timeline(
        self,
        run_id: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[TimelineEvent]:
        """Lists the timeline events of a run, oldest first.

        The timeline contains state transitions, setup steps, checkpoints and artifacts, but no messages; use the
        events of the run for both.

        `GET /agent/runs/{runId}/timeline`

        Args:
            run_id: The run's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/runs/{run_id}/timeline", run_id=run_id),
            cast_to=Timeline,
            items=lambda response: response.events,
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
    ) -> AsyncPaginator[Step]:
        """Returns the conversation of a run as normalized messages.

        A `QUEUED` run returns its prompt. Large tool outputs are truncated to 16 KiB; the transcript has the
        full text. A conversation that a third-party harness stores in its own format returns 422.

        `GET /agent/runs/{runId}/conversation`

        Args:
            run_id: The run's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/runs/{run_id}/conversation", run_id=run_id),
            cast_to=Conversation,
            items=lambda response: response.steps,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def transcript(self, run_id: str, **options: Unpack[RequestOptions]) -> DownloadUrl:
        """Redirects to the raw transcript of a run.

        The transcript is a JSON Lines file, available shortly after the run has ended; before that, the response
        is 404, which is retryable once the run has ended. The URL expires after 15 minutes by default and needs
        no credentials. With `redirect=false` the response is 200 and contains the URL. For a third-party
        harness, the file has that harness's own format and is available as soon as the harness has uploaded it.

        `GET /agent/runs/{runId}/transcript`

        Args:
            run_id: The run's id.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/runs/{run_id}/transcript", run_id=run_id),
            cast_to=DownloadUrl,
            query={"redirect": False},
            options=options,
        )

    async def find_by_reference(self, *, url: str, **options: Unpack[RequestOptions]) -> FindRunByReferenceResponse:
        """Finds the newest visible run that refers to a URL.

        It is the URL of the issue, pull request or thread whose event started the run, or of a pull request or
        external reference among its artifacts, and is compared as it is. What earlier releases have recorded is
        not found.

        `GET /agent/run-by-external-reference`

        Args:
            url: The URL that the run refers to, percent-encoded.
        """
        return await self._call(
            "GET",
            "/agent/run-by-external-reference",
            cast_to=FindRunByReferenceResponse,
            query={"url": url},
            options=options,
        )

    async def handoff_attachments(self, run_id: str, **options: Unpack[RequestOptions]) -> HandoffAttachments:
        """Lists the snapshot files of the latest ended execution.

        Each file has a download URL that expires after 15 minutes by default. The list is empty if the run has
        no snapshot.

        `GET /agent/runs/{runId}/handoff/attachments`

        Args:
            run_id: The run's id.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/runs/{run_id}/handoff/attachments", run_id=run_id),
            cast_to=HandoffAttachments,
            options=options,
        )

    async def list_events(
        self,
        run_id: str,
        *,
        after: Union[int, NotGiven] = NOT_GIVEN,
        wait: Union[int, NotGiven] = NOT_GIVEN,
        live: Union[bool, NotGiven] = NOT_GIVEN,
        live_after: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RunEvents:
        """Lists the events of a run in one gapless sequence.

        Events are numbered from 1 and contain state transitions, messages and artifacts. Pass `next` of the
        response as `after` to continue. With `wait`, the request blocks up to that many seconds until there is
        an event. When `ended` is true, no further events follow unless the run receives a follow-up. With
        `live`, the response also contains output that is still being produced. With `Accept: text/event-stream`,
        the response is a stream of events that ends with the run, or after 15 minutes; continue with `Last-
        Event-ID`. Deployments that cannot stream respond with JSON.

        `GET /agent/runs/{runId}/events`

        Args:
            run_id: The run's id.
            after: Returns events after this number.
            wait: The maximum number of seconds to wait for an event, 0 to 25.
            live: Whether to include output that is still being produced.
            live_after: `live_next` of the last response. Returns only newer live output.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/runs/{run_id}/events", run_id=run_id),
            cast_to=RunEvents,
            query={"after": after, "wait": wait, "live": live, "live_after": live_after},
            options=options,
        )

    async def response(self, run_id: str, **options: Unpack[RequestOptions]) -> RunResponse:
        """Returns the agent's final message, the run's state and artifacts.

        `text` is empty until the agent has written a message and is truncated to 256 KiB. `structured` is the
        value of a message that fits the run's `output_schema`.

        `GET /agent/runs/{runId}/response`

        Args:
            run_id: The run's id.
        """
        return await self._call(
            "GET", _wire.path("/agent/runs/{run_id}/response", run_id=run_id), cast_to=RunResponse, options=options
        )

    async def create_client_event(
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
            "network_blocked",
            "checkpoint_saved",
            "setup_started",
            "model_retry",
        ],
        timestamp: Union[str, datetime],
        payload: Union[ClientEventPayloadParam, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Empty:
        """Adds an event to the timeline of the caller's run.

        Only the key of the run's current execution can call this. A repeated `event_uuid` is stored once. A run
        stores at most 2,000 of these events.

        `POST /agent/runs/{runId}/client-events`

        Args:
            run_id: The run's id.
            event_uuid: The event's id. At most 512 bytes in UTF-8.
            event_name: The type of the event.
            timestamp: The time of the event. RFC 3339 with an offset.
            payload: Details of the event, such as `latency_ms` and `is_error`.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/client-events", run_id=run_id),
            cast_to=Empty,
            body={"event_uuid": event_uuid, "event_name": event_name, "timestamp": timestamp, "payload": payload},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def retrieve_public(
        self,
        session_id: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[PublicArtifact]:
        """Returns a run that is shared publicly.

        Requires no API key. If `session_sharing` of the run does not set `public_access`, the response is 404,
        as for an unknown id. The response has no names of people, no configuration. Artifacts that have a
        content are downloaded by their `artifact_uid`.

        `GET /public/runs/{sessionId}`

        Args:
            session_id: The session's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/public/runs/{session_id}", session_id=session_id),
            cast_to=PublicRun,
            items=lambda response: response.artifacts,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def download_public_artifact(
        self,
        session_id: str,
        artifact_uid: str,
        *,
        redirect: Union[bool, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> DownloadUrl:
        """Redirects to the content of a public run's artifact.

        Requires no API key. Browsers save the file instead of showing it. With `redirect=false` the response is
        200 and contains the URL. If the run is not shared, or the artifact is another run's or has no content,
        the response is 404.

        `GET /public/runs/{sessionId}/artifacts/{artifactUid}`

        Args:
            session_id: The session's id.
            artifact_uid: The artifact's id.
            redirect: Whether to redirect to the URL. `false` returns it in the body instead.
        """
        return await self._call(
            "GET",
            _wire.path(
                "/public/runs/{session_id}/artifacts/{artifact_uid}", session_id=session_id, artifact_uid=artifact_uid
            ),
            cast_to=DownloadUrl,
            query={"redirect": redirect},
            options=options,
        )

    async def prepare_attachments(
        self,
        run_id: str,
        *,
        files: Union[Sequence[PrepareAttachmentsRequestFileParam], NotGiven] = NOT_GIVEN,
        attachments: Union[Sequence[PrepareAttachmentsRequestAttachmentParam], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> PrepareAttachmentsResponse:
        """Creates upload URLs for the files of a follow-up.

        Each has up to 100 MiB. Upload each file to its `upload_url` within 10 minutes by a PUT with its
        `Content-Type`, then name its `attachment_id` in a follow-up of this run. Attachments expire after 24
        hours.

        `POST /agent/runs/{runId}/attachments/prepare`

        Args:
            run_id: The run's id.
            files: The files to upload, 1 to 25. Required unless the request has `attachments`.
            attachments: An alias of `files`, whose items have `file_name` in place of `filename`.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/attachments/prepare", run_id=run_id),
            cast_to=PrepareAttachmentsResponse,
            body={"files": files, "attachments": attachments},
            options=options,
        )

    async def download_attachments(
        self, run_id: str, *, attachment_ids: Sequence[str], **options: Unpack[RequestOptions]
    ) -> DownloadAttachmentsResponse:
        """Creates download URLs for attachments of a run and of its follow-ups.

        Returns 404 if one of them is not an attachment of this run.

        `POST /agent/runs/{runId}/attachments/download`

        Args:
            run_id: The run's id.
            attachment_ids: The ids of the attachments, at most 100.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/runs/{run_id}/attachments/download", run_id=run_id),
            cast_to=DownloadAttachmentsResponse,
            body={"attachment_ids": attachment_ids},
            options=options,
        )


class AsyncRunsWithRawResponse:
    def __init__(self, raw: AsyncRunsBase) -> None:
        self.create = to_raw(raw.create)
        self.dry_run = to_raw(raw.dry_run)
        self.list = to_raw(raw.list)
        self.cancel_many = to_raw(raw.cancel_many)
        self.delete_many = to_raw(raw.delete_many)
        self.archive_many = to_raw(raw.archive_many)
        self.unarchive_many = to_raw(raw.unarchive_many)
        self.retrieve = to_raw(raw.retrieve)
        self.delete = to_raw(raw.delete)
        self.cancel = to_raw(raw.cancel)
        self.archive = to_raw(raw.archive)
        self.share = to_raw(raw.share)
        self.unarchive = to_raw(raw.unarchive)
        self.interrupt = to_raw(raw.interrupt)
        self.send_followup = to_raw(raw.send_followup)
        self.list_followups = to_raw(raw.list_followups)
        self.update_followup = to_raw(raw.update_followup)
        self.delete_followup = to_raw(raw.delete_followup)
        self.promote_followup = to_raw(raw.promote_followup)
        self.timeline = to_raw(raw.timeline)
        self.conversation = to_raw(raw.conversation)
        self.transcript = to_raw(raw.transcript)
        self.find_by_reference = to_raw(raw.find_by_reference)
        self.handoff_attachments = to_raw(raw.handoff_attachments)
        self.list_events = to_raw(raw.list_events)
        self.response = to_raw(raw.response)
        self.create_client_event = to_raw(raw.create_client_event)
        self.retrieve_public = to_raw(raw.retrieve_public)
        self.download_public_artifact = to_raw(raw.download_public_artifact)
        self.prepare_attachments = to_raw(raw.prepare_attachments)
        self.download_attachments = to_raw(raw.download_attachments)
