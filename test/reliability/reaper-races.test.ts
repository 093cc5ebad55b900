import { describe, expect, it } from "vitest";
import { memoryTable } from "#shared/table/memory-table.ts";
import { clientOf } from "../support/client.ts";
import { consume, createRun, harnessOf } from "../support/execution.ts";
import { Faults } from "../support/faults.ts";
import { reap } from "../support/reaper.ts";
import { makeWorld, type World } from "../support/world.ts";

/** A world whose run is at the beginning of a pass of the reaper, and what somebody else does during the pass. */
interface Scene {
  readonly world: World;
  readonly run: string;
  readonly meanwhile: () => Promise<unknown>;
}

const shown = async ({ world, run }: Scene) => (await clientOf(world).get(`/agent/runs/${run}`)).body;

/** One pass for each of its calls, right before which `meanwhile` happens; `check` looks at what is left. */
async function duringEachCall(
  makeScene: (world: World) => Promise<Scene>,
  check: (scene: Scene) => Promise<void>,
): Promise<void> {
  for (let at = 0; ; at++) {
    const faults = new Faults();
    const scene = await makeScene(await makeWorld(memoryTable(), faults.around));
    const before = faults.calls.length;
    faults.meanwhile = { at: before + at, work: scene.meanwhile };
    await faults.invoke("reap-runs", () => reap(scene.world));
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
  it("loses no execution whose beat is answered meanwhile", async () => {
    const answers: number[] = [];
    await duringEachCall(
      async (world) => {
        const run = await createRun(world);
        const harness = harnessOf(world, await world.dispatch(run));
        await harness.resolve();
        world.clock.now += 31_000;
        return { world, run, meanwhile: async () => answers.push((await harness.beat()).status) };
      },
      async (scene) => {
        const events = await clientOf(scene.world).get(`/agent/runs/${scene.run}/timeline`);
        const lost = events.body.events.some(
          ({ event_type }: { event_type: string }) => event_type === "execution_lost",
        );
        expect(lost, `the beat was answered ${answers.at(-1)}`).toBe(answers.at(-1) !== 200);
      },
    );
    expect(new Set(answers)).toEqual(new Set([200, 401]));
  });

  it("leaves the look that a run's start has planned meanwhile, however long the run had waited", async () => {
    await duringEachCall(
      async (world) => {
        const run = await createRun(world);
        // It has waited for long, so that it would be looked at again in an hour only.
        world.clock.now += 3_600_000;
        return { world, run, meanwhile: () => consume(world, "runs", run) };
      },
      async (scene) => {
        expect(await shown(scene)).toMatchObject({ state: "PENDING" });
        scene.world.clock.now += 121_000;
        await reap(scene.world);
        // Its sandbox has never begun.
        expect(await shown(scene)).toMatchObject({ state: "QUEUED" });
      },
    );
  });
});
