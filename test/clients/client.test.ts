import { getEventListeners } from "node:events";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import * as index from "../../clients/typescript/src/index.ts";
import {
  APIConnectionError,
  APIError,
  APIUserAbortError,
  type ClientOptions,
  NotFoundError,
  type Page,
  Runyard,
  RunyardError,
} from "../../clients/typescript/src/index.ts";
import { sleep, waitBeforeRepeat } from "../../clients/typescript/src/retry.ts";
import { FaultServer } from "./fault-server.ts";

const server = new FaultServer();
beforeAll(() => server.start());
afterAll(() => server.stop());
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

const RUN = { run_id: "r1", task_id: "r1", state: "QUEUED" };
const createClient = (options: ClientOptions = {}) =>
  new Runyard({ baseURL: server.api, apiKey: "ryp_secret", ...options });
const play = (...responses: Parameters<FaultServer["play"]>[0]) => server.play(responses);
const result = (body: unknown, more = {}) => ({
  at: "api" as const,
  status: 200,
  headers: {},
  body,
  delay_ms: 0,
  stall_ms: 0,
  ...more,
});

const INVALID_KEY = new RunyardError("The API key has characters that no key has, such as a line break.");

describe("the warnings of a response", () => {
  const warnings = [{ code: "unknown_member", path: "promt", message: "did you mean prompt?" }];

  it("are passed to onWarnings", async () => {
    const received: unknown[] = [];
    const client = createClient({ onWarnings: (some) => received.push(some) });
    play(result({ ...RUN, warnings }), result({ ...RUN, warnings: "none" }), result({ ...RUN, warnings: [7, null] }));
    for (let call = 0; call < 3; call++) await client.runs.create({ prompt: "x" });
    expect(received).toEqual([warnings]);
  });

  it("are printed without onWarnings", async () => {
    const warn = vi.spyOn(console, "warn").mockReturnValue();
    play(result({ ...RUN, warnings }));
    await createClient().runs.create({ prompt: "x" });
    expect(warn.mock.calls).toEqual([["Runyard: promt: did you mean prompt?"]]);
  });
});

