import { describe, expect, it } from "vitest";
import { DEFAULT_CONCURRENCY_LIMIT, TREE_CONCURRENCY_LIMIT } from "#shared/records/run.ts";
import { parseRunHead } from "#shared/records/run-head.ts";
import { toPool } from "#shared/runs/capacity/slot-store.ts";
import type { WaitQueue } from "#shared/runs/capacity/slots.ts";
import { type AnnounceWaiting, dequeueNext, enterWaitQueue } from "#shared/runs/capacity/wait-queue.ts";
import { waitQueueStore } from "#shared/runs/capacity/wait-queue-store.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { TransactionWrite } from "#shared/table/table.ts";

const NOW = Date.parse("2026-05-18T19:00:00.000Z");
const ROOT = "019e3c75-9780-7b78-8a54-7a196032b69c";
const place = { owner: { type: "Team", uid: "t" }, root: ROOT, depth: 1 } as const;
const queues = {
  owner: { kind: "owner", ...place, depth: 0 },
  tree: { kind: "tree", ...place },
} as const satisfies Record<string, WaitQueue>;
const limits = { owner: DEFAULT_CONCURRENCY_LIMIT, tree: TREE_CONCURRENCY_LIMIT };

const idOf = (number: number) => `${ROOT.slice(0, -2)}${String(number).padStart(2, "0")}`;
const idsOf = (count: number) => Array.from({ length: count }, (_, index) => idOf(index));

interface Waiting {
  readonly runs: number;
  /** Slots that are taken. */
  readonly running?: number;
  readonly limit?: number;
  /** @default true */
  readonly rootHasSlot?: boolean;
  /** Runs before the first slot is granted. */
  readonly meanwhile?: (table: ReturnType<typeof memoryTable>) => Promise<void>;
}

/** Calls `dequeueNext` for runs that wait in a queue. Returns the runs that it tried to change, and its messages. */
async function dequeue(kind: "owner" | "tree", { runs, running = 0, limit, rootHasSlot = true, meanwhile }: Waiting) {
  const queue = queues[kind];
  const pool = toPool(queue);
  const table = memoryTable();
  const own = limit === undefined ? {} : { concurrency_limit: limit };
  await table.write({ kind: "put", item: { ...pool.counters, running, waiting: runs, ...own } });
  await table.write({ kind: "put", item: { ...keys.head(ROOT), ...(rootHasSlot ? { slot: "owner" } : {}) } });
  for (const run_id of idsOf(runs)) {
    const head = { ...keys.head(run_id), state: "QUEUED", waiting: kind };
    await table.write({ kind: "put", item: head });
    await table.write({ kind: "put", item: { ...pool.waitingKey(run_id), run_id } });
  }
  const tried: string[] = [];
  const sent: string[] = [];
  let before = meanwhile;
  const transact = async (writes: readonly TransactionWrite[]) => {
    await before?.(table);
    before = undefined;
    tried.push(
      ...idsOf(runs).filter((id) => writes.some((write) => "key" in write && write.key.pk === keys.head(id).pk)),
    );
    return table.transact(writes);
  };
  await dequeueNext(queue, {
    table: { ...table, transact },
    queue: { sendRun: async (id) => void sent.push(id), sendEnd: () => Promise.reject(new Error("no run ends")) },
    now: () => NOW,
  });
  const heads = await Promise.all(idsOf(runs).map((id) => table.get(keys.head(id))));
  const left = (await table.query({ pk: pool.counters.pk, prefix: pool.waitingKey("").sk })).items;
  return {
    table,
    tried,
    sent,
    heads,
    left: left.map((item) => item["run_id"]),
    counters: await table.get(pool.counters),
  };
}

