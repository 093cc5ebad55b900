"""Generated from docs/openapi.json by scripts/generate: do not edit."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

from pydantic import Discriminator, Tag
from typing_extensions import Annotated, Literal

from ._models import BaseModel, Timestamp, kind_of

RunMode = Literal["normal", "plan", "orchestrate"]


ExecutionLocation = Literal["REMOTE", "LOCAL"]


RunState = Literal["QUEUED", "PENDING", "CLAIMED", "INPROGRESS", "SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"]


ArtifactType = Literal["PLAN", "PULL_REQUEST", "SCREENSHOT", "FILE", "EXTERNAL_REFERENCE"]


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
    "GITHUB_WEBHOOK",
    "GITLAB_WEBHOOK",
    "ORCHESTRATION",
]


FollowupPolicy = Literal["enqueue", "interrupt", "reject"]
"""What becomes of the turn under way: it ends first, it is broken off, or the follow-up is refused."""


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
    "followup_received",
    "checkpoint_saved",
    "execution_lost",
    "run_succeeded",
    "run_failed",
    "run_errored",
    "run_blocked",
    "run_cancelled",
    "run_stopped",
    "artifact_created",
]


Overlap = Literal["allow", "skip", "cancel_previous"]
"""What happens at a firing while an earlier run of the schedule has not ended."""


TickOutcome = Literal["fired", "skipped", "late", "failed"]
"""What became of a planned firing."""


Role = Literal["admin", "member"]
"""What a person is in a team."""


class RunAgentResponse(BaseModel):
    run_id: str
    """The run's id."""

    task_id: str
    """The same value as `run_id`, by its older name."""

    state: Union[RunState, str]
    """Where the run is: `QUEUED` for a new one."""

    at_capacity: Optional[bool] = None
    """True where the run waits because as many as allowed are at work."""

    run_key: Optional[str] = None
    """The key of a run that the caller executes itself; shown this once."""


class RunStatusMessage(BaseModel):
    message: str
    """One sentence."""

    error_code: Optional[str] = None
    """The error's code."""

    retryable: Optional[bool] = None
    """Whether the same run may succeed later."""


class RunSchedule(BaseModel):
    """The schedule that a run was fired by, as it was then."""

    schedule_id: str
    """The schedule's id."""

    schedule_name: str
    """The schedule's name."""

    cron_schedule: str
    """When it fires: five fields of cron, or `@daily` and the like."""


class RunCreatorInfo(BaseModel):
    type: Union[Literal["user", "service_account"], str]
    """A person, or an identity."""

    uid: str
    """The person's or the identity's id."""

    display_name: Optional[str] = None
    """The name that is shown."""

    email: Optional[str] = None
    """The person's address."""

    photo_url: Optional[str] = None
    """A picture of the person."""


class RunItemRequestUsage(BaseModel):
    """What the run has used so far."""

    inference_cost: Optional[float] = None
    """Dollars for models."""

    compute_cost: Optional[float] = None
    """Dollars for computing."""

    platform_cost: Optional[float] = None
    """Dollars for the platform."""

    total_tokens: Optional[int] = None
    """Tokens in and out, of all models."""


class ResolvedAgentConfigMcpServersValue(BaseModel):
    warp_id: Optional[str] = None
    """A shared server, by its id. At most 512 bytes in UTF-8."""

    command: Optional[str] = None
    """A program that is started in the sandbox. At most 4096 bytes in UTF-8."""

    args: Optional[List[str]] = None
    """The program's arguments."""

    env: Optional[Dict[str, str]] = None
    """The program's environment. Values are secrets: answers show `***`."""

    url: Optional[str] = None
    """Must be an http or https URL."""

    headers: Optional[Dict[str, str]] = None


class StoredRepository(BaseModel):
    """A repository as it is stored and shown."""

    url: str
    """What is cloned; a credential in it is shown as `***`. At most 2048 bytes in UTF-8. Must be an https, ssh or file URL."""

    ref: Optional[str] = None
    """A branch, tag or commit; by default the repository's own. At most 256 bytes in UTF-8. Must be a branch, tag or commit."""

    path: Optional[str] = None
    """The directory in the workspace; by default the URL's last segment. At most 256 bytes in UTF-8. Must be a relative path inside the workspace."""

    token_secret: Optional[str] = None


class ResolvedAgentConfigHarness(BaseModel):
    """The program that runs the agent, where it is not the service's own: claude, codex or gemini."""

    type: Union[Literal["default", "oz", "claude", "codex", "gemini"], str]
    model_id: Optional[str] = None
    """The model that the agent uses. At most 512 bytes in UTF-8."""

    reasoning_level: Optional[str] = None
    """How much the model is to think."""


class ResolvedAgentConfigHarnessAuthSecrets(BaseModel):
    """Secrets by which another harness signs in."""

    claude_auth_secret_name: Optional[str] = None
    """The secret's name."""

    codex_auth_secret_name: Optional[str] = None
    """The secret's name."""


class ResolvedAgentConfigSessionSharing(BaseModel):
    """Who else may look at the session."""

    public_access: Optional[Union[Literal["VIEWER", "EDITOR"], str]] = None
    """What everybody with the link may do."""


