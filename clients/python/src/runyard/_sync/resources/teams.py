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
from .._io import Page
from .._resource import Resource, to_raw
from .team_invitations import TeamInvitations
from .team_members import TeamMembers


class Teams(Resource):
    @cached_property
    def with_raw_response(self) -> TeamsWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return TeamsWithRawResponse(Teams(self._client, _raw=True))

    @cached_property
    def members(self) -> TeamMembers:
        return TeamMembers(self._client)

    @cached_property
    def invitations(self) -> TeamInvitations:
        return TeamInvitations(self._client)

    def create(
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
        return self._call(
            "POST", "/agent/teams", cast_to=TeamItem, body={"name": name, "settings": settings}, options=options
        )

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[TeamItem]:
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

    def retrieve(self, team_uid: str, **options: Unpack[RequestOptions]) -> TeamItem:
        """Returns a team with its settings. Only its admins may call this.

        `GET /agent/teams/{teamUid}`

        Args:
            team_uid: The team's uid.
        """
        return self._call(
            "GET", _wire.path("/agent/teams/{team_uid}", team_uid=team_uid), cast_to=TeamItem, options=options
        )

    def update(
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
        return self._call(
            "PUT",
            _wire.path("/agent/teams/{team_uid}", team_uid=team_uid),
            cast_to=TeamItem,
            body={"name": name, "settings": settings},
            options=options,
        )

    def delete(self, team_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a team and everything in it. Its runs must have ended and its schedules must be deleted before.

        `DELETE /agent/teams/{teamUid}`

        Args:
            team_uid: The team's uid.
        """
        return self._call(
            "DELETE", _wire.path("/agent/teams/{team_uid}", team_uid=team_uid), cast_to=type(None), options=options
        )


class TeamsWithRawResponse:
    def __init__(self, raw: Teams) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.retrieve = to_raw(raw.retrieve)
        self.update = to_raw(raw.update)
        self.delete = to_raw(raw.delete)
