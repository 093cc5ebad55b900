"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...types import (
    Conversation,
    ConversationRedirect,
    Step,
)
from .._io import Page
from .._resource import Resource, to_raw


class Conversations(Resource):
    @cached_property
    def with_raw_response(self) -> ConversationsWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return ConversationsWithRawResponse(Conversations(self._client, _raw=True))

    def retrieve(
        self,
        conversation_id: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Page[Step]:
        """All runs of a conversation as one, oldest first.

        `GET /agent/conversations/{conversationId}`

        Args:
            conversation_id: The conversation's id.
            limit: How many at most. By default all, up to 500 or 4 MB.
            cursor: `page_info.next_cursor` of the page before.
        """
        return self._list(
            _wire.path("/agent/conversations/{conversation_id}", conversation_id=conversation_id),
            cast_to=Conversation,
            items=lambda answer: answer.steps,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    def redirect(self, conversation_id: str, **options: Unpack[RequestOptions]) -> ConversationRedirect:
        """The latest session of it that is shared with everybody.

        `GET /agent/conversations/{conversationId}/redirect`

        Args:
            conversation_id: The conversation's id.
        """
        return self._call(
            "GET",
            _wire.path("/agent/conversations/{conversation_id}/redirect", conversation_id=conversation_id),
            cast_to=ConversationRedirect,
            options=options,
        )


class ConversationsWithRawResponse:
    def __init__(self, raw: Conversations) -> None:
        self.retrieve = to_raw(raw.retrieve)
        self.redirect = to_raw(raw.redirect)
