"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Required, TypedDict

from .types import (
    AcpAgentName,
    ArtifactType,
    ExecutionLocation,
    FollowupPolicy,
    HarnessName,
    Overlap,
    ReasoningLevel,
    Role,
    RunMode,
    RunState,
    Scope,
    TaskStatus,
    WebhookEventType,
)


class AmbientAgentConfigApprovalParam(TypedDict, total=False):
    tool: Required[
        Literal[
            "ask_user",
            "call_mcp_tool",
            "create_plan",
            "create_pull_request",
            "edit_files",
            "get_mcp_prompt",
            "glob",
            "load_skill",
            "message_agent",
            "notify_user",
            "read_command",
            "read_files",
            "read_mcp_resource",
            "report_artifact",
            "run_command",
            "search_files",
            "start_agent",
            "stop_command",
            "todo",
            "wait_for_agents",
            "web_fetch",
            "write_command",
        ]
    ]
    """The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`."""

    match: str
    """A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8."""


class AmbientAgentConfigMcpServerToolsParam(TypedDict, total=False):
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""

    include: Sequence[str]
    """The tools to use, at most 100. Defaults to all."""

    exclude: Sequence[str]
    """The tools not to use, at most 100."""


class AmbientAgentConfigMcpServerParam(TypedDict, total=False):
    name: Required[str]
    """The server's name, unique in the list."""

    warp_id: str
    """The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8."""

    command: str
    """The program to start in the sandbox. At most 4096 bytes in UTF-8."""

    args: Sequence[str]
    """The program's arguments, at most 64."""

    env: Mapping[str, str]
    """The program's environment variables. Values are secrets: responses show `***`."""

    url: str
    """The URL of a remote server. Must be an http or https URL."""

    headers: Mapping[str, str]
    """The HTTP headers of each request to the server. Values are secrets: responses show `***`."""

    disabled: bool
    """Whether the server is kept in the configuration without being started or connected to. Defaults to false."""

    tools: AmbientAgentConfigMcpServerToolsParam
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""


class MCPServerConfigToolsParam(TypedDict, total=False):
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""

    include: Sequence[str]
    """The tools to use, at most 100. Defaults to all."""

    exclude: Sequence[str]
    """The tools not to use, at most 100."""


class MCPServerConfigParam(TypedDict, total=False):
    """An MCP server: a shared one (`warp_id`), a program (`command`) or a remote one (`url`). Exactly one of these is required."""

    warp_id: str
    """The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8."""

    command: str
    """The program to start in the sandbox. At most 4096 bytes in UTF-8."""

    args: Sequence[str]
    """The program's arguments, at most 64."""

    env: Mapping[str, str]
    """The program's environment variables. Values are secrets: responses show `***`."""

    url: str
    """The URL of a remote server. Must be an http or https URL."""

    headers: Mapping[str, str]
    """The HTTP headers of each request to the server. Values are secrets: responses show `***`."""

    disabled: bool
    """Whether the server is kept in the configuration without being started or connected to. Defaults to false."""

    tools: MCPServerConfigToolsParam
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""


class RepositoryParam(TypedDict, total=False):
    """A Git repository to clone."""

    url: Required[str]
    """The URL to clone, without credentials. At most 2048 bytes in UTF-8, without credentials: store them as a secret and name it in `token_secret`."""

    ref: str
    """The branch, tag or commit to check out. Defaults to the repository's default branch. At most 256 bytes in UTF-8. Must be a branch, tag or commit."""

    path: str
    """The directory in the workspace. Defaults to the last segment of the URL. At most 256 bytes in UTF-8. Must be a relative path inside the workspace."""

    token_secret: str
    """The name of the secret that contains the access token for an https URL."""

    depth: int
    """The number of commits to clone. Defaults to the whole history."""

    submodules: bool
    """Whether to clone submodules: those of the same owner, and those that `repositories` name. Defaults to false."""

    lfs: bool
    """Whether to download the files in Git LFS. Defaults to false, which leaves their pointers."""

    sparse_paths: Sequence[str]
    """The directories to check out, at most 50, besides the files at the top. Defaults to the whole repository."""


class AmbientAgentConfigHarnessParam(TypedDict, total=False):
    """The program that runs the agent. Responses omit it for the default harness."""

    type: Required[Literal["default", "oz", "claude", "codex", "gemini", "acp"]]
    """The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another."""

    model_id: str
    """The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8."""

    reasoning_level: str
    """The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own."""

    agent: AcpAgentName
    """An agent of the type `acp` that comes with the sandbox, in a pinned version."""

    command: str
    """The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8."""


class AmbientAgentConfigHarnessAuthSecretsParam(TypedDict, total=False):
    """The secrets with the API keys for the run's calls to Anthropic's and OpenAI's models, in place of the deployment's keys. The model gateway uses them; the run's sandbox does not get them."""

    claude_auth_secret_name: str
    """The name of the secret with the API key for Anthropic's models."""

    codex_auth_secret_name: str
    """The name of the secret with the API key for OpenAI's models."""


class AmbientAgentConfigSecretParam(TypedDict, total=False):
    name: Required[str]
    """The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore."""


class AmbientAgentConfigSessionSharingParam(TypedDict, total=False):
    """Public access to the run's session. Off by default."""

    public_access: Literal["VIEWER", "EDITOR"]
    """The access of anyone with the link. `EDITOR` has the effect of `VIEWER` in this release."""


class AmbientAgentConfigParam(TypedDict, total=False):
    """The configuration of an agent."""

    name: str
    """The configuration's name. Defaults to the name of the skill."""

    model_id: str
    """The model's id. Defaults to the team's model. At most 512 bytes in UTF-8."""

    fallback_model_ids: Sequence[str]
    """Models that the agent continues with, in this order, while a provider is down."""

    reasoning_level: ReasoningLevel
    """How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own."""

    output_schema: Mapping[str, Any]
    """The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`."""

    approvals: Sequence[AmbientAgentConfigApprovalParam]
    """Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children."""

    commit_author: str
    """The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. At most 512 bytes in UTF-8. Must be a name and an email address, such as Build Bot <bot@example.com>."""

    base_prompt: str
    """Additional instructions for the agent. At most 65536 bytes in UTF-8."""

    environment_id: str
    """The environment to set up before the agent starts. At most 512 bytes in UTF-8."""

    skill_spec: str
    """The skill to start from. Excludes `skills`. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md."""

    skills: Sequence[str]
    """The skills to load, at most 20. Excludes `skill_spec`."""

    mcp_servers: Union[Sequence[AmbientAgentConfigMcpServerParam], Mapping[str, MCPServerConfigParam]]
    """The agent's MCP servers: a map from name to server, at most 50."""

    repositories: Sequence[RepositoryParam]
    """The Git repositories to clone before the agent starts, at most 10."""

    computer_use_enabled: bool
    """Whether the agent may use a screen. Has no effect in this release. Defaults to false."""

    idle_timeout_minutes: int
    """Minutes for which an interactive or interrupted run waits for a follow-up, 0 to 60. With 0, it ends with its turn. Defaults to 10."""

    worker_host: str
    """The id of the self-hosted worker that executes the run. Defaults to `hosted`, a sandbox of the service. At most 512 bytes in UTF-8."""

    budget_usd: float
    """The limit of what the run and its descendants may spend on models, in US dollars. Defaults to the budget of the parent run."""

    timeout_minutes: int
    """Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default."""

    max_steps: int
    """Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default."""

    max_total_tokens: int
    """Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default."""

    harness: AmbientAgentConfigHarnessParam
    """The program that runs the agent. Responses omit it for the default harness."""

    harness_auth_secrets: AmbientAgentConfigHarnessAuthSecretsParam
    """The secrets with the API keys for the run's calls to Anthropic's and OpenAI's models, in place of the deployment's keys. The model gateway uses them; the run's sandbox does not get them."""

    secrets: Sequence[AmbientAgentConfigSecretParam]
    """The team's secrets that commands get as environment variables, besides those of the environment and the identity, at most 50."""

    credential_strategy: Optional[Literal["CREATOR", "EXECUTOR"]]
    """Whose credentials the run uses: its creator's or its executor's. Has no effect in this release."""

    session_sharing: AmbientAgentConfigSessionSharingParam
    """Public access to the run's session. Off by default."""


class RunAgentRequestAttachmentByFileNameParam(TypedDict, total=False):
    file_name: Required[str]
    """The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""

    data: Required[Union[str, bytes]]
    """The file's content in base64."""


class RunAgentRequestAttachmentByAttachmentIdParam(TypedDict, total=False):
    attachment_id: Required[str]
    """The id of an uploaded attachment. At most 512 bytes in UTF-8."""


