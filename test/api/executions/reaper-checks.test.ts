import { beforeEach, describe, expect, it } from "vitest";
import { reapRuns } from "#functions/executions/reap-runs.ts";
import { uuidv7 } from "#shared/ids.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import type { RunState } from "#shared/wire/run.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, workingRun } from "../../support/execution.ts";
import { storeRuns } from "../../support/listing.ts";
import { reap } from "../../support/reaper.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const readHead = (id: string) => plane.table.get(keys.head(id));
const inSeconds = (seconds: number) => sortableTime(plane.clock.now + seconds * 1000);

describe("a run with a sandbox that has to be stopped", () => {
  it.each([
    ["lambda", false, 600],
    ["microvm", false, 30],
    ["lambda", true, 60],
    ["microvm", true, 30],
  ] as const)("of %s (ended: %j) is checked again after %i seconds", async (provider, isEnded, seconds) => {
    plane.offered.splice(0, 1, provider);
    const harness = await workingRun(plane);
    await (isEnded ? harness.finish() : harness.shutDown());
    const hasStops = provider === "microvm";
    expect("stops" in ((await readHead(harness.run_id)) ?? {})).toBe(hasStops);
    plane.sent.length = 0;
    plane.clock.now += 600_000;
    await reap(plane);
    expect(await readHead(harness.run_id)).toMatchObject({ check_at: inSeconds(seconds) });
    const requestsEnd = plane.sent.some(({ queue }) => queue === "ends");
    expect(requestsEnd).toBe(isEnded || hasStops);
  });
});

describe("many silent executions", () => {
  const store = async (count: number, state: RunState) => {
    const owner = { type: "Team", uid: plane.team } as const;
    const at = { createdAt: plane.clock.now, updatedAt: plane.clock.now };
    const runs = Array.from({ length: count }, () => ({ runId: uuidv7(plane.clock.now), owner, state, ...at }));
    await storeRuns(plane.table, runs);
  };

  it("indicate a service fault by their share of all executions, however many runs wait", async () => {
    await store(51, "INPROGRESS");
    await store(260, "QUEUED");
    plane.clock.now += 60_000;
    expect(await reap(plane)).toMatchObject({ looked: 311, circuitOpen: true, lost: 0, failed: 0 });
  });
});

describe("dead letters that cannot be handled", () => {
  it("do not prevent the reaper's pass", async () => {
    const id = await createRun(plane);
    await deliver(plane, "ends");
    plane.sent.length = 0;
    plane.clock.now += 60_000;
    const deadRuns = { drain: () => Promise.reject(new Error("no queue")) };
    const passes = { everySeconds: 15, sendPass: () => Promise.resolve() };
    const result = await reapRuns.handle(JSON.parse("{}"), { ...plane.ports, passes, deadRuns });
    expect(result).toEqual({ batchItemFailures: [] });
    expect(plane.sent).toEqual([{ queue: "runs", runId: id }]);
  });
});
