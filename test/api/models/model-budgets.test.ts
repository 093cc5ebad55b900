import { setTimeout as wait } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Budget, parseBudget } from "#shared/budgets/budget-store.ts";
import { finishExecution } from "#shared/executions/finish-task.ts";
import { sha256 } from "#shared/ids.ts";
import { toUsd } from "#shared/records/money.ts";
import { isExecutingHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { TableBusy } from "#shared/table/table.ts";
import { SLICE_ENDED } from "#shared/wire/harness.ts";
import { eventually } from "../../server/support/eventually.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import {
  createHarness,
  createRun,
  deliver,
  type Harness,
  localRun,
  nextExecution,
  workingRun,
} from "../../support/execution.ts";
import { Faults } from "../../support/faults.ts";
import { createGateway, type Gateway, SONNET, stubModelSettings } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { reap } from "../../support/reaper.ts";
import { makeSchedule } from "../../support/schedules.ts";

let plane: TestControlPlane;
let standIn: ModelStandIn;
let gateway: Gateway;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  gateway = createGateway(plane, standIn);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await standIn[Symbol.asyncDispose]();
});

const withBudget = (budget_usd: number, more: object = {}) => ({
  prompt: "hello",
  config: { model_id: SONNET, budget_usd, ...more },
});
const readBudget = async ({ run_id }: { run_id: string }): Promise<Budget> =>
  parseBudget(await plane.table.get(keys.budget(run_id)));
const shown = async ({ run_id }: { run_id: string }) => (await createClient(plane).get(`/agent/runs/${run_id}`)).body;
/** Finishes a run whose call was refused, and shows it. */
const finished = async (run: Harness) => {
  await run.finish();
  return shown(run);
};

/** Starts a run that its creator executes. */
async function workingLocalRun(request: object): Promise<Harness> {
  const run = await localRun(plane, request);
  await run.resolve();
  return run;
}

/** Starts a child of a working run. */
async function startChild(parent: Harness, config: object = {}): Promise<Harness> {
  const { status, body } = await parent.client.post("/agent/runs", { prompt: "help", config });
  if (status !== 200) throw new Error(`the child was not created: ${JSON.stringify(body)}`);
  await deliver(plane, "runs");
  const envelope = plane.started.at(-1);
  if (envelope?.run_id !== body.run_id || envelope === undefined) throw new Error("the child was not started");
  const child = createHarness(plane, envelope);
  await child.resolve();
  return child;
}

describe("config.budget_usd", () => {
  const refused = async (config: object) => {
    const { status, body } = await createClient(plane).post("/agent/runs", { prompt: "x", config });
    return [status, body.errors?.map(({ path }: { path: string }) => path)];
  };

  it("is an amount in dollars with at most four decimals, from 0.0001 to 10,000", async () => {
    for (const budget_usd of [0, -1, 0.00001, 1.23456, 10_000.01, "1", null]) {
      expect([budget_usd, ...(await refused({ budget_usd }))]).toEqual([budget_usd, 400, ["config.budget_usd"]]);
    }
    for (const budget_usd of [0.0001, 0.29, 1.2345, 10_000]) {
      const run_id = await createRun(plane, withBudget(budget_usd));
      expect((await shown({ run_id })).agent_config.budget_usd).toBe(budget_usd);
    }
  });

  it("is rejected with a model without a known price", async () => {
    expect(await refused({ budget_usd: 1, model_id: "compatible/llama" })).toEqual([400, ["config.budget_usd"]]);
  });

  it("of a schedule applies to each of its runs", async () => {
    const { id } = await makeSchedule(plane, { agent_config: { model_id: SONNET, budget_usd: 0.5 } });
    const { run_id } = (await createClient(plane).post(`/agent/schedules/${id}/run`)).body;
    expect((await shown({ run_id })).agent_config.budget_usd).toBe(0.5);
    expect(await readBudget({ run_id })).toMatchObject({ limit: 500_000_000, left: 500_000_000 });
  });

  it("of a child is part of what its parent has left, and the parent's if it names none", async () => {
    const parent = await workingRun(plane, withBudget(1));
    standIn.turns.push({ usage: { input: 100_000, output: 0 } });
    await gateway.messages(parent.key);
    const { status, body } = await parent.client.post("/agent/runs", { prompt: "x", config: { budget_usd: 0.8001 } });
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          path: "config.budget_usd",
          message: "is more than the 0.8000 US dollars that are left of its parent's budget",
        },
      ],
    ]);
    const own = await startChild(parent, { budget_usd: 0.8 });
    const inherits = await startChild(parent);
    expect((await shown(own)).agent_config.budget_usd).toBe(0.8);
    expect((await shown(inherits)).agent_config.budget_usd).toBe(1);
    expect(await readBudget(inherits)).toMatchObject({ above: [parent.run_id] });
    expect(await readBudget(own)).toMatchObject({ above: [parent.run_id], limit: 800_000_000 });
  });
});

