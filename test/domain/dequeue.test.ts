import { describe, expect, it } from "vitest";
import { DEFAULT_CONCURRENCY_LIMIT, TREE_CONCURRENCY_LIMIT } from "#shared/records/run.ts";
import { toPool } from "#shared/runs/capacity/slot-store.ts";
import type { WaitQueue } from "#shared/runs/capacity/slots.ts";
import { dequeueNext } from "#shared/runs/capacity/wait-queue.ts";
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
  /** What happens before the first slot is granted. */
  readonly meanwhile?: (table: ReturnType<typeof memoryTable>) => Promise<void>;
}

/** Runs that wait in a queue, and what `dequeueNext` does about them: the runs that it changed or tried to change, and its messages. */
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

  it("grants the free slots to the runs that have waited longest, and asks for their dispatch", async () => {
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
  it("removes the runs from the queue, and asks for their dispatch without a slot", async () => {
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
