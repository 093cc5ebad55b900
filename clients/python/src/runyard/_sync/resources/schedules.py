"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Mapping, Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    AmbientAgentConfigParam,
)
from ...types import (
    DeleteScheduleResponse,
    ListSchedulesResponse,
    ListTicksResponse,
    ListTicksResponseTick,
    Overlap,
    RunAgentResponse,
    RunMode,
    ScheduleItem,
)
from .._io import Page
from .._resource import Resource, to_raw


class Schedules(Resource):
    @cached_property
    def with_raw_response(self) -> SchedulesWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return SchedulesWithRawResponse(Schedules(self._client, _raw=True))

    def create(
        self,
        *,
        name: str,
        cron_schedule: str,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        enabled: Union[bool, NotGiven] = NOT_GIVEN,
        team: Union[bool, NotGiven] = NOT_GIVEN,
        agent_config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        agent_uid: Union[str, NotGiven] = NOT_GIVEN,
        mode: Union[RunMode, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        time_zone: Union[str, NotGiven] = NOT_GIVEN,
        overlap: Union[Overlap, NotGiven] = NOT_GIVEN,
        pause_after_failures: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ScheduleItem:
        """Creates a schedule that runs a prompt by cron.

        The body must have a `prompt`, unless `agent_config` names a skill. The schedule is enabled and reads its
        cron expression in UTC unless the body says otherwise. A team or a person can have at most 500 schedules.

        `POST /agent/schedules`

        Args:
            name: The schedule's name.
            cron_schedule: A cron expression with five fields, or a nickname such as `@daily`. At most 512 bytes in UTF-8.
            prompt: The task of each run. Required unless `agent_config` names a skill. At most 262144 bytes in UTF-8.
            enabled: Whether the schedule fires. Defaults to true.
            team: Whether the team owns the schedule. Defaults to true if the caller has a team; agent keys cannot set it to false.
            agent_config: The configuration of each run, before the defaults of the identity, the environment and the team.
            agent_uid: The identity that executes the runs. For team schedules only. At most 512 bytes in UTF-8.
            mode: `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs.
            metadata: The labels of each run: at most 20 keys, with values of at most 256 bytes.
            time_zone: The IANA time zone of the cron expression. Defaults to `UTC`. At most 64 bytes in UTF-8.
            overlap: What to do if an earlier run is still active: `allow` (default), `skip` the firing, or `cancel_previous`.
            pause_after_failures: The number of consecutive failed runs after which the schedule pauses itself, at most 10. By default it never does. 0 clears the limit.
        """
        return self._call(
            "POST",
            "/agent/schedules",
            cast_to=ScheduleItem,
            body={
                "name": name,
                "cron_schedule": cron_schedule,
                "prompt": prompt,
                "enabled": enabled,
                "team": team,
                "agent_config": agent_config,
                "agent_uid": agent_uid,
                "mode": mode,
                "metadata": metadata,
                "time_zone": time_zone,
                "overlap": overlap,
                "pause_after_failures": pause_after_failures,
            },
            options=options,
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[ScheduleItem]:
        """Lists the schedules visible to the caller, sorted by name.

        `GET /agent/schedules`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/schedules",
            cast_to=ListSchedulesResponse,
            items=lambda response: response.schedules,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def retrieve(self, schedule_id: str, **options: Unpack[RequestOptions]) -> ScheduleItem:
        """Returns a schedule with its next firing and recent runs.

        `recent_runs` contains up to 10 runs; list the runs by `schedule_id` for all of them.

        `GET /agent/schedules/{scheduleId}`

        Args:
            schedule_id: The schedule's id.
        """
        return self._call(
            "GET",
            _wire.path("/agent/schedules/{schedule_id}", schedule_id=schedule_id),
            cast_to=ScheduleItem,
            options=options,
        )

    def update(
        self,
        schedule_id: str,
        *,
        name: str,
        cron_schedule: str,
        enabled: bool,
        prompt: Union[str, NotGiven] = NOT_GIVEN,
        agent_config: Union[AmbientAgentConfigParam, NotGiven] = NOT_GIVEN,
        agent_uid: Union[str, NotGiven] = NOT_GIVEN,
        mode: Union[RunMode, NotGiven] = NOT_GIVEN,
        metadata: Union[Mapping[str, str], NotGiven] = NOT_GIVEN,
        time_zone: Union[str, NotGiven] = NOT_GIVEN,
        overlap: Union[Overlap, NotGiven] = NOT_GIVEN,
        pause_after_failures: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ScheduleItem:
        """Replaces a schedule.

        `name`, `cron_schedule`, `enabled` and, without a skill, `prompt` are required. Optional members that are
        absent keep their values. Runs that the schedule has created are not changed.

        `PUT /agent/schedules/{scheduleId}`

        Args:
            schedule_id: The schedule's id.
            name: The schedule's name.
            cron_schedule: A cron expression with five fields, or a nickname such as `@daily`. At most 512 bytes in UTF-8.
            enabled: Whether the schedule fires.
            prompt: The task of each run. Required unless `agent_config` names a skill. At most 262144 bytes in UTF-8.
            agent_config: The configuration of each run, before the defaults of the identity, the environment and the team.
            agent_uid: The identity that executes the runs. For team schedules only. At most 512 bytes in UTF-8.
            mode: `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs.
            metadata: The labels of each run: at most 20 keys, with values of at most 256 bytes.
            time_zone: The IANA time zone of the cron expression. Defaults to `UTC`. At most 64 bytes in UTF-8.
            overlap: What to do if an earlier run is still active: `allow` (default), `skip` the firing, or `cancel_previous`.
            pause_after_failures: The number of consecutive failed runs after which the schedule pauses itself, at most 10. By default it never does. 0 clears the limit.
        """
        return self._call(
            "PUT",
            _wire.path("/agent/schedules/{schedule_id}", schedule_id=schedule_id),
            cast_to=ScheduleItem,
            body={
                "name": name,
                "cron_schedule": cron_schedule,
                "prompt": prompt,
                "enabled": enabled,
                "agent_config": agent_config,
                "agent_uid": agent_uid,
                "mode": mode,
                "metadata": metadata,
                "time_zone": time_zone,
                "overlap": overlap,
                "pause_after_failures": pause_after_failures,
            },
            options=options,
        )

    def delete(self, schedule_id: str, **options: Unpack[RequestOptions]) -> DeleteScheduleResponse:
        """Deletes a schedule.

        Runs that the schedule has created remain and are still found by its `schedule_id`. Deleting the schedule
        again returns 404.

        `DELETE /agent/schedules/{scheduleId}`

        Args:
            schedule_id: The schedule's id.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/schedules/{schedule_id}", schedule_id=schedule_id),
            cast_to=DeleteScheduleResponse,
            options=options,
        )

    def pause(self, schedule_id: str, **options: Unpack[RequestOptions]) -> ScheduleItem:
        """Pauses a schedule until it is resumed.

        Pausing a paused schedule changes nothing. Active runs continue.

        `POST /agent/schedules/{scheduleId}/pause`

        Args:
            schedule_id: The schedule's id.
        """
        return self._call(
            "POST",
            _wire.path("/agent/schedules/{schedule_id}/pause", schedule_id=schedule_id),
            cast_to=ScheduleItem,
            options=options,
        )

    def resume(self, schedule_id: str, **options: Unpack[RequestOptions]) -> ScheduleItem:
        """Resumes a paused schedule from its next firing.

        Firings that were missed during the pause are not made up. Resuming an enabled schedule changes nothing.

        `POST /agent/schedules/{scheduleId}/resume`

        Args:
            schedule_id: The schedule's id.
        """
        return self._call(
            "POST",
            _wire.path("/agent/schedules/{schedule_id}/resume", schedule_id=schedule_id),
            cast_to=ScheduleItem,
            options=options,
        )

    def run(self, schedule_id: str, **options: Unpack[RequestOptions]) -> RunAgentResponse:
        """Creates a run from a schedule immediately.

        The run has the schedule's prompt and configuration, in addition to planned firings, and adds no tick.
        Works for paused schedules too.

        `POST /agent/schedules/{scheduleId}/run`

        Args:
            schedule_id: The schedule's id.
        """
        return self._call(
            "POST",
            _wire.path("/agent/schedules/{schedule_id}/run", schedule_id=schedule_id),
            cast_to=RunAgentResponse,
            options=options,
        )

    def ticks(
        self,
        schedule_id: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[ListTicksResponseTick]:
        """Lists the outcomes of planned firings, newest first.

        Each planned firing has exactly one outcome, kept for 90 days.

        `GET /agent/schedules/{scheduleId}/ticks`

        Args:
            schedule_id: The schedule's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/schedules/{schedule_id}/ticks", schedule_id=schedule_id),
            cast_to=ListTicksResponse,
            items=lambda response: response.ticks,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )


class SchedulesWithRawResponse:
    def __init__(self, raw: Schedules) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
        self.pause = to_raw(raw.pause)
        self.resume = to_raw(raw.resume)
        self.run = to_raw(raw.run)
        self.ticks = to_raw(raw.ticks)
