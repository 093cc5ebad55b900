import { beforeEach, describe, expect, it } from "vitest";
import { removeStops } from "#shared/executions/sandbox-stops.ts";
import { keys } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import {
  consume,
  createHarness,
  createRun,
  type Harness,
  nextExecution,
  said,
  startedRun,
  workingRun,
} from "../../support/execution.ts";
import { readState, readTimeline } from "../../support/look.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const AT = "2026-05-18T19:00:00Z";
const readHead = (id: string) => plane.table.get(keys.head(id));
const readEvents = async (id: string) => (await user.get(`/agent/runs/${id}/timeline`)).body.events;
const begins = (write: TransactionWrite) => write.kind === "update" && write.set?.["state"] === "INPROGRESS";
const isHeadUpdate = (write: TransactionWrite) => write.kind === "update" && write.key.sk === "HEAD";

describe("the first call of an execution", () => {
  /** Two harnesses with the key of one execution. */
  async function twoHarnesses(instances: readonly [string, string]) {
    const envelope = await plane.dispatch(await createRun(plane));
    return instances.map((instance) => createHarness(plane, envelope, instance));
  }
  const inBetween = async (instances: readonly [string, string]) => {
    const [late, first] = await twoHarnesses(instances);
    if (!late || !first) throw new Error("there are two harnesses");
    const response = await withWriteInBetween(plane, begins, first.resolve, late.resolve);
    return { response: response, run: late.run_id };
  };

  it("is refused to a second harness that calls concurrently", async () => {
    const { response, run } = await inBetween(["late", "first"]);
    expect(response).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
    expect(await readHead(run)).toMatchObject({ instance_id: "first" });
  });

  it("can be repeated by the same harness while the first one is processed", async () => {
    const { response, run } = await inBetween(["same", "same"]);
    expect(response).toMatchObject({ status: 200, body: { context: { run_id: run } } });
    expect((await readTimeline(plane, run)).filter((type) => type === "worker_container_ready")).toHaveLength(1);
  });

  it("records the preparation time of the execution, and resets the count of failed starts", async () => {
    const id = await createRun(plane);
    plane.failures.push(new Error("no such function"));
    await consume(plane, "runs", id);
    expect(await readHead(id)).toMatchObject({ failed_starts: 1, deferred_starts: 1 });
    plane.clock.now += 10_000;
    const harness = createHarness(plane, await plane.dispatch(id));
    plane.clock.now += 1_500;
    await harness.resolve();
    const head = await readHead(id);
    for (const name of ["failed_starts", "deferred_starts", "silent_starts"]) expect(head).not.toHaveProperty(name);
    expect((await readEvents(id)).at(-1)).toMatchObject({
      event_type: "worker_container_ready",
      payload: { duration_ms: 1_500 },
    });
  });

  it("of a later execution does not change the start time of the run", async () => {
    const first = await workingRun(plane);
    const { started_at } = (await user.get(`/agent/runs/${first.run_id}`)).body;
    expect(started_at).toBe(new Date(plane.clock.now).toISOString());
    plane.clock.now += 5_000;
    await first.shutDown();
    await (await nextExecution(plane)).resolve();
    expect((await user.get(`/agent/runs/${first.run_id}`)).body).toMatchObject({ started_at, state: "INPROGRESS" });
  });

  it("has the full time limit again after the sandbox was restarted", async () => {
    const { run_id } = await startedRun(plane);
    plane.clock.now += 20_000;
    await consume(plane, "runs", run_id);
    expect(plane.started).toHaveLength(2);
    plane.clock.now += 19_999;
    await consume(plane, "runs", run_id);
    expect(plane.started, "still in time").toHaveLength(2);
    plane.clock.now += 1;
    await consume(plane, "runs", run_id);
    expect(plane.started).toHaveLength(3);
  });
});

const file = { filename: "a", mime_type: "text/plain", size_bytes: 1, sha256: "a".repeat(64) };
const pull = { artifact_type: "PULL_REQUEST", data: { url: "https://github.com/acme/shop/pull/1", branch: "fix" } };
const calls: readonly [string, (harness: Harness) => Promise<ResponseBody>][] = [
  ["messages", (harness) => harness.messages(1, "hello")],
  ["client-events", (harness) => harness.event({ event_uuid: "e", event_name: "agent_started", timestamp: AT })],
  ["notify-user", (harness) => harness.support("notify-user", { message: "hello" })],
  ["external-conversation", (harness) => harness.support("external-conversation", { format: "claude_code" })],
  ["report-artifact", (harness) => harness.support("report-artifact", pull)],
  ["upload-snapshot", (harness) => harness.support("upload-snapshot", { files: [file] })],
  ["heartbeat", (harness) => harness.beat()],
];

