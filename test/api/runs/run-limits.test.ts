import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
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
import { createGateway, type Gateway, SONNET, stubModelSettings } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { reap } from "../../support/reaper.ts";
import { makeSchedule } from "../../support/schedules.ts";

const MINUTE = 60_000;
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

const withLimits = (config: object) => ({ prompt: "hello", config: { model_id: SONNET, ...config } });
const shown = async ({ run_id }: { run_id: string }) => (await createClient(plane).get(`/agent/runs/${run_id}`)).body;
const call = async ({ key }: Harness): Promise<number> => (await gateway.messages(key)).status;

/** Continues an ended run with a follow-up. */
async function followUp(run: Harness): Promise<Harness> {
  await createClient(plane).post(`/agent/runs/${run.run_id}/followups`, { message: "go on" });
  await deliver(plane, "ends");
  const next = await nextExecution(plane);
  await next.resolve();
  return next;
}

/** Starts a child of a working run. */
async function startChild(parent: Harness, config: object = {}): Promise<Harness> {
  const { status, body } = await parent.client.post("/agent/runs", withLimits(config));
  if (status !== 200) throw new Error(`the child was not created: ${JSON.stringify(body)}`);
  const child = await nextExecution(plane);
  await child.resolve();
  return child;
}

describe("limits of a run", () => {
  // @contract runs.config.timeout: timeout_minutes is 1 to 10,080.
  // @contract runs.config.steps: max_steps is 1 to 10,000.
  it.each([
    ["timeout_minutes", 10_080],
    ["max_steps", 10_000],
    ["max_total_tokens", 1_000_000_000],
  ])("%s is a whole number from 1", async (name, most) => {
    const user = createClient(plane);
    for (const value of [0, -1, 1.5, most + 1, "1", null]) {
      const response = await user.post("/agent/runs", withLimits({ [name]: value }));
      expect([value, response.status, response.body.errors?.[0]?.path]).toEqual([value, 400, `config.${name}`]);
    }
    for (const value of [1, most]) {
      const run_id = await createRun(plane, withLimits({ [name]: value }));
      expect((await shown({ run_id })).agent_config[name]).toBe(value);
    }
  });

  // @contract runs.config.schedules: The limits hold in schedules.
  it("of a schedule apply to its runs", async () => {
    const limits = { timeout_minutes: 30, max_steps: 2, max_total_tokens: 500 };
    const { id } = await makeSchedule(plane, { agent_config: { model_id: SONNET, ...limits } });
    await createClient(plane).post(`/agent/schedules/${id}/run`);
    const run = await nextExecution(plane);
    await run.resolve();
    expect((await shown(run)).agent_config).toMatchObject(limits);
    expect([await call(run), await call(run), await call(run)]).toEqual([200, 200, 403]);
  });
});

