import { describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../support/control-plane.ts";
import { consume, createHarness, createRun, type Harness, workingRun } from "../support/execution.ts";
import { Faults } from "../support/faults.ts";
import { checkHistories, checkSlots, listHeads } from "../support/invariants.ts";
import { reap } from "../support/reaper.ts";

/** One run, and the callers that may change it at any time. */
interface Scene {
  readonly plane: TestControlPlane;
  readonly run: string;
  /** The identity that the run works as. */
  readonly identity: string;
  /** The harness of the run's execution at the beginning. */
  readonly harness: Harness | undefined;
  /** For a child run: the harnesses of its parent and of its sibling, which holds the only slot of the tree. */
  readonly tree?: { readonly parent: Harness; readonly sibling: Harness };
}

const STATES = ["QUEUED", "PENDING", "INPROGRESS", "CANCELLED", "a QUEUED child"] as const;
const LIMIT = 1;
/** A team's limit after it is raised. */
const RAISED = 2;
const ok = ({ status }: ResponseBody) => status;

const actions: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> = {
  dispatch: ({ plane, run }) => consume(plane, "runs", run),
  end: ({ plane, run }) => consume(plane, "ends", run),
  cancel: ({ plane, run }) => createClient(plane).post(`/agent/runs/${run}/cancel`).then(ok),
  force: ({ plane, run }) => createClient(plane).post(`/agent/runs/${run}/cancel?force=true`).then(ok),
  followup: ({ plane, run }) => createClient(plane).post(`/agent/runs/${run}/followups`, { message: "more" }).then(ok),
  resolve: async ({ harness }) => harness?.resolve().then(ok),
  messages: async ({ harness }) => harness?.messages(1, "one", "two").then(ok),
  finish: async ({ harness }) => harness?.finish().then(ok),
  block: async ({ harness }) =>
    harness?.support("finish-task", { success: false, blocked: true, summary: "Which one?" }).then(ok),
  heartbeat: async ({ harness }) => harness?.beat().then(ok),
  lose: async ({ harness }) => harness?.shutDown({ error: { category: "died", message: "gone" } }).then(ok),
  snapshot: async ({ harness }) =>
    harness?.support("upload-snapshot", { mode: "checkpoint", generation: "g", files: [] }).then(ok),
  commit: async ({ harness }) => harness?.support("commit-snapshot", { generation: "g", files: [] }).then(ok),
  event: async ({ plane, run, harness }) => {
    const event = { event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z", event_uuid: EVENT };
    return harness && createClient(plane, harness.key).post(`/agent/runs/${run}/client-events`, event).then(ok);
  },
  file: async ({ harness }) => harness?.support("report-artifact", { artifact_type: "FILE", data: FILE }).then(ok),
  parent: async ({ tree }) => tree?.parent.finish().then(ok),
  sibling: async ({ tree }) => tree?.sibling.finish().then(ok),
  orphan: async ({ tree }) => {
    await tree?.parent.finish();
    return tree?.sibling.finish().then(ok);
  },
  recount: async ({ plane }) => {
    plane.clock.now += 3_600_000;
    return consume(plane, "runs", await createRun(plane, { prompt: "another" }));
  },
  giveUp: ({ plane, run }) => consume(plane, "runs-dead", run),
  cancelAll: async ({ plane }) => {
    const filter = { created_after: "2026-01-01T00:00:00Z" };
    const { status, body } = await createClient(plane).post("/agent/runs/cancel", { filter });
    expect(status, JSON.stringify(body)).toBe(200);
  },
  deleteIdentity: ({ plane, identity }) => createClient(plane).delete(`/agent/identities/${identity}`).then(ok),
  raiseLimit: ({ plane }) => createClient(plane).put(`/agent/teams/${plane.team}`, toLimit(RAISED)).then(ok),
  expire: async ({ plane }) => {
    plane.clock.now += 31_000;
    await reap(plane);
  },
};

const EVENT = "8f3c2f9e-0d0f-4b8e-9a70-2b1f3f0f5c11";
const FILE = { filepath: "a", filename: "a", mime_type: "text/plain", size_bytes: 1, sha256: "1".repeat(64) };
const toLimit = (runs: number) => ({ settings: { concurrency_limit: runs } });

/** Creates a run that waits for a slot of its tree. */
async function createChildScene(plane: TestControlPlane, identity: string): Promise<Scene> {
  const parent = await workingRun(plane);
  const child = { prompt: "hello", parent_run_id: parent.run_id };
  const sibling = createHarness(plane, await plane.dispatch(await createRun(plane, child)));
  await sibling.resolve();
  await plane.table.write({ kind: "update", key: keys.tree(parent.run_id, 1), set: { concurrency_limit: 1 } });
  const run = await createRun(plane, { ...child, agent_identity_uid: identity });
  return { plane, run, identity, harness: undefined, tree: { parent, sibling } };
}

/** Creates a run in its initial state, with a second one that waits for its slot. */
async function createScene(state: (typeof STATES)[number], faults: Faults): Promise<Scene> {
  const plane = await createTestControlPlane(memoryTable(), faults.around);
  await createClient(plane).put(`/agent/teams/${plane.team}`, toLimit(LIMIT));
  const { uid: identity } = await plane.agent();
  if (state === "a QUEUED child") return createChildScene(plane, identity);
  const run = await createRun(plane, { prompt: "hello", agent_identity_uid: identity });
  if (state === "QUEUED") return { plane, run, identity, harness: undefined };
  const harness = createHarness(plane, await plane.dispatch(run));
  if (state !== "PENDING") await harness.resolve();
  if (state === "INPROGRESS") {
    const snapshot = { mode: "checkpoint", generation: "g", files: [] };
    expect(await harness.support("upload-snapshot", snapshot)).toMatchObject({ status: 200 });
    const waiting = await createRun(plane);
    await consume(plane, "runs", waiting);
  }
  if (state === "CANCELLED") await createClient(plane).post(`/agent/runs/${run}/cancel`);
  return { plane, run, identity, harness };
}

/** Performs `first` with `second` right before its call `at`. Returns how many calls `first` made. */
async function play(
  state: Parameters<typeof createScene>[0],
  first: string,
  second: string,
  at: number,
): Promise<number> {
  const faults = new Faults();
  const scene = await createScene(state, faults);
  const before = faults.calls.length;
  faults.meanwhile = { at: before + at, work: async () => actions[second]?.(scene) };
  await faults.invoke(first, async () => actions[first]?.(scene));
  const calls = faults.calls.length - before;
  await checkSlots(scene.plane, [first, second].includes("raiseLimit") ? RAISED : LIMIT);
  checkHistories(scene.plane);
  expect(listHeads(scene.plane).filter(({ run_id }) => run_id === scene.run)).toHaveLength(1);
  return calls;
}

/** Actions that need a harness, or a run tree, which exist in some states only. */
const HARNESS_ACTIONS = [
  "resolve",
  "heartbeat",
  "messages",
  "finish",
  "block",
  "lose",
  "snapshot",
  "commit",
  "event",
  "file",
];
const TREE_ACTIONS = ["parent", "sibling", "orphan"];

const listNames = (state: (typeof STATES)[number]): string[] =>
  Object.keys(actions).filter((name) => {
    if (HARNESS_ACTIONS.includes(name)) return state !== "QUEUED" && state !== "a QUEUED child";
    return !TREE_ACTIONS.includes(name) || state === "a QUEUED child";
  });

describe.each(STATES)("a run that is %s", (state) => {
  it.each(listNames(state))(
    "keeps a legal history and correct counters under %s, whatever happens between two of its calls",
    async (first) => {
      for (const second of listNames(state)) {
        for (let at = 0; ; at++) {
          const calls = await play(state, first, second, at).catch((error: unknown) => {
            throw new Error(`${second} before call ${at} of ${first}: ${String(error)}`);
          });
          if (at >= calls) break;
        }
      }
    },
  );
});
