"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Mapping, Optional, Sequence, Union

from typing_extensions import Literal, Required, TypedDict

from .types import (
    ArtifactType,
    ExecutionLocation,
    FollowupPolicy,
    Overlap,
    Role,
    RunMode,
    RunState,
)


class AmbientAgentConfigMcpServerParam(TypedDict, total=False):
    name: Required[str]
    """What it is called."""

    warp_id: str
    """A shared server, by its id. At most 512 bytes in UTF-8."""

    command: str
    """A program that is started in the sandbox. At most 4096 bytes in UTF-8."""

    args: Sequence[str]
    """The program's arguments."""

    env: Mapping[str, str]
    """The program's environment. Values are secrets: answers show `***`."""

    url: str
    """Must be an http or https URL."""

    headers: Mapping[str, str]


class MCPServerConfigParam(TypedDict, total=False):
    """One MCP server: a shared one (`warp_id`), a command, or a URL. Values of `env` and `headers` are secrets."""

    warp_id: str
    """A shared server, by its id. At most 512 bytes in UTF-8."""

    command: str
    """A program that is started in the sandbox. At most 4096 bytes in UTF-8."""

    args: Sequence[str]
    """The program's arguments."""

    env: Mapping[str, str]
    """The program's environment. Values are secrets: answers show `***`."""

    url: str
    """The server's address. Must be an http or https URL."""

    headers: Mapping[str, str]
    """Headers of each call. Values are secrets: answers show `***`."""


class RepositoryParam(TypedDict, total=False):
    """A Git repository to clone. `path` is the directory in the workspace; the default is the URL's last segment. `token_secret` names a secret of the run whose value opens the repository over https."""

    url: Required[str]
    """What to clone. At most 2048 bytes in UTF-8, without credentials: `token_secret` names them."""

    ref: str
    """A branch, tag or commit; by default the repository's own. At most 256 bytes in UTF-8. Must be a branch, tag or commit."""

    path: str
    """The directory in the workspace; by default the URL's last segment. At most 256 bytes in UTF-8. Must be a relative path inside the workspace."""

    token_secret: str


class AmbientAgentConfigHarnessParam(TypedDict, total=False):
    """The program that runs the agent, where it is not the service's own: claude, codex or gemini."""

    type: Required[Literal["default", "oz", "claude", "codex", "gemini"]]
    model_id: str
    """The model that the agent uses. At most 512 bytes in UTF-8."""

    reasoning_level: str
    """How much the model is to think."""


class AmbientAgentConfigHarnessAuthSecretsParam(TypedDict, total=False):
    """Secrets by which another harness signs in."""

    claude_auth_secret_name: str
    """The secret's name."""

    codex_auth_secret_name: str
    """The secret's name."""


class AmbientAgentConfigSessionSharingParam(TypedDict, total=False):
    """Who else may look at the session."""

    public_access: Literal["VIEWER", "EDITOR"]
    """What everybody with the link may do."""


class AmbientAgentConfigParam(TypedDict, total=False):
    """The configuration of an agent; what a run shows is the resolved one."""

    name: str
    """What it is called."""

    model_id: str
    """The model that the agent uses. At most 512 bytes in UTF-8."""

    base_prompt: str
    """What the agent is told beside its task. At most 65536 bytes in UTF-8."""

    environment_id: str
    """The environment whose repositories and set-up the run begins with. At most 512 bytes in UTF-8."""

    skill_spec: str
    """A skill whose instructions come first. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md."""

    skills: Sequence[str]
    """Several skills; not together with `skill_spec`."""

    mcp_servers: Union[Sequence[AmbientAgentConfigMcpServerParam], Mapping[str, MCPServerConfigParam]]
    """Tools for the agent: servers of the Model Context Protocol, by name."""

    repositories: Sequence[RepositoryParam]
    """Git repositories that are cloned before the agent begins."""

    computer_use_enabled: bool
    """Whether the agent may use a screen."""

    idle_timeout_minutes: int
    """Minutes without progress after which the run ends; 10 where it is unset."""

    worker_host: str
    """The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service. At most 512 bytes in UTF-8."""

    budget_usd: float
    """What the run and all runs below it may spend on models, in US dollars; a child draws on its parent's where it names none."""

    harness: AmbientAgentConfigHarnessParam
    """The program that runs the agent, where it is not the service's own: claude, codex or gemini."""

    harness_auth_secrets: AmbientAgentConfigHarnessAuthSecretsParam
    """Secrets by which another harness signs in."""

    credential_strategy: Optional[Literal["CREATOR", "EXECUTOR"]]
    """Whose credentials the run uses."""

    session_sharing: AmbientAgentConfigSessionSharingParam
    """Who else may look at the session."""


