"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    CreatedInvitation,
    InvitationItem,
    ListInvitationsResponse,
    Role,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw


class AsyncTeamInvitations(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncTeamInvitationsWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return AsyncTeamInvitationsWithRawResponse(AsyncTeamInvitations(self._client, _raw=True))

    async def create(
        self, team_uid: str, *, email: str, role: Union[Role, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> CreatedInvitation:
        """Creates an invitation whose link is valid for a week; only this response shows it.

        `POST /agent/teams/{teamUid}/invitations`

        Args:
            team_uid: The team's uid.
            email: The person's address. At most 320 bytes in UTF-8. Must be an e-mail address.
            role: What they will be in the team; `member` by default.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/teams/{team_uid}/invitations", team_uid=team_uid),
            cast_to=CreatedInvitation,
            body={"email": email, "role": role},
            options=options,
        )

    def list(
        self,
        team_uid: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[InvitationItem]:
        """Lists the open invitations of a team without their links.

        `GET /agent/teams/{teamUid}/invitations`

        Args:
            team_uid: The team's uid.
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            _wire.path("/agent/teams/{team_uid}/invitations", team_uid=team_uid),
            cast_to=ListInvitationsResponse,
            items=lambda answer: answer.invitations,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def delete(self, team_uid: str, invitation_id: str, **options: Unpack[RequestOptions]) -> None:
        """Revokes an invitation.

        `DELETE /agent/teams/{teamUid}/invitations/{invitationId}`

        Args:
            team_uid: The team's uid.
            invitation_id: The invitation's id.
        """
        return await self._call(
            "DELETE",
            _wire.path(
                "/agent/teams/{team_uid}/invitations/{invitation_id}", team_uid=team_uid, invitation_id=invitation_id
            ),
            cast_to=type(None),
            options=options,
        )


class AsyncTeamInvitationsWithRawResponse:
    def __init__(self, raw: AsyncTeamInvitations) -> None:
        self.create = to_raw(raw.create)
        self.list = to_raw(raw.list)
        self.delete = to_raw(raw.delete)
