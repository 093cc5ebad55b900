import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { deliver, type Harness, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
let user: Client;
let harness: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  harness = await workingRun(plane);
});

const notify = (message: unknown) => harness.support("notify-user", { message });
const listNotifications = async () =>
  (await user.get(`/agent/runs/${harness.run_id}/events?after=0`)).body.events
    .filter(({ type }: { type: string }) => type === "user_notified")
    .map(({ data }: { data: { message: string } }) => data.message);

describe("POST /harness-support/notify-user", () => {
  it("adds a notification to the run's events, and the run continues", async () => {
    expect(await notify("half of it is done")).toMatchObject({ status: 200, body: {} });
    expect(await listNotifications()).toEqual(["half of it is done"]);
    const { events } = (await user.get(`/agent/runs/${harness.run_id}/timeline`)).body;
    expect(
      events.map(({ event_type }: { event_type: string }) => event_type),
      "it is not a step of the run",
    ).toEqual(["run_created", "run_pending", "worker_container_ready"]);
    await harness.finish();
    await deliver(plane);
    const { headers } = await user.get(`/agent/runs/${harness.run_id}/transcript`);
    expect(await plane.download(headers["location"] ?? "")).toContain("half of it is done");
  });

  it("does not change the run's state", async () => {
    await notify("half of it is done");
    expect((await user.get(`/agent/runs/${harness.run_id}`)).body.state).toBe("INPROGRESS");
  });

  it("records the same message once, however often it is sent", async () => {
    await Promise.all([notify("half"), notify("half"), notify("half")]);
    await notify("all");
    expect(await listNotifications()).toEqual(["half", "all"]);
  });

  it("accepts ten notifications per run and then returns a 429 that is not retryable; the run continues", async () => {
    for (let count = 1; count <= 10; count++) expect((await notify(`word ${count}`)).status).toBe(200);
    const before = structuredClone(plane.table.all());
    expect(await notify("one more")).toMatchObject({
      status: 429,
      body: { error_code: "resource_unavailable", retryable: false },
    });
    expect(plane.table.all()).toEqual(before);
    expect((await notify("word 3")).status, "a recorded notification stays accepted").toBe(200);
    expect((await harness.finish()).status).toBe(200);
  });

  it.each(["", "x".repeat(4_097), 7, null])("returns 400 and stores nothing for the message %j", async (message) => {
    const before = structuredClone(plane.table.all());
    expect(await notify(message)).toMatchObject({ status: 400, body: { errors: [{ path: "message" }] } });
    expect(plane.table.all()).toEqual(before);
  });

  it("is refused from an ended execution", async () => {
    await harness.finish();
    expect((await notify("too late")).status).toBe(401);
    expect(await listNotifications()).toEqual([]);
  });
});