class ResolvedAgentConfig(BaseModel):
    """The configuration as answers show it: every secret value and credential is `***`, and `skill_spec` mirrors the first of `skills`."""

    name: Optional[str] = None
    """What it is called."""

    model_id: Optional[str] = None
    """The model that the agent uses. At most 512 bytes in UTF-8."""

    base_prompt: Optional[str] = None
    """What the agent is told beside its task. At most 65536 bytes in UTF-8."""

    environment_id: Optional[str] = None
    """The environment whose repositories and set-up the run begins with. At most 512 bytes in UTF-8."""

    skill_spec: Optional[str] = None
    """A skill whose instructions come first. At most 512 bytes in UTF-8. Must have the form owner/repo:skill-name or owner/repo:path/to/SKILL.md."""

    skills: Optional[List[str]] = None
    """Several skills; not together with `skill_spec`."""

    mcp_servers: Optional[Dict[str, ResolvedAgentConfigMcpServersValue]] = None
    """Tools for the agent: servers of the Model Context Protocol, by name."""

    repositories: Optional[List[StoredRepository]] = None
    """Git repositories that are cloned before the agent begins."""

    computer_use_enabled: Optional[bool] = None
    """Whether the agent may use a screen."""

    idle_timeout_minutes: Optional[int] = None
    """Minutes without progress after which the run ends; 10 where it is unset."""

    worker_host: Optional[str] = None
    """The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service. At most 512 bytes in UTF-8."""

    budget_usd: Optional[float] = None
    """What the run and all runs below it may spend on models, in US dollars; a child draws on its parent's where it names none."""

    harness: Optional[ResolvedAgentConfigHarness] = None
    """The program that runs the agent, where it is not the service's own: claude, codex or gemini."""

    harness_auth_secrets: Optional[ResolvedAgentConfigHarnessAuthSecrets] = None
    """Secrets by which another harness signs in."""

    credential_strategy: Optional[Union[Literal["CREATOR", "EXECUTOR"], str]] = None
    """Whose credentials the run uses."""

    session_sharing: Optional[ResolvedAgentConfigSessionSharing] = None
    """Who else may look at the session."""


class RunItemAgentSkill(BaseModel):
    """The skill that the run started from."""

    name: Optional[str] = None
    """What it is called."""

    description: Optional[str] = None
    """What it is for."""

    full_path: Optional[str] = None
    """The skill's file in its repository."""

    bundled_skill_id: Optional[str] = None
    """The skill's id, where it came with the service."""


class PlanArtifactItemData(BaseModel):
    document_uid: str
    """Names the document among those of its run."""

    notebook_uid: Optional[str] = None
    """The document's name where documents are kept together."""

    artifact_uid: Optional[str] = None
    """The artifact's id."""

    title: Optional[str] = None
    """What the artifact is called."""

    url: Optional[str] = None
    """Where it is."""


class PlanArtifactItem(BaseModel):
    artifact_type: Literal["PLAN"]
    """What kind of artifact it is."""

    created_at: Timestamp
    """When it was made."""

    data: PlanArtifactItemData


class PullRequestArtifactItemData(BaseModel):
    url: str
    """Where it is."""

    branch: str
    """The branch that the pull request is to merge."""


class PullRequestArtifactItem(BaseModel):
    artifact_type: Literal["PULL_REQUEST"]
    """What kind of artifact it is."""

    created_at: Timestamp
    """When it was made."""

    data: PullRequestArtifactItemData


