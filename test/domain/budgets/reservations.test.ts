import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventSources } from "#infra/event-sources.ts";
import { childAllowance, ownAllowance } from "#shared/budgets/budget.ts";
import { addHolds, type Hold, parseBudget, putBudget, readBudget, removeHold } from "#shared/budgets/budget-store.ts";
import {
  type BudgetPorts,
  type Quote,
  type Reservation,
  type Reserved,
  reserve,
  settle,
  sweep,
} from "#shared/budgets/reserve.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { type Table, TableBusy, type Write } from "#shared/table/table.ts";
import { mutatedTable } from "../../support/conditions.ts";
import { withRights } from "../../support/rights.ts";

/** Runs `work` with the rights of the model gateway. */
const asGateway = (work: () => Promise<void>): Promise<void> =>
  withRights(eventSources.callModel.file, eventSources.callModel.rights, work);

const budgetTable = () => mutatedTable(memoryTable());

const ofRun = (runId: string) => ({ kind: "run", runId }) as const;

/** A reservation that the test expects to be made. */
function expectReserved(reserved: Reserved): Reservation {
  if (reserved === "busy" || "spent" in reserved) throw new Error(JSON.stringify(reserved));
  return reserved;
}

/** An operation on the budgets: a call begins, a call in progress ends, or its gateway crashes. */
const Step = fc.oneof(
  fc.record({
    kind: fc.constant("call" as const),
    of: fc.nat(2),
    input: fc.nat(300),
    perToken: fc.integer({ min: 0, max: 5 }),
    wanted: fc.integer({ min: 1, max: 200 }),
    least: fc.integer({ min: 1, max: 50 }),
  }),
  fc.record({ kind: fc.constant("settle" as const), which: fc.nat(20), share: fc.integer({ min: 0, max: 100 }) }),
  fc.record({ kind: fc.constant("die" as const), which: fc.nat(20) }),
  fc.record({ kind: fc.constant("wait" as const), ms: fc.integer({ min: 0, max: 90_000 }) }),
);

const LASTS_MS = 100_000;

describe("reservations", () => {
  it("never exceed the budget, and are all settled or charged in the end", () =>
    asGateway(async () => {
      const scenario = fc.record({
        limits: fc.tuple(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 3_000 })),
        steps: fc.array(Step, { maxLength: 40 }),
      });
      await fc.assert(
        fc.asyncProperty(scenario, async ({ limits: [rootLimit, childLimit], steps }) => {
          let now = 1_000_000;
          const table = budgetTable();
          const ports = {
            table,
            now: () => now,
            sleep: async (ms: number) => {
              now += ms;
            },
          };
          // A root, a child with its own budget, and a child without one.
          await table.write(putBudget("root", { limit: rootLimit, above: [] }));
          await table.write(putBudget("child", { limit: childLimit, above: ["root"] }));
          const payers = [["root"], ["child", "root"], ["root"]].map((runIds) => runIds.map(ofRun));
          const open: Reservation[] = [];
          const check = async () => {
            for (const run of ["root", "child"]) {
              const { limit = 0, left, spent, holds, open } = parseBudget(await table.get(keys.budget(run)));
              const held = Object.values(holds).reduce((sum, { amount }) => sum + amount, 0);
              expect(left + spent + held).toBe(limit);
              expect(left).toBeGreaterThanOrEqual(0);
              expect(open).toBe(Object.keys(holds).length);
            }
          };
          const begin = async ({
            of,
            ...quote
          }: Extract<typeof Step extends fc.Arbitrary<infer S> ? S : never, { kind: "call" }>) => {
            const { kind: _, ...rest } = quote;
            const call = { run: "none", execution: "none", lastsMs: LASTS_MS, ...rest };
            const reserved = await reserve(payers[of] ?? [], call, ports);
            if (reserved === "busy" || "spent" in reserved) return;
            expect(reserved.amount).toBe(call.input + reserved.tokens * call.perToken);
            expect(reserved.tokens).toBeLessThanOrEqual(call.wanted);
            expect(reserved.tokens).toBeGreaterThanOrEqual(Math.min(call.wanted, call.least));
            open.push(reserved);
          };
          for (const step of steps) {
            if (step.kind === "call") await begin(step);
            if (step.kind === "wait") now += step.ms;
            if (step.kind === "die") open.splice(step.which, 1);
            if (step.kind === "settle") {
              const [ended] = open.splice(step.which, 1);
              if (ended !== undefined) await settle(ended, Math.floor((ended.amount * step.share) / 100), ports);
            }
            await check();
          }
          now += LASTS_MS + 60_000;
          for (const run of ["root", "child"]) expect((await sweep(ofRun(run), ports)).holds).toEqual({});
          await check();
        }),
        { numRuns: 150 },
      );
    }));

  it("are charged in full if they are not settled in time, and a late settlement has no effect", () =>
    asGateway(async () => {
      let now = 1_000_000;
      const table = budgetTable();
      const ports = { table, now: () => now, sleep: async () => undefined };
      await table.write(putBudget("root", { limit: 1_000, above: [] }));
      const quote = { run: "root", execution: "e", input: 100, perToken: 1, wanted: 100, least: 10, lastsMs: LASTS_MS };
      const reserved = expectReserved(await reserve([ofRun("root")], quote, ports));
      now += LASTS_MS;
      await sweep(ofRun("root"), ports);
      await settle(reserved, 150, ports);
      expect(parseBudget(await table.get(keys.budget("root")))).toMatchObject({ left: 800, spent: 200, open: 0 });
    }));

  it("are spent once if they are settled twice, as by a repeated write", () =>
    asGateway(async () => {
      const table = budgetTable();
      const ports = { table, now: () => 1_000_000, sleep: async () => undefined };
      await table.write(putBudget("root", { limit: 1_000, above: [] }));
      const quote = { run: "root", execution: "e", input: 100, perToken: 1, wanted: 100, least: 10, lastsMs: LASTS_MS };
      const reserved = expectReserved(await reserve([ofRun("root")], quote, ports));
      await settle(reserved, 150, ports);
      await settle(reserved, 150, ports);
      expect(parseBudget(await table.get(keys.budget("root")))).toMatchObject({ left: 850, spent: 150, open: 0 });
    }));

  it("are limited to 200: one more waits for one of them", () =>
    asGateway(async () => {
      let now = 1_000_000;
      const table = budgetTable();
      const sleep = async (ms: number) => {
        now += ms;
      };
      const ports = { table, now: () => now, sleep };
      await table.write(putBudget("root", { limit: 1_000, above: [] }));
      const quote = { run: "root", execution: "e", input: 1, perToken: 0, wanted: 1, least: 1, lastsMs: LASTS_MS };
      const open: Reservation[] = [];
      for (let count = 0; count < 200; count++) {
        const reserved = expectReserved(await reserve([ofRun("root")], quote, ports));
        open.push(reserved);
      }
      expect(await reserve([ofRun("root")], quote, ports)).toBe("busy");
      for (const reserved of open.slice(0, 1)) await settle(reserved, 1, ports);
      expect(await reserve([ofRun("root")], quote, ports)).toMatchObject({ amount: 1 });
      expect(parseBudget(await table.get(keys.budget("root")))).toMatchObject({ open: 200, left: 799 });
    }));
});

