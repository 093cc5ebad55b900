import { once } from "node:events";
import { PassThrough, type Writable } from "node:stream";
import { afterEach, describe, expect, it, vi } from "vitest";
import { streamEvents } from "#functions/runs/stream-events.ts";
import { eventSources } from "#infra/event-sources.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";
import { withRights } from "../../support/rights.ts";
import { startSession } from "../../support/web-sessions.ts";

const SECRET = "a-secret-of-the-origin";
const ORIGIN = { "runyard-origin-secret": SECRET, "runyard-viewer-host": "runs.example.com" };

const createPorts = ({ ports }: TestControlPlane) => ({ ...ports, streamSeconds: 870, originSecret: SECRET });

const createEvent = (plane: TestControlPlane, runId: string, more: Parameters<typeof httpEvent>[0] = {}) =>
  httpEvent({ key: plane.key, rawPath: `/api/v1/agent/runs/${runId}/events`, headers: ORIGIN, ...more });

/** Calls the function with its own rights. */
const call = (plane: TestControlPlane, event: ReturnType<typeof httpEvent>) =>
  withRights("stream-events", eventSources.streamEvents.rights, () => streamEvents.handle(event, createPorts(plane)));

const send = ({ support, execution_id }: Harness, text: string) =>
  support("live", { execution_id, frames: [{ action_id: "action-1", stream: "stdout", offset: 0, text }] });

describe("stream-events", () => {
  it("responds like the route of the API to requests through CloudFront", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const query = "after=2&live=true";
    await call(plane, createEvent(plane, harness.run_id, { query }));
    await send(harness, "line 1\n");
    const { statusCode, headers, body } = await call(plane, createEvent(plane, harness.run_id, { query }));
    expect({ statusCode, type: headers?.["content-type"] }).toEqual({ statusCode: 200, type: "application/json" });
    const { events, live } = JSON.parse(body ?? "");
    expect({ first: events[0].sequence, live }).toMatchObject({ first: 3, live: [{ text: "line 1\n" }] });
  });

  it("accepts the session of the web app, whose cookie a function URL passes apart from the headers", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const { cookie } = await startSession(plane);
    const event = createEvent(plane, harness.run_id, { key: undefined });
    expect((await call(plane, event)).statusCode).toBe(401);
    expect((await call(plane, { ...event, cookies: ["theme=dark", cookie] })).statusCode).toBe(200);
  });

  it("uses the caller's host name in problems", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const response = await call(plane, createEvent(plane, harness.run_id, { key: undefined }));
    expect(response.statusCode).toBe(401);
    expect(JSON.parse(response.body ?? "").type).toMatch(/^https:\/\/runs\.example\.com\/api\/v1\/docs\/errors\//);
  });

  it.each([
    ["without the secret", { headers: {} }, 403],
    ["with another secret", { headers: { "runyard-origin-secret": "guessed" } }, 403],
    ["of another path", { rawPath: "/api/v1/agent/runs" }, 404],
    ["with another method", { method: "POST", body: {} }, 405],
    ["with a key of another team", {}, 404],
    ["for a malformed id", { rawPath: "/api/v1/agent/runs/x/events" }, 404],
  ])("refuses requests %s", async (name, more, status) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const key = name.includes("another team") ? { key: plane.otherKey } : {};
    const response = await call(plane, createEvent(plane, harness.run_id, { ...more, ...key }));
    expect(response.statusCode).toBe(status);
    expect(JSON.parse(response.body ?? "")).toMatchObject({ status });
  });
});

describe("stream-events on Lambda", () => {
  afterEach(() => vi.unstubAllGlobals());

  it("writes events as they occur, and stops when the caller has disconnected", async () => {
    const metadata: unknown[] = [];
    vi.stubGlobal("awslambda", {
      streamifyResponse: (handler: unknown) => handler,
      HttpResponseStream: {
        from(stream: Writable, given: unknown) {
          metadata.push(given);
          return stream;
        },
      },
    });
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const handler: unknown = streamEvents.lambda(() => createPorts(plane));
    if (typeof handler !== "function") throw new TypeError("no handler");
    const headers = { ...ORIGIN, accept: "text/event-stream" };
    const out = new PassThrough();
    const done = Promise.resolve(handler(createEvent(plane, harness.run_id, { query: "live=true", headers }), out));
    let text = "";
    out.on("data", (chunk) => {
      text += String(chunk);
    });
    const until = async (part: string) => {
      while (!text.includes(part)) await once(out, "data");
    };
    await until('"type":"run_created"');
    expect(metadata).toMatchObject([
      { statusCode: 200, headers: { "content-type": "text/event-stream; charset=utf-8" } },
    ]);
    while (!(await send(harness, "line 1\n")).body.watched);
    await until("event: live");
    expect(text).toContain('data: {"action_id":"action-1","stream":"stdout","offset":0,"text":"line 1\\n"}');
    out.destroy(new Error("gone"));
    // A caller that has disconnected is noticed when the next comment is due.
    plane.clock.now += 15_000;
    await expect(done).rejects.toThrow();
  });

  it("ends the response with the run", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await harness.finish();
    const headers = { ...ORIGIN, accept: "text/event-stream" };
    const { body } = await call(plane, createEvent(plane, harness.run_id, { headers }));
    expect(body).toMatch(/^retry: 1000\n\nid: 1\n/);
    expect(body).toMatch(/event: end\ndata: \{"next":\d+,"ended":true\}\n\n$/);
  });
});
