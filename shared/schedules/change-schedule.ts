import { invalid } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { logLine } from "#shared/log/log.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { toCreator } from "#shared/principals/resolve-owner.ts";
import { ConditionFailed, type Put } from "#shared/table/table.ts";
import { TimerRefused } from "#shared/timers/scheduler.ts";
import type { UpdateScheduleRequest } from "#shared/wire/schedule.ts";
import { checkRunOf, environmentOfSchedule, keepSecrets, workerOf } from "./agent.ts";
import { firstFiring } from "./create-schedule.ts";
import { timetableOf } from "./cron.ts";
import type { SchedulePorts } from "./ports.ts";
import { caller, visibleSchedule } from "./read-schedule.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";
import { attempting } from "./schedule-store.ts";
import { storePrompt } from "./stored-prompt.ts";
import { syncTimer } from "./sync-timer.ts";
import { putTick } from "./tick.ts";

/** Planned firings under way that a change can cut off; a cron fires once a minute at most. */
const MAX_UNDER_WAY = 20;

/** Replaces what a schedule says; what the request leaves out stays as it was. */
export async function updateSchedule(
  id: string,
  request: UpdateScheduleRequest,
  principal: Principal,
  ports: SchedulePorts,
): Promise<Schedule> {
  return changing(id, principal, ports, async (before) => {
    const { name, cron_schedule, enabled, prompt, ...given } = request;
    const time_zone = given.time_zone ?? before.time_zone;
    const next = firstFiring(cron_schedule, time_zone, ports.now());
    const config = given.agent_config;
    const agent_config = config === undefined ? before.agent_config : keepSecrets(config, before.agent_config);
    checkRunOf({
      ...(prompt === undefined ? {} : { prompt }),
      ...(agent_config === undefined ? {} : { config: agent_config }),
    });
    if (given.agent_uid !== undefined) await workerOf({ ...before, agent_uid: given.agent_uid }, ports.table);
    if (config !== undefined) await environmentOfSchedule(before, config, ports.table);
    const { prompt_file: _, ...kept } = before;
    const stored = prompt === undefined ? before : await storePrompt(id, prompt, ports.files);
    const after = {
      ...kept,
      ...given,
      name,
      cron_schedule,
      time_zone,
      prompt: stored.prompt,
      ...(stored.prompt_file === undefined ? {} : { prompt_file: stored.prompt_file }),
      ...(agent_config === undefined ? {} : { agent_config }),
    };
    const same = before.cron_schedule === cron_schedule && before.time_zone === time_zone;
    // A firing that is under way stays planned where nothing changes about when.
    const next_run = (same ? nextRunOf(before) : undefined) ?? next;
    return { ...after, timing: enabled ? { state: "active", next_run } : { state: "paused" } };
  });
}

interface Enabled {
  readonly schedule: Schedule;
  /** True where an earlier request had done it. */
  readonly replayed: boolean;
}

/** Pauses a schedule, or lets it go on; where it is so already, nothing happens. */
export async function setEnabled(
  id: string,
  enabled: boolean,
  { principal, once }: { readonly principal: Principal; readonly once: IdempotentRequest },
  ports: SchedulePorts,
): Promise<Enabled> {
  const change: Changed = async (before) => {
    if ((before.timing.state === "active") === enabled) return before;
    if (!enabled) return { ...before, timing: { state: "paused" } };
    const next_run = firstFiring(before.cron_schedule, before.time_zone, ports.now());
    return { ...before, timing: { state: "active", next_run } };
  };
  return runIdempotent<Enabled>(
    ports.table,
    once,
    ports.now,
    async (record) => ({ schedule: await changing(id, principal, ports, change, [record(id)]), replayed: false }),
    async () => ({ schedule: await visibleSchedule(id, principal, ports), replayed: true }),
  );
}

type Changed = (before: Schedule) => Promise<Schedule>;

/** `also` is a request's idempotency record, if it has one; IdempotencyRecordExists tells that it is there already. */
async function changing(
  id: string,
  principal: Principal,
  ports: SchedulePorts,
  changed: Changed,
  also: readonly Put[] = [],
): Promise<Schedule> {
  const by = toCreator(caller(principal));
  try {
    return await attempting(async () => {
      const before = await visibleSchedule(id, principal, ports);
      const after = await changed(before);
      if (after !== before) return write(before, { ...after, updated_at: ports.now(), updated_by: by }, ports, also);
      for (const record of also) await ports.table.write(record);
      return before;
    });
  } catch (error) {
    throw error instanceof ConditionFailed ? new IdempotencyRecordExists() : error;
  }
}

/** Writes a change and, where it is about when the schedule fires, sets the timer. */
async function write(before: Schedule, after: Schedule, ports: SchedulePorts, also: readonly Put[]): Promise<Schedule> {
  const now = ports.now();
  const isReplanned =
    before.timing.state !== after.timing.state ||
    before.cron_schedule !== after.cron_schedule ||
    before.time_zone !== after.time_zone;
  if (!isReplanned) {
    await ports.schedules.change(before, after, also);
    return after;
  }
  const planned = { ...after, plan: before.plan + 1, pending_since: now };
  await ports.schedules.change(before, planned, also, cutOff(before, now));
  try {
    await syncTimer(planned, ports);
  } catch (error) {
    if (error instanceof TimerRefused && planned.timing.state === "active") {
      await takeBack(before, ports);
      throw invalid("cron_schedule", "cannot be kept by the scheduler");
    }
    // The table has the last word, and the reconciler makes the timer follow it within minutes.
    logLine("error", "a timer was not set", { schedule_id: before.schedule_id, error });
  }
  return planned;
}

/** The outcomes of planned firings that are still under way when the plan changes: they will not happen any more. */
function cutOff(before: Schedule, now: number): Put[] {
  const { next } = timetableOf(before.cron_schedule, before.time_zone);
  const ticks: Put[] = [];
  for (let at = nextRunOf(before); at !== undefined && at <= now && ticks.length < MAX_UNDER_WAY; at = next(at)) {
    const reason = "the schedule was changed before it fired";
    ticks.push(putTick(before.schedule_id, { at, outcome: "skipped", recorded_at: now, reason }));
  }
  return ticks;
}

/** Makes a schedule again what it was, because what it was to become cannot be. */
async function takeBack(before: Schedule, ports: SchedulePorts): Promise<void> {
  const present = await ports.schedules.get(before.schedule_id);
  if (present === undefined || present.timing.state === "deleted") return;
  const restored = { ...before, revision: present.revision, plan: present.plan + 1, pending_since: ports.now() };
  await ports.schedules.change(present, restored);
  await syncTimer(restored, ports);
}
