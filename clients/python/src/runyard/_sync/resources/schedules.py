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
        """The same methods, answering status, headers and value together."""
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
        **options: Unpack[RequestOptions],
    ) -> ScheduleItem:
        """Creates a schedule.

        `POST /agent/schedules`

        Args:
            name: What the schedule is called.
            cron_schedule: When it fires: five fields of cron, or `@daily` and the like. At most 512 bytes in UTF-8.
            prompt: The task of each run. At most 262144 bytes in UTF-8.
            enabled: Whether it fires.
            team: Whether it belongs to the team. By default it does, where the caller has one.
            agent_config: How its agents are set up.
            agent_uid: The identity that carries the runs out. At most 512 bytes in UTF-8.
            mode: `normal` works, `plan` only plans, `orchestrate` starts other runs.
            metadata: Labels of the caller's own, to find the run by.
            time_zone: The IANA time zone that the cron is read in; UTC by default. At most 64 bytes in UTF-8.
            overlap: What happens at a firing while an earlier run has not ended.
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
        """Lists the schedules visible to the caller, by name.

        `GET /agent/schedules`

        Args:
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            "/agent/schedules",
            cast_to=ListSchedulesResponse,
            items=lambda answer: answer.schedules,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def retrieve(self, schedule_id: str, **options: Unpack[RequestOptions]) -> ScheduleItem:
        """Returns a schedule with its latest runs.

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
        **options: Unpack[RequestOptions],
    ) -> ScheduleItem:
        """Replaces a schedule.

        `PUT /agent/schedules/{scheduleId}`

        Args:
            schedule_id: The schedule's id.
            name: What the schedule is called.
            cron_schedule: When it fires: five fields of cron, or `@daily` and the like. At most 512 bytes in UTF-8.
            enabled: Whether it fires.
            prompt: The task of each run. At most 262144 bytes in UTF-8.
            agent_config: How its agents are set up; absent: as before.
            agent_uid: The identity that carries the runs out. At most 512 bytes in UTF-8.
            mode: `normal` works, `plan` only plans, `orchestrate` starts other runs.
            metadata: Labels of the caller's own, to find the run by.
            time_zone: The IANA time zone that the cron is read in; UTC by default. At most 64 bytes in UTF-8.
            overlap: What happens at a firing while an earlier run has not ended.
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
            },
            options=options,
        )

    def delete(self, schedule_id: str, **options: Unpack[RequestOptions]) -> DeleteScheduleResponse:
        """Deletes a schedule; its runs stay.

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
        """Resumes a schedule from its next planned firing.

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
        """Starts a run of a schedule now, even if the schedule is paused.

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
        """Lists the outcomes of planned firings, the latest first.

        `GET /agent/schedules/{scheduleId}/ticks`

        Args:
            schedule_id: The schedule's id.
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            _wire.path("/agent/schedules/{schedule_id}/ticks", schedule_id=schedule_id),
            cast_to=ListTicksResponse,
            items=lambda answer: answer.ticks,
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
