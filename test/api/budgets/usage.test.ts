import { beforeEach, describe, expect, it } from "vitest";
import { noteUsage } from "#shared/records/budget-account.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, createRun, deliver, workingRun } from "../../support/execution.ts";

const DAY = 86_400_000;

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

const usage = async (query = "", key?: string) => (await createClient(plane, key).get(`/agent/usage${query}`)).body;

/** Executes a run to its end, with a model call of 1,000 tokens for 2 cents. */
async function executeRun(success = true, body: object = {}): Promise<string> {
  const run = await workingRun(plane, { prompt: "hello", ...body });
  await noteUsage(run.run_id, { cost: 20_000_000, tokens: 1000 }, plane.table);
  plane.clock.now += 5000;
  await run.finish(success);
  await deliver(plane);
  return run.run_id;
}

describe("GET /agent/usage", () => {
  // @contract usage: GET /agent/usage returns buckets of ended runs by day, creator, executor, model, schedule or environment: days in UTC, 400 at most, in the caller's scopes.
  it("counts ended runs by the UTC day of their creation", async () => {
    await executeRun();
    await executeRun(false);
    await createRun(plane);
    plane.clock.now += DAY;
    await executeRun();
    expect(await usage()).toEqual({
      buckets: [
        { key: "2026-05-18", runs: 2, succeeded: 1, failed: 1, total_tokens: 2000, cost_usd: 0.04, run_seconds: 10 },
        { key: "2026-05-19", runs: 1, succeeded: 1, failed: 0, total_tokens: 1000, cost_usd: 0.02, run_seconds: 5 },
      ],
      currency: "USD",
    });
    expect((await usage("?from=2026-05-19&to=2026-05-19")).buckets).toHaveLength(1);
    expect((await usage("?from=2026-05-20&to=2026-05-20")).buckets).toEqual([]);
  });

  it("counts a run once, however often its end is delivered, and adds the usage of follow-ups", async () => {
    const runId = await executeRun();
    const ended = JSON.stringify(await usage());
    await consume(plane, "ends", runId);
    expect(JSON.stringify(await usage())).toBe(ended);
    await createClient(plane).post(`/agent/runs/${runId}/followups`, { message: "more" });
    await createClient(plane).post(`/agent/runs/${runId}/cancel`);
    await noteUsage(runId, { cost: 10_000_000, tokens: 500 }, plane.table);
    await deliver(plane, "ends");
    const [bucket] = (await usage()).buckets;
    expect(bucket).toMatchObject({ runs: 1, succeeded: 0, failed: 0, total_tokens: 1500, cost_usd: 0.03 });
  });

  // @contract usage
  it("groups by creator, model, schedule and environment; null stands for runs without one", async () => {
    await executeRun();
    expect((await usage("?group_by=creator")).buckets).toMatchObject([{ key: plane.user, runs: 1 }]);
    expect((await usage("?group_by=executor")).buckets).toMatchObject([{ key: plane.user, runs: 1 }]);
    expect((await usage("?group_by=model")).buckets).toMatchObject([{ key: "local/runbook", runs: 1 }]);
    expect((await usage("?group_by=schedule")).buckets).toMatchObject([{ key: null, runs: 1 }]);
    expect((await usage("?group_by=environment")).buckets).toMatchObject([{ key: null, runs: 1 }]);
  });

  // @contract usage
  it("covers exactly the runs that are visible to the caller", async () => {
    const mia = await plane.person("Mia");
    await executeRun();
    await executeRun(true, { team: false });
    expect((await usage()).buckets).toMatchObject([{ runs: 2 }]);
    expect((await usage("", mia.key)).buckets).toMatchObject([{ runs: 1 }]);
    expect((await usage("", plane.otherKey)).buckets).toEqual([]);
  });

  // @contract usage
  it("returns 400 for more than 400 days and for days that do not exist", async () => {
    const client = createClient(plane);
    expect((await client.get("/agent/usage?from=2025-04-14&to=2026-05-18")).status).toBe(200);
    for (const query of ["from=2025-04-13&to=2026-05-18", "from=2026-05-19", "to=2026-02-30", "group_by=team"]) {
      expect((await client.get(`/agent/usage?${query}`)).status, query).toBe(400);
    }
  });

  it("makes the table delete counters that no report can cover", async () => {
    await executeRun();
    const item = plane.table.all().find(({ sk }) => sk.startsWith("USAGE#"));
    expect(item?.pk).toBe(keys.team(plane.team).pk);
    expect(Number(item?.["expires_at"]) * 1000 - plane.clock.now).toBeGreaterThan(400 * DAY);
  });
});

