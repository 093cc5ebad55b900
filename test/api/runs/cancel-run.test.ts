import { describe, expect, it } from "vitest";
import { cancelByService } from "#shared/runs/cancel-run.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import {
  createHarness,
  createRun,
  deliver,
  type Harness,
  nextExecution,
  startedRun,
  workingRun,
} from "../../support/execution.ts";
import { readState, readTimeline, setState } from "../../support/look.ts";
import { reap } from "../../support/reaper.ts";
import { withFailingWrites, withWriteInBetween } from "../../support/write-conflicts.ts";

describe("POST /agent/runs/{runId}/cancel", () => {
  // @contract runs.state.cancelled: It ends CANCELLED when it is cancelled.
  // @contract runs.item.started-at
  // @contract runs.item.status-cancelled: On CANCELLED it states who cancelled and why.
  // @contract runs.cancel.response: A cancel returns 200 with the id only, as JSON.
  it("cancels a waiting run immediately and returns its id", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const id = await createRun(plane);
    const response = await user.post(`/agent/runs/${id}/cancel`);
    expect(response).toMatchObject({ status: 200, body: id });
    expect((await user.get(`/agent/runs/${id}`)).body).toMatchObject({
      state: "CANCELLED",
      status_message: { message: "cancelled by Ada" },
      is_sandbox_running: false,
      started_at: null,
    });
    await deliver(plane);
    expect(plane.started).toEqual([]);
    expect((await user.get(`/agent/runs/${id}/transcript`)).status).toBe(302);
    expect(await readTimeline(plane, id)).toEqual(["run_created", "run_cancelled"]);
  });

  // @contract general.errors.should-retry
  // @contract errors.conflict.pending: The conflict of a cancel while PENDING is retryable, with Retry-After: 1.
  // @contract runs.cancel.pending: A PENDING run is 409, retryable.
  it("returns a retryable 409 for a PENDING run, and changes nothing", async () => {
    const plane = await createTestControlPlane();
    const { run_id } = await startedRun(plane);
    const before = structuredClone(plane.table.all());
    const response = await createClient(plane).post(`/agent/runs/${run_id}/cancel`);
    expect(response.status).toBe(409);
    expect(response.body).toMatchObject({ error_code: "conflict", retryable: true });
    expect(response.headers).toMatchObject({ "x-should-retry": "true", "retry-after": "1" });
    expect(plane.table.all()).toEqual(before);
  });

  // @contract runs.cancel.terminal: A run that has ended is 400 invalid_request, wherever it was executed.
  it.each(["SUCCEEDED", "FAILED", "CANCELLED", "ERROR"])(
    "returns 400 for a run that is %s, forced or not",
    async (state) => {
      const plane = await createTestControlPlane();
      const user = createClient(plane);
      const harness = await workingRun(plane);
      if (state === "CANCELLED") await user.post(`/agent/runs/${harness.run_id}/cancel`);
      else if (state === "ERROR") await loseThreeTimes(plane, harness);
      else await harness.finish(state === "SUCCEEDED");
      for (const query of ["", "?force=true"]) {
        const response = await user.post(`/agent/runs/${harness.run_id}/cancel${query}`);
        expect(response.status).toBe(400);
        expect(response.body).toMatchObject({
          error_code: "invalid_request",
          retryable: false,
          detail: expect.stringContaining(state),
        });
      }
    },
  );

  // @contract runs.transitions.force
  // @contract runs.cancel.terminal
  // @contract runs.cancel.force
  it("returns 400 for a blocked run, and 409 for a run that a worker has claimed, unless forced", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const blocked = await workingRun(plane);
    await blocked.finish();
    await setState(plane, blocked.run_id, "BLOCKED");
    expect((await user.post(`/agent/runs/${blocked.run_id}/cancel?force=true`)).status).toBe(400);
    const claimed = await startedRun(plane);
    await setState(plane, claimed.run_id, "CLAIMED");
    expect(await user.post(`/agent/runs/${claimed.run_id}/cancel`)).toMatchObject({
      status: 409,
      body: { retryable: true },
    });
    expect((await user.post(`/agent/runs/${claimed.run_id}/cancel?force=true`)).status).toBe(200);
    expect((await claimed.resolve()).status).toBe(401);
  });

  // @contract runs.item.cancellable: is_run_type_cancellable shows whether this kind of run can be cancelled here.
  // @contract runs.cancel.terminal
  // @contract runs.cancel.elsewhere: A run that is executed elsewhere is 422 operation_not_supported.
  // @contract runs.cancel.order: The check for ended runs precedes that for runs executed elsewhere, and that precedes PENDING.
  // @contract runs.cancel.type: is_run_type_cancellable shows in any state which runs are 422.
  // @contract runs.cancel.force
  it("returns 422 for a run that is executed elsewhere, marked by is_run_type_cancellable, unless forced", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const created = await user.post("/agent/runs", { prompt: "a" }, { headers: { "x-run-source": "GITHUB_ACTION" } });
    const path = `/agent/runs/${created.body.run_id}`;
    expect((await user.get(path)).body).toMatchObject({ source: "GITHUB_ACTION", is_run_type_cancellable: false });
    const refused = await user.post(`${path}/cancel`);
    expect(refused).toMatchObject({ status: 422, body: { error_code: "operation_not_supported", retryable: false } });
    expect((await user.post(`${path}/cancel?force=true`)).status).toBe(200);
    expect((await user.post(`${path}/cancel`)).status, "an ended run returns 400, wherever it was executed").toBe(400);
  });

  // @contract general.clients.empty-json
  // @contract runs.item.sandbox
  // @contract runs.cancel.key: Until the sandbox has confirmed its stop, its key is valid for that confirmation only.
  // @contract runs.cancel.stopped: run_stopped shows when the sandbox stopped, and who reported it.
  it("asks the harness to stop, limits its key to the confirmation, and records who cancelled", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await workingRun(plane);
    plane.clock.now += 4_000;
    expect(
      (
        await user.post(`/agent/runs/${harness.run_id}/cancel`, undefined, {
          headers: { "content-type": "application/json" },
        })
      ).status,
    ).toBe(200);
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({
      state: "CANCELLED",
      is_sandbox_running: true,
      run_time: "PT4.000S",
    });
    expect((await harness.beat()).body).toMatchObject({ cancel: true });
    for (const response of [
      await harness.resolve(),
      await harness.messages(1, "more"),
      await harness.finish(),
      await harness.event({ event_uuid: "e", event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z" }),
      await harness.client.get(`/agent/runs/${harness.run_id}`),
      await harness.client.post("/agent/runs", { prompt: "child" }),
    ]) {
      expect(response.status).toBe(401);
    }
    expect((await harness.shutDown()).body).toEqual({});
    expect((await harness.shutDown()).status, "its key is revoked after the confirmation").toBe(401);
    expect((await harness.beat()).status).toBe(401);
    await deliver(plane);
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({
      state: "CANCELLED",
      is_sandbox_running: false,
    });
    const { events } = (await user.get(`/agent/runs/${harness.run_id}/timeline`)).body;
    expect(events.slice(-2)).toMatchObject([
      { event_type: "run_cancelled", payload: { detail: "cancelled by Ada" } },
      { event_type: "run_stopped", payload: { confirmed_by: "harness" }, execution_id: harness.execution_id },
    ]);
    const transcript = await user.get(`/agent/runs/${harness.run_id}/transcript`);
    expect(await plane.download(transcript.headers["location"] ?? ""), "the transcript has the stop").toContain(
      "run_stopped",
    );
  });

  it("names the identity or the run whose key cancelled it", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const parent = await workingRun(plane);
    const { key } = await plane.agent("release-bot");
    for (const [client, by] of [
      [createClient(plane, key), "release-bot"],
      [parent.client, `run ${parent.run_id}`],
    ] as const) {
      const child = await createRun(plane, { prompt: "child", parent_run_id: parent.run_id });
      expect((await client.post(`/agent/runs/${child}/cancel`)).status).toBe(200);
      expect((await user.get(`/agent/runs/${child}`)).body).toMatchObject({
        state: "CANCELLED",
        status_message: { message: `cancelled by ${by}` },
      });
    }
  });

  // @contract runs.transitions.force: PENDING and CLAIMED become CANCELLED by force.
  // @contract runs.cancel.force: With force, PENDING and CLAIMED runs and runs executed elsewhere are cancelled too.
  // @contract runs.cancel.force-key: After a forced cancel the run's key is revoked.
  it("with force, cancels a PENDING run and revokes its key immediately", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await startedRun(plane);
    expect((await user.post(`/agent/runs/${harness.run_id}/cancel?force=true`)).status).toBe(200);
    expect((await harness.resolve()).status).toBe(401);
    expect((await harness.beat()).status).toBe(401);
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body.state).toBe("CANCELLED");
  });

  // @contract runs.cancel.stopped
  it("stops waiting for a sandbox that never confirms its stop", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await workingRun(plane);
    await user.post(`/agent/runs/${harness.run_id}/cancel`);
    await deliver(plane);
    const check = async () => {
      const set = { check_at: sortableTime(plane.clock.now) };
      await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set });
      await reap(plane);
    };
    plane.clock.now += 29_999;
    await check();
    expect(await readTimeline(plane, harness.run_id)).not.toContain("run_stopped");
    plane.clock.now += 1;
    await check();
    await deliver(plane);
    const { events } = (await user.get(`/agent/runs/${harness.run_id}/timeline`)).body;
    expect(events.at(-1)).toMatchObject({ event_type: "run_stopped", payload: { confirmed_by: "timeout" } });
    expect((await harness.beat()).status).toBe(401);
    plane.clock.now += 3_600_000;
    expect(await reap(plane), "the reaper no longer checks it").toMatchObject({ looked: 0 });
  });

  // @contract runs.retry.cancel: A cancel that the same caller repeats returns 200 again.
  it("returns the first response to a repeated request, and 400 to another request", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const id = await createRun(plane);
    const retry = (count: string) =>
      user.post(`/agent/runs/${id}/cancel`, undefined, { headers: { "x-stainless-retry-count": count } });
    expect((await retry("0")).status).toBe(200);
    expect((await retry("1")).status).toBe(200);
    expect((await retry("0")).status).toBe(400);
    const member = await plane.person("Mia");
    const other = await createClient(plane, member.key).post(`/agent/runs/${id}/cancel`, undefined, {
      headers: { "x-stainless-retry-count": "1" },
    });
    expect(other.status, "another caller has not cancelled it").toBe(400);

    await user.post(`/agent/runs/${id}/followups`, { message: "go on" });
    const later = await retry("1");
    expect(later, "the run was continued since").toMatchObject({ status: 200 });
    expect(later.headers).not.toHaveProperty("idempotent-replay");
    expect(await readState(plane, id)).toBe("CANCELLED");
    await user.post(`/agent/runs/${id}/followups`, { message: "go on" });
    const harness = createHarness(plane, await plane.dispatch(id));
    expect((await retry("1")).status, "it is being prepared").toBe(409);
    await harness.resolve();
    expect((await retry("1")).status).toBe(200);
    expect(await readState(plane, id)).toBe("CANCELLED");

    const keyed = await createRun(plane);
    const withKey = () =>
      user.post(`/agent/runs/${keyed}/cancel`, undefined, { headers: { "idempotency-key": "c-1" } });
    expect([(await withKey()).status, (await withKey()).status]).toEqual([200, 200]);
    const headers = { "idempotency-key": "c-1" };
    const forced = await user.post(`/agent/runs/${keyed}/cancel?force=true`, undefined, { headers });
    expect(forced, "another request with the same key").toMatchObject({ status: 400 });
  });
});

