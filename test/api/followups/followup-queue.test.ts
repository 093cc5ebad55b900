import { AsyncResource } from "node:async_hooks";
import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, nextExecution, workingRun } from "../../support/execution.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const send = (run: string, message: string, more: object = {}) =>
  user.post(`/agent/runs/${run}/followups`, { message, ...more });
const list = async (run: string) => (await user.get(`/agent/runs/${run}/followups`)).body.followups;
const states = async (run: string) => (await list(run)).map(({ state }: { state: string }) => state);
const countPending = async (run: string) => (await user.get(`/agent/runs/${run}`)).body.pending_followups;

describe("GET /agent/runs/{runId}/followups", () => {
  // @contract followups.pending: A follow-up is pending until the harness has stored or taken it.
  // @contract followups.list.sender: The list shows who sent each follow-up.
  // @contract runs.item.pending-followups: pending_followups counts the pending follow-ups.
  it("shows each follow-up with its sender, from the request until the agent has stored it", async () => {
    const harness = await workingRun(plane);
    expect(await list(harness.run_id)).toEqual([]);
    await send(harness.run_id, "one", { mode: "plan" });
    await send(harness.run_id, "two", { policy: "interrupt" });
    const [first, second] = await list(harness.run_id);
    expect(first).toEqual({
      followup_id: "followup-1",
      number: 1,
      message: "one",
      attachments: [],
      mode: "plan",
      policy: "enqueue",
      created_at: "2026-05-18T19:00:00.000Z",
      created_by: { type: "user", uid: expect.any(String), display_name: "Ada" },
      state: "pending",
    });
    expect(second).toMatchObject({ followup_id: "followup-2", message: "two", policy: "interrupt", state: "pending" });
    expect(await countPending(harness.run_id)).toBe(2);
    await harness.beat(1);
    expect(await states(harness.run_id)).toEqual(["delivered", "pending"]);
    expect(await countPending(harness.run_id)).toBe(1);
    await harness.beat(2);
    expect(await states(harness.run_id)).toEqual(["delivered", "delivered"]);
    expect(await countPending(harness.run_id)).toBe(0);
  });

  // @contract followups.removed: A cancel keeps pending follow-ups readable as removed.
  it("keeps the follow-ups that a cancel removed readable, also after the run continues", async () => {
    const harness = await workingRun(plane);
    for (const message of ["one", "two"]) await send(harness.run_id, message);
    await harness.beat(1);
    await user.post(`/agent/runs/${harness.run_id}/cancel`);
    await deliver(plane);
    expect(await states(harness.run_id)).toEqual(["delivered", "removed"]);
    expect(await countPending(harness.run_id)).toBe(0);
    await send(harness.run_id, "three");
    expect(await states(harness.run_id)).toEqual(["delivered", "removed", "pending"]);
    expect(await countPending(harness.run_id)).toBe(1);
    const next = await nextExecution(plane);
    await next.resolve();
    await next.beat(3);
    expect(await states(harness.run_id)).toEqual(["delivered", "removed", "delivered"]);
    expect(await countPending(harness.run_id)).toBe(0);
    await user.post(`/agent/runs/${harness.run_id}/cancel`);
    await deliver(plane);
    await send(harness.run_id, "four");
    expect(await states(harness.run_id)).toEqual(["delivered", "removed", "delivered", "pending"]);
  });

  it("reads long messages whole, and pages", async () => {
    const run = await createRun(plane);
    const long = "é".repeat(40_000);
    await send(run, long);
    await send(run, "short");
    const { body } = await user.get(`/agent/runs/${run}/followups?limit=1`);
    expect(body).toMatchObject({ followups: [{ message: long }], page_info: { has_next_page: true } });
    const rest = await user.get(`/agent/runs/${run}/followups?limit=1&cursor=${body.page_info.next_cursor}`);
    expect(rest.body).toMatchObject({ followups: [{ message: "short" }], page_info: { has_next_page: false } });
  });

  it("shows a follow-up of an earlier version without a sender", async () => {
    const run = await createRun(plane);
    await send(run, "one");
    await plane.table.write({ kind: "update", key: keys.followup(run, 1), remove: ["created_by"] });
    const [followup] = await list(run);
    expect(followup).toMatchObject({ message: "one", state: "pending" });
    expect(followup).not.toHaveProperty("created_by");
  });
});

