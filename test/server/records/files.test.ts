import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { serve } from "@hono/node-server";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { diskFileStore } from "#server/files/disk-file-store.ts";
import { DiskFiles } from "#server/files/disk-files.ts";
import { expireFiles } from "#server/files/expire-files.ts";
import { keyToPath, pathToKey } from "#server/files/key-path.ts";
import { serveFiles } from "#server/files/serve-files.ts";
import type { FileRemoval, FileStore } from "#shared/files/file-store.ts";
import type { UploadTarget } from "#shared/wire/harness.ts";
import { fileStoreContract, signedUrls } from "../../store/file-store-contract.ts";
import { eventually } from "../support/eventually.ts";

vi.spyOn(process.stdout, "write").mockReturnValue(true);

const secret = randomBytes(32);
const directory = mkdtempSync(path.join(tmpdir(), "runyard-files-"));
const clock = { offset: 0 };
const now = () => Date.now() + clock.offset;
let files: DiskFiles;
let baseUrl: string;
let store: FileRemoval & FileStore;
let close: () => Promise<unknown>;

beforeAll(async () => {
  files = await DiskFiles.open(directory);
  const handler = serveFiles({ files, secret, basePath: "/files", now });
  const server = serve({ fetch: handler, hostname: "127.0.0.1", port: 0 });
  await once(server, "listening");
  const { port }: Pick<AddressInfo, "port"> = requireAddress(server.address());
  baseUrl = `http://127.0.0.1:${port}/files`;
  store = makeStore(900);
  close = async () => {
    server.close();
    await once(server, "close");
  };
});
afterAll(async () => {
  await close();
  rmSync(directory, { recursive: true });
});

function requireAddress(address: string | AddressInfo | null): AddressInfo {
  if (address === null || typeof address === "string") throw new Error("no port");
  return address;
}
const makeStore = (downloadSeconds: number): FileRemoval & FileStore =>
  diskFileStore({ files, secret, baseUrl, downloadSeconds, now });
const newKey = (name = "artifact") => `runs/${randomBytes(8).toString("hex")}/${name}`;
const described = (content: string) => ({
  sizeBytes: Buffer.byteLength(content),
  sha256: createHash("sha256").update(content).digest("hex"),
  contentType: "text/plain",
});
const named = { filename: "a.txt", contentType: "text/plain" };
const readText = async (key: string) => Buffer.from((await store.get(key)) ?? "").toString();
const readCode = async (response: Response) =>
  `${response.status} ${/<Code>(\w+)<\/Code>/.exec(await response.text())?.[1] ?? ""}`;
const incomplete = () => readdirSync(path.join(directory, "incomplete"));

/** Runs `test` with a later clock. */
async function later<T>(seconds: number, test: () => Promise<T>): Promise<T> {
  clock.offset = seconds * 1000;
  try {
    return await test();
  } finally {
    clock.offset = 0;
  }
}