class RunAgentRequestImageParam(TypedDict, total=False):
    data: Required[Union[str, bytes]]
    """The file's content in base64."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""


class RunAgentRequestParam(TypedDict, total=False):
    """A new run. One of `prompt`, a skill and `conversation_id` is required."""

    prompt: str
    """The task of the run. Required unless the request has a skill or a `conversation_id`. At most 262144 bytes in UTF-8."""

    title: str
    """The run's title, at most 512 characters. Defaults to the first line of the prompt."""

    config: AmbientAgentConfigParam
    """The configuration of the agent."""

    skill: str
    """The skill to start from. Overrides `config.skill_spec`. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md."""

    team: bool
    """Whether the team owns the run. Defaults to the owner of `conversation_id` if that is given, and otherwise to true if the caller has a team; agent keys cannot set it to false."""

    agent_identity_uid: str
    """The identity that executes the run. For team runs only. At most 512 bytes in UTF-8."""

    conversation_id: str
    """The conversation to continue. All of its runs have one owner. If its latest run has not ended, the response is 409. At most 512 bytes in UTF-8."""

    parent_run_id: str
    """The id of the parent run. The depth of a run tree is at most 10. At most 512 bytes in UTF-8."""

    attachments: Sequence[Union[RunAgentRequestAttachmentByFileNameParam, RunAgentRequestAttachmentByAttachmentIdParam]]
    """At most 5 files. Inline files can have 2.9 MiB in total after decoding; upload larger ones with `POST /agent/attachments`."""

    images: Sequence[RunAgentRequestImageParam]
    """An older form of `attachments`, for images."""

    interactive: bool
    """Whether the run waits for a follow-up after each turn, for `idle_timeout_minutes`. Defaults to false."""

    mode: RunMode
    """`normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs."""

    metadata: Mapping[str, str]
    """Labels to find the run by: at most 20 keys, with values of at most 256 bytes."""

    on_behalf_of: str
    """The uid or email address of the member to act for. Requires an agent key whose identity has `on_behalf_of_enabled`. At most 512 bytes in UTF-8."""

    execution_location: ExecutionLocation
    """`REMOTE` (default) executes the run in a sandbox of the service or on a worker; `LOCAL` leaves it to the caller."""

    notify_url: str
    """Where each event that ends the run is sent, as webhooks get it; also its later ends, after follow-ups. Child runs do not inherit it, a run's key cannot set it, and no response shows it. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment."""


class RunFilterParam(TypedDict, total=False):
    """The filters of the list of runs as a JSON object, combined with AND. Unknown members are refused, since ignoring a misspelled filter would cancel more runs than intended."""

    state: Sequence[RunState]
    """Selects runs in one of these states."""

    task_status: Sequence[TaskStatus]
    """Selects runs whose task has one of these statuses. `running`: the run or one of its descendants has not ended. The others match the state of the run itself: `failed` (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete` (`SUCCEEDED`). A run may match two."""

    name: str
    """Selects runs by the name of their configuration. At most 1024 bytes in UTF-8."""

    model_id: str
    """Selects runs by model. At most 512 bytes in UTF-8."""

    creator: str
    """Selects runs by the uid of their creator. At most 512 bytes in UTF-8."""

    executor: str
    """Selects runs by the uid of their executor. At most 512 bytes in UTF-8."""

    source: Union[str, Sequence[str]]
    """Selects runs from this source or one of these, each a RunSourceType. An unknown value selects no runs."""

    execution_location: ExecutionLocation
    """Selects runs by execution location."""

    created_after: Union[str, datetime]
    """Selects runs created after this time. RFC 3339 with an offset."""

    created_before: Union[str, datetime]
    """Selects runs created before this time. RFC 3339 with an offset."""

    updated_after: Union[str, datetime]
    """Selects runs that changed after this time. RFC 3339 with an offset."""

    environment_id: str
    """Selects runs by environment; `empty-environment` selects runs without one. At most 512 bytes in UTF-8."""

    skill: str
    """An alias of `skill_spec`. At most 512 bytes in UTF-8."""

    skill_spec: str
    """Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. At most 512 bytes in UTF-8."""

    schedule_id: str
    """Selects runs by schedule, including deleted schedules. At most 512 bytes in UTF-8."""

    trigger_id: str
    """Selects runs by the trigger that started them, including deleted triggers. At most 512 bytes in UTF-8."""

    automation_id: str
    """Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`. At most 512 bytes in UTF-8."""

    ancestor_run_id: str
    """Selects the descendants of this run, which must exist and be visible. At most 512 bytes in UTF-8."""

    artifact_type: ArtifactType
    """Selects runs with an artifact of this type."""

    archived: Literal["false", "true", "all"]
    """Selects archived runs (`true`), runs that are not archived (`false`, the default), or `all`."""

    min_cost_usd: float
    """Selects runs that have cost at least this many US dollars by their models and sandboxes, without their child runs."""

    q: str
    """Searches titles, prompts and skills. Ignores case, accents and word order, and allows for a typo in longer words. The id or the URL of a run finds that run."""

    metadata: Mapping[str, str]
    """Selects runs by metadata; in a query, as `metadata[ticket]=SHOP-1412`. At most 5 keys."""


class CancelRunsRequestParam(TypedDict, total=False):
    """The runs to cancel."""

    filter: Required[RunFilterParam]
    """The runs to cancel. Takes the filters of `GET /agent/runs`, at least one."""

    force: bool
    """Whether to cancel `PENDING`, `CLAIMED` and self-hosted runs as well. Defaults to false."""

    cursor: str
    """The `next_cursor` of the previous response, to continue after the runs that it processed. At most 4096 bytes in UTF-8."""


class MatchingRunsRequestParam(TypedDict, total=False):
    """The runs that a request is about."""

    filter: RunFilterParam
    """Which runs. Takes the filters of `GET /agent/runs`, at least one. Required unless `all` is true."""

    all: Literal[True]
    """True for all runs, in place of a filter."""

    cursor: str
    """The `page_info.next_cursor` of the previous response. At most 4096 bytes in UTF-8."""


class ShareRunRequestParam(TypedDict, total=False):
    """Who may see a run besides its owner. Null: nobody."""

    public_access: Required[Optional[Literal["VIEWER"]]]
    """The access of anyone with the link. Null: nobody but the run's owner sees it."""


class RunFollowupRequestAttachmentParam(TypedDict, total=False):
    attachment_id: Required[str]
    """The attachment's id. At most 512 bytes in UTF-8."""

    file_name: str
    """The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories."""


class RunFollowupRequestParam(TypedDict, total=False):
    """A follow-up message for a run."""

    message: str
    """The message to the agent. Optional with attachments, and if the run has ended, to continue where it stopped. At most 262144 bytes in UTF-8."""

    attachments: Sequence[RunFollowupRequestAttachmentParam]
    """Files for the agent: prepared and uploaded for this run, or by the caller with `POST /agent/attachments`."""

    mode: RunMode
    """The mode of the next execution. Ignored by an active run. Defaults to the run's mode."""

    policy: FollowupPolicy
    """`enqueue` (default) waits for the current turn, `interrupt` stops it, `reject` returns 409 unless the run has ended."""

    approve: str
    """The `approval_id` of the call that the run waits for: carries out exactly this call, once. Needs a person's key or session. Excludes `deny`. At most 512 bytes in UTF-8."""

    deny: str
    """The `approval_id` of the call that the run waits for: the agent learns who denied it, with `message` as the reason. Needs a person's key or session. At most 512 bytes in UTF-8."""


class UpdateFollowupRequestParam(TypedDict, total=False):
    """The new message of a pending follow-up."""

    message: Required[str]
    """The new message to the agent. At most 262144 bytes in UTF-8."""


class ClientEventPayloadParam(TypedDict, total=False):
    """Details of the event, such as `latency_ms` and `is_error`."""

    start_ts: Union[str, datetime]
    """The start time of the step. RFC 3339 with an offset."""

    finish_ts: Union[str, datetime]
    """The end time of the step. RFC 3339 with an offset."""

    latency_ms: float
    """The duration of the step, in milliseconds."""

    is_error: bool
    """Whether the step failed."""

    detail: str
    """The error message of the step. At most 4096 bytes in UTF-8."""

    step: str
    """`setup_started`: the event that reports the end of this part of the setup, such as `setup_commands`."""

    action_id: str
    """`setup_commands`: the id of the command's live output, if there was any. At most 512 bytes in UTF-8."""

    output: str
    """`setup_commands`: the end of what the command printed. At most 8192 bytes in UTF-8."""

    model_id: str
    """`agent_started`: the id of the model."""

    isolation: Literal["bubblewrap", "machine", "none"]
    """`agent_started`: the isolation boundary of the run's commands."""

    instruction_files: Sequence[str]
    """`agent_started`: the files of repositories that instruct the agent, relative to the workspace."""

    attempt: int
    """`model_retry`: the number of the attempt that failed, from 1."""

    of: int
    """`model_retry`: the maximum number of attempts."""

    reason: str
    """`model_retry`: why the attempt failed. At most 1024 bytes in UTF-8."""

    next_in_ms: int
    """`model_retry`: the delay before the next attempt, in milliseconds."""


