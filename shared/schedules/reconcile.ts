import { logLine } from "#shared/log/log.ts";
import type { Put } from "#shared/table/table.ts";
import { TimerRefused } from "#shared/timers/scheduler.ts";
import { type Timetable, timetableOf } from "./cron.ts";
import { fire, LATE_MS } from "./fire.ts";
import type { FiringPorts } from "./ports.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";
import { ScheduleChangedError } from "./schedule-store.ts";
import { syncTimer } from "./sync-timer.ts";
import { putTick } from "./tick.ts";

/** Schedules of one shard that one pass looks at; what is left is due in the next. */
const PASS_LIMIT = 100;
/** Schedules that are looked at side by side. */
const AT_ONCE = 10;
/** Firings of one schedule that one pass makes up for. */
const MAX_FIRINGS = 100;
/** Outcomes that one transaction writes. */
const MAX_TICKS = 90;
/** Milliseconds after which a missed firing makes way for a later one: after an outage nobody wants all of them at once. */
const STALE_MS = 15 * 60_000;

export interface Reconciled {
  readonly looked: number;
  readonly failed: number;
}

/**
 * One pass over the schedules that are overdue. A timer that is not known to be what the table says is set again, and a
 * planned firing that no timer told of is made up for: none is missing silently, and none fires for a reader of the past.
 */
export async function reconcileSchedules(ports: FiringPorts): Promise<Reconciled> {
  const ids = await ports.schedules.due(ports.now() - LATE_MS, PASS_LIMIT);
  let failed = 0;
  for (let from = 0; from < ids.length; from += AT_ONCE) {
    const looks = await Promise.allSettled(ids.slice(from, from + AT_ONCE).map((id) => reconcile(id, ports)));
    failed += looks.filter(({ status }) => status === "rejected").length;
  }
  return { looked: ids.length, failed };
}

async function reconcile(id: string, ports: FiringPorts): Promise<void> {
  const since = ports.now();
  try {
    const schedule = await ports.schedules.get(id);
    if (schedule === undefined) return;
    const missed = isMissed(schedule, since);
    // A firing that was missed tells that the timer may be gone or wrong, whatever was noted of it.
    if (schedule.pending_since !== null || missed) await syncTimer(schedule, ports).catch(refusal(schedule, ports));
    if (missed) return await makeUpFor(id, ports);
    await lookAtNext(id, ports);
  } catch (error) {
    logLine("error", "a schedule could not be reconciled", { schedule_id: id, error });
    // It is looked at again behind those that wait now, so that it stands in nobody's way.
    await ports.schedules.lookAgain(id, since);
    throw error;
  }
}

const isMissed = (schedule: Schedule, now: number): boolean => (nextRunOf(schedule) ?? now) <= now - LATE_MS;

/** A timer that can never be set leaves the firings to the reconciler, a little late each, and says so. */
function refusal(schedule: Schedule, ports: FiringPorts): (error: unknown) => Promise<void> {
  return async (error) => {
    if (!(error instanceof TimerRefused)) throw error;
    logLine("error", "a timer was refused", { schedule_id: schedule.schedule_id, error });
    await ports.schedules.agreed(schedule);
  };
}

/** Gives every missed firing its outcome, in order. */
async function makeUpFor(id: string, ports: FiringPorts): Promise<void> {
  for (let count = 0; count < MAX_FIRINGS; count++) {
    const schedule = await ports.schedules.get(id);
    const at = schedule === undefined ? undefined : nextRunOf(schedule);
    if (schedule === undefined || at === undefined || at > ports.now()) return;
    // One that is not late yet may have come out of its turn; then the schedule waits for what follows.
    if (at > ports.now() - LATE_MS && !(await ports.schedules.hasTick(id, at))) return;
    const timetable = timetableOf(schedule.cron_schedule, schedule.time_zone);
    const stale = staleFirings(at, timetable, ports.now());
    if (stale.length === 0) await fire(id, at, ports);
    else await skip(schedule, stale, timetable, ports);
  }
}

/** Missed firings that are too old, as far as a later one is due too: the latest is always made up for. */
function staleFirings(first: number, { next }: Timetable, now: number): number[] {
  const stale: number[] = [];
  for (let at = first; now - at > STALE_MS && stale.length < MAX_TICKS; ) {
    const following = next(at);
    if (following === undefined || following > now - LATE_MS) break;
    stale.push(at);
    at = following;
  }
  return stale;
}

async function skip(
  schedule: Schedule,
  stale: readonly number[],
  timetable: Timetable,
  ports: FiringPorts,
): Promise<void> {
  const reason = "it was more than 15 minutes late, and a later firing was due";
  const recorded_at = ports.now();
  const ticks = stale.map((at): Put => putTick(schedule.schedule_id, { at, outcome: "skipped", recorded_at, reason }));
  const next = timetable.next(stale.at(-1) ?? recorded_at);
  if (next === undefined) return;
  try {
    await ports.schedules.change(schedule, { ...schedule, timing: { state: "active", next_run: next } }, [], ticks);
  } catch (error) {
    if (!(error instanceof ScheduleChangedError)) throw error;
  }
}

/** The index told of a time that has been overtaken: from now on it tells the present one. */
async function lookAtNext(id: string, ports: FiringPorts): Promise<void> {
  const schedule = await ports.schedules.get(id);
  const next = schedule === undefined ? undefined : nextRunOf(schedule);
  if (schedule?.pending_since === null && next !== undefined) {
    await ports.schedules.lookAgain(id, next, schedule.revision);
  }
}
