import * as v from "valibot";
import { ArtifactItem } from "./artifact.ts";
import { ResolvedAgentConfig } from "./config.ts";
import { Approval } from "./executions/approval.ts";
import { PageInfo } from "./list.ts";
import { Metadata } from "./metadata.ts";
import { Count, textOfBytes } from "./primitives.ts";

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

/** The reason for a run's final state. */
export const RunStatusMessage = v.object({
  /** One sentence of at most 1,024 characters, without secrets. */
  message: v.string(),
  /** The error code, if the run failed. */
  error_code: v.exactOptional(v.string()),
  /** Whether the same run may succeed later. */
  retryable: v.exactOptional(v.boolean()),
});
export type RunStatusMessage = v.InferOutput<typeof RunStatusMessage>;

/** The interrupted run. */
export const InterruptRunResponse = v.object({
  /** The run's id. */
  run_id: v.string(),
});

/** What a run waits for: the answer to the agent's question, an approval, or any follow-up. */
export const WaitingFor = v.picklist(["answer", "approval", "followup"]);
export type WaitingFor = v.InferOutput<typeof WaitingFor>;

/** A person or an identity. */
export const UserProfile = v.object({
  /** `user` for a person, `service_account` for an identity. */
  type: v.picklist(["user", "service_account"]),
  /** The id of the person or identity. */
  uid: v.string(),
  /** The display name. */
  display_name: v.exactOptional(v.string()),
  /** The person's email address. */
  email: v.exactOptional(v.string()),
  /** The URL of the person's picture. */
  photo_url: v.exactOptional(v.string()),
});
export type UserProfile = v.InferOutput<typeof UserProfile>;

/** The schedule that created a run, as it was at that time. */
export const RunSchedule = v.object({
  /** The schedule's id. */
  schedule_id: v.string(),
  /** The schedule's name at the time of the firing. */
  schedule_name: v.string(),
  /** A cron expression with five fields, or a nickname such as `@daily`. */
  cron_schedule: v.string(),
});

/** The tokens that a run has used of one model. */
const ModelTokenUsage = v.object({
  /** The model's id. */
  model_id: v.string(),
  /** The number of input and output tokens of this model. */
  total_tokens: Count,
  /**
   * `byok` for a key of the team or the run, `custom_endpoint` for a compatible server. Absent for the key of the
   * deployment.
   */
  usage_type: v.exactOptional(v.picklist(["byok", "custom_endpoint"])),
  /** The tokens by category. Each token is in one: `input` was neither read from nor written to a cache. */
  tokens_by_category: v.exactOptional(v.record(v.string(), Count)),
});

/** What a run's model calls have used and cost. */
export const RequestUsage = v.object({
  /** The cost of model calls, in US dollars. */
  inference_cost: v.exactOptional(v.number()),
  /** The estimated cost of the run's sandboxes, in US dollars. */
  compute_cost: v.exactOptional(v.number()),
  /** The platform fee, in US dollars. */
  platform_cost: v.exactOptional(v.number()),
  /** The cost of model calls, in US dollars; the same as `inference_cost`. */
  inference_cost_usd: v.exactOptional(v.number()),
  /**
   * The estimated cost of the run's sandboxes, in US dollars, by their time and size; the same as `compute_cost`. Absent
   * if unknown, such as for self-hosted workers. Budgets do not count it.
   */
  compute_cost_usd: v.exactOptional(v.number()),
  /** The platform fee, in US dollars. Absent where there is none. */
  platform_cost_usd: v.exactOptional(v.number()),
  /** The number of input and output tokens of all models. */
  total_tokens: v.exactOptional(Count),
  /** The number of input tokens, including those read from or written to a cache. */
  input_tokens: v.exactOptional(Count),
  /** The number of output tokens. */
  output_tokens: v.exactOptional(Count),
  /** The number of input tokens read from the cache of a provider. */
  cache_read_tokens: v.exactOptional(Count),
  /** The number of input tokens written to the cache of a provider. */
  cache_write_tokens: v.exactOptional(Count),
  /** The tokens of each model. Calls before the upgrade to the release that counts them are not included. */
  model_token_usage: v.exactOptional(v.array(ModelTokenUsage)),
  /** The usage of the run and of all its descendants. Only in the response for a single run. */
  tree: v.exactOptional(
    v.object({
      /** The cost of their model calls and their compute, in US dollars. */
      cost_usd: v.number(),
      /** The number of their input and output tokens. */
      total_tokens: Count,
      /** The number of runs, this one included. */
      runs: Count,
    }),
  ),
});
export type RequestUsage = v.InferOutput<typeof RequestUsage>;