class ClientEventParam(TypedDict, total=False):
    """An event that an execution reports for its timeline."""

    event_uuid: Required[str]
    """The event's id. At most 512 bytes in UTF-8."""

    event_name: Required[
        Literal[
            "setup_environment_resolution",
            "setup_repo_clone",
            "setup_commands",
            "setup_mcp_servers",
            "setup_skill_loading",
            "agent_started",
            "network_blocked",
            "checkpoint_saved",
            "setup_started",
            "model_retry",
        ]
    ]
    """The type of the event."""

    timestamp: Required[Union[str, datetime]]
    """The time of the event. RFC 3339 with an offset."""

    payload: ClientEventPayloadParam
    """Details of the event, such as `latency_ms` and `is_error`."""


class CreateAttachmentRequestParam(TypedDict, total=False):
    """The file to upload. Size and digest must match the uploaded bytes exactly."""

    file_name: Required[str]
    """The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""

    size_bytes: Required[int]
    """The file's size in bytes."""

    sha256: Required[str]
    """The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits."""


class PrepareAttachmentsRequestFileParam(TypedDict, total=False):
    filename: Required[str]
    """The name that the agent sees, unless the follow-up names another one. At most 255 bytes in UTF-8. Must be a file name without directories."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""

    size_bytes: int
    """The file's size in bytes."""

    sha256: str
    """The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits."""


class PrepareAttachmentsRequestAttachmentParam(TypedDict, total=False):
    file_name: Required[str]
    """The name that the agent sees, unless the follow-up names another one. At most 255 bytes in UTF-8. Must be a file name without directories."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""

    size_bytes: int
    """The file's size in bytes."""

    sha256: str
    """The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits."""


class PrepareAttachmentsRequestParam(TypedDict, total=False):
    """The files to upload for a follow-up of a run. One of the two members is required."""

    files: Sequence[PrepareAttachmentsRequestFileParam]
    """The files to upload, 1 to 25. Required unless the request has `attachments`."""

    attachments: Sequence[PrepareAttachmentsRequestAttachmentParam]
    """An alias of `files`, whose items have `file_name` in place of `filename`."""


class DownloadAttachmentsRequestParam(TypedDict, total=False):
    """The attachments to download."""

    attachment_ids: Required[Sequence[str]]
    """The ids of the attachments, at most 100."""


class CreateScheduleRequestParam(TypedDict, total=False):
    """A new schedule. `prompt` is required unless `agent_config` names a skill."""

    name: Required[str]
    """The schedule's name."""

    cron_schedule: Required[str]
    """A cron expression with five fields, or a nickname such as `@daily`. At most 512 bytes in UTF-8."""

    prompt: str
    """The task of each run. Required unless `agent_config` names a skill. At most 262144 bytes in UTF-8."""

    enabled: bool
    """Whether the schedule fires. Defaults to true."""

    team: bool
    """Whether the team owns the schedule. Defaults to true if the caller has a team; agent keys cannot set it to false."""

    agent_config: AmbientAgentConfigParam
    """The configuration of each run, before the defaults of the identity, the environment and the team."""

    agent_uid: str
    """The identity that executes the runs. For team schedules only. At most 512 bytes in UTF-8."""

    mode: RunMode
    """`normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs."""

    metadata: Mapping[str, str]
    """The labels of each run: at most 20 keys, with values of at most 256 bytes."""

    time_zone: str
    """The IANA time zone of the cron expression. Defaults to `UTC`. At most 64 bytes in UTF-8."""

    overlap: Overlap
    """What to do if an earlier run is still active: `allow` (default), `skip` the firing, or `cancel_previous`."""

    pause_after_failures: int
    """The number of consecutive failed runs after which the schedule pauses itself, at most 10. By default it never does. 0 clears the limit."""


class UpdateScheduleRequestParam(TypedDict, total=False):
    """The new content of a schedule. Optional members that are absent keep their values."""

    name: Required[str]
    """The schedule's name."""

    cron_schedule: Required[str]
    """A cron expression with five fields, or a nickname such as `@daily`. At most 512 bytes in UTF-8."""

    prompt: str
    """The task of each run. Required unless `agent_config` names a skill. At most 262144 bytes in UTF-8."""

    enabled: Required[bool]
    """Whether the schedule fires."""

    agent_config: AmbientAgentConfigParam
    """The configuration of each run, before the defaults of the identity, the environment and the team."""

    agent_uid: str
    """The identity that executes the runs. For team schedules only. At most 512 bytes in UTF-8."""

    mode: RunMode
    """`normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs."""

    metadata: Mapping[str, str]
    """The labels of each run: at most 20 keys, with values of at most 256 bytes."""

    time_zone: str
    """The IANA time zone of the cron expression. Defaults to `UTC`. At most 64 bytes in UTF-8."""

    overlap: Overlap
    """What to do if an earlier run is still active: `allow` (default), `skip` the firing, or `cancel_previous`."""

    pause_after_failures: int
    """The number of consecutive failed runs after which the schedule pauses itself, at most 10. By default it never does. 0 clears the limit."""


class ClaimInstallationRequestParam(TypedDict, total=False):
    """What GitHub adds to the URL that it redirects to, and the installation."""

    installation_id: Required[int]
    """GitHub's id of the installation."""

    state: Required[str]
    """The `state` of the claim, which GitHub repeats."""

    code: Required[str]
    """The `code` that identifies the person who authorized the App to GitHub."""


class TriggerVerificationParam(TypedDict, total=False):
    """How the requests of the other system prove who sent them."""

    scheme: Required[Literal["standard", "hmac", "bearer"]]
    """`standard` are Standard Webhooks, `hmac` is an HMAC-SHA256 of the body, `bearer` is the secret itself."""

    header: str
    """The header with the signature. Required by `hmac`. At most 128 bytes in UTF-8. Must be the name of a header. Must be a header of its own."""

    prefix: str
    """What precedes the signature in its header, such as `sha256=`. At most 32 bytes in UTF-8."""

    encoding: Literal["hex", "base64"]
    """The encoding of the signature. Defaults to `hex`."""

    timestamp_header: str
    """The header with the time, in seconds, that is signed together with the body. At most 128 bytes in UTF-8. Must be the name of a header. Must be a header of its own."""


class TriggerAuthorsParam(TypedDict, total=False):
    """Who may start runs besides people with write access."""

    bots: Sequence[str]
    """Names of accounts of bots and applications."""

    anyone: bool
    """Whether every person may, whatever their rights."""


class TriggerReplyParam(TypedDict, total=False):
    """How the other system learns the state and the result of a run."""

    to: Required[Literal["thread", "none"]]
    """`thread`: a comment in the thread of the event, which is updated in place. It needs a `credential`."""

    show: Sequence[Literal["cost", "link"]]
    """What the comment shows besides the result. Both by default in private repositories and projects and on Slack, otherwise nothing."""


class CreateTriggerRequestParam(TypedDict, total=False):
    """A new trigger."""

    name: Required[str]
    """A name for people, which is the title of the runs."""

    kind: Required[Literal["github", "gitlab", "slack", "webhook"]]
    """The system that sends the events. `webhook` stands for all others."""

    preset: Literal["linear", "jira", "sentry", "pagerduty"]
    """Fills verification and prompt of a trigger of the kind `webhook`."""

    prompt: str
    """The template of the prompts, with values such as `{{ event.payload.title }}`. Required without a preset. At most 8192 bytes in UTF-8."""

    verification: TriggerVerificationParam
    """How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default."""

    team: bool
    """Whether the team owns the trigger. Defaults to true if the caller has a team."""

    scopes: Sequence[Scope]
    """What its runs may use their keys for. By default all scopes of the request's credential, which has to have each of them."""

    secret: str
    """The secret, if the other system generates it. By default Runyard generates it. At most 512 bytes in UTF-8."""

    events: Sequence[str]
    """The types of events that start runs, such as `build` or `build.failed`. All by default."""

    agent_uid: str
    """The identity that executes the runs. By default the trigger's creator does. At most 512 bytes in UTF-8."""

    agent_config: AmbientAgentConfigParam
    """The configuration of the runs, before the defaults of the identity, the environment and the team. `{}` is none."""

    budget_usd: float
    """The most that each run with its children and follow-ups may spend on models, in US dollars. A lower budget of the configuration stays."""

    filter: str
    """The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. At most 2048 bytes in UTF-8."""

    thread_key: str
    """The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. At most 2048 bytes in UTF-8."""

    mode: RunMode
    """The mode of the runs."""

    followup_prompt: str
    """The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`. At most 8192 bytes in UTF-8."""

    threads: Literal["continue", "separate"]
    """Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`)."""

    busy: Literal["enqueue", "interrupt", "skip"]
    """What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`)."""

    allow: TriggerAuthorsParam
    """Who may start runs besides people with write access."""

    credential: Union[str, Literal[""]]
    """The name of a secret of the team with a token of the other system, of the kinds `github`, `gitlab` and `slack`: people with write access may start runs then. `""` is none."""

    reply: TriggerReplyParam
    """Whether runs reply to the events that start them. They do not by default."""

    metadata: Mapping[str, str]
    """The labels of the runs, at most 18. Must have at most 18 keys."""

    pause_after_failures: int
    """The number of consecutive failed runs after which the trigger pauses itself, at most 10. By default it never does. 0 clears the limit."""

    enabled: bool
    """Whether events start runs. Defaults to true."""