describe("a call of an execution", () => {
  it.each(calls)("counts as a heartbeat: %s", async (_, call) => {
    const harness = await workingRun(plane);
    plane.clock.now += 9_000;
    expect((await call(harness)).status).toBe(200);
    expect(await readHead(harness.run_id)).toMatchObject({ heartbeat_at: plane.clock.now });
  });

  it.each(["heartbeat", "messages", "live"])("is refused if it names another execution: %s", async (name) => {
    const harness = await workingRun(plane);
    const frames = [{ stream: "text", message_id: "m", offset: 0, text: "a" }];
    const body = { followups_stored: 0, first_sequence: 1, messages: [said("late")], frames };
    const before = structuredClone(plane.table.all());
    plane.clock.now += 60_000;
    const response = await harness.support(name, { ...body, execution_id: "another" });
    expect(response, JSON.stringify(response.body)).toMatchObject({ status: 401 });
    expect(plane.table.all()).toEqual(before);
  });

  it("records an event with its whole payload, in whole milliseconds", async () => {
    const harness = await workingRun(plane);
    const payload = { latency_ms: 12.6, is_error: true, detail: "d", start_ts: AT, finish_ts: "2026-05-18T19:00:01Z" };
    const event = { event_uuid: "e", event_name: "agent_started", timestamp: AT, payload };
    expect((await harness.event(event)).status).toBe(200);
    const { latency_ms: _, ...rest } = payload;
    expect((await readEvents(harness.run_id)).at(-1)).toMatchObject({
      event_uuid: "e",
      event_type: "agent_started",
      payload: { ...rest, duration_ms: 13 },
    });
  });
});

describe("a cancelled execution", () => {
  it("is stopped by heartbeats of its own harness, which alone can confirm the stop", async () => {
    const envelope = await plane.dispatch(await createRun(plane));
    const [own, other] = ["own", "other"].map((instance) => createHarness(plane, envelope, instance));
    if (!own || !other) throw new Error("there are two harnesses");
    await own.resolve();
    await user.post(`/agent/runs/${own.run_id}/cancel`);
    expect((await other.beat()).status).toBe(409);
    expect((await own.beat()).body).toMatchObject({ cancel: true });
    expect((await other.shutDown()).status).toBe(409);
    expect(await readTimeline(plane, own.run_id)).not.toContain("run_stopped");
    expect((await own.shutDown()).status).toBe(200);
    expect(await readTimeline(plane, own.run_id)).toContain("run_stopped");
  });

  it.each([
    ["", 200, true],
    ["?force=true", 401, false],
  ])(
    "that shuts down while it is cancelled%s gets %i, and confirms its stop: %j",
    async (query, status, isConfirmed) => {
      const harness = await workingRun(plane);
      const response = await withWriteInBetween(
        plane,
        isHeadUpdate,
        () => user.post(`/agent/runs/${harness.run_id}/cancel${query}`),
        () => harness.shutDown(),
      );
      expect(response.status).toBe(status);
      expect(await readState(plane, harness.run_id)).toBe("CANCELLED");
      expect((await readTimeline(plane, harness.run_id)).includes("run_stopped")).toBe(isConfirmed);
    },
  );
});

describe("an execution that finishes", () => {
  it("gets no follow-up that its heartbeat has already confirmed", async () => {
    const harness = await workingRun(plane);
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "more" });
    await harness.beat(1);
    const response = await harness.support("finish-task", { success: true, summary: "done", followups_stored: 0 });
    expect(response).toMatchObject({ status: 200, body: {} });
    expect(response.body).not.toHaveProperty("followups");
    expect(await readState(plane, harness.run_id)).toBe("SUCCEEDED");
  });
});

describe("the sandbox of a self-hosted worker", () => {
  it.each<readonly [string, (harness: Harness) => Promise<ResponseBody>, boolean]>([
    ["finishes", (harness) => harness.finish(), false],
    ["shuts down", (harness) => harness.shutDown(), true],
  ])("is recorded to be stopped if its execution %s, unless it finished", async (_, end, hasStops) => {
    const harness = await workingRun(plane);
    const set = { sandbox: { provider: "worker", handle: "connection" } };
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set });
    expect((await end(harness)).status).toBe(200);
    expect("stops" in ((await readHead(harness.run_id)) ?? {})).toBe(hasStops);
  });
});

describe("an execution that a follow-up starts", () => {
  it.each([
    [{ mode: "plan" }, "plan"],
    [{}, "normal"],
  ])("has the mode that %j requests: %s", async (more, mode) => {
    const harness = await workingRun(plane);
    await harness.finish();
    await user.post(`/agent/runs/${harness.run_id}/followups`, { message: "more", ...more });
    expect((await (await nextExecution(plane)).resolve()).body.context.mode).toBe(mode);
  });
});

describe("the sandbox of an earlier execution", () => {
  it("does not confirm the stop of the cancelled execution when it stops", async () => {
    plane.offered.splice(0, 1, "microvm");
    const first = await workingRun(plane);
    await first.shutDown();
    const second = await nextExecution(plane);
    await second.resolve();
    await user.post(`/agent/runs/${first.run_id}/cancel`);
    const stopped = async ({ execution_id }: Harness) => {
      const head = await plane.ports.runs.head(first.run_id);
      if (head === undefined) throw new Error("the run does not exist");
      await removeStops(head, new Set([execution_id]), new Set(), plane.ports);
      return (await readTimeline(plane, first.run_id)).filter((type) => type === "run_stopped").length;
    };
    expect(await stopped(first)).toBe(0);
    expect(await readHead(first.run_id)).toMatchObject({ stop_pending: true });
    expect(await stopped(second)).toBe(1);
    expect(await readHead(first.run_id)).not.toHaveProperty("stop_pending");
  });
});