describe.each(["owner", "tree"] as const)("dequeueNext for slots of the %s", (kind) => {
  const waitingKey = toPool(queues[kind]).waitingKey;

  it("grants the free slots to the runs that have waited longest, and requests their dispatch", async () => {
    const { sent, heads, left, counters, table } = await dequeue(kind, { runs: 4, running: limits[kind] - 2 });
    expect(sent).toEqual(idsOf(2));
    expect(left).toEqual([idOf(2), idOf(3)]);
    expect(heads.map((head) => [head?.["slot"], head?.["waiting"]])).toEqual([
      [kind, undefined],
      [kind, undefined],
      [undefined, kind],
      [undefined, kind],
    ]);
    expect(heads[0]).toMatchObject({ check_at: sortableTime(NOW + 30_000) });
    expect(counters).toMatchObject({ running: limits[kind], waiting: 2 });
    expect((await table.get(keys.head(ROOT)))?.["tree_running"]).toBe(kind === "tree" ? 2 : undefined);
  });

  it("stops at the first run for which no slot is free", async () => {
    const { tried, sent, left, counters } = await dequeue(kind, { runs: 3, running: limits[kind] });
    expect(tried).toEqual([idOf(0)]);
    expect({ sent, left }).toEqual({ sent: [], left: idsOf(3) });
    expect(counters).toMatchObject({ running: limits[kind], waiting: 3 });
  });

  it("grants 25 slots at once at most", async () => {
    const { sent, left } = await dequeue(kind, { runs: 27, limit: 100 });
    expect(sent).toEqual(idsOf(25));
    expect(left).toEqual([idOf(25), idOf(26)]);
  });

  it("continues with the next run where another process has removed the oldest from the queue", async () => {
    const { tried, sent } = await dequeue(kind, {
      runs: 3,
      meanwhile: (table) => table.write({ kind: "delete", key: waitingKey(idOf(0)) }),
    });
    expect(tried).toEqual(idsOf(3));
    expect(sent).toEqual([idOf(1), idOf(2)]);
  });

  it.each([{ state: "CANCELLED" }, { waiting: "other" }, { slot: "owner" }])(
    "continues with the next run where the oldest has become %j",
    async (set) => {
      const { tried, sent } = await dequeue(kind, {
        runs: 2,
        async meanwhile(table) {
          await table.write({ kind: "update", key: keys.head(idOf(0)), set });
          await table.write({ kind: "delete", key: waitingKey(idOf(0)) });
        },
      });
      expect(tried).toEqual(idsOf(2));
      expect(sent).toEqual([idOf(1)]);
    },
  );

  it("gives up after 25 attempts where an entry remains of a run that does not wait", async () => {
    const { tried, sent } = await dequeue(kind, {
      runs: 1,
      meanwhile: (table) => table.write({ kind: "update", key: keys.head(idOf(0)), set: { state: "CANCELLED" } }),
    });
    expect(tried).toEqual(Array.from({ length: 25 }, () => idOf(0)));
    expect(sent).toEqual([]);
  });
});

describe("dequeueNext for a tree whose root has no slot", () => {
  it("removes the runs from the queue, and requests their dispatch without a slot", async () => {
    const { sent, heads, left, counters } = await dequeue("tree", { runs: 2, rootHasSlot: false });
    expect({ sent, left }).toEqual({ sent: idsOf(2), left: [] });
    for (const head of heads) {
      expect(head).toMatchObject({ state: "QUEUED", check_at: sortableTime(NOW + 30_000) });
      expect(head).not.toHaveProperty("slot");
      expect(head).not.toHaveProperty("waiting");
    }
    expect(counters).toMatchObject({ running: 0, waiting: 0 });
  });
});

const { pk, sk: waitingPrefix } = keys.waitingForOwner(place.owner, "");
const RUN = idOf(50);
const queuedHead = {
  ...keys.head(RUN),
  ...{ v: 1, scope: "TEAM#t#0", state: "QUEUED", updated_key: `${sortableTime(NOW)}#${RUN}` },
  p: { creator: "c", source: "API", location: "REMOTE" },
};

