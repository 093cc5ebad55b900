"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from functools import cached_property
from typing import Sequence, Union

from typing_extensions import Literal, Unpack

from ..._options import NOT_GIVEN, NotGiven, RequestOptions
from ...params import (
    ApprovalCallParam,
    LiveFrameParam,
    MessageParam,
    ReportShutdownRequestErrorParam,
    ResolvePromptRequestSkillParam,
    SetupReportParam,
    UploadSnapshotRequestFileParam,
)
from ...types import (
    CommitSnapshotResponse,
    Empty,
    ExternalConversationResponse,
    FinishTaskResponse,
    HeartbeatResponse,
    IdentityTokenResponse,
    LiveResponse,
    MessagesResponse,
    PushBranchResponse,
    RawTranscriptLocation,
    ReportArtifactResponse,
    ResolvePromptResponse,
    UploadSnapshotResponse,
    UploadTarget,
)
from .._resource import Resource, to_raw


class HarnessSupport(Resource):
    @cached_property
    def with_raw_response(self) -> HarnessSupportWithRawResponse:
        """The same methods, returning the raw response: status, headers and value."""
        return HarnessSupportWithRawResponse(HarnessSupport(self._client, _raw=True))

    def resolve_prompt(
        self,
        *,
        skill: Union[ResolvePromptRequestSkillParam, NotGiven] = NOT_GIVEN,
        attachments_dir: Union[str, NotGiven] = NOT_GIVEN,
        refused_secrets: Union[Sequence[str], NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ResolvePromptResponse:
        """Starts an execution and returns its prompt, context and secrets.

        The harness makes this call first. It binds the execution to the `Runyard-Instance` of the caller and
        moves the run to `INPROGRESS`. If the harness sends the skill that it has loaded, the run shows that
        skill from then on. Tokens among the secrets are renewed if they are about to expire, or if the harness
        says that a server has refused them.

        `POST /harness-support/resolve-prompt`

        Args:
            skill: The skill that the harness has loaded, to be shown with the run.
            attachments_dir: The directory for attachments. Has no effect in this release. At most 1024 bytes in UTF-8.
            refused_secrets: The names of secrets whose tokens a server has refused. They are renewed first, if possible.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/resolve-prompt",
            cast_to=ResolvePromptResponse,
            body={"skill": skill, "attachments_dir": attachments_dir, "refused_secrets": refused_secrets},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def heartbeat(
        self,
        *,
        execution_id: str,
        followups_stored: int,
        takes_after: Union[int, NotGiven] = NOT_GIVEN,
        interrupts_handled: Union[int, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> HeartbeatResponse:
        """Renews the lease of an execution and returns new follow-ups.

        Call again after `next_heartbeat_seconds`. An execution that sends no request for 30 seconds expires, and
        the run is executed again from its last checkpoint. If `cancel` is true, stop all processes.

        `POST /harness-support/heartbeat`

        Args:
            execution_id: The id of the caller's execution. At most 512 bytes in UTF-8.
            followups_stored: The number of the latest follow-up that the harness has stored; 0 if none.
            takes_after: The harness takes the first follow-up after this number now, so that nobody can change it any more.
            interrupts_handled: The number of the last interrupt whose turn has ended, as the stored messages show.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/heartbeat",
            cast_to=HeartbeatResponse,
            body={
                "execution_id": execution_id,
                "followups_stored": followups_stored,
                "takes_after": takes_after,
                "interrupts_handled": interrupts_handled,
            },
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def append_messages(
        self,
        *,
        execution_id: str,
        first_sequence: int,
        messages: Sequence[MessageParam],
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> MessagesResponse:
        """Appends messages to the conversation of a run.

        `first_sequence` must be the number of the next message; a gap returns 400. A repeated batch is stored
        once. A message of the agent with a text and without an action is the response that ends a turn: a text
        that comes before an action belongs in the action's message. A run stores at most 20,000 messages and 100
        MiB.

        `POST /harness-support/messages`

        Args:
            execution_id: The id of the caller's execution. At most 512 bytes in UTF-8.
            first_sequence: The number of the first of these messages within the run.
            messages: The messages to append, 1 to 200.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/messages",
            cast_to=MessagesResponse,
            body={"execution_id": execution_id, "first_sequence": first_sequence, "messages": messages},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def record_live_output(
        self,
        *,
        execution_id: str,
        frames: Sequence[LiveFrameParam],
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> LiveResponse:
        """Sends live output to the readers of a run.

        Send frames only while `watched` is true in the response of this or another request, at most two requests
        per second. Of each stream, only the last 16 KiB are kept.

        `POST /harness-support/live`

        Args:
            execution_id: The id of the execution, one attempt to execute the run. At most 512 bytes in UTF-8.
            frames: The pieces of output, in order, 1 to 16.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/live",
            cast_to=LiveResponse,
            body={"execution_id": execution_id, "frames": frames},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def report_artifact(
        self,
        *,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ReportArtifactResponse:
        """Reports an artifact of a run.

        For a file or a screenshot, the first call returns an upload target; after the upload, repeat the call to
        publish the artifact. Other types are published by the first call. A run stores at most 1,000 artifacts
        and 5 GiB.

        `POST /harness-support/report-artifact`

        Args:
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/report-artifact",
            cast_to=ReportArtifactResponse,
            body={},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def notify_user(
        self,
        *,
        message: str,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Empty:
        """Notifies the user of a run while the run continues.

        The message becomes an event of type `user_notified`. A run can send at most 10 notifications.

        `POST /harness-support/notify-user`

        Args:
            message: The message to the user, at most 4,096 bytes. At most 4096 bytes in UTF-8.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/notify-user",
            cast_to=Empty,
            body={"message": message},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def finish_task(
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
        interrupt: Union[int, NotGiven] = NOT_GIVEN,
        approval: Union[ApprovalCallParam, NotGiven] = NOT_GIVEN,
        first_sequence: Union[int, NotGiven] = NOT_GIVEN,
        messages: Union[Sequence[MessageParam], NotGiven] = NOT_GIVEN,
        followups_stored: Union[int, NotGiven] = NOT_GIVEN,
        interrupts_handled: Union[int, NotGiven] = NOT_GIVEN,
        waits: Union[bool, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> FinishTaskResponse:
        """Ends a run and records its result.

        The run becomes `SUCCEEDED`, `FAILED` or, with `blocked`, `BLOCKED`. `messages` are appended to its
        conversation before. If a follow-up has not been delivered, the run returns to `QUEUED` instead or, with
        `followups_stored`, continues with the follow-ups in the response. With `waits`, an interactive or
        interrupted run waits for a follow-up, which a heartbeat delivers.

        `POST /harness-support/finish-task`

        Args:
            success: Whether the task succeeded.
            summary: The result, or with `blocked` the agent's question. At most 65536 bytes in UTF-8.
            error_code: The error code of a failed run.
            blocked: Whether the agent waits for an answer to the question in `summary`. The run becomes `BLOCKED` until a follow-up.
            interrupt: The number of the interrupt that ended the turn.
            approval: The call that waits for an approval. The run becomes `BLOCKED` until a person decides.
            first_sequence: The number of the first of these messages within the run.
            messages: The last messages of the conversation, 1 to 200; requires `first_sequence`.
            followups_stored: The number of follow-ups that the conversation has with `messages`. If more wait, the run continues.
            interrupts_handled: The number of the last interrupt whose turn has ended. A later one is in the response, and the run does not end.
            waits: Whether the execution can stay alive and wait for follow-ups, if the run is to wait for one.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/finish-task",
            cast_to=FinishTaskResponse,
            body={
                "success": success,
                "summary": summary,
                "error_code": error_code,
                "blocked": blocked,
                "interrupt": interrupt,
                "approval": approval,
                "first_sequence": first_sequence,
                "messages": messages,
                "followups_stored": followups_stored,
                "interrupts_handled": interrupts_handled,
                "waits": waits,
            },
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def upload_snapshot(
        self,
        *,
        files: Sequence[UploadSnapshotRequestFileParam],
        mode: Union[Literal["legacy", "checkpoint"], NotGiven] = NOT_GIVEN,
        generation: Union[str, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> UploadSnapshotResponse:
        """Creates upload targets for the files of a snapshot.

        A snapshot becomes the checkpoint of a run only after it is committed. A snapshot has at most 100 files
        and 2 GiB; a run has at most 500 snapshots.

        `POST /harness-support/upload-snapshot`

        Args:
            files: The files of the snapshot, at most 100. Only a `checkpoint`, of an empty workspace, can have none.
            mode: `checkpoint` for files to commit as a checkpoint, `legacy` (default) for the final files of an execution.
            generation: The name of the snapshot. Required for `checkpoint`. Must have 1 to 128 of the characters A-Z a-z 0-9 . _ - and no two underscores in a row.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/upload-snapshot",
            cast_to=UploadSnapshotResponse,
            body={"files": files, "mode": mode, "generation": generation},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def commit_snapshot(
        self,
        *,
        generation: str,
        files: Sequence[str],
        setup: Union[SetupReportParam, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> CommitSnapshotResponse:
        """Commits an uploaded snapshot as the run's checkpoint.

        Later executions start from this checkpoint. All files must be uploaded, otherwise the response is 409.

        `POST /harness-support/commit-snapshot`

        Args:
            generation: The name of the snapshot within its execution. Must have 1 to 128 of the characters A-Z a-z 0-9 . _ - and no two underscores in a row.
            files: The names of the files to keep, at most 100.
            setup: What the snapshot was made of, if later runs in the environment may start with it. Only for runs that set up an environment.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/commit-snapshot",
            cast_to=CommitSnapshotResponse,
            body={"generation": generation, "files": files, "setup": setup},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def create_external_conversation(
        self,
        *,
        format: str,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> ExternalConversationResponse:
        """Registers a conversation that a third-party harness stores itself.

        Upload the transcript of the conversation in the given format afterwards.

        `POST /harness-support/external-conversation`

        Args:
            format: The format of the conversation, such as `claude`. Must have 1 to 64 of the characters A-Z a-z 0-9 . _ - and start with a letter or digit.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/external-conversation",
            cast_to=ExternalConversationResponse,
            body={"format": format},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def upload_transcript(
        self,
        *,
        conversation_id: str,
        size_bytes: Union[int, NotGiven] = NOT_GIVEN,
        sha256: Union[str, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> UploadTarget:
        """Creates an upload target for a third-party harness's raw transcript.

        The conversation must be registered first. A transcript can have up to 64 MiB, and a run stores at most
        1,000 of them.

        `POST /harness-support/transcript`

        Args:
            conversation_id: The conversation's id. At most 512 bytes in UTF-8.
            size_bytes: The file's size in bytes.
            sha256: The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/transcript",
            cast_to=UploadTarget,
            body={"conversation_id": conversation_id, "size_bytes": size_bytes, "sha256": sha256},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def get_transcript(
        self,
        *,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> RawTranscriptLocation:
        """Redirects to the raw transcript of a third-party harness.

        The URL expires after 15 minutes by default. With `redirect=false` the response is 200 and contains the
        URL. A conversation of the default harness returns 400, one without a transcript 404, and another harness
        than the one of the execution gets 409.

        `GET /harness-support/transcript`

        Args:
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "GET",
            "/harness-support/transcript",
            cast_to=RawTranscriptLocation,
            query={"redirect": False},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def identity_token(
        self,
        *,
        audience: str,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> IdentityTokenResponse:
        """Returns a token that proves the run's identity to other systems.

        Cloud providers exchange it for credentials. It is a JWT of this deployment as OIDC issuer, is valid for
        15 minutes, and is issued only while the run executes. If no public address is configured, the response
        is 409.

        `POST /harness-support/identity-token`

        Args:
            audience: The `aud` claim of the token, as the other system expects it. At most 512 bytes in UTF-8.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/identity-token",
            cast_to=IdentityTokenResponse,
            body={"audience": audience},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def push_branch(
        self,
        *,
        commit: str,
        size_bytes: int,
        sha256: str,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> PushBranchResponse:
        """Pushes commits to the head branch of the run's pull request.

        The first call returns an upload target for their objects; after the upload, repeat the call to push
        them. The push goes to that branch only and is never forced: the response is 409 if the commits do not
        continue the branch.

        `POST /harness-support/push-branch`

        Args:
            commit: The id of the commit that the branch gets. Must have 40 lowercase hexadecimal digits.
            size_bytes: The size of the pack in bytes.
            sha256: The SHA-256 digest of the pack, a git pack of version 2 whose objects are complete. Must have 64 lowercase hexadecimal digits.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/push-branch",
            cast_to=PushBranchResponse,
            body={"commit": commit, "size_bytes": size_bytes, "sha256": sha256},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )

    def report_shutdown(
        self,
        *,
        error: Union[ReportShutdownRequestErrorParam, NotGiven] = NOT_GIVEN,
        runyard_instance: Union[str, NotGiven] = NOT_GIVEN,
        runyard_protocol: Union[int, NotGiven] = NOT_GIVEN,
        **options: Unpack[RequestOptions],
    ) -> Empty:
        """Reports that the sandbox of an execution has stopped.

        A run in progress is executed again from its last checkpoint; after 3 losses without a new checkpoint it
        ends in `ERROR`. For a cancelled run, the timeline records `run_stopped`.

        `POST /harness-support/report-shutdown`

        Args:
            error: The cause of the shutdown. Absent if the sandbox stopped normally.
            runyard_instance: A random UUID of the harness process. The first request binds the execution to it; another UUID returns `conflict`.
            runyard_protocol: The protocol version of the harness. A version that is too old returns 426, and the run is executed again.
        """
        return self._call(
            "POST",
            "/harness-support/report-shutdown",
            cast_to=Empty,
            body={"error": error},
            headers={"Runyard-Instance": runyard_instance, "Runyard-Protocol": runyard_protocol},
            options=options,
        )


class HarnessSupportWithRawResponse:
    def __init__(self, raw: HarnessSupport) -> None:
        self.resolve_prompt = to_raw(raw.resolve_prompt)
        self.heartbeat = to_raw(raw.heartbeat)
        self.append_messages = to_raw(raw.append_messages)
        self.record_live_output = to_raw(raw.record_live_output)
        self.report_artifact = to_raw(raw.report_artifact)
        self.notify_user = to_raw(raw.notify_user)
        self.finish_task = to_raw(raw.finish_task)
        self.upload_snapshot = to_raw(raw.upload_snapshot)
        self.commit_snapshot = to_raw(raw.commit_snapshot)
        self.create_external_conversation = to_raw(raw.create_external_conversation)
        self.upload_transcript = to_raw(raw.upload_transcript)
        self.get_transcript = to_raw(raw.get_transcript)
        self.identity_token = to_raw(raw.identity_token)
        self.push_branch = to_raw(raw.push_branch)
        self.report_shutdown = to_raw(raw.report_shutdown)
