"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Sequence, Union

from typing_extensions import Unpack

from ... import _wire
from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    PrepareAttachmentsRequestAttachmentParam,
    PrepareAttachmentsRequestFileParam,
    RunFollowupRequestAttachmentParam,
)
from ...types import (
    Conversation,
    ConversationRedirect,
    DownloadUrl,
    FollowupPolicy,
    InterruptRunResponse,
    PrepareAttachmentsResponse,
    RunFollowupResponse,
    RunMode,
    Step,
)
from .._io import AsyncPaginator
from .._resource import AsyncResource, to_raw


class AsyncConversations(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncConversationsWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return AsyncConversationsWithRawResponse(AsyncConversations(self._client, _raw=True))

    def retrieve(
        self,
        conversation_id: str,
        *,
        limit: Union[int, NotGiven] = NOT_GIVEN,
        cursor: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> AsyncPaginator[Step]:
        """Returns all runs of a conversation as one, oldest first.

        Runs that the caller may not see are left out. Large tool outputs are truncated to 16 KiB. If a third-
        party harness stores a run in its own format, the response is 422.

        `GET /agent/conversations/{conversationId}`

        Args:
            conversation_id: The conversation's id.
            limit: The maximum number of items. By default, up to 500 items or 4 MB.
            cursor: The `page_info.next_cursor` of the previous page.
        """
        return self._list(
            _wire.path("/agent/conversations/{conversation_id}", conversation_id=conversation_id),
            cast_to=Conversation,
            items=lambda response: response.steps,
            query={"limit": limit, "cursor": cursor},
            options=options,
        )

    async def transcript(
        self, conversation_id: str, *, redirect: Union[bool, NotGiven] = NOT_GIVEN, **options: Unpack[RequestOptions]
    ) -> DownloadUrl:
        """Redirects to the raw transcript of a conversation's latest run.

        The transcript is a JSON Lines file, available shortly after the run has ended; before that, the response
        is 404. With `redirect=false` the response is 200 and contains the URL.

        `GET /agent/conversations/{conversationId}/transcript`

        Args:
            conversation_id: The conversation's id.
            redirect: Whether to redirect to the URL. `false` returns it in the body instead.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/conversations/{conversation_id}/transcript", conversation_id=conversation_id),
            cast_to=DownloadUrl,
            query={"redirect": redirect},
            options=options,
        )

    async def interrupt(self, conversation_id: str, **options: Unpack[RequestOptions]) -> InterruptRunResponse:
        """Interrupts the current turn of a conversation's latest run.

        Follows the rules of an interrupt of that run. The response names the run.

        `POST /agent/conversations/{conversationId}/interrupt`

        Args:
            conversation_id: The conversation's id.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/conversations/{conversation_id}/interrupt", conversation_id=conversation_id),
            cast_to=InterruptRunResponse,
            options=options,
        )

    async def send_followup(
        self,
        conversation_id: str,
        *,
        message: Union[str, NotGiven] = NOT_GIVEN,
        attachments: Union[Sequence[RunFollowupRequestAttachmentParam], NotGiven] = NOT_GIVEN,
        mode: Union[RunMode, NotGiven] = NOT_GIVEN,
        policy: Union[FollowupPolicy, NotGiven] = NOT_GIVEN,
        approve: Union[str, NotGiven] = NOT_GIVEN,
        deny: Union[str, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RunFollowupResponse:
        """Sends a follow-up message to the latest run of a conversation.

        Follows the rules of a follow-up to that run. The response names the run.

        `POST /agent/conversations/{conversationId}/followups`

        Args:
            conversation_id: The conversation's id.
            message: The message to the agent. Optional with attachments, and if the run has ended, to continue where it stopped. At most 262144 bytes in UTF-8.
            attachments: Files for the agent: prepared and uploaded for this run, or by the caller with `POST /agent/attachments`.
            mode: The mode of the next execution. Ignored by an active run. Defaults to the run's mode.
            policy: `enqueue` (default) waits for the current turn, `interrupt` stops it, `reject` returns 409 unless the run has ended.
            approve: The `approval_id` of the call that the run waits for: carries out exactly this call, once. Needs a person's key or session. Excludes `deny`. At most 512 bytes in UTF-8.
            deny: The `approval_id` of the call that the run waits for: the agent learns who denied it, with `message` as the reason. Needs a person's key or session. At most 512 bytes in UTF-8.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/conversations/{conversation_id}/followups", conversation_id=conversation_id),
            cast_to=RunFollowupResponse,
            body={
                "message": message,
                "attachments": attachments,
                "mode": mode,
                "policy": policy,
                "approve": approve,
                "deny": deny,
            },
            options=options,
        )

    async def redirect(self, conversation_id: str, **options: Unpack[RequestOptions]) -> ConversationRedirect:
        """Returns the latest public session of a conversation.

        Requires no API key. If no session of the conversation is shared publicly, the response is 404, as for an
        unknown id.

        `GET /agent/conversations/{conversationId}/redirect`

        Args:
            conversation_id: The conversation's id.
        """
        return await self._call(
            "GET",
            _wire.path("/agent/conversations/{conversation_id}/redirect", conversation_id=conversation_id),
            cast_to=ConversationRedirect,
            options=options,
        )

    async def prepare_attachments(
        self,
        conversation_id: str,
        *,
        files: Union[Sequence[PrepareAttachmentsRequestFileParam], NotGiven] = NOT_GIVEN,
        attachments: Union[Sequence[PrepareAttachmentsRequestAttachmentParam], NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> PrepareAttachmentsResponse:
        """Creates upload URLs for the files of a conversation's follow-up.

        Follows the rules of attachments for its latest run.

        `POST /agent/conversations/{conversationId}/attachments/prepare`

        Args:
            conversation_id: The conversation's id.
            files: The files to upload, 1 to 25. Required unless the request has `attachments`.
            attachments: An alias of `files`, whose items have `file_name` in place of `filename`.
        """
        return await self._call(
            "POST",
            _wire.path("/agent/conversations/{conversation_id}/attachments/prepare", conversation_id=conversation_id),
            cast_to=PrepareAttachmentsResponse,
            body={"files": files, "attachments": attachments},
            options=options,
        )


class AsyncConversationsWithRawResponse:
    def __init__(self, raw: AsyncConversations) -> None:
        self.retrieve = to_raw(raw.retrieve)
        self.transcript = to_raw(raw.transcript)
        self.interrupt = to_raw(raw.interrupt)
        self.send_followup = to_raw(raw.send_followup)
        self.redirect = to_raw(raw.redirect)
        self.prepare_attachments = to_raw(raw.prepare_attachments)
