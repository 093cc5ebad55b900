import { describe, expect, it } from "vitest";
import type { RunBody } from "#shared/records/run-body.ts";
import { parseRunHead } from "#shared/records/run-head.ts";
import { toExecutionCount } from "#shared/runs/capacity/execution-count-store.ts";
import { toPool, toSlotChange } from "#shared/runs/capacity/slot-store.ts";
import { hasRoom, isFull, needsRoot, toWaitQueue } from "#shared/runs/capacity/slots.ts";
import {
  createBodyMatcher,
  type Filters,
  matchesEntry,
  matchesHead,
  needsBody,
  needsHead,
  searchedText,
} from "#shared/runs/listing/filters.ts";
import { readInHalves } from "#shared/runs/listing/halves.ts";
import { mergeSources } from "#shared/runs/listing/merge.ts";
import { compareEntries, comparePositions, type Order, positionOf, rangeAfter } from "#shared/runs/listing/order.ts";
import {
  parseTime,
  readDescendants,
  readHeadEntries,
  timeBound,
  toGroups,
  toScopes,
} from "#shared/runs/listing/run-index-store.ts";
import { hasStatus, listMatchingStates } from "#shared/runs/listing/task-status.ts";
import { listTags } from "#shared/runs/run-facets.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Item } from "#shared/table/table.ts";
import { RunState, type TaskStatus } from "#shared/wire/run.ts";

const NOW = Date.parse("2026-05-18T19:00:00.000Z");
const RUN = "019e3c75-9780-7b78-8a54-7a196032b69b";
const ROOT = "019e3c75-9780-7b78-8a54-7a196032b69c";
const at = (milliseconds: number) => new Date(NOW + milliseconds).toISOString();
const facets = {
  name: "n",
  model: "m",
  creator: "c",
  source: "API",
  location: "REMOTE",
  environment: "e",
  skill: "s",
  skill_path: "path",
  schedule: "t",
  trigger: "g",
  tags: listTags({ a: "1" }).join(""),
};
const plain = { creator: "c", source: "API", location: "REMOTE" };
const storedHead = (more: object = {}): Item =>
  Object.assign(
    {
      ...keys.head(RUN),
      v: 1,
      scope: "TEAM#t#0",
      updated_key: `${String(NOW).padStart(13, "0")}#${RUN}`,
      state: "QUEUED",
      p: plain,
    },
    more,
  );
const toHead = (more: object = {}) => parseRunHead(storedHead(more));
const EXECUTION = { execution_id: "e", key_hash: "k", state_since: 1, heartbeat_at: 1 };
const ENDED = { state: "FAILED", ended_at: 1 };