describe("new Runyard()", () => {
  it("reads key and address from the environment, and accepts an address with a trailing slash", async () => {
    vi.stubEnv("RUNYARD_API_KEY", "ryp_environment");
    vi.stubEnv("RUNYARD_BASE_URL", `${server.api}/`);
    play(result(RUN));
    expect(new Runyard().baseURL).toBe(server.api);
    await new Runyard().runs.retrieve("r1");
    expect(server.seen[0]).toMatchObject({
      path: "/agent/runs/r1",
      headers: { authorization: "Bearer ryp_environment" },
    });
  });

  it("explains what is missing and where it can come from", () => {
    vi.stubEnv("RUNYARD_API_KEY", "");
    vi.stubEnv("RUNYARD_BASE_URL", "");
    expect(() => new Runyard()).toThrow(
      new RunyardError("There is no apiKey: pass it to new Runyard({ apiKey }), or set RUNYARD_API_KEY."),
    );
    expect(() => new Runyard({ apiKey: "k" })).toThrow("set RUNYARD_BASE_URL");
  });

  it.each(["127.0.0.1:4500/api/v1", "localhost:4500", "ftp://x"])("refuses the address %s", (baseURL) => {
    expect(() => createClient({ baseURL })).toThrow(
      new RunyardError(`The baseURL must begin with http:// or https://, not "${baseURL}".`),
    );
    expect(createClient({ baseURL: "/api/v1" }).baseURL).toBe("/api/v1");
  });

  it("names the base URL if the response is a web page", async () => {
    const page = result(undefined, { raw: "<!doctype html>", headers: { "content-type": "text/html; charset=utf-8" } });
    play(page);
    await expect(createClient({ maxRetries: 0 }).runs.retrieve("r1")).rejects.toThrow(
      new APIConnectionError("The response is text/html, not JSON: check that the base URL ends in /api/v1."),
    );
  });

  it("calls a function for the key of each attempt", async () => {
    const keys = ["ryp_1", "ryp_2"];
    play(result(undefined, { status: 503, headers: { "retry-after-ms": "1" } }), result(RUN));
    await createClient({ apiKey: async () => keys.shift() ?? "none" }).runs.retrieve("r1");
    expect(server.seen.map(({ headers }) => headers["authorization"])).toEqual(["Bearer ryp_1", "Bearer ryp_2"]);
  });

  it("hides the key when it or an error is printed", async () => {
    play(result({ title: "Not found" }, { status: 404 }));
    const client = createClient();
    const error: unknown = await client.runs.retrieve("r1").catch((caught: unknown) => caught);
    const shown = [client, client.runs, error].map((value) => inspect(value, { depth: 9, showHidden: true })).join();
    expect(shown + JSON.stringify(client)).not.toContain("ryp_secret");
  });

  it.each(["ryp_secret\nbreak", "ryp_secret\0x", "ryp_secret é", " "])(
    "refuses the key %j without its value",
    async (key) => {
      play();
      expect(() => createClient({ apiKey: key })).toThrow(INVALID_KEY);
      const client = createClient({ apiKey: async () => key });
      await expect(client.runs.retrieve("r1")).rejects.toThrow(INVALID_KEY);
      await expect(client.runs.stream("r1").next()).rejects.toThrow(INVALID_KEY);
      expect(server.seen).toEqual([]);
    },
  );

  it("removes spaces and line breaks around the key", async () => {
    play(result(RUN), result(RUN));
    for (const apiKey of [" ryp_1\n", () => " ryp_1\n"]) await createClient({ apiKey }).runs.retrieve("r1");
    expect(server.seen.map(({ headers }) => headers["authorization"])).toEqual(["Bearer ryp_1", "Bearer ryp_1"]);
  });

  it("lists skills by either name of their group", async () => {
    const client = createClient();
    expect(client.skills).toBe(client.agents);
    play(result({ agents: [{ name: "release", variants: [] }] }));
    expect((await client.skills.list()).data).toEqual([{ name: "release", variants: [] }]);
    expect(server.seen.map(({ method, path }) => [method, path])).toEqual([["GET", "/agent"]]);
  });

  it("creates another client with other options, and keeps the rest", async () => {
    play(result(RUN), result(RUN));
    const client = createClient({ headers: { "x-one": "1" } });
    await client.withOptions({ apiKey: "rya_other", team: "t" }).runs.retrieve("r1");
    await client.runs.retrieve("r1");
    expect(
      server.seen.map(({ headers }) => [headers["authorization"], headers["x-one"], headers["x-team-uid"]]),
    ).toEqual([
      ["Bearer rya_other", "1", "t"],
      ["Bearer ryp_secret", "1", undefined],
    ]);
  });

  it("uses the given fetch", async () => {
    const urls: string[] = [];
    const fetch = async (url: string) => {
      urls.push(url);
      return Response.json({ ...RUN, state: "SUCCEEDED" });
    };
    const run = await createClient({ fetch, baseURL: "https://runyard.example/api/v1" }).runs.retrieve("r1");
    expect(urls).toEqual(["https://runyard.example/api/v1/agent/runs/r1"]);
    expect(run.state).toBe("SUCCEEDED");
  });
});