describe("max_steps", () => {
  // @contract runs.config.steps-end: A run that reaches max_steps ends FAILED with budget_exceeded and a message with the number.
  it("makes the run fail after as many model responses, keeps what was done, and begins again with a follow-up", async () => {
    const run = await workingRun(plane, withLimits({ max_steps: 2 }));
    expect([await call(run), await call(run)]).toEqual([200, 200]);
    const refused = await gateway.messages(run.key);
    const detail = "max_steps: the run has used all of its 2 model responses. Send a follow-up to continue";
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining(`budget_exceeded: ${detail}`),
    ]);
    expect(standIn.seen).toHaveLength(2);
    expect((await run.beat()).body.failing).toContain(detail);
    expect((await run.messages(1, "half of it")).status).toBe(200);
    expect((await run.finish(true)).status).toBe(200);
    expect(await shown(run)).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "budget_exceeded", message: expect.stringContaining(detail), retryable: false },
    });
    const { body } = await createClient(plane).get(`/agent/runs/${run.run_id}/conversation`);
    expect(JSON.stringify(body)).toContain("half of it");

    const again = await followUp(run);
    expect([await call(again), await call(again), await call(again)]).toEqual([200, 200, 403]);
  });

  it("counts no response that the provider refused, and streamed ones", async () => {
    const run = await workingRun(plane, withLimits({ max_steps: 1 }));
    standIn.turns.push({ status: 400 });
    expect(await call(run)).toBe(400);
    await (await gateway.messages(run.key, { stream: true })).text();
    expect(await call(run)).toBe(403);
  });

  it("goes on counting after an execution is lost", async () => {
    const run = await workingRun(plane, withLimits({ max_steps: 2 }));
    await call(run);
    await run.shutDown({ error: { category: "internal", message: "broken" } });
    const next = await nextExecution(plane);
    await next.resolve();
    expect([await call(next), await call(next)]).toEqual([200, 403]);
  });

  it("ends a LOCAL run in the call that finds it reached, because its harness may not finish", async () => {
    const run = await localRun(plane, withLimits({ max_steps: 1 }));
    await run.resolve();
    expect([await call(run), await call(run)]).toEqual([200, 403]);
    expect(await shown(run)).toMatchObject({ state: "FAILED", status_message: { error_code: "budget_exceeded" } });
  });

  // @contract runs.config.child-limits: A child's limits draw on what is left of its parent's.
  it("of a parent also counts the responses of its children, which have no more than what is left", async () => {
    const parent = await workingRun(plane, withLimits({ max_steps: 4 }));
    await call(parent);
    const child = await startChild(parent, { max_steps: 50 });
    expect((await shown(child)).agent_config.max_steps).toBe(3);
    const grandchild = await startChild(child, { max_steps: 2 });
    expect((await shown(grandchild)).agent_config.max_steps).toBe(2);
    expect([await call(child), await call(grandchild), await call(parent)]).toEqual([200, 200, 200]);
    const refused = await gateway.messages(grandchild.key);
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining(`max_steps: run ${parent.run_id}, on which this one draws, has used all of its 4`),
    ]);
    expect([await call(child), await call(parent)]).toEqual([403, 403]);
  });
});

describe("max_total_tokens", () => {
  // @contract runs.config.tokens-end: A run that reaches max_total_tokens ends FAILED with budget_exceeded and a message with the number.
  // @contract runs.config.fresh-allowance: A follow-up continues with a fresh allowance.
  it("makes the run fail at the first call after as many tokens, and begins again with a follow-up", async () => {
    const run = await workingRun(plane, withLimits({ max_total_tokens: 1_000 }));
    standIn.turns.push({ usage: { input: 900, output: 99 } }, { usage: { input: 900, output: 200 } });
    expect([await call(run), await call(run)]).toEqual([200, 200]);
    const refused = await gateway.messages(run.key);
    expect([refused.status, await refused.text()]).toEqual([
      403,
      expect.stringContaining("max_total_tokens: the run has used 2099 of its 1000 tokens. Send a follow-up"),
    ]);
    await run.finish();
    expect(await shown(run)).toMatchObject({ state: "FAILED", request_usage: { total_tokens: 2_099 } });
    expect(await call(await followUp(run))).toBe(200);
  });

  it("limits a run of a model without a price", async () => {
    const run = await workingRun(plane, withLimits({ model_id: "compatible/llama", max_total_tokens: 100 }));
    const chat = async () => (await gateway.chat(run.key, { model: "compatible/llama" })).status;
    expect([await chat(), await chat()]).toEqual([200, 403]);
  });
});

describe("the runyard-remaining header", () => {
  const remaining = async ({ key }: Harness) => (await gateway.messages(key)).headers.get("runyard-remaining");

  it("says what is left of the limits once that is little", async () => {
    const run = await workingRun(plane, withLimits({ max_steps: 6, max_total_tokens: 10_000, timeout_minutes: 10 }));
    expect([await remaining(run), await remaining(run)]).toEqual([null, null]);
    standIn.turns.push({ usage: { input: 9_000, output: 500 } });
    expect(await remaining(run)).toBe("3 model responses");
    plane.clock.now += 9 * MINUTE;
    await run.beat();
    expect(await remaining(run)).toMatch(/^2 model responses, \d+ tokens, 1 minute$/);
    expect(await remaining(run)).toMatch(/^1 model response, /);
  });

  it("is absent without limits", async () => {
    expect(await remaining(await workingRun(plane, withLimits({})))).toBeNull();
  });
});

