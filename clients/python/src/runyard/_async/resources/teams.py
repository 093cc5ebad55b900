"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Optional, Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    CreateTeamRequestSettingsParam,
    UpdateTeamRequestSettingsParam,
)
from ...types import (
    ListTeamsResponse,
    TeamItem,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw
from .team_invitations import AsyncTeamInvitations
from .team_members import AsyncTeamMembers


class AsyncTeams(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncTeamsWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return AsyncTeamsWithRawResponse(AsyncTeams(self._client, _raw=True))

    @cached_property
    def members(self) -> AsyncTeamMembers:
        return AsyncTeamMembers(self._client)

    @cached_property
    def invitations(self) -> AsyncTeamInvitations:
        return AsyncTeamInvitations(self._client)

    async def create(
        self,
        *,
        name: str,
        settings: Union[CreateTeamRequestSettingsParam, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> TeamItem:
        """Creates a team whose admin is the caller.

        `POST /agent/teams`

        Args:
            name: What the team is called.
            settings: Limits and defaults of the team.
        """
        return await self._call(
            "POST", "/agent/teams", cast_to=TeamItem, body={"name": name, "settings": settings}, options=options
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[TeamItem]:
        """Lists the teams of the caller, oldest first.

        `GET /agent/teams`

        Args:
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            "/agent/teams",
            cast_to=ListTeamsResponse,
            items=lambda answer: answer.teams,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def retrieve(self, team_uid: str, **options: Unpack[RequestOptions]) -> TeamItem:
        """Returns a team with its settings. Only its admins may call this.

        `GET /agent/teams/{teamUid}`

        Args:
            team_uid: The team's uid.
        """
        return await self._call(
            "GET", _wire.path("/agent/teams/{team_uid}", team_uid=team_uid), cast_to=TeamItem, options=options
        )

    async def update(
        self,
        team_uid: str,
        *,
        name: Union[Optional[str], NotGiven] = NOT_GIVEN,
        settings: Union[Optional[UpdateTeamRequestSettingsParam], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> TeamItem:
        """Changes a team's name and settings. Null brings a setting back to its default.

        `PUT /agent/teams/{teamUid}`

        Args:
            team_uid: The team's uid.
            name: What it is called.
            settings: Limits and defaults of the team.
        """
        return await self._call(
            "PUT",
            _wire.path("/agent/teams/{team_uid}", team_uid=team_uid),
            cast_to=TeamItem,
            body={"name": name, "settings": settings},
            options=options,
        )

    async def delete(self, team_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a team and everything in it. Its runs must have ended and its schedules must be deleted before.

        `DELETE /agent/teams/{teamUid}`

        Args:
            team_uid: The team's uid.
        """
        return await self._call(
            "DELETE", _wire.path("/agent/teams/{team_uid}", team_uid=team_uid), cast_to=type(None), options=options
        )


class AsyncTeamsWithRawResponse:
    def __init__(self, raw: AsyncTeams) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