/** A run as responses show it. */
export const RunItem = v.object({
  /** The run's id. */
  run_id: v.string(),
  /** The same value as `run_id`, for older clients. */
  task_id: v.string(),
  /** The root of the run's tree: the run itself, unless it is a child run. */
  root_run_id: v.string(),
  /** The run's title. */
  title: v.string(),
  /** The run's current state. */
  state: RunState,
  /** The task of the run. Lists truncate it to 1,000 characters. */
  prompt: v.string(),
  /**
   * The prompt, with the follow-ups that were sent before the run started, separated by blank lines. Lists truncate
   * it to 1,000 characters.
   */
  submitted_prompt: v.exactOptional(v.string()),
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time of the latest change of the state, the follow-ups or the artifacts. @format date-time */
  updated_at: v.string(),
  /** The start time. Null before the run has started. @format date-time */
  started_at: v.exactOptional(v.nullable(v.string())),
  /** The end time. Null before the run has ended. @format date-time */
  finished_at: v.exactOptional(v.nullable(v.string())),
  /**
   * The reason for the run's final state. For `BLOCKED`, the agent's question. For `CANCELLED`, who cancelled the
   * run.
   */
  status_message: v.exactOptional(RunStatusMessage),
  /** What a `BLOCKED` run waits for: the `answer` to the agent's question, an `approval`, or any `followup`. */
  waiting_for: v.exactOptional(WaitingFor),
  /** The call that the run waits for, if `waiting_for` is `approval`. */
  approval: v.exactOptional(Approval),
  /** The source of the run. */
  source: v.exactOptional(RunSourceType),
  /** Where the run is executed: `REMOTE` in a sandbox of the service or on a worker, `LOCAL` by its caller. */
  execution_location: v.exactOptional(ExecutionLocation),
  /** The schedule that created the run. Absent for other runs. */
  schedule: v.exactOptional(RunSchedule),
  /** The id of the run's session. */
  session_id: v.exactOptional(v.string()),
  /** The URL of the run's page in the web app. Absent if the deployment has no web app. */
  session_link: v.exactOptional(v.string()),
  /** The URL of the event that triggered the run. Set by integrations. */
  trigger_url: v.exactOptional(v.string()),
  /** The person or identity that created the run. */
  creator: v.exactOptional(UserProfile),
  /** The person or identity that the run acts as. */
  executor: v.exactOptional(UserProfile),
  /** The run's usage so far. */
  request_usage: v.exactOptional(RequestUsage),
  /** The resolved configuration, with all defaults applied. */
  agent_config: v.exactOptional(ResolvedAgentConfig),
  /** The skill that the run started from. */
  agent_skill: v.exactOptional(
    v.object({
      /** The skill's name. */
      name: v.exactOptional(v.string()),
      /** The skill's description of itself. */
      description: v.exactOptional(v.string()),
      /** The path of the skill's file in its repository. */
      full_path: v.exactOptional(v.string()),
      /** The skill's id, if the service provides it. */
      bundled_skill_id: v.exactOptional(v.string()),
    }),
  ),
  /** The conversation's id. */
  conversation_id: v.exactOptional(v.string()),
  /** The id of the parent run. Absent for the root of a run tree. */
  parent_run_id: v.exactOptional(v.string()),
  /** Whether a sandbox is executing the run. */
  is_sandbox_running: v.exactOptional(v.boolean()),
  /** Whether the run can be cancelled without `force`. False for runs of self-hosted workers and `LOCAL` runs. */
  is_run_type_cancellable: v.exactOptional(v.boolean()),
  /** The total execution time, as an ISO 8601 duration. */
  run_time: v.exactOptional(v.string()),
  /** The run's labels. */
  metadata: v.exactOptional(Metadata),
  /** The run's artifacts, oldest first. */
  artifacts: v.exactOptional(v.array(ArtifactItem)),
  /** Whether the list of runs leaves the run out unless the filter `archived` asks for it. */
  archived: v.exactOptional(v.boolean()),
  /**
   * The secret that signs what the run's `notify_url` receives. Only in the response that creates the run, and in
   * its repeats.
   */
  notify_secret: v.exactOptional(v.string()),
  /** The number of follow-ups that the agent has not stored yet. */
  pending_followups: v.exactOptional(Count),
  /** The owner. */
  scope: v.exactOptional(
    v.object({
      /** `Team` for a team's resource, `User` for a personal one. */
      type: v.picklist(["User", "Team"]),
      /** The id of the team or the person. */
      uid: v.exactOptional(v.string()),
    }),
  ),
});
export type RunItem = v.InferOutput<typeof RunItem>;

/** A page of runs. */
export const ListRunsResponse = v.object({
  /** One page of runs. */
  runs: v.array(RunItem),
  /** The position of the page in the list. */
  page_info: PageInfo,
});
export type ListRunsResponse = v.InferOutput<typeof ListRunsResponse>;
