import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { deliver, type Harness, workingRun } from "../support/execution.ts";

let plane: TestControlPlane;
let ada: Client;
let harness: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  ada = createClient(plane);
  harness = await workingRun(plane);
});

const notify = (message: unknown) => harness.support("notify-user", { message });
const told = async () =>
  (await ada.get(`/agent/runs/${harness.run_id}/events?after=0`)).body.events
    .filter(({ type }: { type: string }) => type === "user_notified")
    .map(({ data }: { data: { message: string } }) => data.message);

describe("POST /harness-support/notify-user", () => {
  it("tells whoever follows the run, which goes on", async () => {
    expect(await notify("half of it is done")).toMatchObject({ status: 200, body: {} });
    expect(await told()).toEqual(["half of it is done"]);
    const { events } = (await ada.get(`/agent/runs/${harness.run_id}/timeline`)).body;
    expect(
      events.map(({ event_type }: { event_type: string }) => event_type),
      "it is no step of the run",
    ).toEqual(["run_created", "run_pending", "worker_container_ready"]);
    await harness.finish();
    await deliver(plane);
    const { headers } = await ada.get(`/agent/runs/${harness.run_id}/transcript`);
    expect(await plane.download(headers["location"] ?? "")).toContain("half of it is done");
  });

  it("leaves the run at work", async () => {
    await notify("half of it is done");
    expect((await ada.get(`/agent/runs/${harness.run_id}`)).body.state).toBe("INPROGRESS");
  });

  it("tells the same words once, however often they come", async () => {
    await Promise.all([notify("half"), notify("half"), notify("half")]);
    await notify("all");
    expect(await told()).toEqual(["half", "all"]);
  });

  it("tells ten times a run and is then answered 429, which no repeat helps; the run goes on", async () => {
    for (let count = 1; count <= 10; count++) expect((await notify(`word ${count}`)).status).toBe(200);
    const before = structuredClone(plane.table.all());
    expect(await notify("one more")).toMatchObject({
      status: 429,
      body: { error_code: "resource_unavailable", retryable: false },
    });
    expect(plane.table.all()).toEqual(before);
    expect((await notify("word 3")).status, "what was told is told").toBe(200);
    expect((await harness.finish()).status).toBe(200);
  });

  it.each(["", "x".repeat(4_097), 7, null])("answers 400 and stores nothing for the message %j", async (message) => {
    const before = structuredClone(plane.table.all());
    expect(await notify(message)).toMatchObject({ status: 400, body: { errors: [{ path: "message" }] } });
    expect(plane.table.all()).toEqual(before);
  });

  it("is refused from an execution that is over", async () => {
    await harness.finish();
    expect((await notify("too late")).status).toBe(401);
    expect(await told()).toEqual([]);
  });
});
