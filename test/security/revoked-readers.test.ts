import { beforeEach, describe, expect, it } from "vitest";
import { listEvents } from "#functions/runs/list-events.ts";
import { hashKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import { request as send } from "../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../support/control-plane.ts";
import { type Harness, workingRun } from "../support/execution.ts";
import { startSession } from "../support/web-sessions.ts";

let plane: TestControlPlane;
let harness: Harness;
beforeEach(async () => {
  plane = await createTestControlPlane();
  harness = await workingRun(plane);
});

interface Reader {
  readonly key: string | undefined;
  readonly headers?: Record<string, string>;
  /** Ends the reader's access. */
  revoke(): Promise<unknown>;
}

const deleteKey = (key: string) => plane.table.write({ kind: "delete", key: keys.apiKey(hashKey(key)) });

/** Readers of the events of a team's run, whose access ends while they read. */
const READERS: Record<string, () => Promise<Reader>> = {
  "a member who is removed": async () => {
    const { uid, key } = await plane.person("Bo");
    return { key, revoke: () => plane.removeMember(uid).then(() => forgetTeam(uid)) };
  },
  "a member whose key is deleted": async () => {
    const { key } = await plane.person("Bo");
    return { key, revoke: () => deleteKey(key) };
  },
  "an agent whose key is deleted": async () => {
    const { key } = await plane.agent();
    return { key, revoke: () => deleteKey(key) };
  },
  "a person who signs out of the web app": async () => {
    const { cookie, end } = await openSession();
    return { key: undefined, headers: { cookie }, revoke: end };
  },
};

/** What removal of a member changes in the profile, which requests read. */
const forgetTeam = (uid: string) => plane.table.write({ kind: "update", key: keys.user(uid), set: { teams: {} } });

async function openSession() {
  const { cookie, headers } = await startSession(plane);
  return { cookie, end: () => send(plane, "DELETE", "/session", { key: undefined, headers }) };
}

/** Ports whose readers are woken by the test, and by nothing else. */
function createWokenPorts() {
  let woken = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const next = async () => {
    asked.resolve();
    await woken.promise;
    woken = Promise.withResolvers<void>();
  };
  const signals = { subscribe: () => ({ next, close: () => {} }) };
  return {
    ports: { ...plane.ports, signals, streamSeconds: 60 },
    wake: () => woken.resolve(),
    /** Resolves when a reader waits. */
    waits: asked.promise,
  };
}

const request = ({ key, headers = {} }: Reader, query: string, accept = "application/json") =>
  httpEvent({
    key,
    rawPath: `/api/v1/agent/runs/${harness.run_id}/events`,
    path: { runId: harness.run_id },
    query,
    headers: { accept, ...headers },
  });

/** Reads a stream up to the text, or to its end. */
async function readTo(stream: AsyncIterator<string>, text: string): Promise<string> {
  let read = "";
  while (!read.includes(text)) {
    const { done, value } = await stream.next();
    if (done === true) return read;
    read += value;
  }
  return read;
}

describe("a stream of events", () => {
  it.each(Object.entries(READERS))("ends before it delivers anything more to %s", async (_, create) => {
    const reader = await create();
    const { ports, wake } = createWokenPorts();
    const { statusCode, stream } = await listEvents.handle(request(reader, "live=true", "text/event-stream"), ports);
    expect(statusCode).toBe(200);
    const events = stream?.[Symbol.asyncIterator]();
    if (events === undefined) throw new Error("the response is no stream");
    expect(await readTo(events, "worker_container_ready")).toContain("run_created");
    const rest = readTo(events, "for members only");
    await harness.messages(1, "first");
    wake();
    await reader.revoke();
    await harness.messages(2, "for members only");
    wake();
    expect(await rest).not.toContain("for members only");
  });

  it("goes on for a reader who may still read", async () => {
    const { key } = await plane.person("Bo");
    const { ports, wake } = createWokenPorts();
    const { stream } = await listEvents.handle(
      request({ key, revoke: async () => {} }, "live=true", "text/event-stream"),
      ports,
    );
    const events = stream?.[Symbol.asyncIterator]();
    if (events === undefined) throw new Error("the response is no stream");
    await readTo(events, "worker_container_ready");
    const rest = readTo(events, "for members only");
    await harness.messages(1, "for members only");
    wake();
    expect(await rest).toContain("for members only");
  });
});

describe("a request that waits for events", () => {
  it.each(Object.entries(READERS))("is refused when it is woken, for %s", async (_, create) => {
    const reader = await create();
    const { ports, wake, waits } = createWokenPorts();
    const after = (await plane.ports.runs.head(harness.run_id))?.next_sequence ?? 1;
    const waiting = listEvents.handle(request(reader, `after=${after - 1}&wait=25`), ports);
    await waits;
    await reader.revoke();
    await harness.messages(1, "for members only");
    wake();
    const { statusCode, body } = await waiting;
    expect([401, 404]).toContain(statusCode);
    expect(body).not.toContain("for members only");
  });
});
