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
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncTeamInvitationsWithRawResponse(AsyncTeamInvitations(self._client, _raw=True))

    async def create(
        self, team_uid: str, *, email: str, role: Union[Role, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> CreatedInvitation:
        """Creates an invitation to a team and returns its link.

        The link is returned once, works once and expires after 7 days. A team can have at most 100 open
        invitations. No email is sent. Requires the role `admin`. The first key of an account that the link
        creates has at most the scopes of the request's credential.

        `POST /agent/teams/{teamUid}/invitations`

        Args:
            team_uid: The team's id.
            email: The person's email address. At most 320 bytes in UTF-8. Must be an email address in ASCII characters, such as ada@example.com or ada@xn--bcher-kva.example.
            role: The role in the team after acceptance. Defaults to `member`.
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
        """Lists the open invitations of a team, without their links.

        Requires the role `admin`.

        `GET /agent/teams/{teamUid}/invitations`

        Args:
            team_uid: The team's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/teams/{team_uid}/invitations", team_uid=team_uid),
            cast_to=ListInvitationsResponse,
            items=lambda response: response.invitations,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def delete(self, team_uid: str, invitation_id: str, **options: Unpack[RequestOptions]) -> None:
        """Revokes an invitation.

        Its link stops working immediately. Requires the role `admin`.

        `DELETE /agent/teams/{teamUid}/invitations/{invitationId}`

        Args:
            team_uid: The team's id.
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