class ScreenshotArtifactItemData(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    mime_type: str
    """The file's media type."""

    description: Optional[str] = None
    """What it is for."""


class ScreenshotArtifactItem(BaseModel):
    artifact_type: Literal["SCREENSHOT"]
    """What kind of artifact it is."""

    created_at: Timestamp
    """When it was made."""

    data: ScreenshotArtifactItemData


class FileArtifactItemData(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    filepath: str
    """Where the file stood in the workspace."""

    filename: str
    """The file's name."""

    mime_type: str
    """The file's media type."""

    description: Optional[str] = None
    """What it is for."""

    size_bytes: Optional[int] = None
    """The file's bytes."""

    title: Optional[str] = None
    """What the artifact is called."""


class FileArtifactItem(BaseModel):
    artifact_type: Literal["FILE"]
    """What kind of artifact it is."""

    created_at: Timestamp
    """When it was made."""

    data: FileArtifactItemData


class ExternalReferenceArtifactItemData(BaseModel):
    reference_type: str
    """What kind of thing it is elsewhere."""

    url: str
    """Where it is."""

    title: Optional[str] = None
    """What the artifact is called."""

    metadata: Optional[Dict[str, str]] = None
    """Labels of the caller's own, to find the run by."""


class ExternalReferenceArtifactItem(BaseModel):
    artifact_type: Literal["EXTERNAL_REFERENCE"]
    """What kind of artifact it is."""

    created_at: Timestamp
    """When it was made."""

    data: ExternalReferenceArtifactItemData


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
"""An artifact inside a run."""


class RunItemScope(BaseModel):
    """The team or the person that it belongs to."""

    type: Union[Literal["User", "Team"], str]
    uid: Optional[str] = None
    """Its id."""


class RunItem(BaseModel):
    """One run as answers show it."""

    run_id: str
    """The run's id."""

    task_id: str
    """The same value as `run_id`, by its older name."""

    title: str
    """What the run is called; made from the prompt's first line where none was given."""

    state: Union[RunState, str]
    """Where the run is."""

    prompt: str
    """The task, in words."""

    created_at: Timestamp
    """When it was made."""

    updated_at: Timestamp
    """When it last changed."""

    started_at: Optional[Timestamp] = None
    """When work on it began; null before."""

    status_message: Optional[RunStatusMessage] = None
    """Why the run ended as it did, what it asks where it is BLOCKED, who cancelled it and why."""

    source: Optional[Union[RunSourceType, str]] = None
    """How the run came about."""

    execution_location: Optional[Union[ExecutionLocation, str]] = None
    """`REMOTE`: in a sandbox of the service or a worker; `LOCAL`: by the caller itself."""

    schedule: Optional[RunSchedule] = None
    """The schedule that fired the run."""

    session_id: Optional[str] = None
    """The session in which the run is shown."""

    session_link: Optional[str] = None
    """The page that shows the run."""

    trigger_url: Optional[str] = None
    """What set the run off, where it came from an integration."""

    creator: Optional[RunCreatorInfo] = None
    """Who asked for the run."""

    executor: Optional[RunCreatorInfo] = None
    """As whom the run works; often its creator."""

    request_usage: Optional[RunItemRequestUsage] = None
    """What the run has used so far."""

    agent_config: Optional[ResolvedAgentConfig] = None
    """The configuration that the run has after all defaults."""

    agent_skill: Optional[RunItemAgentSkill] = None
    """The skill that the run started from."""

    conversation_id: Optional[str] = None
    """The conversation that the run belongs to, or is to continue."""

    parent_run_id: Optional[str] = None
    """The run that started this one."""

    is_sandbox_running: Optional[bool] = None
    """Whether a sandbox works on the run right now."""

    is_run_type_cancellable: Optional[bool] = None
    """Whether runs of this kind can be cancelled; false where it is executed elsewhere."""

    run_time: Optional[str] = None
    """How long it was worked on, as an ISO 8601 duration."""

    metadata: Optional[Dict[str, str]] = None
    """Labels of the caller's own, to find the run by."""

    artifacts: Optional[List[ArtifactItem]] = None
    """What the run has left behind."""

    scope: Optional[RunItemScope] = None
    """The team or the person that it belongs to."""


class PageInfo(BaseModel):
    """Where a list goes on; `next_cursor` is there where it does."""

    has_next_page: bool
    """Whether there is more."""

    next_cursor: Optional[str] = None
    """What to pass as `cursor` for the next page; absent on the last."""


class ListRunsResponse(BaseModel):
    runs: List[RunItem]
    """One page of runs."""

    page_info: PageInfo
    """Where the list goes on."""


class CancelRunsResponseRefused(BaseModel):
    run_id: str
    """The run's id."""

    error_code: str


class CancelRunsResponse(BaseModel):
    """What became of the runs that matched: each was cancelled, or refused with the code that its own cancel would have."""

    matched: int
    """Runs that the filter matched."""

    cancelled: int
    """Runs that were cancelled."""

    refused: List[CancelRunsResponseRefused]
    """Runs that were not, with the code that each one's own cancel would have."""

    has_more: bool
    """Whether there may be more: then send the same request again."""


class Empty(BaseModel):
    pass


class TimelineEvent(BaseModel):
    event_uuid: str
    """The event's id."""

    run_id: str
    """The run's id."""

    event_type: Union[TimelineType, str]
    """What happened."""

    occurred_at: Timestamp
    """When it happened."""

    execution_id: Optional[str] = None
    """The execution that it was part of: one attempt to carry the run out."""

    payload: Optional[Dict[str, Any]] = None
    """More about it, such as `duration_ms` and `is_error`."""


class Timeline(BaseModel):
    events: List[TimelineEvent]
    """In order."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class TextBlock(BaseModel):
    type: Literal["text"]
    text: str
    """What was said. At most 262144 bytes in UTF-8."""

    message_id: Optional[str] = None
    """The message's id. At most 512 bytes in UTF-8."""


class ActionBlock(BaseModel):
    type: Literal["action"]
    id: str
    """The action's id. At most 512 bytes in UTF-8."""

    category: Union[
        Literal["command", "files", "search", "integration", "documents", "computer", "review", "skill"], str
    ]
    """What kind of action it is."""

    name: str
    """What the action or event is called."""

    input: Any
    """What the action was given."""

    message_id: Optional[str] = None
    """The message's id. At most 512 bytes in UTF-8."""


class ActionResultBlock(BaseModel):
    type: Literal["action_result"]
    action_id: str
    """The action that this is the result of. At most 512 bytes in UTF-8."""

    category: Union[
        Literal["command", "files", "search", "integration", "documents", "computer", "review", "skill"], str
    ]
    """What kind of action it is."""

    name: str
    """What the action or event is called."""

    state: Union[Literal["running", "completed", "failed", "denied"], str]
    """What became of the action."""

    output: Any
    """What came of the action. Large outputs are cut, with a note that says so."""

    message_id: Optional[str] = None
    """The message's id. At most 512 bytes in UTF-8."""


class EventBlock(BaseModel):
    type: Literal["event"]
    name: str
    """What the action or event is called."""

    data: Any
    """What the event tells."""

    message_id: Optional[str] = None
    """The message's id. At most 512 bytes in UTF-8."""


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
"""One block of a message: text, an action, its result, or an event."""


class Message(BaseModel):
    role: Union[Literal["user", "assistant", "tool", "system"], str]
    """Who speaks."""

    content: List[Block]
    """Text, actions, their results and events, in order."""

    message_ids: Optional[List[str]] = None
    """Ids of the messages that this one is made of."""

    request_id: Optional[str] = None
    """The model's request that the message came from. At most 512 bytes in UTF-8."""

    timestamp: Optional[Timestamp] = None
    """When it was said, or happened."""


class Step(BaseModel):
    id: str
    """The turn's id."""

    description: Optional[str] = None
    """What the turn was about."""

    summary: Optional[str] = None
    """How it went, in a sentence or two."""

    started_at: Optional[Timestamp] = None
    """When work on it began; null before."""

    completed_at: Optional[Timestamp] = None
    """When it was done."""

    messages: List[Message]
    """What was said, in order."""

    steps: List["Step"]
    """Work that was delegated in this turn."""


class Conversation(BaseModel):
    conversation_id: str
    """The conversation that the run belongs to, or is to continue."""

    steps: List[Step]
    """Turns, the oldest first."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class TranscriptLocation(BaseModel):
    download_url: str
    """A time-limited address; send no credential there."""

    expires_at: Timestamp
    """Until when the address is good."""


class HandoffAttachmentsAttachment(BaseModel):
    attachment_id: str
    """The attachment's id."""

    filename: str
    """The file's name."""

    download_url: str
    """A time-limited address; send no credential there."""

    mime_type: Optional[str] = None
    """The file's media type."""


class HandoffAttachments(BaseModel):
    """Snapshot files of the latest execution that has ended."""

    attachments: List[HandoffAttachmentsAttachment]
    """Files beside the prompt, at most 2.9 MiB in all once decoded; larger ones are uploaded first."""


class RunEvent(BaseModel):
    """One entry of a run's gapless sequence: a timeline event, or a batch of messages."""

    sequence: int
    """The event's number within its run, from 1, without gaps."""

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
            "followup_received",
            "checkpoint_saved",
            "execution_lost",
            "run_succeeded",
            "run_failed",
            "run_errored",
            "run_blocked",
            "run_cancelled",
            "run_stopped",
            "artifact_created",
            "user_notified",
            "messages",
        ],
        str,
    ]
    """What kind of event it is."""

    occurred_at: Timestamp
    """When it happened."""

    data: Dict[str, Any]
    """The event's own members."""