class RunAgentRequestAttachmentByFileNameParam(TypedDict, total=False):
    file_name: Required[str]
    """The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""

    data: Required[Union[str, bytes]]
    """The file's bytes in base64."""


class RunAgentRequestAttachmentByAttachmentIdParam(TypedDict, total=False):
    attachment_id: Required[str]
    """A file that was uploaded before. At most 512 bytes in UTF-8."""


class RunAgentRequestImageParam(TypedDict, total=False):
    data: Required[Union[str, bytes]]
    """The file's bytes in base64."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""


class RunAgentRequestParam(TypedDict, total=False):
    """The body of POST /agent/runs. One of prompt, a skill and conversation_id is required."""

    prompt: str
    """The task, in words. At most 262144 bytes in UTF-8."""

    title: str
    """What the run is called; made from the prompt's first line where none was given."""

    config: AmbientAgentConfigParam
    """How the agent is set up."""

    skill: str
    """The skill to start from; wins over the configuration's. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md."""

    team: bool
    """Whether it belongs to the team. By default it does, where the caller has one."""

    agent_identity_uid: str
    """The identity that carries the run out; for runs of a team. At most 512 bytes in UTF-8."""

    conversation_id: str
    """The conversation that the run belongs to, or is to continue. At most 512 bytes in UTF-8."""

    parent_run_id: str
    """The run that started this one. At most 512 bytes in UTF-8."""

    attachments: Sequence[Union[RunAgentRequestAttachmentByFileNameParam, RunAgentRequestAttachmentByAttachmentIdParam]]
    """Files beside the prompt, at most 2.9 MiB in all once decoded; larger ones are uploaded first."""

    images: Sequence[RunAgentRequestImageParam]
    """The older name of `attachments`."""

    interactive: bool
    """Whether somebody is there to answer the agent's questions."""

    mode: RunMode
    """`normal` works, `plan` only plans, `orchestrate` starts other runs."""

    metadata: Mapping[str, str]
    """Labels of the caller's own, to find the run by."""

    on_behalf_of: str
    """The member (uid or e-mail) for whom an agent asks; agent keys only, where the identity allows it. At most 512 bytes in UTF-8."""

    execution_location: ExecutionLocation
    """`REMOTE`: in a sandbox of the service or a worker; `LOCAL`: by the caller itself."""


class CancelRunsRequestFilterParam(TypedDict, total=False):
    """Which runs; the same as the filters of the list, and at least one."""

    state: Sequence[RunState]
    """Runs in one of these states; repeat it for several."""

    name: str
    """Runs whose configuration has this name. At most 1024 bytes in UTF-8."""

    model_id: str
    """Runs with this model. At most 512 bytes in UTF-8."""

    creator: str
    """Runs that this person or identity asked for, by uid. At most 512 bytes in UTF-8."""

    executor: str
    """Runs that work as this person or identity, by uid. At most 512 bytes in UTF-8."""

    source: str
    """Runs that came about this way (RunSourceType). What is none of them matches nothing. At most 512 bytes in UTF-8."""

    execution_location: ExecutionLocation
    """Runs that are executed there."""

    created_after: Union[str, datetime]
    """Runs made after this time. RFC 3339 with an offset."""

    created_before: Union[str, datetime]
    """Runs made before this time. RFC 3339 with an offset."""

    updated_after: Union[str, datetime]
    """Runs that changed after this time. RFC 3339 with an offset."""

    environment_id: str
    """Runs in this environment; `empty-environment`: runs without one. At most 512 bytes in UTF-8."""

    skill: str
    """The same as `skill_spec`. At most 512 bytes in UTF-8."""

    skill_spec: str
    """Runs that started from this skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. At most 512 bytes in UTF-8."""

    schedule_id: str
    """Runs of this schedule, also of one that was deleted. At most 512 bytes in UTF-8."""

    ancestor_run_id: str
    """Runs below this one, at any depth. It must exist and be visible. At most 512 bytes in UTF-8."""

    artifact_type: ArtifactType
    """Runs that left such an artifact."""

    q: str
    """Runs whose title, prompt or skill has these words, in any order, case and accents aside; longer words may have a typo."""

    metadata: Mapping[str, str]
    """Runs with these labels: `metadata[ticket]=SHOP-1412`."""