describe("an Idempotency-Key of a cancel", () => {
  it("applies to one run: the same key also cancels another run", async () => {
    const plane = await createTestControlPlane();
    const headers = { "idempotency-key": "k" };
    for (const id of [await createRun(plane), await createRun(plane)]) {
      const response = await createClient(plane).post(`/agent/runs/${id}/cancel`, undefined, { headers });
      expect(response).toMatchObject({ status: 200, body: id });
      expect(response.headers).not.toHaveProperty("idempotent-replay");
      expect(await plane.table.get(keys.head(id))).toMatchObject({ state: "CANCELLED" });
    }
  });
});

describe("concurrent changes of a run that is cancelled", () => {
  it("are taken into account: a run that is dispatched in between is cancelled with force, and refused without", async () => {
    for (const [query, status, state] of [
      ["?force=true", 200, "CANCELLED"],
      ["", 409, "PENDING"],
    ] as const) {
      const plane = await createTestControlPlane();
      const user = createClient(plane);
      const id = await createRun(plane);
      const response = await withWriteInBetween(
        plane,
        (write) => write.kind === "update" && write.set?.["state"] === "CANCELLED",
        () => deliver(plane, "runs"),
        () => user.post(`/agent/runs/${id}/cancel${query}`),
      );
      expect(response.status, JSON.stringify(response.body)).toBe(status);
      expect((await user.get(`/agent/runs/${id}`)).body.state).toBe(state);
      if (status === 409) expect(response.body.detail).toContain("the run is being prepared");
    }
  });

  it("return a retryable 409 after eight attempts", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const { result, attempts } = await withFailingWrites(plane, keys.head(id), () =>
      createClient(plane).post(`/agent/runs/${id}/cancel`),
    );
    expect(result).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: true } });
    expect(attempts).toBe(8);
  });

  it("let one of several requests cancel it, and return 400 to the others", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const responses = await Promise.all(
      Array.from({ length: 3 }, () => createClient(plane).post(`/agent/runs/${id}/cancel`)),
    );
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 400, 400]);
  });
});