describe("GET /public/runs/{sessionId}", () => {
  // @contract sharing.public: GET /public/runs/{session_id} shows a shared run without names of people, configuration and URLs, else 404.
  it("shows a shared run without names, configuration and URLs, and hides any other", async () => {
    const config = { name: "secret-name", session_sharing: { public_access: "VIEWER" } };
    const run = await workingRun(plane, { prompt: "hello", title: "Shown", config });
    const pull = { url: "https://github.com/acme/shop/pull/1", branch: "fix" };
    await run.support("report-artifact", { artifact_type: "PULL_REQUEST", data: pull });
    await run.finish();
    await deliver(plane);
    const { body } = await createClient(plane, "none").get(`/public/runs/${run.run_id}`);
    expect(body).toEqual({
      title: "Shown",
      state: "SUCCEEDED",
      created_at: expect.any(String),
      run_time: expect.any(String),
      conversation: expect.objectContaining({ conversation_id: run.run_id }),
      artifacts: [{ artifact_type: "PULL_REQUEST", created_at: expect.any(String) }],
    });
    expect(JSON.stringify(body)).not.toMatch(/Ada|secret-name|https:/);
    const hidden = await createRun(plane);
    expect((await createClient(plane).get(`/public/runs/${hidden}`)).status).toBe(404);
  });
});

describe("POST /agent/environments/{environmentUid}/try", () => {
  // @contract environments.try: POST /agent/environments/{uid}/try creates a run that only performs the setup, with the source API.
  it("creates a run that only sets up the environment, with the source API", async () => {
    const client = createClient(plane);
    const { uid } = (await client.post("/agent/environments", { name: "Bench", setup_commands: ["make"] })).body;
    const tried = await client.post(`/agent/environments/${uid}/try`, undefined, {
      headers: { "x-run-source": "CLI" },
    });
    expect(tried).toMatchObject({ status: 200, body: { state: "QUEUED" } });
    const run = (await client.get(`/agent/runs/${tried.body.run_id}`)).body;
    expect(run).toMatchObject({
      title: "Set up Bench",
      source: "API",
      agent_config: { environment_id: uid, model_id: "local/runbook" },
    });
  });

  it("returns 409 and creates nothing for a personal environment whose worker belongs to a team", async () => {
    const client = createClient(plane);
    const environment = { name: "Rack", worker_host: "rack-7", team: false };
    const { uid } = (await client.post("/agent/environments", environment)).body;
    const { status, body } = await client.post(`/agent/environments/${uid}/try`);
    expect({ status, code: body.error_code, retryable: body.retryable }).toEqual({
      status: 409,
      code: "conflict",
      retryable: false,
    });
    expect(body.detail).toContain("clear it, or create the environment in a team");
    expect((await client.get("/agent/runs")).body.runs).toEqual([]);
  });
});

