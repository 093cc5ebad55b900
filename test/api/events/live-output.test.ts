import { describe, expect, it } from "vitest";
import { findRoute, loadEndpoint, request } from "../../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";
import { Faults } from "../../support/faults.ts";

const STREAM = { accept: "text/event-stream" };

const frame = (offset: number, text: string, more: Record<string, unknown> = {}) => ({
  action_id: "action-1",
  stream: "stdout",
  offset,
  text,
  ...more,
});

const send = ({ support, execution_id }: Harness, ...frames: object[]) => support("live", { execution_id, frames });

const read = (plane: TestControlPlane, runId: string, query = "after=99&live=true") =>
  request(plane, "GET", `/agent/runs/${runId}/events?${query}`);

/** The result of an action, which ends its live output. */
const result = (id: string) => ({
  role: "tool",
  content: [
    { type: "action_result", action_id: id, category: "command", name: "run_command", state: "completed", output: {} },
  ],
});

describe("POST /harness-support/live", () => {
  // @contract live.watched: Live output is sent only while somebody watches the run.
  it("stores nothing for an unwatched run", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    expect((await send(harness, frame(0, "line 1\n"))).body).toEqual({ watched: false });
    expect((await read(plane, harness.run_id)).body.live).toEqual([]);
    expect((await send(harness, frame(0, "line 1\n"))).body).toEqual({ watched: true });
    expect((await read(plane, harness.run_id)).body.live).toEqual([frame(0, "line 1\n")]);
  });

  // @contract live.watched
  it("reports the run as unwatched 30 seconds after the last reader, like heartbeats and messages", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await read(plane, harness.run_id);
    plane.clock.now += 29_000;
    expect((await harness.beat()).body).toMatchObject({ watched: true, next_heartbeat_seconds: 5 });
    expect((await harness.messages(1, "hello")).body).toMatchObject({ watched: true });
    plane.clock.now += 1_000;
    expect((await harness.beat()).body).toMatchObject({ watched: false, next_heartbeat_seconds: 9 });
    expect((await harness.messages(2, "hello")).body).toMatchObject({ watched: false });
    expect((await send(harness, frame(0, "line 1\n"))).body).toEqual({ watched: false });
  });

  it("appends frames by their offsets: repeats change nothing, and after a gap the tail starts with the frame", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const { body: first } = await read(plane, harness.run_id);
    await send(harness, frame(0, "äb\n"), frame(0, "äb\n"), frame(2, "b\nc"));
    const { body: second } = await read(plane, harness.run_id, `after=99&live=true&live_after=${first.live_next}`);
    expect(second.live).toEqual([frame(0, "äb\nc")]);
    await send(harness, frame(5, "d"));
    const { body: third } = await read(plane, harness.run_id, `after=99&live=true&live_after=${second.live_next}`);
    expect(third.live).toEqual([frame(5, "d")]);
    await send(harness, frame(100, "after a gap"));
    expect((await read(plane, harness.run_id)).body.live).toEqual([frame(100, "after a gap")]);
  });

  // @contract live.kept: At most 16 KB of a stream are kept, and none once the result is stored.
  it("keeps the last 16 KiB of each of the 8 latest streams", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await read(plane, harness.run_id);
    await send(harness, frame(0, "ä".repeat(8_000)), frame(16_000, "b".repeat(1_000)));
    const [tail] = (await read(plane, harness.run_id)).body.live;
    expect(Buffer.byteLength(tail.text)).toBe(16_384);
    expect(tail.offset).toBe(17_000 - 16_384);
    for (let number = 2; number <= 12; number++) await send(harness, frame(0, "x", { action_id: `action-${number}` }));
    const ids = (await read(plane, harness.run_id)).body.live.map(({ action_id }: { action_id: string }) => action_id);
    expect(ids).toEqual(Array.from({ length: 8 }, (_, index) => `action-${index + 5}`));
  });

  it.each([
    ["a frame without an id", [{ stream: "stdout", offset: 0, text: "a" }]],
    ["a frame with two ids", [frame(0, "a", { message_id: "b" })]],
    ["too many frames", Array.from({ length: 17 }, () => frame(0, "a"))],
    ["no frames", []],
    ["a long text", [frame(0, "a".repeat(16_385))]],
    ["a stream of another name", [frame(0, "a", { stream: "stdin" })]],
    ["an offset below 0", [frame(-1, "a")]],
    ["an offset that is not exact", [frame(2 ** 60, "a")]],
    ["NUL", [frame(0, "a\0")]],
  ])("returns 400 for %s", async (_, frames) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    expect((await send(harness, ...frames)).status).toBe(400);
  });

  // @contract live.kept
  it("drops output when its result is stored, another execution sends, or no one reads for a minute", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await read(plane, harness.run_id);
    await send(harness, frame(0, "first"), frame(0, "second", { action_id: "action-2" }));
    const body = { execution_id: harness.execution_id, first_sequence: 1, messages: [result("action-1")] };
    expect((await harness.support("messages", body)).status).toBe(200);
    const after = (await read(plane, harness.run_id)).body.live;
    expect(after.map(({ text }: { text: string }) => text)).toEqual(["second"]);
    plane.clock.now += 60_000;
    expect((await read(plane, harness.run_id)).body.live).toEqual([]);
  });

  it("drops output that an execution stores before it continues with a follow-up", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const { run_id } = harness;
    await read(plane, run_id);
    await send(harness, frame(0, "line 1\n"));
    expect((await read(plane, run_id)).body.live).toHaveLength(1);
    await request(plane, "POST", `/agent/runs/${run_id}/followups`, { body: { message: "more" } });
    const messages = { first_sequence: 1, messages: [result("action-1")], followups_stored: 0 };
    const response = await harness.support("finish-task", { success: true, summary: "done", ...messages });
    expect(response.body).toMatchObject({ followups: [{ number: 1 }] });
    expect((await read(plane, run_id)).body.live).toEqual([]);
  });

  it("drops output that is stored within a minute after the last reader", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await read(plane, harness.run_id);
    await send(harness, frame(0, "line 1\n"));
    plane.clock.now += 45_000;
    const batch = { execution_id: harness.execution_id, first_sequence: 1, messages: [result("action-1")] };
    expect((await harness.support("messages", batch)).status).toBe(200);
    expect((await read(plane, harness.run_id)).body.live).toEqual([]);
  });

  it("makes no call to AWS for an unwatched run", async () => {
    const count = async (isWatched: boolean) => {
      const faults = new Faults();
      const plane = await createTestControlPlane(undefined, faults.around);
      const harness = await workingRun(plane);
      if (isWatched) await read(plane, harness.run_id);
      await faults.invoke("heartbeat", () => harness.beat());
      await faults.invoke("append-messages", async () =>
        harness.support("messages", { execution_id: harness.execution_id, first_sequence: 1, messages: [result("a")] }),
      );
      return faults.calls;
    };
    expect(await count(false)).toEqual([
      "heartbeat: get RUN/HEAD",
      "append-messages: get RUN/HEAD",
      "append-messages: transact update:RUN/HEAD put:RUN/MESSAGES",
    ]);
    expect(await count(true)).toContain("append-messages: live.finish");
  });
});