async function loseThreeTimes(plane: TestControlPlane, first: Harness): Promise<void> {
  await first.shutDown();
  for (let loss = 2; loss <= 3; loss++) await (await nextExecution(plane)).shutDown();
}

describe("the events of a cancelled run", () => {
  const hasEnded = async (plane: TestControlPlane, run: string): Promise<boolean> =>
    (await createClient(plane).get(`/agent/runs/${run}/events`)).body.ended;

  it("end with the stop of its sandbox, or immediately if the cancel was forced", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const [requested, forced] = [await workingRun(plane), await workingRun(plane)];
    await user.post(`/agent/runs/${requested.run_id}/cancel`);
    await user.post(`/agent/runs/${forced.run_id}/cancel?force=true`);
    expect(await hasEnded(plane, requested.run_id)).toBe(false);
    expect(await hasEnded(plane, forced.run_id)).toBe(true);
    await requested.shutDown();
    expect(await hasEnded(plane, requested.run_id)).toBe(true);
  });
});

describe("the run time of a cancelled run", () => {
  it("includes that of its earlier executions", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const first = await workingRun(plane);
    plane.clock.now += 3_000;
    await first.finish();
    await user.post(`/agent/runs/${first.run_id}/followups`, { message: "more" });
    const second = await nextExecution(plane);
    await second.resolve();
    plane.clock.now += 2_000;
    expect((await user.post(`/agent/runs/${first.run_id}/cancel`)).status).toBe(200);
    expect((await user.get(`/agent/runs/${first.run_id}`)).body).toMatchObject({ run_time: "PT5.000S" });
  });
});