class UpdateTriggerRequestParam(TypedDict, total=False):
    """Changes to a trigger. Absent members keep their values."""

    name: str
    """A name for people, which is the title of the runs."""

    prompt: str
    """The template of the prompts, at most 8 KiB. A preset has one. At most 8192 bytes in UTF-8."""

    events: Sequence[str]
    """The types of events that start runs, such as `build` or `build.failed`. All by default."""

    agent_uid: Union[str, Literal[""]]
    """The identity that executes the runs. `""` clears it: the trigger's creator executes them."""

    agent_config: AmbientAgentConfigParam
    """The configuration of the runs, before the defaults of the identity, the environment and the team. `{}` is none."""

    budget_usd: Optional[float]
    """The most that each run with its children and follow-ups may spend on models, in US dollars. `null` clears it."""

    filter: str
    """The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none. At most 2048 bytes in UTF-8."""

    thread_key: str
    """The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread. At most 2048 bytes in UTF-8."""

    mode: RunMode
    """The mode of the runs."""

    followup_prompt: Union[str, Literal[""]]
    """The template of the follow-ups that later events of a thread send. `""` restores `{{ event.text }}`."""

    threads: Literal["continue", "separate"]
    """Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`)."""

    busy: Literal["enqueue", "interrupt", "skip"]
    """What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`)."""

    allow: TriggerAuthorsParam
    """Who may start runs besides people with write access."""

    credential: Union[str, Literal[""]]
    """The name of a secret of the team with a token of the other system, of the kinds `github`, `gitlab` and `slack`: people with write access may start runs then. `""` is none."""

    reply: TriggerReplyParam
    """Whether runs reply to the events that start them. They do not by default."""

    metadata: Mapping[str, str]
    """The labels of the runs, at most 18. Must have at most 18 keys."""

    pause_after_failures: int
    """The number of consecutive failed runs after which the trigger pauses itself, at most 10. By default it never does. 0 clears the limit."""

    enabled: bool
    """Whether events start runs. Defaults to true."""

    scopes: Sequence[Scope]
    """What its runs may use their keys for. `[]` stands for all scopes of the request's credential."""


class RotateTriggerSecretRequestParam(TypedDict, total=False):
    """A new secret for a trigger."""

    secret: str
    """The secret, if the other system generates it. By default Runyard generates it. At most 512 bytes in UTF-8."""


class TestTriggerRequestParam(TypedDict, total=False):
    """An event that a trigger is tested with."""

    headers: Mapping[str, str]
    """The headers of the request, from which the type of the event is read."""

    payload: Required[Mapping[str, Any]]
    """The JSON object of the event."""

    prompt: str
    """A template to test instead of the trigger's. At most 8192 bytes in UTF-8."""


class CreateIdentityRequestMcpServerToolsParam(TypedDict, total=False):
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""

    include: Sequence[str]
    """The tools to use, at most 100. Defaults to all."""

    exclude: Sequence[str]
    """The tools not to use, at most 100."""


class CreateIdentityRequestMcpServerParam(TypedDict, total=False):
    name: Required[str]
    """The server's name, unique in the list."""

    warp_id: str
    """The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8."""

    command: str
    """The program to start in the sandbox. At most 4096 bytes in UTF-8."""

    args: Sequence[str]
    """The program's arguments, at most 64."""

    env: Mapping[str, str]
    """The program's environment variables. Values are secrets: responses show `***`."""

    url: str
    """The URL of a remote server. Must be an http or https URL."""

    headers: Mapping[str, str]
    """The HTTP headers of each request to the server. Values are secrets: responses show `***`."""

    disabled: bool
    """Whether the server is kept in the configuration without being started or connected to. Defaults to false."""

    tools: CreateIdentityRequestMcpServerToolsParam
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""


class CreateIdentityRequestHarnessParam(TypedDict, total=False):
    type: Literal["default", "oz", "claude", "codex", "gemini", "acp"]
    """The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another."""

    model_id: str
    """The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8."""

    reasoning_level: str
    """The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own."""

    agent: AcpAgentName
    """An agent of the type `acp` that comes with the sandbox, in a pinned version."""

    command: str
    """The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8."""


class CreateIdentityRequestSecretParam(TypedDict, total=False):
    name: Required[str]
    """The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore."""


class CreateIdentityRequestApprovalParam(TypedDict, total=False):
    tool: Required[
        Literal[
            "ask_user",
            "call_mcp_tool",
            "create_plan",
            "create_pull_request",
            "edit_files",
            "get_mcp_prompt",
            "glob",
            "load_skill",
            "message_agent",
            "notify_user",
            "read_command",
            "read_files",
            "read_mcp_resource",
            "report_artifact",
            "run_command",
            "search_files",
            "start_agent",
            "stop_command",
            "todo",
            "wait_for_agents",
            "web_fetch",
            "write_command",
        ]
    ]
    """The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`."""

    match: str
    """A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8."""


class CreateIdentityRequestHarnessAuthSecretsParam(TypedDict, total=False):
    claude_auth_secret_name: str
    """The name of the secret with the API key for Anthropic's models."""

    codex_auth_secret_name: str
    """The name of the secret with the API key for OpenAI's models."""


class CreateIdentityRequestParam(TypedDict, total=False):
    """A new identity."""

    name: Required[str]
    """The identity's name, unique within the team."""

    description: Optional[str]
    """A description for people."""

    prompt: Optional[str]
    """Additional instructions for the runs of the identity."""

    base_model: Optional[str]
    """The model of runs that set none."""

    environment_id: Optional[str]
    """The environment of runs that set none."""

    skills: Optional[Sequence[str]]
    """The skills of runs that set none, at most 20."""

    mcp_servers: Optional[Union[Sequence[CreateIdentityRequestMcpServerParam], Mapping[str, MCPServerConfigParam]]]
    """The MCP servers of runs that set none: a map from name to server, at most 50."""

    harness: Optional[CreateIdentityRequestHarnessParam]
    """The harness of runs that set none. Responses omit it for the default harness."""

    worker_host: Optional[str]
    """The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service."""

    secrets: Optional[Sequence[CreateIdentityRequestSecretParam]]
    """The secrets available to runs, at most 50."""

    on_behalf_of_enabled: Optional[bool]
    """Whether keys of the identity may create runs on behalf of members. Defaults to false."""

    credential_strategy: Optional[Literal["CREATOR", "EXECUTOR", ""]]
    """Whose credentials its runs use: their creator's or their executor's. Has no effect in this release."""

    timeout_minutes: Optional[int]
    """The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it."""

    max_steps: Optional[int]
    """The `max_steps` of runs that set none, up to 10,000. 0 clears it."""

    max_total_tokens: Optional[int]
    """The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it."""

    fallback_model_ids: Optional[Sequence[str]]
    """The `fallback_model_ids` of runs that set none. `[]` clears them."""

    reasoning_level: Optional[Literal["none", "minimal", "low", "medium", "high", "max", ""]]
    """The `reasoning_level` of runs that set none. `""` clears it."""

    output_schema: Optional[Mapping[str, Any]]
    """The `output_schema` of runs that set none. `{}` clears it."""

    approvals: Optional[Sequence[CreateIdentityRequestApprovalParam]]
    """The `approvals` of runs that set none. `[]` clears them."""

    commit_author: Optional[str]
    """The `commit_author` of runs that set none. `""` clears it."""

    base_harness: Optional[Union[HarnessName, Literal[""]]]
    """The older name of `harness.type`. `""` clears the harness."""

    harness_auth_secrets: Optional[CreateIdentityRequestHarnessAuthSecretsParam]
    """The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models."""


class UpdateIdentityRequestMcpServerToolsParam(TypedDict, total=False):
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""

    include: Sequence[str]
    """The tools to use, at most 100. Defaults to all."""

    exclude: Sequence[str]
    """The tools not to use, at most 100."""


class UpdateIdentityRequestMcpServerParam(TypedDict, total=False):
    name: Required[str]
    """The server's name, unique in the list."""

    warp_id: str
    """The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8."""

    command: str
    """The program to start in the sandbox. At most 4096 bytes in UTF-8."""

    args: Sequence[str]
    """The program's arguments, at most 64."""

    env: Mapping[str, str]
    """The program's environment variables. Values are secrets: responses show `***`."""

    url: str
    """The URL of a remote server. Must be an http or https URL."""

    headers: Mapping[str, str]
    """The HTTP headers of each request to the server. Values are secrets: responses show `***`."""

    disabled: bool
    """Whether the server is kept in the configuration without being started or connected to. Defaults to false."""

    tools: UpdateIdentityRequestMcpServerToolsParam
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""


class UpdateIdentityRequestHarnessParam(TypedDict, total=False):
    type: Literal["default", "oz", "claude", "codex", "gemini", "acp"]
    """The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another."""

    model_id: str
    """The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8."""

    reasoning_level: str
    """The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own."""

    agent: AcpAgentName
    """An agent of the type `acp` that comes with the sandbox, in a pinned version."""

    command: str
    """The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8."""


