import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serveWebPage } from "#server/host/http/web-page.ts";
import { startServer } from "../../support/http-server.ts";

let directory: string;
let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), "runyard-page-"));
  await writeFile(path.join(directory, "index.html"), "<!doctype html>app");
  await writeFile(path.join(directory, "paths.json"), JSON.stringify(["/", "/runs/$runId"]));
  server = await startServer((incoming, response) => {
    void serveWebPage(incoming.url ?? "/", incoming.method ?? "GET", response, directory);
  });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

// `fetch` sends a mode of its own.
function get(at: string, headers: Record<string, string> = {}) {
  return new Promise<unknown[]>((resolve, reject) => {
    request(`${server.url}${at}`, { headers }, async (response) => {
      resolve([response.statusCode, response.headers["content-type"], await text(response)]);
    })
      .on("error", reject)
      .end();
  });
}
const app = "<!doctype html>app";
const html = "text/html; charset=utf-8";
const none = [404, "text/plain; charset=utf-8", "There is no such page. The API is at /api/v1.\n"];

describe("an address without a page", () => {
  it.each<Record<string, string>>([
    { accept: "text/html,application/xhtml+xml,*/*;q=0.8" },
    { accept: "*/*", "sec-fetch-mode": "navigate" },
  ])("gets the app with status 404 for a browser that goes there: %j", async (headers) => {
    expect(await get("/nope", headers)).toEqual([404, html, app]);
  });

  it.each<Record<string, string>>([
    {},
    { accept: "*/*" },
    { accept: "application/json" },
    { accept: "text/html", "sec-fetch-mode": "cors" },
  ])("gets a plain text with status 404 for anything else: %j", async (headers) => {
    expect(await get("/nope", headers)).toEqual(none);
    expect(await get("/nope.js", headers)).toEqual(none);
  });
});

describe("an address of the app", () => {
  it("gets the app, whatever requests it", async () => {
    for (const at of ["/", "/runs/1", "/runs/1?tab=files"]) expect(await get(at)).toEqual([200, html, app]);
  });
});
