"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple, Union

from pydantic import Discriminator, Tag
from typing_extensions import Annotated, Literal, get_args

from ._models import BaseModel, Timestamp, kind_of

ReasoningLevel = Literal["none", "minimal", "low", "medium", "high", "max"]
"""How much a model reasons before it responds."""


AcpAgentName = Literal["opencode", "qwen-code"]
"""The agents of the Agent Client Protocol whose versions come with the sandbox."""


RunMode = Literal["normal", "plan", "orchestrate"]
"""The mode of a run: `normal` executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs."""


ExecutionLocation = Literal["REMOTE", "LOCAL"]
"""Where a run is executed: `REMOTE` in a sandbox or on a worker, `LOCAL` by its caller."""


RunState = Literal["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"]
"""The state of a run. `SUCCEEDED`, `FAILED`, `ERROR`, `BLOCKED` and `CANCELLED` are final until a follow-up."""


WaitingFor = Literal["answer", "approval", "followup"]
"""What a run waits for: the answer to the agent's question, an approval, or any follow-up."""


RunSourceType = Literal[
    "API",
    "CLI",
    "LOCAL",
    "SCHEDULED_AGENT",
    "WEB_APP",
    "GITHUB_ACTION",
    "SLACK",
    "LINEAR",
    "CLOUD_MODE",
    "JIRA",
    "TEAMS",
    "MCP",
    "GITHUB_WEBHOOK",
    "GITLAB_WEBHOOK",
    "AZURE_DEVOPS_WEBHOOK",
    "CUSTOM_WEBHOOK",
    "ORCHESTRATION",
]
"""The source of a run."""


PullRequestStatus = Literal["open", "draft", "merged", "closed", "unknown"]
"""The status of a pull request when it was last reported; `unknown` if the report did not name it."""


TaskStatus = Literal["running", "failed", "blocked", "cancelled", "complete"]
"""The status of a task. `running`: the run or one of its descendants has not ended. The others are of the run itself: `failed` (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete` (`SUCCEEDED`). A run may have two."""


ArtifactType = Literal["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"]
"""The type of an artifact. `SCREENSHOT` and `FILE` have a file, `PLAN` has a text, the others have a URL only."""


FollowupPolicy = Literal["enqueue", "interrupt", "reject"]
"""What happens to the current turn: it ends first, it is interrupted, or the follow-up is refused."""


FollowupOutcome = Literal["queue_pending", "queued_prompt", "live_session", "handoff_execution"]
"""The outcome of a follow-up: it waits behind another one or for capacity, is delivered with the first turn, is delivered to the running agent, or continues a run that had ended in a new execution."""


TimelineType = Literal[
    "run_created",
    "run_queued",
    "run_pending",
    "run_claimed",
    "worker_container_ready",
    "setup_environment_resolution",
    "setup_repo_clone",
    "setup_commands",
    "setup_mcp_servers",
    "setup_skill_loading",
    "agent_started",
    "network_blocked",
    "followup_received",
    "checkpoint_saved",
    "execution_lost",
    "run_succeeded",
    "run_failed",
    "run_errored",
    "run_blocked",
    "approval_requested",
    "approved",
    "denied",
    "run_interrupted",
    "run_idle",
    "run_cancelled",
    "run_stopped",
    "artifact_created",
    "branch_pushed",
]
"""The type of a timeline event."""


AuditVia = Literal["key", "session", "trigger", "schedule", "service"]
"""What the caller of a request authenticated with, or what acted for them."""


UsageGroup = Literal["day", "creator", "executor", "model", "schedule", "environment"]
"""What the buckets of a usage report stand for."""


Overlap = Literal["allow", "skip", "cancel_previous"]
"""What happens if an earlier run of the schedule is still active at a firing."""


Scope = Literal[
    "runs:read",
    "runs:write",
    "schedules:read",
    "schedules:write",
    "environments:read",
    "environments:write",
    "identities:read",
    "identities:write",
    "triggers:read",
    "triggers:write",
    "webhooks:read",
    "webhooks:write",
    "teams:read",
    "teams:write",
    "usage:read",
    "models:read",
    "keys",
    "secrets",
    "audit",
    "workers",
]
"""What a key may be used for. A route needs exactly one scope: `x-scope` of its operation."""


TickOutcome = Literal["fired", "skipped", "late", "failed"]
"""The outcome of a planned firing: a run was created (`fired`), the firing was skipped, it came too late, or it failed."""


RepositorySelection = Literal["all", "selected"]
"""The repositories of the account that the App may access: all of them, or those that its owner has selected."""


TriggerOutcome = Literal["started", "followed_up", "ignored", "duplicate", "failed"]
"""What a delivery to a trigger resulted in."""


HarnessName = Literal["default", "oz", "claude", "codex", "gemini"]
"""The harnesses that need only their name."""


Role = Literal["admin", "member"]
"""The role of a person in a team."""


WebhookEventType = Literal[
    "run_created",
    "run_queued",
    "run_pending",
    "run_claimed",
    "worker_container_ready",
    "followup_received",
    "execution_lost",
    "artifact_created",
    "run_succeeded",
    "run_failed",
    "run_errored",
    "run_blocked",
    "run_cancelled",
    "run_stopped",
    "trigger_failed",
    "schedule_failed",
    "schedule_missed",
]
"""The type of an event that webhooks deliver."""


DeliveryState = Literal["pending", "delivered", "failed"]
"""The state of a delivery."""


REASONING_LEVELS: Tuple[ReasoningLevel, ...] = get_args(ReasoningLevel)
"""The values of `ReasoningLevel`."""

ACP_AGENT_NAMES: Tuple[AcpAgentName, ...] = get_args(AcpAgentName)
"""The values of `AcpAgentName`."""

RUN_MODES: Tuple[RunMode, ...] = get_args(RunMode)
"""The values of `RunMode`."""

EXECUTION_LOCATIONS: Tuple[ExecutionLocation, ...] = get_args(ExecutionLocation)
"""The values of `ExecutionLocation`."""

RUN_STATES: Tuple[RunState, ...] = get_args(RunState)
"""The values of `RunState`."""

WAITING_FORS: Tuple[WaitingFor, ...] = get_args(WaitingFor)
"""The values of `WaitingFor`."""

RUN_SOURCES: Tuple[RunSourceType, ...] = get_args(RunSourceType)
"""The values of `RunSourceType`."""

PULL_REQUEST_STATUSS: Tuple[PullRequestStatus, ...] = get_args(PullRequestStatus)
"""The values of `PullRequestStatus`."""

TASK_STATUSES: Tuple[TaskStatus, ...] = get_args(TaskStatus)
"""The values of `TaskStatus`."""

ARTIFACT_TYPES: Tuple[ArtifactType, ...] = get_args(ArtifactType)
"""The values of `ArtifactType`."""

FOLLOWUP_POLICIES: Tuple[FollowupPolicy, ...] = get_args(FollowupPolicy)
"""The values of `FollowupPolicy`."""

FOLLOWUP_OUTCOMES: Tuple[FollowupOutcome, ...] = get_args(FollowupOutcome)
"""The values of `FollowupOutcome`."""

TIMELINE_TYPES: Tuple[TimelineType, ...] = get_args(TimelineType)
"""The values of `TimelineType`."""

AUDIT_VIAS: Tuple[AuditVia, ...] = get_args(AuditVia)
"""The values of `AuditVia`."""

USAGE_GROUPS: Tuple[UsageGroup, ...] = get_args(UsageGroup)
"""The values of `UsageGroup`."""

OVERLAPS: Tuple[Overlap, ...] = get_args(Overlap)
"""The values of `Overlap`."""

SCOPES: Tuple[Scope, ...] = get_args(Scope)
"""The values of `Scope`."""

TICK_OUTCOMES: Tuple[TickOutcome, ...] = get_args(TickOutcome)
"""The values of `TickOutcome`."""

REPOSITORY_SELECTIONS: Tuple[RepositorySelection, ...] = get_args(RepositorySelection)
"""The values of `RepositorySelection`."""

TRIGGER_OUTCOMES: Tuple[TriggerOutcome, ...] = get_args(TriggerOutcome)
"""The values of `TriggerOutcome`."""

HARNESS_NAMES: Tuple[HarnessName, ...] = get_args(HarnessName)
"""The values of `HarnessName`."""

ROLES: Tuple[Role, ...] = get_args(Role)
"""The values of `Role`."""

WEBHOOK_EVENT_TYPES: Tuple[WebhookEventType, ...] = get_args(WebhookEventType)
"""The values of `WebhookEventType`."""

DELIVERY_STATES: Tuple[DeliveryState, ...] = get_args(DeliveryState)
"""The values of `DeliveryState`."""


class RunStatusMessage(BaseModel):
    """The reason for a run's final state."""

    message: str
    """One sentence of at most 1,024 characters, without secrets."""

    error_code: Optional[str] = None
    """The error code, if the run failed."""

    retryable: Optional[bool] = None
    """Whether the same run may succeed later."""


class Approval(BaseModel):
    """The call that a run waits for as responses show it."""

    approval_id: str
    """The id of the request, for `approve` or `deny` of a follow-up."""

    tool: str
    """The tool's name."""

    arguments: str
    """The beginning of the arguments as JSON."""

    action_id: str
    """The id of the call in the conversation, which has the complete arguments."""


class RunSchedule(BaseModel):
    """The schedule that created a run, as it was at that time."""

    schedule_id: str
    """The schedule's id."""

    schedule_name: str
    """The schedule's name at the time of the firing."""

    cron_schedule: str
    """A cron expression with five fields, or a nickname such as `@daily`."""


class RunCreatorInfo(BaseModel):
    """A person or an identity."""

    type: Union[Literal["user", "service_account"], str]
    """`user` for a person, `service_account` for an identity."""

    uid: str
    """The id of the person or identity."""

    display_name: Optional[str] = None
    """The display name."""

    email: Optional[str] = None
    """The person's email address."""

    photo_url: Optional[str] = None
    """The URL of the person's picture."""


class RequestUsageModelTokenUsage(BaseModel):
    model_id: str
    """The model's id."""

    total_tokens: int
    """The number of input and output tokens of this model."""

    usage_type: Optional[Union[Literal["byok", "custom_endpoint"], str]] = None
    """`byok` for a key of the team or the run, `custom_endpoint` for a compatible server. Absent for the key of the deployment."""

    tokens_by_category: Optional[Dict[str, int]] = None
    """The tokens by category. Each token is in one: `input` was neither read from nor written to a cache."""


class RequestUsageTree(BaseModel):
    """The usage of the run and of all its descendants. Only in the response for a single run."""

    cost_usd: float
    """The cost of their model calls and their compute, in US dollars."""

    total_tokens: int
    """The number of their input and output tokens."""

    runs: int
    """The number of runs, this one included."""


class RequestUsage(BaseModel):
    """What a run's model calls have used and cost."""

    inference_cost: Optional[float] = None
    """The cost of model calls, in US dollars."""

    compute_cost: Optional[float] = None
    """The estimated cost of the run's sandboxes, in US dollars."""

    platform_cost: Optional[float] = None
    """The platform fee, in US dollars."""

    inference_cost_usd: Optional[float] = None
    """The cost of model calls, in US dollars; the same as `inference_cost`."""

    compute_cost_usd: Optional[float] = None
    """The estimated cost of the run's sandboxes, in US dollars, by their time and size; the same as `compute_cost`. Absent if unknown, such as for self-hosted workers. Budgets do not count it."""

    platform_cost_usd: Optional[float] = None
    """The platform fee, in US dollars. Absent where there is none."""

    total_tokens: Optional[int] = None
    """The number of input and output tokens of all models."""

    input_tokens: Optional[int] = None
    """The number of input tokens, including those read from or written to a cache."""

    output_tokens: Optional[int] = None
    """The number of output tokens."""

    cache_read_tokens: Optional[int] = None
    """The number of input tokens read from the cache of a provider."""

    cache_write_tokens: Optional[int] = None
    """The number of input tokens written to the cache of a provider."""

    model_token_usage: Optional[List[RequestUsageModelTokenUsage]] = None
    """The tokens of each model. Calls before the upgrade to the release that counts them are not included."""

    tree: Optional[RequestUsageTree] = None
    """The usage of the run and of all its descendants. Only in the response for a single run."""


class ResolvedAgentConfigApproval(BaseModel):
    tool: Union[
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
        ],
        str,
    ]
    """The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`."""

    match: Optional[str] = None
    """A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8."""


class ResolvedAgentConfigMcpServersValueTools(BaseModel):
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""

    include: Optional[List[str]] = None
    """The tools to use, at most 100. Defaults to all."""

    exclude: Optional[List[str]] = None
    """The tools not to use, at most 100."""


class ResolvedAgentConfigMcpServersValue(BaseModel):
    warp_id: Optional[str] = None
    """The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8."""

    command: Optional[str] = None
    """The program to start in the sandbox. At most 4096 bytes in UTF-8."""

    args: Optional[List[str]] = None
    """The program's arguments, at most 64."""

    env: Optional[Dict[str, str]] = None
    """The program's environment variables. Values are secrets: responses show `***`."""

    url: Optional[str] = None
    """The URL of a remote server. Must be an http or https URL."""

    headers: Optional[Dict[str, str]] = None
    """The HTTP headers of each request to the server. Values are secrets: responses show `***`."""

    disabled: Optional[bool] = None
    """Whether the server is kept in the configuration without being started or connected to. Defaults to false."""

    tools: Optional[ResolvedAgentConfigMcpServersValueTools] = None
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""


class StoredRepository(BaseModel):
    """A Git repository as responses show it."""

    url: str
    """The URL to clone. Credentials are shown as `***`. At most 2048 bytes in UTF-8. Must be an https, ssh or file URL."""

    ref: Optional[str] = None
    """The branch, tag or commit to check out. Defaults to the repository's default branch. At most 256 bytes in UTF-8. Must be a branch, tag or commit."""

    path: Optional[str] = None
    """The directory in the workspace. Defaults to the last segment of the URL. At most 256 bytes in UTF-8. Must be a relative path inside the workspace."""

    token_secret: Optional[str] = None
    """The name of the secret that contains the access token for an https URL."""

    depth: Optional[int] = None
    """The number of commits to clone. Defaults to the whole history."""

    submodules: Optional[bool] = None
    """Whether to clone submodules: those of the same owner, and those that `repositories` name. Defaults to false."""

    lfs: Optional[bool] = None
    """Whether to download the files in Git LFS. Defaults to false, which leaves their pointers."""

    sparse_paths: Optional[List[str]] = None
    """The directories to check out, at most 50, besides the files at the top. Defaults to the whole repository."""


class ResolvedAgentConfigHarness(BaseModel):
    """The program that runs the agent. Responses omit it for the default harness."""

    type: Union[Literal["default", "oz", "claude", "codex", "gemini", "acp"], str]
    """The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another."""

    model_id: Optional[str] = None
    """The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8."""

    reasoning_level: Optional[str] = None
    """The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own."""

    agent: Optional[Union[AcpAgentName, str]] = None
    """An agent of the type `acp` that comes with the sandbox, in a pinned version."""

    command: Optional[str] = None
    """The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8."""


class ResolvedAgentConfigHarnessAuthSecrets(BaseModel):
    """The secrets with the API keys for the run's calls to Anthropic's and OpenAI's models, in place of the deployment's keys. The model gateway uses them; the run's sandbox does not get them."""

    claude_auth_secret_name: Optional[str] = None
    """The name of the secret with the API key for Anthropic's models."""

    codex_auth_secret_name: Optional[str] = None
    """The name of the secret with the API key for OpenAI's models."""


class ResolvedAgentConfigSecret(BaseModel):
    name: str
    """The secret's name."""


class ResolvedAgentConfigSessionSharing(BaseModel):
    """Public access to the run's session. Off by default."""

    public_access: Optional[Union[Literal["VIEWER", "EDITOR"], str]] = None
    """The access of anyone with the link. `EDITOR` has the effect of `VIEWER` in this release."""


