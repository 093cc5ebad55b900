import * as v from "valibot";
import { AmbientAgentConfig, ResolvedAgentConfig, SkillSpec } from "../config.ts";
import { Metadata } from "../metadata.ts";
import { Id, text, textOfBytes } from "../primitives.ts";
import { ExecutionLocation, FileName, MimeType, RunMode, RunState } from "../run.ts";
import { ReceiverUrl } from "../webhooks/receiver-url.ts";

const Base64 = v.pipe(v.string(), v.base64("must be base64"));

const Attachment = v.union(
  [
    v.object({
      /** The file's name, without directories. */
      file_name: FileName,
      /** The file's media type. */
      mime_type: MimeType,
      /** The file's content in base64. */
      data: Base64,
    }),
    v.object({
      /** The id of an uploaded attachment. */
      attachment_id: Id,
    }),
  ],
  "must have either file_name, mime_type and data, or attachment_id",
);

/** A new run. One of `prompt`, a skill and `conversation_id` is required. */
export const RunAgentRequest = v.object({
  /** The task of the run. Required unless the request has a skill or a `conversation_id`. */
  prompt: v.exactOptional(textOfBytes(262_144)),
  /** The run's title, at most 512 characters. Defaults to the first line of the prompt. */
  title: v.exactOptional(text(512)),
  /** The configuration of the agent. */
  config: v.exactOptional(AmbientAgentConfig),
  /** The skill to start from. Overrides `config.skill_spec`. */
  skill: v.exactOptional(SkillSpec),
  /**
   * Whether the team owns the run. Defaults to the owner of `conversation_id` if that is given, and otherwise to true if
   * the caller has a team; agent keys cannot set it to false.
   */
  team: v.exactOptional(v.boolean()),
  /** The identity that executes the run. For team runs only. */
  agent_identity_uid: v.exactOptional(Id),
  /**
   * The conversation to continue. All of its runs have one owner. If its latest run has not ended, the response is
   * 409.
   */
  conversation_id: v.exactOptional(Id),
  /** The id of the parent run. The depth of a run tree is at most 10. */
  parent_run_id: v.exactOptional(Id),
  /**
   * At most 5 files. Inline files can have 2.9 MiB in total after decoding; upload larger ones with `POST
   * /agent/attachments`.
   */
  attachments: v.exactOptional(v.pipe(v.array(Attachment), v.maxLength(5))),
  /** An older form of `attachments`, for images. */
  images: v.exactOptional(
    v.pipe(
      v.array(
        v.object({
          /** The file's content in base64. */
          data: Base64,
          /** The file's media type. */
          mime_type: MimeType,
        }),
      ),
      v.maxLength(5),
    ),
  ),
  /** Whether the run waits for a follow-up after each turn, for `idle_timeout_minutes`. Defaults to false. */
  interactive: v.exactOptional(v.boolean()),
  /** `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs. */
  mode: v.exactOptional(RunMode),
  /** Labels to find the run by: at most 20 keys, with values of at most 256 bytes. */
  metadata: v.exactOptional(Metadata),
  /**
   * The uid or email address of the member to act for. Requires an agent key whose identity has
   * `on_behalf_of_enabled`.
   */
  on_behalf_of: v.exactOptional(Id),
  /**
   * `REMOTE` (default) executes the run in a sandbox of the service or on a worker; `LOCAL` leaves it to the caller.
   */
  execution_location: v.exactOptional(ExecutionLocation),
  /**
   * Where each event that ends the run is sent, as webhooks get it; also its later ends, after follow-ups. Child
   * runs do not inherit it, a run's key cannot set it, and no response shows it.
   */
  notify_url: v.exactOptional(ReceiverUrl),
});
export type RunAgentRequest = v.InferOutput<typeof RunAgentRequest>;

/** A new run. */
export const RunAgentResponse = v.object({
  /** The run's id. */
  run_id: v.string(),
  /** The same value as `run_id`, for older clients. */
  task_id: v.string(),
  /** The run's current state; `QUEUED` for a new run. */
  state: RunState,
  /** True if the run waits because its team has reached its `concurrency_limit`. */
  at_capacity: v.exactOptional(v.boolean()),
  /** The run's API key, returned once. Present for `LOCAL` runs only. */
  run_key: v.exactOptional(v.string()),
  /**
   * The secret that signs what the run's `notify_url` receives. Only in the response that creates the run, and in
   * its repeats.
   */
  notify_secret: v.exactOptional(v.string()),
});
export type RunAgentResponse = v.InferOutput<typeof RunAgentResponse>;

/** What a dry run found out about a request. */
export const Finding = v.object({
  /** The `error_code` that the request would be refused with, or the name of another finding. */
  code: v.string(),
  /** `error` refuses the run, `warning` delays it or lets it fail, `info` has no effect on its outcome. */
  severity: v.picklist(["error", "warning", "info"]),
  /** What was found, with the member of the request that it is about. */
  message: v.string(),
  /** What to do about it. */
  remedy: v.string(),
});
export type Finding = v.InferOutput<typeof Finding>;

/** What the creation of a run would result in. Nothing is created. */
export const DryRunResponse = v.object({
  /** Whether the run would be created: there is no finding of severity `error`. */
  would_start: v.boolean(),
  /** What to know before the run is created: errors first, in the order of the checks. */
  findings: v.array(Finding),
  /** The configuration that the run would have, with all defaults applied. Absent if the request would be refused. */
  resolved_config: v.exactOptional(ResolvedAgentConfig),
  /** The maximum cost of the run's model calls in US dollars: its own `budget_usd`. Absent for a run without one. */
  estimated_cost_usd: v.exactOptional(v.number()),
});
export type DryRunResponse = v.InferOutput<typeof DryRunResponse>;