describe("the filters of a list", () => {
  it.each<readonly [Filters, object, boolean]>([
    [{}, plain, true],
    [{ name: "n" }, facets, true],
    [{ name: "x" }, facets, false],
    [{ modelId: "m" }, facets, true],
    [{ modelId: "x" }, facets, false],
    [{ creator: "c" }, facets, true],
    [{ creator: "x" }, facets, false],
    [{ executor: "c" }, facets, true],
    [{ executor: "x" }, facets, false],
    [{ executor: "x" }, { ...facets, executor: "x" }, true],
    [{ executor: "c" }, { ...facets, executor: "x" }, false],
    [{ source: "API" }, facets, true],
    [{ source: "CLI" }, facets, false],
    [{ source: ["CLI", "API"] }, facets, true],
    [{ source: ["CLI", "SLACK"] }, facets, false],
    [{ executionLocation: "REMOTE" }, facets, true],
    [{ executionLocation: "LOCAL" }, facets, false],
    [{ skillSpec: "s" }, facets, true],
    [{ skillSpec: "path" }, facets, true],
    [{ skillSpec: "x" }, facets, false],
    [{ scheduleId: "t" }, facets, true],
    [{ scheduleId: "x" }, facets, false],
    [{ triggerId: "g" }, facets, true],
    [{ triggerId: "x" }, facets, false],
    [{ triggerId: "g" }, plain, false],
    [{ automationId: "g" }, facets, true],
    [{ automationId: "x" }, facets, false],
    [{ automationId: "x" }, { ...plain, tags: listTags({ a: "1", automation_id: "x" }).join("") }, true],
    [{ automationId: "x" }, plain, false],
    [{ environmentId: "e" }, facets, true],
    [{ environmentId: "x" }, facets, false],
    [{ environmentId: "empty-environment" }, facets, false],
    [{ environmentId: "empty-environment" }, plain, true],
    [{ metadata: { a: "1" } }, facets, true],
    [{ metadata: { a: "2" } }, facets, false],
    [{ name: "n" }, plain, false],
  ])("%j of a run with the facets %j: %j", (filters, p, isMatch) => {
    expect(matchesHead(toHead({ p }), filters)).toBe(isMatch);
    expect(matchesEntry({ ...keys.head(RUN), p: { ...p } }, filters)).toBe(isMatch);
  });

  it.each<readonly [Filters, boolean]>([
    [{ createdAfter: at(-1) }, true],
    [{ createdAfter: at(0) }, false],
    [{ createdBefore: at(1) }, true],
    [{ createdBefore: at(0) }, false],
    [{ createdAfter: at(-1), createdBefore: at(1) }, true],
  ])("%j exclude their time: %j", (filters, isMatch) => {
    expect(matchesHead(toHead(), filters)).toBe(isMatch);
    expect(matchesEntry({ ...keys.head(RUN), p: plain }, filters)).toBe(isMatch);
  });

  it.each<readonly [Filters, boolean]>([
    [{ states: ["QUEUED"] }, true],
    [{ states: ["FAILED", "QUEUED"] }, true],
    [{ states: ["FAILED"] }, false],
    [{ updatedAfter: at(-1) }, true],
    [{ updatedAfter: at(0) }, false],
    [{ artifactType: "PLAN" }, true],
    [{ artifactType: "FILE" }, false],
    [{ taskStatuses: ["running"] }, true],
    [{ taskStatuses: ["blocked", "running"] }, true],
    [{ taskStatuses: ["failed", "blocked", "cancelled", "complete"] }, false],
    [{ taskStatuses: ["running"], states: ["PENDING"] }, false],
  ])("%j look at the run itself: %j", (filters, isMatch) => {
    expect(matchesHead(toHead({ artifact_types: ["PLAN"] }), filters)).toBe(isMatch);
  });

  it.each<readonly [TaskStatus, string]>([
    ["running", "QUEUED PENDING CLAIMED INPROGRESS"],
    ["failed", "FAILED ERROR"],
    ["blocked", "BLOCKED"],
    ["cancelled", "CANCELLED"],
    ["complete", "SUCCEEDED"],
  ])("the task status %s matches runs in %s", (status, states) => {
    const matching = RunState.options.filter((state) => hasStatus(RUN, state, { taskStatuses: [status] }));
    expect(matching.join(" ")).toBe(states);
    expect(listMatchingStates({ taskStatuses: [status] })).toEqual(matching);
    expect(listMatchingStates({ taskStatuses: [status], states: ["QUEUED", "BLOCKED"] })).toEqual(
      matching.filter((state) => state === "QUEUED" || state === "BLOCKED"),
    );
  });

  it("the task status running matches an ended run with an active descendant, and no other status does", () => {
    const activeAncestors = new Set([RUN]);
    expect(hasStatus(RUN, "FAILED", { taskStatuses: ["running"], activeAncestors })).toBe(true);
    expect(hasStatus(RUN, "FAILED", { taskStatuses: ["complete"], activeAncestors })).toBe(false);
    expect(hasStatus(RUN, "FAILED", { taskStatuses: ["running"], states: ["BLOCKED"], activeAncestors })).toBe(false);
    expect(hasStatus(ROOT, "FAILED", { taskStatuses: ["running"], activeAncestors })).toBe(false);
    const entry = { ...keys.head(RUN), state: "FAILED" };
    expect(matchesEntry(entry, { taskStatuses: ["running"], activeAncestors })).toBe(true);
    expect(matchesEntry(entry, { taskStatuses: ["running"] })).toBe(false);
  });

  it("exclude a run by its entry only where that cannot be out of date", () => {
    const entry = (more: object) => ({ ...keys.head(RUN), ...more });
    const states = { states: ["QUEUED"] } as const;
    const matches = [{ state: "QUEUED" }, { state: "PENDING" }, { state: "FAILED" }, { state: "unknown" }, {}];
    expect(matches.map((more) => matchesEntry(entry(more), states))).toEqual([true, true, false, true, true]);
    expect(matchesEntry(entry({ state: "FAILED" }), { states: ["FAILED"] })).toBe(true);
    expect(matchesEntry(entry({ state: "FAILED" }), {})).toBe(true);
    expect(matchesEntry(entry({}), { name: "n" }), "an entry without facets").toBe(true);
    expect(matchesHead(toHead(), { artifactType: "PLAN" })).toBe(false);
  });

  it("need the head for values that change, and the body for values without an index", () => {
    const head: Filters[] = [{ states: [] }, { taskStatuses: [] }, { updatedAfter: at(0) }, { artifactType: "PLAN" }];
    const body: Filters[] = [{ metadata: {} }, { automationId: "a" }, { ancestorRunId: "r" }, { q: "" }];
    const none: Filters[] = [{ name: "n" }, { triggerId: "t" }];
    expect([...head, ...body, ...none].filter(needsHead)).toEqual(head);
    expect([...head, ...body, ...none].filter(needsBody)).toEqual(body);
  });

  it.each<readonly [Filters, boolean]>([
    [{}, true],
    [{ ancestorRunId: "r" }, true],
    [{ ancestorRunId: "x" }, false],
    [{ metadata: { a: "1" } }, true],
    [{ metadata: { a: "1", b: "2" } }, true],
    [{ metadata: { a: "1", b: "x" } }, false],
    [{ q: "title" }, true],
    [{ q: "lint" }, true],
    [{ q: "prompt" }, true],
    [{ q: "zebra" }, false],
    [{ ancestorRunId: "r", q: "zebra" }, false],
    [{ q: RUN }, true],
    [{ q: ` ${RUN.toUpperCase()} ` }, true],
    [{ q: ROOT }, false],
    [{ q: `https://runs.example.com/app/runs/${RUN}` }, true],
    [{ q: `http://127.0.0.1:8787/runs/${RUN}/?tab=files#top` }, true],
    [{ q: `https://runs.example.com/runs/${ROOT}` }, false],
    [{ q: `https://runs.example.com/schedules/${RUN}` }, false],
    [{ automationId: "g" }, true],
    [{ automationId: "nightly" }, true],
    [{ automationId: "x" }, false],
  ])("%j of the body of a run: %j", (filters, isMatch) => {
    const body: RunBody = {
      title: "A title",
      prompt: `prompt${" ".repeat(300)}zebra`,
      config: { model_id: "m", computer_use_enabled: false, idle_timeout_minutes: 10, skill_spec: "acme/tools:lint" },
      creator: { type: "user", uid: "c", display_name: "Ada" },
      executor: { type: "user", uid: "c", display_name: "Ada" },
      source: "API",
      execution_location: "REMOTE",
      conversation_id: RUN,
      ancestors: ["q", "r"],
      mode: "normal",
      interactive: false,
      attachments: [],
      metadata: { a: "1", b: "2", automation_id: "nightly" },
      trigger: { trigger_id: "g" },
    };
    expect(createBodyMatcher(filters)(body, RUN)).toBe(isMatch);
    expect(searchedText(body)).toBe(`A title\nacme/tools:lint\nprompt${" ".repeat(294)}`);
    const { skill_spec: _, ...config } = body.config;
    expect(searchedText({ ...body, config, prompt: "😀".repeat(301) })).toBe(`A title\n\n${"😀".repeat(300)}`);
  });
});

