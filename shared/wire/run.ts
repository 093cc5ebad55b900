import * as v from "valibot";
import { ArtifactItem } from "./artifact.ts";
import { AmbientAgentConfig, ResolvedAgentConfig, SkillSpec } from "./config.ts";
import { Approval } from "./execution/approval.ts";
import { PageInfo } from "./list.ts";
import { Metadata } from "./metadata.ts";
import { Count, Id, text, textOfBytes } from "./primitives.ts";
import { ReceiverUrl } from "./webhooks/receiver-url.ts";

const RUN_STATES = [
  "QUEUED",
  "PENDING",
  "CLAIMED",
  "INPROGRESS",
  "SUCCEEDED",
  "FAILED",
  "ERROR",
  "BLOCKED",
  "CANCELLED",
] as const;
/** The state of a run. `SUCCEEDED`, `FAILED`, `ERROR`, `BLOCKED` and `CANCELLED` are final until a follow-up. */
export const RunState = v.picklist(RUN_STATES);
export type RunState = v.InferOutput<typeof RunState>;

export const TASK_STATUSES = ["running", "failed", "blocked", "cancelled", "complete"] as const;
/**
 * The status of a task. `running`: the run or one of its descendants has not ended. The others are of the run itself: `failed`
 * (`FAILED`, `ERROR`), `blocked`, `cancelled`, `complete` (`SUCCEEDED`). A run may have two.
 */
export const TaskStatus = v.picklist(TASK_STATUSES);
export type TaskStatus = v.InferOutput<typeof TaskStatus>;

export const RUN_SOURCES = [
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
] as const;
/** The source of a run. */
export const RunSourceType = v.picklist(RUN_SOURCES);
export type RunSourceType = v.InferOutput<typeof RunSourceType>;

/** Where a run is executed: `REMOTE` in a sandbox or on a worker, `LOCAL` by its caller. */
export const ExecutionLocation = v.picklist(["REMOTE", "LOCAL"]);
/** The mode of a run: `normal` executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs. */
export const RunMode = v.picklist(["normal", "plan", "orchestrate"]);
export type RunMode = v.InferOutput<typeof RunMode>;

