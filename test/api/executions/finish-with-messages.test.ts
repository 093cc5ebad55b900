import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { said, workingRun } from "../../support/execution.ts";

describe("finish-task with the last messages", () => {
  it("stores the messages before the end of the run, once", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.messages(1, "one");
    const last = { first_sequence: 1, messages: ["one", "two"].map(said), followups_stored: 0 };
    const finished = await harness.support("finish-task", { success: true, summary: "done", ...last });
    expect([finished.status, finished.body]).toEqual([200, {}]);
    const { body } = await createClient(plane).get(`/agent/runs/${harness.run_id}/events`);
    const events: { sequence: number; type: string; data: { messages?: unknown[] } }[] = body.events;
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
    expect(events.slice(-3).map(({ type, data }) => [type, data.messages?.length])).toEqual([
      ["messages", 1],
      ["messages", 1],
      ["run_succeeded", undefined],
    ]);
    expect(body.ended).toBe(true);
    const response = await createClient(plane).get(`/agent/runs/${harness.run_id}/response`);
    expect(response.body).toMatchObject({ text: "two", state: "SUCCEEDED" });
  });

  it("returns pending follow-ups, and the run continues until all of them are processed", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const user = createClient(plane);
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "and then?" });
    const first = { success: true, summary: "one", first_sequence: 1, messages: [said("one")], followups_stored: 0 };
    for (const attempt of ["first", "repeated"]) {
      const { status, body } = await harness.support("finish-task", first);
      expect([status, body.followups], attempt).toEqual([
        200,
        [expect.objectContaining({ number: 1, message: "and then?" })],
      ]);
    }
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body.state).toBe("INPROGRESS");
    const second = { success: true, summary: "two", first_sequence: 2, messages: [said("two")], followups_stored: 1 };
    expect((await harness.support("finish-task", second)).body).toEqual({});
    const { body } = await user.get(`/agent/runs/${harness.run_id}/conversation`);
    expect(JSON.stringify(body).match(/"(one|two)"/g)).toEqual(['"one"', '"two"']);
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body.state).toBe("SUCCEEDED");
  });

  it("requeues the run for a follow-up that an older harness does not know", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const user = createClient(plane);
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "and then?" });
    await harness.finish();
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body.state).toBe("QUEUED");
  });

  it.each([
    ["messages without a sequence number", { messages: [said("one")] }],
    ["a sequence number without messages", { first_sequence: 1 }],
    ["messages that leave a gap", { first_sequence: 5, messages: [said("one")] }],
    ["more follow-ups than exist", { followups_stored: 1 }],
  ])("refuses %s", async (_, body) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const { status } = await harness.support("finish-task", { success: true, summary: "done", ...body });
    expect(status).toBe(400);
    expect((await harness.beat()).status).toBe(200);
  });
});