class ResolvedAgentConfig(BaseModel):
    """The configuration of an agent with all defaults applied. Secret values and credentials are shown as `***`, and `skill_spec` is the first of `skills`."""

    name: Optional[str] = None
    """The configuration's name. Defaults to the name of the skill."""

    model_id: Optional[str] = None
    """The model's id. Defaults to the team's model. At most 512 bytes in UTF-8."""

    fallback_model_ids: Optional[List[str]] = None
    """Models that the agent continues with, in this order, while a provider is down."""

    reasoning_level: Optional[Union[ReasoningLevel, str]] = None
    """How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own."""

    output_schema: Optional[Dict[str, Any]] = None
    """The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`."""

    approvals: Optional[List[ResolvedAgentConfigApproval]] = None
    """Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children."""

    commit_author: Optional[str] = None
    """The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. At most 512 bytes in UTF-8. Must be a name and an email address, such as Build Bot <bot@example.com>."""

    base_prompt: Optional[str] = None
    """Additional instructions for the agent. At most 65536 bytes in UTF-8."""

    environment_id: Optional[str] = None
    """The environment to set up before the agent starts. At most 512 bytes in UTF-8."""

    skill_spec: Optional[str] = None
    """The skill to start from. Excludes `skills`. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md."""

    skills: Optional[List[str]] = None
    """The skills to load, at most 20. Excludes `skill_spec`."""

    mcp_servers: Optional[Dict[str, ResolvedAgentConfigMcpServersValue]] = None
    """The agent's MCP servers: a map from name to server, at most 50."""

    repositories: Optional[List[StoredRepository]] = None
    """The Git repositories to clone before the agent starts, at most 10."""

    computer_use_enabled: Optional[bool] = None
    """Whether the agent may use a screen. Has no effect in this release. Defaults to false."""

    idle_timeout_minutes: Optional[int] = None
    """Minutes for which an interactive or interrupted run waits for a follow-up, 0 to 60. With 0, it ends with its turn. Defaults to 10."""

    worker_host: Optional[str] = None
    """The id of the self-hosted worker that executes the run. Defaults to `hosted`, a sandbox of the service. At most 512 bytes in UTF-8."""

    budget_usd: Optional[float] = None
    """The limit of what the run and its descendants may spend on models, in US dollars. Defaults to the budget of the parent run."""

    timeout_minutes: Optional[int] = None
    """Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default."""

    max_steps: Optional[int] = None
    """Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default."""

    max_total_tokens: Optional[int] = None
    """Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default."""

    harness: Optional[ResolvedAgentConfigHarness] = None
    """The program that runs the agent. Responses omit it for the default harness."""

    harness_auth_secrets: Optional[ResolvedAgentConfigHarnessAuthSecrets] = None
    """The secrets with the API keys for the run's calls to Anthropic's and OpenAI's models, in place of the deployment's keys. The model gateway uses them; the run's sandbox does not get them."""

    secrets: Optional[List[ResolvedAgentConfigSecret]] = None
    """The secrets that commands get as environment variables, including those of the environment and the identity."""

    credential_strategy: Optional[Union[Literal["CREATOR", "EXECUTOR"], str]] = None
    """Whose credentials the run uses: its creator's or its executor's. Has no effect in this release."""

    session_sharing: Optional[ResolvedAgentConfigSessionSharing] = None
    """Public access to the run's session. Off by default."""


class RunItemAgentSkill(BaseModel):
    """The skill that the run started from."""

    name: Optional[str] = None
    """The skill's name."""

    description: Optional[str] = None
    """The skill's description of itself."""

    full_path: Optional[str] = None
    """The path of the skill's file in its repository."""

    bundled_skill_id: Optional[str] = None
    """The skill's id, if the service provides it."""


class PlanArtifactItemData(BaseModel):
    """The artifact's metadata. Its shape depends on `artifact_type`."""

    document_uid: str
    """The document's id within the run."""

    notebook_uid: Optional[str] = None
    """The id of the notebook that contains the document."""

    artifact_uid: Optional[str] = None
    """The artifact's id."""

    title: Optional[str] = None
    """The artifact's title."""

    url: Optional[str] = None
    """The URL of the document, pull request or external resource."""


class PlanArtifactItem(BaseModel):
    artifact_type: Literal["PLAN"]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    data: PlanArtifactItemData
    """The artifact's metadata. Its shape depends on `artifact_type`."""


class PullRequestArtifactItemData(BaseModel):
    """The artifact's metadata. Its shape depends on `artifact_type`."""

    url: str
    """The URL of the document, pull request or external resource."""

    branch: str
    """The branch of the pull request."""

    status: Union[PullRequestStatus, str]
    """The status of the pull request when it was last reported; `unknown` if the report did not name it."""


class PullRequestArtifactItem(BaseModel):
    artifact_type: Literal["PULL_REQUEST"]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    data: PullRequestArtifactItemData
    """The artifact's metadata. Its shape depends on `artifact_type`."""


class ScreenshotArtifactItemData(BaseModel):
    """The artifact's metadata. Its shape depends on `artifact_type`."""

    artifact_uid: str
    """The artifact's id."""

    mime_type: str
    """The file's media type."""

    description: Optional[str] = None
    """A description of the artifact, at most 1,024 characters."""


class ScreenshotArtifactItem(BaseModel):
    artifact_type: Literal["SCREENSHOT"]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    data: ScreenshotArtifactItemData
    """The artifact's metadata. Its shape depends on `artifact_type`."""


class GitChanges(BaseModel):
    """What a run changed in a repository: its commits, uncommitted changes and new files, without ignored files."""

    path: str
    """The path of the repository in the workspace."""

    base_commit: str
    """The commit that was cloned, to which the patch applies. Must be the id of a commit."""

    head_commit: Optional[str] = None
    """The commit at the end; absent if the repository has none. Must be the id of a commit."""

    branch: Optional[str] = None
    """The branch at the end; absent for a detached head."""

    commits: int
    """The number of commits since `base_commit`."""

    files_changed: int
    """The number of changed files."""

    insertions: int
    """The number of inserted lines."""

    deletions: int
    """The number of deleted lines."""

    files_omitted: Optional[int] = None
    """The number of new and changed files that the patch leaves out because they are larger than 5 MiB."""

    redacted: Optional[bool] = None
    """True if `***` replaces secrets of the run in the patch."""


class FileArtifactItemData(BaseModel):
    """The artifact's metadata. Its shape depends on `artifact_type`."""

    artifact_uid: str
    """The artifact's id."""

    filepath: str
    """The file's path in the workspace."""

    filename: str
    """The file's name."""

    mime_type: str
    """The file's media type."""

    description: Optional[str] = None
    """A description of the artifact, at most 1,024 characters."""

    size_bytes: Optional[int] = None
    """The file's size in bytes."""

    title: Optional[str] = None
    """The artifact's title."""

    git: Optional[GitChanges] = None
    """What the patch in this file changes. Only in files of repository changes."""


class FileArtifactItem(BaseModel):
    artifact_type: Literal["FILE"]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    data: FileArtifactItemData
    """The artifact's metadata. Its shape depends on `artifact_type`."""


class ExternalReferenceArtifactItemData(BaseModel):
    """The artifact's metadata. Its shape depends on `artifact_type`."""

    reference_type: str
    """The type of the external resource, such as `issue`."""

    url: str
    """The URL of the document, pull request or external resource."""

    title: Optional[str] = None
    """The artifact's title."""

    metadata: Optional[Dict[str, str]] = None
    """Labels of the reference: at most 20 keys, with values of at most 256 bytes."""


class ExternalReferenceArtifactItem(BaseModel):
    artifact_type: Literal["EXTERNAL_REFERENCE"]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    data: ExternalReferenceArtifactItemData
    """The artifact's metadata. Its shape depends on `artifact_type`."""


class UnknownArtifactItem(BaseModel):
    """A kind that this version does not know; its members are there all the same."""

    artifact_type: str


ArtifactItem = Annotated[
    Union[
        Annotated[PlanArtifactItem, Tag("PLAN")],
        Annotated[PullRequestArtifactItem, Tag("PULL_REQUEST")],
        Annotated[ScreenshotArtifactItem, Tag("SCREENSHOT")],
        Annotated[FileArtifactItem, Tag("FILE")],
        Annotated[ExternalReferenceArtifactItem, Tag("EXTERNAL_REFERENCE")],
        Annotated[UnknownArtifactItem, Tag("")],
    ],
    Discriminator(kind_of("artifact_type", ["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"])),
]
"""An artifact as part of a run: metadata only."""


class RunItemScope(BaseModel):
    """The owner."""

    type: Union[Literal["User", "Team"], str]
    """`Team` for a team's resource, `User` for a personal one."""

    uid: Optional[str] = None
    """The id of the team or the person."""


class RequestWarning(BaseModel):
    """What a valid request has that has no effect."""

    code: Union[Literal["unknown_member"], str]
    """`unknown_member`: a member of the request body that this release does not know."""

    path: str
    """The path of the member in the request body, such as `config.modelId`."""

    message: str
    """What is wrong with the member, with a similar one if there is one."""


class RunItem(BaseModel):
    """A run as responses show it."""

    run_id: str
    """The run's id."""

    task_id: str
    """The same value as `run_id`, for older clients."""

    root_run_id: str
    """The root of the run's tree: the run itself, unless it is a child run."""

    title: str
    """The run's title."""

    state: Union[RunState, str]
    """The run's current state."""

    prompt: str
    """The task of the run. Lists truncate it to 1,000 characters."""

    submitted_prompt: Optional[str] = None
    """The prompt, with the follow-ups that were sent before the run started, separated by blank lines. Lists truncate it to 1,000 characters."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change of the state, the follow-ups or the artifacts."""

    started_at: Optional[Timestamp] = None
    """The start time. Null before the run has started."""

    finished_at: Optional[Timestamp] = None
    """The end time. Null before the run has ended."""

    status_message: Optional[RunStatusMessage] = None
    """The reason for the run's final state. For `BLOCKED`, the agent's question. For `CANCELLED`, who cancelled the run."""

    waiting_for: Optional[Union[WaitingFor, str]] = None
    """What a `BLOCKED` run waits for: the `answer` to the agent's question, an `approval`, or any `followup`."""

    approval: Optional[Approval] = None
    """The call that the run waits for, if `waiting_for` is `approval`."""

    source: Optional[Union[RunSourceType, str]] = None
    """The source of the run."""

    execution_location: Optional[Union[ExecutionLocation, str]] = None
    """Where the run is executed: `REMOTE` in a sandbox of the service or on a worker, `LOCAL` by its caller."""

    schedule: Optional[RunSchedule] = None
    """The schedule that created the run. Absent for other runs."""

    session_id: Optional[str] = None
    """The id of the run's session."""

    session_link: Optional[str] = None
    """The URL of the run's page in the web app. Absent if the deployment has no web app."""

    trigger_url: Optional[str] = None
    """The URL of the event that triggered the run. Set by integrations."""

    creator: Optional[RunCreatorInfo] = None
    """The person or identity that created the run."""

    executor: Optional[RunCreatorInfo] = None
    """The person or identity that the run acts as."""

    request_usage: Optional[RequestUsage] = None
    """The run's usage so far."""

    agent_config: Optional[ResolvedAgentConfig] = None
    """The resolved configuration, with all defaults applied."""

    agent_skill: Optional[RunItemAgentSkill] = None
    """The skill that the run started from."""

    conversation_id: Optional[str] = None
    """The conversation's id."""

    parent_run_id: Optional[str] = None
    """The id of the parent run. Absent for the root of a run tree."""

    is_sandbox_running: Optional[bool] = None
    """Whether a sandbox is executing the run."""

    is_run_type_cancellable: Optional[bool] = None
    """Whether the run can be cancelled without `force`. False for runs of self-hosted workers and `LOCAL` runs."""

    run_time: Optional[str] = None
    """The total execution time, as an ISO 8601 duration."""

    metadata: Optional[Dict[str, str]] = None
    """The run's labels."""

    artifacts: Optional[List[ArtifactItem]] = None
    """The run's artifacts, oldest first."""

    archived: Optional[bool] = None
    """Whether the list of runs leaves the run out unless the filter `archived` asks for it."""

    notify_secret: Optional[str] = None
    """The secret that signs what the run's `notify_url` receives. Only in the response that creates the run, and in its repeats."""

    pending_followups: Optional[int] = None
    """The number of follow-ups that the agent has not stored yet."""

    scope: Optional[RunItemScope] = None
    """The owner."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class RunAgentResponse(BaseModel):
    """A new run."""

    run_id: str
    """The run's id."""

    task_id: str
    """The same value as `run_id`, for older clients."""

    state: Union[RunState, str]
    """The run's current state; `QUEUED` for a new run."""

    at_capacity: Optional[bool] = None
    """True if the run waits because its team has reached its `concurrency_limit`."""

    run_key: Optional[str] = None
    """The run's API key, returned once. Present for `LOCAL` runs only."""

    notify_secret: Optional[str] = None
    """The secret that signs what the run's `notify_url` receives. Only in the response that creates the run, and in its repeats."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class Finding(BaseModel):
    """What a dry run found out about a request."""

    code: str
    """The `error_code` that the request would be refused with, or the name of another finding."""

    severity: Union[Literal["error", "warning", "info"], str]
    """`error` refuses the run, `warning` delays it or lets it fail, `info` has no effect on its outcome."""

    message: str
    """What was found, with the member of the request that it is about."""

    remedy: str
    """What to do about it."""


class DryRunResponse(BaseModel):
    """What the creation of a run would result in. Nothing is created."""

    would_start: bool
    """Whether the run would be created: there is no finding of severity `error`."""

    findings: List[Finding]
    """What to know before the run is created: errors first, in the order of the checks."""

    resolved_config: Optional[ResolvedAgentConfig] = None
    """The configuration that the run would have, with all defaults applied. Absent if the request would be refused."""

    estimated_cost_usd: Optional[float] = None
    """The maximum cost of the run's model calls in US dollars: its own `budget_usd`. Absent for a run without one."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class PageInfo(BaseModel):
    """The position of a page in a list."""

    has_next_page: bool
    """Whether there is another page."""

    next_cursor: Optional[str] = None
    """The `cursor` of the next page. Absent on the last page."""


class ListRunsResponse(BaseModel):
    """A page of runs."""

    runs: List[RunItem]
    """One page of runs."""

    page_info: PageInfo
    """The position of the page in the list."""


class CancelRunsResponseRefused(BaseModel):
    run_id: str
    """The run's id."""

    error_code: str
    """The error code that cancelling this run returns."""


class CancelRunsResponse(BaseModel):
    """The result of a bulk cancellation."""

    matched: int
    """The number of active runs that matched the filter."""

    cancelled: int
    """The number of runs that were cancelled."""

    refused: List[CancelRunsResponseRefused]
    """The runs that could not be cancelled."""

    has_more: bool
    """Whether more runs may match. If true, send the request again with `next_cursor` as `cursor`."""

    next_cursor: Optional[str] = None
    """Where the next request continues. Only if `has_more` is true."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class DeleteRunsResponseRefused(BaseModel):
    run_id: str
    """The run's id."""

    error_code: str
    """The error code that the request for this run alone returns."""


class DeleteRunsResponse(BaseModel):
    """The result of a bulk deletion."""

    deleted: List[str]
    """The ids of the deleted runs that matched. Runs below them are deleted too, and are listed only if they matched."""

    matched: int
    """The number of runs of this page that matched."""

    refused: List[DeleteRunsResponseRefused]
    """The runs that could not be changed."""

    page_info: PageInfo
    """Whether more runs may match. If so, send the request again with `next_cursor` as `cursor`."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ArchiveRunsResponseRefused(BaseModel):
    run_id: str
    """The run's id."""

    error_code: str
    """The error code that the request for this run alone returns."""


