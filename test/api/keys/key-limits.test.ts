import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { hashKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, type Harness, workingRun } from "../../support/execution.ts";
import { createGateway, type Gateway, SONNET, stubModelSettings } from "../../support/gateway.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { nightly } from "../../support/schedules.ts";
import { startSession } from "../../support/web-sessions.ts";

let plane: TestControlPlane;
let ada: Client;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  ada = createClient(plane);
});
afterEach(() => vi.unstubAllEnvs());

/** A new personal key with limits. */
const keyWith = async (limits: object): Promise<string> =>
  (await ada.post("/agent/keys", { name: "limited", ...limits })).body.key;
const create = (key: string, body: object = {}, headers = {}) =>
  createClient(plane, key).post("/agent/runs", { prompt: "hello", ...body }, { headers });
const countRuns = async () => (await ada.get("/agent/runs")).body.runs.length;

describe("the limits of a key", () => {
  it("are shown with the key, and absent without them", async () => {
    const limits = { max_budget_usd: 12.5, max_runs_per_day: 3 };
    const { uid } = await plane.agent();
    for (const path of ["/agent/keys", `/agent/identities/${uid}/keys`]) {
      expect((await ada.post(path, { name: "limited", ...limits })).body).toMatchObject(limits);
      expect((await ada.get(path)).body.keys).toContainEqual(expect.objectContaining(limits));
      const none = { name: "free", max_budget_usd: null, max_runs_per_day: null };
      const { body } = await ada.post(path, none);
      expect(Object.keys(body).filter((member) => member.startsWith("max_"))).toEqual([]);
    }
  });

  it.each([
    ["max_budget_usd", [0, -1, 0.00001, 1_000_001, "1", true]],
    ["max_runs_per_day", [0, -1, 1.5, 1_000_001, "1", true]],
  ])("are refused with 400 where %s is one of %j", async (member, values) => {
    for (const value of values) {
      const { status, body } = await ada.post("/agent/keys", { name: "limited", [member]: value });
      expect([status, body.errors[0].path]).toEqual([400, member]);
    }
  });

  it.each([{ max_budget_usd: 1 }, { max_runs_per_day: 1 }])(
    "refuse whatever would start runs that %j does not count",
    async (limits) => {
      const { uid } = await plane.agent();
      const rule = { issuer: "https://issuer.runyard.test", audience: "a", subject_pattern: "repo:x" };
      const trigger = { name: "builds", kind: "webhook", prompt: "hello" };
      const schedule = (await ada.post("/agent/schedules", nightly)).body.id;
      const { uid: existing } = (await ada.post("/agent/triggers", trigger)).body;
      const limited = createClient(plane, await keyWith(limits));
      const requests = [
        () => limited.post("/agent/keys", { name: "more" }),
        () => limited.post(`/agent/identities/${uid}/keys`, { name: "more" }),
        () => limited.post(`/agent/identities/${uid}/trust-rules`, rule),
        () => limited.post("/agent/schedules", nightly),
        () => limited.put(`/agent/schedules/${schedule}`, { ...nightly, enabled: true }),
        () => limited.post("/agent/triggers", trigger),
        () => limited.put(`/agent/triggers/${existing}`, { enabled: false }),
        () => limited.post(`/agent/triggers/${existing}/rotate-secret`, {}),
        () => limited.post(`/agent/teams/${plane.team}/invitations`, { email: "new@runyard.test" }),
      ];
      for (const send of requests) {
        const detail = expect.stringMatching(
          /^a key with max_budget_usd or max_runs_per_day .* use a key without limits$/,
        );
        expect(await send()).toMatchObject({ status: 403, body: { error_code: "not_authorized", detail } });
      }
    },
  );

  it("cost a key without them nothing", async () => {
    await createRun(plane);
    expect(plane.table.all().filter(({ pk, sk }) => pk.startsWith("KEY#") && sk !== "KEY")).toEqual([]);
  });
});

describe("max_runs_per_day", () => {
  const MIDNIGHT_SECONDS = 5 * 3600;
  const reached = {
    status: 429,
    headers: { "retry-after": String(MIDNIGHT_SECONDS) },
    body: {
      error_code: "resource_unavailable",
      retryable: true,
      detail:
        "max_runs_per_day: 2 of 2 runs of this key were created today; send the request after 00:00 UTC, or with another key",
    },
  };

  // @contract keys.runs: A key takes max_runs_per_day.
  it("refuses further runs of the key until the next day in UTC", async () => {
    const key = await keyWith({ max_runs_per_day: 2 });
    expect((await create(key)).status).toBe(200);
    expect((await create(key)).status).toBe(200);
    const before = await countRuns();
    expect(await create(key)).toMatchObject(reached);
    expect(await countRuns()).toBe(before);
    expect((await create(await keyWith({ max_runs_per_day: 2 }))).status).toBe(200);
    plane.clock.now += MIDNIGHT_SECONDS * 1000 - 1;
    expect((await create(key)).status).toBe(429);
    plane.clock.now += 1;
    expect((await create(key)).status).toBe(200);
  });

  it("admits exactly as many of the runs that are created at the same time", async () => {
    const key = await keyWith({ max_runs_per_day: 3 });
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) => create(key, { prompt: `run ${index}` })),
    );
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(responses.filter(({ status }) => status === 429)).toHaveLength(5);
  });

  it("counts neither refused nor repeated requests, nor dry runs", async () => {
    const key = await keyWith({ max_runs_per_day: 2 });
    expect((await create(key, { prompt: "" })).status).toBe(400);
    const headers = { "idempotency-key": "one" };
    const { body } = await create(key, {}, headers);
    expect((await create(key, {}, headers)).body.run_id).toBe(body.run_id);
    const dry = () => createClient(plane, key).post("/agent/runs?dry_run=true", { prompt: "hello" });
    expect((await dry()).body.would_start).toBe(true);
    expect((await create(key)).status).toBe(200);
    expect((await create(key, {}, headers)).body.run_id).toBe(body.run_id);
    expect((await dry()).body).toMatchObject({
      would_start: false,
      findings: [{ code: "resource_unavailable", message: expect.stringContaining("2 of 2 runs") }],
    });
  });

  it("counts runs of the key's web session, trials of environments and runs of schedules on request", async () => {
    const key = await keyWith({ max_runs_per_day: 3 });
    const limited = createClient(plane, key);
    const { headers } = await startSession(plane, { key });
    const body = { prompt: "hello" };
    expect((await request(plane, "POST", "/agent/runs", { key: undefined, headers, body })).status).toBe(200);
    const environment = (await ada.post("/agent/environments", { name: "Workshop" })).body.uid;
    const trial = () => limited.post(`/agent/environments/${environment}/try`);
    expect((await trial()).status).toBe(200);
    const schedule = (await ada.post("/agent/schedules", nightly)).body.id;
    const run = () => limited.post(`/agent/schedules/${schedule}/run`);
    expect((await run()).status).toBe(200);
    for (const send of [trial, run]) {
      plane.clock.now += 60_000;
      expect(await send()).toMatchObject({
        status: 429,
        body: { detail: expect.stringContaining("max_runs_per_day: 3 of 3 runs") },
      });
    }
  });
});

