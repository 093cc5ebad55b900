import { createHash } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import {
  APIError,
  APIUserAbortError,
  type ClientOptions,
  InternalServerError,
  PermissionDeniedError,
  RunTimeoutError,
  Runyard,
} from "../../clients/typescript/src/index.ts";

afterEach(() => vi.restoreAllMocks());

const RUN = { run_id: "r1", task_id: "r1", state: "SUCCEEDED" };
const busy = () => new Response(null, { status: 503 });
const unreachable = () => {
  throw new TypeError("fetch failed");
};

interface Call {
  readonly path: string;
  readonly headers: Headers;
  /** Milliseconds after which the attempt is aborted. */
  readonly timeout: number | undefined;
}

/** A client whose requests get these responses, which do not wait between attempts. */
function createClient(respond: (path: string, count: number) => Response, options: ClientOptions = {}) {
  const calls: Call[] = [];
  const timers = vi.spyOn(globalThis, "setTimeout");
  const fetch = async (url: string, { headers }: RequestInit) => {
    const path = url.replace("https://runyard.example/api/v1", "");
    calls.push({ path, headers: new Headers(headers), timeout: timers.mock.calls.at(-1)?.[1] });
    return respond(path, calls.filter((call) => call.path === path).length);
  };
  const given = { baseURL: "https://runyard.example/api/v1", apiKey: "ryp_x", sleep: async () => {}, fetch };
  return { client: new Runyard({ ...given, ...options }), calls };
}

describe("following a run until it ends", () => {
  const polling = (_url: string, { signal }: RequestInit) =>
    new Promise<Response>((_resolve, reject) => signal?.addEventListener("abort", () => reject(new Error("aborted"))));

  it("throws a RunTimeoutError after maxWait", async () => {
    const { client } = createClient(busy, { fetch: polling });
    const following = client.runs.followUntilDone("r1", { maxWait: 20 });
    await expect(following).rejects.toThrow(new RunTimeoutError("r1", 20));
    await expect(following).rejects.toMatchObject({ name: "RunTimeoutError", runId: "r1" });
  });

  it("throws an APIUserAbortError where the caller's signal aborts it before", async () => {
    const { client } = createClient(busy, { fetch: polling });
    const options = { maxWait: 60_000, signal: AbortSignal.timeout(20) };
    await expect(client.runs.followUntilDone("r1", options)).rejects.toThrow(APIUserAbortError);
  });

  it("returns a run that ends within maxWait", async () => {
    const respond = (path: string) =>
      Response.json(path.includes("/events") ? { events: [], next: 0, ended: true } : RUN);
    const { client } = createClient(respond);
    expect(await client.runs.followUntilDone("r1", { maxWait: 60_000 })).toMatchObject({ state: "SUCCEEDED" });
  });
});

describe("uploading an attachment of a follow-up", () => {
  it("prepares it, and stores it with the headers of its target", async () => {
    const sent: unknown[] = [];
    const upload_target = { url: "https://storage.example/u", method: "PUT", headers: { "x-s": "1" } };
    const fetch = async (url: string, { method, body }: RequestInit) => {
      sent.push([method, url, body instanceof Blob ? await body.text() : body]);
      const made = { attachment_id: "a1", upload_url: "https://storage.example/p", upload_target };
      return Response.json({ attachments: [made] });
    };
    const { client } = createClient(busy, { fetch });
    const file = { file_name: "a.txt", mime_type: "text/plain", data: "hello" };
    expect(await client.runs.uploadAttachment("r1", file)).toBe("a1");
    const sha256 = createHash("sha256").update("hello").digest("hex");
    const files = [{ filename: "a.txt", mime_type: "text/plain", size_bytes: 5, sha256 }];
    expect(sent).toEqual([
      ["POST", "https://runyard.example/api/v1/agent/runs/r1/attachments/prepare", JSON.stringify({ files })],
      ["PUT", "https://storage.example/u", "hello"],
    ]);
  });
});

