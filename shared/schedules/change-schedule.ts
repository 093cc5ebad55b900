import { refuseUnsupportedOptions } from "#shared/http/unsupported-options.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runReversible,
} from "#shared/idempotency/idempotent-request.ts";
import { logLine } from "#shared/log/log.ts";
import { limitBudget, refuseLimitedKey } from "#shared/principals/key-budget.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { toCreator } from "#shared/principals/resolve-owner.ts";
import { intersectScopes, scopesMember } from "#shared/principals/scopes.ts";
import { requireSecrets } from "#shared/secrets/run-secrets.ts";
import { ConditionFailed, type Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { UpdateScheduleRequest } from "#shared/wire/schedule.ts";
import { checkRunRequest, findExecutor, findScheduleEnvironment, keepSecrets } from "./agent.ts";
import { findFirstFiring } from "./create-schedule.ts";
import { parseTimetable } from "./cron.ts";
import { changeFailureCount } from "./failures.ts";
import { findVisibleSchedule, requireCaller } from "./read-schedule.ts";
import { nextRunOf, type Schedule } from "./schedule.ts";
import type { SchedulePorts } from "./schedule-ports.ts";
import { retryOnChange } from "./schedule-store.ts";
import { storePrompt } from "./stored-prompt.ts";
import { findTimerRefusal, syncTimer } from "./sync-timer.ts";
import type { Tick } from "./tick.ts";

/** Planned firings in progress that a change can cancel; a cron fires once a minute at most. */
const MAX_IN_PROGRESS = 20;

interface UpdateCall {
  readonly body: UpdateScheduleRequest;
  /** The body as the caller sent it. */
  readonly sentBody: unknown;
  readonly principal: Principal;
}

/** Replaces a schedule; optional members that the request leaves out stay as they were. */
export async function replaceSchedule(
  id: string,
  { body: request, sentBody, principal }: UpdateCall,
  ports: SchedulePorts,
): Promise<Schedule> {
  return applyChange(id, principal, ports, async (before) => {
    const { name, cron_schedule, enabled, prompt, pause_after_failures: limit, ...given } = request;
    const time_zone = given.time_zone ?? before.time_zone;
    const next = findFirstFiring(cron_schedule, time_zone, ports.now());
    const config = given.agent_config;
    refuseLimitedKey(principal, "schedules");
    const agent_config = limitBudget(
      "agent_config",
      config === undefined ? before.agent_config : keepSecrets(config, before.agent_config),
      principal,
    );
    checkRunRequest({
      ...(prompt === undefined ? {} : { prompt }),
      ...(agent_config === undefined ? {} : { config: agent_config }),
    });
    if (given.agent_uid !== undefined) await findExecutor({ ...before, agent_uid: given.agent_uid }, ports.table);
    if (config !== undefined) await findScheduleEnvironment(before, config, ports.table);
    await requireSecrets(config ?? {}, "agent_config", { owner: before.owner, parent: undefined }, ports.table);
    refuseUnsupportedOptions(sentBody, "schedules");
    const { prompt_file: _, pause_after_failures: __, ...kept } = before;
    const resumedAt = enabled && before.timing.state === "paused" ? ports.now() : undefined;
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
      ...changeFailureCount(before, { limit, resumedAt }),
      // What the caller writes is executed with no more than the caller has.
      ...scopesMember(intersectScopes(before.scopes, principal.scopes)),
    };
    const same = before.cron_schedule === cron_schedule && before.time_zone === time_zone;
    // A firing in progress stays planned where the times stay the same.
    const next_run = (same ? nextRunOf(before) : undefined) ?? next;
    return { ...after, timing: enabled ? { state: "active", next_run } : { state: "paused" } };
  });
}

interface Enabled {
  readonly schedule: Schedule;
  /** True if an earlier request had this effect. */
  readonly replayed: boolean;
}

