import * as v from "valibot";
import { AmbientAgentConfig, ResolvedAgentConfig } from "./config.ts";
import { EnvironmentConfig } from "./environment.ts";
import { Scope } from "./keys/scope.ts";
import { FailureLimit } from "./limits/failure-limit.ts";
import { PageInfo } from "./list.ts";
import { Metadata } from "./metadata.ts";
import { Count, Id, Name, textOfBytes } from "./primitives.ts";
import { RunMode, RunState, UserProfile } from "./run.ts";

const OVERLAPS = ["allow", "skip", "cancel_previous"] as const;
/** What happens if an earlier run of the schedule is still active at a firing. */
export const Overlap = v.picklist(OVERLAPS);
export type Overlap = v.InferOutput<typeof Overlap>;

/** The optional members of both requests. */
const optionalMembers = {
  /** The configuration of each run, before the defaults of the identity, the environment and the team. */
  agent_config: v.exactOptional(AmbientAgentConfig),
  /** The identity that executes the runs. For team schedules only. */
  agent_uid: v.exactOptional(Id),
  /** `normal` (default) executes the task, `plan` only creates a plan, `orchestrate` delegates to child runs. */
  mode: v.exactOptional(RunMode),
  /** The labels of each run: at most 20 keys, with values of at most 256 bytes. */
  metadata: v.exactOptional(Metadata),
  /** The IANA time zone of the cron expression. Defaults to `UTC`. */
  time_zone: v.exactOptional(textOfBytes(64, 1)),
  /** What to do if an earlier run is still active: `allow` (default), `skip` the firing, or `cancel_previous`. */
  overlap: v.exactOptional(Overlap),
  /**
   * The number of consecutive failed runs after which the schedule pauses itself, at most 10. By default it never does. 0
   * clears the limit.
   */
  pause_after_failures: v.exactOptional(FailureLimit),
};
const prompt = v.exactOptional(textOfBytes(262_144));
const CronSchedule = textOfBytes(512, 1);

/** A new schedule. `prompt` is required unless `agent_config` names a skill. */
export const CreateScheduleRequest = v.object({
  /** The schedule's name. */
  name: Name,
  /** A cron expression with five fields, or a nickname such as `@daily`. */
  cron_schedule: CronSchedule,
  /** The task of each run. Required unless `agent_config` names a skill. */
  prompt,
  /** Whether the schedule fires. Defaults to true. */
  enabled: v.exactOptional(v.boolean()),
  /** Whether the team owns the schedule. Defaults to true if the caller has a team; agent keys cannot set it to false. */
  team: v.exactOptional(v.boolean()),
  ...optionalMembers,
});
export type CreateScheduleRequest = v.InferOutput<typeof CreateScheduleRequest>;

/** The new content of a schedule. Optional members that are absent keep their values. */
export const UpdateScheduleRequest = v.object({
  /** The schedule's name. */
  name: Name,
  /** A cron expression with five fields, or a nickname such as `@daily`. */
  cron_schedule: CronSchedule,
  /** The task of each run. Required unless `agent_config` names a skill. */
  prompt,
  /** Whether the schedule fires. */
  enabled: v.boolean(),
  ...optionalMembers,
});
export type UpdateScheduleRequest = v.InferOutput<typeof UpdateScheduleRequest>;

/** One of the latest runs of a schedule or a trigger. */
export const RecentRun = v.object({
  /** The run's id. */
  run_id: v.string(),
  /** The run's current state. */
  state: RunState,
  /** The time of creation. @format date-time */
  created_at: v.string(),
});
export type RecentRun = v.InferOutput<typeof RecentRun>;