class UpdateIdentityRequestSecretParam(TypedDict, total=False):
    name: Required[str]
    """The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore."""


class UpdateIdentityRequestApprovalParam(TypedDict, total=False):
    tool: Required[
        Literal[
            "ask_user",
            "call_mcp_tool",
            "create_plan",
            "create_pull_request",
            "edit_files",
            "get_mcp_prompt",
            "glob",
            "load_skill",
            "message_agent",
            "notify_user",
            "read_command",
            "read_files",
            "read_mcp_resource",
            "report_artifact",
            "run_command",
            "search_files",
            "start_agent",
            "stop_command",
            "todo",
            "wait_for_agents",
            "web_fetch",
            "write_command",
        ]
    ]
    """The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`."""

    match: str
    """A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8."""


class UpdateIdentityRequestHarnessAuthSecretsParam(TypedDict, total=False):
    claude_auth_secret_name: str
    """The name of the secret with the API key for Anthropic's models."""

    codex_auth_secret_name: str
    """The name of the secret with the API key for OpenAI's models."""


class UpdateIdentityRequestSecretsAppendParam(TypedDict, total=False):
    name: Required[str]
    """The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore."""


class UpdateIdentityRequestParam(TypedDict, total=False):
    """Changes to an identity. Members that are absent or null keep their values."""

    name: Optional[str]
    """The identity's name, unique within the team."""

    description: Optional[str]
    """A description for people."""

    prompt: Optional[str]
    """Additional instructions for the runs of the identity."""

    base_model: Optional[str]
    """The model of runs that set none."""

    environment_id: Optional[str]
    """The environment of runs that set none."""

    skills: Optional[Sequence[str]]
    """The skills of runs that set none, at most 20."""

    mcp_servers: Optional[Union[Sequence[UpdateIdentityRequestMcpServerParam], Mapping[str, MCPServerConfigParam]]]
    """The MCP servers of runs that set none: a map from name to server, at most 50."""

    harness: Optional[UpdateIdentityRequestHarnessParam]
    """The harness of runs that set none. Responses omit it for the default harness."""

    worker_host: Optional[str]
    """The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service."""

    secrets: Optional[Sequence[UpdateIdentityRequestSecretParam]]
    """The secrets available to runs, at most 50."""

    on_behalf_of_enabled: Optional[bool]
    """Whether keys of the identity may create runs on behalf of members. Defaults to false."""

    credential_strategy: Optional[Literal["CREATOR", "EXECUTOR", ""]]
    """Whose credentials its runs use: their creator's or their executor's. Has no effect in this release."""

    timeout_minutes: Optional[int]
    """The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it."""

    max_steps: Optional[int]
    """The `max_steps` of runs that set none, up to 10,000. 0 clears it."""

    max_total_tokens: Optional[int]
    """The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it."""

    fallback_model_ids: Optional[Sequence[str]]
    """The `fallback_model_ids` of runs that set none. `[]` clears them."""

    reasoning_level: Optional[Literal["none", "minimal", "low", "medium", "high", "max", ""]]
    """The `reasoning_level` of runs that set none. `""` clears it."""

    output_schema: Optional[Mapping[str, Any]]
    """The `output_schema` of runs that set none. `{}` clears it."""

    approvals: Optional[Sequence[UpdateIdentityRequestApprovalParam]]
    """The `approvals` of runs that set none. `[]` clears them."""

    commit_author: Optional[str]
    """The `commit_author` of runs that set none. `""` clears it."""

    base_harness: Optional[Union[HarnessName, Literal[""]]]
    """The older name of `harness.type`. `""` clears the harness."""

    harness_auth_secrets: Optional[UpdateIdentityRequestHarnessAuthSecretsParam]
    """The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models."""

    secrets_append: Optional[Sequence[UpdateIdentityRequestSecretsAppendParam]]
    """Secrets to add to those of the identity. Must be the only member of its request."""


class CreateKeyRequestParam(TypedDict, total=False):
    """A new API key."""

    name: Required[str]
    """The key's name."""

    expires_at: Optional[Union[str, datetime]]
    """The expiry time, in the future. By default the key does not expire."""

    scopes: Optional[Sequence[Scope]]
    """What the key may be used for. By default it has all scopes of the request's own credential, which has to have each of them."""

    max_budget_usd: Optional[float]
    """The maximum cost of the runs that the key creates, and of their descendants, in a calendar month (UTC). By default it is not limited."""

    max_runs_per_day: Optional[int]
    """The maximum number of runs that the key creates in a day (UTC). By default it is not limited."""


class TrustRuleRequestParam(TypedDict, total=False):
    """A new trust rule, or all members of an existing one."""

    issuer: Required[str]
    """The issuer of the tokens, exactly as in their `iss` claim. At most 512 bytes in UTF-8. Must be an https URL without query, fragment and credentials."""

    audience: Required[str]
    """A value that the `aud` claim of the tokens must have. At most 512 bytes in UTF-8."""

    subject_pattern: Required[str]
    """The `sub` claim of the tokens. Each `*` stands for any text. At most 512 bytes in UTF-8. Must have more than asterisks, since every subject would match."""

    max_budget_usd: Optional[float]
    """The maximum budget of each run that a key of this rule creates. By default the runs are not limited."""

    ttl_seconds: Optional[int]
    """Seconds for which the keys are valid, 60 to 3,600. Defaults to 3,600."""

    scopes: Optional[Sequence[Scope]]
    """What the keys may be used for. By default they have all scopes of the request's own credential, which has to have each of them."""


class TokenRequestParam(TypedDict, total=False):
    """An OIDC token to exchange for an API key."""

    token: Required[str]
    """The OIDC token, a signed JWT. At most 16384 bytes in UTF-8."""

    identity_uid: Optional[str]
    """The identity that the key is for. Required if the token matches rules of several identities."""


class CreateEnvironmentRequestGithubRepoParam(TypedDict, total=False):
    owner: Required[str]
    """The user or organization on GitHub. Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a GitHub user or organization."""

    repo: Required[str]
    """The repository's name. Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a GitHub repository."""


class ProvidersAwsParam(TypedDict, total=False):
    """The AWS role of commands. They get `AWS_ROLE_ARN`, `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_SESSION_NAME`."""

    role_arn: Required[str]
    """The ARN of the role, such as `arn:aws:iam::123456789012:role/deploy`. Must be the ARN of a role of IAM."""


class ProvidersGcpParam(TypedDict, total=False):
    """The Google Cloud identity of commands. They get `GOOGLE_APPLICATION_CREDENTIALS`, a file of the type `external_account`."""

    project_number: Required[str]
    """The number of the project that has the pool. Must be the number of a project."""

    workload_identity_federation_pool_id: Required[str]
    """The id of the workload identity pool. Must have 4 to 32 of the characters a-z 0-9 - and start with a letter."""

    workload_identity_federation_provider_id: Required[str]
    """The id of the provider in that pool. Must have 4 to 32 of the characters a-z 0-9 - and start with a letter."""

    service_account_email: str
    """The service account that commands act as. Defaults to the identity of the pool itself. Must be the address of a service account."""


class ProvidersParam(TypedDict, total=False):
    """The cloud providers that commands sign in to with the identity of their run, without a secret."""

    aws: ProvidersAwsParam
    """The AWS role of commands. They get `AWS_ROLE_ARN`, `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_SESSION_NAME`."""

    gcp: ProvidersGcpParam
    """The Google Cloud identity of commands. They get `GOOGLE_APPLICATION_CREDENTIALS`, a file of the type `external_account`."""


class NetworkParam(TypedDict, total=False):
    """What commands of an environment may call: everything, the domains of a list, or nothing. Must name at least one domain or preset; for no network, set network.mode to none. Have an effect with the mode allowlist only: set network.mode to allowlist, or leave domains out."""

    mode: Required[Literal["open", "allowlist", "none"]]
    """`open` (everything), `allowlist` (the `domains`) or `none`."""

    domains: Sequence[str]
    """The domains of the mode `allowlist`: names, `*.` with a name, and the presets `packages` and `repository`."""


class CreateEnvironmentRequestApprovalParam(TypedDict, total=False):
    tool: Required[
        Literal[
            "ask_user",
            "call_mcp_tool",
            "create_plan",
            "create_pull_request",
            "edit_files",
            "get_mcp_prompt",
            "glob",
            "load_skill",
            "message_agent",
            "notify_user",
            "read_command",
            "read_files",
            "read_mcp_resource",
            "report_artifact",
            "run_command",
            "search_files",
            "start_agent",
            "stop_command",
            "todo",
            "wait_for_agents",
            "web_fetch",
            "write_command",
        ]
    ]
    """The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`."""

    match: str
    """A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8."""


class CreateEnvironmentRequestSecretParam(TypedDict, total=False):
    name: Required[str]
    """The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore."""