/** A call of 10 billionths of a dollar and one for each token of output: 100 tokens, or at least 5. */
const QUOTE = { run: "run", execution: "e", input: 10, perToken: 1, wanted: 100, least: 5, lastsMs: LASTS_MS };

/** Budgets with these limits, the nearest first. A pause advances the clock, and then calls `afterPause`. */
async function startBudgets(limits: readonly number[], afterPause: () => Promise<void> = async () => undefined) {
  const table = memoryTable();
  const clock = { now: 1_000_000 };
  const pauses: number[] = [];
  const runIds = limits.map((_, index) => `payer-${index}`);
  const payers = runIds.map(ofRun);
  for (const [index, limit] of limits.entries()) {
    await table.write(putBudget(`payer-${index}`, { limit, above: runIds.slice(index + 1) }));
  }
  const sleep = async (milliseconds: number) => {
    pauses.push(milliseconds);
    clock.now += milliseconds;
    await afterPause();
  };
  const ports: BudgetPorts = { table, now: () => clock.now, sleep };
  const call = (changes: Partial<Quote> = {}, changed: Partial<BudgetPorts> = {}) =>
    reserve(payers, { ...QUOTE, ...changes }, { ...ports, ...changed });
  const read = () => Promise.all(runIds.map((runId) => readBudget(runId, table)));
  return { table, clock, pauses, payers, ports, call, read };
}