/** Reads a stream of events piece by piece. */
async function openStream(plane: TestControlPlane, runId: string, query: string, headers: Record<string, string> = {}) {
  const path = `/agent/runs/${runId}/events`;
  const found = findRoute("GET", path);
  if (found === undefined) throw new Error("no route matches");
  const endpoint = await loadEndpoint(found.route);
  const options = { key: plane.key, rawPath: `/api/v1${path}`, query, headers: { ...STREAM, ...headers } };
  const event = httpEvent({ ...options, path: found.parameters });
  const response = await endpoint.handle(event, { ...plane.ports, streamSeconds: 900 });
  if (response.stream === undefined) throw new Error(`there is no stream: ${response.body}`);
  const { stream } = response;
  const next = async (): Promise<string> => {
    const { value } = await stream.next();
    return value ?? "";
  };
  return { response, next, close: () => stream.return() };
}

// @contract events.stream: The events of a run are also a text/event-stream, with a comment every 15 seconds, that ends with the run or after 15 minutes.
describe("GET /agent/runs/{runId}/events with Accept: text/event-stream", () => {
  it("streams events with their numbers, then live output, and ends with the run", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const { response, next } = await openStream(plane, harness.run_id, "live=true", { "last-event-id": "1" });
    expect(response.headers).toMatchObject({ "content-type": "text/event-stream; charset=utf-8" });
    expect(await next()).toBe("retry: 1000\n\n");
    expect(await next()).toMatch(/^id: 2\ndata: \{"sequence":2,"type":"run_pending",.*\}\n\n$/);
    let piece = await next();
    while (!piece.includes("worker_container_ready")) piece = await next();
    expect((await send(harness, frame(0, "line 1\n"))).body).toEqual({ watched: true });
    while (!piece.startsWith("event: live")) piece = await next();
    expect(piece).toBe(`event: live\ndata: ${JSON.stringify(frame(0, "line 1\n"))}\n\n`);
    await harness.finish();
    while (piece.startsWith("id:") || !piece.startsWith("event: end")) piece = await next();
    expect(piece).toMatch(/^event: end\ndata: \{"next":\d+,"ended":true\}\n\n$/);
    expect(await next()).toBe("");
  });

  it("sends a comment every 15 seconds, and ends after 15 minutes with the time of the next connection", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const { next } = await openStream(plane, harness.run_id, "after=99");
    expect(await next()).toBe("retry: 1000\n\n");
    plane.clock.now += 15_000;
    expect(await next()).toBe(": waiting\n\n");
    plane.clock.now += 15 * 60_000;
    let last = "";
    for (let piece = await next(); piece !== ""; piece = await next()) last = piece;
    expect(last).toBe("retry: 1000\n\n");
  });

  it("responds with JSON where the deployment cannot stream", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const response = await request(plane, "GET", `/agent/runs/${harness.run_id}/events`, { headers: STREAM });
    expect(response.body.events).not.toEqual([]);
  });
});
