import { describe, expect, it } from "vitest";
import { cancelRuns } from "#functions/runs/cancel-runs.ts";
import { toIdempotentRequest } from "#shared/idempotency/idempotent-request.ts";
import { cancelMatchingRuns } from "#shared/runs/listing/cancel-matching-runs.ts";
import type { CancelRunsRequest } from "#shared/wire/cancel.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, startedRun, workingRun } from "../../support/execution.ts";

const path = "/agent/runs/cancel";

/** Cancels the runs from the API with a clock that each reading puts forward by five seconds, so that it stops after the first ones. */
async function cancelLate(plane: TestControlPlane, more: object) {
  const now = () => {
    plane.clock.now += 5_000;
    return plane.clock.now;
  };
  const event = httpEvent({ key: plane.key, body: { filter: { source: "API" }, ...more } });
  return JSON.parse((await cancelRuns.handle(event, { ...plane.ports, now })).body);
}

describe("POST /agent/runs/cancel", () => {
  // @contract cancel-many.response: POST /agent/runs/cancel returns matched, cancelled and refused with run_id and error_code.
  // @contract cancel-many.force: force also cancels PENDING runs and runs executed elsewhere.
  it("cancels matching runs that have not ended, and lists refused runs with their error codes", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const batch = { prompt: "one of many", metadata: { batch: "7" } };
    const ended = await workingRun(plane, batch);
    await ended.finish();
    const working = await workingRun(plane, batch);
    const prepared = await startedRun(plane, batch);
    const queued = await createRun(plane, batch);
    const other = await createRun(plane, { prompt: "another", metadata: { batch: "8" } });
    const response = await user.post(path, { filter: { metadata: { batch: "7" } } });
    expect(response).toMatchObject({
      status: 200,
      body: {
        matched: 3,
        cancelled: 2,
        refused: [{ run_id: prepared.run_id, error_code: "conflict" }],
        has_more: false,
      },
    });
    const getState = async (id: string) => (await user.get(`/agent/runs/${id}`)).body.state;
    expect(await Promise.all([ended.run_id, working.run_id, prepared.run_id, queued, other].map(getState))).toEqual([
      "SUCCEEDED",
      "CANCELLED",
      "PENDING",
      "CANCELLED",
      "QUEUED",
    ]);
    expect((await working.beat()).body).toMatchObject({ cancel: true });
    expect((await user.post(path, { filter: { metadata: { batch: "7" } }, force: true })).body).toEqual({
      matched: 1,
      cancelled: 1,
      refused: [],
      has_more: false,
    });
    expect((await prepared.resolve()).status).toBe(401);
  });

  // @contract cancel-many.filter: Its filter is the list's.
  it("filters like the list", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const parent = await createRun(plane, { prompt: "parent" });
    const child = await createRun(plane, { prompt: "child", parent_run_id: parent });
    const opus = await createRun(plane, { prompt: "b", title: "Tidy the cellar" });
    for (const [filter, matched] of [
      [{ state: ["INPROGRESS"] }, 0],
      [{ state: ["CANCELLED", "SUCCEEDED"] }, 0],
      [{ source: "CLI" }, 0],
      [{ source: ["CLI", "MCP"] }, 0],
      [{ task_status: ["failed", "complete"] }, 0],
      [{ trigger_id: "t" }, 0],
      [{ automation_id: "t" }, 0],
      [{ q: opus, task_status: ["blocked"] }, 0],
      [{ created_after: "2030-01-01T00:00:00Z" }, 0],
      [{ ancestor_run_id: parent }, 1],
      [{ q: opus, task_status: ["running"], source: ["API", "CLI"] }, 1],
      [{ creator: plane.user }, 1],
    ] as const) {
      expect((await user.post(path, { filter })).body, JSON.stringify(filter)).toMatchObject({ matched });
    }
    for (const id of [parent, child, opus]) {
      expect((await user.get(`/agent/runs/${id}`)).body.state).toBe("CANCELLED");
    }
  });

  const nobody = "0199e0b2-0000-7000-8000-000000000000";
  it.each([
    ["state", ["INPROGRESS"], ["QUEUED"]],
    ["name", "nightly", "night"],
    ["model_id", "local/runbook", "anthropic/claude-opus-5-5"],
    ["creator", "(its creator)", nobody],
    ["executor", "(its executor)", nobody],
    ["source", "ORCHESTRATION", "API"],
    ["execution_location", "REMOTE", "LOCAL"],
    ["created_after", "2026-05-18T18:59:59Z", "2026-05-18T19:00:01Z"],
    ["created_before", "2026-05-18T19:00:01Z", "2026-05-18T18:59:59Z"],
    ["updated_after", "2026-05-18T18:59:59Z", "2026-05-18T19:00:01Z"],
    ["environment_id", "(its environment)", nobody],
    ["skill", "acme/shop:tidy", "acme/shop:cook"],
    ["skill_spec", "acme/shop:tidy", "acme/shop:cook"],
    ["schedule_id", undefined, nobody],
    ["ancestor_run_id", "(its parent)", "(itself)"],
    ["artifact_type", "PULL_REQUEST", "FILE"],
    ["q", "cellar", "attic"],
    ["metadata", { batch: "7" }, { batch: "8" }],
  ])("cancels a run only if its %s matches", async (name, own, other) => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const executor = (await plane.agent()).uid;
    const environment = (await user.post("/agent/environments", { name: "Bench" })).body.uid;
    const parent = await createRun(plane);
    const config = { name: "nightly", environment_id: environment, skill_spec: "acme/shop:tidy" };
    const body = {
      prompt: "one",
      title: "Tidy the cellar",
      metadata: { batch: "7" },
      parent_run_id: parent,
      agent_identity_uid: executor,
      config,
    };
    const { run_id } = (await user.post("/agent/runs", body)).body;
    const harness = createHarness(plane, await plane.dispatch(run_id));
    await harness.resolve();
    const pull = { url: "https://github.com/acme/shop/pull/1", branch: "fix" };
    await harness.support("report-artifact", { artifact_type: "PULL_REQUEST", data: pull });
    const ids = new Map([
      ["(its creator)", plane.user],
      ["(its executor)", executor],
      ["(its environment)", environment],
      ["(its parent)", parent],
      ["(itself)", run_id],
    ]);
    const toValue = (value: unknown) => (typeof value === "string" ? (ids.get(value) ?? value) : value);
    const cancel = async (value: unknown) =>
      (await user.post(path, { filter: { metadata: { batch: "7" }, [name]: toValue(value) } })).body;
    expect(await cancel(other)).toEqual({ matched: 0, cancelled: 0, refused: [], has_more: false });
    if (own !== undefined) expect(await cancel(own)).toMatchObject({ matched: 1, cancelled: 1 });
  });

  // @contract cancel-many.filter
  it("returns 400 and cancels nothing for a filter that is empty, misspelled, or of an unknown ancestor", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const id = await createRun(plane);
    for (const [body, field] of [
      [{}, "filter"],
      [{ filter: {} }, "filter"],
      [{ filter: { state: [] } }, "filter.state"],
      [{ filter: { state: ["RUNNING"] } }, "filter.state[0]"],
      [{ filter: { source: "API", creater: "x" } }, "filter.creater"],
      [{ filter: { metadata: {} } }, "filter.metadata"],
      [{ filter: { ancestor_run_id: "0199e0b2-0000-7000-8000-000000000000" } }, "filter.ancestor_run_id"],
      [{ filter: { created_after: "yesterday" } }, "filter.created_after"],
    ] as const) {
      const response = await user.post(path, body);
      expect(response.status).toBe(400);
      expect(response.body.error_code).toBe("invalid_request");
      expect(response.body.errors[0]).toMatchObject({ path: field });
    }
    expect((await user.get(`/agent/runs/${id}`)).body.state).toBe("QUEUED");
  });

  it("cancels no run of another team", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const response = await createClient(plane, plane.otherKey).post(path, { filter: { state: ["QUEUED"] } });
    expect(response.body).toMatchObject({ matched: 0, cancelled: 0 });
    expect((await createClient(plane).get(`/agent/runs/${id}`)).body.state).toBe("QUEUED");
  });

  it("returns 403 and cancels nothing for a run's own key, also by the rule itself", async () => {
    const plane = await createTestControlPlane();
    const { run_id, client } = await workingRun(plane);
    const child = await createRun(plane, { prompt: "child", parent_run_id: run_id });
    const request: CancelRunsRequest = { filter: { ancestor_run_id: run_id } };
    const refusal = { status: 403, body: { error_code: "not_authorized" } };
    expect(await client.post(path, request)).toMatchObject(refusal);
    const head = await plane.ports.runs.head(run_id);
    if (head === undefined) throw new Error("the run does not exist");
    const principal = { kind: "run", head, executionId: "e", stopping: false } as const;
    const once = toIdempotentRequest(() => undefined, principal, "cancel-runs", request);
    await expect(cancelMatchingRuns({ request, principal, once }, plane.ports)).rejects.toMatchObject({
      code: "not_authorized",
      message: expect.stringContaining("a run's key cancels its descendants one by one"),
    });
    expect((await createClient(plane).get(`/agent/runs/${child}`)).body.state).toBe("QUEUED");
  });

  it("returns the first response to a repeated request, and cancels no run created in between", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    await createRun(plane);
    const send = (headers: Record<string, string>) => user.post(path, { filter: { source: "API" } }, { headers });
    const first = await send({ "idempotency-key": "all" });
    expect(first.body).toMatchObject({ matched: 1, cancelled: 1 });
    expect(first.headers).not.toHaveProperty("idempotent-replay");
    const later = await createRun(plane, { prompt: "later" });
    expect((await send({ "idempotency-key": "all" })).body).toEqual(first.body);
    expect((await user.get(`/agent/runs/${later}`)).body.state).toBe("QUEUED");
    expect((await send({})).body, "another request").toMatchObject({ matched: 1, cancelled: 1 });
    expect((await send({ "x-stainless-retry-count": "1" })).body).toMatchObject({ matched: 1, cancelled: 1 });
    const other = await user.post(path, { filter: { source: "CLI" } }, { headers: { "idempotency-key": "all" } });
    expect(other.status).toBe(409);
  });

  it("stops at its time limit, reports that there are more, and continues when it is repeated", async () => {
    const plane = await createTestControlPlane();
    for (let run = 0; run < 7; run++) await createRun(plane, { prompt: `run ${run}` });
    const body = { filter: { state: ["QUEUED"] } };
    // Each reading of the clock takes five seconds.
    const now = () => {
      plane.clock.now += 5_000;
      return plane.clock.now;
    };
    const reply = await cancelRuns.handle(httpEvent({ key: plane.key, body }), { ...plane.ports, now });
    const { matched, cancelled, has_more } = JSON.parse(reply.body);
    expect({ cancelled, has_more }).toEqual({ cancelled: 4, has_more: true });
    const rest = await createClient(plane).post(path, body);
    expect(rest.body).toEqual({ matched: 7 - matched, cancelled: 3, refused: [], has_more: false });
  });

  it("continues behind runs that it has refused, with the cursor of the response", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 50 } });
    const COUNT = 24;
    for (let run = 0; run < COUNT; run++) {
      plane.clock.now += 1;
      await startedRun(plane, { prompt: `starting ${run}` });
    }
    const idsOf = ({ refused }: { refused: readonly { run_id: string }[] }) => refused.map(({ run_id }) => run_id);
    const first = await cancelLate(plane, {});
    expect(first).toMatchObject({ cancelled: 0, has_more: true, next_cursor: expect.any(String) });
    expect(first.matched).toBeLessThan(COUNT);
    const rest = await user.post(path, { filter: { source: "API" }, cursor: first.next_cursor });
    expect(rest.body).toEqual({
      matched: COUNT - first.matched,
      cancelled: 0,
      refused: expect.anything(),
      has_more: false,
    });
    expect(new Set([...idsOf(first), ...idsOf(rest.body)]).size).toBe(COUNT);
  });

  it("refuses a cursor of another filter, and stores nothing", async () => {
    const plane = await createTestControlPlane();
    for (let run = 0; run < 6; run++) await createRun(plane, { prompt: `run ${run}` });
    const { next_cursor: cursor } = await cancelLate(plane, {});
    const before = structuredClone(plane.table.all());
    for (const body of [
      { filter: { source: "CLI" }, cursor },
      { filter: { source: "API" }, cursor: "x" },
    ]) {
      expect(await createClient(plane).post(path, body)).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining("cursor") },
      });
    }
    expect(plane.table.all()).toEqual(before);
  });

  it("does not count a run that ends while the matching runs are read", async () => {
    const plane = await createTestControlPlane();
    const [ending, other] = [await workingRun(plane), await workingRun(plane)];
    const many: typeof plane.ports.runs.many = async (ids) => {
      await ending.finish();
      return plane.ports.runs.many(ids);
    };
    const event = httpEvent({ key: plane.key, body: { filter: { source: "API" } } });
    const reply = await cancelRuns.handle(event, { ...plane.ports, runs: { ...plane.ports.runs, many } });
    expect(JSON.parse(reply.body)).toEqual({ matched: 1, cancelled: 1, refused: [], has_more: false });
    expect((await createClient(plane).get(`/agent/runs/${other.run_id}`)).body.state).toBe("CANCELLED");
  });

  describe("with a response that cannot be saved", () => {
    type Write = TestControlPlane["ports"]["table"]["write"];
    /** Sends a request whose record is written by `write` once the runs are cancelled. */
    const send = (plane: TestControlPlane, write: Write) => {
      const { table } = plane.ports;
      const saving: Write = (one) => (one.kind === "update" ? write(one) : table.write(one));
      const headers = { "idempotency-key": "all" };
      const event = httpEvent({ key: plane.key, body: { filter: { source: "API" } }, headers });
      return cancelRuns.handle(event, { ...plane.ports, table: { ...table, write: saving } });
    };

    it("returns 500, and continues when it is repeated", async () => {
      const plane = await createTestControlPlane();
      await createRun(plane);
      expect(await send(plane, () => Promise.reject(new Error("no table")))).toMatchObject({ statusCode: 500 });
      const later = await createRun(plane, { prompt: "later" });
      const first = await send(plane, plane.ports.table.write);
      const response = { matched: 1, cancelled: 1, refused: [], has_more: false };
      expect([first.statusCode, JSON.parse(first.body)]).toEqual([200, response]);
      expect(first.headers).toMatchObject({ "idempotent-replay": "true" });
      expect((await createClient(plane).get(`/agent/runs/${later}`)).body.state).toBe("CANCELLED");
      await createRun(plane, { prompt: "even later" });
      const second = await send(plane, plane.ports.table.write);
      expect(JSON.parse(second.body)).toEqual(response);
    });

    it("still returns the response if its record has expired meanwhile", async () => {
      const plane = await createTestControlPlane();
      await createRun(plane);
      const response = await send(plane, async (write) => {
        if (write.kind === "update") await plane.ports.table.write({ kind: "delete", key: write.key });
        return plane.ports.table.write(write);
      });
      expect([response.statusCode, JSON.parse(response.body)]).toMatchObject([200, { matched: 1, cancelled: 1 }]);
    });
  });
});
