import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { parseBudget } from "#shared/budgets/budget-store.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import {
  createHarness,
  deliver,
  type Harness,
  nextExecution,
  startedRun,
  workingRun,
} from "../../support/execution.ts";
import { createGateway, type Gateway, MODEL_SETTINGS, SONNET } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";

let plane: TestControlPlane;
let standIn: ModelStandIn;
let gateway: Gateway;
beforeEach(async () => {
  const MODEL_PRICES = `${MODEL_SETTINGS.MODEL_PRICES},compatible/free=0/0,compatible/written=0/10`;
  const settings = { ...MODEL_SETTINGS, MODEL_PRICES, COMPATIBLE_MODELS: "llama,free,written" };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  gateway = createGateway(plane, standIn);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await standIn[Symbol.asyncDispose]();
});

const RUN = { prompt: "hello", config: { model_id: SONNET } };
const teamPath = () => `/agent/teams/${plane.team}`;
const setBudget = async (budget_usd_month: number | null): Promise<ResponseBody["body"]> => {
  const { status, body } = await createClient(plane).put(teamPath(), { settings: { budget_usd_month } });
  expect(status, JSON.stringify(body)).toBe(200);
  return body;
};
const readMonth = async () => (await createClient(plane).get(teamPath())).body.month;
const readItem = async (month = "2026-05") => parseBudget(await plane.table.get(keys.teamMonth(plane.team, month)));
const shown = async ({ run_id }: { run_id: string }) => (await createClient(plane).get(`/agent/runs/${run_id}`)).body;
/** Finishes a run whose call was refused, and shows it. */
const finished = async (run: Harness) => {
  await run.finish();
  return shown(run);
};

/** Makes a call that costs `usd`: tokens of output are $10 a million. */
async function spend(run: Harness, usd: number, body: object = {}): Promise<Response> {
  standIn.turns.push({ usage: { input: 0, output: usd * 100_000 } });
  const response = await gateway.messages(run.key, { max_tokens: 1_000, ...body });
  if (response.status !== 200) standIn.turns.pop();
  return response;
}

const SPENT = (usd: number) =>
  `what is left of the team's monthly budget of ${usd} US dollars is not enough for another call of ${SONNET}; ` +
  "it renews on 2026-06-01 (UTC)";

describe("settings.budget_usd_month", () => {
  // @contract teams.budget: budget_usd_month is the most that the team's runs spend on models in a calendar month (UTC); null is no limit.
  it("is an amount in dollars with at most four decimals, from 0.0001 to 1,000,000, or null", async () => {
    const user = createClient(plane);
    const before = structuredClone(plane.table.all());
    for (const budget_usd_month of [0, -1, 0.00001, 1.23456, 1_000_000.01, "1", true, []]) {
      const settings = { budget_usd_month };
      for (const response of [
        await user.put(teamPath(), { settings }),
        await user.post("/agent/teams", { name: "Gamma", settings }),
      ]) {
        expect(response.status, String(budget_usd_month)).toBe(400);
        expect(response.body.errors).toMatchObject([{ path: "settings.budget_usd_month" }]);
      }
    }
    expect(plane.table.all()).toEqual(before);
    for (const usd of [0.0001, 0.29, 999_999.1234, 1_000_000, null]) {
      expect((await setBudget(usd)).settings.budget_usd_month).toBe(usd);
      expect((await user.get("/agent/teams")).body.teams[0].settings.budget_usd_month).toBe(usd);
    }
    const made = await user.post("/agent/teams", { name: "Gamma", settings: { budget_usd_month: 5 } });
    expect(made.body.settings.budget_usd_month).toBe(5);
  });

  it("is changed and read with its month by admins only", async () => {
    const member = createClient(plane, (await plane.person("Mia")).key);
    const other = createClient(plane, plane.otherKey);
    for (const [client, status] of [
      [member, 403],
      [other, 404],
    ] as const) {
      expect((await client.put(teamPath(), { settings: { budget_usd_month: 1 } })).status).toBe(status);
      expect((await client.get(teamPath())).status).toBe(status);
    }
    expect((await readMonth()).budget_usd).toBeNull();
  });
});

