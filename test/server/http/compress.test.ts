import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chooseEncoding } from "../../../server/host/http/compress.ts";
import { serveWebPage } from "../../../server/host/http/web-page.ts";

describe("the content coding of a response", () => {
  it.each([
    [undefined, undefined],
    ["", undefined],
    ["identity", undefined],
    ["gzip", "gzip"],
    ["gzip, deflate, br", "br"],
    ["GZIP;q=0.5, BR;q=1.0", "br"],
    ["br;q=0, gzip", "gzip"],
    ["br;q=0.0, gzip;q=0", undefined],
    ["*", "br"],
    ["*, br;q=0", "gzip"],
    ["zstd", undefined],
  ])("for Accept-Encoding %j is %s", (accepted, expected) => {
    expect(chooseEncoding(accepted)).toBe(expected);
  });
});

describe("a file of the web page", () => {
  const script = "export const value = 1;\n".repeat(200);
  let folder: string;
  let server: Server;
  let port: number;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "web-page-"));
    await mkdir(join(folder, "assets"));
    await writeFile(join(folder, "assets/app-1.js"), script);
    await writeFile(join(folder, "assets/font-1.woff2"), Buffer.alloc(3_000));
    await writeFile(join(folder, "index.html"), "<p>short</p>");
    server = createServer((incoming, outgoing) => {
      void serveWebPage(incoming.url ?? "/", incoming.method ?? "GET", outgoing, folder);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address: AddressInfo = JSON.parse(JSON.stringify(server.address()));
    port = address.port;
  });
  afterAll(async () => {
    await new Promise((resolve) => server.close(resolve));
    await rm(folder, { recursive: true });
  });

  async function get(path: string, accepted: string, method = "GET") {
    const sent = request({ port, host: "127.0.0.1", path, method, headers: { "accept-encoding": accepted } }).end();
    const response = await new Promise<import("node:http").IncomingMessage>((resolve) =>
      sent.once("response", resolve),
    );
    return { headers: response.headers, body: await buffer(response) };
  }

  it.each([
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ])("is compressed by %s for a client that accepts it, each time", async (encoding, decompress) => {
    for (const _ of ["first", "kept"]) {
      const { headers, body } = await get("/assets/app-1.js", encoding);
      expect(headers).toMatchObject({ "content-encoding": encoding, vary: "accept-encoding" });
      expect(headers["content-length"]).toBe(String(body.length));
      expect(body.length).toBeLessThan(script.length / 10);
      expect(decompress(body).toString()).toBe(script);
    }
  });

  it("is sent as the build has compressed it, where it has", async () => {
    await writeFile(join(folder, "assets/built-1.js"), script);
    await writeFile(join(folder, "assets/built-1.js.br"), brotliCompressSync("made by the build"));
    const { headers, body } = await get("/assets/built-1.js", "br, gzip");
    expect([headers["content-encoding"], brotliDecompressSync(body).toString()]).toEqual(["br", "made by the build"]);
    expect((await get("/assets/built-1.js.br", "br")).headers["content-type"]).toContain("text/plain");
  });

  it("is sent as it is to others, and caches know that there are two forms", async () => {
    const { headers, body } = await get("/assets/app-1.js", "identity");
    expect([headers["content-encoding"], headers.vary, body.toString()]).toEqual([
      undefined,
      "accept-encoding",
      script,
    ]);
  });

  it("has the length of its compressed form in the response to HEAD", async () => {
    const { body } = await get("/assets/app-1.js", "gzip");
    const head = await get("/assets/app-1.js", "gzip", "HEAD");
    expect([head.headers["content-length"], head.body.length]).toEqual([String(body.length), 0]);
  });

  it.each(["/assets/font-1.woff2", "/"])("that is short or compressed already is sent as it is: %s", async (path) => {
    const { headers } = await get(path, "br, gzip");
    expect([headers["content-encoding"], headers.vary]).toEqual([undefined, undefined]);
  });
});
