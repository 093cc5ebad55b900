import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import type { RateLimitToken } from "#shared/limits/token-bucket.ts";
import { refuseHigherBudget } from "#shared/principals/key-budget.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { readFirstResponse, toCreationResult } from "#shared/runs/capacity/first-response.ts";
import type { Put } from "#shared/table/table.ts";
import type { RunAgentResponse } from "#shared/wire/runs/new-run.ts";
import { findVisibleSchedule } from "./read-schedule.ts";
import type { FiringPorts } from "./schedule-ports.ts";
import { retryOnChange } from "./schedule-store.ts";
import { createScheduledRun, RunRecordExists } from "./scheduled-run.ts";

export interface StartedRun {
  readonly response: RunAgentResponse;
  readonly replayed: boolean;
}

/** Starts a run of a schedule on request, paused or not. Planned firings are not affected. */
export async function startScheduledRun(
  id: string,
  principal: Principal,
  { once, rateLimitToken }: { readonly once: IdempotentRequest; readonly rateLimitToken: RateLimitToken },
  ports: FiringPorts,
): Promise<StartedRun> {
  return runIdempotent<StartedRun>(
    ports.table,
    once,
    ports.now,
    async (record) => ({
      response: await createRunOnce(id, principal, { record, rateLimitToken }, ports),
      replayed: false,
    }),
    async (result) => ({ response: await readFirstResponse(result, ports), replayed: true }),
    { isDeletable: true },
  );
}

function createRunOnce(
  id: string,
  principal: Principal,
  { record, rateLimitToken }: { readonly record: (result: string) => Put; readonly rateLimitToken: RateLimitToken },
  ports: FiringPorts,
): Promise<RunAgentResponse> {
  const toRecord = (runId: string, _now: number, atCapacity: boolean) => record(toCreationResult(runId, atCapacity));
  return retryOnChange(async () => {
    const schedule = await findVisibleSchedule(id, principal, ports);
    refuseHigherBudget(schedule.agent_config, principal);
    try {
      return await createScheduledRun(schedule, schedule, toRecord, ports, { principal, rateLimitToken });
    } catch (error) {
      throw error instanceof RunRecordExists ? new IdempotencyRecordExists() : error;
    }
  });
}