describe("the month of a team", () => {
  it("shows what the team's runs have spent, without a budget as well", async () => {
    const nothing = { budget_usd: null, spent_usd: 0, renews_at: "2026-06-01T00:00:00.000Z" };
    expect(await readMonth()).toEqual(nothing);
    const run = await workingRun(plane, RUN);
    await spend(run, 0.005);
    await (await spend(run, 0.0025, { stream: true })).text();
    expect(await readMonth()).toEqual({ ...nothing, spent_usd: 0.0075 });
    expect((await setBudget(20)).month).toEqual({ ...nothing, budget_usd: 20, spent_usd: 0.0075 });
    await spend(run, 0.001);
    expect((await readMonth()).spent_usd).toBe(0.0085);
    const [listed] = (await createClient(plane).get("/agent/teams")).body.teams;
    expect(listed).not.toHaveProperty("month");
  });

  it("includes the reservations of dead gateways once the time of their calls is over", async () => {
    await setBudget(1);
    const run = await workingRun(plane, RUN);
    standIn.turns.push({ after: new Promise(() => undefined) });
    void gateway.messages(run.key).catch(() => undefined);
    await vi.waitFor(async () => expect((await readItem()).open).toBe(1));
    const [hold] = Object.values((await readItem()).holds);
    expect((await readMonth()).spent_usd).toBe(0);
    plane.clock.now = hold?.until ?? 0;
    expect((await readMonth()).spent_usd).toBe(Math.round((hold?.amount ?? 0) / 1_000) / 1_000_000);
  });

  it("counts nothing for personal runs, models without a price and calls that cost nothing", async () => {
    const personal = await workingRun(plane, { ...RUN, team: false });
    await spend(personal, 0.005);
    const run = await workingRun(plane, RUN);
    await gateway.chat(run.key, { model: "compatible/llama" });
    await gateway.chat(run.key, { model: "compatible/free" });
    standIn.turns.push({ status: 400 });
    await gateway.messages(run.key);
    expect(standIn.seen).toHaveLength(4);
    expect(await plane.table.get(keys.teamMonth(plane.team, "2026-05"))).toBeUndefined();
  });

  it("takes one read and one write of the table for each call of a run without a budget", async () => {
    const run = await workingRun(plane, RUN);
    const personal = await workingRun(plane, { ...RUN, team: false });
    // The first call marks the head.
    for (const { key } of [run, personal]) await gateway.messages(key);
    const calls: string[] = [];
    const counted = <A extends unknown[], R>(name: string, call: (...given: A) => R) => {
      return (...given: A): R => {
        calls.push(name);
        return call(...given);
      };
    };
    const { get, batchGet, query, write, transact } = plane.table;
    Object.assign(plane.table, {
      get: counted("get", get),
      batchGet: counted("batchGet", batchGet),
      query: counted("query", query),
      write: counted("write", write),
      transact: counted("transact", transact),
    });
    await gateway.messages(personal.key);
    const without = calls.splice(0).toSorted();
    await gateway.messages(run.key);
    expect(calls.toSorted()).toEqual([...without, "get", "write"].toSorted());
  });
});

