import { expect } from "vitest";
import { isExecuting, isTerminal, TRANSITIONS, TREE_CONCURRENCY_LIMIT } from "#shared/records/run.ts";
import { parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import { counterStore } from "#shared/runs/capacity/counter-store.ts";
import { runPk } from "#shared/table/keys.ts";
import type { RunState } from "#shared/wire/run.ts";
import type { TestControlPlane } from "./control-plane.ts";

/** The heads of all runs. */
export const listHeads = (plane: TestControlPlane): RunHead[] =>
  plane.table
    .all()
    .filter(({ pk, sk }) => sk === "HEAD" && pk.startsWith("RUN#"))
    .map(parseRunHead);

const owner = (plane: TestControlPlane) => ({ type: "Team" as const, uid: plane.team });

/** Checks that counters match heads, that no limit is exceeded, and that each waiting run has one wait queue entry. */
export async function checkSlots(plane: TestControlPlane, limit: number): Promise<void> {
  const heads = listHeads(plane);
  const inSlots = heads.filter(({ slot }) => slot === "owner");
  expect(inSlots.length).toBeLessThanOrEqual(limit);
  for (const [part, { running, queued, waiting }] of (
    await counterStore(plane.table).readParts(owner(plane))
  ).entries()) {
    const counted = heads.filter((head) => (head.part ?? 0) === part);
    expect({ part, running, queued, waiting }).toEqual({
      part,
      running: counted.filter(({ slot }) => slot === "owner").length,
      queued: counted.filter(({ state }) => state === "QUEUED").length,
      waiting: counted.filter((head) => head.waiting === "owner").length,
    });
  }
  for (const head of heads) {
    const below = heads.filter(({ root, slot }) => root === head.run_id && slot === "tree");
    expect(head.tree_running).toBe(below.length);
    if (below.length > 0) expect(head.slot, "a tree that executes holds a slot").toBe("owner");
    if (isExecuting(head.state)) expect(head.slot).toBeDefined();
    if (isTerminal(head.state)) {
      expect(head.waiting).toBeUndefined();
      expect(head.slot).toBe(below.length > 0 ? "owner" : undefined);
    }
    const queueEntries = plane.table.all().filter(({ sk }) => sk.startsWith("WAITING#") && sk.endsWith(head.run_id));
    expect(queueEntries).toHaveLength(head.waiting === undefined ? 0 : 1);
  }
  for (const tree of plane.table.all().filter(({ sk }) => sk.startsWith("TREE#"))) {
    const [depth, root] = [Number(tree.sk.slice("TREE#".length)), tree.pk.slice("RUN#".length)];
    const members = heads.filter((head) => head.root === root && head.depth === depth);
    expect(tree["running"] ?? 0).toBe(members.filter(({ slot }) => slot === "tree").length);
    expect(tree["waiting"] ?? 0).toBe(members.filter(({ waiting }) => waiting === "tree").length);
    expect(Number(tree["running"] ?? 0)).toBeLessThanOrEqual(TREE_CONCURRENCY_LIMIT);
  }
}

/** Checks that every run's events have no gaps, follow allowed state transitions, and end in the state of the head. */
export function checkHistories(plane: TestControlPlane): void {
  for (const head of listHeads(plane)) {
    const items = plane.table.all().filter(({ pk, sk }) => pk === runPk(head.run_id) && /^(EVENT|MESSAGES)#/.test(sk));
    const events = items.toSorted((a, b) => Number(a["sequence"]) - Number(b["sequence"]));
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(head.next_sequence).toBe(events.length + 1);
    const states = events.flatMap(({ data }) => stateIn(data));
    expect(states[0]).toBe("QUEUED");
    for (const [index, state] of states.slice(1).entries()) {
      expect(TRANSITIONS[states[index] ?? "QUEUED"], `${states[index]} → ${state}`).toContain(state);
    }
    expect(states.at(-1)).toBe(head.state);
    const stored = items.filter(({ sk }) => sk.startsWith("MESSAGES#"));
    expect(stored.reduce((sum, { count }) => sum + Number(count), 0)).toBe(head.messages);
    expect(
      plane.table.all().filter(({ pk, sk }) => pk === runPk(head.run_id) && sk.startsWith("FOLLOWUP#")),
    ).toHaveLength(head.followups);
  }
}

const stateIn = (data: unknown): RunState[] =>
  typeof data === "object" && data !== null && "state" in data && isState(data.state) ? [data.state] : [];
const isState = (state: unknown): state is RunState => typeof state === "string" && Object.hasOwn(TRANSITIONS, state);