describe("max_budget_usd", () => {
  let standIn: ModelStandIn;
  let gateway: Gateway;
  beforeEach(async () => {
    standIn = await ModelStandIn.start();
    gateway = createGateway(plane, standIn);
  });
  afterEach(() => standIn[Symbol.asyncDispose]());

  const RUN = { prompt: "hello", config: { model_id: SONNET } };
  /** Makes a call that costs a cent: tokens of output are $10 a million. */
  async function spend(run: Harness): Promise<number> {
    standIn.turns.push({ usage: { input: 0, output: 1_000 } });
    const { status } = await gateway.messages(run.key, { max_tokens: 1_000 });
    if (status !== 200) standIn.turns.pop();
    return status;
  }
  const shown = async ({ run_id }: Harness) => (await ada.get(`/agent/runs/${run_id}`)).body;

  // @contract keys.budget: A key takes max_budget_usd for its runs of a month.
  it("ends runs under way that have spent it together, and refuses further ones until the next month", async () => {
    const key = await keyWith({ max_budget_usd: 0.025 });
    const [first, second] = [await workingRun(plane, RUN, key), await workingRun(plane, RUN, key)];
    expect(await spend(first)).toBe(200);
    expect(await spend(second)).toBe(200);
    expect(await spend(first)).toBe(403);
    await first.finish();
    expect(await shown(first)).toMatchObject({
      state: "FAILED",
      status_message: {
        error_code: "budget_exceeded",
        message: `what is left of its key's monthly budget of 0.025 US dollars is not enough for another call of ${SONNET}; it renews on 2026-06-01 (UTC)`,
      },
    });
    expect(await create(key)).toMatchObject({
      status: 403,
      body: {
        error_code: "budget_exceeded",
        retryable: false,
        detail:
          "max_budget_usd: 0.02 of 0.025 US dollars of this key are spent this month, and the rest pays for no further call; send the request after it renews on 2026-06-01 (UTC), or with another key",
      },
    });
    expect((await createClient(plane, key).post("/agent/runs?dry_run=true", RUN)).body).toMatchObject({
      would_start: false,
      findings: [{ code: "budget_exceeded" }],
    });
    expect(await spend(await workingRun(plane, RUN))).toBe(200);
    plane.clock.now = Date.parse("2026-06-01T00:00:00Z");
    expect((await create(key)).status).toBe(200);
  });

  it("pays for descendants, also for those of a run with a budget of its own", async () => {
    const key = await keyWith({ max_budget_usd: 0.025 });
    for (const config of [RUN.config, { ...RUN.config, budget_usd: 50 }]) {
      const parent = await workingRun(plane, { ...RUN, config }, key);
      const made = await parent.client.post("/agent/runs", RUN);
      const child = createHarness(plane, await plane.dispatch(made.body.run_id));
      await child.resolve();
      expect(await spend(child)).toBe(200);
    }
    const month = await plane.table.get(keys.keyMonth(hashKey(key), "2026-05"));
    expect(month).toMatchObject({ spent: 20_000_000, left: -20_000_000, expires_at: expect.any(Number) });
    expect(await spend(await workingRun(plane, RUN, key))).toBe(403);
    expect((await create(key)).status).toBe(403);
  });

  it("is paid from together with the budgets of the run and the team", async () => {
    await ada.put(`/agent/teams/${plane.team}`, { settings: { budget_usd_month: 100 } });
    const key = await keyWith({ max_budget_usd: 10 });
    const run = await workingRun(plane, { ...RUN, config: { ...RUN.config, budget_usd: 5 } }, key);
    expect(await spend(run)).toBe(200);
    expect((await plane.table.get(keys.keyMonth(hashKey(key), "2026-05")))?.["spent"]).toBe(10_000_000);
    expect((await plane.table.get(keys.teamMonth(plane.team, "2026-05")))?.["spent"]).toBe(10_000_000);
    expect((await plane.table.get(keys.budget(run.run_id)))?.["spent"]).toBe(10_000_000);
  });

  it("does not limit the runs of other keys", async () => {
    const key = await keyWith({ max_budget_usd: 0.005 });
    expect(await spend(await workingRun(plane, RUN))).toBe(200);
    expect((await create(key)).status).toBe(200);
  });
});