/** A schedule as responses show it. */
export const ScheduleItem = v.object({
  /** The schedule's id. */
  id: v.string(),
  /** The schedule's name. */
  name: v.string(),
  /** A cron expression with five fields, or a nickname such as `@daily`. */
  cron_schedule: v.string(),
  /** The IANA time zone of the cron expression. */
  time_zone: v.string(),
  /** What to do if an earlier run is still active: `allow`, `skip` the firing, or `cancel_previous`. */
  overlap: Overlap,
  /** Whether the schedule fires. False while it is paused. */
  enabled: v.boolean(),
  /** The task of each run. */
  prompt: v.string(),
  /** The mode of each run. */
  mode: RunMode,
  /** The time of creation. @format date-time */
  created_at: v.string(),
  /** The time of the latest change. @format date-time */
  updated_at: v.string(),
  /** The configuration of each run, before the defaults of the identity, the environment and the team. */
  agent_config: v.exactOptional(ResolvedAgentConfig),
  /** The environment that `agent_config` names. */
  environment: v.exactOptional(EnvironmentConfig),
  /** The identity that executes the runs. */
  agent_uid: v.exactOptional(v.string()),
  /** The person or identity that created the schedule. */
  created_by: v.exactOptional(UserProfile),
  /** The person or identity that changed the schedule last. */
  updated_by: v.exactOptional(UserProfile),
  /** The number of consecutive failed runs after which the schedule pauses itself. Absent if it never does. */
  pause_after_failures: v.exactOptional(Count),
  /**
   * The creation time of the first of the consecutive failed runs. Absent if the latest run that has ended did not
   * fail. @format date-time
   */
  failing_since: v.exactOptional(v.string()),
  /** Why the latest firing created no run. Null if it succeeded. */
  last_spawn_error: v.nullable(v.string()),
  /** Why the token of one of the runs' secrets can no longer be renewed, and what to do. Absent if there is no problem, and in lists. */
  secret_error: v.exactOptional(v.string()),
  /** Why there is no model for the runs at the moment, so that none is created. Absent if there is one. */
  model_error: v.exactOptional(v.string()),
  /** The latest and the next firing. */
  history: v.object({
    /** The time of the latest firing. Null before the first. @format date-time */
    last_ran: v.nullable(v.string()),
    /** The time of the next firing. Null while the schedule is paused. @format date-time */
    next_run: v.nullable(v.string()),
  }),
  /** The latest runs, at most 10, newest first. Present for a single schedule only. */
  recent_runs: v.exactOptional(v.array(RecentRun)),
  /** The owner. */
  scope: v.exactOptional(
    v.object({
      /** `Team` for a team's resource, `User` for a personal one. */
      type: v.picklist(["User", "Team"]),
      /** The id of the team or the person. */
      uid: v.exactOptional(v.string()),
    }),
  ),
  /** The labels of each run. */
  metadata: v.exactOptional(Metadata),
  /**
   * What the runs may use their keys for: at most the scopes of the keys that created and changed the schedule. Absent
   * if that is not limited.
   */
  scopes: v.exactOptional(v.array(Scope)),
});
export type ScheduleItem = v.InferOutput<typeof ScheduleItem>;

/** A page of schedules. */
export const ListSchedulesResponse = v.object({
  /** The schedules, sorted by name. */
  schedules: v.array(ScheduleItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
export type ListSchedulesResponse = v.InferOutput<typeof ListSchedulesResponse>;

/** The result of deleting a schedule. */
export const DeleteScheduleResponse = v.object({
  /** Always true. */
  success: v.literal(true),
});

/**
 * The outcome of a planned firing: a run was created (`fired`), the firing was skipped, it came too late, or it failed.
 */
export const TickOutcome = v.picklist(["fired", "skipped", "late", "failed"]);
export type TickOutcome = v.InferOutput<typeof TickOutcome>;

const TickItem = v.object({
  /** The planned time. @format date-time */
  scheduled_at: v.string(),
  /** The outcome of the firing. */
  outcome: TickOutcome,
  /** The time when the outcome was recorded. @format date-time */
  recorded_at: v.string(),
  /** The id of the created run. Present if the firing created one. */
  run_id: v.exactOptional(v.string()),
  /** Why the firing created no run in time. Absent for `fired`. */
  reason: v.exactOptional(v.string()),
});
export type TickItem = v.InferOutput<typeof TickItem>;

/** A page of planned firings. */
export const ListTicksResponse = v.object({
  /** The planned firings, newest first. */
  ticks: v.array(TickItem),
  /** The position of the page in the list. */
  page_info: v.exactOptional(PageInfo),
});
export type ListTicksResponse = v.InferOutput<typeof ListTicksResponse>;
