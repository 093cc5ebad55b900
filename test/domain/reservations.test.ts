import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { triggers } from "#infra/triggers.ts";
import { parseBudget, putBudget } from "#shared/budgets/budget-store.ts";
import { type Reservation, reserve, settle, sweep } from "#shared/budgets/reserve.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { mutatedTable } from "../support/conditions.ts";
import { withRights } from "../support/rights.ts";

/** As the model gateway does it. */
const asGateway = (work: () => Promise<void>): Promise<void> =>
  withRights(triggers.callModel.file, triggers.callModel.rights, work);

const budgetTable = () => mutatedTable(memoryTable());

/** What happens to the budgets: a call begins, one of those under way ends, or its gateway dies. */
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
          // A root, a child with a budget of its own, and a child that has none.
          await table.write(putBudget("root", { limit: rootLimit, above: [] }));
          await table.write(putBudget("child", { limit: childLimit, above: ["root"] }));
          const payers = [["root"], ["child", "root"], ["root"]];
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
            if (typeof reserved === "string") return;
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
          for (const run of ["root", "child"]) expect((await sweep(run, ports)).holds).toEqual({});
          await check();
        }),
        { numRuns: 150 },
      );
    }));

  it("are charged in full if nobody settles them in time, and a late settlement has no effect", () =>
    asGateway(async () => {
      let now = 1_000_000;
      const table = budgetTable();
      const ports = { table, now: () => now, sleep: async () => undefined };
      await table.write(putBudget("root", { limit: 1_000, above: [] }));
      const quote = { run: "root", execution: "e", input: 100, perToken: 1, wanted: 100, least: 10, lastsMs: LASTS_MS };
      const reserved = await reserve(["root"], quote, ports);
      if (typeof reserved === "string") throw new Error(reserved);
      now += LASTS_MS;
      await sweep("root", ports);
      await settle(reserved, 150, ports);
      expect(parseBudget(await table.get(keys.budget("root")))).toMatchObject({ left: 800, spent: 200, open: 0 });
    }));

  it("are spent once if they are settled twice, as by a repeated write", () =>
    asGateway(async () => {
      const table = budgetTable();
      const ports = { table, now: () => 1_000_000, sleep: async () => undefined };
      await table.write(putBudget("root", { limit: 1_000, above: [] }));
      const quote = { run: "root", execution: "e", input: 100, perToken: 1, wanted: 100, least: 10, lastsMs: LASTS_MS };
      const reserved = await reserve(["root"], quote, ports);
      if (typeof reserved === "string") throw new Error(reserved);
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
        const reserved = await reserve(["root"], quote, ports);
        if (typeof reserved === "string") throw new Error(reserved);
        open.push(reserved);
      }
      expect(await reserve(["root"], quote, ports)).toBe("busy");
      for (const reserved of open.slice(0, 1)) await settle(reserved, 1, ports);
      expect(await reserve(["root"], quote, ports)).toMatchObject({ amount: 1 });
      expect(parseBudget(await table.get(keys.budget("root")))).toMatchObject({ open: 200, left: 799 });
    }));
});
