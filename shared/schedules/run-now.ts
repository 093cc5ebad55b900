import { RunyardError, retryableConflict } from "#shared/errors.ts";
import {
  IdempotencyRecordExists,
  type IdempotentRequest,
  runIdempotent,
} from "#shared/idempotency/idempotent-request.ts";
import type { RateLimitToken } from "#shared/limits/token-bucket.ts";
import type { Principal } from "#shared/principals/principal.ts";
import { ConditionFailed, type Put } from "#shared/table/table.ts";
import type { RunAgentResponse } from "#shared/wire/run.ts";
import type { FiringPorts } from "./ports.ts";
import { visibleSchedule } from "./read-schedule.ts";
import { ScheduleChangedError } from "./schedule-store.ts";
import { spawnRun } from "./scheduled-run.ts";

const ATTEMPTS = 8;

export interface Spawned {
  readonly response: RunAgentResponse;
  readonly replayed: boolean;
}

/** One run of a schedule because somebody asks for it, paused or not: no planned firing, and in none's place. */
export async function runNow(
  id: string,
  principal: Principal,
  { once, rateLimitToken }: { readonly once: IdempotentRequest; readonly rateLimitToken: RateLimitToken },
  ports: FiringPorts,
): Promise<Spawned> {
  return runIdempotent<Spawned>(
    ports.table,
    once,
    ports.now,
    async (record) => ({ response: await spawnNow(id, principal, { record, rateLimitToken }, ports), replayed: false }),
    async (runId) => {
      const head = await ports.runs.head(runId);
      if (head === undefined) throw new RunyardError("internal_error");
      return { response: { run_id: runId, task_id: runId, state: head.state }, replayed: true };
    },
  );
}

async function spawnNow(
  id: string,
  principal: Principal,
  { record, rateLimitToken }: { readonly record: (runId: string) => Put; readonly rateLimitToken: RateLimitToken },
  ports: FiringPorts,
): Promise<RunAgentResponse> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const schedule = await visibleSchedule(id, principal, ports);
    try {
      return await spawnRun(schedule, schedule, record, ports, rateLimitToken);
    } catch (error) {
      if (error instanceof ConditionFailed) throw new IdempotencyRecordExists();
      if (!(error instanceof ScheduleChangedError)) throw error;
    }
  }
  throw retryableConflict("the schedule changes too fast; try again");
}