class ArchiveRunsResponse(BaseModel):
    """The result of a bulk archival."""

    archived: List[str]
    """The ids of the runs that matched and are archived now."""

    matched: int
    """The number of runs of this page that matched."""

    refused: List[ArchiveRunsResponseRefused]
    """The runs that could not be changed."""

    page_info: PageInfo
    """Whether more runs may match. If so, send the request again with `next_cursor` as `cursor`."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class UnarchiveRunsResponseRefused(BaseModel):
    run_id: str
    """The run's id."""

    error_code: str
    """The error code that the request for this run alone returns."""


class UnarchiveRunsResponse(BaseModel):
    """The result of reversing a bulk archival."""

    unarchived: List[str]
    """The ids of the runs that matched and are not archived any more."""

    matched: int
    """The number of runs of this page that matched."""

    refused: List[UnarchiveRunsResponseRefused]
    """The runs that could not be changed."""

    page_info: PageInfo
    """Whether more runs may match. If so, send the request again with `next_cursor` as `cursor`."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ShareRunResponse(BaseModel):
    """The link of the public view. Absent where the run is not shared, or the deployment has no web app."""

    session_link: Optional[str] = None
    """The URL of the run's public view. Absent if the run is not shared, or the deployment has no web app."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class InterruptRunResponse(BaseModel):
    """The interrupted run."""

    run_id: str
    """The run's id."""


class RunFollowupResponse(BaseModel):
    """A stored follow-up."""

    followup_id: str
    """The follow-up's id within its run."""

    run_id: str
    """The run's id."""

    outcome: Union[FollowupOutcome, str]
    """How the follow-up reaches the agent."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class FollowupItemAttachment(BaseModel):
    attachment_id: str
    """The attachment's id."""

    file_name: str
    """The file's name, without directories."""


class FollowupItem(BaseModel):
    """A follow-up as responses show it."""

    followup_id: str
    """The follow-up's id within its run."""

    number: int
    """The follow-up's place in the order of delivery, starting at 1."""

    message: str
    """The message to the agent."""

    attachments: List[FollowupItemAttachment]
    """The files that the agent gets with the message."""

    mode: Optional[Union[RunMode, str]] = None
    """The mode that the follow-up requested, if it did."""

    policy: Union[FollowupPolicy, str]
    """The policy that the follow-up was sent with."""

    created_at: Timestamp
    """The time of creation."""

    created_by: Optional[RunCreatorInfo] = None
    """Who sent the follow-up. Absent in follow-ups that earlier versions stored."""

    state: Union[Literal["pending", "delivered", "removed"], str]
    """`pending` until the agent takes it, then `delivered`; `removed` if it was deleted, or the run was cancelled, before."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListFollowupsResponse(BaseModel):
    """A page of follow-ups."""

    followups: List[FollowupItem]
    """The follow-ups, in the order of delivery."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class TimelineEvent(BaseModel):
    """An event in the timeline of a run."""

    event_uuid: str
    """The event's id."""

    run_id: str
    """The run's id."""

    event_type: Union[TimelineType, str]
    """The type of the event."""

    occurred_at: Timestamp
    """The time of the event."""

    execution_id: Optional[str] = None
    """The id of the execution, one attempt to execute the run."""

    payload: Optional[Dict[str, Any]] = None
    """Details of the event, such as `duration_ms` and `is_error`."""


class Timeline(BaseModel):
    """A page of a run's timeline."""

    events: List[TimelineEvent]
    """The events, oldest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class TextBlock(BaseModel):
    type: Literal["text"]
    """The type of the block."""

    text: str
    """The text of the block. At most 262144 bytes in UTF-8."""

    message_id: Optional[str] = None
    """The id of the message that the block belongs to. At most 512 bytes in UTF-8."""


class ActionBlock(BaseModel):
    type: Literal["action"]
    """The type of the block."""

    id: str
    """The action's id. At most 512 bytes in UTF-8."""

    category: Union[
        Literal["command", "files", "search", "integration", "documents", "computer", "review", "skill"], str
    ]
    """The category of the action."""

    name: str
    """The name of the action or event."""

    title: Optional[str] = None
    """What the action does, for people, such as `Read calc.py`. Must be one line without control characters."""

    input: Any
    """The action's input. Its shape depends on `name`."""

    message_id: Optional[str] = None
    """The id of the message that the block belongs to. At most 512 bytes in UTF-8."""


class ActionResultBlock(BaseModel):
    type: Literal["action_result"]
    """The type of the block."""

    action_id: str
    """The id of the action that produced this result. At most 512 bytes in UTF-8."""

    category: Union[
        Literal["command", "files", "search", "integration", "documents", "computer", "review", "skill"], str
    ]
    """The category of the action."""

    name: str
    """The name of the action or event."""

    title: Optional[str] = None
    """What the action does, for people, such as `Read calc.py`. Must be one line without control characters."""

    summary: Optional[str] = None
    """What came of the action, or why it failed, for people: such as `+1 −1` or `1 match`. Must be one line without control characters."""

    diff: Optional[str] = None
    """The change of files by the action, as a unified diff. The output does not repeat it. At most 65536 bytes in UTF-8."""

    state: Union[Literal["running", "completed", "failed", "denied"], str]
    """The state of the action."""

    output: Any
    """The action's output. Responses truncate large outputs and say so."""

    message_id: Optional[str] = None
    """The id of the message that the block belongs to. At most 512 bytes in UTF-8."""


class EventBlock(BaseModel):
    type: Literal["event"]
    """The type of the block."""

    name: str
    """The name of the action or event."""

    data: Any
    """The content of the event. Its shape depends on `name`."""

    message_id: Optional[str] = None
    """The id of the message that the block belongs to. At most 512 bytes in UTF-8."""


class UnknownBlock(BaseModel):
    """A kind that this version does not know; its members are there all the same."""

    type: str


Block = Annotated[
    Union[
        Annotated[TextBlock, Tag("text")],
        Annotated[ActionBlock, Tag("action")],
        Annotated[ActionResultBlock, Tag("action_result")],
        Annotated[EventBlock, Tag("event")],
        Annotated[UnknownBlock, Tag("")],
    ],
    Discriminator(kind_of("type", ["text", "action", "action_result", "event"])),
]
"""A block of a message: text, an action, the result of an action, or an event."""


class Message(BaseModel):
    """A message of a conversation."""

    role: Union[Literal["user", "assistant", "tool", "system"], str]
    """The author of the message."""

    content: List[Block]
    """The blocks of the message, in order: text, actions, action results and events."""

    message_ids: Optional[List[str]] = None
    """The ids of the messages that were merged into this one."""

    request_id: Optional[str] = None
    """The id of the model request that produced the message. At most 512 bytes in UTF-8."""

    timestamp: Optional[Timestamp] = None
    """The time of the message. RFC 3339 with an offset."""


class Step(BaseModel):
    """A turn of a conversation. Delegated work has turns of its own."""

    id: str
    """The turn's id."""

    description: Optional[str] = None
    """The task of the turn."""

    summary: Optional[str] = None
    """The result in one or two sentences."""

    started_at: Optional[Timestamp] = None
    """The start time of the turn."""

    completed_at: Optional[Timestamp] = None
    """The end time. Absent until the turn has ended."""

    messages: List[Message]
    """The messages, in order."""

    steps: List["Step"]
    """The turns of delegated work."""


class Conversation(BaseModel):
    """The normalized conversation of one or more runs."""

    conversation_id: str
    """The conversation's id."""

    steps: List[Step]
    """The turns, oldest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class DownloadUrl(BaseModel):
    """A time-limited URL of a file, which needs no credentials."""

    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""

    expires_at: Timestamp
    """The expiry time of the URL."""


class FindRunByReferenceResponse(BaseModel):
    run_id: str
    """The run's id."""


class HandoffAttachmentsAttachment(BaseModel):
    attachment_id: str
    """The attachment's id."""

    filename: str
    """The file's name."""

    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""

    mime_type: Optional[str] = None
    """The file's media type."""


class HandoffAttachments(BaseModel):
    """The snapshot files of a run's latest ended execution."""

    attachments: List[HandoffAttachmentsAttachment]
    """The files of the snapshot."""


class RunEvent(BaseModel):
    """An entry of a run's event sequence: a timeline event, a notification or a batch of messages."""

    sequence: int
    """The event's number within its run. Numbers start at 1 and have no gaps."""

    type: Union[
        Literal[
            "run_created",
            "run_queued",
            "run_pending",
            "run_claimed",
            "worker_container_ready",
            "setup_environment_resolution",
            "setup_repo_clone",
            "setup_commands",
            "setup_mcp_servers",
            "setup_skill_loading",
            "agent_started",
            "network_blocked",
            "followup_received",
            "checkpoint_saved",
            "execution_lost",
            "run_succeeded",
            "run_failed",
            "run_errored",
            "run_blocked",
            "approval_requested",
            "approved",
            "denied",
            "run_interrupted",
            "run_idle",
            "run_cancelled",
            "run_stopped",
            "artifact_created",
            "branch_pushed",
            "user_notified",
            "run_waiting",
            "setup_started",
            "model_retry",
            "model_called",
            "messages",
        ],
        str,
    ]
    """The type of the event; `messages` is a batch of messages."""

    occurred_at: Timestamp
    """The time of the event."""

    data: Dict[str, Any]
    """The content of the event. Its shape depends on `type`."""


class LiveFrame(BaseModel):
    """A piece of output that is still being produced. It is not part of the event sequence: the event with the whole output replaces it."""

    action_id: Optional[str] = None
    """The id of the action that produces the output. Absent for the text of a message. At most 512 bytes in UTF-8."""

    message_id: Optional[str] = None
    """The id of the message whose text this is. Absent for the output of an action. At most 512 bytes in UTF-8."""

    stream: Union[Literal["stdout", "stderr", "text"], str]
    """`stdout` and `stderr` of an action, or `text` of a message."""

    offset: int
    """The position of the text in its stream, in bytes of UTF-8. A gap means that output was skipped."""

    text: str
    """The text, at most 16 KiB. At most 16384 bytes in UTF-8."""


class RunEventsWaiting(BaseModel):
    """Where the run waits for capacity, if it does and the request asked for live output."""

    position: int
    """The position in the wait queue; 1 is the next run to start."""


class RunEvents(BaseModel):
    """A part of a run's event sequence."""

    events: List[RunEvent]
    """The events, oldest first."""

    next: int
    """The value of `after` for the next request."""

    ended: bool
    """Whether the run has ended and no further events follow."""

    live: Optional[List[LiveFrame]] = None
    """Output that is still being produced, if the request asked for it."""

    live_next: Optional[str] = None
    """Pass it as `live_after` to receive only newer live output."""

    waiting: Optional[RunEventsWaiting] = None
    """Where the run waits for capacity, if it does and the request asked for live output."""


class RunResponse(BaseModel):
    text: str
    """The agent's final message, or an empty string."""

    structured: Any = None
    """The value of the final message, if the run has an `output_schema` and the message fits it."""

    state: Union[RunState, str]
    """The run's current state."""

    artifacts: List[ArtifactItem]
    """The run's artifacts, oldest first."""


class Empty(BaseModel):
    """An empty object."""


class PublicArtifact(BaseModel):
    """An artifact of a publicly shared run, without URLs. Its content is downloaded by its uid."""

    artifact_type: Union[ArtifactType, str]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    artifact_uid: Optional[str] = None
    """The artifact's id, by which it is downloaded. Absent if it has none."""

    title: Optional[str] = None
    """The artifact's title."""

    description: Optional[str] = None
    """A description of the artifact."""

    filename: Optional[str] = None
    """The file's name."""

    mime_type: Optional[str] = None
    """The file's media type."""

    size_bytes: Optional[float] = None
    """The file's size in bytes."""


class PublicRun(BaseModel):
    """A run that is shared publicly: no names of people, no configuration, no URLs."""

    title: str
    """The run's title."""

    state: Union[RunState, str]
    """The run's current state."""

    created_at: Timestamp
    """The time of creation."""

    run_time: Optional[str] = None
    """The time that the run was executing, as an ISO 8601 duration."""

    conversation: Optional[Conversation] = None
    """The messages of the run. Absent where a third-party harness stores them in its own format."""

    artifacts: List[PublicArtifact]
    """The run's artifacts, oldest first."""


class AuditTarget(BaseModel):
    """What a request was about."""

    type: str
    """The type of the resource, such as `key` or `run`."""

    uid: str
    """The resource's id."""

    name: Optional[str] = None
    """The resource's name. Absent if it has none."""


class AuditEvent(BaseModel):
    """A request that changed something, or that was refused."""

    id: str
    """The event's id."""

    at: Timestamp
    """The time of the request."""

    actor: RunCreatorInfo
    """The person or identity that sent the request."""

    via: Union[AuditVia, str]
    """What the actor authenticated with (`key`, `session`), or what acted for them."""

    key_suffix: Optional[str] = None
    """The last four characters of the API key of the request."""

    action: str
    """What was requested, such as `keys.delete`."""

    target: AuditTarget
    """What the request was about."""

    request_id: str
    """The trace id of the request. Of runs and follow-ups that no request or an earlier release created: the event's id."""

    ip: Optional[str] = None
    """The IP address that the request came from, as the gateway saw it."""

    changes: Optional[List[str]] = None
    """The names of the request's members."""

    filter: Optional[Dict[str, Union[str, float, List[str], Dict[str, str]]]] = None
    """The filter of a request that changes all runs that match it. The text of `q` is replaced by `***`."""

    matched: Optional[int] = None
    """The number of runs of the team that matched when the request began to change them."""

    refused: Optional[bool] = None
    """True if the request was refused and changed nothing."""


class ListAuditEventsResponse(BaseModel):
    """A page of a team's audit log, newest first."""

    events: List[AuditEvent]
    """The events, newest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class UsageBucket(BaseModel):
    """The ended runs of one day, creator, executor, model, schedule or environment."""

    key: Optional[str]
    """The day (such as 2026-05-18) or the id that the bucket stands for. Null: runs without one."""

    runs: float
    """The number of ended runs."""

    succeeded: float
    """The runs that are `SUCCEEDED`."""

    failed: float
    """The runs that are `FAILED` or `ERROR`."""

    total_tokens: float
    """The tokens of all model calls."""

    cost_usd: float
    """The cost of all model calls, as far as their models have a price, and of compute."""

    compute_cost_usd: Optional[float] = None
    """The part of `cost_usd` that is the cost of compute. Absent if there is none, or if it is unknown."""

    run_seconds: float
    """The seconds that the runs were executing."""


class UsageReport(BaseModel):
    """The usage of the caller's runs."""

    buckets: List[UsageBucket]
    """The buckets that have runs, sorted by key."""

    currency: Literal["USD"]
    """The currency of all amounts."""


class ConversationRedirect(BaseModel):
    """The latest public session of a conversation."""

    session_id: Optional[str] = None
    """The session's id."""


class SessionRedirect(BaseModel):
    """The conversation of a public session."""

    conversation_id: Optional[str] = None
    """The conversation's id."""


class StaticUploadTargetFieldValue(BaseModel):
    kind: Literal["static"]
    """`static`: send `value`. `content_crc32c`: send the CRC-32C checksum of the file. `content_data`: send the file."""

    value: str
    """The text to send."""


class ContentCrc32cUploadTargetFieldValue(BaseModel):
    kind: Literal["content_crc32c"]
    """`static`: send `value`. `content_crc32c`: send the CRC-32C checksum of the file. `content_data`: send the file."""


class ContentDataUploadTargetFieldValue(BaseModel):
    kind: Literal["content_data"]
    """`static`: send `value`. `content_crc32c`: send the CRC-32C checksum of the file. `content_data`: send the file."""


class UnknownUploadTargetFieldValue(BaseModel):
    """A kind that this version does not know; its members are there all the same."""

    kind: str