describe("timeout_minutes", () => {
  /** Lets time pass with heartbeats and passes of the reaper. */
  async function pass(milliseconds: number, ...runs: readonly Harness[]): Promise<void> {
    for (const end = plane.clock.now + milliseconds; plane.clock.now < end; ) {
      plane.clock.now = Math.min(end, plane.clock.now + 10_000);
      for (const run of runs) await run.beat();
      await reap(plane);
    }
  }
  const FAILURE = {
    state: "FAILED",
    status_message: {
      error_code: "budget_exceeded",
      message: expect.stringMatching(
        /^timeout_minutes: the run was not done within 2 minutes, at .*Z\. Send a follow-up/,
      ),
    },
  };

  // @contract runs.config.timeout-end: A run that reaches timeout_minutes ends FAILED with budget_exceeded and a message with the number.
  it("makes a working run fail, tells its harness, and lets it finish", async () => {
    const run = await workingRun(plane, withLimits({ timeout_minutes: 2 }));
    await pass(2 * MINUTE - 10_000, run);
    expect((await run.beat()).body).not.toHaveProperty("failing");
    await pass(10_000, run);
    expect((await run.beat()).body.failing).toContain("timeout_minutes: ");
    expect(await call(run)).toBe(403);
    await run.messages(1, "half of it");
    await run.finish();
    expect(await shown(run)).toMatchObject(FAILURE);
    const again = await followUp(run);
    await pass(2 * MINUTE - 10_000, again);
    expect((await again.beat()).body).not.toHaveProperty("failing");
  });

  it("ends a run whose harness does not finish after a minute", async () => {
    const run = await workingRun(plane, withLimits({ timeout_minutes: 2 }));
    await pass(3 * MINUTE + 30_000, run);
    expect(await shown(run)).toMatchObject(FAILURE);
    expect((await run.beat()).status).toBe(401);
  });

  it("counts from the first start, also while the run waits for another execution", async () => {
    const run = await workingRun(plane, withLimits({ timeout_minutes: 2 }));
    await pass(MINUTE, run);
    await run.shutDown({ error: { category: "internal", message: "broken" } });
    expect((await shown(run)).state).toBe("QUEUED");
    await pass(MINUTE);
    expect(await shown(run)).toMatchObject(FAILURE);
  });

  // @contract runs.config.timeout-start: timeout_minutes counts from the first start.
  it("counts from the first start, not from that of a later execution", async () => {
    const run = await workingRun(plane, withLimits({ timeout_minutes: 2 }));
    await pass(MINUTE, run);
    await run.shutDown({ error: { category: "internal", message: "broken" } });
    const next = createHarness(plane, await plane.dispatch(run.run_id));
    await next.resolve();
    await pass(MINUTE, next);
    expect((await next.beat()).body.failing).toContain("timeout_minutes: ");
  });

  it("does not count before the run starts, or after it ends", async () => {
    const run_id = await createRun(plane, withLimits({ timeout_minutes: 2 }));
    await pass(5 * MINUTE);
    expect((await shown({ run_id })).state).toBe("QUEUED");
    const run = createHarness(plane, await plane.dispatch(run_id));
    await run.resolve();
    await run.support("finish-task", { success: false, blocked: true, summary: "which one?" });
    await pass(5 * MINUTE);
    expect((await shown(run)).state).toBe("BLOCKED");
  });

  it("ends a LOCAL run at once, even without a heartbeat", async () => {
    const run = await localRun(plane, withLimits({ timeout_minutes: 1 }));
    await run.resolve();
    plane.clock.now += MINUTE;
    await reap(plane);
    expect((await shown(run)).status_message).toMatchObject({ error_code: "budget_exceeded" });
  });

  it("of a child ends with the time of its parent", async () => {
    const parent = await workingRun(plane, withLimits({ timeout_minutes: 5 }));
    await pass(3 * MINUTE, parent);
    const [child, short] = [
      await startChild(parent, { timeout_minutes: 60 }),
      await startChild(parent, { timeout_minutes: 1 }),
    ];
    expect((await shown(child)).agent_config.timeout_minutes).toBe(2);
    expect((await shown(short)).agent_config.timeout_minutes).toBe(1);
    await pass(MINUTE, parent, child, short);
    expect([(await child.beat()).body.failing, (await short.beat()).body.failing]).toEqual([
      undefined,
      expect.stringContaining("within 1 minute,"),
    ]);
  });
});
