import { describe, expect, it } from "vitest";
import { auditedTable, describeChange, withAudit } from "#shared/http/audit/trail.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Table, TransactionWrite } from "#shared/table/table.ts";

const NOW = Date.parse("2026-05-18T19:00:00.000Z");
const request = {
  action: { name: "runs.cancel", type: "run", isOwn: false },
  uids: [],
  team: undefined,
  event: { actor: { type: "user", uid: "ada" }, via: "key", request_id: "r" },
} as const;

const put = (pk: string) => ({ kind: "put", item: { pk, sk: "HEAD", v: 1 } }) as const;
const hasEvent = (writes: readonly TransactionWrite[]) =>
  writes.some((write) => write.kind === "put" && write.item.pk.startsWith("AUDIT#"));

/** A table whose first transaction with an event fails once `others` have been stored. */
function failingTable(others: Promise<unknown>) {
  const bare = memoryTable();
  let hasFailed = false;
  const table: Table = {
    ...bare,
    async transact(writes) {
      if (hasFailed || !hasEvent(writes)) return bare.transact(writes);
      hasFailed = true;
      await others;
      throw new Error("the table refuses it");
    },
  };
  return { bare, table: auditedTable(table, () => NOW) };
}
const listEvents = (bare: ReturnType<typeof memoryTable>) => bare.all().filter(({ pk }) => pk.startsWith("AUDIT#"));

describe("the event of a request with several changes at once", () => {
  it("is stored by itself if the change that carries it fails last", async () => {
    const stored = Promise.withResolvers<void>();
    const { bare, table } = failingTable(stored.promise);
    await withAudit(request, true, async () => {
      describeChange([["team", { matched: 2 }]]);
      const first = table.write(put("RUN#1")).catch(() => "refused");
      await table.write(put("RUN#2"));
      stored.resolve();
      expect(await first).toBe("refused");
    });
    expect(listEvents(bare)).toMatchObject([
      { action: "runs.cancel", target: { type: "team", uid: "team" }, matched: 2 },
    ]);
  });

  it("is stored once if a later change carries it, and not at all if every change fails", async () => {
    const stored = Promise.withResolvers<void>();
    const { bare, table } = failingTable(stored.promise);
    await withAudit(request, true, async () => {
      describeChange([["team", { matched: 2 }]]);
      const first = table.write(put("RUN#1")).catch(() => "refused");
      await table.write(put("RUN#2"));
      stored.resolve();
      await first;
      await table.write(put("RUN#3"));
    });
    expect(listEvents(bare)).toHaveLength(1);

    const failing = failingTable(Promise.resolve());
    await withAudit(request, true, async () => {
      describeChange([["team", { matched: 1 }]]);
      await failing.table.write(put("RUN#1")).catch(() => "refused");
    });
    expect(failing.bare.all()).toEqual([]);
  });
});