describe("a follow-up's response", () => {
  // @contract followups.outcome.pending: The outcome is queue_pending while another follow-up is pending.
  // @contract followups.outcome.live: The outcome is live_session for an INPROGRESS run, queued_prompt before.
  // @contract followups.outcome.ended: The outcome is handoff_execution for an ended run.
  it("says whether another follow-up is pending, else what the state of the run entails", async () => {
    const outcome = async (run: string) => (await send(run, "more")).body.outcome;
    const waiting = await createRun(plane);
    expect(await outcome(waiting)).toBe("queued_prompt");
    expect(await outcome(waiting)).toBe("queue_pending");
    const working = await workingRun(plane);
    expect(await outcome(working.run_id)).toBe("live_session");
    expect(await outcome(working.run_id)).toBe("queue_pending");
    await working.beat(2);
    expect(await outcome(working.run_id)).toBe("live_session");
    await working.beat(3);
    await working.finish();
    expect(await outcome(working.run_id)).toBe("handoff_execution");
  });

  // @contract followups.outcome.capacity: The outcome is queue_pending while the team is at capacity.
  it("says that the message is pending while the run waits for capacity", async () => {
    await user.put(`/agent/teams/${plane.team}`, { settings: { concurrency_limit: 1 } });
    await workingRun(plane);
    const waiting = await createRun(plane);
    await deliver(plane);
    expect((await send(waiting, "more")).body.outcome).toBe("queue_pending");
  });

  it("is that of the first request for a repeated one, also when the run has changed", async () => {
    const harness = await workingRun(plane);
    const headers = { "idempotency-key": "k" };
    const path = `/agent/runs/${harness.run_id}/followups`;
    const first = await user.post(path, { message: "more" }, { headers });
    await send(harness.run_id, "another");
    const again = await user.post(path, { message: "more" }, { headers });
    expect(again.body).toEqual(first.body);
    expect(first.body).toEqual({ followup_id: "followup-1", run_id: harness.run_id, outcome: "live_session" });
  });

  it("names the latest follow-up for a request whose record an earlier version stored", async () => {
    const run = await createRun(plane);
    const headers = { "idempotency-key": "k" };
    await user.post(`/agent/runs/${run}/followups`, { message: "more" }, { headers });
    const record = plane.table.all().find(({ sk, pk }) => sk === "IDEM" && pk.includes(`followup:${run}`));
    await plane.table.write({ kind: "update", key: { pk: record?.pk ?? "", sk: "IDEM" }, set: { result: run } });
    const again = await user.post(`/agent/runs/${run}/followups`, { message: "more" }, { headers });
    expect(again.body).toEqual({ followup_id: "followup-1", run_id: run, outcome: "queued_prompt" });
  });

  // @contract followups.event: followup_received events name the followup_id.
  it("names the follow-up that the timeline and the events name", async () => {
    const run = await createRun(plane);
    const { followup_id } = (await send(run, "more")).body;
    const { events } = (await user.get(`/agent/runs/${run}/timeline`)).body;
    expect(events.at(-1)).toMatchObject({ event_type: "followup_received", payload: { number: 1, followup_id } });
    expect((await user.get(`/agent/runs/${run}/events`)).body.events.at(-1)).toMatchObject({ data: { followup_id } });
  });

  it("is 404 for a run that is deleted in the meantime", async () => {
    const run = await createRun(plane);
    const response = await withWriteInBetween(
      plane,
      (write) => write.kind === "update" && write.set?.["followups"] !== undefined,
      // In the context of the test: the endpoint has no right to delete.
      AsyncResource.bind(() => plane.table.write({ kind: "delete", key: keys.head(run) })),
      () => send(run, "more"),
    );
    expect(response).toMatchObject({ status: 404, body: { error_code: "resource_not_found" } });
  });
});

describe("POST /agent/conversations/{conversationId}/followups", () => {
  const sendTo = (conversation: string, message = "more", headers = {}) =>
    user.post(`/agent/conversations/${conversation}/followups`, { message }, { headers });

  // @contract followups.conversation: A follow-up to a conversation goes to its latest run.
  it("sends to the latest run of the conversation, and names it", async () => {
    const first = await workingRun(plane);
    await first.finish();
    const second = await createRun(plane, { prompt: "go on", conversation_id: first.run_id });
    const sent = await sendTo(first.run_id);
    expect(sent).toMatchObject({ status: 200, body: { run_id: second, outcome: "queued_prompt" } });
    expect(await list(second)).toMatchObject([{ message: "more" }]);
    expect(await list(first.run_id)).toEqual([]);
  });

  // @contract repeats.followup: A repeated follow-up to a conversation returns the first response again.
  it("answers a repeated request as the first time, and sends nothing again", async () => {
    const run = await createRun(plane);
    const headers = { "idempotency-key": "k" };
    const first = await sendTo(run, "more", headers);
    expect((await sendTo(run, "more", headers)).body).toEqual(first.body);
    expect(await list(run)).toHaveLength(1);
  });

  it("is 404 for an unknown conversation, and for a run that continues another one", async () => {
    const first = await workingRun(plane);
    await first.finish();
    const second = await createRun(plane, { prompt: "go on", conversation_id: first.run_id });
    expect((await sendTo(second)).status).toBe(404);
    expect((await sendTo("0199a3c4-0000-7000-8000-000000000001")).status).toBe(404);
  });
});