class UploadTargetField(BaseModel):
    name: str
    """The name of the form field."""

    value: Annotated[
        Union[
            Annotated[StaticUploadTargetFieldValue, Tag("static")],
            Annotated[ContentCrc32cUploadTargetFieldValue, Tag("content_crc32c")],
            Annotated[ContentDataUploadTargetFieldValue, Tag("content_data")],
            Annotated[UnknownUploadTargetFieldValue, Tag("")],
        ],
        Discriminator(kind_of("kind", ["static", "content_crc32c", "content_data"])),
    ]
    """The value of the form field."""


class UploadTarget(BaseModel):
    """Where and how to upload a file. The target expires after 10 minutes and accepts only the announced size and checksum."""

    url: str
    """A time-limited URL. Do not send credentials to it."""

    method: Union[Literal["PUT", "POST"], str]
    """The HTTP method of the upload."""

    headers: Optional[Dict[str, str]]
    """The headers to send with the upload. Null if there are none."""

    fields: Optional[List[UploadTargetField]] = None
    """The form fields to send, in this order. Present if `method` is `POST`."""


class CreateAttachmentResponse(BaseModel):
    """A new attachment and where to upload its file."""

    attachment_id: str
    """The attachment's id."""

    upload: UploadTarget
    """Where to upload the file."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class PrepareAttachmentsResponseAttachment(BaseModel):
    attachment_id: str
    """The attachment's id."""

    upload_url: str
    """The URL for the file: a `PUT` with the file as body and its `mime_type` as `Content-Type`."""

    upload_target: UploadTarget
    """Where to upload the file. With `size_bytes` and `sha256`, storage accepts these bytes only."""

    expires_at: Timestamp
    """The time until which the file can be uploaded."""


class PrepareAttachmentsResponse(BaseModel):
    """The prepared attachments, in the order of the request."""

    attachments: List[PrepareAttachmentsResponseAttachment]
    """The prepared attachments, in the order of the request."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class DownloadAttachmentsResponseAttachment(BaseModel):
    attachment_id: str
    """The attachment's id."""

    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""


class DownloadAttachmentsResponse(BaseModel):
    """Where to download the attachments, in the order of the request."""

    attachments: List[DownloadAttachmentsResponseAttachment]
    """The attachments with their URLs, in the order of the request."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class PlanArtifactResponseData(BaseModel):
    """The artifact's content or download URL. Its shape depends on `artifact_type`."""

    document_uid: str
    """The document's id within the run."""

    notebook_uid: str
    """The id of the notebook that contains the document."""

    title: Optional[str] = None
    """The artifact's title."""

    url: Optional[str] = None
    """The URL of the document in an external system."""

    content: str
    """The current text of the document, in Markdown."""

    content_type: Literal["text/markdown"]
    """The media type of the content or the file."""