describe("a budget", () => {
  it("is used by the run, its children and its follow-ups, and ends with nothing reserved", async () => {
    const root = await workingRun(plane, withBudget(1));
    await gateway.messages(root.key);
    const child = await startChild(root);
    await (await gateway.messages(child.key, { stream: true })).text();
    await root.finish();
    await createClient(plane).post(`/agent/runs/${root.run_id}/followups`, { message: "more" });
    await deliver(plane, "ends");
    const again = await nextExecution(plane);
    await again.resolve();
    await gateway.messages(again.key);
    // Each call has 100 input tokens at $2 per million, and 20 output tokens at $10 per million.
    expect(await readBudget(root)).toMatchObject({ spent: 1_200_000, left: 998_800_000, open: 0, holds: {}, calls: 2 });
    expect((await shown(root)).request_usage.inference_cost).toBe(0.0008);
    expect((await shown(child)).request_usage.inference_cost).toBe(0.0004);
  });

  it("makes the run fail when it is spent, with a 403 in the API's format for this call and every later one", async () => {
    const root = await workingRun(plane, withBudget(0.02));
    standIn.turns.push({ usage: { input: 4_000, output: 1_000 } });
    expect((await gateway.messages(root.key)).status).toBe(200);
    const refused = await gateway.messages(root.key);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toEqual({
      type: "error",
      error: {
        type: "permission_error",
        message: `budget_exceeded: what is left of the run's budget is not enough for another call of ${SONNET}`,
      },
    });
    const small = await gateway.messages(root.key, { max_tokens: 1 });
    expect([small.status, await small.text()]).toEqual([403, expect.stringContaining("budget_exceeded: what is left")]);
    expect(standIn.seen).toHaveLength(1);
    expect((await root.messages(1, "half of it")).status).toBe(200);
    expect((await root.finish(true, "all is done")).status).toBe(200);
    expect(await shown(root)).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "budget_exceeded", retryable: false },
    });
    expect((await gateway.messages(root.key)).status).toBe(401);
    expect((await root.finish()).status).toBe(401);
    expect(plane.sent).toContainEqual({ queue: "ends", runId: root.run_id });
    const { body } = await createClient(plane).get(`/agent/runs/${root.run_id}/conversation`);
    expect(JSON.stringify(body)).toContain("half of it");
    await createClient(plane).post(`/agent/runs/${root.run_id}/followups`, { message: "go on" });
    await deliver(plane, "ends");
    const again = await nextExecution(plane);
    await again.resolve();
    const openai = await gateway.chat(again.key);
    expect(openai.status).toBe(403);
    expect(await openai.json()).toMatchObject({ error: { type: "permission_error", code: "budget_exceeded" } });
  });

  it("ends a LOCAL run in the call that finds it spent, because its harness may not finish", async () => {
    const run = await workingLocalRun(withBudget(0.001));
    expect((await gateway.messages(run.key)).status).toBe(403);
    expect(await shown(run)).toMatchObject({ state: "FAILED", status_message: { error_code: "budget_exceeded" } });
    expect(plane.sent).toContainEqual({ queue: "ends", runId: run.run_id });
  });

  describe("that is spent", () => {
    /** A run whose call was refused. */
    const spent = async (run: Harness): Promise<Harness> => {
      expect((await gateway.messages(run.key)).status).toBe(403);
      expect((await shown(run)).state).toBe("INPROGRESS");
      return run;
    };
    /** Stores a checkpoint from which another execution could continue. */
    const checkpoint = async (run: Harness): Promise<void> => {
      const files = [{ filename: "w.tar", mime_type: "application/x-tar", size_bytes: 1, sha256: sha256("w") }];
      const upload = { mode: "checkpoint", generation: "turn-1", files };
      const { body } = await run.support("upload-snapshot", upload);
      await plane.upload(body.uploads[0].url, "w");
      expect((await run.support("commit-snapshot", { generation: "turn-1", files: ["w.tar"] })).status).toBe(200);
    };
    const FAILED = {
      state: "FAILED",
      status_message: { error_code: "budget_exceeded", message: expect.stringContaining("the run's budget") },
    };

    it("ends the run after a minute if its execution goes on", async () => {
      const run = await spent(await workingRun(plane, withBudget(0.001)));
      for (let second = 0; second < 120; second += 10) {
        plane.clock.now += 10_000;
        await run.beat();
        await reap(plane);
        if (second < 40) expect((await shown(run)).state).toBe("INPROGRESS");
      }
      expect(await shown(run)).toMatchObject(FAILED);
      expect((await run.beat()).status).toBe(401);
    });

    it.each([
      ["shuts down", (run: Harness) => run.shutDown()],
      [
        "reports the end of its slice",
        (run: Harness) => run.shutDown({ error: { category: SLICE_ENDED, message: "x" } }),
      ],
      [
        "asks the user",
        (run: Harness) => run.support("finish-task", { success: false, summary: "Why?", blocked: true }),
      ],
      [
        "is silent",
        async () => {
          plane.clock.now += 31_000;
          await reap(plane);
        },
      ],
    ])("ends the run if its execution %s", async (_, end) => {
      const run = await spent(await workingRun(plane, withBudget(0.001)));
      await checkpoint(run);
      await end(run);
      expect(await shown(run)).toMatchObject(FAILED);
    });

    it("lets a cancel and a waiting follow-up decide how the run goes on", async () => {
      const run = await spent(await workingRun(plane, withBudget(0.001)));
      await createClient(plane).post(`/agent/runs/${run.run_id}/followups`, { message: "more" });
      expect((await run.beat()).body.followups).toEqual([]);
      const outcome = { success: false, summary: "The budget is spent.", followups_stored: 0 };
      expect((await run.support("finish-task", outcome)).body.followups).toBeUndefined();
      const again = await nextExecution(plane);
      await again.resolve();
      await again.beat(1);
      expect((await finished(again)).state).toBe("SUCCEEDED");
      const cancelled = await spent(await workingRun(plane, withBudget(0.001)));
      await createClient(plane).post(`/agent/runs/${cancelled.run_id}/cancel`);
      expect((await shown(cancelled)).state).toBe("CANCELLED");
    });

    it("ends the run with its failure although it is found spent while the run finishes", async () => {
      const run = await workingRun(plane, withBudget(0.001));
      const stale = await plane.ports.runs.head(run.run_id);
      await spent(run);
      if (stale === undefined || !isExecutingHead(stale)) throw new Error("the run does not execute");
      await finishExecution(stale, { success: true, summary: "done" }, plane.ports);
      expect(await shown(run)).toMatchObject(FAILED);
    });
  });

  it.each([
    ["a refused call", { status: 400 }, false, 0],
    ["a whole response", {}, false, 400_000],
    ["a streamed response", {}, true, 400_000],
  ])("is settled before %s ends", async (_, turn, stream, spent) => {
    let slow = false;
    // Each call is slow, so a call that nothing waits for is not done when the response ends.
    plane = await createTestControlPlane(undefined, async (_name, perform) => {
      if (slow) await wait(20);
      return perform();
    });
    gateway = createGateway(plane, standIn);
    const root = await workingRun(plane, withBudget(1));
    standIn.turns.push(turn);
    slow = true;
    await (await gateway.messages(root.key, { stream })).text();
    slow = false;
    expect(await readBudget(root)).toMatchObject({ spent, left: 1_000_000_000 - spent, open: 0, holds: {} });
  });

  it("counts a call once if the response of any write is lost, so that it is repeated", async () => {
    const faults = new Faults();
    plane = await createTestControlPlane(undefined, faults.around);
    gateway = createGateway(plane, standIn);
    const run = await workingRun(plane, withBudget(1));
    for (let at = 0; at < 12; at++) {
      faults.calls.length = 0;
      faults.plan = { at, fault: "unheard" };
      const before = await readBudget(run);
      await faults.invoke("gateway", () => gateway.messages(run.key));
      const { calls, cost, tokens, spent, open } = await readBudget(run);
      const of = { calls: before.calls + 1, tokens: before.tokens + 120, cost: before.cost + 400_000, open: 0 };
      expect([at, faults.calls[at], { calls, tokens, cost, open }]).toEqual([at, faults.calls[at], of]);
      expect(spent).toBe(before.spent + 400_000);
    }
  });

  it("counts a call whose event cannot be written because the run changes all the time", async () => {
    const run = await workingRun(plane, withBudget(1));
    const { runs } = plane.ports;
    const change: typeof runs.change = async (head, made, now) => {
      if (made.events.some(({ type }) => type === "model_called")) throw new TableBusy("a conflict");
      return runs.change(head, made, now);
    };
    const busy = createGateway(plane, standIn, undefined, { runs: { ...runs, change } });
    expect((await busy.messages(run.key)).status).toBe(200);
    expect(await readBudget(run)).toMatchObject({ calls: 1, cost: 400_000, spent: 400_000, open: 0 });
  });

  it("of a child ends only the child", async () => {
    const root = await workingRun(plane, withBudget(1));
    const child = await startChild(root, { budget_usd: 0.01 });
    expect((await gateway.messages(child.key)).status).toBe(403);
    expect((await finished(child)).state).toBe("FAILED");
    expect((await gateway.messages(root.key)).status).toBe(200);
  });

  it("lowers a request's output limit if it cannot pay for all of it", async () => {
    const root = await workingRun(plane, withBudget(0.1));
    standIn.turns.push({ usage: { input: 100, output: 100_000 } });
    await gateway.messages(root.key, { max_tokens: 64_000 });
    const limit = standIn.seen[0]?.body.max_tokens;
    expect(limit).toBeGreaterThan(5_000);
    expect(limit).toBeLessThan(10_000);
    const { left, spent } = await readBudget(root);
    expect(left).toBeGreaterThanOrEqual(0);
    expect(spent).toBeLessThanOrEqual(100_000_000);
  });

  it("sets an output limit if the request has none, and never cuts the thinking budget", async () => {
    const root = await workingRun(plane, withBudget(0.05));
    await gateway.chat(root.key);
    expect(standIn.seen[0]?.body.max_completion_tokens).toBeLessThan(16_384);
    const thinking = { thinking: { type: "enabled", budget_tokens: 30_000 }, max_tokens: 64_000 };
    expect((await gateway.messages(root.key, thinking)).status).toBe(403);
  });

  it("reserves the cost of all responses of a request, and refuses input of unknown size", async () => {
    const root = await workingRun(plane, withBudget(1));
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    standIn.turns.push({ after: promise });
    const call = gateway.chat(root.key, { n: 4, max_tokens: 1_000 });
    await eventually(() => expect(standIn.seen).toHaveLength(1));
    const [hold] = Object.values((await readBudget(root)).holds);
    const at = plane.clock.now;
    const { run_id: run, execution_id: execution } = root;
    expect(hold).toEqual({ amount: expect.any(Number), at, until: at + 16 * 60_000, run, execution });
    // 4,000 tokens at $6 a million, and some input.
    expect(hold?.amount).toBeGreaterThanOrEqual(24_000_000);
    expect(hold?.amount).toBeLessThan(27_000_000);
    finish();
    await call;
    await gateway.chat(root.key);
    expect(standIn.seen[1]?.body).toMatchObject({ max_completion_tokens: 16_384 });
    expect((await gateway.responses(root.key, { previous_response_id: "resp_1" })).status).toBe(400);
    const free = await workingRun(plane);
    expect((await gateway.responses(free.key, { previous_response_id: "resp_1" })).status).toBe(200);
  });

  it("cannot be enforced with a model without a known price: returns 403, and the run continues", async () => {
    const root = await workingRun(plane, withBudget(1));
    const response = await gateway.chat(root.key, { model: "compatible/llama" });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("the price of compatible/llama is not known");
    expect((await shown(root)).state).toBe("INPROGRESS");
  });

  it("releases the reservation of a failed call, and settles by usage if the caller disconnected", async () => {
    const root = await workingRun(plane, withBudget(1));
    standIn.turns.push({ status: 400 }, { pauseMs: 30 });
    await gateway.messages(root.key);
    expect(await readBudget(root)).toMatchObject({ left: 1_000_000_000, open: 0, holds: {} });
    const response = await gateway.messages(root.key, { stream: true });
    expect((await readBudget(root)).open).toBe(1);
    await response.body?.cancel();
    await eventually(async () => expect((await readBudget(root)).open).toBe(0));
    // 100 tokens of input at $2 a million, and 20 of output at $10.
    expect(await readBudget(root)).toMatchObject({ left: 999_600_000, spent: 400_000 });
  });

  it("waits for reservations of other calls, and returns Retry-After if that takes too long", async () => {
    const root = await workingRun(plane, withBudget(0.02));
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    standIn.turns.push({ after: promise });
    const first = gateway.messages(root.key);
    await eventually(() => expect(standIn.seen).toHaveLength(1));
    const second = await gateway.messages(root.key);
    expect([second.status, second.headers.get("retry-after")]).toEqual([429, "2"]);
    const third = gateway.messages(root.key);
    await eventually(() => expect(gateway.pauses.length).toBeGreaterThan(0));
    finish();
    expect((await first).status).toBe(200);
    expect([200, 429]).toContain((await third).status);
    expect((await shown(root)).state).toBe("INPROGRESS");
  });

  it("charges the full reservation of a crashed gateway after the call's time limit", async () => {
    const root = await workingRun(plane, withBudget(0.02));
    const hold = (until: number, execution: string) => ({
      amount: 19_000_000,
      at: plane.clock.now,
      until,
      run: root.run_id,
      execution,
    });
    const put = async (until: number, execution: string) =>
      plane.table.write({
        kind: "update",
        key: keys.budget(root.run_id),
        set: { "h_0199e0b2-0000-7000-8000-00000000dead": hold(until, execution) },
        add: { left: -19_000_000, open: 1 },
      });
    await put(plane.clock.now + 1_000_000, "an-execution-that-is-over");
    expect((await gateway.messages(root.key)).status).toBe(429);
    plane.clock.now += 60_000;
    expect((await gateway.messages(root.key)).status).toBe(429);
    plane.clock.now += 1_000_000;
    expect((await gateway.messages(root.key)).status).toBe(403);
    expect(await readBudget(root)).toMatchObject({ open: 0, holds: {}, left: 1_000_000, spent: 19_000_000 });
  });
});

