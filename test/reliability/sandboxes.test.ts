import { describe, expect, it } from "vitest";
import { recordSandbox } from "#shared/executions/sandbox-stops.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { consume, createHarness, createRun, deliver, type Harness } from "../support/execution.ts";
import { type Fault, Faults } from "../support/faults.ts";
import { reap } from "../support/reaper.ts";

/** A run in a sandbox that its provider can stop, and everything that may end its execution. */
interface Scene {
  readonly plane: TestControlPlane;
  readonly run: string;
  readonly harness: Harness | undefined;
}

const actions: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  dispatch: ({ plane, run }) => consume(plane, "runs", run),
  end: ({ plane, run }) => consume(plane, "ends", run),
  cancel: ({ plane, run }) => createClient(plane).post(`/agent/runs/${run}/cancel`),
  force: ({ plane, run }) => createClient(plane).post(`/agent/runs/${run}/cancel?force=true`),
  followup: ({ plane, run }) => createClient(plane).post(`/agent/runs/${run}/followups`, { message: "more" }),
  resolve: async ({ harness }) => harness?.resolve(),
  finish: async ({ harness }) => harness?.finish(),
  lose: async ({ harness }) => harness?.shutDown({ error: { category: "died", message: "gone" } }),
  giveUp: ({ plane, run }) => consume(plane, "runs-dead", run),
  expire: async ({ plane }) => {
    plane.clock.now += 61_000;
    await reap(plane);
  },
};
const names = Object.keys(actions);
const states = ["QUEUED", "PENDING", "INPROGRESS"] as const;
type State = (typeof states)[number];

async function createScene(state: State, faults: Faults): Promise<Scene> {
  const plane = await createTestControlPlane(memoryTable(), faults.around);
  plane.offered.splice(0, 1, "microvm");
  const run = await createRun(plane);
  if (state === "QUEUED") return { plane, run, harness: undefined };
  const harness = createHarness(plane, await plane.dispatch(run));
  if (state === "INPROGRESS") await harness.resolve();
  return { plane, run, harness };
}

/** Runs queues and reaper until all executions have ended; harnesses send nothing more. */
async function settle({ plane }: Scene): Promise<void> {
  for (let pass = 0; pass < 5; pass++) {
    await deliver(plane);
    plane.clock.now += 61_000;
    await reap(plane);
  }
  await deliver(plane, "ends");
}

/** Checks that every started and recorded sandbox was stopped, except the run's present one. */
async function checkAllStopped({ plane, run }: Scene): Promise<void> {
  const head = await plane.table.get(keys.head(run));
  const stopped = new Set(plane.stopped.map(({ handle }) => handle));
  const started = plane.started.map(({ execution_id }) => `microvm-${execution_id}`);
  const present = JSON.stringify(head?.["sandbox"] ?? null);
  expect(started.filter((handle) => !stopped.has(handle) && !present.includes(handle))).toEqual([]);
  expect(head?.["stops"], "no sandbox is left to be stopped").toBeUndefined();
  for (const handle of stopped) expect(present).not.toContain(handle);
}

describe.each(states)("the sandboxes of a run that is %s", (state) => {
  it.each(names)("are all stopped after their executions, whatever happens between two calls of %s", async (first) => {
    for (const second of names) {
      for (let at = 0; at < 12; at++) {
        const faults = new Faults();
        const scene = await createScene(state, faults);
        const before = faults.calls.length;
        faults.meanwhile = { at: before + at, work: async () => actions[second]?.(scene) };
        await faults.invoke(first, async () => actions[first]?.(scene));
        const calls = faults.calls.length - before;
        await settle(scene);
        await checkAllStopped(scene).catch((error: unknown) => {
          throw new Error(`${second} before call ${at} of ${first}: ${String(error)}`);
        });
        if (at >= calls) break;
      }
    }
  });
});

