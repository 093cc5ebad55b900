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
    TeamDetail,
    TeamItem,
)
from .._io import Page
from .._resource import Resource, to_raw
from .team_invitations import TeamInvitations
from .team_members import TeamMembers


class Teams(Resource):
    @cached_property
    def with_raw_response(self) -> TeamsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
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
        """Creates a team with the caller as its admin.

        Settings that are absent or null have their defaults.

        `POST /agent/teams`

        Args:
            name: The team's name.
            settings: The team's limits and defaults.
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
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            "/agent/teams",
            cast_to=ListTeamsResponse,
            items=lambda response: response.teams,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def retrieve(self, team_uid: str, **options: Unpack[RequestOptions]) -> TeamDetail:
        """Returns a team with its settings and its spending of the month.

        Requires the role `admin`.

        `GET /agent/teams/{teamUid}`

        Args:
            team_uid: The team's id.
        """
        return self._call(
            "GET", _wire.path("/agent/teams/{team_uid}", team_uid=team_uid), cast_to=TeamDetail, options=options
        )

    def update(
        self,
        team_uid: str,
        *,
        name: Union[Optional[str], NotGiven] = NOT_GIVEN,
        settings: Union[Optional[UpdateTeamRequestSettingsParam], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> TeamDetail:
        """Updates a team's name and settings.

        Settings that are absent keep their values; null restores the default. Requires the role `admin`.

        `PUT /agent/teams/{teamUid}`

        Args:
            team_uid: The team's id.
            name: The team's name.
            settings: The team's limits and defaults.
        """
        return self._call(
            "PUT",
            _wire.path("/agent/teams/{team_uid}", team_uid=team_uid),
            cast_to=TeamDetail,
            body={"name": name, "settings": settings},
            options=options,
        )

    def delete(self, team_uid: str, **options: Unpack[RequestOptions]) -> None:
        """Deletes a team with its identities, keys, environments, secrets and webhooks.

        The team's runs must have ended and its schedules must be deleted, otherwise the response is 409.
        Requires the role `admin`.

        `DELETE /agent/teams/{teamUid}`

        Args:
            team_uid: The team's id.
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