describe("a cancel by the service", () => {
  const cancel = (plane: TestControlPlane, id: string) => cancelByService(id, "the next run", plane.ports);
  const readHead = async (plane: TestControlPlane, id: string) => await plane.table.get(keys.head(id));

  it("cancels a waiting run, records what cancelled it, and requests its end", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    plane.sent.length = 0;
    await cancel(plane, id);
    expect((await createClient(plane).get(`/agent/runs/${id}`)).body).toMatchObject({
      state: "CANCELLED",
      status_message: { message: "cancelled by the next run" },
    });
    expect(plane.sent).toEqual([{ queue: "ends", runId: id }]);
  });

  it("asks a working agent to stop, and revokes the key of an execution that is being prepared", async () => {
    const plane = await createTestControlPlane();
    const [working, prepared] = [await workingRun(plane), await startedRun(plane)];
    for (const { run_id } of [working, prepared]) await cancel(plane, run_id);
    const [cancelled, ended] = [await readHead(plane, working.run_id), await readHead(plane, prepared.run_id)];
    expect([cancelled?.["state"], "key_hash" in (cancelled ?? {}), cancelled?.["stop_pending"]]).toEqual([
      "CANCELLED",
      true,
      true,
    ]);
    expect([ended?.["state"], "key_hash" in (ended ?? {})]).toEqual(["CANCELLED", false]);
  });

  it("does not change a run that has ended or does not exist", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    await createClient(plane).post(`/agent/runs/${id}/cancel`);
    plane.clock.now += 1_000;
    const before = structuredClone(plane.table.all());
    await cancel(plane, id);
    await cancel(plane, "01900000-0000-7000-8000-000000000000");
    expect(plane.table.all()).toEqual(before);
  });

  it("is retried up to eight times if the run changes concurrently", async () => {
    const plane = await createTestControlPlane();
    const [one, other] = [await createRun(plane), await createRun(plane)];
    const isHead = (write: { readonly kind: string; readonly key?: { readonly sk: string } }) =>
      write.key?.sk === keys.head(one).sk;
    await withWriteInBetween(
      plane,
      (write) => isHead(write),
      () => deliver(plane, "runs"),
      () => cancel(plane, one),
    );
    expect(await readHead(plane, one)).toMatchObject({ state: "CANCELLED" });
    const { result, attempts } = await withFailingWrites(plane, keys.head(other), () =>
      cancel(plane, other).catch((error: Error) => error.message),
    );
    expect([result, attempts]).toEqual(["the run is changed by other requests; send the request again", 8]);
  });

  it("throws errors other than conflicts after one attempt", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const { result, attempts } = await withFailingWrites(
      plane,
      keys.head(id),
      () => cancel(plane, id).catch((error: Error) => error.message),
      new Error("no table"),
    );
    expect([result, attempts]).toEqual(["no table", 1]);
  });
});