describe("reserve", () => {
  afterEach(() => void vi.restoreAllMocks());

  it("holds the whole amount at each payer, rounded up, until the call is over in any case", async () => {
    const { call, read } = await startBudgets([500, 1_000]);
    const reserved = expectReserved(await call({ perToken: 0.015 }));
    const hold = { amount: 12, at: 1_000_000, until: 1_000_000 + LASTS_MS, run: "run", execution: "e" };
    expect(reserved).toEqual({
      id: expect.any(String),
      payers: [ofRun("payer-0"), ofRun("payer-1")],
      amount: 12,
      tokens: 100,
      at: 1_000_000,
    });
    const common = { open: 1, spent: 0, holds: { [reserved.id]: hold } };
    expect(await read()).toMatchObject([
      { ...common, limit: 500, left: 488, above: ["payer-1"] },
      { ...common, limit: 1_000, left: 988, above: [] },
    ]);
  });

  it("lowers the tokens to what the smallest budget pays for, and holds nothing more anywhere", async () => {
    const { call, read } = await startBudgets([1_000, 60, 70]);
    expect(await call({ perToken: 2 })).toMatchObject({ amount: 60, tokens: 25 });
    expect((await read()).map(({ left, open, holds }) => [left, open, Object.keys(holds).length])).toEqual([
      [940, 1, 1],
      [0, 1, 1],
      [10, 1, 1],
    ]);
  });

  it.each([
    [15, { tokens: 5, amount: 15 }],
    [14, "spent" as const],
  ])("with %i left for the least of 15 is %j", async (limit, expected) => {
    const { call, read, pauses } = await startBudgets([1_000, limit]);
    const isSpent = expected === "spent";
    expect(await call()).toEqual(isSpent ? { spent: ofRun("payer-1") } : expect.objectContaining(expected));
    expect(pauses).toEqual([]);
    if (!isSpent) return;
    expect(await read()).toMatchObject([
      { left: 1_000, open: 0, holds: {} },
      { left: limit, open: 0, holds: {} },
    ]);
  });

  it("does not need more than the caller wants, even if that is less than the least", async () => {
    const { call } = await startBudgets([12]);
    expect(await call({ wanted: 2 })).toMatchObject({ amount: 12, tokens: 2 });
  });

  it("is spent at once if calls in progress hold too little, and waits if they hold enough", async () => {
    const small = await startBudgets([30]);
    expect(await small.call({ input: 15, wanted: 1 })).toMatchObject({ amount: 16 });
    expect([await small.call({ input: 26 }), small.pauses]).toEqual([{ spent: ofRun("payer-0") }, []]);
    expect(await small.call({ input: 25 }), "exactly enough for the least").toBe("busy");
    expect(small.pauses.length).toBeGreaterThan(0);
  });

  it.each([
    ["waits for all of a budget that another call holds", 10, { amount: 10, tokens: 100 }],
    ["is spent for a budget below the price of the input", 9, { spent: ofRun("payer-0") }],
  ])("%s, if output is free", async (_, limit, expected) => {
    const ended: (() => Promise<void>)[] = [];
    const { call, ports } = await startBudgets([limit], async () => ended.pop()?.());
    const free = { perToken: 0, least: 1 };
    const first = expectReserved(await call({ ...free, input: limit }));
    ended.push(() => settle(first, 0, ports));
    expect(await call(free)).toEqual(expect.objectContaining(expected));
  });

  it("waits longer each time, up to two seconds, and 20 seconds in total", async () => {
    vi.spyOn(Math, "random").mockReturnValue(1);
    const { call, pauses } = await startBudgets([20]);
    await call({ wanted: 10 });
    expect(await call()).toBe("busy");
    expect(pauses).toEqual([100, 200, 400, 800, 1_600, ...Array.from({ length: 9 }, () => 2_000)]);
    vi.spyOn(Math, "random").mockReturnValue(0);
    const jittered = await startBudgets([20]);
    await jittered.call({ wanted: 10 });
    await jittered.call();
    expect(jittered.pauses.slice(0, 3), "half of that at least").toEqual([50, 100, 200]);
    const exact = await startBudgets([20]);
    await exact.call({ wanted: 10 });
    let slept = 0;
    const sleep = async () => {
      slept += 1;
      exact.clock.now += 10_000;
    };
    expect([await exact.call({}, { sleep }), slept]).toEqual(["busy", 2]);
  });

  it("holds nothing of a write whose response was lost and that the SDK then repeats", async () => {
    const { table, call, read } = await startBudgets([1_000]);
    let lost = 1;
    const write = async (one: Write) => {
      await table.write(one);
      if (lost-- > 0) await table.write(one);
    };
    const reserved = await call({}, { table: { ...table, write } });
    expect(reserved).toMatchObject({ amount: 110 });
    for (const { holds, left } of await read()) expect([Object.keys(holds).length, left]).toEqual([1, 890]);
  });

  it("fails with the error of the table, as settling does", async () => {
    const { table, call, ports } = await startBudgets([1_000]);
    const broken: Table = { ...table, write: () => Promise.reject(new Error("no table")) };
    await expect(call({}, { table: broken })).rejects.toThrow("no table");
    const reserved = expectReserved(await call());
    await expect(settle(reserved, 1, { ...ports, table: broken })).rejects.toThrow("no table");
  });
});

