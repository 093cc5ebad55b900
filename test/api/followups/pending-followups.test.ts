import { AsyncResource } from "node:async_hooks";
import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const pathTo = (run: string, number?: number) =>
  `/agent/runs/${run}/followups${number === undefined ? "" : `/followup-${number}`}`;
const send = async (run: string, ...messages: string[]) => {
  for (const message of messages) expect((await user.post(pathTo(run), { message })).status).toBe(200);
};
const list = async (run: string) => {
  const { body } = await user.get(pathTo(run));
  return body.followups.map((one: Record<string, unknown>) => [one["followup_id"], one["message"], one["state"]]);
};
const countPending = async (run: string) => (await user.get(`/agent/runs/${run}`)).body.pending_followups;
const take = async ({ execution_id, support }: Harness, takes_after: number) =>
  (await support("heartbeat", { execution_id, followups_stored: 0, takes_after })).body.taken;
const conflict = { status: 409, body: { error_code: "conflict" } };
const missing = { status: 404, body: { error_code: "resource_not_found" } };
const changesFollowups = (write: TransactionWrite) =>
  write.kind === "update" && write.set?.["followup_changes"] !== undefined;

describe.each([
  ["PUT", (run: string, number: number) => user.put(pathTo(run, number), { message: "other" })],
  ["DELETE", (run: string, number: number) => user.delete(pathTo(run, number))],
  ["promote", (run: string, number: number) => user.post(`${pathTo(run, number)}/promote`)],
] as const)("%s of a follow-up", (_, change) => {
  // @contract followups.late: Once a follow-up is delivered, changing it returns 409.
  it("is 409 once the agent takes it, and after a cancel removed it", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one", "two");
    await take(harness, 0);
    expect(await change(harness.run_id, 1)).toMatchObject(conflict);
    await harness.beat(1);
    expect(await change(harness.run_id, 1)).toMatchObject(conflict);
    await user.post(`/agent/runs/${harness.run_id}/cancel`);
    await deliver(plane);
    expect(await change(harness.run_id, 2)).toMatchObject(conflict);
    expect(await list(harness.run_id)).toEqual([
      ["followup-1", "one", "delivered"],
      ["followup-2", "two", "removed"],
    ]);
  });

  it("is 404 for an unknown id", async () => {
    const run = await createRun(plane);
    await send(run, "one");
    expect(await change(run, 2)).toMatchObject(missing);
    for (const id of ["followup-0", "followup-01", "x", "followup-1x"])
      expect(await user.delete(`${pathTo(run)}/${id}`)).toMatchObject(missing);
  });

  it("is refused where the agent takes the follow-up at the same time", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one");
    const taken: unknown[] = [];
    const response = await withWriteInBetween(
      plane,
      changesFollowups,
      async () => void taken.push(await take(harness, 0)),
      () => change(harness.run_id, 1),
    );
    expect(response).toMatchObject(conflict);
    expect(taken).toMatchObject([{ number: 1, message: "one" }]);
  });
});

describe("PUT /agent/runs/{runId}/followups/{followupId}", () => {
  // @contract followups.change: PUT of a pending follow-up replaces its message.
  it("replaces the message that the agent gets, also by a long one and back", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one", "two");
    const long = "é".repeat(40_000);
    for (const message of [long, "short"]) {
      const response = await user.put(pathTo(harness.run_id, 1), { message });
      expect(response).toMatchObject({ status: 200, body: { followup_id: "followup-1", message, state: "pending" } });
      const { followups } = (await harness.beat()).body;
      expect(followups).toMatchObject([
        { number: 1, message },
        { number: 2, message: "two" },
      ]);
    }
  });

  it("requires a message", async () => {
    const run = await createRun(plane);
    await send(run, "one");
    for (const body of [{}, { message: "" }])
      expect(await user.put(pathTo(run, 1), body)).toMatchObject({
        status: 400,
        body: { errors: [{ path: "message" }] },
      });
  });
});

