import { RunyardError } from "#shared/errors.ts";
import { logLine } from "#shared/log/log.ts";
import { readRunHeads } from "#shared/records/read-run-heads.ts";
import { isTerminal, statusText } from "#shared/records/run.ts";
import { cancelByService } from "#shared/runs/cancel-run.ts";
import { ConflictError } from "#shared/table/transact.ts";
import { autoPause } from "./auto-pause.ts";
import { parseTimetable, wholeMinute } from "./cron.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";
import { putFailed } from "./schedule-event.ts";
import type { FiringPorts } from "./schedule-ports.ts";
import { retryOnChange } from "./schedule-store.ts";
import { createScheduledRun, RunRecordExists } from "./scheduled-run.ts";
import type { Tick } from "./tick.ts";
import { hasTick, putTick } from "./tick-store.ts";

/** Milliseconds after which a firing counts as late. Timers fire within the minute that they are set to. */
export const LATE_MS = 90_000;
/** Milliseconds that the clock of the timers may be ahead of ours. */
const AHEAD_MS = 30_000;

/**
 * Handles a planned firing of a schedule, for a timer or the reconciler. Its outcome and its run are written together, once: a firing
 * that has an outcome, or that the schedule does not plan or no longer plans, has no effect.
 */
export async function fireAt(scheduleId: string, time: number, ports: FiringPorts): Promise<void> {
  const at = wholeMinute(time);
  if (at > ports.now() + AHEAD_MS) throw new Error(`a firing of ${scheduleId} comes before its time`);
  return retryOnChange(async () => {
    const schedule = await ports.schedules.get(scheduleId);
    // The schedule was deleted while a change of it set the timer.
    if (schedule === undefined) return ports.scheduler.remove(scheduleId);
    const next = nextRunOf(schedule);
    if (next === undefined || at < next) return;
    const timetable = parseTimetable(schedule.cron_schedule, schedule.time_zone);
    if (!timetable.isFiring(at)) return;
    // An earlier firing without an outcome stays the next one: the reconciler handles it.
    const following = at === next ? timetable.next(at) : next;
    if (following === undefined) throw new Error(`schedule ${scheduleId} has no firing after ${at}`);
    const planned: Schedule = { ...schedule, timing: { state: "active", next_run: following } };
    await fireOnce(schedule, planned, at, ports);
  });
}

/** `planned` is the schedule after this firing. */
async function fireOnce(schedule: Schedule, planned: Schedule, at: number, ports: FiringPorts): Promise<void> {
  try {
    await skipOrCreateRun(schedule, planned, at, ports);
  } catch (error) {
    if (!(error instanceof ConflictError || error instanceof RunRecordExists)) throw error;
    // The firing has its outcome already; where the schedule still waits for it, it now waits for the next one.
    if (nextRunOf(schedule) !== nextRunOf(planned)) await ports.schedules.change(schedule, planned);
  }
}

/** @throws ConflictError or RunRecordExists where the firing has an outcome */
async function skipOrCreateRun(schedule: Schedule, planned: Schedule, at: number, ports: FiringPorts): Promise<void> {
  const { schedule_id: id, overlap } = schedule;
  const tick = (outcome: Tick["outcome"], more: Partial<Tick> = {}): Tick => ({
    at,
    outcome,
    recorded_at: ports.now(),
    ...more,
  });
  const running = overlap === "allow" ? [] : await findActiveRuns(schedule, ports);
  const [latest] = running;
  if (latest !== undefined && overlap === "skip") {
    const outcome = tick("skipped", { reason: `run ${latest} has not ended` });
    return ports.schedules.change(schedule, planned, { outcome });
  }
  // A firing that is delivered twice must not cancel its own run.
  if (latest !== undefined && (await hasTick(id, at, ports.table))) throw new RunRecordExists();
  for (const runId of running) await cancelByService(runId, `the next run of schedule "${schedule.name}"`, ports);
  const refusal = await tryCreateRun(schedule, planned, tick, ports);
  if (refusal === undefined) return;
  const reason = statusText(refusal.message);
  logLine("warn", "a schedule could not fire", { schedule_id: id, error: refusal });
  const outcome = tick("failed", { reason });
  const teamEvent = putFailed(schedule, outcome);
  await ports.schedules.change(schedule, { ...planned, last_spawn_error: reason }, { outcome, teamEvent });
  if (isAboutAgent(refusal)) await autoPause(id, reason, ports);
}

/** Creates the run together with the firing's outcome. Returns the error where the run was refused. */
async function tryCreateRun(
  schedule: Schedule,
  planned: Schedule,
  tick: (outcome: Tick["outcome"], more: Partial<Tick>) => Tick,
  ports: FiringPorts,
): Promise<RunyardError | undefined> {
  const { schedule_id: id } = schedule;
  const putOutcome = (runId: string, now: number) => {
    const outcome = tick("fired", { run_id: runId });
    return putTick(id, now - outcome.at >= LATE_MS ? { ...outcome, outcome: "late" } : outcome);
  };
  try {
    await createScheduledRun(schedule, planned, putOutcome, ports);
    return undefined;
  } catch (error) {
    if (error instanceof RunyardError && error.code !== "internal_error") return error;
    throw error;
  }
}

const isAboutAgent = ({ errors }: RunyardError): boolean => errors?.some(({ path }) => path === "agent_uid") ?? false;

/** Returns the ids of the schedule's runs that have not ended, newest first. */
async function findActiveRuns({ recent_runs }: Schedule, { table }: FiringPorts): Promise<string[]> {
  const heads = await readRunHeads(recent_runs, table);
  return heads.filter(({ state }) => !isTerminal(state)).map(({ run_id }) => run_id);
}
