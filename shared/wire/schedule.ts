import * as v from "valibot";
import { AmbientAgentConfig, ResolvedAgentConfig } from "./config.ts";
import { EnvironmentConfig } from "./environment.ts";
import { PageInfo } from "./list.ts";
import { Metadata } from "./metadata.ts";
import { Id, Name, textOfBytes } from "./primitives.ts";
import { RunMode, RunState, UserProfile } from "./run.ts";

const OVERLAPS = ["allow", "skip", "cancel_previous"] as const;
/** What happens at a firing while an earlier run of the schedule has not ended. */
export const Overlap = v.picklist(OVERLAPS);
export type Overlap = v.InferOutput<typeof Overlap>;

/** What both bodies may say beside what they have to. */
const optional = {
  agent_config: v.exactOptional(AmbientAgentConfig),
  agent_uid: v.exactOptional(Id),
  mode: v.exactOptional(RunMode),
  metadata: v.exactOptional(Metadata),
  /** IANA name of the time zone that the cron is read in. */
  time_zone: v.exactOptional(textOfBytes(64, 1)),
  overlap: v.exactOptional(Overlap),
};
const prompt = v.exactOptional(textOfBytes(262_144));
const CronSchedule = textOfBytes(512, 1);

/** The body of POST /agent/schedules. `prompt` is required unless `agent_config` names a skill. */
export const CreateScheduleRequest = v.object({
  name: Name,
  cron_schedule: CronSchedule,
  prompt,
  enabled: v.exactOptional(v.boolean()),
  team: v.exactOptional(v.boolean()),
  ...optional,
});
export type CreateScheduleRequest = v.InferOutput<typeof CreateScheduleRequest>;

/** The body of PUT /agent/schedules/{id}. What is optional stays as it was where it is absent. */
export const UpdateScheduleRequest = v.object({
  name: Name,
  cron_schedule: CronSchedule,
  prompt,
  enabled: v.boolean(),
  ...optional,
});
export type UpdateScheduleRequest = v.InferOutput<typeof UpdateScheduleRequest>;

const RecentRun = v.object({ run_id: v.string(), state: RunState, created_at: v.string() });
export type RecentRun = v.InferOutput<typeof RecentRun>;

/** A schedule as answers show it. */
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
  /** What the environment that the configuration names is made of. */
  environment: v.exactOptional(EnvironmentConfig),
  agent_uid: v.exactOptional(v.string()),
  created_by: v.exactOptional(UserProfile),
  updated_by: v.exactOptional(UserProfile),
  last_spawn_error: v.nullable(v.string()),
  history: v.object({ last_ran: v.nullable(v.string()), next_run: v.nullable(v.string()) }),
  recent_runs: v.exactOptional(v.array(RecentRun)),
  scope: v.exactOptional(v.object({ type: v.picklist(["User", "Team"]), uid: v.exactOptional(v.string()) })),
  metadata: v.exactOptional(Metadata),
});
export type ScheduleItem = v.InferOutput<typeof ScheduleItem>;

export const ListSchedulesResponse = v.object({
  schedules: v.array(ScheduleItem),
  page_info: v.exactOptional(PageInfo),
});
export type ListSchedulesResponse = v.InferOutput<typeof ListSchedulesResponse>;

export const DeleteScheduleResponse = v.object({ success: v.literal(true) });

/** What became of a planned firing. */
export const TickOutcome = v.picklist(["fired", "skipped", "late", "failed"]);
export type TickOutcome = v.InferOutput<typeof TickOutcome>;

const TickItem = v.object({
  scheduled_at: v.string(),
  outcome: TickOutcome,
  /** When the outcome was written. */
  recorded_at: v.string(),
  run_id: v.exactOptional(v.string()),
  reason: v.exactOptional(v.string()),
});
export type TickItem = v.InferOutput<typeof TickItem>;

export const ListTicksResponse = v.object({ ticks: v.array(TickItem), page_info: v.exactOptional(PageInfo) });
export type ListTicksResponse = v.InferOutput<typeof ListTicksResponse>;
