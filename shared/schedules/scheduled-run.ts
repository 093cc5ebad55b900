import { ownAllowance } from "#shared/budgets/budget.ts";
import { countRunOfKey, describeKeyLimit, findKeyBudget } from "#shared/budgets/key-limits.ts";
import type { Environment } from "#shared/environments/environment.ts";
import { lastRunWrites } from "#shared/environments/environment-store.ts";
import { uuidv7 } from "#shared/ids.ts";
import { type RateLimitToken, rateLimited } from "#shared/limits/token-bucket.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { intersectScopes } from "#shared/principals/scopes.ts";
import { deriveTitle } from "#shared/records/run.ts";
import type { RunBody } from "#shared/records/run-body.ts";
import { createWithinLimits } from "#shared/runs/capacity/admit-run.ts";
import { RUN_ROOM } from "#shared/runs/capacity/slots.ts";
import { toNewRunWrites } from "#shared/runs/new-run-store.ts";
import { getSkills } from "#shared/runs/plan-run.ts";
import type { Put } from "#shared/table/table.ts";
import { ConflictError } from "#shared/table/transact.ts";
import type { RunAgentResponse } from "#shared/wire/runs/new-run.ts";
import { addRun, type Schedule } from "./schedule.ts";
import type { FiringPorts } from "./schedule-ports.ts";
import { changeWrites, ScheduleChangedError } from "./schedule-store.ts";
import { planUnattendedRun } from "./unattended-run.ts";

/** The request for a run, where it is no firing: its caller, and the rate-limit token that it takes. */
interface RunRequest {
  readonly principal: Principal;
  readonly rateLimitToken: RateLimitToken;
}

/** The record that limits a firing or a request to one run exists already. */
export class RunRecordExists extends Error {}

/**
 * Creates a run of a schedule and replaces the schedule by `after` with that run. `record` is the write that limits this to one run:
 * the outcome of a firing, or the idempotency record of a request. A firing has no
 * request, and takes no rate-limit token.
 * @throws RunRecordExists; ScheduleChangedError
 */
export async function createScheduledRun(
  before: Schedule,
  after: Schedule,
  record: (runId: string, now: number, atCapacity: boolean) => Put,
  ports: FiringPorts,
  request?: RunRequest,
): Promise<RunAgentResponse> {
  const now = ports.now();
  const runId = uuidv7(now);
  const { owner } = before;
  const { body, environment, part } = await planScheduledRun(runId, before, ports);
  const allowance = ownAllowance(body.config.budget_usd, request && findKeyBudget(request.principal));
  const writes = {
    ...toNewRunWrites({
      runId,
      owner,
      body,
      now,
      scopes: intersectScopes(before.scopes, request?.principal.scopes),
      allowance,
      part,
    }),
    record: record(runId, now, false),
    schedule: changeWrites(before, addRun(after, runId, now)),
    // If the environment is deleted in the meantime, the next attempt finds it missing.
    lastRun: lastRunWrites(environment, owner, { run_id: runId, title: body.title, created_at: now }),
    rateLimit: request?.rateLimitToken(now),
    key: request && countRunOfKey(request.principal, now),
  };
  const whenWaiting = { record: record(runId, now, true) };
  const atCapacity = await createWithinLimits(writes, RUN_ROOM, ports, whenWaiting).catch(async (error: unknown) => {
    if (!(error instanceof ConflictError)) throw error;
    if (error.failed.has("record")) throw new RunRecordExists();
    if (request !== undefined && error.failed.has("key"))
      throw await describeKeyLimit(request.principal, now, ports.table);
    throw error.failed.has("rateLimit") ? rateLimited(now) : new ScheduleChangedError();
  });
  await ports.queue.sendRun(runId, owner).catch(() => undefined);
  return { run_id: runId, task_id: runId, state: "QUEUED", ...(atCapacity ? { at_capacity: true } : {}) };
}

/**
 * Plans the run of a schedule: its creator is the schedule's, and its agent, if it has one, executes it. Refuses a model, an
 * identity or an environment that no longer exists.
 */
async function planScheduledRun(
  runId: string,
  schedule: Schedule,
  ports: FiringPorts,
): Promise<{ body: RunBody; environment: Environment | undefined; part: number | undefined }> {
  const { metadata, mode, prompt, prompt_file } = schedule;
  const { request, environment, part, common } = await planUnattendedRun(runId, schedule, ports);
  const body: RunBody = {
    title: schedule.name.trim() || deriveTitle(prompt, getSkills(request)[0]),
    ...common,
    ...(prompt_file === undefined ? {} : { prompt_file }),
    source: "SCHEDULED_AGENT",
    schedule: {
      schedule_id: schedule.schedule_id,
      schedule_name: schedule.name,
      cron_schedule: schedule.cron_schedule,
    },
    mode,
    ...(metadata === undefined ? {} : { metadata }),
  };
  return { body, environment, part };
}