/** Pauses or resumes a schedule; does nothing where it is paused or active already. */
export async function setEnabled(
  id: string,
  enabled: boolean,
  { principal, once }: { readonly principal: Principal; readonly once: IdempotentRequest },
  ports: SchedulePorts,
): Promise<Enabled> {
  const change: ChangeRule = async (before) => {
    if ((before.timing.state === "active") === enabled) return before;
    if (!enabled) return { ...before, timing: { state: "paused" } };
    const next_run = findFirstFiring(before.cron_schedule, before.time_zone, ports.now());
    const counted = changeFailureCount(before, { resumedAt: ports.now() });
    return { ...before, ...counted, timing: { state: "active", next_run } };
  };
  const { value: schedule, replayed } = await runReversible(ports.table, once, ports.now, {
    apply: (record) => applyChange(id, principal, ports, change, record?.(id)),
    read: () => findVisibleSchedule(id, principal, ports),
    isSet: ({ timing }) => (timing.state === "active") === enabled,
  });
  return { schedule, replayed };
}

/** Returns the schedule after a change; the same object where nothing changes. */
type ChangeRule = (before: Schedule) => Promise<Schedule>;

/** @throws IdempotencyRecordExists if the request's idempotency record exists */
async function applyChange(
  id: string,
  principal: Principal,
  ports: SchedulePorts,
  rule: ChangeRule,
  record?: Put,
): Promise<Schedule> {
  const by = toCreator(requireCaller(principal));
  try {
    return await retryOnChange(async () => {
      const before = await findVisibleSchedule(id, principal, ports);
      const after = await rule(before);
      if (after !== before)
        return writeChange(before, { ...after, updated_at: ports.now(), updated_by: by }, ports, record);
      if (record !== undefined) await ports.table.write(record);
      return before;
    });
  } catch (error) {
    throw error instanceof ConditionFailed || error instanceof ConflictError ? new IdempotencyRecordExists() : error;
  }
}

/** Writes a change and, where it changes when the schedule fires, sets the timer. */
async function writeChange(before: Schedule, after: Schedule, ports: SchedulePorts, record?: Put): Promise<Schedule> {
  const now = ports.now();
  const isReplanned =
    before.timing.state !== after.timing.state ||
    before.cron_schedule !== after.cron_schedule ||
    before.time_zone !== after.time_zone;
  const idempotency = record === undefined ? {} : { idempotency: record };
  if (!isReplanned) {
    await ports.schedules.change(before, after, idempotency);
    return after;
  }
  const planned = { ...after, plan: before.plan + 1, pending_since: now };
  await ports.schedules.change(before, planned, { ...idempotency, ticks: skippedTicks(before, now) });
  try {
    await syncTimer(planned, ports);
  } catch (error) {
    const refusal = planned.timing.state === "active" ? findTimerRefusal(error) : undefined;
    if (refusal !== undefined) {
      await restore(before, ports);
      throw refusal;
    }
    // The table is authoritative, and the reconciler makes the timer match it within minutes.
    logLine("error", "a timer was not set", { schedule_id: before.schedule_id, error });
  }
  return planned;
}

/** Returns the outcomes of planned firings in progress, which a change of the plan cancels. */
function skippedTicks(before: Schedule, now: number): Tick[] {
  const { next } = parseTimetable(before.cron_schedule, before.time_zone);
  const ticks: Tick[] = [];
  for (let at = nextRunOf(before); at !== undefined && at <= now && ticks.length < MAX_IN_PROGRESS; at = next(at)) {
    const reason = "the schedule was changed before it fired";
    ticks.push({ at, outcome: "skipped", recorded_at: now, reason });
  }
  return ticks;
}

/** Restores a schedule whose change the scheduler has refused. */
async function restore(before: Schedule, ports: SchedulePorts): Promise<void> {
  const current = await ports.schedules.get(before.schedule_id);
  if (current === undefined || current.timing.state === "deleted") return;
  const restored = { ...before, revision: current.revision, plan: current.plan + 1, pending_since: ports.now() };
  await ports.schedules.change(current, restored);
  await syncTimer(restored, ports);
}
