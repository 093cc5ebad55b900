import { describe, expect, it } from "vitest";
import { LOCAL_LEASE_SECONDS, LOCAL_START_SECONDS } from "#shared/records/run.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { consume, deliver, type Harness, localRun } from "../../support/execution.ts";
import { readTimeline } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";

const request = { prompt: "hello", execution_location: "LOCAL" };

const shown = async (plane: TestControlPlane, { run_id }: Harness): Promise<ResponseBody["body"]> =>
  (await createClient(plane).get(`/agent/runs/${run_id}`)).body;

describe("a run with execution_location LOCAL", () => {
  // @contract runs.request.local: execution_location LOCAL is recorded, never dispatched, and shows its run_key once; REMOTE is the default.
  // @contract runs.item.execution-location
  // @contract runs.item.cancellable
  // @contract runs.list.location
  // @contract identities.keys.prefixes
  it("is created with a key that is shown once, and never dispatched", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const headers = { "idempotency-key": "one" };
    const created = await user.post("/agent/runs", request, { headers });
    expect(created).toMatchObject({ status: 200, body: { state: "QUEUED", run_key: expect.stringMatching(/^ryr_/) } });
    const again = await user.post("/agent/runs", request, { headers });
    expect(again.body).toEqual({ run_id: created.body.run_id, task_id: created.body.run_id, state: "QUEUED" });
    expect(plane.sent).toEqual([]);
    await consume(plane, "runs", created.body.run_id);
    expect(plane.started).toEqual([]);
    const run = await user.get(`/agent/runs/${created.body.run_id}`);
    expect(run.body).toMatchObject({
      state: "QUEUED",
      execution_location: "LOCAL",
      is_run_type_cancellable: false,
      is_sandbox_running: false,
      started_at: null,
    });
    expect(JSON.stringify(plane.table.all())).not.toContain(created.body.run_key);
    expect((await user.get("/agent/runs?execution_location=LOCAL")).body.runs).toHaveLength(1);
  });

  it("begins with the first call of its key and ends by finish-task, in allowed transitions", async () => {
    const plane = await createTestControlPlane();
    const harness = await localRun(plane);
    const response = await harness.resolve();
    expect(response).toMatchObject({
      status: 200,
      body: { prompt: "hello", context: { execution_id: harness.execution_id } },
    });
    expect(await shown(plane, harness)).toMatchObject({ state: "INPROGRESS", is_sandbox_running: false });
    expect(await harness.messages(1, "I am at it")).toMatchObject({ status: 200, body: { next_sequence: 2 } });
    expect((await harness.beat()).status).toBe(200);
    expect((await harness.finish()).status).toBe(200);
    expect(await shown(plane, harness)).toMatchObject({ state: "SUCCEEDED", run_time: expect.any(String) });
    expect((await harness.beat()).status).toBe(401);
    expect(await readTimeline(plane, harness.run_id)).toEqual([
      "run_created",
      "run_pending",
      "worker_container_ready",
      "run_succeeded",
    ]);
    await deliver(plane);
    expect((await createClient(plane).get(`/agent/runs/${harness.run_id}/transcript`)).status).toBe(302);
  });

  it("begins with its first call, of any kind", async () => {
    const plane = await createTestControlPlane();
    const [finished, messaged, reported] = [await localRun(plane), await localRun(plane), await localRun(plane)];
    expect((await finished.finish()).status).toBe(200);
    expect(await shown(plane, finished)).toMatchObject({ state: "SUCCEEDED" });
    expect((await messaged.messages(1, "hello")).status).toBe(200);
    expect(await shown(plane, messaged)).toMatchObject({ state: "INPROGRESS" });
    const event = { event_uuid: "0193a4b0-0000-7000-8000-000000000001", event_name: "agent_started" };
    expect((await reported.event({ ...event, timestamp: "2026-05-18T19:00:00.000Z" })).status).toBe(200);
    expect(await shown(plane, reported)).toMatchObject({ state: "INPROGRESS" });
  });

  it("takes no slot and no place in the queue", async () => {
    const plane = await createTestControlPlane();
    const counters = { pk: `TEAM#${plane.team}`, sk: "COUNTERS" };
    const before = await plane.table.get(counters);
    const harness = await localRun(plane);
    await harness.resolve();
    await harness.finish();
    expect(await plane.table.get(counters)).toEqual(before);
  });

  // @contract runs.cancel.elsewhere
  // @contract runs.cancel.force
  // @contract runs.cancel.force-key
  it("is cancelled only by force, which revokes its key", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const [waiting, working] = [await localRun(plane), await localRun(plane)];
    await working.resolve();
    for (const harness of [waiting, working]) {
      const path = `/agent/runs/${harness.run_id}/cancel`;
      expect(await user.post(path)).toMatchObject({ status: 422, body: { error_code: "operation_not_supported" } });
      expect((await user.post(`${path}?force=true`)).status).toBe(200);
      expect((await harness.resolve()).status).toBe(401);
      expect(await shown(plane, harness)).toMatchObject({ state: "CANCELLED", is_sandbox_running: false });
    }
  });

  it("delivers follow-ups to its caller, who must process them to finish, and accepts none after its end", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await localRun(plane);
    await harness.resolve();
    const path = `/agent/runs/${harness.run_id}/followups`;
    expect((await user.post(path, { message: "and this" })).status).toBe(200);
    expect(await harness.finish()).toMatchObject({
      status: 409,
      body: { retryable: false, detail: expect.stringContaining("follow-up 1") },
    });
    expect((await harness.beat()).body.followups).toMatchObject([{ number: 1, message: "and this" }]);
    await harness.beat(1);
    expect((await harness.finish()).status).toBe(200);
    expect(await user.post(path, { message: "more" })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining("conversation_id") },
    });
    const next = await localRun(plane, { ...request, conversation_id: harness.run_id });
    expect((await next.resolve()).status).toBe(200);
  });

  it("ends FAILED if its caller does not begin it in time", async () => {
    const plane = await createTestControlPlane();
    const harness = await localRun(plane);
    plane.clock.now += LOCAL_START_SECONDS * 1000 - 1;
    await reap(plane);
    expect(await shown(plane, harness)).toMatchObject({ state: "QUEUED" });
    plane.clock.now += 1;
    await reap(plane);
    expect(await shown(plane, harness)).toMatchObject({
      state: "FAILED",
      status_message: { message: expect.stringContaining("did not begin") },
    });
    expect((await harness.resolve()).status).toBe(401);
    await deliver(plane);
    expect(plane.started).toEqual([]);
  });

  it("ends FAILED if its caller stops responding or reports its stop, and is not executed elsewhere", async () => {
    const plane = await createTestControlPlane();
    const [silent, stopped] = [await localRun(plane), await localRun(plane)];
    await silent.resolve();
    await stopped.resolve();
    await stopped.shutDown({ error: { category: "terminated", message: "the laptop was closed" } });
    expect(await shown(plane, stopped)).toMatchObject({
      state: "FAILED",
      status_message: { message: expect.stringContaining("the laptop was closed") },
    });
    plane.clock.now += LOCAL_LEASE_SECONDS * 1000;
    await reap(plane);
    await deliver(plane);
    expect(plane.started).toEqual([]);
    expect(await shown(plane, silent)).toMatchObject({ state: "FAILED" });
    expect((await plane.table.get(keys.head(silent.run_id)))?.["key_hash"]).toBeUndefined();
  });
});