describe("creating a run and waiting for it", () => {
  it.each([
    [undefined, 2],
    [0, 1],
    [4, 5],
  ])("sends the run as often as the call says, or the client: maxRetries %j", async (maxRetries, attempts) => {
    const { client, calls } = createClient(busy, { maxRetries: 1 });
    await expect(client.runs.createAndWait({ prompt: "x" }, { maxRetries })).rejects.toThrow(InternalServerError);
    expect(calls).toHaveLength(attempts);
  });

  it.each([
    [undefined, 31],
    [2, 3],
  ])("reads the ended run as often as the call says, or 31 times: maxRetries %j", async (maxRetries, attempts) => {
    const respond = (path: string) =>
      path.includes("/events") ? Response.json({ events: [], next: 0, ended: true }) : busy();
    const { client, calls } = createClient(respond, { maxRetries: 0 });
    await expect(client.runs.followUntilDone("r1", { maxRetries })).rejects.toThrow(InternalServerError);
    expect(calls.filter(({ path }) => path === "/agent/runs/r1")).toHaveLength(attempts);
  });

  it.each([
    [undefined, 31],
    [2, 3],
  ])("requests a stream as often as the call says, or 31 times: maxRetries %j", async (maxRetries, attempts) => {
    for (const respond of [busy, unreachable]) {
      const { client, calls } = createClient(respond);
      await expect(client.runs.stream("r1", { maxRetries }).next()).rejects.toThrow(APIError);
      expect(calls).toHaveLength(attempts);
    }
  });

  it("waits for a stream and for a page as long as the service may, beyond the client's timeout", async () => {
    const respond = (path: string) =>
      Response.json(path.includes("/events") ? { events: [], next: 0, ended: true } : RUN);
    const { client, calls } = createClient(respond, { timeout: 7_000 });
    await client.runs.followUntilDone("r1", { wait: 10, onLive: () => {} });
    await client.runs.followUntilDone("r1", { wait: 10, timeout: 3_000 });
    expect(calls.map(({ timeout }) => timeout)).toEqual([17_000, 7_000, 13_000, 3_000]);
  });
});

describe("uploading an attachment", () => {
  const upload = { url: "https://storage.example/put", method: "PUT", headers: null };
  const respond = (path: string) =>
    path === upload.url ? new Response() : Response.json({ attachment_id: "a1", upload });
  const data = new Uint8Array(5_000_000);

  it("gives the storage a second for each 50 kB in addition, or the time of the call", async () => {
    const { client, calls } = createClient(respond, { timeout: 7_000 });
    await client.attachments.upload({ file_name: "n.bin", data });
    await client.attachments.upload({ file_name: "n.bin", data }, { timeout: 3_000 });
    expect(calls.map(({ timeout }) => timeout)).toEqual([7_000, 107_000, 3_000, 3_000]);
  });

  it.each([[412], [503, 412]])("accepts that the file is already stored: %j", async (...statuses) => {
    const left = [...statuses];
    const store = (path: string) =>
      path === upload.url ? new Response(null, { status: left.shift() ?? 500 }) : respond(path);
    const { client } = createClient(store);
    expect(await client.attachments.upload({ file_name: "n.txt", data: "x" })).toBe("a1");
    expect(left).toEqual([]);
  });

  it("throws the other errors of the storage", async () => {
    const { client } = createClient((path) =>
      path === upload.url ? new Response(null, { status: 403 }) : respond(path),
    );
    await expect(client.attachments.upload({ file_name: "n.txt", data: "x" })).rejects.toThrow(PermissionDeniedError);
  });

  it("sends the options of the call, and no file that an earlier attempt has uploaded", async () => {
    const { client, calls } = createClient(() => Response.json({ attachment_id: "a1" }));
    const options = { idempotencyKey: "own-key", team: "t1" };
    expect(await client.attachments.upload({ file_name: "n.txt", data: "x" }, options)).toBe("a1");
    expect(calls.map(({ headers }) => [headers.get("idempotency-key"), headers.get("x-team-uid")])).toEqual([
      ["own-key", "t1"],
    ]);
  });
});