describe("100 child runs on one budget of $1", () => {
  it("spend it with concurrent calls, and exceed it by at most one call", async () => {
    const root = await workingRun(plane, withBudget(1));
    const children: Harness[] = [];
    for (let index = 0; index < 100; index++) children.push(await workingChild(root));
    // The actual cost of a call, $0.01, is a third of its maximum of $0.03.
    standIn.otherwise = { usage: { input: 1_000, output: 2_800 }, pauseMs: 1 };
    let calls = 0;
    const work = async (child: Harness) => {
      for (;;) {
        const response = await gateway.messages(child.key, { max_tokens: 8_000, stream: calls % 2 === 0 });
        await response.text();
        if (response.status === 403 || response.status === 401) return;
        if (response.status === 200) calls += 1;
      }
    };
    await Promise.all(children.map(work));
    const budget = await readBudget(root);
    expect(budget).toMatchObject({ open: 0, holds: {} });
    expect(budget.left + budget.spent).toBe(1_000_000_000);
    // Printed by `npx vitest run --project api test/api/models/model-budgets.test.ts`; docs/models.md has the figure.
    console.info(`100 child runs on $1: ${calls} calls, $${toUsd(budget.spent).toFixed(4)} spent`);
    expect(toUsd(budget.spent)).toBeLessThanOrEqual(1 + 0.03);
    expect(toUsd(budget.spent)).toBeGreaterThan(0.95);
    for (const child of children) expect((await finished(child)).status_message.error_code).toBe("budget_exceeded");
  });

  /** Starts a child without waiting for one of the eight slots of a run tree. */
  const workingChild = (root: Harness) => workingLocalRun({ prompt: "help", parent_run_id: root.run_id });
});