class CancelRunsRequestParam(TypedDict, total=False):
    """The body of POST /agent/runs/cancel."""

    filter: Required[CancelRunsRequestFilterParam]
    """Which runs; the same as the filters of the list, and at least one."""

    force: bool
    """Cancels also what is PENDING, CLAIMED or with a self-hosted worker."""


class RunFollowupRequestParam(TypedDict, total=False):
    message: str
    """What to tell the agent. May be absent where the run has ended: it goes on from there. At most 262144 bytes in UTF-8."""

    mode: RunMode
    """`normal` works, `plan` only plans, `orchestrate` starts other runs."""

    policy: FollowupPolicy
    """What to do about the turn that is under way."""


class ClientEventPayloadParam(TypedDict, total=False):
    """More about it, such as `duration_ms` and `is_error`."""

    start_ts: Union[str, datetime]
    """When it began. RFC 3339 with an offset."""

    finish_ts: Union[str, datetime]
    """When it was done. RFC 3339 with an offset."""

    latency_ms: float
    """How long it took, in milliseconds."""

    is_error: bool
    """Whether it went wrong."""

    detail: str
    """What went wrong. At most 4096 bytes in UTF-8."""


class ClientEventParam(TypedDict, total=False):
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
            "checkpoint_saved",
        ]
    ]
    """What happened."""

    timestamp: Required[Union[str, datetime]]
    """When it was said, or happened. RFC 3339 with an offset."""

    payload: ClientEventPayloadParam
    """More about it, such as `duration_ms` and `is_error`."""


class CreateAttachmentRequestParam(TypedDict, total=False):
    """The body of POST /agent/attachments: what will be uploaded, to the byte."""

    file_name: Required[str]
    """The file's name, without directories. At most 255 bytes in UTF-8. Must be a file name without directories."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type such as text/plain."""

    size_bytes: Required[int]
    """The file's bytes."""

    sha256: Required[str]
    """The file's digest. Must be 64 lower-case hexadecimal digits."""


class CreateScheduleRequestParam(TypedDict, total=False):
    """The body of POST /agent/schedules. `prompt` is required unless `agent_config` names a skill."""

    name: Required[str]
    """What the schedule is called."""

    cron_schedule: Required[str]
    """When it fires: five fields of cron, or `@daily` and the like. At most 512 bytes in UTF-8."""

    prompt: str
    """The task of each run. At most 262144 bytes in UTF-8."""

    enabled: bool
    """Whether it fires."""

    team: bool
    """Whether it belongs to the team. By default it does, where the caller has one."""

    agent_config: AmbientAgentConfigParam
    """How its agents are set up."""

    agent_uid: str
    """The identity that carries the runs out. At most 512 bytes in UTF-8."""

    mode: RunMode
    """`normal` works, `plan` only plans, `orchestrate` starts other runs."""

    metadata: Mapping[str, str]
    """Labels of the caller's own, to find the run by."""

    time_zone: str
    """The IANA time zone that the cron is read in; UTC by default. At most 64 bytes in UTF-8."""

    overlap: Overlap
    """What happens at a firing while an earlier run has not ended."""


class UpdateScheduleRequestParam(TypedDict, total=False):
    """The body of PUT /agent/schedules/{id}. What is optional stays as it was where it is absent."""

    name: Required[str]
    """What the schedule is called."""

    cron_schedule: Required[str]
    """When it fires: five fields of cron, or `@daily` and the like. At most 512 bytes in UTF-8."""

    prompt: str
    """The task of each run. At most 262144 bytes in UTF-8."""

    enabled: Required[bool]
    """Whether it fires."""

    agent_config: AmbientAgentConfigParam
    """How its agents are set up; absent: as before."""

    agent_uid: str
    """The identity that carries the runs out. At most 512 bytes in UTF-8."""

    mode: RunMode
    """`normal` works, `plan` only plans, `orchestrate` starts other runs."""

    metadata: Mapping[str, str]
    """Labels of the caller's own, to find the run by."""

    time_zone: str
    """The IANA time zone that the cron is read in; UTC by default. At most 64 bytes in UTF-8."""

    overlap: Overlap
    """What happens at a firing while an earlier run has not ended."""


