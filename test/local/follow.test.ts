import http from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { followRun } from "../../server/host/sample/follow.ts";

const at = "2026-05-18T19:00:01.000Z";
const run = {
  ...{ run_id: "r1", root_run_id: "r1", task_id: "r1", title: "", state: "SUCCEEDED", prompt: "" },
  ...{ created_at: at, updated_at: at, finished_at: at, archived: false, pending_followups: 0 },
};
const event = (sequence: number, state: string) => ({
  sequence,
  type: "run_created",
  occurred_at: at,
  data: { state },
});

describe("followRun", () => {
  let paths: string[] = [];
  let pages: (object | undefined)[] = [];
  let server: http.Server;
  let baseUrl: string;

  beforeAll(async () => {
    server = http.createServer((request, response) => {
      paths.push(request.url ?? "");
      const body = request.url?.includes("/events") ? pages.shift() : run;
      response.writeHead(body === undefined ? 503 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(body ?? { error: "busy" }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    baseUrl = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
  });
  beforeEach(() => {
    paths = [];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const options = { runId: "r1", since: Date.parse(at) };

  test("continues after the last received event, through failures, to the end", async () => {
    pages = [
      { events: [event(1, "QUEUED"), event(2, "PENDING")], next: 2, ended: false },
      undefined,
      { events: [], next: 2, ended: false },
      { events: [event(3, "SUCCEEDED")], next: 3, ended: true },
    ];
    const lines: string[] = [];
    const { run: ended } = await followRun({ baseUrl, key: "k" }, { ...options, print: (line) => lines.push(line) });
    expect(ended.state).toBe("SUCCEEDED");
    expect(lines).toHaveLength(3);
    expect(paths).toEqual([
      "/agent/runs/r1/events?after=0&wait=20",
      ...Array.from({ length: 3 }, () => "/agent/runs/r1/events?after=2&wait=20"),
      "/agent/runs/r1",
    ]);
  });

  test("stops immediately on request", async () => {
    const signal = AbortSignal.abort();
    await expect(followRun({ baseUrl, key: "k", signal }, { ...options, print: () => {} })).rejects.toThrow("aborted");
    expect(paths).toEqual([]);
  });

  test("gives up when the service stays unavailable", async () => {
    pages = [];
    await expect(followRun({ baseUrl, key: "k" }, { ...options, print: () => {} })).rejects.toThrow(
      "returned 503: busy",
    );
    expect(paths).toHaveLength(5);
  });
});
