"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    ListMembersResponse,
    MemberItem,
    RemovedMember,
    Role,
)
from .._io import Page
from .._resource import Resource, to_raw


class TeamMembers(Resource):
    @cached_property
    def with_raw_response(self) -> TeamMembersWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return TeamMembersWithRawResponse(TeamMembers(self._client, _raw=True))

    def list(
        self,
        team_uid: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[MemberItem]:
        """Lists the members of a team with their roles.

        Requires the role `admin`.

        `GET /agent/teams/{teamUid}/members`

        Args:
            team_uid: The team's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/teams/{team_uid}/members", team_uid=team_uid),
            cast_to=ListMembersResponse,
            items=lambda response: response.members,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def update(self, team_uid: str, user_uid: str, *, role: Role, **options: Unpack[RequestOptions]) -> MemberItem:
        """Changes a member's role.

        The last admin of a team cannot become a member (409). Requires the role `admin`.

        `PUT /agent/teams/{teamUid}/members/{userUid}`

        Args:
            team_uid: The team's id.
            user_uid: The person's id.
            role: The new role.
        """
        return self._call(
            "PUT",
            _wire.path("/agent/teams/{team_uid}/members/{user_uid}", team_uid=team_uid, user_uid=user_uid),
            cast_to=MemberItem,
            body={"role": role},
            options=options,
        )

    def remove(
        self,
        team_uid: str,
        user_uid: str,
        *,
        keep_keys: Union[bool, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RemovedMember:
        """Removes a member from a team.

        An admin can remove any member, and all members can remove themselves. The last admin of a team cannot be
        removed (409). Agent keys that the member created are revoked unless an admin sets `keep_keys` to true.
        Access ends with the next request.

        `DELETE /agent/teams/{teamUid}/members/{userUid}`

        Args:
            team_uid: The team's id.
            user_uid: The person's id.
            keep_keys: Whether to keep the agent keys that the member created.
        """
        return self._call(
            "DELETE",
            _wire.path("/agent/teams/{team_uid}/members/{user_uid}", team_uid=team_uid, user_uid=user_uid),
            cast_to=RemovedMember,
            query={"keep_keys": keep_keys},
            options=options,
        )


class TeamMembersWithRawResponse:
    def __init__(self, raw: TeamMembers) -> None:
        self.list = to_raw(raw.list)
        self.update = to_raw(raw.update)
        self.remove = to_raw(raw.remove)