export const MimeType = v.pipe(
  textOfBytes(255, 1),
  v.regex(/^[\w.+-]+\/[\w.+-]+(\s*;\s*[\w.+-]+=[\w.+"-]+)*$/, "must be a media type such as text/plain"),
);
export const FileName = v.pipe(
  textOfBytes(255, 1),
  v.regex(/^(?!\.{1,2}$)[^/\\]+$/, "must be a file name without directories"),
);
const Base64 = v.pipe(v.string(), v.base64("must be base64"));

const Attachment = v.union(
  [v.object({ file_name: FileName, mime_type: MimeType, data: Base64 }), v.object({ attachment_id: Id })],
  "must have either file_name, mime_type and data, or attachment_id",
);

/** A new run. One of `prompt`, a skill and `conversation_id` is required. */
export const RunAgentRequest = v.object({
  prompt: v.exactOptional(textOfBytes(262_144)),
  title: v.exactOptional(text(512)),
  config: v.exactOptional(AmbientAgentConfig),
  skill: v.exactOptional(SkillSpec),
  team: v.exactOptional(v.boolean()),
  agent_identity_uid: v.exactOptional(Id),
  conversation_id: v.exactOptional(Id),
  parent_run_id: v.exactOptional(Id),
  attachments: v.exactOptional(v.pipe(v.array(Attachment), v.maxLength(5))),
  images: v.exactOptional(v.pipe(v.array(v.object({ data: Base64, mime_type: MimeType })), v.maxLength(5))),
  interactive: v.exactOptional(v.boolean()),
  mode: v.exactOptional(RunMode),
  metadata: v.exactOptional(Metadata),
  on_behalf_of: v.exactOptional(Id),
  execution_location: v.exactOptional(ExecutionLocation),
  notify_url: v.exactOptional(ReceiverUrl),
});
export type RunAgentRequest = v.InferOutput<typeof RunAgentRequest>;

/** A new run. */
export const RunAgentResponse = v.object({
  run_id: v.string(),
  task_id: v.string(),
  state: RunState,
  at_capacity: v.exactOptional(v.boolean()),
  run_key: v.exactOptional(v.string()),
  notify_secret: v.exactOptional(v.string()),
});
export type RunAgentResponse = v.InferOutput<typeof RunAgentResponse>;

/** What a dry run found out about a request. */
export const Finding = v.object({
  code: v.string(),
  severity: v.picklist(["error", "warning", "info"]),
  message: v.string(),
  remedy: v.string(),
});
export type Finding = v.InferOutput<typeof Finding>;

/** What the creation of a run would result in. Nothing is created. */
export const DryRunResponse = v.object({
  would_start: v.boolean(),
  findings: v.array(Finding),
  resolved_config: v.exactOptional(ResolvedAgentConfig),
  estimated_cost_usd: v.exactOptional(v.number()),
});
export type DryRunResponse = v.InferOutput<typeof DryRunResponse>;

/** What happens to the current turn: it ends first, it is interrupted, or the follow-up is refused. */
export const FollowupPolicy = v.picklist(["enqueue", "interrupt", "reject"]);
export type FollowupPolicy = v.InferOutput<typeof FollowupPolicy>;

/** The size limit of an uploaded attachment. */
export const UPLOAD_BYTES = 100 * 1024 * 1024;
/** The most attachments of one follow-up. */
export const FOLLOWUP_FILES = 25;

/** An uploaded file for the agent. */
const FollowupAttachment = v.object({ attachment_id: Id, file_name: v.exactOptional(FileName) });

/** A follow-up message for a run. */
export const RunFollowupRequest = v.object({
  message: v.exactOptional(textOfBytes(262_144)),
  attachments: v.exactOptional(v.pipe(v.array(FollowupAttachment), v.maxLength(FOLLOWUP_FILES))),
  mode: v.exactOptional(RunMode),
  policy: v.exactOptional(FollowupPolicy),
  approve: v.exactOptional(Id),
  deny: v.exactOptional(Id),
});
export type RunFollowupRequest = v.InferOutput<typeof RunFollowupRequest>;

/** The new message of a pending follow-up. */
export const UpdateFollowupRequest = v.object({ message: textOfBytes(262_144, 1) });

export const FOLLOWUP_OUTCOMES = ["queue_pending", "queued_prompt", "live_session", "handoff_execution"] as const;
/**
 * The outcome of a follow-up: it waits behind another one or for capacity, is delivered with the first turn, is delivered to the
 * running agent, or continues a run that had ended in a new execution.
 */
export const FollowupOutcome = v.picklist(FOLLOWUP_OUTCOMES);
export type FollowupOutcome = v.InferOutput<typeof FollowupOutcome>;

/** A stored follow-up. */
export const RunFollowupResponse = v.object({ followup_id: v.string(), run_id: v.string(), outcome: FollowupOutcome });

/** The reason for a run's final state. */
export const RunStatusMessage = v.object({
  message: v.string(),
  error_code: v.exactOptional(v.string()),
  retryable: v.exactOptional(v.boolean()),
});
export type RunStatusMessage = v.InferOutput<typeof RunStatusMessage>;

/** The interrupted run. */
export const InterruptRunResponse = v.object({ run_id: v.string() });

/** What a run waits for: the answer to the agent's question, an approval, or any follow-up. */
export const WaitingFor = v.picklist(["answer", "approval", "followup"]);
export type WaitingFor = v.InferOutput<typeof WaitingFor>;

/** A person or an identity. */
export const UserProfile = v.object({
  type: v.picklist(["user", "service_account"]),
  uid: v.string(),
  display_name: v.exactOptional(v.string()),
  email: v.exactOptional(v.string()),
  photo_url: v.exactOptional(v.string()),
});
export type UserProfile = v.InferOutput<typeof UserProfile>;

/** A follow-up as responses show it. */
export const FollowupItem = v.object({
  followup_id: v.string(),
  number: Count,
  message: v.string(),
  attachments: v.array(v.object({ attachment_id: v.string(), file_name: v.string() })),
  mode: v.exactOptional(RunMode),
  policy: FollowupPolicy,
  created_at: v.string(),
  created_by: v.exactOptional(UserProfile),
  state: v.picklist(["pending", "delivered", "removed"]),
});
export type FollowupItem = v.InferOutput<typeof FollowupItem>;

/** A page of follow-ups. */
export const ListFollowupsResponse = v.object({
  followups: v.array(FollowupItem),
  page_info: v.exactOptional(PageInfo),
});

/** The schedule that created a run, as it was at that time. */
export const RunSchedule = v.object({
  schedule_id: v.string(),
  schedule_name: v.string(),
  cron_schedule: v.string(),
});

/** The tokens that a run has used of one model. */
const ModelTokenUsage = v.object({
  model_id: v.string(),
  total_tokens: Count,
  usage_type: v.exactOptional(v.picklist(["byok", "custom_endpoint"])),
  tokens_by_category: v.exactOptional(v.record(v.string(), Count)),
});

/** What a run's model calls have used and cost. */
export const RequestUsage = v.object({
  inference_cost: v.exactOptional(v.number()),
  compute_cost: v.exactOptional(v.number()),
  platform_cost: v.exactOptional(v.number()),
  inference_cost_usd: v.exactOptional(v.number()),
  compute_cost_usd: v.exactOptional(v.number()),
  platform_cost_usd: v.exactOptional(v.number()),
  total_tokens: v.exactOptional(Count),
  input_tokens: v.exactOptional(Count),
  output_tokens: v.exactOptional(Count),
  cache_read_tokens: v.exactOptional(Count),
  cache_write_tokens: v.exactOptional(Count),
  model_token_usage: v.exactOptional(v.array(ModelTokenUsage)),
  tree: v.exactOptional(v.object({ cost_usd: v.number(), total_tokens: Count, runs: Count })),
});
export type RequestUsage = v.InferOutput<typeof RequestUsage>;

/** A run as responses show it. */
export const RunItem = v.object({
  run_id: v.string(),
  task_id: v.string(),
  root_run_id: v.string(),
  title: v.string(),
  state: RunState,
  prompt: v.string(),
  submitted_prompt: v.exactOptional(v.string()),
  created_at: v.string(),
  updated_at: v.string(),
  started_at: v.exactOptional(v.nullable(v.string())),
  finished_at: v.exactOptional(v.nullable(v.string())),
  status_message: v.exactOptional(RunStatusMessage),
  waiting_for: v.exactOptional(WaitingFor),
  approval: v.exactOptional(Approval),
  source: v.exactOptional(RunSourceType),
  execution_location: v.exactOptional(ExecutionLocation),
  schedule: v.exactOptional(RunSchedule),
  session_id: v.exactOptional(v.string()),
  session_link: v.exactOptional(v.string()),
  trigger_url: v.exactOptional(v.string()),
  creator: v.exactOptional(UserProfile),
  executor: v.exactOptional(UserProfile),
  request_usage: v.exactOptional(RequestUsage),
  agent_config: v.exactOptional(ResolvedAgentConfig),
  agent_skill: v.exactOptional(
    v.object({
      name: v.exactOptional(v.string()),
      description: v.exactOptional(v.string()),
      full_path: v.exactOptional(v.string()),
      bundled_skill_id: v.exactOptional(v.string()),
    }),
  ),
  conversation_id: v.exactOptional(v.string()),
  parent_run_id: v.exactOptional(v.string()),
  is_sandbox_running: v.exactOptional(v.boolean()),
  is_run_type_cancellable: v.exactOptional(v.boolean()),
  run_time: v.exactOptional(v.string()),
  metadata: v.exactOptional(Metadata),
  artifacts: v.exactOptional(v.array(ArtifactItem)),
  archived: v.exactOptional(v.boolean()),
  notify_secret: v.exactOptional(v.string()),
  pending_followups: v.exactOptional(Count),
  scope: v.exactOptional(v.object({ type: v.picklist(["User", "Team"]), uid: v.exactOptional(v.string()) })),
});
export type RunItem = v.InferOutput<typeof RunItem>;

/** A page of runs. */
export const ListRunsResponse = v.object({ runs: v.array(RunItem), page_info: PageInfo });
export type ListRunsResponse = v.InferOutput<typeof ListRunsResponse>;
