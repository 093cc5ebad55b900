import { beforeEach, describe, expect, it } from "vitest";
import { sendFollowup } from "#functions/runs/send-followup.ts";
import { keys, sortableTime } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, nextExecution, startedRun, workingRun } from "../../support/execution.ts";
import { withFailingWrites, withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const followup = (run: string, body: object = { message: "more" }) => user.post(`/agent/runs/${run}/followups`, body);
const readHead = (run: string) => plane.table.get(keys.head(run));
const storesFollowup = (write: TransactionWrite) => write.kind === "update" && write.set?.["followups"] !== undefined;

describe("a follow-up", () => {
  it("requests no dispatch for a run that has not ended", async () => {
    const ids = [await createRun(plane), (await startedRun(plane)).run_id, (await workingRun(plane)).run_id];
    plane.sent.length = 0;
    for (const id of ids) expect((await followup(id)).status).toBe(200);
    expect(plane.sent).toEqual([]);
  });

  it("is stored once per run and Idempotency-Key", async () => {
    const headers = { "idempotency-key": "k" };
    const ids = [await createRun(plane), await createRun(plane)];
    for (const id of [...ids, ...ids]) {
      const { status } = await user.post(`/agent/runs/${id}/followups`, { message: "more" }, { headers });
      expect(status).toBe(200);
      expect(await readHead(id)).toMatchObject({ followups: 1 });
    }
  });

  it("clears the end of an ended run, and requests its dispatch", async () => {
    const harness = await workingRun(plane);
    await harness.finish(false, "it broke");
    await deliver(plane);
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set: { restarts: 5 } });
    const ending = ["ended_at", "status_message", "transcript_events", "restarts"];
    const executing = ["execution_id", "key_hash", "instance_id"];
    for (const name of ending) expect(await readHead(harness.run_id)).toHaveProperty(name);
    await followup(harness.run_id);
    const head = await readHead(harness.run_id);
    for (const name of [...ending, ...executing]) expect(head).not.toHaveProperty(name);
    expect(head).toMatchObject({ state: "QUEUED", check_at: sortableTime(plane.clock.now + 30_000) });
    expect(plane.sent).toEqual([{ queue: "runs", runId: harness.run_id }]);
  });

  it("is recorded as an event with its number and policy, and with the state if that changes", async () => {
    const harness = await workingRun(plane);
    await followup(harness.run_id, { message: "now", policy: "interrupt" });
    await harness.beat(1);
    await harness.finish();
    await followup(harness.run_id);
    const { events } = (await user.get(`/agent/runs/${harness.run_id}/events`)).body;
    const received = events.filter(({ type }: { type: string }) => type === "followup_received");
    expect(received.map(({ data }: { data: object }) => data)).toEqual([
      { number: 1, followup_id: "followup-1", policy: "interrupt", execution_id: harness.execution_id },
      { number: 2, followup_id: "followup-2", policy: "enqueue", state: "QUEUED", execution_id: harness.execution_id },
    ]);
  });

  // @contract followups.message.active: The message is required for a run that has not ended.
  it.each(["QUEUED", "PENDING", "INPROGRESS"])("requires a message if the run is %s", async (state) => {
    const id = await createRun(plane);
    if (state !== "QUEUED") {
      const harness = await nextExecution(plane);
      if (state === "INPROGRESS") await harness.resolve();
    }
    const before = structuredClone(plane.table.all());
    expect(await followup(id, {})).toMatchObject({ status: 400, body: { errors: [{ path: "message" }] } });
    expect(plane.table.all()).toEqual(before);
  });

  it("fails if its long message cannot be stored", async () => {
    const id = await createRun(plane);
    const put = () => Promise.reject(new Error("no bucket"));
    const event = httpEvent({ key: plane.key, path: { runId: id }, body: { message: "m".repeat(100_000) } });
    const response = await sendFollowup.handle(event, { ...plane.ports, files: { ...plane.ports.files, put } });
    expect(response).toMatchObject({ statusCode: 500 });
    expect(await readHead(id)).not.toHaveProperty("followups");
  });
});

describe("a follow-up to a run that changes concurrently", () => {
  it("continues a run that has ended", async () => {
    const harness = await workingRun(plane);
    const response = await withWriteInBetween(plane, storesFollowup, harness.finish, () => followup(harness.run_id));
    expect(response.status).toBe(200);
    expect(await readHead(harness.run_id)).toMatchObject({ state: "QUEUED", followups: 1 });
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups).toMatchObject([{ number: 1, message: "more" }]);
  });

  it("replaces the instruction of a run that was cancelled", async () => {
    const harness = await workingRun(plane, { prompt: "delete everything" });
    const cancel = () => user.post(`/agent/runs/${harness.run_id}/cancel?force=true`);
    await withWriteInBetween(plane, storesFollowup, cancel, () => followup(harness.run_id));
    const response = (await (await nextExecution(plane)).resolve()).body;
    expect(response.prompt).toBe("");
    expect(response.context).toMatchObject({
      messages: [{ content: [{ text: "delete everything" }] }, { role: "system" }],
      own_messages: 2,
      next_sequence: 2,
    });
  });

  it("replaces the earlier follow-ups of a cancelled run, unless it has no message", async () => {
    for (const [body, prompt, cancelled] of [
      [{ message: "second" }, "", [true, undefined]],
      [{}, "hello", [undefined, undefined]],
    ] as const) {
      const { run_id } = await workingRun(plane);
      await followup(run_id, { message: "first" });
      await user.post(`/agent/runs/${run_id}/cancel?force=true`);
      plane.sent.length = 0;
      await followup(run_id, body);
      const response = (await (await nextExecution(plane)).resolve()).body;
      expect(response.prompt).toBe(prompt);
      const { followups } = response.context;
      expect(followups.map((one: { cancelled?: true }) => one.cancelled)).toEqual(cancelled);
    }
  });

  it("gets the number after a concurrent follow-up", async () => {
    const id = await createRun(plane);
    const other = () => followup(id, { message: "first" });
    await withWriteInBetween(plane, storesFollowup, other, () => followup(id, { message: "second" }));
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups).toMatchObject([
      { number: 1, message: "first" },
      { number: 2, message: "second" },
    ]);
  });

  it("returns a retryable 409 after eight attempts", async () => {
    const id = await createRun(plane);
    const { result, attempts } = await withFailingWrites(plane, keys.head(id), () => followup(id));
    expect(result).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: true } });
    expect(attempts).toBe(8);
  });
});