class PlanArtifactResponse(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    artifact_type: Literal["PLAN"]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    data: PlanArtifactResponseData
    """The artifact's content or download URL. Its shape depends on `artifact_type`."""


class ScreenshotArtifactResponseData(BaseModel):
    """The artifact's content or download URL. Its shape depends on `artifact_type`."""

    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""

    expires_at: Timestamp
    """The expiry time of the URL."""

    content_type: str
    """The media type of the content or the file."""

    description: Optional[str] = None
    """A description of the artifact, at most 1,024 characters."""


class ScreenshotArtifactResponse(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    artifact_type: Literal["SCREENSHOT"]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    data: ScreenshotArtifactResponseData
    """The artifact's content or download URL. Its shape depends on `artifact_type`."""


class FileArtifactResponseData(BaseModel):
    """The artifact's content or download URL. Its shape depends on `artifact_type`."""

    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""

    expires_at: Timestamp
    """The expiry time of the URL."""

    content_type: str
    """The media type of the content or the file."""

    filepath: str
    """The file's path in the workspace."""

    filename: str
    """The file's name."""

    title: Optional[str] = None
    """The artifact's title."""

    description: Optional[str] = None
    """A description of the artifact, at most 1,024 characters."""

    size_bytes: Optional[int] = None
    """The file's size in bytes."""

    git: Optional[GitChanges] = None
    """What the patch in this file changes. Only in files of repository changes."""


class FileArtifactResponse(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    artifact_type: Literal["FILE"]
    """The type of the artifact."""

    created_at: Timestamp
    """The time of creation."""

    data: FileArtifactResponseData
    """The artifact's content or download URL. Its shape depends on `artifact_type`."""


class UnknownArtifactResponse(BaseModel):
    """A kind that this version does not know; its members are there all the same."""

    artifact_type: str


ArtifactResponse = Annotated[
    Union[
        Annotated[PlanArtifactResponse, Tag("PLAN")],
        Annotated[ScreenshotArtifactResponse, Tag("SCREENSHOT")],
        Annotated[FileArtifactResponse, Tag("FILE")],
        Annotated[UnknownArtifactResponse, Tag("")],
    ],
    Discriminator(kind_of("artifact_type", ["PLAN", "SCREENSHOT", "FILE"])),
]
"""A single artifact: a plan with its text, or a file with a time-limited download URL."""


class AgentVariantSource(BaseModel):
    """The location of the skill."""

    owner: str
    """The repository's owner: the second-to-last segment of its URL."""

    name: str
    """The repository's name."""

    skill_path: str
    """The path of the skill's file in the repository."""

    worker_host: Optional[str] = None
    """The self-hosted worker that has the skill."""


class AgentVariantEnvironment(BaseModel):
    uid: str
    """The environment's id."""

    name: str
    """The environment's name."""


class AgentVariant(BaseModel):
    """A skill in one repository."""

    id: str
    """The skill's id, `{owner}/{repo}:{path}`. Pass it as `skill` or `skill_spec` of a run."""

    description: str
    """The skill's description of itself. Empty if the skill is malformed."""

    base_prompt: str
    """The instructions for the agent: the Markdown after the front matter."""

    source: AgentVariantSource
    """The location of the skill."""

    environments: List[AgentVariantEnvironment]
    """The caller's environments with this repository."""

    last_run_timestamp: Optional[Timestamp] = None
    """The creation time of the latest run with the skill. Null before the first, absent if unknown."""

    error: Optional[str] = None
    """What is wrong with the file, with the line number. Absent for a valid skill."""


class AgentItem(BaseModel):
    """The skills with one name."""

    name: str
    """The skill's name."""

    variants: List[AgentVariant]
    """The skills with this name, one per repository."""


class UnavailableRepositoryEnvironment(BaseModel):
    uid: str
    """The environment's id."""

    name: str
    """The environment's name."""


class UnavailableRepository(BaseModel):
    """A repository whose skills could not be read completely."""

    owner: str
    """The repository's owner: the second-to-last segment of its URL."""

    name: str
    """The repository's name."""

    environments: List[UnavailableRepositoryEnvironment]
    """The caller's environments with this repository."""

    error: str
    """Why the repository could not be read."""


class ListAgentsResponse(BaseModel):
    """A page of skills."""

    agents: List[AgentItem]
    """The skills, grouped by name."""

    unavailable: Optional[List[UnavailableRepository]] = None
    """The repositories that could not be read completely. Absent if there are none."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class WorkerItem(BaseModel):
    """A connected self-hosted worker. Several connections may share its id."""

    worker_host: str
    """The worker's id, the value for `worker_host` of a configuration."""

    connection_count: int
    """The number of connections with this id."""

    connected_at: Timestamp
    """The start time of the oldest connection."""

    last_seen_at: Timestamp
    """The time of the latest message from the worker."""


class ListWorkersResponse(BaseModel):
    """A page of workers."""

    workers: List[WorkerItem]
    """The connected workers, sorted by id."""

    ws_url: Optional[str] = None
    """The address that workers connect to."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class CostStep(BaseModel):
    """Other prices for calls with more input."""

    above_input_tokens: int
    """The number of input tokens, cached ones included, above which these prices apply."""

    input_per_million_usd: float
    """US dollars per million input tokens."""

    output_per_million_usd: float
    """US dollars per million output tokens."""

    cache_read_per_million_usd: Optional[float] = None
    """US dollars per million input tokens that the provider reads from its cache. Absent if the default of its API applies."""

    cache_write_per_million_usd: Optional[float] = None
    """US dollars per million input tokens that the provider writes to its cache. Absent if the default of its API applies."""


class ModelCost(BaseModel):
    """The price of a model."""

    input_per_million_usd: float
    """US dollars per million input tokens."""

    output_per_million_usd: float
    """US dollars per million output tokens."""

    cache_read_per_million_usd: Optional[float] = None
    """US dollars per million input tokens that the provider reads from its cache. Absent if the default of its API applies."""

    cache_write_per_million_usd: Optional[float] = None
    """US dollars per million input tokens that the provider writes to its cache. Absent if the default of its API applies."""

    steps: Optional[List[CostStep]] = None
    """Other prices for calls with more input. The last step that the call exceeds applies to all of its tokens."""


class Model(BaseModel):
    """A model that runs can use, unless it has a `disable_reason`."""

    id: str
    """The model's id, the value for `model_id` of a configuration."""

    display_name: str
    """The model's name."""

    provider: Union[Literal["OPENAI", "ANTHROPIC", "GOOGLE", "AMAZON", "LOCAL", "UNKNOWN"], str]
    """The provider of the model."""

    vision_supported: bool
    """Whether the model accepts images."""

    description: Optional[str] = None
    """A description of the model."""

    reasoning_level: Optional[str] = None
    """The default reasoning level, as the provider calls it."""

    cost: Optional[ModelCost] = None
    """The price of the model. Absent if unknown."""

    disable_reason: Optional[
        Union[Literal["PROVIDER_OUTAGE", "OUT_OF_REQUESTS", "ADMIN_DISABLED", "REQUIRES_UPGRADE"], str]
    ] = None
    """Why the model cannot be used at the moment. Absent if it can."""


class ModelsResponse(BaseModel):
    """The models of the deployment."""

    default_model_id: str
    """The model of runs that set none."""

    models: List[Model]
    """The models of the deployment."""


class EnvironmentConfigGithubRepo(BaseModel):
    owner: str
    """The user or organization on GitHub."""

    repo: str
    """The repository's name."""


class ProvidersAws(BaseModel):
    """The AWS role of commands. They get `AWS_ROLE_ARN`, `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_SESSION_NAME`."""

    role_arn: str
    """The ARN of the role, such as `arn:aws:iam::123456789012:role/deploy`. Must be the ARN of a role of IAM."""


class ProvidersGcp(BaseModel):
    """The Google Cloud identity of commands. They get `GOOGLE_APPLICATION_CREDENTIALS`, a file of the type `external_account`."""

    project_number: str
    """The number of the project that has the pool. Must be the number of a project."""

    workload_identity_federation_pool_id: str
    """The id of the workload identity pool. Must have 4 to 32 of the characters a-z 0-9 - and start with a letter."""

    workload_identity_federation_provider_id: str
    """The id of the provider in that pool. Must have 4 to 32 of the characters a-z 0-9 - and start with a letter."""

    service_account_email: Optional[str] = None
    """The service account that commands act as. Defaults to the identity of the pool itself. Must be the address of a service account."""


class Providers(BaseModel):
    """The cloud providers that commands sign in to with the identity of their run, without a secret."""

    aws: Optional[ProvidersAws] = None
    """The AWS role of commands. They get `AWS_ROLE_ARN`, `AWS_WEB_IDENTITY_TOKEN_FILE` and `AWS_ROLE_SESSION_NAME`."""

    gcp: Optional[ProvidersGcp] = None
    """The Google Cloud identity of commands. They get `GOOGLE_APPLICATION_CREDENTIALS`, a file of the type `external_account`."""


class StoredNetwork(BaseModel):
    """The network of an environment that limits it."""

    mode: Union[Literal["open", "allowlist", "none"], str]
    """`open` (everything), `allowlist` (the `domains`) or `none`."""

    domains: Optional[List[str]] = None
    """The domains of the mode `allowlist`."""


class EnvironmentConfigApproval(BaseModel):
    tool: Union[
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
        ],
        str,
    ]
    """The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`."""

    match: Optional[str] = None
    """A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8."""


class EnvironmentConfigSecret(BaseModel):
    name: str
    """The secret's name."""


class EnvironmentConfig(BaseModel):
    """The content of an environment. `github_repos` contains those of `repositories` that are on GitHub."""

    name: str
    """The environment's name, unique within the team or the person."""

    description: Optional[str] = None
    """A description for people."""

    docker_image: Optional[str] = None
    """The container image in which the runs' commands execute. If the deployment does not support images, creating a run returns 422."""

    github_repos: List[EnvironmentConfigGithubRepo]
    """The GitHub repositories to clone, at most 10."""

    repositories: Optional[List[StoredRepository]] = None
    """The Git repositories to clone before the agent starts, at most 10."""

    setup_commands: List[str]
    """The commands to run before the agent starts, in order, at most 20."""

    variables: Optional[Dict[str, str]] = None
    """The plain environment variables of setup commands and commands, at most 100. Everyone who can read the environment can read them."""

    providers: Optional[Providers] = None
    """Cloud providers that commands sign in to with the identity of their run."""

    network: Optional[StoredNetwork] = None
    """What commands, clones and MCP servers may call. Everything by default."""

    worker_host: Optional[str] = None
    """The self-hosted worker of runs that set none."""

    timeout_minutes: Optional[int] = None
    """Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default."""

    max_steps: Optional[int] = None
    """Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default."""

    max_total_tokens: Optional[int] = None
    """Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default."""

    fallback_model_ids: Optional[List[str]] = None
    """Models that the agent continues with, in this order, while a provider is down."""

    reasoning_level: Optional[Union[ReasoningLevel, str]] = None
    """How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own."""

    output_schema: Optional[Dict[str, Any]] = None
    """The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`."""

    approvals: Optional[List[EnvironmentConfigApproval]] = None
    """Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children."""

    commit_author: Optional[str] = None
    """The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. At most 512 bytes in UTF-8. Must be a name and an email address, such as Build Bot <bot@example.com>."""

    secrets: Optional[List[EnvironmentConfigSecret]] = None
    """The secrets available to runs, at most 50."""


class ScheduleItemHistory(BaseModel):
    """The latest and the next firing."""

    last_ran: Optional[Timestamp]
    """The time of the latest firing. Null before the first."""

    next_run: Optional[Timestamp]
    """The time of the next firing. Null while the schedule is paused."""


class RecentRun(BaseModel):
    """One of the latest runs of a schedule or a trigger."""

    run_id: str
    """The run's id."""

    state: Union[RunState, str]
    """The run's current state."""

    created_at: Timestamp
    """The time of creation."""


class ScheduleItemScope(BaseModel):
    """The owner."""

    type: Union[Literal["User", "Team"], str]
    """`Team` for a team's resource, `User` for a personal one."""

    uid: Optional[str] = None
    """The id of the team or the person."""


class ScheduleItem(BaseModel):
    """A schedule as responses show it."""

    id: str
    """The schedule's id."""

    name: str
    """The schedule's name."""

    cron_schedule: str
    """A cron expression with five fields, or a nickname such as `@daily`."""

    time_zone: str
    """The IANA time zone of the cron expression."""

    overlap: Union[Overlap, str]
    """What to do if an earlier run is still active: `allow`, `skip` the firing, or `cancel_previous`."""

    enabled: bool
    """Whether the schedule fires. False while it is paused."""

    prompt: str
    """The task of each run."""

    mode: Union[RunMode, str]
    """The mode of each run."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    agent_config: Optional[ResolvedAgentConfig] = None
    """The configuration of each run, before the defaults of the identity, the environment and the team."""

    environment: Optional[EnvironmentConfig] = None
    """The environment that `agent_config` names."""

    agent_uid: Optional[str] = None
    """The identity that executes the runs."""

    created_by: Optional[RunCreatorInfo] = None
    """The person or identity that created the schedule."""

    updated_by: Optional[RunCreatorInfo] = None
    """The person or identity that changed the schedule last."""

    pause_after_failures: Optional[int] = None
    """The number of consecutive failed runs after which the schedule pauses itself. Absent if it never does."""

    failing_since: Optional[Timestamp] = None
    """The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not fail."""

    last_spawn_error: Optional[str]
    """Why the latest firing created no run. Null if it succeeded."""

    secret_error: Optional[str] = None
    """Why the token of one of the runs' secrets can no longer be renewed, and what to do. Absent if there is no problem, and in lists."""

    model_error: Optional[str] = None
    """Why there is no model for the runs at the moment, so that none is created. Absent if there is one."""

    history: ScheduleItemHistory
    """The latest and the next firing."""

    recent_runs: Optional[List[RecentRun]] = None
    """The latest runs, at most 10, newest first. Present for a single schedule only."""

    scope: Optional[ScheduleItemScope] = None
    """The owner."""

    metadata: Optional[Dict[str, str]] = None
    """The labels of each run."""

    scopes: Optional[List[Union[Scope, str]]] = None
    """What the runs may use their keys for: at most the scopes of the keys that created and changed the schedule. Absent if that is not limited."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListSchedulesResponse(BaseModel):
    """A page of schedules."""

    schedules: List[ScheduleItem]
    """The schedules, sorted by name."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class DeleteScheduleResponse(BaseModel):
    """The result of deleting a schedule."""

    success: bool
    """Always true."""


class ListTicksResponseTick(BaseModel):
    scheduled_at: Timestamp
    """The planned time."""

    outcome: Union[TickOutcome, str]
    """The outcome of the firing."""

    recorded_at: Timestamp
    """The time when the outcome was recorded."""

    run_id: Optional[str] = None
    """The id of the created run. Present if the firing created one."""

    reason: Optional[str] = None
    """Why the firing created no run in time. Absent for `fired`."""


class ListTicksResponse(BaseModel):
    """A page of planned firings."""

    ticks: List[ListTicksResponseTick]
    """The planned firings, newest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class InstallationClaim(BaseModel):
    """A claim that was started. Both pages of GitHub redirect to the page of the web app that completes it, if there is one."""

    install_url: str
    """GitHub's page that installs the App and authorizes it."""

    authorize_url: str
    """GitHub's page that only authorizes the App, for an installation that exists."""

    expires_at: Timestamp
    """The time after which the claim cannot be completed. RFC 3339 with an offset."""


class GithubAccount(BaseModel):
    """The account on GitHub that a GitHub App is installed on."""

    id: int
    """The account's id."""

    login: str
    """The account's name."""

    type: Union[Literal["Organization", "User"], str]
    """The kind of the account."""


class InstallationItemScope(BaseModel):
    """The team that uses it."""

    type: Literal["Team"]
    """An installation belongs to a team."""

    uid: str
    """The team's id."""


class InstallationItem(BaseModel):
    """An installation of the deployment's GitHub App that the team has claimed."""

    installation_id: int
    """GitHub's id of the installation."""

    account: GithubAccount
    """The account that it is installed on."""

    repository_selection: Union[RepositorySelection, str]
    """The repositories of the account that it gives access to."""

    scope: InstallationItemScope
    """The team that uses it."""

    claimed_by: RunCreatorInfo
    """The person who claimed it."""

    claimed_at: Timestamp
    """The time of the claim. RFC 3339 with an offset."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListInstallationsResponse(BaseModel):
    """A page of installations."""

    installations: List[InstallationItem]
    """The installations of the team, in the order of their ids."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class TriggerVerification(BaseModel):
    """How the requests of the other system prove who sent them."""

    scheme: Union[Literal["standard", "hmac", "bearer"], str]
    """`standard` are Standard Webhooks, `hmac` is an HMAC-SHA256 of the body, `bearer` is the secret itself."""

    header: Optional[str] = None
    """The header with the signature. Required by `hmac`. At most 128 bytes in UTF-8. Must be the name of a header. Must be a header of its own."""

    prefix: Optional[str] = None
    """What precedes the signature in its header, such as `sha256=`. At most 32 bytes in UTF-8."""

    encoding: Optional[Union[Literal["hex", "base64"], str]] = None
    """The encoding of the signature. Defaults to `hex`."""

    timestamp_header: Optional[str] = None
    """The header with the time, in seconds, that is signed together with the body. At most 128 bytes in UTF-8. Must be the name of a header. Must be a header of its own."""


class TriggerAuthors(BaseModel):
    """Who may start runs besides people with write access."""

    bots: Optional[List[str]] = None
    """Names of accounts of bots and applications."""

    anyone: Optional[bool] = None
    """Whether every person may, whatever their rights."""


class TriggerReply(BaseModel):
    """How the other system learns the state and the result of a run."""

    to: Union[Literal["thread", "none"], str]
    """`thread`: a comment in the thread of the event, which is updated in place. It needs a `credential`."""

    show: Optional[List[Union[Literal["cost", "link"], str]]] = None
    """What the comment shows besides the result. Both by default in private repositories and projects and on Slack, otherwise nothing."""


class CreatedTriggerScope(BaseModel):
    """The owner."""

    type: Union[Literal["Team", "User"], str]
    """`Team` for a team's trigger, `User` for a personal one."""

    uid: str
    """The id of the team or the person."""


class LastDelivery(BaseModel):
    """The latest delivery to a trigger, and its outcome if it has one yet."""

    at: Timestamp
    """The time of its arrival."""

    outcome: Optional[Union[TriggerOutcome, str]] = None
    """What it resulted in."""


class DeliveryCounts(BaseModel):
    """Deliveries to a trigger of the last 24 hours by outcome, of the latest 1,000."""

    started: int
    """Deliveries that started a run."""

    followed_up: int
    """Deliveries that sent a follow-up."""

    ignored: int
    """Deliveries that were ignored."""

    duplicate: int
    """Deliveries that repeated another one."""

    failed: int
    """Deliveries for which no run could be started."""


class CreatedTrigger(BaseModel):
    """A new trigger with its secret, which is shown only once."""

    uid: str
    """The trigger's id."""

    name: str
    """A name for people, which is the title of the runs."""

    kind: Union[Literal["github", "gitlab", "slack", "webhook"], str]
    """The system that sends the events. `webhook` stands for all others."""

    preset: Optional[Union[Literal["linear", "jira", "sentry", "pagerduty"], str]] = None
    """The system whose verification and prompt a trigger of the kind `webhook` has."""

    enabled: bool
    """Whether events start runs. False while the trigger is paused."""

    ingress_url: str
    """Where the other system sends its events."""

    verification: Optional[TriggerVerification] = None
    """How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default."""

    prompt: str
    """The template of the prompts, at most 8 KiB. A preset has one."""

    events: Optional[List[str]] = None
    """The types of events that start runs, such as `build` or `build.failed`. Absent for all."""

    filter: Optional[str] = None
    """The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none."""

    thread_key: Optional[str] = None
    """The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread."""

    agent_uid: Optional[str] = None
    """The identity that executes the runs. Absent if the trigger's creator does."""

    agent_config: Optional[ResolvedAgentConfig] = None
    """The configuration of the runs, before the defaults of the identity, the environment and the team."""

    budget_usd: Optional[float] = None
    """The most that each run with its children and follow-ups may spend on models, in US dollars."""

    mode: Union[RunMode, str]
    """The mode of the runs."""

    followup_prompt: Optional[str] = None
    """The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`."""

    threads: Optional[Union[Literal["continue", "separate"], str]] = None
    """Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`)."""

    busy: Optional[Union[Literal["enqueue", "interrupt", "skip"], str]] = None
    """What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`)."""

    allow: Optional[TriggerAuthors] = None
    """Who may start runs besides people with write access."""

    credential: Optional[str] = None
    """The name of the secret with the token for the other system."""

    reply: Optional[TriggerReply] = None
    """Whether runs reply to the events that start them. Absent where they do not."""

    metadata: Optional[Dict[str, str]] = None
    """The labels of the runs."""

    scopes: Optional[List[Union[Scope, str]]] = None
    """What its runs may use their keys for. Absent where that is not limited."""

    scope: CreatedTriggerScope
    """The owner."""

    created_by: RunCreatorInfo
    """The person who created the trigger, and in whose name its runs are created."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    pause_after_failures: Optional[int] = None
    """The number of consecutive failed runs after which the trigger pauses itself. Absent if it never does."""

    pause_reason: Optional[str] = None
    """Why the trigger has paused itself: its runs failed, its identity was deleted, or its creator has left the team. The last two are also stored with a trigger that a person has paused. Absent for others, and after the trigger is resumed."""

    failing_since: Optional[Timestamp] = None
    """The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not fail."""

    last_delivery: Optional[LastDelivery] = None
    """The latest delivery. Absent if there is none."""

    counts_24h: Optional[DeliveryCounts] = None
    """The deliveries of the last 24 hours by outcome, in the response to a GET of one trigger."""

    recent_runs: Optional[List[RecentRun]] = None
    """Its latest runs, at most 10, newest first. In the response to a GET of one trigger."""

    secret: str
    """The secret, returned once."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class TriggerItemScope(BaseModel):
    """The owner."""

    type: Union[Literal["Team", "User"], str]
    """`Team` for a team's trigger, `User` for a personal one."""

    uid: str
    """The id of the team or the person."""


class TriggerItem(BaseModel):
    """A trigger as responses show it."""

    uid: str
    """The trigger's id."""

    name: str
    """A name for people, which is the title of the runs."""

    kind: Union[Literal["github", "gitlab", "slack", "webhook"], str]
    """The system that sends the events. `webhook` stands for all others."""

    preset: Optional[Union[Literal["linear", "jira", "sentry", "pagerduty"], str]] = None
    """The system whose verification and prompt a trigger of the kind `webhook` has."""

    enabled: bool
    """Whether events start runs. False while the trigger is paused."""

    ingress_url: str
    """Where the other system sends its events."""

    verification: Optional[TriggerVerification] = None
    """How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default."""

    prompt: str
    """The template of the prompts, at most 8 KiB. A preset has one."""

    events: Optional[List[str]] = None
    """The types of events that start runs, such as `build` or `build.failed`. Absent for all."""

    filter: Optional[str] = None
    """The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none."""

    thread_key: Optional[str] = None
    """The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread."""

    agent_uid: Optional[str] = None
    """The identity that executes the runs. Absent if the trigger's creator does."""

    agent_config: Optional[ResolvedAgentConfig] = None
    """The configuration of the runs, before the defaults of the identity, the environment and the team."""

    budget_usd: Optional[float] = None
    """The most that each run with its children and follow-ups may spend on models, in US dollars."""

    mode: Union[RunMode, str]
    """The mode of the runs."""

    followup_prompt: Optional[str] = None
    """The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`."""

    threads: Optional[Union[Literal["continue", "separate"], str]] = None
    """Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`)."""

    busy: Optional[Union[Literal["enqueue", "interrupt", "skip"], str]] = None
    """What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`)."""

    allow: Optional[TriggerAuthors] = None
    """Who may start runs besides people with write access."""

    credential: Optional[str] = None
    """The name of the secret with the token for the other system."""

    reply: Optional[TriggerReply] = None
    """Whether runs reply to the events that start them. Absent where they do not."""

    metadata: Optional[Dict[str, str]] = None
    """The labels of the runs."""

    scopes: Optional[List[Union[Scope, str]]] = None
    """What its runs may use their keys for. Absent where that is not limited."""

    scope: TriggerItemScope
    """The owner."""

    created_by: RunCreatorInfo
    """The person who created the trigger, and in whose name its runs are created."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    pause_after_failures: Optional[int] = None
    """The number of consecutive failed runs after which the trigger pauses itself. Absent if it never does."""

    pause_reason: Optional[str] = None
    """Why the trigger has paused itself: its runs failed, its identity was deleted, or its creator has left the team. The last two are also stored with a trigger that a person has paused. Absent for others, and after the trigger is resumed."""

    failing_since: Optional[Timestamp] = None
    """The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not fail."""

    last_delivery: Optional[LastDelivery] = None
    """The latest delivery. Absent if there is none."""

    counts_24h: Optional[DeliveryCounts] = None
    """The deliveries of the last 24 hours by outcome, in the response to a GET of one trigger."""

    recent_runs: Optional[List[RecentRun]] = None
    """Its latest runs, at most 10, newest first. In the response to a GET of one trigger."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListTriggersResponse(BaseModel):
    """A page of triggers."""

    triggers: List[TriggerItem]
    """The triggers, oldest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class RotatedTriggerScope(BaseModel):
    """The owner."""

    type: Union[Literal["Team", "User"], str]
    """`Team` for a team's trigger, `User` for a personal one."""

    uid: str
    """The id of the team or the person."""


class RotatedTrigger(BaseModel):
    """A trigger with its new secret, which is shown only once."""

    uid: str
    """The trigger's id."""

    name: str
    """A name for people, which is the title of the runs."""

    kind: Union[Literal["github", "gitlab", "slack", "webhook"], str]
    """The system that sends the events. `webhook` stands for all others."""

    preset: Optional[Union[Literal["linear", "jira", "sentry", "pagerduty"], str]] = None
    """The system whose verification and prompt a trigger of the kind `webhook` has."""

    enabled: bool
    """Whether events start runs. False while the trigger is paused."""

    ingress_url: str
    """Where the other system sends its events."""

    verification: Optional[TriggerVerification] = None
    """How requests to a trigger of the kind `webhook` are verified. Standard Webhooks by default."""

    prompt: str
    """The template of the prompts, at most 8 KiB. A preset has one."""

    events: Optional[List[str]] = None
    """The types of events that start runs, such as `build` or `build.failed`. Absent for all."""

    filter: Optional[str] = None
    """The condition that events have to meet, an expression of the Common Expression Language over `event`. Absent or empty for none."""

    thread_key: Optional[str] = None
    """The expression that yields the thread of an event of the kind `webhook`, a string. An empty one is no thread."""

    agent_uid: Optional[str] = None
    """The identity that executes the runs. Absent if the trigger's creator does."""

    agent_config: Optional[ResolvedAgentConfig] = None
    """The configuration of the runs, before the defaults of the identity, the environment and the team."""

    budget_usd: Optional[float] = None
    """The most that each run with its children and follow-ups may spend on models, in US dollars."""

    mode: Union[RunMode, str]
    """The mode of the runs."""

    followup_prompt: Optional[str] = None
    """The template of the follow-ups that later events of a thread send. Defaults to `{{ event.text }}`."""

    threads: Optional[Union[Literal["continue", "separate"], str]] = None
    """Whether later events of an issue, a pull request, a ticket or a conversation continue the first one's run (`continue`, the default), or start runs of their own (`separate`)."""

    busy: Optional[Union[Literal["enqueue", "interrupt", "skip"], str]] = None
    """What an event of a thread does while its run is active: its follow-up waits for the turn (`enqueue`, the default) or interrupts it, or the event is ignored (`skip`)."""

    allow: Optional[TriggerAuthors] = None
    """Who may start runs besides people with write access."""

    credential: Optional[str] = None
    """The name of the secret with the token for the other system."""

    reply: Optional[TriggerReply] = None
    """Whether runs reply to the events that start them. Absent where they do not."""

    metadata: Optional[Dict[str, str]] = None
    """The labels of the runs."""

    scopes: Optional[List[Union[Scope, str]]] = None
    """What its runs may use their keys for. Absent where that is not limited."""

    scope: RotatedTriggerScope
    """The owner."""

    created_by: RunCreatorInfo
    """The person who created the trigger, and in whose name its runs are created."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    pause_after_failures: Optional[int] = None
    """The number of consecutive failed runs after which the trigger pauses itself. Absent if it never does."""

    pause_reason: Optional[str] = None
    """Why the trigger has paused itself: its runs failed, its identity was deleted, or its creator has left the team. The last two are also stored with a trigger that a person has paused. Absent for others, and after the trigger is resumed."""

    failing_since: Optional[Timestamp] = None
    """The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not fail."""

    last_delivery: Optional[LastDelivery] = None
    """The latest delivery. Absent if there is none."""

    counts_24h: Optional[DeliveryCounts] = None
    """The deliveries of the last 24 hours by outcome, in the response to a GET of one trigger."""

    recent_runs: Optional[List[RecentRun]] = None
    """Its latest runs, at most 10, newest first. In the response to a GET of one trigger."""

    secret: str
    """The secret, returned once."""

    previous_secret_expires_at: Timestamp
    """The time until which requests with the previous secret are accepted as well."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class EventAuthor(BaseModel):
    """Who caused an event: members are "" where the event does not name them."""

    id: str
    """The account's id in the other system."""

    name: str
    """The account's name in the other system."""

    kind: Union[Literal["person", "bot", "application"], str]
    """The kind of the account."""


class TriggerEvent(BaseModel):
    """An event of another system as templates see it. Strings are "" where the event has none."""

    type: str
    """The type of the event."""

    action: str
    """The action of the event, empty if it has none."""

    text: str
    """What was written, such as a comment. Empty if there is none."""

    author: EventAuthor
    """Who caused the event, which need not be the author of the text."""

    repository: str
    """The repository, as `owner/name`."""

    thread: str
    """Equal for the events of one issue, pull request, ticket or conversation."""

    payload: Dict[str, Any]
    """The JSON object of the event."""


class TestTriggerResponseRunRequest(BaseModel):
    """The run that would be created with the prompt."""

    title: str
    """The title of the run."""

    mode: Union[RunMode, str]
    """The mode of the run."""

    metadata: Optional[Dict[str, str]] = None
    """The labels of the run."""

    config: ResolvedAgentConfig
    """The configuration of the run."""


class TestTriggerResponse(BaseModel):
    """What an event would result in. Nothing is created."""

    outcome: Union[Literal["started", "followed_up", "ignored", "failed"], str]
    """What the event would result in."""

    reason: Optional[Union[Literal["event", "own", "paused", "author", "filter", "busy"], str]] = None
    """Why it would be ignored."""

    detail: Optional[str] = None
    """Details, such as the filter's error, why no run could be created, or what a pressed button would do."""

    run_id: Optional[str] = None
    """The run that a pressed button would answer or stop. Absent for other events."""

    event: TriggerEvent
    """The event as templates see it."""

    prompt: str
    """The template with the values of the event."""

    missing_values: Optional[List[str]] = None
    """The values of the template that the event does not have."""

    run_request: Optional[TestTriggerResponseRunRequest] = None
    """The run that would be created with the prompt."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class TriggerDelivery(BaseModel):
    """A delivery to a trigger as responses show it."""

    delivery_id: str
    """The delivery's id."""

    external_id: Optional[str] = None
    """The id that the sender has for the event."""

    event_type: str
    """The type of the event."""

    action: Optional[str] = None
    """The action of the event."""

    received_at: Timestamp
    """The time of the request."""

    attempts: int
    """The number of decisions: more than one after a temporary failure."""

    outcome: Optional[Union[TriggerOutcome, str]] = None
    """What the delivery resulted in. Absent until the event is decided on."""

    will_retry: Optional[bool] = None
    """True after a temporary failure, which `detail` names: the event is decided on again, for 24 hours."""

    reason: Optional[Union[Literal["event", "own", "paused", "author", "filter", "busy"], str]] = None
    """Why it was ignored: the type of the event, its author, the filter, a paused trigger, an active run of its thread, or that a reply of a run caused it."""

    detail: Optional[str] = None
    """Details of `reason`, such as the error of the filter, or why the event could not be decided on."""

    run_id: Optional[str] = None
    """The id of the run that it started or continued."""

    followup_id: Optional[str] = None
    """The id of the follow-up that it sent to the run `run_id`."""

    redelivery_of: Optional[str] = None
    """The id of the delivery whose event it delivers again on request."""

    of: Optional[str] = None
    """The id of the delivery that it repeats."""

    missing_values: Optional[List[str]] = None
    """The values of the template that the event does not have."""


class ListTriggerDeliveriesResponse(BaseModel):
    """A page of deliveries to a trigger."""

    deliveries: List[TriggerDelivery]
    """The deliveries, newest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class TriggerDeliveryDetails(BaseModel):
    """A delivery to a trigger with its payload."""

    delivery_id: str
    """The delivery's id."""

    external_id: Optional[str] = None
    """The id that the sender has for the event."""

    event_type: str
    """The type of the event."""

    action: Optional[str] = None
    """The action of the event."""

    received_at: Timestamp
    """The time of the request."""

    attempts: int
    """The number of decisions: more than one after a temporary failure."""

    outcome: Optional[Union[TriggerOutcome, str]] = None
    """What the delivery resulted in. Absent until the event is decided on."""

    will_retry: Optional[bool] = None
    """True after a temporary failure, which `detail` names: the event is decided on again, for 24 hours."""

    reason: Optional[Union[Literal["event", "own", "paused", "author", "filter", "busy"], str]] = None
    """Why it was ignored: the type of the event, its author, the filter, a paused trigger, an active run of its thread, or that a reply of a run caused it."""

    detail: Optional[str] = None
    """Details of `reason`, such as the error of the filter, or why the event could not be decided on."""

    run_id: Optional[str] = None
    """The id of the run that it started or continued."""

    followup_id: Optional[str] = None
    """The id of the follow-up that it sent to the run `run_id`."""

    redelivery_of: Optional[str] = None
    """The id of the delivery whose event it delivers again on request."""

    of: Optional[str] = None
    """The id of the delivery that it repeats."""

    missing_values: Optional[List[str]] = None
    """The values of the template that the event does not have."""

    payload: Optional[Dict[str, Any]] = None
    """The JSON object of the event. Absent if it has more than 3.5 MB, or was received before this was stored."""


class ReceivedDelivery(BaseModel):
    """The response to a delivery that was verified: its id, or the answer to the question that Slack asks about a new URL."""

    delivery_id: Optional[str] = None
    """The delivery's id."""

    challenge: Optional[str] = None
    """The text of Slack's question about a new URL. There is no delivery then."""


class IdentityItemScope(BaseModel):
    """The owner."""

    type: Literal["Team"]
    """Always `Team`."""

    uid: str
    """The team's id."""


class IdentityItemMcpServersValueTools(BaseModel):
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""

    include: Optional[List[str]] = None
    """The tools to use, at most 100. Defaults to all."""

    exclude: Optional[List[str]] = None
    """The tools not to use, at most 100."""


class IdentityItemMcpServersValue(BaseModel):
    warp_id: Optional[str] = None
    """The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8."""

    command: Optional[str] = None
    """The program to start in the sandbox. At most 4096 bytes in UTF-8."""

    args: Optional[List[str]] = None
    """The program's arguments, at most 64."""

    env: Optional[Dict[str, str]] = None
    """The program's environment variables. Values are secrets: responses show `***`."""

    url: Optional[str] = None
    """The URL of a remote server. Must be an http or https URL."""

    headers: Optional[Dict[str, str]] = None
    """The HTTP headers of each request to the server. Values are secrets: responses show `***`."""

    disabled: Optional[bool] = None
    """Whether the server is kept in the configuration without being started or connected to. Defaults to false."""

    tools: Optional[IdentityItemMcpServersValueTools] = None
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""


class IdentityItemHarness(BaseModel):
    """The harness of runs that set none. Responses omit it for the default harness."""

    type: Union[Literal["default", "oz", "claude", "codex", "gemini", "acp"], str]
    """The harness to use. `oz` is an alias of `default`; `acp` is any agent that speaks the Agent Client Protocol: `agent` names one that comes with the sandbox, or `command` starts another."""

    model_id: Optional[str] = None
    """The model of this harness. Defaults to the configuration's `model_id`. At most 512 bytes in UTF-8."""

    reasoning_level: Optional[str] = None
    """The reasoning level, which precedes that of the configuration. Third-party harnesses have names of their own."""

    agent: Optional[Union[AcpAgentName, str]] = None
    """An agent of the type `acp` that comes with the sandbox, in a pinned version."""

    command: Optional[str] = None
    """The command that starts an agent of the type `acp` in the sandbox, for bash. It speaks over its standard streams. At most 4096 bytes in UTF-8."""


class IdentityItemApproval(BaseModel):
    tool: Union[
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
        ],
        str,
    ]
    """The tool's name in the conversation. Tools of MCP servers are called by `call_mcp_tool`."""

    match: Optional[str] = None
    """A text in the command, or in the arguments as JSON of a tool without a command. `*` stands for any text, and line breaks and several spaces count as one space. Defaults to every call of the tool. At most 1024 bytes in UTF-8."""


class IdentityItemHarnessAuthSecrets(BaseModel):
    """The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models."""

    claude_auth_secret_name: Optional[str] = None
    """The name of the secret with the API key for Anthropic's models."""

    codex_auth_secret_name: Optional[str] = None
    """The name of the secret with the API key for OpenAI's models."""


class IdentityItemSecret(BaseModel):
    name: str
    """The secret's name."""


class IdentityItemMemoryAutoMemory(BaseModel):
    """The automatic memory."""

    enabled: bool
    """Whether the automatic memory is enabled."""


class IdentityItemMemory(BaseModel):
    """The identity's memory across runs."""

    auto_memory: IdentityItemMemoryAutoMemory
    """The automatic memory."""

    attached_stores: List[str]
    """The ids of the attached memory stores."""


class IdentityItem(BaseModel):
    """An identity as responses show it, with the defaults that are set."""

    uid: str
    """The identity's id."""

    name: str
    """The identity's name, unique within the team."""

    available: bool
    """Whether the identity can be used. The team's `identity_limit` counts its oldest identities first."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    scope: IdentityItemScope
    """The owner."""

    description: Optional[str] = None
    """A description for people."""

    prompt: Optional[str] = None
    """Additional instructions for the runs of the identity."""

    base_model: Optional[str] = None
    """The model of runs that set none."""

    environment_id: Optional[str] = None
    """The environment of runs that set none."""

    skills: List[str]
    """The skills of runs that set none, at most 20."""

    mcp_servers: Optional[Dict[str, IdentityItemMcpServersValue]] = None
    """The MCP servers of runs that set none: a map from name to server, at most 50."""

    harness: Optional[IdentityItemHarness] = None
    """The harness of runs that set none. Responses omit it for the default harness."""

    worker_host: Optional[str] = None
    """The self-hosted worker of runs that set none. Defaults to `hosted`, a sandbox of the service."""

    timeout_minutes: Optional[int] = None
    """Minutes from the run's first start after which it ends FAILED with `budget_exceeded`, 1 to 10,080. A follow-up starts them again. Not limited by default."""

    max_steps: Optional[int] = None
    """Model responses of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 10,000. A follow-up starts the count again. Not limited by default."""

    max_total_tokens: Optional[int] = None
    """Tokens of input and output of the run and its descendants after which it ends FAILED with `budget_exceeded`, 1 to 1,000,000,000. A follow-up starts the count again. Not limited by default."""

    fallback_model_ids: Optional[List[str]] = None
    """Models that the agent continues with, in this order, while a provider is down."""

    reasoning_level: Optional[Union[ReasoningLevel, str]] = None
    """How much the model reasons before it responds. A model without the level gets the nearest one that it has, and one that does not reason gets none. Defaults to the model's own."""

    output_schema: Optional[Dict[str, Any]] = None
    """The JSON Schema, of at most 64 KiB, that the agent's final message has to fit. An agent whose message does not is asked again, up to twice; then the run ends FAILED with `invalid_request`. GET /agent/runs/{runId}/response shows the value in `structured`."""

    approvals: Optional[List[IdentityItemApproval]] = None
    """Calls that wait until a person approves them, at most 20. A run waits as `BLOCKED` with `waiting_for` `approval`. The rules of a parent hold for its children."""

    commit_author: Optional[str] = None
    """The author and committer of commits that set none, such as `Build Bot <bot@example.com>`. At most 512 bytes in UTF-8. Must be a name and an email address, such as Build Bot <bot@example.com>."""

    harness_auth_secrets: Optional[IdentityItemHarnessAuthSecrets] = None
    """The secrets with the API keys for its runs' calls to Anthropic's and OpenAI's models."""

    secrets: List[IdentityItemSecret]
    """The secrets available to runs, at most 50."""

    memory: IdentityItemMemory
    """The identity's memory across runs."""

    default_runner_uid: str
    """The default execution location of the identity's runs."""

    on_behalf_of_enabled: Optional[bool] = None
    """Whether keys of the identity may create runs on behalf of members. Defaults to false."""

    credential_strategy: Optional[Union[Literal["CREATOR", "EXECUTOR"], str]] = None
    """Whose credentials its runs use: their creator's or their executor's. Has no effect in this release."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListIdentitiesResponse(BaseModel):
    """A page of identities."""

    agents: List[IdentityItem]
    """The identities, oldest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class CreatedKey(BaseModel):
    """A new API key. The value in `key` is returned once."""

    uid: str
    """The key's id."""

    name: str
    """The key's name."""

    suffix: str
    """The last four characters of the key."""

    created_at: Timestamp
    """The time of creation."""

    created_by: Optional[RunCreatorInfo] = None
    """The person who created the key. Absent for keys from before this was recorded."""

    expires_at: Optional[Timestamp] = None
    """The expiry time. Absent for a key that does not expire."""

    scopes: List[Union[Scope, str]]
    """What the key may be used for."""

    max_budget_usd: Optional[float] = None
    """The maximum cost of its runs in a calendar month. Absent where it is not limited."""

    max_runs_per_day: Optional[float] = None
    """The maximum number of runs that it creates in a day. Absent where it is not limited."""

    last_used_at: Optional[Timestamp] = None
    """The time of the latest request with the key that changed something, to the hour."""

    key: str
    """The API key, returned once."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class KeyItem(BaseModel):
    """An API key without its value."""

    uid: str
    """The key's id."""

    name: str
    """The key's name."""

    suffix: str
    """The last four characters of the key."""

    created_at: Timestamp
    """The time of creation."""

    created_by: Optional[RunCreatorInfo] = None
    """The person who created the key. Absent for keys from before this was recorded."""

    expires_at: Optional[Timestamp] = None
    """The expiry time. Absent for a key that does not expire."""

    scopes: List[Union[Scope, str]]
    """What the key may be used for."""

    max_budget_usd: Optional[float] = None
    """The maximum cost of its runs in a calendar month. Absent where it is not limited."""

    max_runs_per_day: Optional[float] = None
    """The maximum number of runs that it creates in a day. Absent where it is not limited."""

    last_used_at: Optional[Timestamp] = None
    """The time of the latest request with the key that changed something, to the hour."""


class ListKeysResponse(BaseModel):
    """A page of API keys."""

    keys: List[KeyItem]
    """The API keys, without their values."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class TrustRuleItem(BaseModel):
    """A rule by which OIDC tokens are exchanged for API keys of an identity."""

    uid: str
    """The trust rule's id."""

    identity_uid: str
    """The identity that the keys are for."""

    issuer: str
    """The issuer of the tokens."""

    audience: str
    """A value of the `aud` claim of the tokens."""

    subject_pattern: str
    """The `sub` claim of the tokens. Each `*` stands for any text."""

    max_budget_usd: Optional[float] = None
    """The maximum budget of each run that a key of the rule creates."""

    ttl_seconds: float
    """Seconds for which the keys are valid."""

    scopes: List[Union[Scope, str]]
    """What the keys may be used for."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    saved_by: RunCreatorInfo
    """The person who last saved the rule. It works as long as they are a member of the team."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListTrustRulesResponse(BaseModel):
    """A page of trust rules."""

    trust_rules: List[TrustRuleItem]
    """The trust rules, oldest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class TokenResponse(BaseModel):
    """An API key that expires."""

    key: str
    """The API key, returned once."""

    expires_at: Timestamp
    """The expiry time of the key."""


class EnvironmentItemLastTaskCreated(BaseModel):
    """The latest run. Absent before the first, and if a link grants the access."""

    id: str
    """The run's id."""

    title: str
    """The run's title."""

    state: Union[RunState, str]
    """The run's current state."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the run's latest change."""

    started_at: Optional[Timestamp] = None
    """The start time. Absent before the run has started."""


class EnvironmentItemSetupSnapshot(BaseModel):
    """What later runs start with instead of cloning and running the setup commands. Absent if there is none, and if a link grants the access."""

    run_id: str
    """The run that made it."""

    created_at: Timestamp
    """The time of creation."""

    expires_at: Timestamp
    """The time after which no run uses it."""

    size_bytes: int
    """The size in bytes."""


class EnvironmentItemScope(BaseModel):
    """The owner."""

    type: Union[Literal["Team", "User"], str]
    """`Team` for a team's resource, `User` for a personal one."""

    uid: str
    """The id of the team or the person."""


class EnvironmentPerson(BaseModel):
    """The person or identity that created or changed an environment. With access by link, only `uid` and `display_name` are present."""

    type: Optional[Union[Literal["user", "service_account"], str]] = None
    """`user` for a person, `service_account` for an identity. Absent if a link grants the access."""

    uid: str
    """The id of the person or identity."""

    display_name: Optional[str] = None
    """The display name."""

    email: Optional[str] = None
    """The person's email address."""

    photo_url: Optional[str] = None
    """The URL of the person's picture."""


class EnvironmentItem(BaseModel):
    """An environment as responses show it."""

    uid: str
    """The environment's id."""

    config: EnvironmentConfig
    """The content of the environment."""

    last_updated: Timestamp
    """The time of the latest change."""

    setup_failed: bool
    """Whether the latest setup of the environment failed."""

    last_task_run_timestamp: Optional[Timestamp] = None
    """The start time of the latest run. Null before the first; absent if a link grants the access."""

    last_task_created: Optional[EnvironmentItemLastTaskCreated] = None
    """The latest run. Absent before the first, and if a link grants the access."""

    setup_snapshot: Optional[EnvironmentItemSetupSnapshot] = None
    """What later runs start with instead of cloning and running the setup commands. Absent if there is none, and if a link grants the access."""

    scope: EnvironmentItemScope
    """The owner."""

    creator: EnvironmentPerson
    """The person or identity that created the environment."""

    last_editor: EnvironmentPerson
    """The person or identity that changed the environment last."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListEnvironmentsResponse(BaseModel):
    """A page of environments."""

    environments: List[EnvironmentItem]
    """The environments visible to the caller."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class ShareResponse(BaseModel):
    """The result of sharing an environment."""

    link: Optional[str] = None
    """The URL that shows the environment, returned once. Absent when sharing with a person."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class SessionInfoUser(BaseModel):
    """The person who is signed in."""

    uid: str
    """The person's id."""

    display_name: str
    """The display name."""

    email: str
    """The person's email address."""


class Membership(BaseModel):
    """A team from the view of its member."""

    uid: str
    """The team's id."""

    name: str
    """The team's name."""

    role: Union[Role, str]
    """The caller's role in the team."""


class SessionInfo(BaseModel):
    """The caller, and when the caller's session or API key ends."""

    user: SessionInfoUser
    """The person who is signed in."""

    teams: List[Membership]
    """The teams that the person is in."""

    expires_at: Optional[Timestamp] = None
    """The time at which the session ends unless it is used again; for an API key, its expiry time. Absent for a key that does not expire."""


class SignInLink(BaseModel):
    """A link that signs its reader in once."""

    token: str
    """The one-time token for `POST /session`."""

    url: Optional[str] = None
    """The page of the web app that signs in with the token. Absent where the deployment has no web app."""

    expires_at: Timestamp
    """The expiry time of the link."""


class SignInMethodsOidc(BaseModel):
    """The OIDC issuer by which people sign in. Absent where the deployment has none."""

    issuer: str
    """The address of the issuer."""

    authorization_url: str
    """The issuer's page to sign in. The client adds `state`, `nonce` and `code_challenge`."""


class SignInMethods(BaseModel):
    """How people sign in, besides API keys and links."""

    oidc: Optional[SignInMethodsOidc] = None
    """The OIDC issuer by which people sign in. Absent where the deployment has none."""


class SignInToken(BaseModel):
    """A token for `POST /session`."""

    token: str
    """The one-time token for `POST /session`."""

    expires_at: Timestamp
    """The expiry time, a minute after creation."""


class WebSessionItem(BaseModel):
    """A web session of the caller."""

    uid: str
    """The session's id."""

    created_at: Timestamp
    """The time of creation."""

    last_used_at: Timestamp
    """The time of its latest use that changed something or extended the session, to five minutes."""

    expires_at: Timestamp
    """The time at which the session ends unless it is used again."""

    browser: Optional[str] = None
    """The browser and its system, as far as its User-Agent header names them."""

    current: bool
    """Whether this is the session of the request."""


class ListWebSessionsResponse(BaseModel):
    """A page of web sessions."""

    sessions: List[WebSessionItem]
    """The caller's web sessions, oldest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class Me(BaseModel):
    """The caller."""

    uid: str
    """The person's id."""

    display_name: str
    """The display name."""

    email: str
    """The person's email address."""

    teams: List[Membership]
    """The caller's memberships."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class TeamSettings(BaseModel):
    """The settings of a team, with all defaults applied. Null: neither a value nor a default."""

    identity_limit: float
    """The number of available identities, 1 to 500. Defaults to 20."""

    concurrency_limit: float
    """The number of runs that execute at the same time, 1 to 10,000. Defaults to 20."""

    queue_limit: float
    """The number of runs that wait for capacity, 1 to 100,000. Defaults to 1,000."""

    default_model_id: Optional[str]
    """The model of runs that set none."""

    default_environment_id: Optional[str]
    """The environment of runs that set none."""

    commit_author: Optional[str]
    """The author of commits of runs that set none, such as `Build Bot <bot@example.com>`. Null: that of the deployment."""

    budget_usd_month: Optional[float]
    """The maximum cost of the team's model calls in a calendar month (UTC), in US dollars. Null: not limited."""

    retention_days: Optional[float]
    """The days after which ended runs are deleted, with all their files, 1 to 3,650. Null: they are kept."""

    sharing_allowed: bool
    """Whether runs of the team can be shared with everybody who has their link. If not, runs that were shared before are not public either."""

    provider_keys: Dict[str, str]
    """By the name of a provider, the team's secret with the API key for the team's calls to it, in place of the deployment's key. An empty object: none."""


class TeamItem(BaseModel):
    """A team as responses show it."""

    uid: str
    """The team's id."""

    name: str
    """The team's name."""

    settings: TeamSettings
    """The team's limits and defaults."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListTeamsResponse(BaseModel):
    """A page of teams."""

    teams: List[TeamItem]
    """The teams, oldest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class MonthlySpending(BaseModel):
    """The cost of a team's model calls in the current calendar month (UTC)."""

    budget_usd: Optional[float]
    """The setting `budget_usd_month`. Null: not limited."""

    spent_usd: float
    """The cost of the calls that have ended, in US dollars."""

    renews_at: Timestamp
    """The beginning of the next month."""


class TeamDetail(BaseModel):
    """A team with its current month."""

    uid: str
    """The team's id."""

    name: str
    """The team's name."""

    settings: TeamSettings
    """The team's limits and defaults."""

    month: MonthlySpending
    """The cost of the team's model calls in the current calendar month (UTC)."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class MemberItem(BaseModel):
    """A member of a team."""

    uid: str
    """The person's id."""

    email: str
    """The person's email address."""

    display_name: str
    """The display name."""

    role: Union[Role, str]
    """The person's role in the team."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListMembersResponse(BaseModel):
    """A page of members."""

    members: List[MemberItem]
    """The members of the team."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class TeamKey(BaseModel):
    """An API key of an identity of the team."""

    uid: str
    """The key's id."""

    name: str
    """The key's name."""

    identity_uid: str
    """The identity that the key belongs to."""


class RemovedMember(BaseModel):
    """The effect of removing a member on the team's agent keys."""

    revoked_keys: List[TeamKey]
    """The agent keys that the member created. They are revoked."""

    kept_keys: List[TeamKey]
    """The agent keys that remain valid: with `keep_keys`, or because their creator is unknown."""


class CreatedInvitation(BaseModel):
    """A new invitation. Its `link` is returned once."""

    id: str
    """The invitation's id."""

    email: str
    """The email address of the invited person."""

    role: Union[Role, str]
    """The role in the team after acceptance."""

    created_at: Timestamp
    """The time of creation."""

    expires_at: Timestamp
    """The expiry time, 7 days after creation."""

    link: str
    """The URL to accept the invitation, returned once. Send it to the invited person."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class InvitationItem(BaseModel):
    """An open invitation."""

    id: str
    """The invitation's id."""

    email: str
    """The email address of the invited person."""

    role: Union[Role, str]
    """The role in the team after acceptance."""

    created_at: Timestamp
    """The time of creation."""

    expires_at: Timestamp
    """The expiry time, 7 days after creation."""


class ListInvitationsResponse(BaseModel):
    """A page of invitations."""

    invitations: List[InvitationItem]
    """The open invitations."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class SecretItemScope(BaseModel):
    """The owner."""

    type: Literal["Team"]
    """Always `Team`."""

    uid: str
    """The team's id."""


class SecretItemRenewal(BaseModel):
    """How the value is renewed. Absent if it is not renewed."""

    server_url: str
    """The URL of the server that accepts the token."""

    token_endpoint: str
    """The URL that issues new tokens."""

    renewed_at: Timestamp
    """The time of the latest renewal, or of the sign-in."""

    expires_at: Optional[Timestamp] = None
    """When the value expires. Absent if unknown."""

    refusal: Optional[str] = None
    """Why the value can no longer be renewed, and what to do. Absent if it can."""


class SecretItem(BaseModel):
    """A secret without its value."""

    name: str
    """The name that configurations refer to."""

    created_at: Timestamp
    """The time of creation."""

    scope: SecretItemScope
    """The owner."""

    renewal: Optional[SecretItemRenewal] = None
    """How the value is renewed. Absent if it is not renewed."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListSecretsResponse(BaseModel):
    """A page of secrets."""

    secrets: List[SecretItem]
    """The secrets, without their values."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class WebhookFilter(BaseModel):
    """The runs whose events are delivered: filters of the list of runs that a run matches for as long as it exists, combined with AND."""

    name: Optional[str] = None
    """Selects runs by the name of their configuration. At most 1024 bytes in UTF-8."""

    model_id: Optional[str] = None
    """Selects runs by model. At most 512 bytes in UTF-8."""

    creator: Optional[str] = None
    """Selects runs by the uid of their creator. At most 512 bytes in UTF-8."""

    executor: Optional[str] = None
    """Selects runs by the uid of their executor. At most 512 bytes in UTF-8."""

    source: Optional[Union[str, List[str]]] = None
    """Selects runs from this source or one of these, each a RunSourceType. An unknown value selects no runs."""

    execution_location: Optional[Union[ExecutionLocation, str]] = None
    """Selects runs by execution location."""

    environment_id: Optional[str] = None
    """Selects runs by environment; `empty-environment` selects runs without one. At most 512 bytes in UTF-8."""

    skill: Optional[str] = None
    """An alias of `skill_spec`. At most 512 bytes in UTF-8."""

    skill_spec: Optional[str] = None
    """Selects runs by skill: `owner/repo:name` or `owner/repo:path/to/SKILL.md`. At most 512 bytes in UTF-8."""

    schedule_id: Optional[str] = None
    """Selects runs by schedule, including deleted schedules. At most 512 bytes in UTF-8."""

    trigger_id: Optional[str] = None
    """Selects runs by the trigger that started them, including deleted triggers. At most 512 bytes in UTF-8."""

    automation_id: Optional[str] = None
    """Selects runs by automation: the uid of a trigger, or the value of the metadata key `automation_id`. At most 512 bytes in UTF-8."""

    ancestor_run_id: Optional[str] = None
    """Selects the descendants of this run, which must exist and be visible. At most 512 bytes in UTF-8."""

    min_cost_usd: Optional[float] = None
    """Selects runs that have cost at least this many US dollars by their models and sandboxes, without their child runs."""

    metadata: Optional[Dict[str, str]] = None
    """Selects runs by metadata; in a query, as `metadata[ticket]=SHOP-1412`. At most 5 keys."""


class CreatedWebhookScope(BaseModel):
    """The owner."""

    type: Literal["Team"]
    """Always `Team`."""

    uid: str
    """The team's id."""


class CreatedWebhook(BaseModel):
    """A new webhook with its signing secret, which is shown only once."""

    uid: str
    """The webhook's id."""

    name: Optional[str] = None
    """A name for people."""

    url: str
    """Where deliveries are sent."""

    format: Optional[Literal["slack"]] = None
    """`slack` if messages for an incoming webhook of Slack are sent. Absent for events as JSON."""

    event_types: List[Union[WebhookEventType, str]]
    """The types of events that are delivered."""

    filter: Optional[WebhookFilter] = None
    """The runs whose events are delivered. Absent for all runs of the team."""

    enabled: bool
    """Whether events are delivered. A receiver that responds 410 disables the webhook."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    created_by: RunCreatorInfo
    """The person who created the webhook."""

    scope: CreatedWebhookScope
    """The owner."""

    previous_secret_expires_at: Optional[Timestamp] = None
    """The time until which deliveries are signed with the previous secret as well. Absent unless the secret was replaced."""

    secret: str
    """The signing secret, returned once."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class WebhookItemScope(BaseModel):
    """The owner."""

    type: Literal["Team"]
    """Always `Team`."""

    uid: str
    """The team's id."""


class WebhookItem(BaseModel):
    """A webhook as responses show it."""

    uid: str
    """The webhook's id."""

    name: Optional[str] = None
    """A name for people."""

    url: str
    """Where deliveries are sent."""

    format: Optional[Literal["slack"]] = None
    """`slack` if messages for an incoming webhook of Slack are sent. Absent for events as JSON."""

    event_types: List[Union[WebhookEventType, str]]
    """The types of events that are delivered."""

    filter: Optional[WebhookFilter] = None
    """The runs whose events are delivered. Absent for all runs of the team."""

    enabled: bool
    """Whether events are delivered. A receiver that responds 410 disables the webhook."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    created_by: RunCreatorInfo
    """The person who created the webhook."""

    scope: WebhookItemScope
    """The owner."""

    previous_secret_expires_at: Optional[Timestamp] = None
    """The time until which deliveries are signed with the previous secret as well. Absent unless the secret was replaced."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""


class ListWebhooksResponse(BaseModel):
    """A page of webhooks."""

    webhooks: List[WebhookItem]
    """The webhooks, oldest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class RotateSecretResponseScope(BaseModel):
    """The owner."""

    type: Literal["Team"]
    """Always `Team`."""

    uid: str
    """The team's id."""


class RotateSecretResponse(BaseModel):
    """A webhook with its new signing secret, which is shown only once."""

    uid: str
    """The webhook's id."""

    name: Optional[str] = None
    """A name for people."""

    url: str
    """Where deliveries are sent."""

    format: Optional[Literal["slack"]] = None
    """`slack` if messages for an incoming webhook of Slack are sent. Absent for events as JSON."""

    event_types: List[Union[WebhookEventType, str]]
    """The types of events that are delivered."""

    filter: Optional[WebhookFilter] = None
    """The runs whose events are delivered. Absent for all runs of the team."""

    enabled: bool
    """Whether events are delivered. A receiver that responds 410 disables the webhook."""

    created_at: Timestamp
    """The time of creation."""

    updated_at: Timestamp
    """The time of the latest change."""

    created_by: RunCreatorInfo
    """The person who created the webhook."""

    scope: RotateSecretResponseScope
    """The owner."""

    previous_secret_expires_at: Timestamp
    """The time until which deliveries are signed with the previous secret as well. Absent unless the secret was replaced."""

    secret: str
    """The signing secret, returned once."""


class DeliveryItemAttempt(BaseModel):
    attempted_at: Timestamp
    """The time of the attempt."""

    duration_ms: int
    """Milliseconds until the response or the error."""

    status_code: Optional[int] = None
    """The status of the receiver's response."""

    error: Optional[str] = None
    """Why there was no response."""


class DeliveryItem(BaseModel):
    """A delivery as responses show it."""

    sequence: int
    """The number of the delivery within its webhook, from 1, without gaps."""

    event_type: Union[WebhookEventType, str]
    """The type of the event."""

    run_id: Optional[str] = None
    """The id of the run. Absent for an event of a trigger or a schedule."""

    run_sequence: Optional[int] = None
    """The number of the event within its run."""

    trigger_uid: Optional[str] = None
    """The trigger of a `trigger_failed`."""

    schedule_id: Optional[str] = None
    """The schedule of a `schedule_failed` or `schedule_missed`."""

    state: Union[DeliveryState, str]
    """`pending` until the receiver responds 2xx (`delivered`) or the last attempt has failed (`failed`)."""

    created_at: Timestamp
    """The time of creation."""

    next_attempt_at: Optional[Timestamp] = None
    """The time of the next attempt. Present while the delivery is pending."""

    attempts: List[DeliveryItemAttempt]
    """The latest attempts, at most 20, oldest first."""


class ListDeliveriesResponse(BaseModel):
    """A page of deliveries."""

    deliveries: List[DeliveryItem]
    """The deliveries, newest first."""

    page_info: Optional[PageInfo] = None
    """The position of the page in the list."""


class RedeliverResponse(BaseModel):
    """The result of a request to send deliveries again."""

    redelivered: int
    """The number of deliveries that are sent again."""

    next_sequence: Optional[int] = None
    """The `from_sequence` of the next request, if there are more deliveries."""


class ResolvePromptResponseContextCreator(BaseModel):
    """The person who created the run, whom its commits name. Absent for an identity, and for a person without an email address."""

    name: str
    """The person's display name, or their email address."""

    email: str
    """The person's email address."""


class ResolvePromptResponseContextMcpServersValueTools(BaseModel):
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""

    include: Optional[List[str]] = None
    """The tools to use, at most 100. Defaults to all."""

    exclude: Optional[List[str]] = None
    """The tools not to use, at most 100."""


class ResolvePromptResponseContextMcpServersValue(BaseModel):
    warp_id: Optional[str] = None
    """The id of a shared server. This release reports such a server to the agent as unavailable. At most 512 bytes in UTF-8."""

    command: Optional[str] = None
    """The program to start in the sandbox. At most 4096 bytes in UTF-8."""

    args: Optional[List[str]] = None
    """The program's arguments, at most 64."""

    env: Optional[Dict[str, str]] = None
    """The program's environment variables. Values are secrets: responses show `***`."""

    url: Optional[str] = None
    """The URL of a remote server. Must be an http or https URL."""

    headers: Optional[Dict[str, str]] = None
    """The HTTP headers of each request to the server. Values are secrets: responses show `***`."""

    disabled: Optional[bool] = None
    """Whether the server is kept in the configuration without being started or connected to. Defaults to false."""

    tools: Optional[ResolvePromptResponseContextMcpServersValueTools] = None
    """The server's tools that the agent may use: those of `include`, or all, without those of `exclude`."""


class InjectedSecretByName(BaseModel):
    name: str
    """The name of the environment variable."""

    value: str
    """The value of the secret."""

    renewable: Optional[bool] = None
    """True if the value is a token that the service can renew."""

    problem: Optional[str] = None
    """Why the token was not renewed though it should have been, and what to do."""


class RepositoryToken(BaseModel):
    """An access token for one repository, valid for this execution only."""

    url: str
    """The URL of the repository that the token is for."""

    token: str
    """The token."""

    expires_at: Timestamp
    """The expiry time of the token."""


class ResolvePromptResponseContextPush(BaseModel):
    """The branch that `push-branch` pushes to, at the end of each turn that commits to it. Absent if the run may push none."""

    url: str
    """The URL of the repository in `agent_config`."""

    branch: str
    """The branch, which is checked out."""


class ResolvePromptResponseContextAttachment(BaseModel):
    attachment_id: str
    """The attachment's id."""

    filename: str
    """The file's name."""

    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""

    mime_type: Optional[str] = None
    """The file's media type."""


class SavedFile(BaseModel):
    """A file of a snapshot, for the harness."""

    filename: str
    """The file's name."""

    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""

    mime_type: str
    """The file's media type."""

    size_bytes: int
    """The file's size in bytes."""


class ResolvePromptResponseContextCheckpoint(BaseModel):
    """The workspace of an earlier execution, to restore before the first turn. Absent for a first execution."""

    generation: str
    """The name of the snapshot within its execution."""

    files: List[SavedFile]
    """The files of the checkpoint."""


class SnapshotClone(BaseModel):
    """A clone in a setup snapshot."""

    path: str
    """Its directory in the workspace. At most 1024 bytes in UTF-8."""

    commit: str
    """The commit that is checked out; empty for a repository without commits. Must be the id of a commit, or empty."""


class RunSetupMade(BaseModel):
    """The latest snapshot. Absent if there is none."""

    run_id: str
    """The run that made it."""

    created_at: Timestamp
    """The time of creation."""

    platform: str
    """The machine on which it was made, as a digest."""

    clones: List[SnapshotClone]
    """The clones."""

    files: Optional[List[SavedFile]] = None
    """The files. Absent if the inputs of the snapshot differ from `inputs`."""


class RunSetup(BaseModel):
    """The setup snapshot of the run's environment, for the harness."""

    inputs: str
    """A digest of everything that the setup depends on, except the commits of repositories and the machine."""

    keep: Optional[bool] = None
    """True if the run only sets up the environment: the harness saves a setup snapshot."""

    made: Optional[RunSetupMade] = None
    """The latest snapshot. Absent if there is none."""


class FollowupAttachment(BaseModel):
    attachment_id: str
    """The attachment's id."""

    filename: str
    """The file's name."""

    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""

    mime_type: Optional[str] = None
    """The file's media type."""


class ApprovalDecision(BaseModel):
    """What a person decided about a call."""

    approved: bool
    """Whether the call is approved."""

    digest: str
    """SHA-256 of the call as the person saw it."""

    by: str
    """The name of the person who decided."""


class Followup(BaseModel):
    """A follow-up message for the agent."""

    number: int
    """The follow-up's place in the order of delivery, starting at 1."""

    followup_id: Optional[str] = None
    """The follow-up's id within its run, which is also the id of its message in the conversation."""

    message: str
    """The message to the agent."""

    attachments: Optional[List[FollowupAttachment]] = None
    """The files to download into the attachments directory before the turn begins. Absent if there are none."""

    policy: Union[FollowupPolicy, str]
    """The policy that the follow-up was sent with."""

    created_at: Timestamp
    """The time of creation."""

    decision: Optional[ApprovalDecision] = None
    """What the sender decided about the call that the run waits for."""

    cancelled: Optional[bool] = None
    """True if the run was cancelled before the follow-up was delivered. Do not execute it."""


class Interrupt(BaseModel):
    """A request to end the current turn. Each number is new and higher than those before it."""

    number: int
    """The number of the interrupt, higher than those before it."""

    by: str
    """The name of the person or identity that interrupted."""


class ResolvePromptResponseContext(BaseModel):
    """Everything else that the harness needs to start."""

    run_id: str
    """The run's id."""

    execution_id: str
    """The id of the execution, one attempt to execute the run."""

    conversation_id: str
    """The conversation's id."""

    title: str
    """The run's title."""

    creator: Optional[ResolvePromptResponseContextCreator] = None
    """The person who created the run, whom its commits name. Absent for an identity, and for a person without an email address."""

    mode: Union[RunMode, str]
    """The mode of the execution."""

    agent_config: ResolvedAgentConfig
    """The resolved configuration, with all defaults applied."""

    vision_models: Optional[List[str]] = None
    """The models of the run that accept images."""

    model_apis: Optional[Dict[str, Union[Literal["messages", "chat", "responses"], str]]] = None
    """By model, the API of those models of the run whose ids do not name a known provider."""

    setup_commands: Optional[List[str]] = None
    """The commands of the environment to run before the first turn, in order."""

    docker_image: Optional[str] = None
    """The container image of the environment, for a harness whose sandbox is not a container of that image."""

    variables: Optional[Dict[str, str]] = None
    """The plain environment variables of commands. Secrets of the same name take precedence."""

    providers: Optional[Providers] = None
    """The cloud providers that commands sign in to with identity tokens of the run."""

    network: Optional[StoredNetwork] = None
    """What commands, clones and MCP servers may call."""

    mcp_servers: Optional[Dict[str, ResolvePromptResponseContextMcpServersValue]] = None
    """The MCP servers by name, including the values of environment variables and headers."""

    secrets: Optional[List[InjectedSecretByName]] = None
    """The secrets to set as environment variables of commands."""

    repository_tokens: Optional[List[RepositoryToken]] = None
    """Read-only tokens for private repositories of the configuration, valid for at most one hour."""

    push: Optional[ResolvePromptResponseContextPush] = None
    """The branch that `push-branch` pushes to, at the end of each turn that commits to it. Absent if the run may push none."""

    cache_scope: Optional[str] = None
    """Identifies the owner of the run. What a machine keeps between runs, only runs with the same value use."""

    attachments: List[ResolvePromptResponseContextAttachment]
    """The attachments of the run and of its follow-ups."""

    messages: List[Message]
    """The messages of the conversation so far, in order."""

    own_messages: Optional[int] = None
    """How many of `messages`, counted from the end, belong to this run."""

    next_sequence: int
    """The `first_sequence` of the next messages."""

    checkpoint: Optional[ResolvePromptResponseContextCheckpoint] = None
    """The workspace of an earlier execution, to restore before the first turn. Absent for a first execution."""

    setup_snapshot: Optional[RunSetup] = None
    """The setup snapshot of the environment. Absent for a run without setup commands, and with a `checkpoint`."""

    followups: List[Followup]
    """The follow-ups that the harness has not stored yet, in order."""

    interrupt: Optional[Interrupt] = None
    """The request to end the current turn. Absent if there is none, or the conversation already shows it."""

    next_heartbeat_seconds: int
    """Seconds until the next heartbeat is due."""

    finish_takes_messages: Optional[bool] = None
    """Whether `finish-task` takes the last messages and the number of stored follow-ups."""


class ResolvePromptResponse(BaseModel):
    """Everything that a harness needs to start an execution."""

    prompt: str
    """The task of the run."""

    system_prompt: Optional[str] = None
    """The system prompt of the agent."""

    resumption_prompt: Optional[str] = None
    """The instructions for continuing after an interruption. Absent for a first execution."""

    context: Optional[ResolvePromptResponseContext] = None
    """Everything else that the harness needs to start."""


class HeartbeatResponse(BaseModel):
    """New instructions for the harness."""

    followups: List[Followup]
    """The follow-ups that the harness has not stored yet, in order."""

    taken: Optional[Followup] = None
    """The follow-up that the harness takes, as `takes_after` requests; null if none waits."""

    cancel: bool
    """True if the run is cancelled. Stop all processes and report the shutdown."""

    failing: Optional[str] = None
    """Why the run fails: a limit is reached. End the turn, and finish the run."""

    interrupt: Optional[Interrupt] = None
    """The request to end the current turn. Absent if there is none, or the conversation already shows it."""

    next_heartbeat_seconds: int
    """Seconds until the next heartbeat is due."""

    watched: Optional[bool] = None
    """Whether live output is being read."""


class MessagesResponse(BaseModel):
    """The result of appending messages."""

    next_sequence: int
    """The `first_sequence` of the next messages."""

    watched: Optional[bool] = None
    """Whether live output is being read."""


class LiveResponse(BaseModel):
    """Whether the live output is being read."""

    watched: bool
    """If false, stop sending frames until a heartbeat or a request for messages returns true."""


class ReportArtifactResponse(BaseModel):
    """The reported artifact, with its upload target if the file is still to be uploaded."""

    artifact_uid: str
    """The artifact's id."""

    upload: Optional[UploadTarget] = None
    """Where to upload the file. Absent if the file is already uploaded."""


class FinishTaskResponse(BaseModel):
    """What keeps the run from ending; an empty object if it has ended."""

    followups: Optional[List[Followup]] = None
    """The follow-ups that keep the run from ending."""

    interrupt: Optional[Interrupt] = None
    """The request to end the current turn. Absent if there is none, or the conversation already shows it."""

    waiting: Optional[bool] = None
    """True if the run waits for a follow-up, which a heartbeat delivers."""


class UploadSnapshotResponse(BaseModel):
    """The upload targets of a snapshot."""

    uploads: List[UploadTarget]
    """One upload target per file, in the order of the request."""


class CommitSnapshotResponse(BaseModel):
    """The committed snapshot."""

    generation: str
    """The name of the snapshot within its execution."""


class ExternalConversationResponse(BaseModel):
    """The registered conversation."""

    conversation_id: str
    """The conversation's id."""


class RawTranscriptLocation(BaseModel):
    download_url: str
    """A time-limited URL of the file. Do not send credentials to it."""

    expires_at: Timestamp
    """The expiry time of the URL."""


class IdentityTokenResponse(BaseModel):
    """A token that proves to other systems which run presents it."""

    token: str
    """The token, a signed JWT."""

    expires_at: Timestamp
    """The expiry time of the token."""


class PushBranchResponse(BaseModel):
    """Where to upload the pack, or what was pushed."""

    upload: Optional[UploadTarget] = None
    """Where to upload the pack. Absent if it is already uploaded."""

    branch: Optional[str] = None
    """The branch, once it has the commit."""


class GetOpenidConfigurationResponse(BaseModel):
    issuer: str
    """The `iss` claim of identity tokens: the public address of the API."""

    jwks_uri: str
    """The URL of the public keys."""

    response_types_supported: List[str]
    """Always `id_token`."""

    subject_types_supported: List[str]
    """Always `public`."""

    id_token_signing_alg_values_supported: List[str]
    """The algorithms that sign identity tokens."""

    claims_supported: List[str]
    """The claims that identity tokens may have."""


class ListSigningKeysResponseKey(BaseModel):
    kty: Literal["EC"]
    """The type of the key."""

    crv: Literal["P-256"]
    """The curve of the key."""

    x: str
    """The x coordinate of the public key."""

    y: str
    """The y coordinate of the public key."""

    kid: str
    """The id of the key, as in the header of its tokens."""

    use: Literal["sig"]
    """Always `sig`: the key verifies signatures."""

    alg: Literal["ES256"]
    """The algorithm of the key."""


class ListSigningKeysResponse(BaseModel):
    keys: List[ListSigningKeysResponseKey]
    """The public keys, oldest first. Empty before the first token."""


class McpResponseError(BaseModel):
    """Why there is no result. Errors of tools are results with `isError`."""

    code: float
    """The code of JSON-RPC."""

    message: str
    """What is wrong."""


class McpResponse(BaseModel):
    """The response to a request of the Model Context Protocol."""

    jsonrpc: Literal["2.0"]
    """The version of JSON-RPC."""

    id: Union[str, float]
    """The id of the request."""

    result: Optional[Dict[str, Any]] = None
    """The result of the method."""

    error: Optional[McpResponseError] = None
    """Why there is no result. Errors of tools are results with `isError`."""

    warnings: Optional[List[RequestWarning]] = None
    """What the request has that has no effect, such as misspelled members of its body. Only in the response to such a request."""
