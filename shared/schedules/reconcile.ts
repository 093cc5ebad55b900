import { splitIntoBatches } from "#shared/arrays.ts";
import { logLine } from "#shared/log/log.ts";
import { TimerRefused, TimersExhausted } from "#shared/timers/scheduler.ts";
import { parseTimetable, type Timetable } from "./cron.ts";
import { fireAt, LATE_MS } from "./fire.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";
import { putMissed } from "./schedule-event.ts";
import type { FiringPorts } from "./schedule-ports.ts";
import { ScheduleChangedError } from "./schedule-store.ts";
import { syncTimer } from "./sync-timer.ts";
import type { Tick } from "./tick.ts";
import { hasTick } from "./tick-store.ts";

/** Schedules of one shard that one pass reconciles; the rest is due in the next pass. */
const PASS_LIMIT = 100;
/** Schedules that are reconciled at the same time. */
const AT_ONCE = 10;
/** Missed firings of one schedule that one pass handles. */
const MAX_FIRINGS = 100;
/** Outcomes that one transaction writes. */
const MAX_TICKS = 90;
/** Milliseconds after which a missed firing is skipped for a later one, so that an outage does not end in many runs at once. */
const STALE_MS = 15 * 60_000;

export interface Reconciled {
  readonly looked: number;
  readonly failed: number;
}

/**
 * Makes one pass over the overdue schedules. It sets timers that may not match the table again, and handles planned firings that no
 * timer has delivered, so that each gets an outcome.
 */
export async function reconcileOverdue(ports: FiringPorts): Promise<Reconciled> {
  const ids = await ports.schedules.due(ports.now() - LATE_MS, PASS_LIMIT);
  let failed = 0;
  for (const batch of splitIntoBatches(ids, AT_ONCE)) {
    const looks = await Promise.allSettled(batch.map((id) => reconcile(id, ports)));
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
    // A missed firing shows that the timer may be missing or wrong, even if it was recorded as set.
    if (schedule.pending_since !== null || missed)
      await syncTimer(schedule, ports).catch(handleRefusal(schedule, ports));
    if (missed) return await handleMissed(id, ports);
    await correctCheck(id, ports);
  } catch (error) {
    logLine("error", "a schedule could not be reconciled", { schedule_id: id, error });
    // It is checked again after those that are due now, so that it does not block them.
    await ports.schedules.checkAgain(id, since);
    throw error;
  }
}

const isMissed = (schedule: Schedule, now: number): boolean => (nextRunOf(schedule) ?? now) <= now - LATE_MS;

/** Logs a timer that the scheduler refuses: the reconciler then handles each firing of the schedule, a little late. */
function handleRefusal(schedule: Schedule, ports: FiringPorts): (error: unknown) => Promise<void> {
  return async (error) => {
    if (error instanceof TimersExhausted) {
      // The next pass tries again. Until then the reconciler handles each firing.
      return logLine("error", "the quota of timers is reached", { schedule_id: schedule.schedule_id, error });
    }
    if (!(error instanceof TimerRefused)) throw error;
    logLine("error", "a timer was refused", { schedule_id: schedule.schedule_id, error });
    await ports.schedules.noteSynced(schedule);
  };
}

/** Gives every missed firing its outcome, in order. */
async function handleMissed(id: string, ports: FiringPorts): Promise<void> {
  for (let count = 0; count < MAX_FIRINGS; count++) {
    const schedule = await ports.schedules.get(id);
    const at = schedule === undefined ? undefined : nextRunOf(schedule);
    if (schedule === undefined || at === undefined || at > ports.now()) return;
    // A firing that is not late yet may have been handled out of order; then the schedule waits for the next one.
    if (at > ports.now() - LATE_MS && !(await hasTick(id, at, ports.table))) return;
    const timetable = parseTimetable(schedule.cron_schedule, schedule.time_zone);
    const stale = findStaleFirings(at, timetable, ports.now());
    if (stale.length === 0) await fireAt(id, at, ports);
    else await skipFirings(schedule, stale, timetable, ports);
  }
}

/** Returns missed firings that are too old, as long as a later one is due too: the latest one is never skipped. */
function findStaleFirings(first: number, { next }: Timetable, now: number): number[] {
  const stale: number[] = [];
  for (let at = first; now - at > STALE_MS && stale.length < MAX_TICKS; ) {
    const following = next(at);
    if (following === undefined || following > now - LATE_MS) break;
    stale.push(at);
    at = following;
  }
  return stale;
}

async function skipFirings(
  schedule: Schedule,
  stale: readonly number[],
  timetable: Timetable,
  ports: FiringPorts,
): Promise<void> {
  const reason = "it was more than 15 minutes late, and a later firing was due";
  const recorded_at = ports.now();
  const ticks = stale.map((at): Tick => ({ at, outcome: "skipped", recorded_at, reason }));
  const next = timetable.next(stale.at(-1) ?? recorded_at);
  if (next === undefined) return;
  const teamEvent = putMissed(schedule, ticks);
  try {
    await ports.schedules.change(
      schedule,
      { ...schedule, timing: { state: "active", next_run: next } },
      { ticks, teamEvent },
    );
  } catch (error) {
    if (!(error instanceof ScheduleChangedError)) throw error;
  }
}

/** Corrects the time of the next check where the index has an outdated one. */
async function correctCheck(id: string, ports: FiringPorts): Promise<void> {
  const schedule = await ports.schedules.get(id);
  const next = schedule === undefined ? undefined : nextRunOf(schedule);
  if (schedule?.pending_since === null && next !== undefined) {
    await ports.schedules.checkAgain(id, next, schedule.revision);
  }
}