describe("a call", () => {
  it("returns its data and the response", async () => {
    play(result(RUN, { headers: { "x-request-id": "t-1" } }));
    const { data, response } = await createClient().runs.retrieve("r1").withResponse();
    expect(data).toEqual(RUN);
    expect(response.headers.get("x-request-id")).toBe("t-1");
  });

  it("returns the bare response with an unread body, but throws on an error status", async () => {
    play(result(RUN), result({ title: "Gone" }, { status: 404 }));
    const response = await createClient().runs.retrieve("r1").asResponse();
    expect(response.bodyUsed).toBe(false);
    expect(await response.json()).toEqual(RUN);
    await expect(createClient().runs.retrieve("r1").asResponse()).rejects.toBeInstanceOf(NotFoundError);
    expect(server.seen).toHaveLength(2);
  });

  it("is sent once, however often its promise is used, and also if nobody awaits it", async () => {
    play(result(RUN), result("r1"));
    const call = createClient().runs.retrieve("r1");
    expect(await Promise.all([call, call.withResponse(), call.then(({ run_id }) => run_id)])).toHaveLength(3);
    expect(server.seen).toHaveLength(1);
    void createClient().runs.cancel("r1");
    await expect.poll(() => server.seen.length).toBe(2);
    await expect(call.asResponse()).rejects.toThrow("too late");
  });

  it("is a promise: catch and finally work, and a rejection is thrown to the awaiting code", async () => {
    play(result({}, { status: 404 }), result(RUN));
    const settled: string[] = [];
    const caught = await createClient()
      .runs.retrieve("r1")
      .catch((error: unknown) => (error instanceof APIError ? error.status : undefined));
    expect(caught).toBe(404);
    await createClient()
      .runs.retrieve("r1")
      .finally(() => settled.push("done"));
    expect(settled).toEqual(["done"]);
  });

  it("has no timeout with Infinity", async () => {
    play(result(RUN, { delay_ms: 100 }));
    const run = await createClient({ timeout: Number.POSITIVE_INFINITY, maxRetries: 0 }).runs.retrieve("r1");
    expect(run.run_id).toBe("r1");
  });

  it("leaves no timer that keeps a program from ending", async () => {
    const starts = vi.spyOn(globalThis, "setTimeout");
    const ends = vi.spyOn(globalThis, "clearTimeout");
    const client = createClient();
    play(result(RUN), result({}, { status: 404 }));
    await client.runs.retrieve("r1");
    await client.runs.retrieve("r1").catch(() => {});
    // Those of fetch have no reference, those of the test's server wait for nothing, and the test runner's are not seen here.
    const waits = starts.mock.results.filter(({ value }, at) => value.hasRef() && starts.mock.calls[at]?.[1] !== 0);
    expect(waits).toHaveLength(2);
    expect(waits.filter(({ value }) => !ends.mock.calls.some(([timer]) => timer === value))).toEqual([]);
  });

  it("rejects an id that would change the path, and sends nothing", () => {
    play();
    for (const id of ["", ".", ".."]) expect(() => createClient().runs.retrieve(id)).toThrow(RunyardError);
    expect(server.seen).toEqual([]);
  });

  it("can use routes without a method", async () => {
    play(result({ pong: true }));
    const pong = await createClient().request<{ pong: boolean }>({
      method: "POST",
      path: "/agent/ping",
      body: { a: 1 },
    });
    expect(pong).toEqual({ pong: true });
    expect(server.seen[0]).toMatchObject({ method: "POST", path: "/agent/ping", body: '{"a":1}' });
  });
});

describe("an AbortSignal", () => {
  it("ends a request in progress", async () => {
    play(result(RUN, { delay_ms: 2000 }));
    const aborter = new AbortController();
    const call = createClient().runs.retrieve("r1", { signal: aborter.signal });
    setTimeout(() => aborter.abort(new Error("enough")), 50);
    const error: unknown = await call.catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(APIUserAbortError);
    expect(error).toHaveProperty("cause.message", "enough");
    expect(server.seen).toHaveLength(1);
  });

  it("ends the wait before a retry, and sends nothing if it was already aborted", async () => {
    play(result(undefined, { status: 503, headers: { "retry-after": "30" } }));
    const aborter = new AbortController();
    const { signal } = aborter;
    const client = createClient({
      fetch: async (...request) => {
        const response = await fetch(...request);
        setTimeout(() => aborter.abort(), 100);
        return response;
      },
    });
    await expect(client.runs.retrieve("r1", { signal })).rejects.toBeInstanceOf(APIUserAbortError);
    await expect(client.runs.retrieve("r1", { signal })).rejects.toBeInstanceOf(APIUserAbortError);
    expect(server.seen).toHaveLength(1);
  });

  it("ends a download in progress, and leaves no listener after a call", async () => {
    const aborter = new AbortController();
    const added = vi.spyOn(aborter.signal, "addEventListener");
    const removed = vi.spyOn(aborter.signal, "removeEventListener");
    play(
      result({ download_url: `${server.storage}/t`, expires_at: "" }),
      result(undefined, { at: "storage", raw: "x".repeat(2000), stall_ms: 5000 }),
    );
    const response = await createClient().runs.downloadTranscript("r1", { signal: aborter.signal });
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([2, 1]);
    setTimeout(() => aborter.abort(), 20);
    await expect(response.text()).rejects.toThrow(/abort/i);
  });
});