describe("files in a directory", () => {
  fileStoreContract(() => store);
  signedUrls((seconds) => makeStore(seconds));

  it("are readable only by their owner", async () => {
    const key = newKey();
    await store.put(key, "mine", "text/plain");
    const file = files.toPath(key);
    for (const place of [file, path.dirname(file), path.join(directory, "objects")]) {
      expect(statSync(place).mode & 0o077).toBe(0);
    }
  });

  it("are removed at startup if they were incomplete when the process ended", async () => {
    writeFileSync(path.join(directory, "incomplete", "half"), "half");
    await DiskFiles.open(directory);
    expect(incomplete()).toEqual([]);
  });

  it("are written once when one key is written concurrently", async () => {
    const key = newKey();
    await Promise.all(Array.from({ length: 10 }, (_, n) => store.put(key, `${n}`.repeat(1_000), "text/plain")));
    expect(new Set(await readText(key)).size).toBe(1);
    expect(incomplete()).toEqual([]);
  });

  it("are deleted after the retention period of their prefix, with the directories that are empty then", async () => {
    const DAY_MS = 86_400_000;
    const now = 1_800_000_000_000;
    for (const [key, age] of [
      ["attachments/kept", 2 * DAY_MS],
      ["attachments/old", 2 * DAY_MS + 1_000],
      ["skills/repository/kept.json", 30 * DAY_MS],
      ["skills/repository/old.json", 30 * DAY_MS + 1_000],
      ["snapshots/kept/execution/1/0", 30 * DAY_MS],
      ["snapshots/run/execution/1/0", 30 * DAY_MS + 1_000],
      ["runs/kept/transcript", 365 * DAY_MS],
    ] as const) {
      await store.put(key, key, "text/plain");
      utimesSync(files.toPath(key), (now - age) / 1000, (now - age) / 1000);
    }
    expect(await expireFiles(files, now)).toBe(3);
    const kept = ["attachments/kept", "skills/repository/kept.json", "snapshots/kept/execution/1/0"];
    for (const key of [...kept, "runs/kept/transcript"]) expect(await readText(key)).toBe(key);
    for (const key of ["attachments/old", "skills/repository/old.json"]) expect(await store.size(key)).toBeUndefined();
    expect(existsSync(files.toDirectory("snapshots/run/"))).toBe(false);
    expect(await expireFiles(files, now)).toBe(0);
    await store.put("snapshots/run/execution/2/0", "again", "text/plain");
    expect(await readText("snapshots/run/execution/2/0")).toBe("again");
  });

  it("add their size to the budget once they are stored, and leave nothing of one that is not", async () => {
    const added: number[] = [];
    const directory = mkdtempSync(path.join(tmpdir(), "runyard-files-"));
    const budget = { findShortage: () => undefined, add: (bytes: number) => void added.push(bytes) };
    const budgeted = await DiskFiles.open(directory, budget);
    const keep = async (key: string, content: string, how: { replaces: boolean }) => {
      const file = await budgeted.begin();
      await file.write(Buffer.from(content));
      return file.keep(key, how);
    };
    expect(await keep("a", "12", { replaces: false })).toBe(true);
    expect(await keep("a", "345", { replaces: false })).toBe(false);
    expect(await keep("a", "6789", { replaces: true })).toBe(true);
    await expect(keep("", "x", { replaces: true })).rejects.toThrow(RangeError);
    expect([added, readdirSync(path.join(directory, "incomplete"))]).toEqual([[2, 4], []]);
    expect(Buffer.from((await budgeted.read("a")) ?? "").toString()).toBe("6789");
    rmSync(directory, { recursive: true });
  });
});

