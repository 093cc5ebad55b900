import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ControlPlane, createControlPlane, Refused } from "#harness/control-plane/control-plane.ts";
import type { Envelope } from "#shared/wire/harness.ts";

vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

interface Call {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

let service: Server;
let plane: ControlPlane;
let calls: Call[] = [];
/** The response to the next calls. */
let response: { status: number; body: unknown; headers?: Record<string, string> };
let isHanging = false;

beforeEach(async () => {
  [calls, isHanging, response] = [[], false, { status: 200, body: {} }];
  service = createServer(async (request, result) => {
    let text = "";
    for await (const piece of request) text += piece;
    const { method, url, headers } = request;
    calls.push({ method, url, headers, body: text === "" ? undefined : JSON.parse(text) });
    const { status, body, headers: own = {} } = response;
    if (!isHanging) result.writeHead(status, own).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const address = service.address();
  const base_url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/api/v1`;
  const envelope: Envelope = {
    version: 1,
    run_id: "run-1",
    execution_id: "execution-1",
    key: "ryr_key",
    base_url,
    model_url: base_url,
  };
  plane = createControlPlane(envelope, "instance-1", new AbortController().signal);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  service.closeAllConnections();
  service.close();
});

const EXECUTION = { execution_id: "execution-1" };
const TARGET = { url: "https://storage.example/a", method: "PUT", headers: null };
const EVENT = {
  event_uuid: "01234567-89ab-4cde-8f01-23456789abcd",
  event_name: "model_retry",
  timestamp: "2026-11-23T08:00:00.000Z",
} as const;
const FINAL = { "x-should-retry": "false" };

describe("a call of the control plane", () => {
  it.each<[string, () => Promise<unknown>, string, unknown, unknown, unknown]>([
    [
      "noteSkill",
      () => plane.noteSkill({ name: "a", content: "b", path: "c" }),
      "/harness-support/resolve-prompt",
      { skill: { name: "a", content: "b", path: "c" } },
      { prompt: "Do it." },
      undefined,
    ],
    [
      "resolvePrompt",
      () => plane.resolvePrompt(),
      "/harness-support/resolve-prompt",
      {},
      { prompt: "Do it." },
      { prompt: "Do it." },
    ],
    ["sendEvent", () => plane.sendEvent(EVENT), "/agent/runs/run-1/client-events", EVENT, {}, undefined],
    [
      "sendMessages",
      () => plane.sendMessages(7, [{ role: "user", content: [] }]),
      "/harness-support/messages",
      { ...EXECUTION, first_sequence: 7, messages: [{ role: "user", content: [] }] },
      { next_sequence: 8 },
      8,
    ],
    [
      "commitSnapshot",
      () => plane.commitSnapshot({ generation: "a", files: ["b"] }),
      "/harness-support/commit-snapshot",
      { generation: "a", files: ["b"] },
      { generation: "a" },
      undefined,
    ],
    [
      "uploadSnapshot",
      () => plane.uploadSnapshot({ mode: "checkpoint", generation: "a", files: [] }),
      "/harness-support/upload-snapshot",
      { mode: "checkpoint", generation: "a", files: [] },
      { uploads: [TARGET] },
      { uploads: [TARGET] },
    ],
    ["notifyUser", () => plane.notifyUser("a"), "/harness-support/notify-user", { message: "a" }, {}, undefined],
    [
      "externalConversation",
      () => plane.externalConversation("codex"),
      "/harness-support/external-conversation",
      { format: "codex" },
      { conversation_id: "a" },
      undefined,
    ],
    [
      "transcriptTarget",
      () => plane.transcriptTarget({ conversation_id: "a", size_bytes: 1, sha256: "b" }),
      "/harness-support/transcript",
      { conversation_id: "a", size_bytes: 1, sha256: "b" },
      TARGET,
      TARGET,
    ],
    [
      "finishTask",
      () => plane.finishTask({ success: true, summary: "a" }),
      "/harness-support/finish-task",
      { success: true, summary: "a" },
      { followups: [], waiting: true },
      { followups: [], waiting: true },
    ],
    ["reportShutdown", () => plane.reportShutdown(), "/harness-support/report-shutdown", {}, {}, undefined],
    [
      "reportShutdown with an error",
      () => plane.reportShutdown({ category: "a", message: "b" }),
      "/harness-support/report-shutdown",
      { error: { category: "a", message: "b" } },
      {},
      undefined,
    ],
  ])("%s has its path and body, and returns its result", async (_, send, path, body, given, returned) => {
    response.body = given;
    expect(await send()).toEqual(returned);
    expect(calls).toMatchObject([{ method: "POST", url: `/api/v1${path}` }]);
    expect(calls[0]?.body).toEqual(body);
  });

  it("reports whether live output is being read", async () => {
    const reported: boolean[] = [];
    response.body = { watched: true };
    await plane.sendLive([]);
    plane.onWatched((isWatched) => reported.push(isWatched));
    await plane.sendLive([]);
    response.body = { watched: false };
    await plane.sendLive([]);
    response.body = { next_sequence: 1, watched: true };
    await plane.sendMessages(1, []);
    response.body = { followups: [], cancel: false, next_heartbeat_seconds: 5 };
    await plane.heartbeat(0);
    response.body = { followups: [], cancel: false, next_heartbeat_seconds: 5, watched: true };
    await plane.heartbeat(0);
    response = { status: 503, body: "" };
    await expect(plane.sendLive([])).rejects.toThrow("/harness-support/live could not be called: status 503");
    expect(reported).toEqual([true, false, true, false, true, false]);
    expect(calls.map(({ url }) => url?.replace("/api/v1/harness-support/", ""))).toEqual([
      ...["live", "live", "live", "messages", "heartbeat", "heartbeat", "live"],
    ]);
    expect(calls[0]?.body).toEqual({ ...EXECUTION, frames: [] });
  });

  it.each([
    ["another call", () => plane.notifyUser("a"), 60_000, 15_000],
    ["live output", () => plane.sendLive([]), 0, 5_000],
    ["the final message", () => plane.reportShutdown(), 5_000, 3_000],
    ["the raw transcript", () => plane.transcriptUrl(), 60_000, 15_000],
  ])("has its own limits: %s", async (_, send, giveUpAfterMs, attemptMs) => {
    const limit = vi.spyOn(AbortSignal, "timeout");
    // The service requests a delay that is longer than the total time of all attempts.
    vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
    vi.spyOn(Math, "random").mockReturnValue(0);
    response = { status: 503, body: "", headers: { "retry-after": String((giveUpAfterMs + 1) / 1_000) } };
    await expect(send()).rejects.toThrow("could not be called: status 503");
    expect([calls.length, limit.mock.calls[0]]).toEqual([1, [attemptMs]]);
  });

  it("reports what the service refused", async () => {
    const notify = () => plane.notifyUser("a").catch((error: unknown) => error);
    response = { status: 403, body: { detail: "No budget is left." }, headers: FINAL };
    const refusal = '/harness-support/notify-user returned 403 {"detail":"No budget is left."}';
    const refused = await notify();
    expect(refused).toBeInstanceOf(Refused);
    expect(refused).toMatchObject({
      name: "Refused",
      kind: "unreachable",
      message: refusal,
      detail: "No budget is left.",
    });
    response = { status: 400, body: "x".repeat(600), headers: FINAL };
    const long = `/harness-support/notify-user returned 400 ${"x".repeat(500)}`;
    expect(await notify()).toMatchObject({ name: "Refused", message: long, detail: long });
    response = { status: 500, body: "broken", headers: FINAL };
    const broken = await notify();
    expect(broken).not.toBeInstanceOf(Refused);
    expect(broken).toMatchObject({
      name: "Stop",
      kind: "unreachable",
      message: "/harness-support/notify-user returned 500 broken",
    });
    response = { status: 409, body: {}, headers: FINAL };
    expect(await notify()).toMatchObject({ name: "Refused", kind: "unreachable" });
    response = { status: 200, body: "no JSON" };
    expect(await notify()).toMatchObject({
      kind: "unreachable",
      message: "/harness-support/notify-user returned a response that this harness cannot parse",
    });
  });

  it("finds the raw transcript without following its redirect", async () => {
    response = { status: 302, body: "", headers: { location: "http://127.0.0.1:1/a" } };
    expect(await plane.transcriptUrl()).toBe("http://127.0.0.1:1/a");
    expect(calls).toMatchObject([
      {
        method: "GET",
        url: "/api/v1/harness-support/transcript",
        headers: { authorization: "Bearer ryr_key", "runyard-instance": "instance-1", "runyard-protocol": "1" },
      },
    ]);
    for (const status of [400, 404]) {
      response = { status, body: "" };
      expect(await plane.transcriptUrl()).toBeUndefined();
    }
    response = { status: 302, body: "" };
    expect(await plane.transcriptUrl()).toBeUndefined();
    response = { status: 401, body: "" };
    await expect(plane.transcriptUrl()).rejects.toMatchObject({ kind: "stale" });
    response = { status: 403, body: { detail: "no" }, headers: FINAL };
    await expect(plane.transcriptUrl()).rejects.toMatchObject({ name: "Refused", detail: "no" });
  });
});