describe("the order of a list", () => {
  const entry = (position: string): Item => ({ ...keys.head(RUN), agent_key: position, title_key: position });
  const by = (sortBy: Order["sortBy"], descending = false): Order => ({ sortBy, descending });

  it("is that of its attribute, by the bytes of UTF-8", () => {
    const item = { pk: "p", sk: "s", updated_key: "u", created_key: "c", title_key: "t", agent_key: "a" };
    const names = ["updated_at", "created_at", "title", "agent"] as const;
    expect(names.map((sortBy) => positionOf(item, by(sortBy)))).toEqual(["u", "c", "t", "a"]);
    expect(Math.sign(comparePositions("\uffff", "😀"))).toBe(-1);
    expect(comparePositions("a", "a")).toBe(0);
  });

  it("has runs without a skill last in both directions", () => {
    const sorted = (order: Order) =>
      ["0#b", "1#a", "0#a", "1#b"]
        .map(entry)
        .toSorted((a, b) => compareEntries(a, b, order))
        .map((one) => one["agent_key"]);
    expect(sorted(by("agent"))).toEqual(["0#a", "0#b", "1#a", "1#b"]);
    expect(sorted(by("agent", true))).toEqual(["0#b", "0#a", "1#b", "1#a"]);
    expect(sorted(by("title", true))).toEqual(["1#b", "1#a", "0#b", "0#a"]);
  });

  it("continues after a position in the direction of reading", () => {
    const range = { from: "a", before: "z" };
    expect(rangeAfter(range, undefined, false)).toStrictEqual(range);
    expect(rangeAfter(range, undefined, true)).toStrictEqual(range);
    expect(rangeAfter(range, "m", false)).toStrictEqual({ after: "m", before: "z" });
    expect(rangeAfter({}, "m", false)).toStrictEqual({ after: "m" });
    expect(rangeAfter(range, "m", true)).toStrictEqual({ before: "m", from: "a" });
    expect(rangeAfter({}, undefined, true)).toStrictEqual({});
  });

  it("has positions for times", () => {
    expect(timeBound(NOW, by("updated_at"))).toBe(String(NOW).padStart(13, "0"));
    expect(timeBound(NOW, by("created_at"))).toBe("019e3c75-9780");
    expect(parseTime(`${String(NOW).padStart(13, "0")}#x`, by("updated_at"))).toBe(NOW);
    expect(parseTime(RUN, by("created_at"))).toBe(NOW);
    expect(toScopes([{ type: "Team", uid: "t" }])[0]).toBe("TEAM#t#0");
    expect(toGroups(["a", "b"], "schedule", "s")).toEqual(["a#SCHEDULE#s", "b#SCHEDULE#s"]);
  });
});