class CreateIdentityRequestMcpServerParam(TypedDict, total=False):
    name: Required[str]
    """What the identity is called; unique in its team."""

    warp_id: str
    """A shared server, by its id. At most 512 bytes in UTF-8."""

    command: str
    """A program that is started in the sandbox. At most 4096 bytes in UTF-8."""

    args: Sequence[str]
    """The program's arguments."""

    env: Mapping[str, str]
    """The program's environment. Values are secrets: answers show `***`."""

    url: str
    """Must be an http or https URL."""

    headers: Mapping[str, str]


class CreateIdentityRequestHarnessParam(TypedDict, total=False):
    type: Literal["default", "oz", "claude", "codex", "gemini"]
    model_id: str
    """The model that the agent uses. At most 512 bytes in UTF-8."""

    reasoning_level: str
    """How much the model is to think."""


class CreateIdentityRequestSecretParam(TypedDict, total=False):
    name: Required[str]
    """What the identity is called; unique in its team. Must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}."""


class CreateIdentityRequestParam(TypedDict, total=False):
    """The body of POST /agent/identities."""

    name: Required[str]
    """What the identity is called; unique in its team."""

    description: Optional[str]
    """What it is for."""

    prompt: Optional[str]
    """The task, in words."""

    base_model: Optional[str]
    """The model of its runs, where they name none."""

    environment_id: Optional[str]
    """The environment whose repositories and set-up the run begins with."""

    skills: Optional[Sequence[str]]
    """Several skills; not together with `skill_spec`."""

    mcp_servers: Optional[Union[Sequence[CreateIdentityRequestMcpServerParam], Mapping[str, MCPServerConfigParam]]]
    """Tools for the agent: servers of the Model Context Protocol, by name."""

    harness: Optional[CreateIdentityRequestHarnessParam]
    """The program that runs the agent, where it is not the service's own: claude, codex or gemini."""

    worker_host: Optional[str]
    """The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service."""

    secrets: Optional[Sequence[CreateIdentityRequestSecretParam]]
    """Secrets that its runs may use, by name."""

    on_behalf_of_enabled: Optional[bool]
    """Whether its keys may start runs on behalf of members."""

    credential_strategy: Optional[Literal["CREATOR", "EXECUTOR", ""]]
    """Whose credentials the run uses."""


class UpdateIdentityRequestMcpServerParam(TypedDict, total=False):
    name: Required[str]
    """What the identity is called; unique in its team."""

    warp_id: str
    """A shared server, by its id. At most 512 bytes in UTF-8."""

    command: str
    """A program that is started in the sandbox. At most 4096 bytes in UTF-8."""

    args: Sequence[str]
    """The program's arguments."""

    env: Mapping[str, str]
    """The program's environment. Values are secrets: answers show `***`."""

    url: str
    """Must be an http or https URL."""

    headers: Mapping[str, str]


class UpdateIdentityRequestHarnessParam(TypedDict, total=False):
    type: Literal["default", "oz", "claude", "codex", "gemini"]
    model_id: str
    """The model that the agent uses. At most 512 bytes in UTF-8."""

    reasoning_level: str
    """How much the model is to think."""


class UpdateIdentityRequestSecretParam(TypedDict, total=False):
    name: Required[str]
    """What the identity is called; unique in its team. Must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}."""


class UpdateIdentityRequestParam(TypedDict, total=False):
    """The body of PUT /agent/identities/{uid}: what is absent or null stays as it was."""

    name: Optional[str]
    """What the identity is called; unique in its team."""

    description: Optional[str]
    """What it is for."""

    prompt: Optional[str]
    """The task, in words."""

    base_model: Optional[str]
    """The model of its runs, where they name none."""

    environment_id: Optional[str]
    """The environment whose repositories and set-up the run begins with."""

    skills: Optional[Sequence[str]]
    """Several skills; not together with `skill_spec`."""

    mcp_servers: Optional[Union[Sequence[UpdateIdentityRequestMcpServerParam], Mapping[str, MCPServerConfigParam]]]
    """Tools for the agent: servers of the Model Context Protocol, by name."""

    harness: Optional[UpdateIdentityRequestHarnessParam]
    """The program that runs the agent, where it is not the service's own: claude, codex or gemini."""

    worker_host: Optional[str]
    """The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service."""

    secrets: Optional[Sequence[UpdateIdentityRequestSecretParam]]
    """Secrets that its runs may use, by name."""

    on_behalf_of_enabled: Optional[bool]
    """Whether its keys may start runs on behalf of members."""

    credential_strategy: Optional[Literal["CREATOR", "EXECUTOR", ""]]
    """Whose credentials the run uses."""


