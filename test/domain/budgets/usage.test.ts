import { describe, expect, it } from "vitest";
import { sha256, uuidv7 } from "#shared/ids.ts";
import type { PersonalPrincipal, Principal } from "#shared/principals/principal.ts";
import { noteUsage, readUsage, toRequestUsage } from "#shared/records/budget-account.ts";
import { parseRunHead, type RunHead } from "#shared/records/run-head.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { Table } from "#shared/table/table.ts";
import { countUsage } from "#shared/usage/count-usage.ts";
import { readUsageReport } from "#shared/usage/read-usage.ts";

const DAY_MS = 86_400_000;
const now = Date.parse("2026-05-18T19:00:00.000Z");
const TEAM = { type: "Team", uid: "t" } as const;
const FACETS = { creator: "ada", source: "API", location: "REMOTE" };

function createHead(state: string, changes: object = {}, createdAt = now): RunHead {
  const run_id = uuidv7(createdAt);
  return parseRunHead({
    ...keys.head(run_id),
    updated_key: `${sortableTime(createdAt)}#${run_id}`,
    scope: "TEAM#t",
    state,
    ended_at: createdAt,
    run_time_ms: 2_500,
    p: FACETS,
    ...changes,
  });
}

const user: PersonalPrincipal = {
  kind: "personal",
  user: { uid: "ada", displayName: "Ada", email: "ada@example.com" },
  teams: [{ uid: "t", role: "member" }],
  activeTeam: undefined,
  teamItem: undefined,
  credential: { kind: "key", hash: "h", usedAt: undefined, expiresAt: undefined },
};

const report = (table: Table, query: { from?: string; to?: string; groupBy?: "day" | "model" | "executor" } = {}) =>
  readUsageReport({ from: query.from, to: query.to, groupBy: query.groupBy ?? "day" }, user, { table, now: () => now });
const ONE = { runs: 1, succeeded: 0, failed: 0, total_tokens: 0, cost_usd: 0, run_seconds: 2.5 };