describe("DELETE /agent/runs/{runId}/followups/{followupId}", () => {
  // @contract followups.delete: DELETE of a pending follow-up removes it, and it stays readable.
  it("keeps the follow-up from the agent, and readable", async () => {
    const run = await createRun(plane);
    await send(run, "one", "two", "three");
    expect(await user.delete(pathTo(run, 2))).toMatchObject({ status: 204 });
    expect(await list(run)).toEqual([
      ["followup-1", "one", "pending"],
      ["followup-2", "two", "removed"],
      ["followup-3", "three", "pending"],
    ]);
    expect(await countPending(run)).toBe(2);
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups.map(({ number }: { number: number }) => number)).toEqual([1, 3]);
    expect(await user.delete(pathTo(run, 2))).toMatchObject(conflict);
  });

  it("lets the run end where the last follow-up is deleted", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one");
    await harness.beat();
    await user.delete(pathTo(harness.run_id, 1));
    expect((await harness.beat()).body.followups).toEqual([]);
    expect(await take(harness, 0)).toBeNull();
    await harness.finish();
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body.state).toBe("SUCCEEDED");
  });

  it("does not make a later follow-up wait behind the deleted one", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one");
    await user.delete(pathTo(harness.run_id, 1));
    const { body } = await user.post(pathTo(harness.run_id), { message: "two" });
    expect(body).toMatchObject({ followup_id: "followup-2", outcome: "live_session" });
    expect(await take(harness, 0)).toMatchObject({ number: 2, followup_id: "followup-2" });
  });

  // @contract repeats.delete: A repeated DELETE by the same caller returns the first response again.
  it("answers a client's retry of the request that deleted it with 204", async () => {
    const run = await createRun(plane);
    await send(run, "one");
    expect((await user.delete(pathTo(run, 1))).status).toBe(204);
    const headers = { "x-stainless-retry-count": "1" };
    expect((await user.delete(pathTo(run, 1), { headers })).status).toBe(204);
    expect(await list(run)).toEqual([["followup-1", "one", "removed"]]);
  });
});

describe("POST /agent/runs/{runId}/followups/{followupId}/promote", () => {
  // @contract followups.promote: Promoting a pending follow-up makes it the next message by interrupting the turn.
  // @contract followups.promote.order: A promoted follow-up is before the others that are pending.
  it("makes the follow-up the next message, which interrupts the turn, and keeps the order of the others", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "zero", "one", "two", "three");
    await harness.beat(1);
    await user.delete(pathTo(harness.run_id, 3));
    const promoted = await user.post(`${pathTo(harness.run_id, 4)}/promote`);
    expect(promoted).toMatchObject({
      status: 200,
      body: { followup_id: "followup-4", number: 2, message: "three", policy: "interrupt", state: "pending" },
    });
    expect(await list(harness.run_id)).toEqual([
      ["followup-1", "zero", "delivered"],
      ["followup-4", "three", "pending"],
      ["followup-3", "two", "removed"],
      ["followup-2", "one", "pending"],
    ]);
    const { followups } = (await harness.beat(1)).body;
    expect(followups).toMatchObject([
      { number: 2, followup_id: "followup-4", message: "three", policy: "interrupt" },
      { number: 4, followup_id: "followup-2", message: "one", policy: "enqueue" },
    ]);
  });

  it("finds moved follow-ups by their ids, and moves them again", async () => {
    const run = await createRun(plane);
    await send(run, "one", "two", "three");
    for (const number of [3, 1, 2]) await user.post(`${pathTo(run, number)}/promote`);
    await user.put(pathTo(run, 1), { message: "edited" });
    await user.delete(pathTo(run, 3));
    expect(await list(run)).toEqual([
      ["followup-2", "two", "pending"],
      ["followup-1", "edited", "pending"],
      ["followup-3", "three", "removed"],
    ]);
  });

  it("promotes once for a repeated request", async () => {
    const run = await createRun(plane);
    await send(run, "one", "two", "three");
    const headers = { "idempotency-key": "k" };
    const path = `${pathTo(run, 3)}/promote`;
    const first = await user.post(path, undefined, { headers });
    await user.post(`${pathTo(run, 2)}/promote`);
    const again = await user.post(path, undefined, { headers });
    expect(again).toMatchObject({ status: 200, body: { followup_id: "followup-3", number: 2 } });
    expect(first.body).toMatchObject({ followup_id: "followup-3", number: 1 });
    expect((await list(run)).map(([id]: string[]) => id)).toEqual(["followup-2", "followup-3", "followup-1"]);
  });

  it("is 409 where more follow-ups are pending before it than one transaction moves", async () => {
    const run = await createRun(plane);
    await send(run, ...Array.from({ length: 91 }, (_, index) => `message ${index}`));
    expect(await user.post(`${pathTo(run, 91)}/promote`)).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("delete some of them") },
    });
    expect(await user.post(`${pathTo(run, 90)}/promote`)).toMatchObject({ status: 200, body: { number: 1 } });
  });
});