class RunEvents(BaseModel):
    events: List[RunEvent]
    """In order."""

    next: int
    """What to pass as `after` to go on."""

    ended: bool
    """Whether the run has ended and nothing comes after these events."""


class RunResponse(BaseModel):
    text: str
    """The agent's last words."""

    state: Union[RunState, str]
    """Where the run is."""

    artifacts: List[ArtifactItem]
    """What the run has left behind."""


class ConversationRedirect(BaseModel):
    """Where a conversation leads of which a session is shared with everybody."""

    session_id: Optional[str] = None
    """The session in which the run is shown."""


class SessionRedirect(BaseModel):
    """Where a session leads that is shared with everybody."""

    conversation_id: Optional[str] = None
    """The conversation that the run belongs to, or is to continue."""


class StaticUploadTargetFieldValue(BaseModel):
    kind: Literal["static"]
    value: str


class ContentCrc32cUploadTargetFieldValue(BaseModel):
    kind: Literal["content_crc32c"]


class ContentDataUploadTargetFieldValue(BaseModel):
    kind: Literal["content_data"]


class UnknownUploadTargetFieldValue(BaseModel):
    """A kind that this version does not know; its members are there all the same."""

    kind: str


class UploadTargetField(BaseModel):
    name: str
    """What it is called."""

    value: Annotated[
        Union[
            Annotated[StaticUploadTargetFieldValue, Tag("static")],
            Annotated[ContentCrc32cUploadTargetFieldValue, Tag("content_crc32c")],
            Annotated[ContentDataUploadTargetFieldValue, Tag("content_data")],
            Annotated[UnknownUploadTargetFieldValue, Tag("")],
        ],
        Discriminator(kind_of("kind", ["static", "content_crc32c", "content_data"])),
    ]


class UploadTarget(BaseModel):
    """Where and how to upload the bytes; lives 10 minutes and is bound to length and checksum."""

    url: str
    """A time-limited address; send no credential there."""

    method: Union[Literal["PUT", "POST"], str]
    """How to send them."""

    headers: Optional[Dict[str, str]]
    """Headers to send with them."""

    fields: Optional[List[UploadTargetField]] = None
    """Fields of a form, in this order, where the method is POST."""


class CreateAttachmentResponse(BaseModel):
    attachment_id: str
    """The attachment's id."""

    upload: UploadTarget
    """Where to upload the bytes; absent once they are there."""


class PlanArtifactResponseData(BaseModel):
    document_uid: str
    """Names the document among those of its run."""

    notebook_uid: str
    """The document's name where documents are kept together."""

    title: Optional[str] = None
    """What the artifact is called."""

    url: Optional[str] = None
    """Where else it is to be read."""

    content: str
    """The document's current text, in Markdown."""

    content_type: Literal["text/markdown"]
    """The file's media type."""


