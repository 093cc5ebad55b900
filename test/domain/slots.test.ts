import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isExecuting, isTerminal } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import { clientOf } from "../support/client.ts";
import { consume, createRun, harnessOf } from "../support/execution.ts";
import { checkHistories, checkSlots, headsOf } from "../support/invariants.ts";
import { reap } from "../support/reaper.ts";
import { makeWorld, type World } from "../support/world.ts";

const LIMIT = 2;

/** What may happen next; `pick` chooses the run or message that it happens to. */
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

const pickOf = <T>(list: readonly T[], pick: number): T | undefined => list[pick % Math.max(1, list.length)];

async function take(world: World, { what, pick }: Step): Promise<void> {
  const heads = headsOf(world);
  const ada = clientOf(world);
  if (what === "root") await createRun(world);
  if (what === "child") {
    const parent = pickOf(heads, pick);
    const depth = parent?.depth ?? 0;
    if (parent !== undefined && depth < 3) await createRun(world, { prompt: "a", parent_run_id: parent.run_id });
  }
  if (what === "message" || what === "repeat" || what === "drop") {
    const message = pickOf(world.sent, pick);
    if (message === undefined) return;
    if (what !== "repeat") world.sent.splice(world.sent.indexOf(message), 1);
    if (what !== "drop") await consume(world, message.queue, message.runId);
  }
  if (what === "end") {
    const envelope = pickOf(
      world.started.filter(({ execution_id }) =>
        heads.some((head) => isExecuting(head.state) && head.execution_id === execution_id),
      ),
      pick,
    );
    if (envelope === undefined) return;
    const harness = harnessOf(world, envelope);
    if (pick % 3 === 0) await harness.shutDown({ error: { category: "died", message: "it is gone" } });
    else await harness.finish(pick % 2 === 0);
  }
  if (what === "cancel") {
    const run = pickOf(heads, pick);
    if (run !== undefined) await ada.post(`/agent/runs/${run.run_id}/cancel?force=true`);
  }
  if (what === "revive") {
    const run = pickOf(
      heads.filter(({ state }) => isTerminal(state)),
      pick,
    );
    if (run !== undefined) await ada.post(`/agent/runs/${run.run_id}/followups`, { message: "more" });
  }
  if (what === "time") {
    world.clock.now += 31_000;
    await reap(world);
  }
}

/** Nothing more happens but time: whatever begins ends well. */
async function finishAll(world: World): Promise<void> {
  for (let round = 0; round < 400; round++) {
    for (const message of world.sent.splice(0)) await consume(world, message.queue, message.runId);
    const heads = headsOf(world);
    const working = world.started.filter(({ execution_id }) =>
      heads.some((head) => isExecuting(head.state) && head.execution_id === execution_id),
    );
    for (const envelope of working) {
      const harness = harnessOf(world, envelope);
      const { body } = await harness.resolve();
      const taken = body.context?.followups?.at(-1)?.number;
      if (taken !== undefined) await harness.beat(taken);
      await harness.finish();
    }
    if (world.sent.length > 0 || working.length > 0) continue;
    if (heads.every(({ state }) => isTerminal(state))) return;
    world.clock.now += 61_000;
    await reap(world);
  }
  throw new Error(`these never ended: ${JSON.stringify(headsOf(world).filter(({ state }) => !isTerminal(state)))}`);
}

describe("slots of teams and of trees", () => {
  it("are counted right whatever happens, messages lost and repeated included, and every run ends", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        const world = await makeWorld();
        await clientOf(world).put(`/agent/teams/${world.team}`, { settings: { concurrency_limit: LIMIT } });
        await createRun(world);
        for (const one of steps) {
          world.clock.now += 10;
          await take(world, one);
          await checkSlots(world, LIMIT);
        }
        await finishAll(world);
        checkHistories(world);
        await checkSlots(world, LIMIT);
        const counters = await world.table.get(keys.counters({ type: "Team", uid: world.team }));
        expect([counters?.["running"] ?? 0, counters?.["queued"] ?? 0, counters?.["parked"] ?? 0]).toEqual([0, 0, 0]);
      }),
      { numRuns: 150 },
    );
  });
});