describe("sleep", () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;

  it("ends with the reason of the signal, and leaves neither timer nor listener", async () => {
    const before = timers();
    const aborter = new AbortController();
    const waiting = sleep(60_000, aborter.signal);
    expect([timers(), getEventListeners(aborter.signal, "abort").length]).toEqual([before + 1, 1]);
    aborter.abort(new Error("enough"));
    await expect(waiting).rejects.toMatchObject({ name: "APIUserAbortError", cause: new Error("enough") });
    await expect(sleep(60_000, aborter.signal)).rejects.toMatchObject({ cause: new Error("enough") });
    expect([timers(), getEventListeners(aborter.signal, "abort").length]).toEqual([before, 0]);
  });

  it("ends after its time, without a listener, and needs no signal", async () => {
    const { signal } = new AbortController();
    await sleep(1, signal);
    expect(getEventListeners(signal, "abort")).toEqual([]);
    await sleep(1);
  });
});

describe("the wait before a retry", () => {
  const waits = (random: number) => {
    vi.spyOn(Math, "random").mockReturnValue(random);
    return [0, 1, 2, 3, 4, 5, 30].map((repeats) => waitBeforeRepeat(new APIConnectionError("away"), repeats));
  };

  it("is random, up to an upper bound that doubles to 8 seconds", () => {
    expect(waits(1)).toEqual([500, 1000, 2000, 4000, 8000, 8000, 8000]);
    expect(waits(0.25)).toEqual([125, 250, 500, 1000, 2000, 2000, 2000]);
    expect(waits(0)).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });
});

describe("errors", () => {
  it("are named as their classes are", () => {
    const classes = Object.entries(index).filter(([name]) => name.endsWith("Error"));
    expect(classes).toHaveLength(16);
    for (const [name, Class] of classes) expect(Reflect.construct(Object(Class), ["x"])).toHaveProperty("name", name);
  });

  it("have the status, the API's message and the cause", async () => {
    play(
      result({ error: "Resource not found (no such run)", detail: "no such run" }, { status: 404 }),
      result(undefined, { reset: "before" }),
    );
    const client = createClient({ maxRetries: 0 });
    const missing: unknown = await client.runs.retrieve("r1").catch((error: unknown) => error);
    expect(missing).toMatchObject({ message: "404 Resource not found (no such run)", name: "NotFoundError" });
    const broken: unknown = await client.runs.retrieve("r1").catch((error: unknown) => error);
    expect(broken).toBeInstanceOf(APIConnectionError);
    expect(broken).toHaveProperty("cause");
    expect(broken).toHaveProperty("status", undefined);
  });
});

describe("pages", () => {
  const first = { runs: [{ run_id: "r1" }], page_info: { has_next_page: true, next_cursor: "c1" } };
  const last = { runs: [{ run_id: "r2" }], page_info: { has_next_page: false } };

  it("can be read one by one", async () => {
    play(result(first), result(last));
    const page = await createClient().runs.list({ limit: 1 });
    expect([page.data.map(({ run_id }) => run_id), page.hasNextPage(), page.body.page_info]).toEqual([
      ["r1"],
      true,
      first.page_info,
    ]);
    const next = await page.getNextPage();
    expect([next.data[0]?.run_id, next.hasNextPage()]).toEqual(["r2", false]);
    expect(() => next.getNextPage()).toThrow("last page");
  });

  it("are iterated, each requested when it is needed", async () => {
    play(result(first), result(last));
    const sizes: number[] = [];
    const page: Page<unknown, object> = await createClient().runs.list();
    for await (const { data } of page.iterPages()) sizes.push(data.length);
    expect(sizes).toEqual([1, 1]);
    play(result(first));
    for await (const { run_id } of createClient().runs.list()) {
      expect(run_id).toBe("r1");
      break;
    }
    expect(server.seen).toHaveLength(1);
  });

  it("have a bare response", async () => {
    play(result(first));
    const response = await createClient().runs.list().asResponse();
    expect(await response.json()).toEqual(first);
  });
});