describe("a hostile key", () => {
  const hostile = [
    "../outside",
    "runs/../../../../outside",
    "/etc/passwd",
    "..",
    ".",
    "...",
    "a//b",
    "a/",
    "/",
    "a\u0000b",
    "a\\..\\b",
    "%2e%2e/%2e%2e/x",
    "C:/windows",
    "é\u{1f600}",
    "x".repeat(1_024),
    `${"long/".repeat(204)}x`,
    "%-abc",
    "%long+/x",
    "name+",
    "name+/x",
  ];
  it.each(hostile)("is stored within the directory: %j", async (key) => {
    await store.put(key, `content of ${key}`, "text/plain");
    expect(await readText(key)).toBe(`content of ${key}`);
    expect(path.relative(path.join(directory, "objects"), files.toPath(key))).not.toMatch(/^\.\.|^\//);
  });

  it("can be a prefix of another key", async () => {
    const key = newKey("a");
    await store.put(`${key}/b`, "below", "text/plain");
    await store.put(key, "above", "text/plain");
    expect([await readText(key), await readText(`${key}/b`)]).toEqual(["above", "below"]);
  });

  it("never has the path of another key, ignoring case, and never leaves the directory", async () => {
    const part = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("", ".", "..", "A", "a", "%41", "a+", "~"));
    const key = fc
      .array(part, { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join("/"))
      .filter((text) => text !== "" && Buffer.byteLength(text) <= 1_024);
    await fc.assert(
      fc.property(key, key, (a, b) => {
        const [one, other] = [keyToPath(a), keyToPath(b)];
        expect(path.normalize(one)).toBe(one);
        expect(one).toMatch(/^[^/]/);
        expect(one.split("/").every((name) => name !== ".." && name !== "." && name.length <= 255)).toBe(true);
        expect(one.toLowerCase() === other.toLowerCase()).toBe(Buffer.from(a).equals(Buffer.from(b)));
        expect(pathToKey(one)).toBe(Buffer.from(a).toString());
      }),
      { numRuns: 2_000 },
    );
  });

  it("has the digest of a name of more than 200 characters, or of a path of more than 2,000, in its path", () => {
    const digest = (text: string) => createHash("sha256").update(text).digest("hex");
    const [kept, long] = ["x".repeat(200), "x".repeat(201)];
    expect(keyToPath(`${kept}/A`)).toBe(`${kept}+/%41`);
    expect(keyToPath(`a/${long}/b`)).toBe(`a+/%-${digest(long)}+/b`);
    const [short, deep] = [`a${"/b".repeat(500)}`, `${"A/".repeat(400)}c`];
    expect(keyToPath(short)).toBe(`${"a+/"}${"b+/".repeat(499)}b`);
    expect(keyToPath(deep)).toBe(`%long+/${digest(deep)}`);
    expect(keyToPath(`${"AA/".repeat(249)}abcdefgh`)).toHaveLength(2_000);
    expect(keyToPath(`${"AA/".repeat(249)}abcdefghi`)).toMatch(/^%long\+\/[0-9a-f]{64}$/);
    for (const key of [`a/${long}/b`, deep]) expect(pathToKey(keyToPath(key))).toBeUndefined();
    expect(pathToKey(keyToPath("é/A//.."))).toBe("é/A//..");
  });

  it.each(["", "x".repeat(1_025)])("is rejected if S3 would not accept it", async (key) => {
    await expect(store.put(key, "x", "text/plain")).rejects.toThrow(RangeError);
  });

  it("gets no URL if URLs would normalize it", async () => {
    await expect(store.downloadUrl("runs/../x", named)).rejects.toThrow(RangeError);
    await expect(store.uploadTarget("./x", described("x"))).rejects.toThrow(RangeError);
  });
});

describe("a signed URL", () => {
  it("is rejected if any part of it was changed", async () => {
    const key = newKey();
    await store.put(key, "content", "text/plain");
    const { url } = await store.downloadUrl(key, named);
    const changed = (change: (url: URL) => void) => {
      const copy = new URL(url);
      change(copy);
      return copy;
    };
    const signature = new URL(url).searchParams.get("X-Amz-Signature") ?? "";
    expect(new URL(url).searchParams.get("X-Amz-Algorithm")).toBe("RUNYARD-HMAC-SHA256");
    const attempts = [
      changed((it) => it.searchParams.set("X-Amz-Expires", "9999999")),
      changed((it) => it.searchParams.set("X-Amz-Date", "20990101T000000Z")),
      changed((it) =>
        it.searchParams.set("X-Amz-Signature", `0${signature.slice(1)}`.replace(signature, "0".repeat(64))),
      ),
      changed((it) => it.searchParams.set("X-Amz-Signature", "")),
      changed((it) => it.searchParams.append("X-Amz-Signature", signature)),
      changed((it) => it.searchParams.delete("X-Amz-Signature")),
      changed((it) => it.searchParams.delete("X-Amz-Algorithm")),
      changed((it) => it.searchParams.set("X-Amz-Algorithm", "none")),
      changed((it) => it.searchParams.set("response-content-disposition", "inline")),
      changed((it) => it.searchParams.append("response-content-type", "text/html")),
      changed((it) => it.searchParams.set("X-Amz-SignedHeaders", "host")),
      changed((it) => it.searchParams.set("another", "1")),
      changed((it) => {
        it.pathname = it.pathname.replace("/artifact", "/other/../artifact2");
      }),
      new URL(`${baseUrl}/${key}`),
    ];
    for (const attempt of attempts)
      expect([attempt.search, (await fetch(attempt)).status]).toEqual([attempt.search, 403]);
    expect((await fetch(url)).status).toBe(200);
  });

  it.each(["PUT", "HEAD", "DELETE", "PATCH", "POST"])("for a download is rejected for %s", async (method) => {
    const key = newKey();
    await store.put(key, "content", "text/plain");
    const { url } = await store.downloadUrl(key, named);
    const body = method === "HEAD" ? undefined : "other";
    expect([403, 405]).toContain((await fetch(url, { method, body: body ?? null })).status);
    expect(await readText(key)).toBe("content");
  });

  it("for an upload is rejected for a download, after its expiry, and with other headers", async () => {
    const key = newKey();
    const { url, headers } = await store.uploadTarget(key, described("content"));
    expect((await fetch(url)).status).toBe(403);
    const put = (changes: Record<string, string>) =>
      fetch(url, { method: "PUT", body: "content", headers: { ...headers, ...changes } });
    expect(await readCode(await put({ "content-type": "text/html" }))).toBe("403 SignatureDoesNotMatch");
    expect(await readCode(await put({ "if-none-match": "x" }))).toBe("403 SignatureDoesNotMatch");
    expect(await readCode(await put({ "x-amz-checksum-sha256": "" }))).toBe("403 SignatureDoesNotMatch");
    expect(await readCode(await later(601, () => put({})))).toBe("403 AccessDenied");
    expect((await later(595, () => put({}))).status).toBe(200);
  });

  it("is rejected by a server with another secret", async () => {
    const other = diskFileStore({ files, secret: randomBytes(32), baseUrl, downloadSeconds: 60, now });
    const key = newKey();
    await store.put(key, "content", "text/plain");
    const { url } = await other.downloadUrl(key, named);
    expect(await readCode(await fetch(url))).toBe("403 SignatureDoesNotMatch");
  });

  it("of a missing file returns 404, as do other paths", async () => {
    const { url } = await store.downloadUrl(newKey(), named);
    expect(await readCode(await fetch(url))).toBe("404 NoSuchKey");
    expect((await fetch(url.replace("/files/", "/other/"))).status).toBe(404);
    expect((await fetch(`${baseUrl}/%zz`)).status).toBe(400);
  });
});

describe("a download", () => {
  const content = "0123456789";
  const download = async (headers: Record<string, string> = {}, text = content) => {
    const key = newKey();
    await store.put(key, text, "text/plain");
    return fetch((await store.downloadUrl(key, named)).url, { headers });
  };

  it.each([
    ["bytes=2-4", "234", "bytes 2-4/10"],
    ["bytes=7-", "789", "bytes 7-9/10"],
    ["bytes=-3", "789", "bytes 7-9/10"],
    ["bytes=-30", content, "bytes 0-9/10"],
    ["bytes=8-100", "89", "bytes 8-9/10"],
    ["bytes=0-0", "0", "bytes 0-0/10"],
  ])("returns 206 with the range %s", async (range, expected, contentRange) => {
    const response = await download({ range });
    expect(response.status).toBe(206);
    expect(response.headers.get("content-range")).toBe(contentRange);
    expect(response.headers.get("content-length")).toBe(String(expected.length));
    expect(await response.text()).toBe(expected);
  });

  it.each(["bytes=10-", "bytes=99-100", "bytes=-0"])("returns 416 for %s", async (range) => {
    const response = await download({ range });
    expect(response.headers.get("content-range")).toBe("bytes */10");
    expect(await readCode(response)).toBe("416 InvalidRange");
  });

  it.each(["bytes=0-1,3-4", "bytes=4-2", "lines=1-2", "bytes=-", "bytes=a-b"])(
    "returns the whole file for %s",
    async (range) => {
      const response = await download({ range });
      expect([response.status, await response.text()]).toEqual([200, content]);
    },
  );

  it("of an empty file has no content", async () => {
    const response = await download({}, "");
    expect([response.status, response.headers.get("content-length"), await response.text()]).toEqual([200, "0", ""]);
  });

  it("is never rendered in the origin of the service, and not cached", async () => {
    const response = await download();
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "accept-ranges": "bytes",
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "ETag, Content-Disposition, Content-Length, Content-Range",
      "cache-control": "private, no-store",
      "content-disposition": "attachment; filename=\"a.txt\"; filename*=UTF-8''a.txt",
      "content-length": "10",
      "content-security-policy": "default-src 'none'; sandbox",
      "content-type": "text/plain",
      etag: expect.stringMatching(/^"a-[0-9a-f]{11}"$/),
      "x-content-type-options": "nosniff",
    });
    expect(response.headers.get("access-control-allow-credentials")).toBeNull();
    expect(response.headers.get("content-range")).toBeNull();
    expect(Math.abs(Date.parse(response.headers.get("last-modified") ?? "") - Date.now())).toBeLessThan(600_000);
  });

  it("streams large files, and closes the file if the client disconnects", async () => {
    const key = newKey();
    const large = randomBytes(20 * 1024 * 1024);
    await store.put(key, large, "text/plain");
    const { url } = await store.downloadUrl(key, named);
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(large)).toBe(true);
    const leaving = new AbortController();
    const response = await fetch(url, { signal: leaving.signal });
    await response.body?.getReader().read();
    leaving.abort();
    const open = () => readdirSync("/proc/self/fd").filter((fd) => readLink(fd).startsWith(files.toPath(key)));
    await eventually(() => expect(open()).toEqual([]));
  });
});

