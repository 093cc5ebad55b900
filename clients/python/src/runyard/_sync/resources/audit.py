"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    AuditEvent,
    ListAuditEventsResponse,
)
from .._io import Page
from .._resource import Resource, to_raw


class Audit(Resource):
    @cached_property
    def with_raw_response(self) -> AuditWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AuditWithRawResponse(Audit(self._client, _raw=True))

    def list(
        self,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        from_: Union[str, datetime, NotGiven] = NOT_GIVEN,
        to: Union[str, datetime, NotGiven] = NOT_GIVEN,
        actor: Union[str, NotGiven] = NOT_GIVEN,
        action: Union[str, NotGiven] = NOT_GIVEN,
        target: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[AuditEvent]:
        """Lists the team's audit log, newest first.

        It has one event for each request that changed something, and for each refused one. `from` is inclusive
        and `to` exclusive. `action` is an action such as `keys.delete`, or its beginning, such as `keys`;
        `actor` and `target` are uids. Events are kept for 400 days. Requires the role `admin`.

        `GET /agent/audit`

        Args:
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
            from_: Lists only events at or after this time.
            to: Lists only events before this time.
            actor: Lists only events of this user or identity, by uid.
            action: Lists only this action, such as `keys.delete`, or those that begin with it, such as `keys`.
            target: Lists only events of the resource with this uid. For a run, its follow-ups are included.
        """
        return self._list(
            "/agent/audit",
            cast_to=ListAuditEventsResponse,
            items=lambda response: response.events,
            query={
                "limit": limit,
                "cursor": cursor,
                "from": from_,
                "to": to,
                "actor": actor,
                "action": action,
                "target": target,
            },
            options=options,
        )


class AuditWithRawResponse:
    def __init__(self, raw: Audit) -> None:
        self.list = to_raw(raw.list)
