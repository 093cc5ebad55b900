import * as v from "valibot";
import { AmbientAgentConfig, ResolvedAgentConfig } from "./config.ts";
import { EnvironmentConfig } from "./environment.ts";
import { Scope } from "./keys/scope.ts";
import { FailureLimitChange } from "./limits/failure-limit.ts";
import { PageInfo } from "./list.ts";
import { Metadata } from "./metadata.ts";
import { Count, Id, Name, textOfBytes } from "./primitives.ts";
import { RunMode, RunState, UserProfile } from "./run.ts";

const OVERLAPS = ["allow", "skip", "cancel_previous"] as const;
/** What happens if an earlier run of the schedule is still active at a firing. */
export const Overlap = v.picklist(OVERLAPS);
export type Overlap = v.InferOutput<typeof Overlap>;

/** The optional members of both requests. */
const optional = {
  agent_config: v.exactOptional(AmbientAgentConfig),
  agent_uid: v.exactOptional(Id),
  mode: v.exactOptional(RunMode),
  metadata: v.exactOptional(Metadata),
  /** The IANA time zone of the cron expression. */
  time_zone: v.exactOptional(textOfBytes(64, 1)),
  overlap: v.exactOptional(Overlap),
  /** The number of runs that fail in a row after which the schedule pauses itself; 0 for none. */
  pause_after_failures: v.exactOptional(FailureLimitChange),
};
const prompt = v.exactOptional(textOfBytes(262_144));
const CronSchedule = textOfBytes(512, 1);

/** A new schedule. `prompt` is required unless `agent_config` names a skill. */
export const CreateScheduleRequest = v.object({
  name: Name,
  cron_schedule: CronSchedule,
  prompt,
  enabled: v.exactOptional(v.boolean()),
  team: v.exactOptional(v.boolean()),
  ...optional,
});
export type CreateScheduleRequest = v.InferOutput<typeof CreateScheduleRequest>;

/** The new content of a schedule. Optional members that are absent keep their values. */
export const UpdateScheduleRequest = v.object({
  name: Name,
  cron_schedule: CronSchedule,
  prompt,
  enabled: v.boolean(),
  ...optional,
});
export type UpdateScheduleRequest = v.InferOutput<typeof UpdateScheduleRequest>;

/** One of the latest runs of a schedule or a trigger. */
export const RecentRun = v.object({ run_id: v.string(), state: RunState, created_at: v.string() });
export type RecentRun = v.InferOutput<typeof RecentRun>;

/** A schedule as responses show it. */
export const ScheduleItem = v.object({
  id: v.string(),
  name: v.string(),
  cron_schedule: v.string(),
  time_zone: v.string(),
  overlap: Overlap,
  enabled: v.boolean(),
  prompt: v.string(),
  mode: RunMode,
  created_at: v.string(),
  updated_at: v.string(),
  agent_config: v.exactOptional(ResolvedAgentConfig),
  /** The environment that `agent_config` names. */
  environment: v.exactOptional(EnvironmentConfig),
  agent_uid: v.exactOptional(v.string()),
  created_by: v.exactOptional(UserProfile),
  updated_by: v.exactOptional(UserProfile),
  pause_after_failures: v.exactOptional(Count),
  /** Since when its runs have failed without one that has not. Absent where its latest run that has ended did not fail. */
  failing_since: v.exactOptional(v.string()),
  last_spawn_error: v.nullable(v.string()),
  /** Why its runs have no model at the moment, so that they are not created. Absent if they have one. */
  model_error: v.exactOptional(v.string()),
  history: v.object({ last_ran: v.nullable(v.string()), next_run: v.nullable(v.string()) }),
  recent_runs: v.exactOptional(v.array(RecentRun)),
  scope: v.exactOptional(v.object({ type: v.picklist(["User", "Team"]), uid: v.exactOptional(v.string()) })),
  metadata: v.exactOptional(Metadata),
  /** The scopes that the keys of its runs have at most: those of the keys that it was created and changed with. Absent for all. */
  scopes: v.exactOptional(v.array(Scope)),
});
export type ScheduleItem = v.InferOutput<typeof ScheduleItem>;

/** A page of schedules. */
export const ListSchedulesResponse = v.object({
  schedules: v.array(ScheduleItem),
  page_info: v.exactOptional(PageInfo),
});
export type ListSchedulesResponse = v.InferOutput<typeof ListSchedulesResponse>;

/** The result of deleting a schedule. */
export const DeleteScheduleResponse = v.object({ success: v.literal(true) });

/**
 * The outcome of a planned firing: a run was created (`fired`), the firing was skipped, it came too late, or it failed.
 */
export const TickOutcome = v.picklist(["fired", "skipped", "late", "failed"]);
export type TickOutcome = v.InferOutput<typeof TickOutcome>;

const TickItem = v.object({
  scheduled_at: v.string(),
  outcome: TickOutcome,
  /** The time when the outcome was recorded. */
  recorded_at: v.string(),
  run_id: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
});
export type TickItem = v.InferOutput<typeof TickItem>;

/** A page of planned firings. */
export const ListTicksResponse = v.object({ ticks: v.array(TickItem), page_info: v.exactOptional(PageInfo) });
export type ListTicksResponse = v.InferOutput<typeof ListTicksResponse>;