describe("the sources of a list", () => {
  const item = (position: string): Item => ({
    pk: `RUN#${position}`,
    sk: "HEAD",
    title_key: position,
    agent_key: position,
  });
  const order = { sortBy: "title", descending: false } as const;
  /** A source with these positions, and the limits of its reads. */
  const sourceOf = (...positions: string[]) => {
    const limits: number[] = [];
    return {
      limits,
      source: async (range: { from?: string; after?: string; before?: string }, limit: number, descending: boolean) => {
        limits.push(limit);
        const inside = positions.filter(
          (one) =>
            one >= (range.from ?? "") &&
            one > (range.after ?? "") &&
            (range.before === undefined || one < range.before),
        );
        const sorted = descending ? inside.toReversed() : inside;
        return { items: sorted.slice(0, limit).map(item), more: sorted.length > limit };
      },
    };
  };
  const names = (items: readonly Item[]) => items.map((one) => one["title_key"]);

  it("are merged in their order, and read to the end of the range", async () => {
    const [one, other, none] = [sourceOf("a", "c", "e", "g"), sourceOf("b", "d", "f"), sourceOf()];
    const merged = mergeSources([one.source, other.source, none.source], {}, order);
    expect(names(await merged.take(3))).toEqual(["a", "b", "c"]);
    expect(merged.more).toBe(true);
    expect(names(await merged.take(2))).toEqual(["d", "e"]);
    expect(names(await merged.take(9))).toEqual(["f", "g"]);
    expect(merged.more).toBe(false);
    expect(await merged.take(1)).toEqual([]);
    expect(await mergeSources([], {}, order).take(3)).toEqual([]);
    const descending = mergeSources([one.source, other.source], { before: "f" }, { ...order, descending: true });
    expect(names(await descending.take(9))).toEqual(["e", "d", "c", "b", "a"]);
  });

  it("are read up to their share, or up to the limit if there is one source or a whole list", async () => {
    const sources = [sourceOf("a"), sourceOf("b"), sourceOf("c")];
    await mergeSources(
      sources.map(({ source }) => source),
      {},
      order,
    ).take(12);
    expect(sources.map(({ limits }) => limits[0])).toEqual([4, 4, 4]);
    const only = sourceOf("a");
    await mergeSources([only.source], {}, order).take(12);
    expect(only.limits).toEqual([12]);
    const whole = [sourceOf("a"), sourceOf("b")];
    await mergeSources(
      whole.map(({ source }) => source),
      {},
      order,
      true,
    ).take(12);
    expect(whole.map(({ limits }) => limits)).toEqual([[12], [12]]);
  });

  it.each([
    ["all of one before the other", 12, [6, 3, 3], [6]],
    ["few", 3, [2, 1], [2]],
    ["one", 1, [1], [1]],
  ])("are read again for a part of the missing runs: %s", async (_, amount, first, second) => {
    const numbers = Array.from({ length: 12 }, (__, index) => String(index).padStart(2, "0"));
    const [one, other] = [
      sourceOf(...numbers.map((number) => `a${number}`)),
      sourceOf(...numbers.map((number) => `b${number}`)),
    ];
    const taken = await mergeSources([one.source, other.source], {}, order).take(amount);
    expect(names(taken)).toEqual(numbers.slice(0, amount).map((number) => `a${number}`));
    expect([one.limits, other.limits]).toEqual([first, second]);
  });

  it("are read in halves, runs with a skill first in both directions", async () => {
    const read = async (range: object, limit: number, descending: boolean) => {
      const { items, more } = await readInHalves(sourceOf("0#a", "0#b", "1#a", "1#b").source)(range, limit, descending);
      return [names(items), more];
    };
    expect(await read({}, 9, false)).toEqual([["0#a", "0#b", "1#a", "1#b"], false]);
    expect(await read({}, 9, true)).toEqual([["0#b", "0#a", "1#b", "1#a"], false]);
    expect(await read({}, 1, false)).toEqual([["0#a"], true]);
    expect(await read({}, 2, false)).toEqual([["0#a", "0#b"], true]);
    expect(await read({}, 3, true)).toEqual([["0#b", "0#a", "1#b"], true]);
    expect(await read({ after: "0#a" }, 2, false)).toEqual([["0#b", "1#a"], true]);
    expect(await read({ after: "1#a" }, 2, false)).toEqual([["1#b"], false]);
    expect(await read({ before: "0#b" }, 9, true)).toEqual([["0#a", "1#b", "1#a"], false]);
    expect(await read({ before: "1#b" }, 9, true)).toEqual([["1#a"], false]);
  });

  it("of a run's descendants have their ids, within bounds", async () => {
    const table = memoryTable();
    const ids = ["a", "b", "c", "d"];
    for (const id of ids) await table.write({ kind: "put", item: { ...keys.descendant(ROOT, id), run_id: id } });
    const source = readDescendants(ROOT, table);
    const read = async (range: object, limit = 9, descending = false) => {
      const { items, more } = await source(range, limit, descending);
      return [items.map((one) => one["created_key"]), more];
    };
    expect(await read({})).toEqual([ids, false]);
    expect(await read({}, 2, true)).toEqual([["d", "c"], true]);
    expect(await read({ from: "b", before: "d" })).toEqual([["b", "c"], false]);
    expect(await read({ after: "b" })).toEqual([["c", "d"], false]);
    expect((await source({}, 1, false)).items).toEqual([{ ...keys.head("a"), created_key: "a" }]);
    await table.write({ kind: "put", item: { ...keys.head("b"), here: true } });
    expect(
      await readHeadEntries(
        [keys.head("a"), keys.head("b")].map((key) => ({ ...key })),
        table,
      ),
    ).toEqual([{ ...keys.head("b"), here: true }]);
  });
});