describe("a hold", () => {
  const of = (amount: number): Hold => ({ amount, at: 1, until: 2, run: "r", execution: "e" });

  it("is added and removed once", async () => {
    const { table, read, payers } = await startBudgets([100]);
    const add = (id: string, amount: number) => addHolds(payers, id, of(amount), table);
    expect([await add("id", 30), await add("id", 30)]).toEqual([true, false]);
    expect(await read()).toMatchObject([{ left: 70, open: 1, holds: { id: of(30) } }]);
    const remove = () => removeHold(ofRun("payer-0"), "id", 30, 40, table);
    await remove();
    await remove();
    expect(await read()).toMatchObject([{ left: 60, spent: 40, open: 0, holds: {} }]);
    expect(await add("all", 60), "all that is left").toBe(true);
    expect(await add("more", 1)).toBe(false);
  });

  it("is added to all budgets in one write, or to none", async () => {
    const { table, read, payers } = await startBudgets([100, 50, 100]);
    const counted = { ...table, write: vi.fn(table.write), transact: vi.fn(table.transact) };
    const add = (id: string, amount: number) => addHolds(payers, id, of(amount), counted);
    expect([await add("more", 51), await add("all", 50)]).toEqual([false, true]);
    expect((await read()).map(({ left, open }) => [left, open])).toEqual([
      [50, 1],
      [0, 1],
      [50, 1],
    ]);
    expect([counted.write.mock.calls, counted.transact.mock.calls.length]).toEqual([[], 2]);
    expect(await addHolds([], "none", of(1), counted), "nothing pays").toBe(true);
  });

  it("is not added where other calls write the same items all the time, which is tried again", async () => {
    const { table, payers, call } = await startBudgets([100, 100]);
    let busy = 1;
    const transact: Table["transact"] = async (writes) => {
      if (busy-- > 0) throw new TableBusy(new Error("a conflict"));
      return table.transact(writes);
    };
    expect(await addHolds(payers, "id", of(10), { ...table, transact })).toBe(false);
    busy = 1;
    expect(await call({ wanted: 20 }, { table: { ...table, transact } })).toMatchObject({ amount: 30 });
    const broken: Table["transact"] = () => Promise.reject(new Error("no table"));
    await expect(addHolds(payers, "id", of(10), { ...table, transact: broken })).rejects.toThrow("no table");
  });

  it("is charged in full once it has expired, with one read if none has", async () => {
    const { table, clock, ports, call } = await startBudgets([1_000]);
    await call();
    const get = vi.fn(table.get);
    const counting = { ...ports, table: { ...table, get } };
    clock.now += LASTS_MS - 1;
    expect(await sweep(ofRun("payer-0"), counting)).toMatchObject({ left: 890, spent: 0, open: 1 });
    expect(get).toHaveBeenCalledTimes(1);
    clock.now += 1;
    expect(await sweep(ofRun("payer-0"), counting)).toMatchObject({ left: 890, spent: 110, open: 0, holds: {} });
  });
});

describe("an allowance", () => {
  it("of a run without a parent is its own budget, if it has one", () => {
    expect([ownAllowance(undefined), ownAllowance(0.5)]).toEqual([undefined, { limit: 500_000_000, above: [] }]);
    expect(putBudget("r", { limit: 0, above: [] })).toStrictEqual({
      kind: "put",
      item: { ...keys.budget("r"), v: 1, limit: 0, left: 0 },
    });
    expect(putBudget("r", { above: ["a"] })).toStrictEqual({
      kind: "put",
      item: { ...keys.budget("r"), v: 1, above: ["a"] },
    });
  });

  it("of a child is at most what every budget above it has not spent, regardless of holds", async () => {
    const { table } = await startBudgets([300, 200, 250].map((milliseconds) => milliseconds * 1_000_000));
    const payer = ofRun("payer-1");
    await addHolds([payer], "id", { amount: 150_000_000, at: 1, until: 2, run: "r", execution: "e" }, table);
    const child = (budgetUsd?: number) => childAllowance(budgetUsd, { runId: "payer-0", hasBudget: true }, table);
    const above = ["payer-0", "payer-1", "payer-2"];
    expect(await child()).toEqual({ above });
    expect(await child(0.2)).toEqual({ limit: 200_000_000, above });
    await expect(child(0.2001)).rejects.toThrow("config.budget_usd: is more than the 0.2000 US dollars that are left");
    await removeHold(payer, "id", 150_000_000, 300_000_000, table);
    await expect(child(0.0001)).rejects.toThrow("is more than the 0.0000 US dollars that are left");
  });

  it("of a child is its own if no ancestor has a budget, even if an ancestor has called models", async () => {
    const table = memoryTable();
    const parent = { runId: "parent", hasBudget: true };
    expect(await childAllowance(undefined, parent, table)).toBeUndefined();
    expect(await childAllowance(1, parent, table)).toEqual({ limit: 1_000_000_000, above: [] });
    const unread: Table = { ...table, get: () => Promise.reject(new Error("was read")) };
    expect(await childAllowance(1, { ...parent, hasBudget: false }, unread)).toEqual({
      limit: 1_000_000_000,
      above: [],
    });
  });
});
