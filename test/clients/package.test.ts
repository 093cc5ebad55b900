import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../../scripts/run-command.ts";
import { openBrowser } from "../web/support/browser.ts";
import { FaultServer, ResponseBody } from "./fault-server.ts";

const run = promisify(execFile);
const source = join(root, "clients/typescript");
const bin = (name: string): string => join(root, "node_modules/.bin", name);
const server = new FaultServer();
/** A third-party program that has installed the package. */
const folder = mkdtempSync(join(tmpdir(), "runyard-client-"));
let tarball = "";

beforeAll(async () => {
  await server.start();
  rmSync(join(source, "dist"), { recursive: true, force: true });
  // As a user packs it: `npm pack` builds it by the package's own script.
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", folder], { cwd: source });
  tarball = join(folder, stdout.trim().split("\n").at(-1) ?? "");
  cpSync(join(import.meta.dirname, "consumer"), folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  await run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball], { cwd: folder });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

describe("the package", () => {
  it("satisfies package managers and bundlers (publint)", async () => {
    const { messages, pkg } = await publint({ pack: { tarball: Uint8Array.from(readFileSync(tarball)).buffer } });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it("has types for every module resolution except CommonJS, which has to import() it (attw)", async () => {
    const { stdout } = await run(bin("attw"), [tarball, "--profile", "esm-only", "--format", "ascii"]);
    expect(stdout).toContain("(ignoring resolutions: 'node10', 'node16-cjs')");
    expect(stdout).toMatch(/node16 \(from ESM\): \S+ \(ESM\)/);
  });

  it("has no dependency, and contains only the listed files", async () => {
    const manifest = JSON.parse(readFileSync(join(folder, "node_modules/runyard/package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("dependencies");
    expect(existsSync(join(folder, "node_modules/runyard/api.md"))).toBe(true);
    expect(existsSync(join(folder, "node_modules/runyard/scripts"))).toBe(false);
  });

  it("fits in 12 kB, minified and compressed, with all of its methods", async () => {
    const bundled = await bundle("export * from 'runyard';");
    expect(gzipSync(bundled, { level: 9 }).length).toBeLessThan(12_000);
  });

  it.each([
    ["Node's types alone", { lib: ["es2022"], types: ["node"], module: "nodenext" }],
    ["a browser's types alone", { lib: ["es2022", "dom", "dom.iterable"], types: [], module: "esnext" }],
  ])("compiles with %s, strictly, also with the previous TypeScript", async (_, options) => {
    const compilerOptions = {
      ...options,
      moduleResolution: options.module === "nodenext" ? "nodenext" : "bundler",
      typeRoots: [join(root, "node_modules/@types")],
      target: "es2022",
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      skipLibCheck: options.types.length > 0,
      noEmit: true,
    };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["types.mts"] }));
    const tsc = join(source, "node_modules/typescript/bin/tsc");
    const { stdout } = await run(process.execPath, [tsc, "-p", folder]).catch(({ stdout }) => ({ stdout }));
    expect(stdout).toBe("");
  });
});

describe("the installed package behaves the same", () => {
  it.each([
    ["Node, as a module", process.execPath, ["main.mjs"]],
    ["Node, in CommonJS by import()", process.execPath, ["main.cjs"]],
    ["Deno", join(root, "node_modules/@deno/linux-x64-glibc/deno"), ["run", "--allow-net", "main.mjs"]],
    ["Bun", join(root, "node_modules/@oven/bun-linux-x64/bin/bun"), ["run", "main.mjs"]],
  ])("in %s", async (_, program, args) => {
    if (!existsSync(program)) throw new Error(`There is no ${program}: npm installs it on Linux with x64 and glibc.`);
    server.play(SCRIPT);
    const { stdout } = await run(program, [...args, server.api], { cwd: folder, timeout: 60_000 });
    expect(JSON.parse(stdout)).toEqual(EXPECTED);
    expectServerSawWhatItShould();
  });

  it("in a browser, from another origin, bundled by esbuild", async () => {
    server.pages = {
      "/": { type: "text/html", text: '<!doctype html><script type="module" src="/main.js"></script>' },
      "/main.js": {
        type: "text/javascript",
        text: await bundle('import { smoke } from "./smoke.mjs"; globalThis.smoke = smoke;'),
      },
      "/favicon.ico": { type: "image/x-icon", text: "" },
    };
    server.play(SCRIPT);
    const browser = await openBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(server.storage);
      await page.waitForFunction("globalThis.smoke !== undefined");
      expect(await page.evaluate(`globalThis.smoke(${JSON.stringify(server.api)})`)).toEqual(EXPECTED);
    } finally {
      await browser.close();
    }
    expectServerSawWhatItShould();
  });
});

async function bundle(contents: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
  });
  return outputFiles[0]?.text ?? "";
}

const event = (sequence: number) => ({ sequence, type: "messages", occurred_at: "", data: {} });
const TRANSCRIPT = '{"type":"run"}\n'.repeat(20_000);
const SCRIPT = v.parse(v.array(ResponseBody), [
  { body: { runs: [{ run_id: "r1" }], page_info: { has_next_page: true, next_cursor: "c1" } } },
  { body: { runs: [{ run_id: "r2" }], page_info: { has_next_page: false } } },
  { status: 503, headers: { "retry-after-ms": "1" } },
  { body: { run_id: "r1", task_id: "r1", state: "QUEUED" }, headers: { "x-request-id": "t-1" } },
  { status: 404, body: { title: "Resource not found", error_code: "resource_not_found", retryable: false } },
  { body: { events: [event(1)], next: 1, ended: false } },
  { reset: "before" },
  { body: { events: [event(2)], next: 2, ended: true } },
  { body: { download_url: "{storage}/t?sig=1", expires_at: "" } },
  { at: "storage", raw: TRANSCRIPT },
  { body: { attachment_id: "a1", upload: { url: "{storage}/up", method: "PUT", headers: { "x-amz-checksum": "c" } } } },
  { at: "storage" },
  { status: 307, headers: { location: "{storage}/elsewhere" } },
  { at: "storage", body: { run_id: "elsewhere" } },
  { body: {}, delay_ms: 1500 },
]);
const EXPECTED = {
  ids: ["r1", "r2"],
  created: "r1",
  requestId: "t-1",
  error: [true, "NotFoundError", "resource_not_found"],
  sequences: [1, 2],
  bytes: TRANSCRIPT.length,
  attachment: "a1",
  redirected: "elsewhere",
  aborted: "APIUserAbortError",
};

function expectServerSawWhatItShould(): void {
  expect(server.complaints).toEqual([]);
  expect(server.left).toBe(0);
  const [, , first, again] = server.seen;
  expect(first?.headers["idempotency-key"]).toBe(again?.headers["idempotency-key"]);
  expect(again?.headers["x-stainless-retry-count"]).toBe("1");
  const withKey = server.seen.filter(({ headers }) => "authorization" in headers);
  expect(withKey.filter(({ at }) => at === "storage")).toEqual([]);
  expect(withKey).toHaveLength(12);
}
