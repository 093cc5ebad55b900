"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Sequence, Union

from typing_extensions import Literal, Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    MessageParam,
    ReportShutdownRequestErrorParam,
    ResolvePromptRequestSkillParam,
    UploadSnapshotRequestFileParam,
)
from ...types import (
    CommitSnapshotResponse,
    Empty,
    ExternalConversationResponse,
    HeartbeatResponse,
    MessagesResponse,
    RawTranscriptLocation,
    ReportArtifactResponse,
    ResolvePromptResponse,
    UploadSnapshotResponse,
    UploadTarget,
)
from .._resource import AsyncResource, to_raw


class AsyncHarnessSupport(AsyncResource):
    @cached_property
    def with_raw_response(self) -> AsyncHarnessSupportWithRawResponse:
        """The same methods, answering status, headers and value together."""
        return AsyncHarnessSupportWithRawResponse(AsyncHarnessSupport(self._client, _raw=True))

    async def resolve_prompt(
        self,
        *,
        skill: Union[ResolvePromptRequestSkillParam, NotGiven] = NOT_GIVEN,
        attachments_dir: Union[str, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ResolvePromptResponse:
        """The first call of an execution, answered with all that it needs. With the skill that the execution has found, the run shows and is found by that from then on.

        `POST /harness-support/resolve-prompt`

        Args:
            skill: The skill to start from; wins over the configuration's.
            attachments_dir: Where the harness will put attachments. At most 1024 bytes in UTF-8.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/resolve-prompt",
            cast_to=ResolvePromptResponse,
            body={"skill": skill, "attachments_dir": attachments_dir},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def heartbeat(
        self,
        *,
        execution_id: str,
        followups_stored: int,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> HeartbeatResponse:
        """A sign of life, answered with new follow-ups and whether to stop.

        `POST /harness-support/heartbeat`

        Args:
            execution_id: The execution that it was part of: one attempt to carry the run out. At most 512 bytes in UTF-8.
            followups_stored: The number of the latest follow-up that the harness has kept.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/heartbeat",
            cast_to=HeartbeatResponse,
            body={"execution_id": execution_id, "followups_stored": followups_stored},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def append_messages(
        self,
        *,
        execution_id: str,
        first_sequence: int,
        messages: Sequence[MessageParam],
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> MessagesResponse:
        """Appends to the conversation; a batch that came before is stored once.

        `POST /harness-support/messages`

        Args:
            execution_id: The execution that it was part of: one attempt to carry the run out. At most 512 bytes in UTF-8.
            first_sequence: The number of the first of these messages within the run.
            messages: What was said, in order.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/messages",
            cast_to=MessagesResponse,
            body={"execution_id": execution_id, "first_sequence": first_sequence, "messages": messages},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def report_artifact(
        self,
        *,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ReportArtifactResponse:
        """Where to upload a file, and then that it is there; of other kinds, all there is.

        `POST /harness-support/report-artifact`

        Args:
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/report-artifact",
            cast_to=ReportArtifactResponse,
            body={},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def notify_user(
        self,
        *,
        message: str,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Empty:
        """A word to the run's user while it goes on, as an event of the run.

        `POST /harness-support/notify-user`

        Args:
            message: What the user is told. At most 4096 bytes in UTF-8.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/notify-user",
            cast_to=Empty,
            body={"message": message},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def finish_task(
        self,
        *,
        success: bool,
        summary: str,
        error_code: Union[
            Literal[
                "invalid_request",
                "environment_setup_failed",
                "operation_not_supported",
                "external_authentication_required",
            ],
            NotGiven,
        ] = NOT_GIVEN,
        blocked: Union[bool, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Empty:
        """The run has come to its end.

        `POST /harness-support/finish-task`

        Args:
            success: Whether the task was done.
            summary: How it went, in a sentence or two. At most 65536 bytes in UTF-8.
            error_code: Whose fault it was, where it was not done.
            blocked: True where the agent has asked its user the question that `summary` is: the run is BLOCKED until a follow-up answers it. This project's own addition.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/finish-task",
            cast_to=Empty,
            body={"success": success, "summary": summary, "error_code": error_code, "blocked": blocked},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def upload_snapshot(
        self,
        *,
        files: Sequence[UploadSnapshotRequestFileParam],
        mode: Union[Literal["legacy", "checkpoint"], NotGiven] = NOT_GIVEN,
        generation: Union[str, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> UploadSnapshotResponse:
        """Where to upload the files from which the run could go on.

        `POST /harness-support/upload-snapshot`

        Args:
            files: The snapshot's files.
            mode: Whether the files are committed as a checkpoint, or are the last that an execution leaves.
            generation: The snapshot's name within its execution. Must be 1 to 128 of A-Z a-z 0-9 . _ - without two underscores in a row.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/upload-snapshot",
            cast_to=UploadSnapshotResponse,
            body={"files": files, "mode": mode, "generation": generation},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def commit_snapshot(
        self,
        *,
        generation: str,
        files: Sequence[str],
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CommitSnapshotResponse:
        """The uploaded files become the checkpoint from which the run goes on.

        `POST /harness-support/commit-snapshot`

        Args:
            generation: The snapshot's name within its execution. Must be 1 to 128 of A-Z a-z 0-9 . _ - without two underscores in a row.
            files: Which of its files are kept.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/commit-snapshot",
            cast_to=CommitSnapshotResponse,
            body={"generation": generation, "files": files},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def create_external_conversation(
        self,
        *,
        format: str,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ExternalConversationResponse:
        """A harness of others writes the run's conversation, in a format of its own.

        `POST /harness-support/external-conversation`

        Args:
            format: Must be 1 to 64 of A-Z a-z 0-9 . _ -.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/external-conversation",
            cast_to=ExternalConversationResponse,
            body={"format": format},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def upload_transcript(
        self,
        *,
        conversation_id: str,
        size_bytes: Union[int, NotGiven] = NOT_GIVEN,
        sha256: Union[str, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> UploadTarget:
        """Where to upload the raw transcript of a conversation that a harness of others writes.

        `POST /harness-support/transcript`

        Args:
            conversation_id: The conversation that the run belongs to, or is to continue. At most 512 bytes in UTF-8.
            size_bytes: The file's bytes.
            sha256: The file's digest. Must be 64 hexadecimal digits.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/transcript",
            cast_to=UploadTarget,
            body={"conversation_id": conversation_id, "size_bytes": size_bytes, "sha256": sha256},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def get_transcript(
        self,
        *,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RawTranscriptLocation:
        """302 to the raw transcript that a harness of others has made of the task's conversation, or with redirect=false the URL itself.

        `GET /harness-support/transcript`

        Args:
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "GET",
            "/harness-support/transcript",
            cast_to=RawTranscriptLocation,
            query={"redirect": False},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    async def report_shutdown(
        self,
        *,
        error: Union[ReportShutdownRequestErrorParam, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Empty:
        """The sandbox's word that its execution has stopped.

        `POST /harness-support/report-shutdown`

        Args:
            error: What ended the execution; absent where nothing went wrong.
            runyard_instance: A random UUID of the harness's process. The first one binds the execution; another one is a `conflict`.
            runyard_protocol: The protocol that the harness speaks. One that is too old is answered 426, and the run starts anew.
        """
        return await self._call(
            "POST",
            "/harness-support/report-shutdown",
            cast_to=Empty,
            body={"error": error},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )


class AsyncHarnessSupportWithRawResponse:
    def __init__(self, raw: AsyncHarnessSupport) -> None:
        self.resolve_prompt = to_raw(raw.resolve_prompt)
        self.heartbeat = to_raw(raw.heartbeat)
        self.append_messages = to_raw(raw.append_messages)
        self.report_artifact = to_raw(raw.report_artifact)
        self.notify_user = to_raw(raw.notify_user)
        self.finish_task = to_raw(raw.finish_task)
        self.upload_snapshot = to_raw(raw.upload_snapshot)
        self.commit_snapshot = to_raw(raw.commit_snapshot)
        self.create_external_conversation = to_raw(raw.create_external_conversation)
        self.upload_transcript = to_raw(raw.upload_transcript)
        self.get_transcript = to_raw(raw.get_transcript)
        self.report_shutdown = to_raw(raw.report_shutdown)
