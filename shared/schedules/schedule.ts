import * as v from "valibot";
import { keys, schedulesOfIdentity, shardOfSchedule, sortableTime } from "#shared/table/keys.ts";
import type { Item } from "#shared/table/table.ts";
import { ResolvedAgentConfig } from "#shared/wire/config.ts";
import { Metadata } from "#shared/wire/metadata.ts";
import { RunMode, UserProfile } from "#shared/wire/run.ts";
import { Overlap } from "#shared/wire/schedule.ts";

const Time = v.number();

const common = {
  schedule_id: v.string(),
  owner: v.object({ type: v.picklist(["Team", "User"]), uid: v.string() }),
  /** Moves with every change and every firing: the condition of each write is that nothing happened since the read. */
  revision: v.number(),
  /** Moves with what the timer has to know: cron, time zone, whether there is to be one at all. */
  plan: v.number(),
  /** Since when the timer may not be what the schedule says; null where it is. */
  pending_since: v.nullable(Time),
  name: v.string(),
  cron_schedule: v.string(),
  time_zone: v.string(),
  overlap: Overlap,
  /** Prompts over 32 KB lie in the bucket; this is then their beginning. */
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
  last_ran: v.nullable(Time),
  last_spawn_error: v.nullable(v.string()),
  /** Ids of its latest runs, newest first. */
  recent_runs: v.array(v.string()),
};

const Timing = v.variant("state", [
  /** `next_run` is the earliest planned firing that has no outcome yet. */
  v.object({ state: v.literal("active"), next_run: Time }),
  v.object({ state: v.literal("paused") }),
  /** Gone for everybody, and kept only until its timer is gone too. */
  v.object({ state: v.literal("deleted") }),
]);
const Schedule = v.object({ ...common, timing: Timing });
export type Schedule = v.InferOutput<typeof Schedule>;

/** The earliest planned firing without an outcome; undefined for a schedule that plans none. */
export const nextRunOf = ({ timing }: Schedule): number | undefined =>
  timing.state === "active" ? timing.next_run : undefined;

export const parseSchedule = (item: Item): Schedule => v.parse(Schedule, item);

/** A schedule as it lies in the table, with the keys of the indexes that it is in. */
export function toScheduleItem(schedule: Schedule): Item {
  const checkAt = schedule.pending_since ?? nextRunOf(schedule);
  const { schedule_id: id } = schedule;
  const identity = identityOf(schedule);
  return {
    ...keys.schedule(id),
    v: 1,
    ...schedule,
    ...(checkAt === undefined ? {} : { check_shard: shardOfSchedule(id), check_at: sortableTime(checkAt) }),
    ...(identity === undefined || schedule.timing.state === "deleted"
      ? {}
      : { group: schedulesOfIdentity(identity), updated_key: id }),
  };
}

/** The identity that carries out a schedule's runs: its agent, or its creator where that is one. */
export const identityOf = ({ agent_uid, created_by }: Pick<Schedule, "agent_uid" | "created_by">): string | undefined =>
  agent_uid ?? (created_by.type === "service_account" ? created_by.uid : undefined);

/** How many runs a schedule remembers by itself. */
const MAX_RECENT = 10;

/** The schedule with one more run. */
export function withRun(schedule: Schedule, runId: string, now: number): Schedule {
  const recent = [runId, ...schedule.recent_runs].slice(0, MAX_RECENT);
  return { ...schedule, last_ran: now, last_spawn_error: null, recent_runs: recent };
}