class CreateEnvironmentRequestParam(TypedDict, total=False):
    """A new environment."""

    name: Required[str]
    """The environment's name, unique within the team or the person."""

    team: bool
    """Whether the team owns the environment. Defaults to true if the caller has a team; agent keys cannot set it to false."""

    description: Optional[str]
    """A description for people."""

    docker_image: Optional[str]
    """The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422."""

    github_repos: Optional[Sequence[CreateEnvironmentRequestGithubRepoParam]]
    """The GitHub repositories to clone, at most 10."""

    repositories: Optional[Sequence[RepositoryParam]]
    """The Git repositories to clone before the agent starts, at most 10."""

    setup_commands: Optional[Sequence[str]]
    """The commands to run before the agent starts, in order, at most 20."""

    variables: Optional[Mapping[str, str]]
    """The plain environment variables of setup commands and commands, at most 100. Everyone who can read the environment can read them."""

    providers: Optional[ProvidersParam]
    """Cloud providers that commands sign in to with the identity of their run, without a secret. `{}` removes them."""

    network: Optional[NetworkParam]
    """What commands, clones and MCP servers may call. Everything by default."""

    worker_host: Optional[str]
    """The self-hosted worker of runs that set none."""

    timeout_minutes: Optional[int]
    """The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it."""

    max_steps: Optional[int]
    """The `max_steps` of runs that set none, up to 10,000. 0 clears it."""

    max_total_tokens: Optional[int]
    """The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it."""

    fallback_model_ids: Optional[Sequence[str]]
    """The `fallback_model_ids` of runs that set none. `[]` clears them."""

    reasoning_level: Optional[Literal["none", "minimal", "low", "medium", "high", "max", ""]]
    """The `reasoning_level` of runs that set none. `""` clears it."""

    output_schema: Optional[Mapping[str, Any]]
    """The `output_schema` of runs that set none. `{}` clears it."""

    approvals: Optional[Sequence[CreateEnvironmentRequestApprovalParam]]
    """The `approvals` of runs that set none. `[]` clears them."""

    commit_author: Optional[str]
    """The `commit_author` of runs that set none. `""` clears it."""

    secrets: Optional[Sequence[CreateEnvironmentRequestSecretParam]]
    """The secrets available to runs, at most 50."""


class UpdateEnvironmentRequestGithubRepoParam(TypedDict, total=False):
    owner: Required[str]
    """The user or organization on GitHub. Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a GitHub user or organization."""

    repo: Required[str]
    """The repository's name. Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a GitHub repository."""


class UpdateEnvironmentRequestApprovalParam(TypedDict, total=False):
    tool: Required[
        Literal[
            "ask_user",
            "call_mcp_tool",
            "create_plan",
            "create_pull_request",
            "edit_files",
            "get_mcp_prompt",
            "glob",
            "load_skill",
            "message_agent",
            "notify_user",
            "read_command",
            "read_files",
            "read_mcp_resource",
            "report_artifact",
            "run_command",
            "search_files",
            "start_agent",
            "stop_command",
            "todo",
            "wait_for_agents",
            "web_fetch",
            "write_command",
        ]
    ]
    """The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`."""

    match: str
    """A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8."""


class UpdateEnvironmentRequestSecretParam(TypedDict, total=False):
    name: Required[str]
    """The secret's name. Must have 1 to 128 of the characters A-Z a-z 0-9 _ . - and start with a letter, digit or underscore."""


class UpdateEnvironmentRequestParam(TypedDict, total=False):
    """Changes to an environment. Members that are absent or null keep their values."""

    name: Optional[str]
    """The environment's name, unique within the team or the person."""

    description: Optional[str]
    """A description for people."""

    docker_image: Optional[str]
    """The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422."""

    github_repos: Optional[Sequence[UpdateEnvironmentRequestGithubRepoParam]]
    """The GitHub repositories to clone, at most 10."""

    repositories: Optional[Sequence[RepositoryParam]]
    """The Git repositories to clone before the agent starts, at most 10."""

    setup_commands: Optional[Sequence[str]]
    """The commands to run before the agent starts, in order, at most 20."""

    variables: Optional[Mapping[str, str]]
    """The plain environment variables of setup commands and commands, at most 100. Everyone who can read the environment can read them."""

    providers: Optional[ProvidersParam]
    """Cloud providers that commands sign in to with the identity of their run, without a secret. `{}` removes them."""

    network: Optional[NetworkParam]
    """What commands, clones and MCP servers may call. Everything by default."""

    worker_host: Optional[str]
    """The self-hosted worker of runs that set none."""

    timeout_minutes: Optional[int]
    """The `timeout_minutes` of runs that set none, up to 10,080. 0 clears it."""

    max_steps: Optional[int]
    """The `max_steps` of runs that set none, up to 10,000. 0 clears it."""

    max_total_tokens: Optional[int]
    """The `max_total_tokens` of runs that set none, up to 1,000,000,000. 0 clears it."""

    fallback_model_ids: Optional[Sequence[str]]
    """The `fallback_model_ids` of runs that set none. `[]` clears them."""

    reasoning_level: Optional[Literal["none", "minimal", "low", "medium", "high", "max", ""]]
    """The `reasoning_level` of runs that set none. `""` clears it."""

    output_schema: Optional[Mapping[str, Any]]
    """The `output_schema` of runs that set none. `{}` clears it."""

    approvals: Optional[Sequence[UpdateEnvironmentRequestApprovalParam]]
    """The `approvals` of runs that set none. `[]` clears them."""

    commit_author: Optional[str]
    """The `commit_author` of runs that set none. `""` clears it."""

    secrets: Optional[Sequence[UpdateEnvironmentRequestSecretParam]]
    """The secrets available to runs, at most 50."""


class ShareRequestParam(TypedDict, total=False):
    """Whom to share an environment with: a person, or anyone with the link. Exactly one is required. Must have exactly one of user_uid and link."""

    user_uid: str
    """The id of the person to share with. Excludes `link`. At most 512 bytes in UTF-8."""

    link: Literal[True]
    """Always true: share by link. Excludes `user_uid`."""


class CreateSessionRequestParam(TypedDict, total=False):
    """What to sign in with: either an API key or a one-time token. Must have either a key or a token."""

    key: Optional[str]
    """A personal API key. The session ends with the key."""

    token: Optional[str]
    """The token of a sign-in link. It works once."""


class OidcCodeRequestParam(TypedDict, total=False):
    """What an OIDC issuer has redirected the browser with, and the secret that the browser has kept."""

    code: Required[str]
    """The authorization code."""

    state: Required[str]
    """The `state` of the redirect."""

    code_verifier: Required[str]
    """The PKCE code verifier. Must have 43 to 128 letters, digits and characters of `-._~`."""


class UpdateMeRequestParam(TypedDict, total=False):
    """Changes to the caller's profile."""

    display_name: Optional[str]
    """The new display name, at most 256 characters."""

    email: Optional[str]
    """The current email address. A different one returns 422."""


class CreateTeamRequestSettingsParam(TypedDict, total=False):
    """The team's limits and defaults."""

    identity_limit: Optional[int]
    """The number of available identities, 1 to 500. Defaults to 20."""

    concurrency_limit: Optional[int]
    """The number of runs that execute at the same time, 1 to 10,000. Defaults to 20."""

    queue_limit: Optional[int]
    """The number of runs that wait for capacity, 1 to 100,000. Defaults to 1,000."""

    default_model_id: Optional[str]
    """The model of runs that set none."""

    default_environment_id: Optional[str]
    """The environment of runs that set none."""

    commit_author: Optional[str]
    """The author of commits of runs that set none, such as `Build Bot <bot@example.com>`. Null: that of the deployment."""

    budget_usd_month: Optional[float]
    """The maximum cost of the team's model calls in a calendar month (UTC), in US dollars. Null: not limited."""

    retention_days: Optional[int]
    """The days after which ended runs are deleted, with all their files, 1 to 3,650. Null: they are kept."""

    sharing_allowed: Optional[bool]
    """Whether runs of the team can be shared with everybody who has their link. If not, runs that were shared before are not public either."""

    provider_keys: Optional[Mapping[str, str]]
    """By the name of a provider, the team's secret with the API key for the team's calls to it, in place of the deployment's key. An empty object: none."""


class CreateTeamRequestParam(TypedDict, total=False):
    """A new team."""

    name: Required[str]
    """The team's name."""

    settings: CreateTeamRequestSettingsParam
    """The team's limits and defaults."""


class UpdateTeamRequestSettingsParam(TypedDict, total=False):
    identity_limit: Optional[int]
    """The number of available identities, 1 to 500. Defaults to 20."""

    concurrency_limit: Optional[int]
    """The number of runs that execute at the same time, 1 to 10,000. Defaults to 20."""

    queue_limit: Optional[int]
    """The number of runs that wait for capacity, 1 to 100,000. Defaults to 1,000."""

    default_model_id: Optional[str]
    """The model of runs that set none."""

    default_environment_id: Optional[str]
    """The environment of runs that set none."""

    commit_author: Optional[str]
    """The author of commits of runs that set none, such as `Build Bot <bot@example.com>`. Null: that of the deployment."""

    budget_usd_month: Optional[float]
    """The maximum cost of the team's model calls in a calendar month (UTC), in US dollars. Null: not limited."""

    retention_days: Optional[int]
    """The days after which ended runs are deleted, with all their files, 1 to 3,650. Null: they are kept."""

    sharing_allowed: Optional[bool]
    """Whether runs of the team can be shared with everybody who has their link. If not, runs that were shared before are not public either."""

    provider_keys: Optional[Mapping[str, str]]
    """By the name of a provider, the team's secret with the API key for the team's calls to it, in place of the deployment's key. An empty object: none."""


