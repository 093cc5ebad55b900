import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isExecuting, TRANSITIONS } from "#shared/records/run.ts";
import { parseRunHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { RunState } from "#shared/wire/run.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createHarness, createRun, deliver, type Harness } from "../../support/execution.ts";
import { reap } from "../../support/reaper.ts";

/** Operations on a run, in any order: of callers, executions, queues that lose and repeat messages, and time. */
const ACTIONS = [
  "dispatch",
  "resolve",
  "messages",
  "beat",
  "event",
  "followup",
  "cancel",
  "force",
  "finish",
  "fail",
  "shutDown",
  "old harness",
  "deliver",
  "lose messages",
  "repeat message",
  "reap",
  "pause",
  "long pause",
  "dead letter",
] as const;
type Deed = (typeof ACTIONS)[number];

describe("a run with random operations and failures", () => {
  // @contract runs.transitions.allowed
  it("makes only allowed transitions, records each in a gapless sequence, is counted correctly, and ends", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...ACTIONS), fc.nat({ max: 1 })), { maxLength: 45 }),
        async (deeds) => {
          const plane = await createTestControlPlane();
          const ids = [await createRun(plane), await createRun(plane)];
          for (const [deed, run] of deeds) {
            await doIt(plane, ids[run] ?? "", deed);
            await checkCounters(plane, ids);
          }
          for (const id of ids) await checkHistory(plane, id);
          await bringToEnd(plane, ids);
        },
      ),
      { numRuns: 60 },
    );
  });
});

async function doIt(plane: TestControlPlane, id: string, deed: Deed): Promise<void> {
  const harnesses = plane.started
    .filter(({ run_id }) => run_id === id)
    .map((envelope) => createHarness(plane, envelope, envelope.execution_id));
  const harness = harnesses.at(-1);
  const user = createClient(plane);
  const next = (await plane.ports.runs.head(id))?.messages ?? 0;
  const responses: Partial<Record<Deed, () => Promise<{ status: number } | undefined>>> = {
    resolve: async () => harness?.resolve(),
    messages: async () => harness?.messages(next + 1, "said"),
    beat: async () => harness?.beat(0),
    event: async () =>
      harness?.event({ event_uuid: `${next}`, event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z" }),
    followup: () => user.post(`/agent/runs/${id}/followups`, { message: "more" }),
    cancel: () => user.post(`/agent/runs/${id}/cancel`),
    force: () => user.post(`/agent/runs/${id}/cancel?force=true`),
    finish: async () => harness?.finish(true),
    fail: async () => harness?.finish(false),
    shutDown: async () => harness?.shutDown(),
    "old harness": () => oldHarness(harnesses.at(-2)),
  };
  const response = await responses[deed]?.();
  if (response !== undefined) expect(response.status, deed).toBeLessThan(500);
  if (deed === "dispatch") await consume(plane, "runs", id);
  if (deed === "deliver") await deliver(plane);
  if (deed === "lose messages") plane.sent.length = 0;
  if (deed === "repeat message") plane.sent.push(...plane.sent);
  if (deed === "dead letter") await consume(plane, "runs-dead", id);
  if (deed === "reap") await reap(plane);
  if (deed === "pause") plane.clock.now += 9_000;
  if (deed === "long pause") plane.clock.now += 65_000;
}

/** Calls the API as a replaced execution, which is rejected. */
async function oldHarness(harness: Harness | undefined): Promise<undefined> {
  if (harness === undefined) return;
  for (const response of [await harness.resolve(), await harness.messages(1, "old"), await harness.finish()])
    expect(response.status).toBe(401);
}

async function checkCounters(plane: TestControlPlane, ids: readonly string[]): Promise<void> {
  const heads = await Promise.all(
    ids.map(async (id) => parseRunHead((await plane.table.get(keys.head(id))) ?? { pk: "", sk: "" })),
  );
  const counters = await plane.table.get(keys.counters({ type: "Team", uid: plane.team }));
  expect(counters?.["queued"] ?? 0).toBe(heads.filter(({ state }) => state === "QUEUED").length);
  expect(counters?.["running"] ?? 0).toBe(heads.filter(({ state }) => isExecuting(state)).length);
}

/** Checks that the states in the events form a legal path, which ends in the state of the run. */
async function checkHistory(plane: TestControlPlane, id: string): Promise<void> {
  const head = await plane.ports.runs.head(id);
  const events: { sequence: number; data: { state?: unknown } }[] = [];
  for (let after = 0; ; ) {
    const { body } = await createClient(plane).get(`/agent/runs/${id}/events?after=${after}`);
    if (body.events.length === 0) break;
    events.push(...body.events);
    after = body.next;
  }
  expect(events.map(({ sequence }) => sequence)).toEqual(
    Array.from({ length: (head?.next_sequence ?? 1) - 1 }, (_, index) => index + 1),
  );
  const path = events.flatMap(({ data }): RunState[] => RunState.options.filter((state) => state === data.state));
  expect(path[0]).toBe("QUEUED");
  for (const [index, state] of path.slice(1).entries()) {
    const before = path[index] ?? "QUEUED";
    expect(TRANSITIONS[before], `${path.join(" → ")}`).toContain(state);
  }
  expect(path.at(-1)).toBe(head?.state);
}

/** Delivers messages, runs the reaper and completes executions, until every run has ended and has a transcript. */
async function bringToEnd(plane: TestControlPlane, ids: readonly string[]): Promise<void> {
  for (let round = 0; round < 200; round++) {
    await deliver(plane);
    for (const envelope of plane.started.slice(-2 * ids.length)) {
      const harness = createHarness(plane, envelope, envelope.execution_id);
      if ((await harness.resolve()).status !== 200) continue;
      const head = await plane.ports.runs.head(envelope.run_id);
      await harness.beat(head?.followups ?? 0);
      await harness.finish();
    }
    plane.clock.now += 31_000;
    await reap(plane);
    await deliver(plane);
    const heads = await Promise.all(ids.map((id) => plane.ports.runs.head(id)));
    const isDone = heads.every(
      (head) => head !== undefined && "transcript_events" in head && !("stop_pending" in head && head.stop_pending),
    );
    if (isDone) return;
  }
  throw new Error("the runs did not end");
}