class CreateKeyRequestParam(TypedDict, total=False):
    name: Required[str]
    """What the key is called."""

    expires_at: Optional[Union[str, datetime]]
    """In the future; without it the key is good until it is deleted."""


class CreateEnvironmentRequestGithubRepoParam(TypedDict, total=False):
    owner: Required[str]
    """Whose repository it is: the last segment but one of its URL. Must not contain credentials: store them as a secret and name it in token_secret. Must be a name on GitHub."""

    repo: Required[str]
    """Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a repository."""


class CreateEnvironmentRequestSecretParam(TypedDict, total=False):
    name: Required[str]
    """What it is called; unique where it belongs. Must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}."""


class CreateEnvironmentRequestParam(TypedDict, total=False):
    """The body of POST /agent/environments. `team`: whether the caller's team owns it; true for whoever has one."""

    name: Required[str]
    """What it is called; unique where it belongs."""

    team: bool
    """Whether it belongs to the team. By default it does, where the caller has one."""

    description: Optional[str]
    """What it is for."""

    docker_image: Optional[str]
    """The image that its runs work in. Runs are refused with 422 where the deployment has no containers."""

    github_repos: Optional[Sequence[CreateEnvironmentRequestGithubRepoParam]]
    """Repositories on GitHub that are cloned."""

    repositories: Optional[Sequence[RepositoryParam]]
    """Git repositories that are cloned before the agent begins."""

    setup_commands: Optional[Sequence[str]]
    """What is run before the agent begins, in order."""

    secrets: Optional[Sequence[CreateEnvironmentRequestSecretParam]]
    """Secrets that its runs may use, by name."""


class UpdateEnvironmentRequestGithubRepoParam(TypedDict, total=False):
    owner: Required[str]
    """Whose repository it is: the last segment but one of its URL. Must not contain credentials: store them as a secret and name it in token_secret. Must be a name on GitHub."""

    repo: Required[str]
    """Must not contain credentials: store them as a secret and name it in token_secret. Must be the name of a repository."""


class UpdateEnvironmentRequestSecretParam(TypedDict, total=False):
    name: Required[str]
    """What it is called; unique where it belongs. Must match [A-Za-z0-9_][A-Za-z0-9_.-]{0,127}."""


class UpdateEnvironmentRequestParam(TypedDict, total=False):
    """The body of PUT /agent/environments/{uid}: what is absent or null stays as it was."""

    name: Optional[str]
    """What it is called; unique where it belongs."""

    description: Optional[str]
    """What it is for."""

    docker_image: Optional[str]
    """The image that its runs work in. Runs are refused with 422 where the deployment has no containers."""

    github_repos: Optional[Sequence[UpdateEnvironmentRequestGithubRepoParam]]
    """Repositories on GitHub that are cloned."""

    repositories: Optional[Sequence[RepositoryParam]]
    """Git repositories that are cloned before the agent begins."""

    setup_commands: Optional[Sequence[str]]
    """What is run before the agent begins, in order."""

    secrets: Optional[Sequence[UpdateEnvironmentRequestSecretParam]]
    """Secrets that its runs may use, by name."""


class ShareRequestParam(TypedDict, total=False):
    """With whom an environment is shared: one person, or whoever has the link. Must have exactly one of user_uid and link."""

    user_uid: str
    """The person it is shared with. At most 512 bytes in UTF-8."""

    link: Literal[True]
    """The link to send to whom it is for, shown this once."""


class UpdateMeRequestParam(TypedDict, total=False):
    """The address belongs to the sign-in: it may be sent along as it is, and not changed here."""

    display_name: Optional[str]
    """The name that is shown."""

    email: Optional[str]
    """The person's address."""


