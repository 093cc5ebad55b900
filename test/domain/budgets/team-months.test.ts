import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { eventSources } from "#infra/event-sources.ts";
import { addHolds, addSpending, type Payer, putBudget, readBudget, readPayer } from "#shared/budgets/budget-store.ts";
import { readPayers } from "#shared/budgets/payers.ts";
import { type BudgetPorts, type Quote, type Reservation, reserve, settle, sweep } from "#shared/budgets/reserve.ts";
import { type TeamMonth, teamMonth } from "#shared/budgets/team-month.ts";
import { readTeam } from "#shared/records/team.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { readTeamDetail } from "#shared/teams/team-detail.ts";
import { mutatedTable } from "../../support/conditions.ts";
import { withRights } from "../../support/rights.ts";

const at = (time: string): number => Date.parse(time);
const LASTS_MS = 100_000;
/** A call of 10 billionths of a dollar and one for each token of output: 100 tokens, or at least 5. */
const QUOTE: Quote = { run: "run", execution: "e", input: 10, perToken: 1, wanted: 100, least: 5, lastsMs: LASTS_MS };

const MAY = teamMonth("t", at("2026-05-18T19:00:00Z"));
const payerOf = (limit: number, month: TeamMonth = MAY): Payer => ({ kind: "month", month, limit });

describe("the month of a team", () => {
  it.each([
    ["2026-05-01T00:00:00.000Z", "2026-05", "2026-06-01T00:00:00.000Z"],
    ["2026-05-31T23:59:59.999Z", "2026-05", "2026-06-01T00:00:00.000Z"],
    ["2026-06-01T01:30:00.000+02:00", "2026-05", "2026-06-01T00:00:00.000Z"],
    ["2026-12-31T23:59:59.999Z", "2026-12", "2027-01-01T00:00:00.000Z"],
    ["2028-02-29T12:00:00.000Z", "2028-02", "2028-03-01T00:00:00.000Z"],
  ])("that includes %s is %s in UTC, and ends at %s", (time, month, end) => {
    expect(teamMonth("t", at(time))).toEqual({ team: "t", month, endsAt: at(end) });
  });

  it("includes every moment before its end, and none after it", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: at("2100-01-01T00:00:00Z") }), (time) => {
        const { month, endsAt } = teamMonth("t", time);
        expect(endsAt).toBeGreaterThan(time);
        expect(teamMonth("t", endsAt - 1).month).toBe(month);
        expect(teamMonth("t", endsAt).month > month).toBe(true);
      }),
    );
  });
});

describe("readPayers", () => {
  const startedAt = at("2026-05-18T19:00:00Z");
  const setUp = async () => {
    const table = memoryTable();
    await table.write({ kind: "put", item: { ...keys.team("t"), v: 1, uid: "t", name: "T", created_at: 1 } });
    await table.write(putBudget("run", { limit: 7, above: ["root"] }));
    const reads: string[] = [];
    const get: typeof table.get = async (key) => {
      reads.push(key.sk);
      return table.get(key);
    };
    const limit = (budget_usd_month: number) =>
      table.write({ kind: "update", key: keys.team("t"), set: { budget_usd_month } });
    const read = async (head: { scope: string; b?: true }, isFree = false, hasOwnKey = false) =>
      readPayers(
        { run_id: "run", ...head },
        { startedAt, isFree, hasOwnKey, team: await readTeam("t", table) },
        { get, batchGet: table.batchGet },
      );
    return { reads, limit, read };
  };
  const ofRuns = ["run", "root"].map((runId) => ({ kind: "run", runId }));

  it("returns the budgets of the run and its ancestors, and the month that its cost counts in", async () => {
    const { reads, read } = await setUp();
    expect(await read({ scope: "TEAM#t", b: true })).toStrictEqual({ payers: ofRuns, limited: [], countedIn: MAY });
    expect(reads.splice(0)).toEqual(["BUDGET"]);
    expect(await read({ scope: "TEAM#t" }), "without a budget").toStrictEqual({
      payers: [],
      limited: [],
      countedIn: MAY,
    });
    expect(reads).toEqual([]);
  });

  it("returns the month as the last payer if the team has a budget", async () => {
    const { limit, read } = await setUp();
    await limit(0.5);
    const month = payerOf(500_000_000);
    expect(await read({ scope: "TEAM#t", b: true })).toStrictEqual({ payers: [...ofRuns, month], limited: [] });
    expect(await read({ scope: "TEAM#t" })).toStrictEqual({ payers: [month], limited: [] });
  });

  it("returns no month for calls with a key of the team, which pays its provider itself", async () => {
    const { limit, read } = await setUp();
    await limit(0.5);
    expect(await read({ scope: "TEAM#t", b: true }, false, true)).toStrictEqual({ payers: ofRuns, limited: [] });
  });

  it("returns no month for personal runs and for calls that cost nothing", async () => {
    const { reads, limit, read } = await setUp();
    await limit(0.5);
    expect(await read({ scope: "USER#u", b: true })).toStrictEqual({ payers: ofRuns, limited: [] });
    expect(await read({ scope: "TEAM#t", b: true }, true)).toStrictEqual({ payers: ofRuns, limited: [] });
    expect(reads).toEqual(["BUDGET", "BUDGET"]);
  });

  it("returns no limit for a team that was deleted", async () => {
    const { read } = await setUp();
    expect(await read({ scope: "TEAM#gone" })).toStrictEqual({
      payers: [],
      countedIn: teamMonth("gone", startedAt),
      limited: [],
    });
  });
});

