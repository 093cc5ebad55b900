import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isExecuting, isTerminal } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createHarness, createRun } from "../../support/execution.ts";
import { checkHistories, checkSlots, listHeads } from "../../support/invariants.ts";
import { reap } from "../../support/reaper.ts";

const LIMIT = 2;

/** An operation; `pick` chooses its run or message. */
const step = fc.record({
  what: fc.oneof(
    { weight: 3, arbitrary: fc.constant("message" as const) },
    { weight: 2, arbitrary: fc.constantFrom("child" as const, "end" as const) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "root" as const,
        "repeat" as const,
        "drop" as const,
        "cancel" as const,
        "time" as const,
        "revive" as const,
      ),
    },
  ),
  pick: fc.nat(),
});
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const pickItem = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)];

async function take(plane: TestControlPlane, { what, pick }: Step): Promise<void> {
  const heads = listHeads(plane);
  const user = createClient(plane);
  if (what === "root") await createRun(plane);
  if (what === "child") {
    const parent = pickItem(heads, pick);
    const depth = parent?.depth ?? 0;
    if (parent !== undefined && depth < 3) await createRun(plane, { prompt: "a", parent_run_id: parent.run_id });
  }
  if (what === "message" || what === "repeat" || what === "drop") {
    const message = pickItem(plane.sent, pick);
    if (message === undefined) return;
    if (what !== "repeat") plane.sent.splice(plane.sent.indexOf(message), 1);
    if (what !== "drop") await consume(plane, message.queue, message.runId);
  }
  if (what === "end") {
    const envelope = pickItem(
      plane.started.filter(({ execution_id }) =>
        heads.some((head) => isExecuting(head.state) && head.execution_id === execution_id),
      ),
      pick,
    );
    if (envelope === undefined) return;
    const harness = createHarness(plane, envelope);
    if (pick % 3 === 0) await harness.shutDown({ error: { category: "died", message: "it is gone" } });
    else await harness.finish(pick % 2 === 0);
  }
  if (what === "cancel") {
    const run = pickItem(heads, pick);
    if (run !== undefined) await user.post(`/agent/runs/${run.run_id}/cancel?force=true`);
  }
  if (what === "revive") {
    const run = pickItem(
      heads.filter(({ state }) => isTerminal(state)),
      pick,
    );
    if (run !== undefined) await user.post(`/agent/runs/${run.run_id}/followups`, { message: "more" });
  }
  if (what === "time") {
    plane.clock.now += 31_000;
    await reap(plane);
  }
}

/** Delivers messages and completes executions, without failures, until every run has ended. */
async function finishAll(plane: TestControlPlane): Promise<void> {
  for (let round = 0; round < 400; round++) {
    for (const message of plane.sent.splice(0)) await consume(plane, message.queue, message.runId);
    const heads = listHeads(plane);
    const working = plane.started.filter(({ execution_id }) =>
      heads.some((head) => isExecuting(head.state) && head.execution_id === execution_id),
    );
    for (const envelope of working) {
      const harness = createHarness(plane, envelope);
      const { body } = await harness.resolve();
      const taken = body.context?.followups?.at(-1)?.number;
      if (taken !== undefined) await harness.beat(taken);
      await harness.finish();
    }
    if (plane.sent.length > 0 || working.length > 0) continue;
    if (heads.every(({ state }) => isTerminal(state))) return;
    plane.clock.now += 61_000;
    await reap(plane);
  }
  throw new Error(`these never ended: ${JSON.stringify(listHeads(plane).filter(({ state }) => !isTerminal(state)))}`);
}

describe("slots of teams and trees", () => {
  it("are counted correctly with lost and repeated messages, and every run ends", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const plane = await createTestControlPlane();
        await createClient(plane).put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: LIMIT } });
        await createRun(plane);
        for (const one of steps) {
          plane.clock.now += 10;
          await take(plane, one);
          await checkSlots(plane, LIMIT);
        }
        await finishAll(plane);
        checkHistories(plane);
        await checkSlots(plane, LIMIT);
        const counters = await plane.table.get(keys.counters({ type: "Team", uid: plane.team }));
        expect([counters?.["running"] ?? 0, counters?.["queued"] ?? 0, counters?.["waiting"] ?? 0]).toEqual([0, 0, 0]);
      }),
      { numRuns: 150 },
    );
  });
});