class CreateTeamRequestSettingsParam(TypedDict, total=False):
    """Limits and defaults of the team."""

    identity_limit: Optional[int]
    """Identities that are available, the oldest ones."""

    concurrency_limit: Optional[int]
    """Runs that execute at once."""

    queue_limit: Optional[int]
    """Runs that may wait."""

    default_model_id: Optional[str]
    """The model of runs that name none."""

    default_environment_id: Optional[str]
    """The environment of runs that name none."""

    budget_usd_month: Optional[float]
    """Always null: a monthly budget is not supported yet, and any other value is refused with 422."""

    retention_days: Optional[int]
    """Always null: runs are kept without a limit of time, and any other value is refused with 422."""


class CreateTeamRequestParam(TypedDict, total=False):
    name: Required[str]
    """What the team is called."""

    settings: CreateTeamRequestSettingsParam
    """Limits and defaults of the team."""


class UpdateTeamRequestSettingsParam(TypedDict, total=False):
    identity_limit: Optional[int]
    """Identities that are available, the oldest ones."""

    concurrency_limit: Optional[int]
    """Runs that execute at once."""

    queue_limit: Optional[int]
    """Runs that may wait."""

    default_model_id: Optional[str]
    """The model of runs that name none."""

    default_environment_id: Optional[str]
    """The environment of runs that name none."""

    budget_usd_month: Optional[float]
    """Always null: a monthly budget is not supported yet, and any other value is refused with 422."""

    retention_days: Optional[int]
    """Always null: runs are kept without a limit of time, and any other value is refused with 422."""


class UpdateTeamRequestParam(TypedDict, total=False):
    name: Optional[str]
    """What it is called."""

    settings: Optional[UpdateTeamRequestSettingsParam]
    """Limits and defaults of the team."""


class UpdateMemberRequestParam(TypedDict, total=False):
    role: Required[Role]
    """What they are to be in the team."""


class CreateInvitationRequestParam(TypedDict, total=False):
    email: Required[str]
    """The person's address. At most 320 bytes in UTF-8. Must be an e-mail address."""

    role: Role
    """What they will be in the team; `member` by default."""


class CreateSecretRequestParam(TypedDict, total=False):
    name: Required[str]
    """By what name configurations refer to it. The variable in which commands find the value: none that programs obey, such as PATH or LD_PRELOAD."""

    value: Required[str]
    """The secret itself; no answer ever shows it. At most 4096 bytes in UTF-8."""


class ResolvePromptRequestSkillParam(TypedDict, total=False):
    """The skill to start from; wins over the configuration's."""

    name: Required[str]
    """What it is called."""

    content: Required[str]
    """Text, actions, their results and events, in order. At most 262144 bytes in UTF-8."""

    path: str
    """At most 1024 bytes in UTF-8."""


class ResolvePromptRequestParam(TypedDict, total=False):
    skill: ResolvePromptRequestSkillParam
    """The skill to start from; wins over the configuration's."""

    attachments_dir: str
    """Where the harness will put attachments. At most 1024 bytes in UTF-8."""


class HeartbeatRequestParam(TypedDict, total=False):
    execution_id: Required[str]
    """The execution that it was part of: one attempt to carry the run out. At most 512 bytes in UTF-8."""

    followups_stored: Required[int]
    """The number of the latest follow-up that the harness has kept."""


class TextBlockParam(TypedDict, total=False):
    type: Required[Literal["text"]]
    text: Required[str]
    """What was said. At most 262144 bytes in UTF-8."""

    message_id: str
    """The message's id. At most 512 bytes in UTF-8."""


class ActionBlockParam(TypedDict, total=False):
    type: Required[Literal["action"]]
    id: Required[str]
    """The action's id. At most 512 bytes in UTF-8."""

    category: Required[Literal["command", "files", "search", "integration", "documents", "computer", "review", "skill"]]
    """What kind of action it is."""

    name: Required[str]
    """What the action or event is called."""

    input: Required[Any]
    """What the action was given."""

    message_id: str
    """The message's id. At most 512 bytes in UTF-8."""


class ActionResultBlockParam(TypedDict, total=False):
    type: Required[Literal["action_result"]]
    action_id: Required[str]
    """The action that this is the result of. At most 512 bytes in UTF-8."""

    category: Required[Literal["command", "files", "search", "integration", "documents", "computer", "review", "skill"]]
    """What kind of action it is."""

    name: Required[str]
    """What the action or event is called."""

    state: Required[Literal["running", "completed", "failed", "denied"]]
    """What became of the action."""

    output: Required[Any]
    """What came of the action. Large outputs are cut, with a note that says so."""

    message_id: str
    """The message's id. At most 512 bytes in UTF-8."""