describe("a function that dies", () => {
  // A dispatcher that dies during a start leaves a sandbox that is not recorded: see docs/sandboxes.md.
  it.each(names.filter((name) => name !== "dispatch"))("at any call of %s, leaves no sandbox running", async (name) => {
    for (const state of states) {
      for (const fault of ["before", "after", "unheard"] as const satisfies readonly Fault[]) {
        for (let at = 0; at < 25; at++) {
          const faults = new Faults();
          const scene = await createScene(state, faults);
          const before = faults.calls.length;
          faults.plan = { at: before + at, fault };
          await faults.invoke(name, async () => actions[name]?.(scene));
          const calls = faults.calls.length - before;
          await settle(scene);
          await checkAllStopped(scene).catch((error: unknown) => {
            throw new Error(`${fault} call ${at} of ${name} while ${state}: ${String(error)}`);
          });
          if (at >= calls) break;
        }
      }
    }
  });
});

describe("a sandbox that is recorded late", () => {
  it("is stopped although its run's transcript is created concurrently and its message is lost", async () => {
    const faults = new Faults();
    const scene = await createScene("INPROGRESS", faults);
    const { plane, run, harness } = scene;
    await harness?.finish();
    await deliver(plane);
    const first = faults.calls.length;
    const compose = () => faults.invoke("ends", () => consume(plane, "ends", run));
    await compose();
    const at = faults.calls.slice(first).findIndex((call) => call.includes("write update:RUN/HEAD"));
    expect(at).toBeGreaterThan(0);
    const placed = { provider: "microvm", executionId: harness?.execution_id ?? "", handle: "late" } as const;
    faults.meanwhile = { at: faults.calls.length + at, work: () => recordSandbox(run, placed, plane.ports) };
    await compose();
    plane.sent.length = 0;
    await settle(scene);
    expect(plane.stopped.map(({ handle }) => handle)).toContain("late");
  });

  it.each(names)("is stopped if that happens between two calls of %s", async (name) => {
    for (let at = 0; at < 12; at++) {
      const faults = new Faults();
      const scene = await createScene("PENDING", faults);
      const { plane, run, harness } = scene;
      // As it is before the provider's response.
      const set = { sandbox: { provider: "microvm" } };
      await plane.table.write({ kind: "update", key: keys.head(run), set, remove: ["sandbox_changes"] });
      const executionId = harness?.execution_id ?? "";
      const placed = { provider: "microvm", executionId, handle: `microvm-${executionId}` } as const;
      const before = faults.calls.length;
      faults.meanwhile = { at: before + at, work: () => recordSandbox(run, placed, plane.ports) };
      await faults.invoke(name, async () => actions[name]?.(scene));
      const calls = faults.calls.length - before;
      if (faults.meanwhile !== undefined) await recordSandbox(run, placed, plane.ports);
      await settle(scene);
      await checkAllStopped(scene).catch((error: unknown) => {
        throw new Error(`before call ${at} of ${name}: ${String(error)}`);
      });
      if (at >= calls) break;
    }
  });

  it("is stopped although another one is removed from the list concurrently", async () => {
    const faults = new Faults();
    const scene = await createScene("INPROGRESS", faults);
    const { plane, run, harness } = scene;
    await harness?.finish();
    const before = faults.calls.length;
    // The call right after the stop removes the stopped sandbox from the list.
    const placed = { provider: "microvm", executionId: "another", handle: "late" } as const;
    const isStopped = () => faults.calls.findIndex((call) => call.includes("sandbox.stop"));
    plane.sent.length = 0;
    faults.meanwhile = { at: before + 3, work: () => recordSandbox(run, placed, plane.ports) };
    await faults.invoke("ends", () => consume(plane, "ends", run));
    expect(isStopped()).toBe(before + 2);
    plane.sent.length = 0;
    await settle(scene);
    expect(plane.stopped.map(({ handle }) => handle)).toContain("late");
  });
});