const readLink = (fd: string): string => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return "";
  }
};

describe("an upload", () => {
  /** Sends a raw request and returns the raw response. */
  async function sendRaw(lines: readonly string[], body: string): Promise<string> {
    const { port, hostname } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
    let response = "";
    socket.on("data", (chunk) => {
      response += chunk;
      socket.end();
    });
    await once(socket, "close");
    return response;
  }
  const rawPut = async (key: string, content: string, changes: Record<string, string>) => {
    const { url, headers } = await store.uploadTarget(key, described(content));
    const { pathname, search, host } = new URL(url);
    const sent = Object.entries({ ...headers, ...changes }).filter(([, value]) => value !== "");
    return [`PUT ${pathname}${search} HTTP/1.1`, `host: ${host}`, ...sent.map(([name, value]) => `${name}: ${value}`)];
  };

  it("without a length is rejected with 411", async () => {
    const key = newKey();
    const head = await rawPut(key, "content", { "content-length": "", "transfer-encoding": "chunked" });
    expect(await sendRaw(head, "7\r\ncontent\r\n0\r\n\r\n")).toMatch(/^HTTP\/1.1 411 /);
    expect(await store.size(key)).toBeUndefined();
  });

  it("that ends early leaves no file", async () => {
    const key = newKey();
    const { port, hostname } = new URL(baseUrl);
    const socket = connect(Number(port), hostname);
    socket.write(`${(await rawPut(key, "x".repeat(1_000_000), {})).join("\r\n")}\r\n\r\n${"x".repeat(100_000)}`);
    await eventually(() => expect(incomplete()).toHaveLength(1));
    socket.destroy();
    await eventually(() => expect(incomplete()).toEqual([]));
    expect(await store.size(key)).toBeUndefined();
  });

  it("with another checksum is rejected with 400, and to an existing key with 412", async () => {
    const key = newKey();
    const target = await store.uploadTarget(key, described("content"));
    const send = (body: string) => fetch(target.url, { method: "PUT", body, headers: target.headers ?? {} });
    expect(await readCode(await send("c0ntent"))).toBe("400 BadDigest");
    expect(incomplete()).toEqual([]);
    expect((await send("content")).status).toBe(200);
    expect(await readCode(await send("content"))).toBe("412 PreconditionFailed");
  });

  it("to one key by concurrent clients succeeds once", async () => {
    const key = newKey();
    const text = "x".repeat(500_000);
    const target = await store.uploadTarget(key, described(text));
    const statuses = await Promise.all(
      [1, 2, 3].map(
        async () => (await fetch(target.url, { method: "PUT", body: text, headers: target.headers ?? {} })).status,
      ),
    );
    expect(statuses.toSorted()).toEqual([200, 412, 412]);
  });

  it.each([
    ["to an existing key", (target: UploadTarget) => target.url, 412],
    ["by a URL that was changed", (target: UploadTarget) => `${target.url}0`, 403],
  ])("of a large body %s gets its response although the body is not read", async (_, urlOf, status) => {
    const key = newKey();
    const text = "x".repeat(30_000_000);
    const target = await store.uploadTarget(key, described(text));
    await store.put(key, "there already", "text/plain");
    const body = new Blob([text]);
    const response = await fetch(urlOf(target), { method: "PUT", body, headers: target.headers ?? {} });
    expect(response.status).toBe(status);
    expect(await readText(key)).toBe("there already");
  });

  it("above the size limit of S3 is rejected with 413", async () => {
    const key = newKey();
    const description = { ...described(""), sizeBytes: 5 * 1024 ** 3 + 1 };
    const { url, headers } = await store.uploadTarget(key, description);
    const { pathname, search, host } = new URL(url);
    const head = [
      `PUT ${pathname}${search} HTTP/1.1`,
      `host: ${host}`,
      ...Object.entries(headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    ];
    expect(await sendRaw(head, "x")).toMatch(/^HTTP\/1.1 413 /);
  });

  it("is allowed from pages of other origins, since the URL carries the authorization", async () => {
    const { url } = await store.uploadTarget(newKey(), described("x"));
    const response = await fetch(url, {
      method: "OPTIONS",
      headers: {
        origin: "https://page.test",
        "access-control-request-method": "PUT",
        "access-control-request-headers": "content-type,x-amz-checksum-sha256",
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("access-control-allow-methods")).toBe("GET, PUT, POST");
    expect(response.headers.get("access-control-allow-headers")).toBe("content-type,x-amz-checksum-sha256");
    expect(response.headers.get("access-control-max-age")).toBe("3600");
  });
});

describe("an upload form", () => {
  const options = { mostBytes: 1_000_000, contentType: "text/plain" };
  type Field = readonly [name: string, value: string | Blob];
  const createFields = ({ fields = [] }: UploadTarget, content: string): Field[] =>
    fields.map(({ name, value }) => [name, value.kind === "static" ? value.value : new Blob([content])]);
  function send({ url }: UploadTarget, fields: readonly Field[]): Promise<Response> {
    const form = new FormData();
    for (const [name, value] of fields) {
      if (typeof value === "string") form.append(name, value);
      else form.append(name, value, "file");
    }
    return fetch(url, { method: "POST", body: form });
  }

  it("accepts a file repeatedly and keeps the last one", async () => {
    const key = newKey();
    const target = await store.uploadForm(key, options);
    expect(target.fields?.map(({ name }) => name)).toEqual([
      "key",
      "Content-Type",
      "x-amz-algorithm",
      "x-amz-date",
      "policy",
      "x-amz-signature",
      "file",
    ]);
    expect(target).toMatchObject({ url: baseUrl, method: "POST", headers: null });
    expect((await send(target, createFields(target, "first"))).status).toBe(204);
    expect((await send(target, createFields(target, "second"))).status).toBe(204);
    expect(await readText(key)).toBe("second");
  });

  it("accepts one byte to its maximum size", async () => {
    const key = newKey();
    const target = await store.uploadForm(key, { ...options, mostBytes: 300_000 });
    expect(await readCode(await send(target, createFields(target, "x".repeat(300_001))))).toBe("413 EntityTooLarge");
    expect(await readCode(await send(target, createFields(target, "x".repeat(20_000_000))))).toBe("413 EntityTooLarge");
    expect(await readCode(await send(target, createFields(target, "")))).toBe("400 EntityTooSmall");
    expect(await store.size(key)).toBeUndefined();
    expect(incomplete()).toEqual([]);
    expect((await send(target, createFields(target, "x".repeat(300_000)))).status).toBe(204);
    expect(await store.size(key)).toBe(300_000);
  });

  const changes: [string, (fields: Field[]) => Field[]][] = [
    ["another key", (fields) => fields.map(([name, value]) => [name, name === "key" ? "runs/other" : value])],
    ["another type", (fields) => fields.map(([name, value]) => [name, name === "Content-Type" ? "text/html" : value])],
    ["no key", (fields) => fields.filter(([name]) => name !== "key")],
    ["no policy", (fields) => fields.filter(([name]) => name !== "policy")],
    ["no signature", (fields) => fields.filter(([name]) => name !== "x-amz-signature")],
    ["a field that no condition is about", (fields) => [["acl", "public-read"], ...fields]],
    [
      "a policy of its own",
      (fields) => fields.map(([name, value]) => [name, name === "policy" ? policyFor("runs/other") : value]),
    ],
    ["two keys", (fields) => [["key", "runs/other"], ...fields]],
    ["its fields behind the file", (fields) => fields.toReversed()],
    ["fields that are too large", (fields) => [["key", "x".repeat(30_000)], ...fields]],
    ["no file", (fields) => fields.filter(([name]) => name !== "file")],
  ];
  const policyFor = (key: string) =>
    Buffer.from(JSON.stringify({ expiration: "2099-01-01T00:00:00.000Z", conditions: [{ key }] })).toString("base64");
  it.each(changes)("is rejected with %s", async (_, change) => {
    const key = newKey();
    const target = await store.uploadForm(key, options);
    const response = await send(target, change(createFields(target, "content")));
    expect([400, 403]).toContain(response.status);
    expect([await store.size(key), await store.size("runs/other")]).toEqual([undefined, undefined]);
    expect(incomplete()).toEqual([]);
  });

  it("is rejected after its expiry", async () => {
    const target = await store.uploadForm(newKey(), options);
    expect(await readCode(await later(600, () => send(target, createFields(target, "x"))))).toBe("403 AccessDenied");
    expect((await later(599, () => send(target, createFields(target, "x")))).status).toBe(204);
  });

  it.each([
    ["no form at all", "text/plain", "content"],
    ["a form without a boundary", "multipart/form-data", "content"],
    ["a form that never begins", "multipart/form-data; boundary=b", "content"],
    [
      "a form that ends in its fields",
      "multipart/form-data; boundary=b",
      '--b\r\ncontent-disposition: form-data; name="key"\r\n\r\nx',
    ],
    [
      "a form that ends in its file",
      "multipart/form-data; boundary=b",
      '--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nx',
    ],
  ])("is rejected if it is %s", async (_, contentType, body) => {
    const response = await fetch(baseUrl, { method: "POST", body, headers: { "content-type": contentType } });
    expect([400, 403]).toContain(response.status);
    expect(incomplete()).toEqual([]);
  });

  it("that is signed but ends within its file leaves no file", async () => {
    const key = newKey();
    const target = await store.uploadForm(key, options);
    const parts = createFields(target, "content").map(([name, value]) =>
      typeof value === "string"
        ? `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
        : `--b\r\ncontent-disposition: form-data; name="${name}"; filename="f"\r\n\r\ncontent`,
    );
    const headers = { "content-type": "multipart/form-data; boundary=b" };
    const response = await fetch(target.url, { method: "POST", body: parts.join(""), headers });
    expect(response.status).toBe(400);
    expect(await store.size(key)).toBeUndefined();
    expect(incomplete()).toEqual([]);
  });

  it("is accepted only at the base address", async () => {
    const target = await store.uploadForm(newKey(), options);
    const other = { ...target, url: `${target.url}/runs/other` };
    expect((await send(other, createFields(target, "x"))).status).toBe(405);
  });
});