describe("the slots of runs", () => {
  const owner = { type: "Team", uid: "t" } as const;
  const own = keys.counters(owner);
  const NONE = { exists: false };
  const unchanged = { slot: NONE, waiting: NONE };
  const counted = (key: object, add: object, conditions?: object) => ({
    kind: "update",
    key,
    add: { ...add, changes: 1 },
    ...(conditions === undefined ? {} : { if: conditions }),
  });
  const tree = keys.tree(ROOT, 2);
  const child = { root: ROOT, depth: 2 };
  const executing = (more: object = {}) => toHead({ state: "PENDING", ...EXECUTION, ...more });
  const root = (more: object = {}) => ({ ...toHead(more), run_id: ROOT });

  it("change by no transition, and by none of a run that its caller executes", () => {
    const nothing = { set: {}, remove: [], if: {}, writes: {} };
    expect(toSlotChange(toHead(), {}, undefined)).toEqual(nothing);
    expect(toSlotChange(toHead({ p: { ...plain, location: "LOCAL" } }), { to: "PENDING" }, undefined)).toEqual(nothing);
  });

  it("are taken from the owner, or from the tree while its root has one", () => {
    expect(toSlotChange(toHead(), { to: "PENDING" }, undefined)).toEqual({
      set: { slot: "owner" },
      remove: [],
      if: unchanged,
      writes: { ownerCounters: counted(own, { queued: -1, running: 1 }, hasRoom(20)) },
    });
    expect(toSlotChange(toHead(child), { to: "PENDING", takes: "tree" }, undefined)).toEqual({
      set: { slot: "tree" },
      remove: [],
      if: unchanged,
      writes: {
        ownerCounters: counted(own, { queued: -1 }),
        treeCounters: counted(tree, { running: 1 }, hasRoom(8)),
        root: { kind: "update", key: keys.head(ROOT), add: { tree_running: 1 }, if: { slot: { exists: true } } },
      },
    });
  });

  it("are not taken by a worker's run, nor twice", () => {
    const only = (queued: number) => (queued === 0 ? undefined : counted(own, { queued }));
    const unslotted = { set: {}, remove: [], if: unchanged };
    expect(toSlotChange(toHead({ worker_host: "w" }), { to: "PENDING" }, undefined)).toEqual({
      ...unslotted,
      writes: { ownerCounters: only(-1) },
    });
    expect(toSlotChange(executing({ worker_host: "w" }), { to: "FAILED" }, undefined)).toEqual({
      ...unslotted,
      writes: { ownerCounters: only(0) },
    });
    expect(toSlotChange(executing({ slot: "owner" }), { to: "INPROGRESS" }, undefined)).toEqual({
      ...unslotted,
      if: { slot: { eq: "owner" }, waiting: NONE },
      writes: { ownerCounters: undefined },
    });
    expect(toSlotChange(executing({ slot: "owner" }), { to: "QUEUED", keepsSlot: true }, undefined)).toMatchObject({
      remove: [],
      writes: { ownerCounters: only(1) },
    });
  });

  it("are released by a run that waits for one", () => {
    const waiting = (kind: "owner" | "tree") => toHead({ ...child, waiting: kind });
    const left = (kind: "owner" | "tree") => ({
      set: {},
      remove: ["waiting"],
      if: { slot: NONE, waiting: { eq: kind } },
    });
    expect(toSlotChange(waiting("owner"), { to: "CANCELLED" }, undefined)).toEqual({
      ...left("owner"),
      writes: {
        waitQueueEntry: { kind: "delete", key: keys.waitingForOwner(owner, RUN) },
        ownerCounters: counted(own, { queued: -1, waiting: -1, left: 1 }),
      },
    });
    expect(toSlotChange(waiting("tree"), { to: "CANCELLED" }, undefined)).toEqual({
      ...left("tree"),
      writes: {
        waitQueueEntry: { kind: "delete", key: keys.waitingForTree(ROOT, 2, RUN) },
        ownerCounters: counted(own, { queued: -1 }),
        treeCounters: counted(tree, { waiting: -1 }),
      },
    });
  });

  it("of the owner are released at the end, unless runs below it execute", () => {
    const slot = { slot: { eq: "owner" }, waiting: NONE };
    const release = (more: object) => toSlotChange(executing({ slot: "owner", ...more }), { to: "FAILED" }, undefined);
    const released = { set: {}, remove: ["slot"], writes: { ownerCounters: counted(own, { queued: 0, running: -1 }) } };
    expect(release({})).toEqual({ ...released, if: { ...slot, tree_running: { absentOr: { below: 1 } } } });
    expect(release(child)).toEqual({ ...released, if: slot });
    expect(release({ tree_running: 1 })).toEqual({
      set: {},
      remove: [],
      if: { ...slot, tree_running: { atLeast: 1 } },
      writes: { ownerCounters: undefined },
    });
  });

  it("of a tree are released, and the last run of an ended root releases the owner's", () => {
    const slot = { slot: { eq: "tree" }, waiting: NONE };
    const head = executing({ slot: "tree", ...child });
    const release = (of: ReturnType<typeof root> | undefined) => toSlotChange(head, { to: "QUEUED" }, of);
    const update = { kind: "update", key: keys.head(ROOT), add: { tree_running: -1 } };
    const released = { set: {}, remove: ["slot"], if: slot };
    const treeCounters = counted(tree, { running: -1 });
    expect(() => release(undefined)).toThrow("the root of the tree is needed");
    expect(release(root({ ...ENDED, tree_running: 1 }))).toEqual({
      ...released,
      writes: {
        ownerCounters: counted(own, { queued: 1, running: -1 }),
        treeCounters,
        root: {
          ...update,
          remove: ["slot"],
          if: { state: { eq: "FAILED" }, tree_running: { eq: 1 }, slot: { exists: true } },
        },
      },
    });
    const others = (conditions: object) => ({
      ...released,
      writes: { ownerCounters: counted(own, { queued: 1 }), treeCounters, root: { ...update, if: conditions } },
    });
    expect(release(root({ ...ENDED, tree_running: 2 }))).toEqual(others({ tree_running: { atLeast: 2 } }));
    expect(release(root({ tree_running: 1 }))).toEqual(
      others({ state: { in: ["QUEUED", "PENDING", "CLAIMED", "INPROGRESS"] } }),
    );
  });

  it("need the root of a tree only where one of its slots is released", () => {
    const inTree = executing({ slot: "tree", ...child });
    expect([
      needsRoot(inTree, { to: "QUEUED" }),
      needsRoot(inTree, { to: "QUEUED", keepsSlot: true }),
      needsRoot(inTree, { to: "INPROGRESS" }),
      needsRoot(inTree, {}),
      needsRoot(executing({ slot: "owner", ...child }), { to: "QUEUED" }),
    ]).toEqual([true, false, false, false, false]);
    expect(toWaitQueue(toHead(), "owner")).toEqual({ kind: "owner", owner, root: RUN, depth: 0 });
    expect(toWaitQueue(toHead(child), "tree")).toEqual({ kind: "tree", owner, root: ROOT, depth: 2 });
    expect(toPool(toWaitQueue(toHead(child), "tree"))).toMatchObject({ counters: tree, limit: 8 });
    expect(toPool(toWaitQueue(toHead(child), "owner"))).toMatchObject({ counters: own, limit: 20 });
    expect(isFull(3)).toEqual({ running: { atLeastAttribute: "concurrency_limit", otherwise: 3 } });
  });

  const place = { limit: 3 };

  it.each([
    ["a run that takes none", toHead(), {}, undefined],
    ["a run that begins", toHead(), { to: "PENDING", place }, 1],
    ["a run that begins where there is no limit", toHead(), { to: "PENDING" }, undefined],
    ["a run that waits", executing(), { to: "QUEUED" }, undefined],
    ["a worker's run", toHead({ worker_host: "w" }), { to: "PENDING", place }, undefined],
    ["a local run", toHead({ p: { ...plain, location: "LOCAL" } }), { to: "PENDING", place }, undefined],
    ["a counted run that goes on", executing({ counted: true }), { to: "INPROGRESS", place }, undefined],
    ["a counted run that continues", executing({ counted: true }), { to: "QUEUED", keepsSlot: true }, undefined],
    ["a counted run that ends", executing({ counted: true }), { to: "FAILED" }, -1],
  ] as const)("of the deployment are counted for %s", (_, head, transition, running) => {
    const write = { kind: "update", key: keys.executions(), add: { running } };
    const isFree = { if: { running: { absentOr: { below: 3 } } } };
    expect(toExecutionCount(head, transition)).toEqual({
      set: running === 1 ? { counted: true } : {},
      remove: running === -1 ? ["counted"] : [],
      if: head.state === "QUEUED" && "to" in transition ? { deployment_entry: { exists: false } } : {},
      writes: running === undefined ? {} : { executions: running === 1 ? [{ ...write, ...isFree }] : write },
    });
  });
});
