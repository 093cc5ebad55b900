import { describe, expect, it } from "vitest";
import { memoryTable } from "#shared/table/memory-table.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { consume, createHarness, createRun } from "../support/execution.ts";
import { Faults } from "../support/faults.ts";
import { reap } from "../support/reaper.ts";

/** A run before a pass of the reaper, and what another caller does during the pass. */
interface Scene {
  readonly plane: TestControlPlane;
  readonly run: string;
  readonly meanwhile: () => Promise<unknown>;
}

const readRun = async ({ plane, run }: Scene) => (await createClient(plane).get(`/agent/runs/${run}`)).body;

/** Repeats a pass with `meanwhile` right before each of its calls, and checks the result. */
async function duringEachCall(
  makeScene: (plane: TestControlPlane) => Promise<Scene>,
  check: (scene: Scene) => Promise<void>,
): Promise<void> {
  for (let at = 0; ; at++) {
    const faults = new Faults();
    const scene = await makeScene(await createTestControlPlane(memoryTable(), faults.around));
    const before = faults.calls.length;
    faults.meanwhile = { at: before + at, work: scene.meanwhile };
    await faults.invoke("reap-runs", () => reap(scene.plane));
    if (faults.meanwhile !== undefined) {
      expect(at, "calls of a pass").toBeGreaterThan(3);
      return;
    }
    await check(scene).catch((error: unknown) => {
      throw new Error(`before ${faults.calls[before + at]}: ${String(error)}`);
    });
  }
}

describe("a pass of the reaper", () => {
  it("expires no execution whose heartbeat succeeds concurrently", async () => {
    const responses: number[] = [];
    await duringEachCall(
      async (plane) => {
        const run = await createRun(plane);
        const harness = createHarness(plane, await plane.dispatch(run));
        await harness.resolve();
        plane.clock.now += 31_000;
        return { plane, run, meanwhile: async () => responses.push((await harness.beat()).status) };
      },
      async (scene) => {
        const events = await createClient(scene.plane).get(`/agent/runs/${scene.run}/timeline`);
        const lost = events.body.events.some(
          ({ event_type }: { event_type: string }) => event_type === "execution_lost",
        );
        expect(lost, `the heartbeat returned ${responses.at(-1)}`).toBe(responses.at(-1) !== 200);
      },
    );
    expect(new Set(responses)).toEqual(new Set([200, 401]));
  });

  it("keeps the check that a run's start has scheduled concurrently, however long the run had waited", async () => {
    await duringEachCall(
      async (plane) => {
        const run = await createRun(plane);
        // It has waited for so long that its next check would be in an hour.
        plane.clock.now += 3_600_000;
        return { plane, run, meanwhile: () => consume(plane, "runs", run) };
      },
      async (scene) => {
        expect(await readRun(scene)).toMatchObject({ state: "PENDING" });
        scene.plane.clock.now += 121_000;
        await reap(scene.plane);
        // Its sandbox never started working.
        expect(await readRun(scene)).toMatchObject({ state: "QUEUED" });
      },
    );
  });
});
