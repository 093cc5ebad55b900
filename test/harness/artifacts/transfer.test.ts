import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { downloadFile, downloadText, uploadContent, uploadFile } from "#harness/control-plane/transfer.ts";

vi.setConfig({ testTimeout: 10_000, hookTimeout: 10_000 });

let folder = "";
let storage: Server;
let url = "";
let calls: { method: string | undefined; headers: IncomingHttpHeaders; body: string }[] = [];
/** The statuses of the next responses; then 200. */
let statuses: number[] = [];
let retryAfter = "0";
const signal = new AbortController().signal;

beforeEach(async () => {
  [calls, statuses, retryAfter] = [[], [], "0"];
  folder = mkdtempSync(join(tmpdir(), "transfer-"));
  storage = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    calls.push({ method: request.method, headers: request.headers, body });
    response.writeHead(statuses.shift() ?? 200, { "retry-after": retryAfter }).end("content");
  });
  await new Promise<void>((resolve) => storage.listen(0, "127.0.0.1", resolve));
  const address = storage.address();
  url = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/file?signature=secret`;
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  storage.closeAllConnections();
  storage.close();
  rmSync(folder, { recursive: true });
});

describe("uploading a file", () => {
  it("puts it with the headers of its target, its type and its length", async () => {
    const file = join(folder, "a.txt");
    writeFileSync(file, "é");
    await uploadFile({ url, method: "PUT", headers: { "x-own": "1" } }, file, "text/x-own", signal);
    expect(calls).toMatchObject([
      { method: "PUT", headers: { "x-own": "1", "content-type": "text/x-own", "content-length": "2" }, body: "é" },
    ]);
    expect(calls[0]?.headers).not.toHaveProperty("authorization");
    await uploadContent({ url, method: "PUT", headers: null }, new Blob(["b"]), signal);
    expect(calls[1]).toMatchObject({ method: "PUT", body: "b" });
  });

  it("posts it as a part of the target's form", async () => {
    const fields = [
      { name: "key", value: { kind: "static" as const, value: "a/b" } },
      { name: "file", value: { kind: "content_data" as const } },
    ];
    await uploadContent(
      { url, method: "POST", headers: null, fields },
      new Blob(["text"], { type: "text/x-own" }),
      signal,
    );
    expect(calls[0]?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(calls[0]?.body).toMatch(
      /name="key"\r\n\r\na\/b\r\n.*name="file".*Content-Type: text\/x-own\r\n\r\ntext\r\n/s,
    );
    await uploadContent({ url, method: "POST", headers: null }, new Blob(["text"]), signal);
    expect(calls[1]?.body).not.toContain("text");
    const unknown = [{ name: "hash", value: { kind: "content_crc32c" as const } }];
    await expect(
      uploadContent({ url, method: "POST", headers: null, fields: unknown }, new Blob([]), signal),
    ).rejects.toThrow("this harness does not support the upload field hash (content_crc32c)");
    expect(calls).toHaveLength(2);
  });

  it("is done if an earlier attempt has stored it, and repeats what may succeed later", async () => {
    statuses = [503, 412];
    await uploadContent({ url, method: "PUT", headers: null }, new Blob(["b"]), signal);
    expect(calls.map(({ body }) => body)).toEqual(["b", "b"]);
  });

  it("fails for a refusal, with its status", async () => {
    statuses = [403];
    await expect(uploadContent({ url, method: "PUT", headers: null }, new Blob([]), signal)).rejects.toMatchObject({
      kind: "unreachable",
      message: "a file could not be uploaded: storage returned 403",
    });
  });
});

describe("downloading a file", () => {
  it("writes it to a new file, or returns its text", async () => {
    const file = join(folder, "a.txt");
    statuses = [503];
    await downloadFile(url, file, signal);
    expect(readFileSync(file, "utf8")).toBe("content");
    await expect(downloadFile(url, file, signal)).rejects.toThrow("EEXIST");
    expect(await downloadText(url, signal)).toBe("content");
    expect(calls.map(({ method }) => method)).toEqual(["GET", "GET", "GET", "GET"]);
  });

  it("fails for a refusal, and writes nothing", async () => {
    statuses = [404, 403];
    const file = join(folder, "a.txt");
    await expect(downloadFile(url, file, signal)).rejects.toMatchObject({
      name: "SetupError",
      message: "storage returned 404",
    });
    expect(existsSync(file)).toBe(false);
    await expect(downloadText(url, signal)).rejects.toThrow("storage returned 403");
  });
});

it.each([
  ["an upload", () => uploadContent({ url, method: "PUT", headers: null }, new Blob([]), signal), 120_000, 300_000],
  ["a download", () => downloadText(url, signal), 60_000, 120_000],
])("%s has its own limits, and its error names the host only", async (_, transfer, giveUpAfterMs, attemptMs) => {
  const limit = vi.spyOn(AbortSignal, "timeout");
  vi.useFakeTimers({ toFake: ["Date"], now: 1_000_000 });
  vi.spyOn(Math, "random").mockReturnValue(0);
  statuses = [503];
  retryAfter = String((giveUpAfterMs + 1) / 1_000);
  await expect(transfer()).rejects.toThrow(`${new URL(url).host} could not be called: status 503`);
  expect(limit.mock.calls).toEqual([[attemptMs]]);
});
