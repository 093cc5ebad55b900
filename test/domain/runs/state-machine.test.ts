import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import { isExecuting, isTerminal, TRANSITIONS } from "#shared/records/run.ts";
import { parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import { RunChangedError, runStore } from "#shared/runs/run-store.ts";
import {
  type AttributeChange,
  type Change,
  ENDING_ATTRIBUTES,
  type EndChange,
  EXECUTION_ATTRIBUTES,
  type StartChange,
} from "#shared/runs/transition.ts";
import { keys, type Owner } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { RunState } from "#shared/wire/run.ts";
import { newRunWrites } from "../../../lab/bench/new-run-writes.ts";

const NOW = Date.parse("2026-05-18T19:00:00.000Z");
const owner: Owner = { type: "Team", uid: "team-1" };
const creator = { type: "user" as const, uid: "user-1" };

async function makeRuns(count: number) {
  const table = memoryTable();
  const runs = runStore(table);
  const ids: string[] = [];
  for (let index = 0; index < count; index++) {
    const id = uuidv7(NOW);
    const body = {
      title: "t",
      prompt: "p",
      config: {},
      creator,
      executor: creator,
      source: "API" as const,
      execution_location: "REMOTE" as const,
      conversation_id: id,
      ancestors: [],
      mode: "normal" as const,
      interactive: false,
      attachments: [],
    };
    await table.transact(newRunWrites(id, owner, body, NOW));
    ids.push(id);
  }
  const head = async (id: string): Promise<RunHead> => {
    const found = await runs.head(id);
    if (found === undefined) throw new Error("the run is gone");
    return found;
  };
  return { table, runs, ids, head };
}
type Runs = Awaited<ReturnType<typeof makeRuns>>;

/** A transition with the attributes of its target state. */
function moveTo(head: RunHead, to: RunState, execution: string): Change {
  return isExecuting(to) ? startAs(head, to, execution) : endAs(to);
}

function endAs(to: EndChange["to"]): EndChange {
  const events = [{ type: "checkpoint_saved", data: { state: to } }] as const;
  if (to === "QUEUED") return { to, events, remove: [...ENDING_ATTRIBUTES, ...EXECUTION_ATTRIBUTES] };
  return { to, events, set: { ended_at: NOW }, remove: ["key_hash", "state_since", "heartbeat_at"] };
}

function startAs(head: RunHead, to: StartChange["to"], execution: string): StartChange {
  const begins = head.state === "QUEUED";
  return {
    to,
    events: [{ type: "checkpoint_saved", data: { state: to } }],
    set: { ...(begins ? { execution_id: execution, key_hash: "h" } : {}), state_since: NOW, heartbeat_at: NOW },
  };
}

const states = fc.constantFrom(...RunState.options);
const step = fc.record({
  run: fc.nat({ max: 2 }),
  to: fc.option(states, { nil: undefined }),
  batch: fc.boolean(),
  stale: fc.boolean(),
});

describe("transitions of runs", () => {
  // @contract runs.transitions.enforced: A disallowed transition is refused by the store's own condition, not by a check before it.
  it("are written exactly as the contract allows, and leave valid heads, gapless events and counts", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const plane = await makeRuns(3);
        const older = new Map<string, RunHead>();
        for (const [index, { run, to, batch, stale }] of steps.entries()) {
          const id = plane.ids[run] ?? "";
          const now = await plane.head(id);
          const head = stale ? (older.get(id) ?? now) : now;
          older.set(id, now);
          const messages = batch ? { messages: { first: 1, count: 1, bytes: 2, messages: "[]" } } : {};
          const change: Change =
            to === undefined ? { events: [], ...messages } : { ...moveTo(head, to, `e${index}`), ...messages };
          const before = structuredClone(plane.table.all());
          const outcome = await plane.runs.change(head, change, NOW + index).then(
            () => "written",
            (error: unknown) => error,
          );
          const isLegal = to === undefined || TRANSITIONS[head.state].includes(to);
          const isCurrent = head.next_sequence === now.next_sequence && head.state === now.state;
          if (!isLegal) expect(outcome).toBeInstanceOf(RangeError);
          else if (!isCurrent) expect(outcome).toBeInstanceOf(RunChangedError);
          else expect(outcome).toBe("written");
          if (outcome !== "written") expect(plane.table.all()).toEqual(before);
        }
        await checkAll(plane);
      }),
      { numRuns: 150 },
    );
  });

  // @contract runs.transitions.enforced
  it("from the same head succeed exactly once", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<RunState>("PENDING", "CANCELLED", "FAILED", "ERROR"), { minLength: 2, maxLength: 12 }),
        async (targets) => {
          const plane = await makeRuns(1);
          const [id = ""] = plane.ids;
          const head = await plane.head(id);
          const outcomes = await Promise.allSettled(
            targets.map((to, index) => plane.runs.change(head, moveTo(head, to, `e${index}`), NOW)),
          );
          const winners = outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
          expect(winners).toHaveLength(1);
          expect((await plane.head(id)).state).toBe(targets[winners[0] ?? -1]);
          for (const outcome of outcomes) {
            if (outcome.status === "rejected") expect(outcome.reason).toBeInstanceOf(RunChangedError);
          }
          await checkAll(plane);
        },
      ),
      { numRuns: 50 },
    );
  });

  // @contract runs.transitions.through
  it("can pass through a state in one transaction only if both transitions are allowed", async () => {
    const plane = await makeRuns(1);
    const [id = ""] = plane.ids;
    const queued = await plane.head(id);
    await expect(plane.runs.change(queued, { ...endAs("SUCCEEDED"), via: "INPROGRESS" }, NOW)).rejects.toThrow(
      RangeError,
    );
    await plane.runs.change(queued, moveTo(queued, "PENDING", "e"), NOW);
    const pending = await plane.head(id);
    await expect(plane.runs.change(pending, moveTo(pending, "SUCCEEDED", "e"), NOW)).rejects.toThrow(RangeError);
    await plane.runs.change(pending, { ...endAs("SUCCEEDED"), via: "INPROGRESS" }, NOW);
    expect((await plane.head(id)).state).toBe("SUCCEEDED");
    await checkAll(plane);
  });

  it("name the refused writes, including the caller's", async () => {
    const plane = await makeRuns(1);
    const [id = ""] = plane.ids;
    const head = await plane.head(id);
    const refused = {
      kind: "put",
      item: { ...keys.clientEvent(id, "e"), v: 1 },
      if: { pk: { exists: true } },
    } as const;
    const failure = (change: Partial<AttributeChange>) =>
      plane.runs.change(head, { events: [], touch: true, ...change }, NOW).catch((error: unknown) => error);
    expect(await failure({ also: { marker: refused } })).toMatchObject({
      failed: new Set(["marker"]),
      headChanged: false,
      cause: { positions: [1] },
    });
    expect(await failure({ if: { slot: { exists: true } } })).toMatchObject({
      failed: new Set(["head"]),
      headChanged: true,
    });
    expect(await plane.head(id), "nothing is written").toEqual(head);
  });

  // @contract runs.transitions.allowed: The state transitions are those of the contract.
  // @contract runs.transitions.first: A run begins as QUEUED.
  // @contract runs.transitions.revive: Only a follow-up takes an ended run back to the queue.
  it("are exactly those of the contract", () => {
    const transitions = Object.entries(TRANSITIONS).flatMap(([from, targets]) => targets.map((to) => `${from}→${to}`));
    expect(transitions.toSorted()).toEqual(
      [
        "QUEUED→PENDING QUEUED→CANCELLED QUEUED→FAILED QUEUED→ERROR",
        "PENDING→INPROGRESS PENDING→CLAIMED PENDING→QUEUED PENDING→FAILED PENDING→ERROR PENDING→CANCELLED",
        "CLAIMED→INPROGRESS CLAIMED→QUEUED CLAIMED→FAILED CLAIMED→ERROR CLAIMED→CANCELLED",
        "INPROGRESS→SUCCEEDED INPROGRESS→FAILED INPROGRESS→ERROR INPROGRESS→BLOCKED INPROGRESS→CANCELLED INPROGRESS→QUEUED",
        "SUCCEEDED→QUEUED FAILED→QUEUED ERROR→QUEUED BLOCKED→QUEUED CANCELLED→QUEUED",
      ]
        .flatMap((line) => line.split(" "))
        .toSorted(),
    );
  });
});

async function checkAll({ table, ids, runs }: Runs): Promise<void> {
  const heads = await Promise.all(ids.map((id) => table.get(keys.head(id))));
  const parsed = heads.map((item) => parseRunHead(item ?? { pk: "", sk: "" }));
  for (const [index, head] of parsed.entries()) {
    const events = [...(await runs.timelineItems(head.run_id)).items, ...(await runs.messageItems(head.run_id)).items];
    const sequences = events.map((item) => Number(item["sequence"])).sort((a, b) => a - b);
    expect(sequences).toEqual(Array.from({ length: head.next_sequence - 1 }, (_, n) => n + 1));
    expect(heads[index]?.["active_scope"], "what has not ended is in the index of those").toBe(
      isTerminal(head.state) ? undefined : head.scope,
    );
  }
  const counters = await table.get(keys.counters(owner));
  expect(counters?.["queued"] ?? 0).toBe(parsed.filter(({ state }) => state === "QUEUED").length);
  expect(counters?.["running"] ?? 0).toBe(parsed.filter(({ state }) => isExecuting(state)).length);
}