class UpdateTeamRequestParam(TypedDict, total=False):
    """Changes to a team. Members that are absent or null keep their values."""

    name: Optional[str]
    """The team's name."""

    settings: Optional[UpdateTeamRequestSettingsParam]
    """The team's limits and defaults."""


class UpdateMemberRequestParam(TypedDict, total=False):
    """A change of a member's role."""

    role: Required[Role]
    """The new role."""


class CreateInvitationRequestParam(TypedDict, total=False):
    """A new invitation."""

    email: Required[str]
    """The person's email address. At most 320 bytes in UTF-8. Must be an email address in ASCII characters, such as ada@example.com or ada@xn--bcher-kva.example."""

    role: Role
    """The role in the team after acceptance. Defaults to `member`."""


class CreateSecretRequestRenewalParam(TypedDict, total=False):
    """Makes the value an access token that the service renews before executions start."""

    server_url: Required[str]
    """The URL of the server that accepts the token, such as an MCP server. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment."""

    token_endpoint: Required[str]
    """The URL that issues new tokens. Its address must be public. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment."""

    client_id: Required[str]
    """The id of the OAuth client. At most 512 bytes in UTF-8."""

    client_secret: str
    """The secret of the OAuth client, if it has one. It is never returned. At most 512 bytes in UTF-8."""

    refresh_token: Required[str]
    """The refresh token. It is never returned, and no run gets it. At most 3072 bytes in UTF-8."""

    resource: str
    """The resource that the token is limited to (RFC 8707). At most 2048 bytes in UTF-8."""

    expires_in: int
    """Seconds until the value expires. If absent, the service renews it only after a server has refused it."""


class CreateSecretRequestParam(TypedDict, total=False):
    """A new secret."""

    name: Required[str]
    """The name that configurations refer to, unique within the team. Also the name of the environment variable with the value. Names that change how programs behave, such as PATH or LD_PRELOAD, are reserved."""

    value: Required[str]
    """The value. It is never returned. At most 4096 bytes in UTF-8."""

    renewal: CreateSecretRequestRenewalParam
    """Makes the value an access token that the service renews before executions start."""


class WebhookFilterParam(TypedDict, total=False):
    """The runs whose events are delivered: filters of the list of runs that a run matches for as long as it exists, combined with AND."""

    name: str
    """Selects runs by the name of their configuration. At most 1024 bytes in UTF-8."""

    model_id: str
    """Selects runs by model. At most 512 bytes in UTF-8."""

    creator: str
    """Selects runs by the uid of their creator. At most 512 bytes in UTF-8."""

    executor: str
    """Selects runs by the uid of their executor. At most 512 bytes in UTF-8."""

    source: Union[str, Sequence[str]]
    """Selects runs from this source or one of these, each a RunSourceType. An unknown value selects no runs."""

    execution_location: ExecutionLocation
    """Selects runs by execution location."""

    environment_id: str
    """Selects runs by environment; `empty-environment` selects runs without one. At most 512 bytes in UTF-8."""

    skill: str
    """An alias of `skill_spec`. At most 512 bytes in UTF-8."""

    skill_spec: str
    """Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. At most 512 bytes in UTF-8."""

    schedule_id: str
    """Selects runs by schedule, including deleted schedules. At most 512 bytes in UTF-8."""

    trigger_id: str
    """Selects runs by the trigger that started them, including deleted triggers. At most 512 bytes in UTF-8."""

    automation_id: str
    """Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`. At most 512 bytes in UTF-8."""

    ancestor_run_id: str
    """Selects the descendants of this run, which must exist and be visible. At most 512 bytes in UTF-8."""

    min_cost_usd: float
    """Selects runs that have cost at least this many US dollars by their models and sandboxes, without their child runs."""

    metadata: Mapping[str, str]
    """Selects runs by metadata; in a query, as `metadata[ticket]=SHOP-1412`. At most 5 keys."""


class CreateWebhookRequestParam(TypedDict, total=False):
    """A new webhook."""

    name: Optional[str]
    """A name for people."""

    url: Required[str]
    """Where deliveries are sent. Its host must be on the internet. At most 2048 bytes in UTF-8. Must be an https URL without credentials and fragment."""

    format: Optional[Literal["json", "slack"]]
    """What is sent: the event as JSON (`json`, the default), or a message for the URL of an incoming webhook of Slack (`slack`)."""

    event_types: Optional[Sequence[WebhookEventType]]
    """The types of events that are delivered. `[]` stands for all."""

    filter: Optional[WebhookFilterParam]
    """Selects the runs whose events are delivered. All runs of the team by default, and with `{}`."""

    enabled: Optional[bool]
    """Whether events are delivered. True for a new webhook."""


class UpdateWebhookRequestParam(TypedDict, total=False):
    """Changes to a webhook. Members that are absent or null keep their values."""

    name: Optional[Union[str, Literal[""]]]
    """A name for people. `""` clears it."""

    url: Optional[str]
    """Where deliveries are sent. Its host must be on the internet."""

    format: Optional[Literal["json", "slack"]]
    """What is sent: the event as JSON (`json`, the default), or a message for the URL of an incoming webhook of Slack (`slack`)."""

    event_types: Optional[Sequence[WebhookEventType]]
    """The types of events that are delivered. `[]` stands for all."""

    filter: Optional[WebhookFilterParam]
    """Selects the runs whose events are delivered. All runs of the team by default, and with `{}`."""

    enabled: Optional[bool]
    """Whether events are delivered. True for a new webhook."""


class ResolvePromptRequestSkillParam(TypedDict, total=False):
    """The skill that the harness has loaded, to be shown with the run."""

    name: Required[str]
    """The skill's name, at most 256 characters."""

    content: Required[str]
    """The text of the skill's file. At most 262144 bytes in UTF-8."""

    path: str
    """The path of the skill's file in its repository. At most 1024 bytes in UTF-8."""


class ResolvePromptRequestParam(TypedDict, total=False):
    """The first request of an execution."""

    skill: ResolvePromptRequestSkillParam
    """The skill that the harness has loaded, to be shown with the run."""

    attachments_dir: str
    """The directory for attachments. Has no effect in this release. At most 1024 bytes in UTF-8."""

    refused_secrets: Sequence[str]
    """The names of secrets whose tokens a server has refused. They are renewed first, if possible."""


class HeartbeatRequestParam(TypedDict, total=False):
    """A heartbeat of an execution."""

    execution_id: Required[str]
    """The id of the caller's execution. At most 512 bytes in UTF-8."""

    followups_stored: Required[int]
    """The number of the latest follow-up that the harness has stored; 0 if none."""

    takes_after: int
    """The harness takes the first follow-up after this number now, so that nobody can change it any more."""

    interrupts_handled: int
    """The number of the last interrupt whose turn has ended, as the stored messages show."""


class TextBlockParam(TypedDict, total=False):
    type: Required[Literal["text"]]
    """The type of the block."""

    text: Required[str]
    """The text of the block. At most 262144 bytes in UTF-8."""

    message_id: str
    """The id of the message that the block belongs to. At most 512 bytes in UTF-8."""


class ActionBlockParam(TypedDict, total=False):
    type: Required[Literal["action"]]
    """The type of the block."""

    id: Required[str]
    """The action's id. At most 512 bytes in UTF-8."""

    category: Required[Literal["command", "files", "search", "integration", "documents", "computer", "review", "skill"]]
    """The category of the action."""

    name: Required[str]
    """The name of the action or event."""

    title: str
    """What the action does, for people, such as `Read calc.py`. Must be one line without control characters."""

    input: Required[Any]
    """The action's input. Its shape depends on `name`."""

    message_id: str
    """The id of the message that the block belongs to. At most 512 bytes in UTF-8."""


class ActionResultBlockParam(TypedDict, total=False):
    type: Required[Literal["action_result"]]
    """The type of the block."""

    action_id: Required[str]
    """The id of the action that produced this result. At most 512 bytes in UTF-8."""

    category: Required[Literal["command", "files", "search", "integration", "documents", "computer", "review", "skill"]]
    """The category of the action."""

    name: Required[str]
    """The name of the action or event."""

    title: str
    """What the action does, for people, such as `Read calc.py`. Must be one line without control characters."""

    summary: str
    """What came of the action, or why it failed, for people: such as `+1 −1` or `1 match`. Must be one line without control characters."""

    diff: str
    """The change of files by the action, as a unified diff. The output does not repeat it. At most 65536 bytes in UTF-8."""

    state: Required[Literal["running", "completed", "failed", "denied"]]
    """The state of the action."""

    output: Required[Any]
    """The action's output. Responses truncate large outputs and say so."""

    message_id: str
    """The id of the message that the block belongs to. At most 512 bytes in UTF-8."""


