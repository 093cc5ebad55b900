import { invalid, RunyardError } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { refuseMore } from "#shared/limits/scope-limit.ts";
import { logLine } from "#shared/log/log.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { resolveOwner, toCreator } from "#shared/principals/resolve-owner.ts";
import { ownerPk } from "#shared/table/keys.ts";
import { ConditionFailed, type Put } from "#shared/table/table.ts";
import { TimerRefused } from "#shared/timers/scheduler.ts";
import type { CreateScheduleRequest } from "#shared/wire/schedule.ts";
import { checkRunOf, environmentOfSchedule, inScheduleWords, keepSecrets, workerOf } from "./agent.ts";
import { timetableOf } from "./cron.ts";
import type { SchedulePorts } from "./ports.ts";
import { caller } from "./read-schedule.ts";
import type { Schedule } from "./schedule.ts";
import { storePrompt } from "./stored-prompt.ts";
import { syncTimer } from "./sync-timer.ts";

/** Schedules of a scope: a list of them is read whole. */
const MAX_SCHEDULES = 500;

export interface CreatedSchedule {
  readonly schedule: Schedule;
  readonly replayed: boolean;
}

/** Creates a schedule once, and sets its timer. */
export async function createSchedule(
  request: CreateScheduleRequest,
  principal: Principal,
  once: IdempotentRequest,
  ports: SchedulePorts,
): Promise<CreatedSchedule> {
  return runIdempotent<CreatedSchedule>(
    ports.table,
    once,
    ports.now,
    async (record) => ({ schedule: await writeSchedule(request, principal, record, ports), replayed: false }),
    async (id) => {
      const schedule = await ports.schedules.get(id);
      if (schedule === undefined || schedule.timing.state === "deleted") throw goneSince();
      return { schedule, replayed: true };
    },
  );
}

async function writeSchedule(
  request: CreateScheduleRequest,
  principal: Principal,
  record: (id: string) => Put,
  ports: SchedulePorts,
): Promise<Schedule> {
  const now = ports.now();
  const { name, cron_schedule, agent_config, agent_uid, metadata, mode = "normal", overlap = "allow" } = request;
  const time_zone = request.time_zone ?? "UTC";
  const next = firstFiring(cron_schedule, time_zone, now);
  checkRunOf({
    ...(request.prompt === undefined ? {} : { prompt: request.prompt }),
    ...(agent_config === undefined ? {} : { config: agent_config }),
  });
  const owner = inScheduleWords(() =>
    resolveOwner(
      {
        ...(request.team === undefined ? {} : { team: request.team }),
        ...(agent_uid === undefined ? {} : { agent_identity_uid: agent_uid }),
      },
      principal,
      undefined,
    ),
  );
  await refuseMore({ pk: ownerPk(owner), prefix: "SCHEDULE#" }, MAX_SCHEDULES, "schedules in the scope", ports.table);
  const by = toCreator(caller(principal));
  const named = agent_uid === undefined ? {} : { agent_uid };
  await workerOf({ ...named, owner, created_by: by }, ports.table);
  await environmentOfSchedule({ owner, created_by: by }, agent_config, ports.table);
  const id = uuidv7(now);
  const enabled = request.enabled ?? true;
  const schedule: Schedule = {
    schedule_id: id,
    owner,
    revision: 1,
    plan: 1,
    // One that is born paused has no timer to wait for.
    pending_since: enabled ? now : null,
    name,
    cron_schedule,
    time_zone,
    overlap,
    ...(await storePrompt(id, request.prompt ?? "", ports.files)),
    ...(agent_config === undefined ? {} : { agent_config: keepSecrets(agent_config, undefined) }),
    ...named,
    mode,
    ...(metadata === undefined ? {} : { metadata }),
    created_at: now,
    updated_at: now,
    created_by: by,
    updated_by: by,
    last_ran: null,
    last_spawn_error: null,
    recent_runs: [],
    timing: enabled ? { state: "active", next_run: next } : { state: "paused" },
  };
  const written = record(id);
  try {
    await ports.schedules.change(undefined, schedule, [written]);
  } catch (error) {
    if (error instanceof ConditionFailed) throw new IdempotencyRecordExists();
    throw error;
  }
  if (!enabled) return schedule;
  try {
    await syncTimer(schedule, ports);
  } catch (error) {
    if (error instanceof TimerRefused) {
      await ports.schedules.discard(schedule, written.item);
      throw invalid("cron_schedule", "cannot be kept by the scheduler");
    }
    // The schedule stands, and the reconciler sets its timer within minutes.
    logLine("error", "a timer was not set", { schedule_id: id, error });
  }
  return schedule;
}

/** The first firing of a cron, which has to have one. */
export function firstFiring(cron: string, timeZone: string, now: number): number {
  const next = timetableOf(cron, timeZone).next(now);
  if (next === undefined) throw invalid("cron_schedule", "never fires: there is no such date");
  return next;
}

const goneSince = () =>
  new RunyardError("resource_not_found", { detail: "the schedule that this request made has been deleted since" });
