import { vi } from "vitest";
import { putBudget } from "#shared/budgets/budget-store.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import type { ResponseBody } from "../support/control-plane.ts";
import { createGateway, stubModelSettings } from "../support/gateway.ts";
import type { Stage } from "../support/principals.ts";
import { reconcile, timerOff } from "../support/schedules.ts";

const FIRES_AT = "2026-05-19T02:30:00.000Z";

/** Converts the number of failed parts of an invocation into an HTTP response. */
const toResponse = (failed: number): ResponseBody => ({
  status: failed === 0 ? 200 : 500,
  headers: { "x-should-retry": String(failed > 0) },
  body: {},
});

export const fire = async ({ plane, scheduleId }: Stage): Promise<ResponseBody> =>
  toResponse(await timerOff(plane, scheduleId, FIRES_AT));

const reconcileNow = async ({ plane }: Stage): Promise<ResponseBody> => toResponse((await reconcile(plane)).failed);

/** A model call of the run, whose budget is exhausted. */
async function callModel({ plane, key }: Stage): Promise<ResponseBody> {
  const gateway = createGateway(plane, { anthropicUrl: "", openaiUrl: "", bedrockUrl: "" });
  stubModelSettings();
  const response = await gateway.messages(key("the run itself")).finally(() => vi.unstubAllEnvs());
  return { status: response.status, headers: Object.fromEntries(response.headers), body: await response.json() };
}

/** Requests that do not come through the API, and what each of them needs. */
export const others: Readonly<
  Record<string, { send: (stage: Stage) => Promise<ResponseBody>; prepare: (stage: Stage) => Promise<void> }>
> = {
  TIMER: {
    send: fire,
    async prepare({ plane }) {
      plane.clock.now = Date.parse(FIRES_AT) + 5_000;
    },
  },
  /** A pass of the reconciler, some time after a firing that its timer missed. */
  RECONCILE: {
    send: reconcileNow,
    async prepare({ plane }) {
      plane.clock.now = Date.parse(FIRES_AT) + 120_000;
    },
  },
  /** A pass of the reconciler that finds a schedule which has fired since its check was scheduled. */
  LOOK: {
    send: reconcileNow,
    async prepare({ plane, scheduleId }) {
      const check_at = sortableTime(plane.clock.now - 3_600_000);
      await plane.table.write({ kind: "update", key: keys.schedule(scheduleId), set: { check_at } });
    },
  },
  MODEL: {
    send: callModel,
    async prepare({ plane, runId }) {
      await plane.table.write(putBudget(runId, { limit: 1, above: [] }));
      await plane.table.write({ kind: "update", key: keys.head(runId), set: { b: true } });
    },
  },
};