class EventBlockParam(TypedDict, total=False):
    type: Required[Literal["event"]]
    """The type of the block."""

    name: Required[str]
    """The name of the action or event."""

    data: Required[Any]
    """The content of the event. Its shape depends on `name`."""

    message_id: str
    """The id of the message that the block belongs to. At most 512 bytes in UTF-8."""


class MessageParam(TypedDict, total=False):
    """A message of a conversation."""

    role: Required[Literal["user", "assistant", "tool", "system"]]
    """The author of the message."""

    content: Required[Sequence[Union[TextBlockParam, ActionBlockParam, ActionResultBlockParam, EventBlockParam]]]
    """The blocks of the message, in order: text, actions, action results and events."""

    message_ids: Sequence[str]
    """The ids of the messages that were merged into this one."""

    request_id: str
    """The id of the model request that produced the message. At most 512 bytes in UTF-8."""

    timestamp: Union[str, datetime]
    """The time of the message. RFC 3339 with an offset."""


class MessagesRequestParam(TypedDict, total=False):
    """Messages to append to the conversation of a run."""

    execution_id: Required[str]
    """The id of the caller's execution. At most 512 bytes in UTF-8."""

    first_sequence: Required[int]
    """The number of the first of these messages within the run."""

    messages: Required[Sequence[MessageParam]]
    """The messages to append, 1 to 200."""


class LiveFrameParam(TypedDict, total=False):
    """A piece of output that is still being produced. It is not part of the event sequence: the event with the whole output replaces it."""

    action_id: str
    """The id of the action that produces the output. Absent for the text of a message. At most 512 bytes in UTF-8."""

    message_id: str
    """The id of the message whose text this is. Absent for the output of an action. At most 512 bytes in UTF-8."""

    stream: Required[Literal["stdout", "stderr", "text"]]
    """`stdout` and `stderr` of an action, or `text` of a message."""

    offset: Required[int]
    """The position of the text in its stream, in bytes of UTF-8. A gap means that output was skipped."""

    text: Required[str]
    """The text, at most 16 KiB. At most 16384 bytes in UTF-8."""


class LiveRequestParam(TypedDict, total=False):
    """Live output of an execution."""

    execution_id: Required[str]
    """The id of the execution, one attempt to execute the run. At most 512 bytes in UTF-8."""

    frames: Required[Sequence[LiveFrameParam]]
    """The pieces of output, in order, 1 to 16."""


class ReportArtifactRequestParam(TypedDict, total=False):
    """The artifact to report. The members of `data` depend on `artifact_type`."""


class NotifyUserRequestParam(TypedDict, total=False):
    """A notification of the run's user."""

    message: Required[str]
    """The message to the user, at most 4,096 bytes. At most 4096 bytes in UTF-8."""


class ApprovalCallParam(TypedDict, total=False):
    """The exact call of a tool that waits for an approval."""

    action_id: Required[str]
    """The id of the call in the conversation. At most 512 bytes in UTF-8."""

    tool: Required[str]
    """The tool's name. At most 512 bytes in UTF-8."""

    input: Required[Mapping[str, Any]]
    """The arguments of the call."""


class FinishTaskRequestParam(TypedDict, total=False):
    """The result of a run, and what its execution has not reported yet."""

    success: Required[bool]
    """Whether the task succeeded."""

    summary: Required[str]
    """The result, or with `blocked` the agent's question. At most 65536 bytes in UTF-8."""

    error_code: Literal[
        "invalid_request", "environment_setup_failed", "operation_not_supported", "external_authentication_required"
    ]
    """The error code of a failed run."""

    blocked: bool
    """Whether the agent waits for an answer to the question in `summary`. The run becomes `BLOCKED` until a follow-up."""

    interrupt: int
    """The number of the interrupt that ended the turn."""

    approval: ApprovalCallParam
    """The call that waits for an approval. The run becomes `BLOCKED` until a person decides."""

    first_sequence: int
    """The number of the first of these messages within the run."""

    messages: Sequence[MessageParam]
    """The last messages of the conversation, 1 to 200; requires `first_sequence`."""

    followups_stored: int
    """The number of follow-ups that the conversation has with `messages`. If more wait, the run continues."""

    interrupts_handled: int
    """The number of the last interrupt whose turn has ended. A later one is in the response, and the run does not end."""

    waits: bool
    """Whether the execution can stay alive and wait for follow-ups, if the run is to wait for one."""


class UploadSnapshotRequestFileParam(TypedDict, total=False):
    filename: Required[str]
    """The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without slashes."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""

    size_bytes: int
    """The file's size in bytes."""

    sha256: str
    """The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits."""


class UploadSnapshotRequestParam(TypedDict, total=False):
    """The files of a snapshot. Only a checkpoint may have none: the workspace is empty."""

    files: Required[Sequence[UploadSnapshotRequestFileParam]]
    """The files of the snapshot, at most 100. Only a `checkpoint`, of an empty workspace, can have none."""

    mode: Literal["legacy", "checkpoint"]
    """`checkpoint` for files to commit as a checkpoint, `legacy` (default) for the final files of an execution."""

    generation: str
    """The name of the snapshot. Required for `checkpoint`. Must have 1 to 128 of the characters A-Z a-z 0-9 . _ - and no two underscores in a row."""


class SnapshotCloneParam(TypedDict, total=False):
    """A clone in a setup snapshot."""

    path: Required[str]
    """Its directory in the workspace. At most 1024 bytes in UTF-8."""

    commit: Required[str]
    """The commit that is checked out; empty for a repository without commits. Must be the id of a commit, or empty."""


class SetupReportParam(TypedDict, total=False):
    """What a setup snapshot was made of."""

    inputs: Required[str]
    """The digest of its inputs that `resolve-prompt` returned. Must have 64 lowercase hexadecimal digits."""

    platform: Required[str]
    """A digest of the machine as commands see it. Must have 64 lowercase hexadecimal digits."""

    clones: Required[Sequence[SnapshotCloneParam]]
    """The clones, at most 10."""


class CommitSnapshotRequestParam(TypedDict, total=False):
    """The snapshot to commit."""

    generation: Required[str]
    """The name of the snapshot within its execution. Must have 1 to 128 of the characters A-Z a-z 0-9 . _ - and no two underscores in a row."""

    files: Required[Sequence[str]]
    """The names of the files to keep, at most 100."""

    setup: SetupReportParam
    """What the snapshot was made of, if later runs in the environment may start with it. Only for runs that set up an environment."""


class ExternalConversationRequestParam(TypedDict, total=False):
    """The conversation of a third-party harness."""

    format: Required[str]
    """The format of the conversation, such as `claude`. Must have 1 to 64 of the characters A-Z a-z 0-9 . _ - and start with a letter or digit."""


class TranscriptRequestParam(TypedDict, total=False):
    """The transcript to upload. With `size_bytes` and `sha256`, the upload must match both; otherwise it can have up to 64 MiB."""

    conversation_id: Required[str]
    """The conversation's id. At most 512 bytes in UTF-8."""

    size_bytes: int
    """The file's size in bytes."""

    sha256: str
    """The SHA-256 digest of the file. Must have 64 lowercase hexadecimal digits."""


class IdentityTokenRequestParam(TypedDict, total=False):
    """Whom the token is for."""

    audience: Required[str]
    """The `aud` claim of the token, as the other system expects it. At most 512 bytes in UTF-8."""


class PushBranchRequestParam(TypedDict, total=False):
    """Commits to push to the branch of the run's pull request."""

    commit: Required[str]
    """The id of the commit that the branch gets. Must have 40 lowercase hexadecimal digits."""

    size_bytes: Required[int]
    """The size of the pack in bytes."""

    sha256: Required[str]
    """The SHA-256 digest of the pack, a git pack of version 2 whose objects are complete. Must have 64 lowercase hexadecimal digits."""


class ReportShutdownRequestErrorParam(TypedDict, total=False):
    """The cause of the shutdown. Absent if the sandbox stopped normally."""

    category: Required[str]
    """The category of the failure."""

    message: Required[str]
    """The error message. At most 4096 bytes in UTF-8."""


class ReportShutdownRequestParam(TypedDict, total=False):
    """The shutdown of a sandbox."""

    error: ReportShutdownRequestErrorParam
    """The cause of the shutdown. Absent if the sandbox stopped normally."""


class McpMessageParam(TypedDict, total=False):
    """A message of the Model Context Protocol: a request has an `id`, a notification has none. Responses of clients have no `method`."""

    jsonrpc: Required[Literal["2.0"]]
    """The version of JSON-RPC."""

    id: Union[str, float]
    """The id of a request, which its response repeats. A notification has none."""

    method: str
    """What the client requests, such as `tools/list` or `tools/call`."""

    params: Mapping[str, Any]
    """The arguments of the method."""

    result: Any
    """The result of a response of the client, which is ignored."""

    error: Any
    """The error of a response of the client, which is ignored."""
