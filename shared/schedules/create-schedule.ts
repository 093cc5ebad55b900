import { invalid, RunyardError } from "#shared/errors.ts";
import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import { uuidv7 } from "#shared/ids.ts";
import { refuseMore } from "#shared/limits/scope-limit.ts";
import { logLine } from "#shared/log/log.ts";
import { limitBudget, refuseLimitedKey } from "#shared/principals/key-budget.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { resolveOwner, toCreator } from "#shared/principals/resolve-owner.ts";
import { scopesMember } from "#shared/principals/scopes.ts";
import { requireSecrets } from "#shared/secrets/run-secrets.ts";
import type { Owner } from "#shared/table/keys.ts";
import type { Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { CreateScheduleRequest } from "#shared/wire/schedule.ts";
import { checkRunRequest, findExecutor, findScheduleEnvironment, keepSecrets, withScheduleNames } from "./agent.ts";
import { parseTimetable } from "./cron.ts";
import { changeFailureCount } from "./failures.ts";
import { requireCaller } from "./read-schedule.ts";
import type { Schedule } from "./schedule.ts";
import type { SchedulePorts } from "./schedule-ports.ts";
import { entriesIn } from "./schedule-store.ts";
import { type StoredPrompt, storePrompt } from "./stored-prompt.ts";
import { findTimerRefusal, syncTimer } from "./sync-timer.ts";

/** Schedules of a scope: a list of them is read whole. */
const MAX_SCHEDULES = 500;

export interface CreatedSchedule {
  readonly schedule: Schedule;
  readonly replayed: boolean;
}

interface CreateCall {
  readonly body: CreateScheduleRequest;
  /** The body as the caller sent it. */
  readonly sentBody: unknown;
  readonly principal: Principal;
}

/** Creates a schedule once, and sets its timer. */
export async function addSchedule(
  call: CreateCall,
  once: IdempotentRequest,
  ports: SchedulePorts,
): Promise<CreatedSchedule> {
  return runIdempotent<CreatedSchedule>(
    ports.table,
    once,
    ports.now,
    async (record) => ({ schedule: await writeSchedule(call, record, ports), replayed: false }),
    async (id) => {
      const schedule = await ports.schedules.get(id);
      if (schedule === undefined || schedule.timing.state === "deleted") {
        throw new RunyardError("resource_not_found", { detail: "the schedule that this request created is deleted" });
      }
      return { schedule: toNewSchedule(schedule, call, { prompt: call.body.prompt ?? "" }), replayed: true };
    },
  );
}

async function writeSchedule(call: CreateCall, record: (id: string) => Put, ports: SchedulePorts): Promise<Schedule> {
  const schedule = await planSchedule(call, ports);
  const { schedule_id: id } = schedule;
  const idempotency = record(id);
  try {
    await ports.schedules.change(undefined, schedule, { idempotency });
  } catch (error) {
    if (error instanceof ConflictError) throw new IdempotencyRecordExists();
    throw error;
  }
  if (schedule.timing.state !== "active") return schedule;
  try {
    await syncTimer(schedule, ports);
  } catch (error) {
    const refusal = findTimerRefusal(error);
    if (refusal !== undefined) {
      await ports.schedules.discard(schedule, idempotency.item);
      throw refusal;
    }
    // The schedule exists, and the reconciler sets its timer within minutes.
    logLine("error", "a timer was not set", { schedule_id: id, error });
  }
  return schedule;
}

/** Checks a request and returns its schedule; a long prompt is stored as a file. */
async function planSchedule(call: CreateCall, ports: SchedulePorts): Promise<Schedule> {
  const { body: request, sentBody, principal } = call;
  const now = ports.now();
  const { agent_uid } = request;
  refuseLimitedKey(principal, "schedules");
  const agent_config = limitBudget("agent_config", request.agent_config, principal);
  findFirstFiring(request.cron_schedule, request.time_zone, now);
  checkRunRequest({
    ...(request.prompt === undefined ? {} : { prompt: request.prompt }),
    ...(agent_config === undefined ? {} : { config: agent_config }),
  });
  const owner = ownerOfSchedule(request, principal);
  await refuseMore(entriesIn(owner), MAX_SCHEDULES, "schedules in the scope", ports.table);
  const by = toCreator(requireCaller(principal));
  const agent = agent_uid === undefined ? {} : { agent_uid };
  await findExecutor({ ...agent, owner, created_by: by }, ports.table);
  await findScheduleEnvironment({ owner, created_by: by }, agent_config, ports.table);
  await requireSecrets(request.agent_config ?? {}, "agent_config", { owner, parent: undefined }, ports.table);
  refuseUnsupportedOptions(sentBody, "schedules");
  const id = uuidv7(now);
  const created = { schedule_id: id, owner, created_at: now, created_by: by };
  return toNewSchedule(created, call, await storePrompt(id, request.prompt ?? "", ports.files));
}

type CreatedMembers = Pick<Schedule, "schedule_id" | "owner" | "created_at" | "created_by">;

/** The schedule as the request creates it, also for a repeat that comes after a change. */
function toNewSchedule(
  { schedule_id, owner, created_at, created_by }: CreatedMembers,
  { body: request, principal }: CreateCall,
  prompt: StoredPrompt,
): Schedule {
  const { name, cron_schedule, agent_uid, metadata, mode = "normal", overlap = "allow" } = request;
  const { time_zone = "UTC", enabled = true } = request;
  const agent_config = limitBudget("agent_config", request.agent_config, principal);
  const next_run = findFirstFiring(cron_schedule, time_zone, created_at);
  return {
    schedule_id,
    owner,
    revision: 1,
    plan: 1,
    // A schedule that is created paused has no timer.
    pending_since: enabled ? created_at : null,
    name,
    cron_schedule,
    time_zone,
    overlap,
    ...prompt,
    ...(agent_config === undefined ? {} : { agent_config: keepSecrets(agent_config, undefined) }),
    ...(agent_uid === undefined ? {} : { agent_uid }),
    mode,
    ...(metadata === undefined ? {} : { metadata }),
    ...changeFailureCount({}, { limit: request.pause_after_failures }),
    created_at,
    updated_at: created_at,
    created_by,
    updated_by: created_by,
    ...scopesMember(principal.scopes),
    last_ran: null,
    last_spawn_error: null,
    recent_runs: [],
    timing: enabled ? { state: "active", next_run } : { state: "paused" },
  };
}

function ownerOfSchedule({ team, agent_uid }: CreateScheduleRequest, principal: Principal): Owner {
  const request = {
    ...(team === undefined ? {} : { team }),
    ...(agent_uid === undefined ? {} : { agent_identity_uid: agent_uid }),
  };
  return withScheduleNames(() => resolveOwner(request, principal));
}

/** Returns the first firing of a cron. Throws `invalid_request` for a cron that never fires. */
export function findFirstFiring(cron: string, timeZone: string | undefined, now: number): number {
  const next = parseTimetable(cron, timeZone ?? "UTC").next(now);
  if (next === undefined) throw invalid("cron_schedule", "never fires: there is no such date");
  return next;
}