describe("countUsage", () => {
  it.each([
    ["SUCCEEDED", { succeeded: 1 }],
    ["FAILED", { failed: 1 }],
    ["ERROR", { failed: 1 }],
    ["BLOCKED", {}],
    ["CANCELLED", {}],
  ])("counts a run that is %s", async (state, sums) => {
    const table = memoryTable();
    await countUsage(createHead(state), { table });
    expect(await report(table)).toEqual([{ ...ONE, key: "2026-05-18", ...sums }]);
  });

  it("does not count a run that has not ended", async () => {
    const table = memoryTable();
    const execution = { execution_id: "e", key_hash: "h", state_since: now, heartbeat_at: now };
    await countUsage(createHead("INPROGRESS", execution), { table });
    expect(table.all()).toEqual([]);
  });

  it("adds to one item per day and combination of facets, which expires after 402 days", async () => {
    const table = memoryTable();
    const facets = { ...FACETS, executor: "bot", model: "m", schedule: "s", environment: "env" };
    const heads = [createHead("SUCCEEDED", { p: facets }), createHead("FAILED", { p: facets })];
    for (const head of [...heads, createHead("FAILED")]) await countUsage(head, { table });
    const dimensions = {
      day: "2026-05-18",
      creator: "ada",
      executor: "bot",
      model: "m",
      schedule: "s",
      environment: "env",
    };
    const counters = table.all().filter(({ sk }) => sk.startsWith("USAGE#2026-05-18"));
    expect(counters).toHaveLength(2);
    expect(counters).toContainEqual({
      ...keys.usage(TEAM, "2026-05-18", sha256(JSON.stringify(dimensions))),
      v: 1,
      ...dimensions,
      ...{ runs: 2, succeeded: 1, failed: 1, tokens: 0, cost: 0, run_ms: 5_000 },
      expires_at: (Date.parse("2026-05-18") + 402 * DAY_MS) / 1_000,
    });
    const plain = { day: "2026-05-18", creator: "ada", executor: "ada" };
    expect(counters).toContainEqual(
      expect.objectContaining({ sk: keys.usage(TEAM, "2026-05-18", sha256(JSON.stringify(plain))).sk }),
    );
    expect(await table.get(keys.runUsage(heads[0]?.run_id ?? ""))).toEqual({
      ...keys.runUsage(heads[0]?.run_id ?? ""),
      v: 1,
      revision: 1,
      ...{ runs: 1, succeeded: 1, failed: 0, tokens: 0, cost: 0, run_ms: 2_500 },
    });
  });

  it.each([
    ["its time", { run_time_ms: 4_000 }, 0, { succeeded: 1, run_seconds: 4 }],
    ["what it used", {}, 700, { succeeded: 1, total_tokens: 700, cost_usd: 0.000001 }],
  ])("adds only the difference of a run that is counted again, in %s", async (_, changes, used, sums) => {
    const table = memoryTable();
    const head = createHead("SUCCEEDED");
    await countUsage(head, { table });
    const before = table.all().length;
    await countUsage(head, { table });
    const again = { ...keys.head(head.run_id), ...head, ...changes, updated_key: `${sortableTime(now)}#` };
    if (used > 0) await noteUsage(head.run_id, { cost: 1_499, tokens: used }, table);
    await countUsage(parseRunHead(again), { table });
    expect(await report(table)).toEqual([{ ...ONE, key: "2026-05-18", ...sums }]);
    expect(await table.get(keys.runUsage(head.run_id))).toMatchObject({ revision: 2 });
    expect(table.all().length - before).toBe(used > 0 ? 1 : 0);
  });

  it.each([
    ["SUCCEEDED", { runs: 1, succeeded: 0, failed: 0 }],
    ["FAILED", { runs: 1, succeeded: 0, failed: 0 }],
  ])("corrects a run that was %s and is then CANCELLED", async (state, sums) => {
    const table = memoryTable();
    const head = createHead(state);
    await noteUsage(head.run_id, { cost: 3_000, tokens: 2 }, table);
    for (const one of [head, { ...head, state: "CANCELLED" }]) {
      const item = { ...keys.head(head.run_id), ...one, updated_key: `${sortableTime(now)}#` };
      await countUsage(parseRunHead(item), { table });
    }
    expect(await report(table)).toMatchObject([{ ...sums, total_tokens: 2, cost_usd: 0.000003, run_seconds: 2.5 }]);
  });

  it("counts a run that has used nothing at all", async () => {
    const table = memoryTable();
    await countUsage(createHead("CANCELLED", { run_time_ms: 0 }), { table });
    expect(await report(table)).toEqual([{ ...ONE, key: "2026-05-18", run_seconds: 0 }]);
  });

  it("adds a difference of tokens alone and of the cost alone", async () => {
    const table = memoryTable();
    const head = createHead("SUCCEEDED");
    for (const used of [
      { cost: 0, tokens: 5 },
      { cost: 2_000, tokens: 0 },
    ]) {
      await noteUsage(head.run_id, used, table);
      await countUsage(head, { table });
    }
    expect(await report(table)).toMatchObject([{ runs: 1, total_tokens: 5, cost_usd: 0.000002 }]);
  });

  it.each([
    [7, "counts"],
    [8, "fails"],
  ])("after %i concurrent writes %s", async (others, outcome) => {
    const table = memoryTable();
    const head = createHead("SUCCEEDED");
    let left = others;
    const transact: Table["transact"] = async (writes) => {
      if (left-- > 0) {
        await noteUsage(head.run_id, { cost: 0, tokens: 1 }, table);
        await countUsage(head, { table });
        await noteUsage(head.run_id, { cost: 0, tokens: 1 }, table);
      }
      await table.transact(writes);
    };
    const counted = countUsage(head, { table: { ...table, transact } });
    if (outcome === "fails") await expect(counted).rejects.toThrow("the usage of the run is changed by other requests");
    else await counted;
    expect(await report(table)).toMatchObject([{ runs: 1, total_tokens: outcome === "counts" ? 14 : 15 }]);
  });

  it("fails with the error of the table", async () => {
    const table = { ...memoryTable(), transact: () => Promise.reject(new Error("no table")) };
    await expect(countUsage(createHead("SUCCEEDED"), { table })).rejects.toThrow("no table");
  });
});