describe("readTeamDetail", () => {
  it("throws not found where the team was deleted, although its month exists", async () => {
    const table = memoryTable();
    await addSpending(MAY, 60, table);
    const reading = readTeamDetail("t", { table, now: () => at("2026-05-18T19:00:00Z") });
    await expect(reading).rejects.toMatchObject({
      code: "resource_not_found",
      detail: expect.stringContaining("team"),
    });
  });
});

describe("the budget of a team for a month", () => {
  let table: ReturnType<typeof memoryTable>;
  let clock: number;
  let ports: BudgetPorts;
  beforeEach(() => {
    table = mutatedTable(memoryTable());
    clock = at("2026-05-18T19:00:00Z");
    ports = {
      table,
      now: () => clock,
      sleep: async (milliseconds) => {
        clock += milliseconds;
      },
    };
  });

  const asGateway = (work: () => Promise<void>): Promise<void> =>
    withRights(eventSources.callModel.file, eventSources.callModel.rights, work);
  const call = (payers: readonly Payer[], changes: Partial<Quote> = {}) =>
    reserve(payers, { ...QUOTE, ...changes }, ports);
  async function expectCall(payers: readonly Payer[], changes: Partial<Quote> = {}): Promise<Reservation> {
    const reserved = await call(payers, changes);
    if (reserved === "busy" || "spent" in reserved) throw new Error(JSON.stringify(reserved));
    return reserved;
  }

  it("begins whole with the first call of the month, and is a new one in the next month", () =>
    asGateway(async () => {
      const june = teamMonth("t", MAY.endsAt);
      await settle(await expectCall([payerOf(200)]), 60, ports);
      expect(await readPayer(payerOf(200), table)).toMatchObject({ left: 140, spent: 60, open: 0, holds: {} });
      expect(await readPayer(payerOf(200, june), table)).toMatchObject({ left: 200, spent: 0 });
      const item = await table.get(keys.teamMonth("t", "2026-05"));
      expect(item).toEqual({
        pk: "TEAM#t",
        sk: "MONTH#2026-05",
        v: 1,
        left: -60,
        spent: 60,
        open: 0,
        expires_at: at("2027-07-08T00:00:00Z") / 1000,
      });
    }));

  it("is that of the month in which a call began, also if the call ends in the next one", () =>
    asGateway(async () => {
      const reserved = await expectCall([payerOf(200)]);
      clock = MAY.endsAt + 1_000;
      await settle(reserved, 60, ports);
      expect(await readPayer(payerOf(200), table)).toMatchObject({ left: 140, spent: 60, open: 0 });
    }));

  it.each([
    [15, { tokens: 5, amount: 15 }],
    [14, { spent: payerOf(14) }],
  ])("of %i without a call so far allows %j", (limit, expected) =>
    asGateway(async () => {
      expect(await call([payerOf(limit)])).toEqual(expect.objectContaining(expected));
    }),
  );

  it("applies with its present limit, which calls before it was set count in, too", () =>
    asGateway(async () => {
      await addSpending(MAY, 60, table);
      await addSpending(MAY, 40, table);
      expect(await call([payerOf(114)])).toEqual({ spent: payerOf(114) });
      await settle(await expectCall([payerOf(115)]), 15, ports);
      expect(await readPayer(payerOf(50), table), "lowered below what is spent").toMatchObject({
        left: -65,
        spent: 115,
      });
      expect(await call([payerOf(50)])).toEqual({ spent: payerOf(50) });
      expect(await call([payerOf(300)])).toMatchObject({ amount: 110 });
    }));

  it("and those of runs are reserved together: nothing where one of them is spent", () =>
    asGateway(async () => {
      await table.write(putBudget("run", { limit: 1_000, above: [] }));
      const run: Payer = { kind: "run", runId: "run" };
      expect(await call([run, payerOf(14)])).toEqual({ spent: payerOf(14) });
      expect(await readBudget("run", table)).toMatchObject({ left: 1_000, open: 0, holds: {} });
      expect(await table.get(keys.teamMonth("t", "2026-05"))).toBeUndefined();
      const reserved = await expectCall([run, payerOf(50)]);
      expect(reserved).toMatchObject({ amount: 50, tokens: 40 });
      expect(await readBudget("run", table)).toMatchObject({ left: 950, open: 1 });
      expect(await readPayer(payerOf(50), table)).toMatchObject({ left: 0, open: 1 });
      await settle(reserved, 20, ports);
      expect(await readBudget("run", table)).toMatchObject({ left: 980, spent: 20, open: 0 });
      expect(await readPayer(payerOf(50), table)).toMatchObject({ left: 30, spent: 20, open: 0 });
    }));

  it("charges a call in full whose gateway died, once the call's time is over", () =>
    asGateway(async () => {
      await call([payerOf(200)]);
      clock += LASTS_MS - 1;
      expect(await sweep(payerOf(200), ports)).toMatchObject({ left: 90, spent: 0, open: 1 });
      clock += 1;
      expect(await sweep(payerOf(200), ports)).toMatchObject({ left: 90, spent: 110, open: 0, holds: {} });
    }));

  it("pays for at most 200 calls in progress", () =>
    asGateway(async () => {
      const hold = { amount: 1, at: clock, until: clock + LASTS_MS, run: "run", execution: "e" };
      const add = (id: string) => addHolds([payerOf(1_000)], id, hold, table);
      for (let count = 0; count < 200; count++) expect(await add(`call-${count}`)).toBe(true);
      expect(await add("one-more")).toBe(false);
      expect(await call([payerOf(1_000)])).toBe("busy");
    }));

  it("is never exceeded by 20 runs that call at the same time, with and without budgets of their own", () =>
    asGateway(async () => {
      const Run = fc.record({ limit: fc.option(fc.integer({ min: 20, max: 500 })), shares: fc.array(fc.nat(100)) });
      const scenario = fc.record({
        limit: fc.integer({ min: 0, max: 3_000 }),
        runs: fc.array(Run, { minLength: 20, maxLength: 20 }),
      });
      await fc.assert(
        fc.asyncProperty(scenario, async ({ limit, runs }) => {
          const shared = mutatedTable(memoryTable());
          // A pause is a turn of the event loop, in which other calls go on.
          const sleep = (milliseconds: number) => {
            clock += milliseconds;
            return new Promise<void>((resolve) => setImmediate(resolve));
          };
          const both = { table: shared, now: () => clock, sleep };
          const check = async () => {
            const { left, spent, holds } = await readPayer(payerOf(limit), shared);
            const held = Object.values(holds).reduce((sum, { amount }) => sum + amount, 0);
            expect(left).toBeGreaterThanOrEqual(0);
            expect(left + spent + held).toBe(limit);
          };
          const work = async ({ limit: own, shares }: (typeof runs)[number], index: number) => {
            const runId = `run-${index}`;
            if (own !== null) await shared.write(putBudget(runId, { limit: own, above: [] }));
            const payers = [...(own === null ? [] : [{ kind: "run", runId } as const]), payerOf(limit)];
            for (const share of shares) {
              const reserved = await reserve(payers, { ...QUOTE, lastsMs: 10_000_000 }, both);
              if (reserved === "busy" || "spent" in reserved) return;
              await check();
              await new Promise<void>((resolve) => setImmediate(resolve));
              await settle(reserved, Math.floor((reserved.amount * share) / 100), both);
            }
          };
          await Promise.all(runs.map(work));
          await check();
          expect((await readPayer(payerOf(limit), shared)).holds).toEqual({});
        }),
        { numRuns: 40 },
      );
    }));
});