describe("following a run", () => {
  it("passes on each event before it requests more, and returns the run", async () => {
    const event = (sequence: number) => ({ sequence, type: "messages", occurred_at: "", data: {} });
    play(
      result(RUN),
      result({ events: [event(1), event(2)], next: 2, ended: false }),
      result({ events: [event(3)], next: 3, ended: true }),
      result({ ...RUN, state: "SUCCEEDED" }),
    );
    const received: string[] = [];
    const run = await createClient().runs.createAndWait(
      { prompt: "x" },
      {
        onEvent: async ({ sequence }) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          received.push(`${sequence} after ${server.seen.length} requests`);
        },
      },
    );
    expect(run.state).toBe("SUCCEEDED");
    expect(received).toEqual(["1 after 2 requests", "2 after 2 requests", "3 after 3 requests"]);
  });

  it("holds a poll as long as the API does, beyond its own timeout", async () => {
    play(result({ events: [], next: 0, ended: true }, { delay_ms: 900 }));
    const events = createClient({ timeout: 600, maxRetries: 0 }).runs.events("r1", { wait: 1 });
    for await (const event of events) expect(event).toBeUndefined();
    expect(server.seen).toHaveLength(1);
  });

  it("uploads a file to the given target, with its digest and without the key", async () => {
    const upload = { url: `${server.storage}/put?sig=1`, method: "PUT", headers: { "x-amz-checksum": "c" } };
    play(result({ attachment_id: "a1", upload }), result(undefined, { at: "storage" }));
    const id = await createClient().attachments.upload({ file_name: "n.txt", mime_type: "text/plain", data: "abc" });
    expect(id).toBe("a1");
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({
      file_name: "n.txt",
      mime_type: "text/plain",
      size_bytes: 3,
      sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    });
    expect(server.seen[1]).toMatchObject({ method: "PUT", body: "abc", headers: { "x-amz-checksum": "c" } });
    expect(server.seen[1]?.headers).not.toHaveProperty("authorization");
  });

  it("downloads the text of a plan with its type, without a request to the storage", async () => {
    const data = { content: "# Plan", content_type: "text/markdown" };
    play(result({ artifact_uid: "a1", artifact_type: "PLAN", created_at: "", data }));
    const response = await createClient().artifacts.download("a1");
    expect([response.headers.get("content-type"), await response.text()]).toEqual(["text/markdown", "# Plan"]);
    expect(server.seen).toHaveLength(1);
  });

  it("uploads with a form in the form's order if the API returns one", async () => {
    const value = { kind: "static", value: "k/1" };
    const fields = [
      { name: "key", value },
      { name: "file", value: { kind: "content_data" } },
    ];
    const upload = { url: `${server.storage}/`, method: "POST", headers: null, fields };
    play(result({ attachment_id: "a1", upload }), result(undefined, { at: "storage", status: 204 }));
    await createClient().attachments.upload({ file_name: "n.txt", data: new Uint8Array([97, 98]) });
    expect(server.seen[1]?.body).toMatch(/name="key"\r\n\r\nk\/1\r\n[\s\S]*name="file"[\s\S]*\r\n\r\nab\r\n/);
  });
});

describe("runs.dryRun", () => {
  it("sends the body of create with dry_run, and returns the findings", async () => {
    const findings = [{ code: "default_model", severity: "info", message: "m", remedy: "r" }];
    play(result({ would_start: true, findings }));
    expect(await createClient().runs.dryRun({ prompt: "x" })).toEqual({ would_start: true, findings });
    expect(server.seen).toMatchObject([{ method: "POST", path: "/agent/runs", rawQuery: "dry_run=true" }]);
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ prompt: "x" });
  });
});