describe("enterWaitQueue", () => {
  /** Counters that need no recount. */
  const recounted = { ...keys.counters(place.owner), recounted_at: NOW };

  interface Entering {
    /** Counters of the owner. */
    readonly counters?: object;
    /** Runs before each attempt to enter the queue. */
    readonly meanwhile?: (table: ReturnType<typeof memoryTable>) => Promise<void>;
  }

  async function enter({ counters = {}, meanwhile }: Entering) {
    const table = memoryTable();
    await table.write({ kind: "put", item: { ...recounted, ...counters } });
    await table.write({ kind: "put", item: queuedHead });
    const positions: number[] = [];
    const isQueued = { state: { eq: "QUEUED" } } as const;
    const announce: AnnounceWaiting = ({ run_id }, entering) => {
      positions.push(entering.position);
      return {
        head: { kind: "update", key: keys.head(run_id), set: entering.set, if: { ...isQueued, ...entering.if } },
      };
    };
    const sent: string[] = [];
    const transact = async (writes: readonly TransactionWrite[]) => {
      await meanwhile?.(table);
      return table.transact(writes);
    };
    const result = await enterWaitQueue(parseRunHead(queuedHead), "owner", announce, {
      table: { ...table, transact },
      queue: { sendRun: async (id) => void sent.push(id), sendEnd: () => Promise.reject(new Error("no run ends")) },
      now: () => NOW,
    }).catch((error: unknown) => error);
    const { items } = await table.query({ pk, prefix: waitingPrefix });
    const [head, own] = [await table.get(keys.head(RUN)), await table.get(keys.counters(place.owner))];
    return { result, positions, sent, entries: items.map(({ sk }) => sk.slice(waitingPrefix.length)), head, own };
  }
  const full = { running: DEFAULT_CONCURRENCY_LIMIT };

  it.each([
    ["the owner's slots are taken", full, 1],
    ["the owner's slots are taken, and others wait", { ...full, waiting: 2 }, 3],
    ["the slots of the owner's own limit are taken", { running: 1, concurrency_limit: 1 }, 1],
    ["others wait although a slot is free", { running: 1, waiting: 1 }, 2],
  ])("makes a run wait where %s", async (_, counters, position) => {
    const { result, positions, own, head } = await enter({ counters });
    expect({ result, position: positions[0] }).toEqual({ result: "waits", position });
    // The only entry is the run's own, so it is granted the slot where one is free.
    if (counters.running === 1 && "waiting" in counters) {
      expect(head).toMatchObject({ slot: "owner" });
      expect(own).toMatchObject({ running: 2, waiting: 1 });
    } else {
      expect(head).toMatchObject({ waiting: "owner" });
      expect(own).toMatchObject({ waiting: position });
    }
  });

  it("makes no run wait where a slot is free, and no other run waits for it", async () => {
    const { result, entries, head, sent } = await enter({ counters: { running: DEFAULT_CONCURRENCY_LIMIT - 1 } });
    expect({ result, entries, head, sent }).toEqual({ result: {}, entries: [], head: queuedHead, sent: [] });
  });

  it("grants a free slot to the run that enters the queue behind others which have left it", async () => {
    const { sent, entries } = await enter({ counters: { running: 1, waiting: 1 } });
    expect({ sent, entries }).toEqual({ sent: [RUN], entries: [] });
  });

  it.each([{ state: "CANCELLED", ended_at: NOW }, { waiting: "owner" }, { slot: "owner" }])(
    "adds no entry of a run that has become %j meanwhile",
    async (set) => {
      const { result, entries, positions, own } = await enter({
        counters: full,
        meanwhile: (table) => table.write({ kind: "update", key: keys.head(RUN), set }),
      });
      expect({ result, entries, positions }).toEqual({ result: "waits", entries: [], positions: [1] });
      expect(own).toEqual({ ...recounted, ...full });
    },
  );

  it("adds no entry for a run that no longer exists", async () => {
    const { result, entries } = await enter({
      counters: full,
      meanwhile: (table) => table.write({ kind: "delete", key: keys.head(RUN) }),
    });
    expect({ result, entries }).toEqual({ result: "waits", entries: [] });
  });

  it("tries again where the run was changed and still waits for nothing, five times at most", async () => {
    const { result, positions } = await enter({
      counters: full,
      async meanwhile(table) {
        await table.write({ kind: "put", item: { ...keys.waitingForOwner(place.owner, RUN), run_id: RUN } });
      },
    });
    expect(result).toEqual(new Error(`run ${RUN} changes too fast to enter the wait queue`));
    expect(positions).toEqual([1, 1, 1, 1, 1]);
  });
});

describe("waitQueueStore.remove", () => {
  it.each([
    ["has ended", { state: "CANCELLED" }, true, ["head"]],
    ["waits for a slot of its owner", { waiting: "owner" }, true, ["head"]],
    ["has no entry", {}, false, ["entry"]],
  ])("removes no run from the queue of its tree that %s", async (_, set, hasEntry, failed) => {
    const table = memoryTable();
    await table.write({ kind: "put", item: { ...queuedHead, waiting: "tree", ...set } });
    if (hasEntry) await table.write({ kind: "put", item: { ...keys.waitingForTree(ROOT, 1, RUN), run_id: RUN } });
    const before = structuredClone(table.all());
    const removed = waitQueueStore(table).remove(RUN, queues.tree, NOW);
    await expect(removed).rejects.toMatchObject({ failed: new Set(failed) });
    expect(table.all()).toEqual(before);
  });
});
