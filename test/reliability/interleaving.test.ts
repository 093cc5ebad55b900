import { describe, expect, it } from "vitest";
import { memoryTable } from "#shared/table/memory-table.ts";
import { clientOf } from "../support/client.ts";
import { consume, createRun, type Harness, harnessOf } from "../support/execution.ts";
import { Faults } from "../support/faults.ts";
import { checkHistories, checkSlots, headsOf } from "../support/invariants.ts";
import { reap } from "../support/reaper.ts";
import { type Answer, makeWorld, type World } from "../support/world.ts";

/** One run, and what everybody may do to it at any time. */
interface Scene {
  readonly world: World;
  readonly run: string;
  /** The harness of the execution that was there at the beginning. */
  readonly harness: Harness | undefined;
}

const LIMIT = 1;
const ok = ({ status }: Answer) => status;

const actions: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  dispatch: ({ world, run }) => consume(world, "runs", run),
  end: ({ world, run }) => consume(world, "ends", run),
  cancel: ({ world, run }) => clientOf(world).post(`/agent/runs/${run}/cancel`).then(ok),
  force: ({ world, run }) => clientOf(world).post(`/agent/runs/${run}/cancel?force=true`).then(ok),
  followup: ({ world, run }) => clientOf(world).post(`/agent/runs/${run}/followups`, { message: "more" }).then(ok),
  resolve: async ({ harness }) => harness?.resolve().then(ok),
  messages: async ({ harness }) => harness?.messages(1, "one", "two").then(ok),
  finish: async ({ harness }) => harness?.finish().then(ok),
  lose: async ({ harness }) => harness?.shutDown({ error: { category: "died", message: "gone" } }).then(ok),
  snapshot: async ({ harness }) =>
    harness?.support("upload-snapshot", { mode: "checkpoint", generation: "g", files: [] }).then(ok),
  commit: async ({ harness }) => harness?.support("commit-snapshot", { generation: "g", files: [] }).then(ok),
  silence: async ({ world }) => {
    world.clock.now += 31_000;
    await reap(world);
  },
};

/** A run as it is at the beginning, with a second one that waits for its slot. */
async function sceneOf(state: "QUEUED" | "PENDING" | "INPROGRESS" | "CANCELLED", faults: Faults): Promise<Scene> {
  const world = await makeWorld(memoryTable(), faults.around);
  await clientOf(world).put(`/agent/teams/${world.team}`, { settings: { concurrency_limit: LIMIT } });
  const run = await createRun(world);
  if (state === "QUEUED") return { world, run, harness: undefined };
  const harness = harnessOf(world, await world.dispatch(run));
  if (state !== "PENDING") await harness.resolve();
  if (state === "INPROGRESS") {
    await harness.support("upload-snapshot", { mode: "checkpoint", generation: "g", files: [] });
    const waiting = await createRun(world);
    await consume(world, "runs", waiting);
  }
  if (state === "CANCELLED") await clientOf(world).post(`/agent/runs/${run}/cancel`);
  return { world, run, harness };
}

/** Plays `first` with `second` right before its call `at`; answers how many calls `first` made. */
async function play(state: Parameters<typeof sceneOf>[0], first: string, second: string, at: number): Promise<number> {
  const faults = new Faults();
  const scene = await sceneOf(state, faults);
  const before = faults.calls.length;
  faults.meanwhile = { at: before + at, work: async () => actions[second]?.(scene) };
  await faults.invoke(first, async () => actions[first]?.(scene));
  const calls = faults.calls.length - before;
  await checkSlots(scene.world, LIMIT);
  checkHistories(scene.world);
  expect(headsOf(scene.world).filter(({ run_id }) => run_id === scene.run)).toHaveLength(1);
  return calls;
}

const names = Object.keys(actions);

describe.each(["QUEUED", "PENDING", "INPROGRESS", "CANCELLED"] as const)("of a run that is %s", (state) => {
  it.each(names)(
    "%s leaves a legal history and true counters, whatever happens between two of its calls",
    async (first) => {
      for (const second of names) {
        for (let at = 0; at < 12; at++) {
          const calls = await play(state, first, second, at).catch((error: unknown) => {
            throw new Error(`${second} before call ${at} of ${first}: ${String(error)}`);
          });
          if (at >= calls) break;
        }
      }
    },
  );
});