describe("readUsageReport", () => {
  async function countDays(...days: readonly number[]) {
    const table = memoryTable();
    for (const day of days) await countUsage(createHead("SUCCEEDED", {}, now - day * DAY_MS), { table });
    return table;
  }
  const days = async (...args: Parameters<typeof report>) => (await report(...args)).map(({ key }) => key);

  it("covers the last 30 days, today included, or those before `to`", async () => {
    const table = await countDays(0, 29, 30);
    expect(await days(table)).toEqual(["2026-04-19", "2026-05-18"]);
    expect(await days(table, { to: "2026-05-17" })).toEqual(["2026-04-18", "2026-04-19"]);
    expect(await days(table, { from: "2026-04-20" })).toEqual(["2026-05-18"]);
    expect(await days(table, { from: "2026-05-18", to: "2026-05-18" })).toEqual(["2026-05-18"]);
  });

  it("covers from one day to 400", async () => {
    const table = await countDays(0);
    expect(await days(table, { from: "2025-04-14", to: "2026-05-18" })).toHaveLength(1);
    await expect(report(table, { from: "2025-04-13", to: "2026-05-18" })).rejects.toThrow(
      "from: must be at most 400 days before to, both included",
    );
    await expect(report(table, { from: "2026-05-19", to: "2026-05-18" })).rejects.toThrow("from: must not be after to");
  });

  it("adds runs up by the group, in the order of its keys, null for runs without one", async () => {
    const table = memoryTable();
    for (const model of ["z", "b", undefined, "z"]) {
      const head = createHead("SUCCEEDED", {
        p: { ...FACETS, ...(model === undefined ? {} : { model }) },
      });
      await noteUsage(head.run_id, { cost: 1_000_400, tokens: 3 }, table);
      await countUsage(head, { table });
    }
    await countUsage(createHead("ERROR", { p: { ...FACETS, model: "z" } }, now - DAY_MS), { table });
    expect(await report(table, { groupBy: "model" })).toEqual([
      { key: null, runs: 1, succeeded: 1, failed: 0, total_tokens: 3, cost_usd: 0.001, run_seconds: 2.5 },
      { key: "b", runs: 1, succeeded: 1, failed: 0, total_tokens: 3, cost_usd: 0.001, run_seconds: 2.5 },
      { key: "z", runs: 3, succeeded: 2, failed: 1, total_tokens: 6, cost_usd: 0.002001, run_seconds: 7.5 },
    ]);
  });

  it("covers the runs of the caller's teams and of their own, and is refused for a run", async () => {
    const table = await countDays(0);
    await countUsage(createHead("FAILED", { scope: "USER#ada" }), { table });
    await countUsage(createHead("FAILED", { scope: "USER#mia" }), { table });
    await countUsage(createHead("FAILED", { scope: "TEAM#other" }), { table });
    expect(await report(table)).toMatchObject([{ runs: 2, succeeded: 1, failed: 1 }]);
    const run: Principal = { kind: "run", head: createHead("SUCCEEDED"), executionId: "e", stopping: false };
    const query = { from: undefined, to: undefined, groupBy: "day" } as const;
    await expect(readUsageReport(query, run, { table, now: () => now })).rejects.toMatchObject({
      code: "not_authorized",
      detail: "a run's key sees no usage",
    });
  });
});

describe("the usage of runs", () => {
  it("is read for the heads that are marked, in their order, in batches of 100", async () => {
    const table = memoryTable();
    const heads = Array.from({ length: 201 }, (_, index) => ({
      run_id: `r${index}`,
      ...(index === 5 ? {} : { b: true as const }),
    }));
    for (const index of [0, 5, 200]) await noteUsage(`r${index}`, { cost: index, tokens: 1 }, table);
    const sizes: number[] = [];
    const batchGet: Table["batchGet"] = (wanted) => {
      sizes.push(wanted.length);
      return table.batchGet(wanted);
    };
    const found = await readUsage(heads, { batchGet });
    expect([found.length, found[0], found[1], found[5], found[200]]).toEqual([
      201,
      { cost: 0, tokens: 1, calls: 1 },
      { cost: 0, tokens: 0, calls: 0 },
      undefined,
      { cost: 200, tokens: 1, calls: 1 },
    ]);
    expect(sizes).toEqual([100, 100]);
    expect(await readUsage([{ run_id: "r5" }], { batchGet })).toEqual([undefined]);
    expect(sizes).toHaveLength(2);
  });

  it("is shown in dollars with six decimals once the run has made a call", () => {
    expect(toRequestUsage({ calls: 0, cost: 5, tokens: 5 })).toBeUndefined();
    expect(toRequestUsage({ calls: 1, cost: 1_500, tokens: 5 })).toMatchObject({
      inference_cost: 0.000002,
      total_tokens: 5,
    });
    expect(toRequestUsage({ calls: 1, cost: 1_499, tokens: 0 })).toEqual({
      inference_cost: 0.000001,
      inference_cost_usd: 0.000001,
      total_tokens: 0,
    });
  });
});
