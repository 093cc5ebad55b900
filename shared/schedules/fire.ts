import { RunyardError } from "#shared/errors.ts";
import { logLine } from "#shared/log/log.ts";
import { isTerminal, statusText } from "#shared/records/run.ts";
import { parseRunHead } from "#shared/records/run-head.ts";
import { cancelByService } from "#shared/runs/cancel-run.ts";
import { keys } from "#shared/table/keys.ts";
import { ConditionFailed, type Put } from "#shared/table/table.ts";
import { autoPause } from "./auto-pause.ts";
import { timetableOf, wholeMinute } from "./cron.ts";
import type { FiringPorts } from "./ports.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";
import { ScheduleChangedError } from "./schedule-store.ts";
import { spawnRun } from "./scheduled-run.ts";
import { putTick, type Tick } from "./tick.ts";

/** Milliseconds after which a firing counts as late. Timers go off within the minute that they are set to. */
export const LATE_MS = 90_000;
/** How far ahead of ours the clock of the timers may be. */
const AHEAD_MS = 30_000;
const ATTEMPTS = 8;

/**
 * One planned firing of a schedule, as a timer or the reconciler says. Its outcome and its run are written together, once: a
 * firing that has an outcome, that the schedule does not plan, or does not plan any more, does nothing.
 */
export async function fire(scheduleId: string, time: number, ports: FiringPorts): Promise<void> {
  const at = wholeMinute(time);
  if (at > ports.now() + AHEAD_MS) throw new Error(`a firing of ${scheduleId} comes before its time`);
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const schedule = await ports.schedules.get(scheduleId);
    // A timer of a schedule that is gone: left behind by a change that was overtaken by the deletion.
    if (schedule === undefined) return ports.scheduler.remove(scheduleId);
    const next = nextRunOf(schedule);
    if (next === undefined || at < next) return;
    const timetable = timetableOf(schedule.cron_schedule, schedule.time_zone);
    if (!timetable.isFiring(at)) return;
    // An earlier one that is still missing stays the next: it is the reconciler's to find.
    const following = at === next ? timetable.next(at) : next;
    if (following === undefined) throw new Error(`schedule ${scheduleId} has no firing after ${at}`);
    const planned: Schedule = { ...schedule, timing: { state: "active", next_run: following } };
    try {
      return await fireOnce(schedule, planned, at, ports);
    } catch (error) {
      if (!(error instanceof ScheduleChangedError)) throw error;
    }
  }
  throw new Error(`schedule ${scheduleId} changes too fast to fire`);
}

/** `planned` is the schedule once this firing has its outcome. */
async function fireOnce(schedule: Schedule, planned: Schedule, at: number, ports: FiringPorts): Promise<void> {
  const { schedule_id: id, overlap } = schedule;
  const tick = (outcome: Tick["outcome"], more: Partial<Tick> = {}) =>
    putTick(id, { at, outcome, recorded_at: ports.now(), ...more });
  const running = overlap === "allow" ? [] : await unended(schedule, ports);
  const [latest] = running;
  try {
    if (latest !== undefined && overlap === "skip") {
      const outcome = tick("skipped", { reason: `run ${latest} has not ended` });
      return await ports.schedules.change(schedule, planned, [outcome]);
    }
    // A firing that comes twice must not cancel what it made itself.
    if (latest !== undefined && (await ports.schedules.hasTick(id, at))) throw new ConditionFailed([0]);
    for (const runId of running) await cancelByService(runId, `the next run of schedule "${schedule.name}"`, ports);
    const refused = await spawn(
      schedule,
      planned,
      (runId, now) => {
        return tick(now - at >= LATE_MS ? "late" : "fired", { run_id: runId });
      },
      ports,
    );
    if (refused === undefined) return;
    const reason = statusText(refused.message);
    logLine("warn", "a schedule could not fire", { schedule_id: id, error: refused });
    await ports.schedules.change(schedule, { ...planned, last_spawn_error: reason }, [tick("failed", { reason })]);
    if (isAboutAgent(refused)) await autoPause(id, reason, ports);
  } catch (error) {
    if (!(error instanceof ConditionFailed)) throw error;
    // It has its outcome already; where the schedule still waits for it, it waits for the following one from now on.
    if (nextRunOf(schedule) !== nextRunOf(planned)) await ports.schedules.change(schedule, planned);
  }
}

/** Makes the run and the firing's outcome in one. Answers why it was refused, where it was. */
async function spawn(
  schedule: Schedule,
  planned: Schedule,
  outcome: (runId: string, now: number) => Put,
  ports: FiringPorts,
): Promise<RunyardError | undefined> {
  try {
    await spawnRun(schedule, planned, outcome, ports);
    return undefined;
  } catch (error) {
    if (error instanceof RunyardError && error.code !== "internal_error") return error;
    throw error;
  }
}

const isAboutAgent = ({ errors }: RunyardError): boolean => errors?.some(({ path }) => path === "agent_uid") ?? false;

/** Runs of the schedule that have not ended, newest first. */
async function unended({ recent_runs }: Schedule, { table }: FiringPorts): Promise<string[]> {
  const items = recent_runs.length === 0 ? [] : await table.batchGet(recent_runs.map(keys.head));
  return items
    .filter((item) => item !== undefined)
    .map(parseRunHead)
    .filter(({ state }) => !isTerminal(state))
    .map(({ run_id }) => run_id);
}