// @contract teams.budget
describe("a team's monthly budget", () => {
  // @contract budget.month: A run that exceeds the team's monthly budget ends with budget_exceeded.
  it("makes the run fail whose call exceeds it, with a message that names it", async () => {
    await setBudget(0.02);
    const run = await workingRun(plane, RUN);
    expect((await spend(run, 0.008)).status).toBe(200);
    const refused = await gateway.messages(run.key, { max_tokens: 2_000, system: "x".repeat(6_000) });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toEqual({
      type: "error",
      error: { type: "permission_error", message: `budget_exceeded: ${SPENT(0.02)}` },
    });
    expect((await run.finish()).status).toBe(200);
    expect(await shown(run)).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "budget_exceeded", retryable: false, message: SPENT(0.02) },
    });
    expect((await gateway.messages(run.key)).status).toBe(401);
    expect(plane.sent).toContainEqual({ queue: "ends", runId: run.run_id });
    expect(await readItem()).toMatchObject({ spent: 8_000_000, open: 0, holds: {} });
  });

  it("pays for all runs of the team, and not for personal runs and other teams", async () => {
    await setBudget(0.02);
    const first = await workingRun(plane, RUN);
    const child = await startChild(first);
    await spend(first, 0.005);
    await spend(child, 0.01);
    const second = await workingRun(plane, RUN, (await plane.agent()).key);
    for (const run of [second, child, first]) {
      expect((await gateway.messages(run.key)).status).toBe(403);
      expect((await finished(run)).status_message.message).toBe(SPENT(0.02));
    }
    const personal = await workingRun(plane, { ...RUN, team: false });
    const others = await workingRun(plane, RUN, plane.otherKey);
    for (const run of [personal, others]) expect((await gateway.messages(run.key)).status).toBe(200);
  });

  it("applies in addition to the budget of a run, and the message names the one that is spent", async () => {
    await setBudget(0.05);
    const run = await workingRun(plane, { prompt: "hello", config: { model_id: SONNET, budget_usd: 0.02 } });
    await spend(run, 0.008);
    expect(await readItem()).toMatchObject({ left: -8_000_000, spent: 8_000_000, open: 0 });
    expect(parseBudget(await plane.table.get(keys.budget(run.run_id)))).toMatchObject({ left: 12_000_000, open: 0 });
    expect((await gateway.messages(run.key)).status).toBe(403);
    expect((await finished(run)).status_message.message).toBe(
      `what is left of the run's budget is not enough for another call of ${SONNET}`,
    );
    const rich = await workingRun(plane, { prompt: "hello", config: { model_id: SONNET, budget_usd: 10 } });
    for (let calls = 0; calls < 4; calls++) await spend(rich, 0.0095);
    expect((await gateway.messages(rich.key)).status).toBe(403);
    expect((await finished(rich)).status_message.message).toBe(SPENT(0.05));
    expect(parseBudget(await plane.table.get(keys.budget(rich.run_id)))).toMatchObject({ open: 0, holds: {} });
  });

  it("that is set or changed applies from the next call on, to what was spent before too", async () => {
    const run = await workingRun(plane, RUN);
    for (let calls = 0; calls < 4; calls++) await spend(run, 0.01);
    await setBudget(0.06);
    expect((await spend(run, 0.005)).status).toBe(200);
    await setBudget(0.03);
    expect((await gateway.messages(run.key)).status).toBe(403);
    expect((await finished(run)).status_message.message).toBe(SPENT(0.03));
    await setBudget(0.2);
    const again = await followUp(run);
    expect((await spend(again, 0.005)).status).toBe(200);
    await setBudget(null);
    expect((await spend(again, 0.005)).status).toBe(200);
    expect((await readMonth()).spent_usd).toBe(0.055);
  });

  it("renews with the calendar month in UTC, also in the middle of a run", async () => {
    plane.clock.now = Date.parse("2026-05-31T23:59:00.000Z");
    await setBudget(0.03);
    const run = await workingRun(plane, RUN);
    expect((await spend(run, 0.01)).status).toBe(200);
    const other = await workingRun(plane, RUN);
    expect((await spend(other, 0.009)).status).toBe(200);
    plane.clock.now = Date.parse("2026-05-31T23:59:59.999Z");
    expect((await gateway.messages(run.key)).status).toBe(403);
    await run.finish();
    plane.clock.now += 1;
    expect(await readMonth()).toEqual({ budget_usd: 0.03, spent_usd: 0, renews_at: "2026-07-01T00:00:00.000Z" });
    expect((await spend(other, 0.003)).status).toBe(200);
    expect((await readItem("2026-05")).spent).toBe(19_000_000);
    expect((await readItem("2026-06")).spent).toBe(3_000_000);
    expect((await spend(await followUp(run), 0.001)).status).toBe(200);
  });

  it("leaves runs alone that call no paid model, even where it is spent", async () => {
    await spend(await workingRun(plane, RUN), 0.01);
    await setBudget(0.001);
    const runbook = await startedRun(plane, { prompt: "```sh\ndate\n```", config: { model_id: "local/runbook" } });
    await runbook.resolve();
    await runbook.finish();
    expect((await shown(runbook)).state).toBe("SUCCEEDED");
    const free = await workingRun(plane, RUN);
    expect((await gateway.chat(free.key, { model: "compatible/free" })).status).toBe(200);
    expect((await gateway.chat(free.key, { model: "compatible/written" })).status, "only input is free").toBe(403);
    expect((await finished(free)).state).toBe("FAILED");
  });

  it("cannot be enforced with a model without a known price: returns 403, and the run continues", async () => {
    await setBudget(1);
    const run = await workingRun(plane, RUN);
    const response = await gateway.chat(run.key, { model: "compatible/llama" });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain(
      "the team has a monthly budget, and the price of compatible/llama is not known",
    );
    expect((await shown(run)).state).toBe("INPROGRESS");
    const own = await workingRun(plane, { prompt: "hello", config: { model_id: SONNET, budget_usd: 1 } });
    const refused = await gateway.chat(own.key, { model: "compatible/llama" });
    expect(await refused.text()).toContain("the run has a budget, and the price of compatible/llama is not known");
    await setBudget(null);
    expect((await gateway.chat(run.key, { model: "compatible/llama" })).status).toBe(200);
  });

  it("has the rules of a budget for what a request may contain", async () => {
    await setBudget(0.1);
    const run = await workingRun(plane, RUN);
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const response = await gateway.messages(run.key, { max_tokens: 64_000, tools });
    expect(response.headers.get("runyard-dropped")).toContain("web_search_20250305");
    expect(standIn.seen[0]?.body.max_tokens).toBeLessThan(10_000);
    expect((await gateway.responses(run.key, { previous_response_id: "resp_1" })).status).toBe(400);
  });

  it("is not exceeded by 20 runs that call at the same time", async () => {
    await setBudget(0.5);
    await createClient(plane).put(teamPath(), { settings: { concurrency_limit: 20 } });
    const runs: Harness[] = [];
    for (let index = 0; index < 20; index++) runs.push(await workingRun(plane, RUN));
    // The actual cost of a call, $0.01, is about a third of its maximum.
    standIn.otherwise = { usage: { input: 1_000, output: 800 }, pauseMs: 1 };
    let calls = 0;
    const work = async (run: Harness, index: number) => {
      for (;;) {
        const response = await gateway.messages(run.key, { max_tokens: 3_000, stream: index % 2 === 0 });
        await response.text();
        if (response.status === 403) return;
        if (response.status === 200) calls += 1;
      }
    };
    await Promise.all(runs.map(work));
    const { left, spent, open, holds } = await readItem();
    expect({ open, holds, spent: calls * 10_000_000 }).toEqual({ open: 0, holds: {}, spent });
    expect(left).toBe(-spent);
    expect(spent).toBeLessThanOrEqual(500_000_000);
    expect(spent).toBeGreaterThan(450_000_000);
    for (const run of runs) expect((await finished(run)).status_message.message).toBe(SPENT(0.5));
  });
});

/** Starts a child of a working run. */
async function startChild(parent: Harness): Promise<Harness> {
  await parent.client.post("/agent/runs", { prompt: "help" });
  const child = await nextExecution(plane);
  await child.resolve();
  return child;
}

/** Continues an ended run. */
async function followUp({ run_id }: Harness): Promise<Harness> {
  await createClient(plane).post(`/agent/runs/${run_id}/followups`, { message: "go on" });
  await deliver(plane, "ends");
  await deliver(plane, "runs");
  const envelope = plane.started.findLast((started) => started.run_id === run_id);
  if (envelope === undefined) throw new Error("the run was not started again");
  const harness = createHarness(plane, envelope);
  await harness.resolve();
  return harness;
}