describe("a heartbeat that takes a follow-up", () => {
  it("returns the next one, with the text that it has by then, once for a repeat", async () => {
    const harness = await workingRun(plane);
    expect(await take(harness, 0)).toBeNull();
    await send(harness.run_id, "one", "two");
    await harness.beat();
    await user.put(pathTo(harness.run_id, 1), { message: "edited" });
    for (let repeat = 0; repeat < 2; repeat++)
      expect(await take(harness, 0)).toMatchObject({ number: 1, followup_id: "followup-1", message: "edited" });
    expect(await take(harness, 1)).toMatchObject({ number: 2 });
    expect(await countPending(harness.run_id)).toBe(0);
    expect(await take(harness, 2)).toBeNull();
  });

  it("takes none for an execution that fails, which could not handle it", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one");
    const failing = { code: "budget_exceeded", message: "spent", by: plane.clock.now + 60_000 };
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set: { failing } });
    expect(await take(harness, 0)).toBeNull();
    expect(await list(harness.run_id)).toEqual([["followup-1", "one", "pending"]]);
  });

  it("takes another one if the first is deleted at the same time", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one", "two");
    const taken = await withWriteInBetween(
      plane,
      (write) => write.kind === "update" && write.set?.["followups_taken"] !== undefined,
      () => user.delete(pathTo(harness.run_id, 1)),
      () => take(harness, 0),
    );
    expect(taken).toMatchObject({ number: 2, message: "two" });
  });

  it("lets a follow-up be changed again once its execution is lost", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one");
    await take(harness, 0);
    await harness.shutDown();
    expect(await plane.table.get(keys.head(harness.run_id))).not.toHaveProperty("followups_taken");
    expect(await user.put(pathTo(harness.run_id, 1), { message: "edited" })).toMatchObject({ status: 200 });
  });

  it("is what the request to finish does for the follow-up that keeps the run from ending", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one");
    const outcome = { success: true, summary: "done", followups_stored: 0 };
    const finished = await harness.support("finish-task", outcome);
    expect(finished.body.followups).toMatchObject([{ number: 1 }]);
    expect(await user.delete(pathTo(harness.run_id, 1))).toMatchObject(conflict);
  });
});

/** Removes the head of a run without the rights of the endpoint within whose request it does. */
const removesHead = (run: string) =>
  AsyncResource.bind(() => plane.table.write({ kind: "delete", key: keys.head(run) }));

describe("a run that is deleted while a request changes it", () => {
  it.each([
    ["POST …/followups", (run: string) => user.post(pathTo(run), { message: "two" })],
    ["PUT …/followups/{followupId}", (run: string) => user.put(pathTo(run, 1), { message: "other" })],
    ["DELETE …/followups/{followupId}", (run: string) => user.delete(pathTo(run, 1))],
    ["POST …/interrupt", (run: string) => user.post(`/agent/runs/${run}/interrupt`)],
    ["POST …/cancel", (run: string) => user.post(`/agent/runs/${run}/cancel`)],
    ["POST …/archive", (run: string) => user.post(`/agent/runs/${run}/archive`)],
  ] as const)("is 404 for %s", async (_, change) => {
    const { run_id } = await workingRun(plane);
    await send(run_id, "one");
    const key = keys.head(run_id);
    const response = await withWriteInBetween(
      plane,
      (write) => "key" in write && write.key.pk === key.pk && write.key.sk === key.sk,
      removesHead(run_id),
      () => change(run_id),
    );
    expect(response).toMatchObject(missing);
  });

  it("gives no follow-up to an execution that asks for the next one", async () => {
    const harness = await workingRun(plane);
    await send(harness.run_id, "one");
    const taken = await withWriteInBetween(
      plane,
      (write) => write.kind === "update" && write.set?.["followups_taken"] !== undefined,
      removesHead(harness.run_id),
      () => take(harness, 0),
    );
    expect(taken ?? null).toBeNull();
  });
});