class EventBlockParam(TypedDict, total=False):
    type: Required[Literal["event"]]
    name: Required[str]
    """What the action or event is called."""

    data: Required[Any]
    """What the event tells."""

    message_id: str
    """The message's id. At most 512 bytes in UTF-8."""


class MessageParam(TypedDict, total=False):
    role: Required[Literal["user", "assistant", "tool", "system"]]
    """Who speaks."""

    content: Required[Sequence[Union[TextBlockParam, ActionBlockParam, ActionResultBlockParam, EventBlockParam]]]
    """Text, actions, their results and events, in order."""

    message_ids: Sequence[str]
    """Ids of the messages that this one is made of."""

    request_id: str
    """The model's request that the message came from. At most 512 bytes in UTF-8."""

    timestamp: Union[str, datetime]
    """When it was said, or happened."""


class MessagesRequestParam(TypedDict, total=False):
    execution_id: Required[str]
    """The execution that it was part of: one attempt to carry the run out. At most 512 bytes in UTF-8."""

    first_sequence: Required[int]
    """The number of the first of these messages within the run."""

    messages: Required[Sequence[MessageParam]]
    """What was said, in order."""


class ReportArtifactRequestParam(TypedDict, total=False):
    pass


class NotifyUserRequestParam(TypedDict, total=False):
    """A short word to the run's user, while the run goes on."""

    message: Required[str]
    """What the user is told. At most 4096 bytes in UTF-8."""


class FinishTaskRequestParam(TypedDict, total=False):
    success: Required[bool]
    """Whether the task was done."""

    summary: Required[str]
    """How it went, in a sentence or two. At most 65536 bytes in UTF-8."""

    error_code: Literal[
        "invalid_request", "environment_setup_failed", "operation_not_supported", "external_authentication_required"
    ]
    """Whose fault it was, where it was not done."""

    blocked: bool
    """True where the agent has asked its user the question that `summary` is: the run is BLOCKED until a follow-up answers it. This project's own addition."""


class UploadSnapshotRequestFileParam(TypedDict, total=False):
    filename: Required[str]
    """The file's name. At most 255 bytes in UTF-8. Must be a file name."""

    mime_type: Required[str]
    """The file's media type. At most 255 bytes in UTF-8. Must be a media type."""

    size_bytes: int
    """The file's bytes."""

    sha256: str
    """The file's digest. Must be 64 hexadecimal digits."""


class UploadSnapshotRequestParam(TypedDict, total=False):
    files: Required[Sequence[UploadSnapshotRequestFileParam]]
    """The snapshot's files."""

    mode: Literal["legacy", "checkpoint"]
    """Whether the files are committed as a checkpoint, or are the last that an execution leaves."""

    generation: str
    """The snapshot's name within its execution. Must be 1 to 128 of A-Z a-z 0-9 . _ - without two underscores in a row."""


class CommitSnapshotRequestParam(TypedDict, total=False):
    generation: Required[str]
    """The snapshot's name within its execution. Must be 1 to 128 of A-Z a-z 0-9 . _ - without two underscores in a row."""

    files: Required[Sequence[str]]
    """Which of its files are kept."""


class ExternalConversationRequestParam(TypedDict, total=False):
    """A harness of others tells in which format it writes the conversation, such as `claude`."""

    format: Required[str]
    """Must be 1 to 64 of A-Z a-z 0-9 . _ -."""


class TranscriptRequestParam(TypedDict, total=False):
    """With length and checksum the upload is bound to them, else to a greatest length."""

    conversation_id: Required[str]
    """The conversation that the run belongs to, or is to continue. At most 512 bytes in UTF-8."""

    size_bytes: int
    """The file's bytes."""

    sha256: str
    """The file's digest. Must be 64 hexadecimal digits."""


class ReportShutdownRequestErrorParam(TypedDict, total=False):
    """What ended the execution; absent where nothing went wrong."""

    category: Required[str]
    """What kind of failure it was."""

    message: Required[str]
    """What happened. At most 4096 bytes in UTF-8."""


class ReportShutdownRequestParam(TypedDict, total=False):
    error: ReportShutdownRequestErrorParam
    """What ended the execution; absent where nothing went wrong."""