class PlanArtifactResponse(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    artifact_type: Literal["PLAN"]
    """What kind of artifact it is."""

    created_at: Timestamp
    """When it was made."""

    data: PlanArtifactResponseData


class ScreenshotArtifactResponseData(BaseModel):
    download_url: str
    """A time-limited address; send no credential there."""

    expires_at: Timestamp
    """Until when the address is good."""

    content_type: str
    """The file's media type."""

    description: Optional[str] = None
    """What it is for."""


class ScreenshotArtifactResponse(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    artifact_type: Literal["SCREENSHOT"]
    """What kind of artifact it is."""

    created_at: Timestamp
    """When it was made."""

    data: ScreenshotArtifactResponseData


class FileArtifactResponseData(BaseModel):
    download_url: str
    """A time-limited address; send no credential there."""

    expires_at: Timestamp
    """Until when the address is good."""

    content_type: str
    """The file's media type."""

    filepath: str
    """Where the file stood in the workspace."""

    filename: str
    """The file's name."""

    title: Optional[str] = None
    """What the artifact is called."""

    description: Optional[str] = None
    """What it is for."""

    size_bytes: Optional[int] = None
    """The file's bytes."""


class FileArtifactResponse(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    artifact_type: Literal["FILE"]
    """What kind of artifact it is."""

    created_at: Timestamp
    """When it was made."""

    data: FileArtifactResponseData


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
"""An artifact by itself: a plan with its text, others with a time-limited URL. Those without a body have no such answer."""


class AgentVariantSource(BaseModel):
    """Where it is."""

    owner: str
    """Whose repository it is: the last segment but one of its URL."""

    name: str
    """What it is called."""

    skill_path: str
    """From the root of the repository."""

    worker_host: Optional[str] = None
    """The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service."""


class AgentVariantEnvironment(BaseModel):
    uid: str
    """Its id."""

    name: str
    """What it is called."""


class AgentVariant(BaseModel):
    """A skill in one repository."""

    id: str
    """`{owner}/{repo}:{path}`: what `skill` and `skill_spec` of a run take."""

    description: str
    """Empty where the skill is malformed and has none."""

    base_prompt: str
    """The Markdown behind the front matter."""

    source: AgentVariantSource
    """Where it is."""

    environments: List[AgentVariantEnvironment]
    """Those of the caller's environments whose runs have the repository."""

    last_run_timestamp: Optional[Timestamp] = None
    """When the latest run with this skill was made; null before the first, absent where that was not looked for far enough."""

    error: Optional[str] = None
    """What is wrong with the file, and in which line."""


class AgentItem(BaseModel):
    """The skills of one name, in whichever repositories."""

    name: str
    """What the skill is called."""

    variants: List[AgentVariant]
    """Where there is a skill of this name."""


class UnavailableRepositoryEnvironment(BaseModel):
    uid: str
    """Its id."""

    name: str
    """What the repository is called."""


class UnavailableRepository(BaseModel):
    """A repository whose skills could not be read, or not all of them."""

    owner: str
    """Whose repository it is: the last segment but one of its URL."""

    name: str
    """What the repository is called."""

    environments: List[UnavailableRepositoryEnvironment]
    """The environments that it belongs to."""

    error: str
    """Why it could not be read."""


class ListAgentsResponse(BaseModel):
    agents: List[AgentItem]
    """Skills by name; those of one name together."""

    unavailable: Optional[List[UnavailableRepository]] = None
    """Repositories that could not be read; absent where all were."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class WorkerItem(BaseModel):
    """A self-hosted worker that is connected; several connections may share its id."""

    worker_host: str
    """The id under which it connected: what `worker_host` of a configuration takes."""

    connection_count: int
    """Its connections; several may share an id."""

    connected_at: Timestamp
    """When the oldest of its connections was made."""

    last_seen_at: Timestamp
    """When it was last heard of."""


class ListWorkersResponse(BaseModel):
    workers: List[WorkerItem]
    """Workers that are connected now, by their id."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class ModelCost(BaseModel):
    """What it costs."""

    input_per_million_usd: float
    """Dollars for a million tokens in."""

    output_per_million_usd: float
    """Dollars for a million tokens out."""


class Model(BaseModel):
    """A model that a run may name, unless `disable_reason` says why not."""

    id: str
    display_name: str
    """The name that is shown."""

    provider: Union[Literal["OPENAI", "ANTHROPIC", "GOOGLE", "AMAZON", "LOCAL", "UNKNOWN"], str]
    """Who runs it."""

    vision_supported: bool
    """Whether it sees images."""

    description: Optional[str] = None
    """What it is for."""

    reasoning_level: Optional[str] = None
    """How much the model thinks unless it is told otherwise, in its provider's words."""

    cost: Optional[ModelCost] = None
    """What it costs."""

    disable_reason: Optional[
        Union[Literal["PROVIDER_OUTAGE", "OUT_OF_REQUESTS", "ADMIN_DISABLED", "REQUIRES_UPGRADE"], str]
    ] = None
    """Why it cannot be used right now; absent where it can."""


class ModelsResponse(BaseModel):
    default_model_id: str
    """The model of runs that name none."""

    models: List[Model]
    """The models that a run may name."""


class EnvironmentConfigGithubRepo(BaseModel):
    owner: str
    """Whose repository it is: the last segment but one of its URL."""

    repo: str


class EnvironmentConfigSecret(BaseModel):
    name: str
    """What it is called; unique where it belongs."""


class EnvironmentConfig(BaseModel):
    """What an environment is made of. `github_repos` is the part of `repositories` that is on GitHub."""

    name: str
    """What it is called; unique where it belongs."""

    description: Optional[str] = None
    """What it is for."""

    docker_image: Optional[str] = None
    """The image that its runs work in. Runs are refused with 422 where the deployment has no containers."""

    github_repos: List[EnvironmentConfigGithubRepo]
    """Repositories on GitHub that are cloned."""

    repositories: Optional[List[StoredRepository]] = None
    """Git repositories that are cloned before the agent begins."""

    setup_commands: List[str]
    """What is run before the agent begins, in order."""

    secrets: Optional[List[EnvironmentConfigSecret]] = None
    """Secrets that its runs may use, by name."""


class ScheduleItemHistory(BaseModel):
    """Its latest and its next firing."""

    last_ran: Optional[Timestamp]
    """The latest firing; null before the first."""

    next_run: Optional[Timestamp]
    """The next firing; null while it is paused."""


class ScheduleItemRecentRun(BaseModel):
    run_id: str
    """The run's id."""

    state: Union[RunState, str]
    """Where the run is."""

    created_at: Timestamp
    """When it was made."""


class ScheduleItemScope(BaseModel):
    """The team or the person that it belongs to."""

    type: Union[Literal["User", "Team"], str]
    uid: Optional[str] = None
    """Its id."""


class ScheduleItem(BaseModel):
    """A schedule as answers show it."""

    id: str
    """The schedule's id."""

    name: str
    """What the schedule is called."""

    cron_schedule: str
    """When it fires: five fields of cron, or `@daily` and the like."""

    time_zone: str
    """The IANA time zone that the cron is read in; UTC by default."""

    overlap: Union[Overlap, str]
    """What happens at a firing while an earlier run has not ended."""

    enabled: bool
    """Whether it fires."""

    prompt: str
    """The task of each run."""

    mode: Union[RunMode, str]
    """`normal` works, `plan` only plans, `orchestrate` starts other runs."""

    created_at: Timestamp
    """When it was made."""

    updated_at: Timestamp
    """When it last changed."""

    agent_config: Optional[ResolvedAgentConfig] = None
    """The configuration that the run has after all defaults."""

    environment: Optional[EnvironmentConfig] = None
    """What the environment that the configuration names is made of."""

    agent_uid: Optional[str] = None
    """The identity that carries the runs out."""

    created_by: Optional[RunCreatorInfo] = None
    """Who made it."""

    updated_by: Optional[RunCreatorInfo] = None
    """Who changed it last."""

    last_spawn_error: Optional[str]
    """Why the latest firing made no run; null where it did."""

    history: ScheduleItemHistory
    """Its latest and its next firing."""

    recent_runs: Optional[List[ScheduleItemRecentRun]] = None
    """Its ten latest runs."""

    scope: Optional[ScheduleItemScope] = None
    """The team or the person that it belongs to."""

    metadata: Optional[Dict[str, str]] = None
    """Labels of the caller's own, to find the run by."""


class ListSchedulesResponse(BaseModel):
    schedules: List[ScheduleItem]
    """Schedules by name."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class DeleteScheduleResponse(BaseModel):
    success: bool
    """True."""


class ListTicksResponseTick(BaseModel):
    scheduled_at: Timestamp
    """When it was to fire."""

    outcome: Union[TickOutcome, str]
    """What became of it."""

    recorded_at: Timestamp
    """When its outcome was written."""

    run_id: Optional[str] = None
    """The run's id."""

    reason: Optional[str] = None
    """Why, where it is not `fired`."""


class ListTicksResponse(BaseModel):
    ticks: List[ListTicksResponseTick]
    """Planned firings, the latest first."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class IdentityItemScope(BaseModel):
    """The team or the person that it belongs to."""

    type: Literal["Team"]
    uid: str
    """Its id."""


class IdentityItemMcpServersValue(BaseModel):
    warp_id: Optional[str] = None
    """A shared server, by its id. At most 512 bytes in UTF-8."""

    command: Optional[str] = None
    """A program that is started in the sandbox. At most 4096 bytes in UTF-8."""

    args: Optional[List[str]] = None
    """The program's arguments."""

    env: Optional[Dict[str, str]] = None
    """The program's environment. Values are secrets: answers show `***`."""

    url: Optional[str] = None
    """Must be an http or https URL."""

    headers: Optional[Dict[str, str]] = None


class IdentityItemHarness(BaseModel):
    """The program that runs the agent, where it is not the service's own: claude, codex or gemini."""

    type: Union[Literal["default", "oz", "claude", "codex", "gemini"], str]
    model_id: Optional[str] = None
    """The model that the agent uses. At most 512 bytes in UTF-8."""

    reasoning_level: Optional[str] = None
    """How much the model is to think."""


class IdentityItemSecret(BaseModel):
    name: str
    """What the identity is called; unique in its team."""


class IdentityItemMemoryAutoMemory(BaseModel):
    enabled: bool
    """Whether it fires."""


class IdentityItemMemory(BaseModel):
    """What it remembers from run to run."""

    auto_memory: IdentityItemMemoryAutoMemory
    attached_stores: List[str]


class IdentityItem(BaseModel):
    """An identity as answers show it: its defaults as far as they are set."""

    uid: str
    """Its id."""

    name: str
    """What the identity is called; unique in its team."""

    available: bool
    """Whether it can be used: the team's plan counts its oldest identities first."""

    created_at: Timestamp
    """When it was made."""

    updated_at: Timestamp
    """When it last changed."""

    scope: IdentityItemScope
    """The team or the person that it belongs to."""

    description: Optional[str] = None
    """What it is for."""

    prompt: Optional[str] = None
    """What its runs are told beside their task."""

    base_model: Optional[str] = None
    """The model of its runs, where they name none."""

    environment_id: Optional[str] = None
    """The environment whose repositories and set-up the run begins with."""

    skills: List[str]
    """Several skills; not together with `skill_spec`."""

    mcp_servers: Optional[Dict[str, IdentityItemMcpServersValue]] = None
    """Tools for the agent: servers of the Model Context Protocol, by name."""

    harness: Optional[IdentityItemHarness] = None
    """The program that runs the agent, where it is not the service's own: claude, codex or gemini."""

    worker_host: Optional[str] = None
    """The self-hosted worker that is to carry the run out; absent, or `hosted`: a sandbox of the service."""

    secrets: List[IdentityItemSecret]
    """Secrets that its runs may use, by name."""

    memory: IdentityItemMemory
    """What it remembers from run to run."""

    default_runner_uid: str
    """Where its runs are carried out by default."""

    on_behalf_of_enabled: Optional[bool] = None
    """Whether its keys may start runs on behalf of members."""

    credential_strategy: Optional[Union[Literal["CREATOR", "EXECUTOR"], str]] = None
    """Whose credentials the run uses."""


class ListIdentitiesResponse(BaseModel):
    agents: List[IdentityItem]
    """Identities, the oldest first."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class CreatedKey(BaseModel):
    """A new key; `key` is shown in this answer and never again."""

    uid: str
    """The key's id."""

    name: str
    """What the key is called."""

    suffix: str
    """The key's last four characters."""

    created_at: Timestamp
    """When it was made."""

    created_by: Optional[RunCreatorInfo] = None
    """Who made it."""

    expires_at: Optional[Timestamp] = None
    """Until when it is good."""

    last_used_at: Optional[Timestamp] = None
    """When it last changed something, to the hour."""

    key: str
    """The key itself, shown this once."""


class KeyItem(BaseModel):
    """An API key as lists show it."""

    uid: str
    """The key's id."""

    name: str
    """What the key is called."""

    suffix: str
    """The key's last four characters."""

    created_at: Timestamp
    """When it was made."""

    created_by: Optional[RunCreatorInfo] = None
    """The person who created the key; absent on keys from before this was stored."""

    expires_at: Optional[Timestamp] = None
    """Until when it is good."""

    last_used_at: Optional[Timestamp] = None
    """When the key last changed something, to the hour; calls that only read are not noted."""


class ListKeysResponse(BaseModel):
    keys: List[KeyItem]
    """API keys; none of them with what opens anything."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class EnvironmentItemLastTaskCreated(BaseModel):
    """The run that was last made in it."""

    id: str
    title: str
    """What the run is called; made from the prompt's first line where none was given."""

    state: Union[RunState, str]
    """Where the run is."""

    created_at: Timestamp
    """When it was made."""

    updated_at: Timestamp
    """When it last changed."""

    started_at: Optional[Timestamp] = None
    """When work on it began; null before."""


class EnvironmentItemScope(BaseModel):
    """The team or the person that it belongs to."""

    type: Union[Literal["Team", "User"], str]
    uid: str
    """The environment's id."""


class EnvironmentPerson(BaseModel):
    """Who made or changed an environment; a caller who sees it by its link alone learns the uid and the display name."""

    type: Optional[Union[Literal["user", "service_account"], str]] = None
    """A person, or an identity; absent where a link alone opens the environment."""

    uid: str
    """The person's or the identity's id."""

    display_name: Optional[str] = None
    """The name that is shown."""

    email: Optional[str] = None
    """The person's address."""

    photo_url: Optional[str] = None
    """A picture of the person."""


class EnvironmentItem(BaseModel):
    """An environment as answers show it; without `last_task_*` for a caller who sees it by its link alone."""

    uid: str
    """The environment's id."""

    config: EnvironmentConfig
    """What it is made of."""

    last_updated: Timestamp
    """When it last changed."""

    setup_failed: bool
    """Whether the run that last got so far could not be set up in it; false again with the next that could."""

    last_task_run_timestamp: Optional[Timestamp] = None
    """When a run last began in it; null before the first, and absent where a link alone opens it."""

    last_task_created: Optional[EnvironmentItemLastTaskCreated] = None
    """The run that was last made in it."""

    scope: EnvironmentItemScope
    """The team or the person that it belongs to."""

    creator: EnvironmentPerson
    """Who made it."""

    last_editor: EnvironmentPerson
    """Who changed it last."""


class ListEnvironmentsResponse(BaseModel):
    environments: List[EnvironmentItem]
    """Environments that the caller may use."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class ShareResponse(BaseModel):
    link: Optional[str] = None
    """The link to send to whom it is for, shown this once."""


class Membership(BaseModel):
    """A membership as the member sees it."""

    uid: str
    """The team's id."""

    name: str
    """What the team is called."""

    role: Union[Role, str]
    """What the caller is in it."""


class Me(BaseModel):
    uid: str
    """The person's id."""

    display_name: str
    """The name that is shown."""

    email: str
    """The person's address."""

    teams: List[Membership]
    """Teams, the oldest first."""


class TeamSettings(BaseModel):
    """Settings of a team with all defaults filled in; null where there is neither a value nor a default."""

    identity_limit: float
    """Identities that are available, the oldest ones."""

    concurrency_limit: float
    """Runs that execute at once."""

    queue_limit: float
    """Runs that may wait."""

    default_model_id: Optional[str]
    """The model of runs that name none."""

    default_environment_id: Optional[str]
    """The environment of runs that name none."""

    budget_usd_month: Optional[float]
    """Always null: a monthly budget is not supported yet, and any other value is refused with 422."""

    retention_days: Optional[float]
    """Always null: runs are kept without a limit of time, and any other value is refused with 422."""


class TeamItem(BaseModel):
    uid: str
    """The team's id."""

    name: str
    """What the team is called."""

    settings: TeamSettings
    """Limits and defaults of the team."""


class ListTeamsResponse(BaseModel):
    teams: List[TeamItem]
    """Teams, the oldest first."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class MemberItem(BaseModel):
    """A member as the team sees them."""

    uid: str
    """The person's id."""

    email: str
    """The person's address."""

    display_name: str
    """The name that is shown."""

    role: Union[Role, str]
    """What they are in the team."""


class ListMembersResponse(BaseModel):
    members: List[MemberItem]
    """Who is in the team."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class TeamKey(BaseModel):
    """An agent key of a team."""

    uid: str
    """The key's id."""

    name: str
    """The key's name."""

    identity_uid: str
    """The identity that the key is for."""


class RemovedMember(BaseModel):
    """What a removal did with agent keys of the team."""

    revoked_keys: List[TeamKey]
    kept_keys: List[TeamKey]


class CreatedInvitation(BaseModel):
    """A new invitation; `link` is shown in this answer and never again."""

    id: str
    """The invitation's id."""

    email: str
    """The person's address."""

    role: Union[Role, str]
    """What they will be in the team."""

    created_at: Timestamp
    """When it was made."""

    expires_at: Timestamp
    """Until when it is good."""

    link: str
    """The link to send to whom it is for, shown this once."""


class InvitationItem(BaseModel):
    id: str
    """The invitation's id."""

    email: str
    """The person's address."""

    role: Union[Role, str]
    """What they will be in the team."""

    created_at: Timestamp
    """When it was made."""

    expires_at: Timestamp
    """Until when it is good."""


class ListInvitationsResponse(BaseModel):
    invitations: List[InvitationItem]
    """Invitations that wait to be accepted."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class SecretItemScope(BaseModel):
    """The team or the person that it belongs to."""

    type: Literal["Team"]
    uid: str
    """Its id."""


class SecretItem(BaseModel):
    """A secret as answers show it: never its value."""

    name: str
    """By what name configurations refer to it."""

    created_at: Timestamp
    """When it was made."""

    scope: SecretItemScope
    """The team or the person that it belongs to."""


class ListSecretsResponse(BaseModel):
    secrets: List[SecretItem]
    """Secrets that its runs may use, by name."""

    page_info: Optional[PageInfo] = None
    """Where the list goes on."""


class ResolvePromptResponseContextMcpServersValue(BaseModel):
    warp_id: Optional[str] = None
    """A shared server, by its id. At most 512 bytes in UTF-8."""

    command: Optional[str] = None
    """A program that is started in the sandbox. At most 4096 bytes in UTF-8."""

    args: Optional[List[str]] = None
    """The program's arguments."""

    env: Optional[Dict[str, str]] = None
    """The program's environment. Values are secrets: answers show `***`."""

    url: Optional[str] = None
    """Must be an http or https URL."""

    headers: Optional[Dict[str, str]] = None


class InjectedSecretByName(BaseModel):
    name: str
    """What it is called."""

    value: str


class RepositoryToken(BaseModel):
    """A token of this execution alone, for the repository with this URL and for no other."""

    url: str
    token: str
    expires_at: Timestamp
    """Until when it is good."""


class ResolvePromptResponseContextAttachment(BaseModel):
    attachment_id: str
    """The attachment's id."""

    filename: str
    """The file's name."""

    download_url: str
    """A time-limited address; send no credential there."""

    mime_type: Optional[str] = None
    """The file's media type."""


class ResolvePromptResponseContextCheckpointFile(BaseModel):
    filename: str
    """The file's name."""

    download_url: str
    """A time-limited address; send no credential there."""

    mime_type: str
    """The file's media type."""

    size_bytes: int
    """The file's bytes."""


class ResolvePromptResponseContextCheckpoint(BaseModel):
    """The workspace as an earlier execution left it."""

    generation: str
    """The snapshot's name within its execution."""

    files: List[ResolvePromptResponseContextCheckpointFile]


class Followup(BaseModel):
    number: int
    """Counts a run's follow-ups, from 1."""

    message: str
    """What the agent is told."""

    policy: Union[FollowupPolicy, str]
    """What to do about the turn that is under way."""

    created_at: Timestamp
    """When it was made."""

    cancelled: Optional[bool] = None
    """True where the run was cancelled before the follow-up was taken up: it is recorded and not carried out."""


class ResolvePromptResponseContext(BaseModel):
    """All that the harness needs to begin."""

    run_id: str
    """The run's id."""

    execution_id: str
    """The execution that it was part of: one attempt to carry the run out."""

    conversation_id: str
    """The conversation that the run belongs to, or is to continue."""

    title: str
    """What the run is called; made from the prompt's first line where none was given."""

    mode: Union[RunMode, str]
    """`normal` works, `plan` only plans, `orchestrate` starts other runs."""

    agent_config: ResolvedAgentConfig
    """The configuration that the run has after all defaults."""

    setup_commands: Optional[List[str]] = None
    """What is run before the agent begins, in order."""

    mcp_servers: Optional[Dict[str, ResolvePromptResponseContextMcpServersValue]] = None
    """Tools for the agent: servers of the Model Context Protocol, by name."""

    secrets: Optional[List[InjectedSecretByName]] = None
    """Secrets that its runs may use, by name."""

    repository_tokens: Optional[List[RepositoryToken]] = None
    attachments: List[ResolvePromptResponseContextAttachment]
    """Files beside the prompt, at most 2.9 MiB in all once decoded; larger ones are uploaded first."""

    messages: List[Message]
    """What was said, in order."""

    own_messages: Optional[int] = None
    """How many of the messages, the last ones, are this run's own."""

    next_sequence: int
    """The number that the next message must have."""

    checkpoint: Optional[ResolvePromptResponseContextCheckpoint] = None
    """The workspace as an earlier execution left it."""

    followups: List[Followup]
    """What the agent was told since."""

    next_heartbeat_seconds: int
    """When to call again."""


class ResolvePromptResponse(BaseModel):
    prompt: str
    """The task, in words."""

    system_prompt: Optional[str] = None
    """What the agent is told before all else."""

    resumption_prompt: Optional[str] = None
    """What the agent is told where it goes on after an interruption."""

    context: Optional[ResolvePromptResponseContext] = None
    """All that the harness needs to begin."""


class HeartbeatResponse(BaseModel):
    followups: List[Followup]
    """What the agent was told since."""

    cancel: bool
    """True where the run was cancelled: end everything and say so."""

    next_heartbeat_seconds: int
    """When to call again."""


class MessagesResponse(BaseModel):
    next_sequence: int
    """The number that the next message must have."""


class ReportArtifactResponse(BaseModel):
    artifact_uid: str
    """The artifact's id."""

    upload: Optional[UploadTarget] = None
    """Where to upload the bytes; absent once they are there."""


class UploadSnapshotResponse(BaseModel):
    """Where to upload each file, in the order of the request."""

    uploads: List[UploadTarget]
    """Where to upload each file, in the order of the request."""


class CommitSnapshotResponse(BaseModel):
    generation: str
    """The snapshot's name within its execution."""


class ExternalConversationResponse(BaseModel):
    conversation_id: str
    """The conversation that the run belongs to, or is to continue."""


class RawTranscriptLocation(BaseModel):
    download_url: str
    """A time-limited address; send no credential there."""

    expires_at: Timestamp
    """Until when it is good."""