describe("request_usage.tree of GET /agent/runs/{runId}", () => {
  // @contract runs.item.tree: GET of a run has tree, the sums over the run and all its descendants, also without model calls.
  it("sums the usage of the run and of all its descendants, with and without model calls", async () => {
    const root = await createRun(plane);
    const child = await createRun(plane, { prompt: "child", parent_run_id: root });
    const grandchild = await createRun(plane, { prompt: "grandchild", parent_run_id: child });
    await createRun(plane, { prompt: "silent", parent_run_id: root });
    for (const run of [child, grandchild, grandchild]) {
      await noteUsage(run, { cost: 20_000_000, tokens: 1000 }, plane.table);
    }
    const shown = async (run: string) => (await createClient(plane).get(`/agent/runs/${run}`)).body.request_usage;
    expect(await shown(root)).toEqual({ tree: { cost_usd: 0.06, total_tokens: 3_000, runs: 4 } });
    expect((await shown(child)).tree).toEqual({ cost_usd: 0.06, total_tokens: 3_000, runs: 2 });
    const { runs } = (await createClient(plane).get("/agent/runs")).body;
    expect(runs.filter((run: object) => "request_usage" in run)).toEqual([]);
  });
});

describe("the cost of compute", () => {
  const read = async (run: string) => (await createClient(plane).get(`/agent/runs/${run}`)).body.request_usage;
  /** Starts a run, and lets it work for half an hour. */
  const work = async (body: object = {}) => {
    const run = await workingRun(plane, { prompt: "work", ...body });
    plane.clock.now += 30 * 60_000;
    return run;
  };
  const callModel = async (runId: string) => {
    await noteUsage(runId, { cost: 20_000_000, tokens: 1000 }, plane.table);
    // As the gateway marks a run with its first call.
    await plane.table.write({ kind: "update", key: keys.head(runId), set: { b: true } });
  };
  beforeEach(() => {
    plane.ports.sandboxUsdPerHour = 0.4;
  });

  // @contract runs.item.compute: request_usage has compute_cost_usd where the price of sandboxes is known.
  it("is the time of the run's sandboxes at the price of the deployment, also while the run works", async () => {
    const run = await work();
    const compute = { compute_cost: 0.2, compute_cost_usd: 0.2 };
    expect(await read(run.run_id)).toEqual({ ...compute, tree: { cost_usd: 0.2, total_tokens: 0, runs: 1 } });
    await callModel(run.run_id);
    await run.finish(true);
    plane.clock.now += DAY;
    const shown = await read(run.run_id);
    expect(shown).toMatchObject({ ...compute, inference_cost_usd: 0.02, tree: { cost_usd: 0.22 } });
    const [listed] = (await createClient(plane).get("/agent/runs")).body.runs;
    expect(listed.request_usage).toMatchObject(compute);
  });

  it("is part of the usage, once for each execution", async () => {
    const { run_id, finish } = await work();
    await finish(true);
    await deliver(plane);
    const bucket = { cost_usd: 0.2, compute_cost_usd: 0.2, run_seconds: 1800 };
    expect((await usage()).buckets).toMatchObject([bucket]);
    await consume(plane, "ends", run_id);
    expect((await usage()).buckets).toMatchObject([bucket]);
  });

  it("is summed over the run and its descendants", async () => {
    const root = await work();
    const child = await work({ parent_run_id: root.run_id });
    expect((await read(root.run_id)).tree).toEqual({ cost_usd: 0.6, total_tokens: 0, runs: 2 });
    expect((await read(child.run_id)).tree).toEqual({ cost_usd: 0.2, total_tokens: 0, runs: 1 });
  });

  it("is nothing for a run that its caller executes, and where a sandbox costs nothing", async () => {
    const local = await createRun(plane, { execution_location: "LOCAL", prompt: "here" });
    plane.clock.now += 30 * 60_000;
    expect(await read(local)).toEqual({ tree: { cost_usd: 0, total_tokens: 0, runs: 1 } });
    plane.ports.sandboxUsdPerHour = 0;
    const { run_id } = await work();
    await callModel(run_id);
    expect(await read(run_id)).toMatchObject({ compute_cost_usd: 0, tree: { cost_usd: 0.02 } });
  });
});
