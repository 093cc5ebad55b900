import * as v from "valibot";
import type { Item } from "#shared/table/table.ts";
import { ResolvedAgentConfig } from "#shared/wire/config.ts";
import { Scope } from "#shared/wire/keys/scope.ts";
import { Metadata } from "#shared/wire/metadata.ts";
import { RunMode, UserProfile } from "#shared/wire/run.ts";
import { Overlap } from "#shared/wire/schedule.ts";

const Time = v.number();

const common = {
  schedule_id: v.string(),
  owner: v.object({ type: v.picklist(["Team", "User"]), uid: v.string() }),
  /** Increases with every change and every firing: the condition of each write is that it is still as it was read. */
  revision: v.number(),
  /** Increases with every change of what the timer depends on: the cron, the time zone, whether the schedule is active. */
  plan: v.number(),
  /** Since when the timer may differ from the schedule; null where it matches. */
  pending_since: v.nullable(Time),
  name: v.string(),
  cron_schedule: v.string(),
  time_zone: v.string(),
  overlap: Overlap,
  /** The beginning of the prompt where it is over 32 KB and stored as a file. */
  prompt: v.string(),
  prompt_file: v.exactOptional(v.string()),
  agent_config: v.exactOptional(ResolvedAgentConfig),
  agent_uid: v.exactOptional(v.string()),
  mode: RunMode,
  metadata: v.exactOptional(Metadata),
  created_at: Time,
  updated_at: Time,
  created_by: UserProfile,
  updated_by: UserProfile,
  /** The scopes of the credentials that it was created and changed with; absent where they had all. */
  scopes: v.exactOptional(v.array(Scope)),
  last_ran: v.nullable(Time),
  last_spawn_error: v.nullable(v.string()),
  pause_after_failures: v.exactOptional(v.number()),
  /** Since when its runs have failed without one that has not. */
  failing_since: v.exactOptional(Time),
  /** When it was last resumed: earlier failures no longer count towards a pause. */
  failures_from: v.exactOptional(Time),
  /** Ids of its latest runs, newest first. */
  recent_runs: v.array(v.string()),
};

const Timing = v.variant("state", [
  /** `next_run` is the earliest planned firing that has no outcome yet. */
  v.object({ state: v.literal("active"), next_run: Time }),
  v.object({ state: v.literal("paused") }),
  /** Not visible any more, and kept only until its timer is removed. */
  v.object({ state: v.literal("deleted") }),
]);
const Schedule = v.object({ ...common, timing: Timing });
export type Schedule = v.InferOutput<typeof Schedule>;

/** The earliest planned firing without an outcome; undefined for a schedule that plans none. */
export const nextRunOf = ({ timing }: Schedule): number | undefined =>
  timing.state === "active" ? timing.next_run : undefined;

export const parseSchedule = (item: Item): Schedule => v.parse(Schedule, item);

/** The identity that executes a schedule's runs: its agent, or its creator where that is an identity. */
export const identityOf = ({ agent_uid, created_by }: Pick<Schedule, "agent_uid" | "created_by">): string | undefined =>
  agent_uid ?? (created_by.type === "service_account" ? created_by.uid : undefined);

/** Runs whose ids are stored with the schedule. */
const MAX_RECENT = 10;

/** Adds a run to a schedule. */
export function addRun(schedule: Schedule, runId: string, now: number): Schedule {
  const recent = [runId, ...schedule.recent_runs].slice(0, MAX_RECENT);
  return { ...schedule, last_ran: now, last_spawn_error: null, recent_runs: recent };
}
