import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleCli } from "../../cli/scripts/bundle.ts";
import { cliPage, pageFile } from "../../cli/scripts/page.ts";
import { VERSION } from "../../cli/src/version.ts";
import { root } from "../../scripts/run-command.ts";
import { FaultServer } from "../clients/fault-server.ts";
import { api, RUN } from "./responses.ts";

const run = promisify(execFile);
const server = new FaultServer();
const folder = mkdtempSync(path.join(tmpdir(), "runyard-cli-"));
const program = path.join(folder, "runyard.mjs");
const env = () => ({ PATH: process.env["PATH"], RUNYARD_API_KEY: "ryp_secret", RUNYARD_BASE_URL: server.api });

beforeAll(async () => {
  await server.start();
  const { text } = await bundleCli();
  writeFileSync(program, text, { mode: 0o755 });
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

describe("the package", () => {
  const manifest = JSON.parse(readFileSync(path.join(root, "cli/package.json"), "utf8"));

  it("has its version in one more place, and no dependency", () => {
    expect(VERSION).toBe(manifest.version);
    expect(manifest).not.toHaveProperty("dependencies");
    expect(manifest.engines).toEqual({ node: ">=20" });
  });

  it("calls no function that Node 20 lacks", () => {
    const text = readFileSync(program, "utf8");
    for (const name of ["Promise.withResolvers", "Promise.try", "Array.fromAsync", "RegExp.escape", "groupBy("])
      expect(text).not.toContain(name);
  });

  it("is one executable file with the licenses of its contents", () => {
    const text = readFileSync(program, "utf8");
    expect(text.startsWith("#!/usr/bin/env node\n")).toBe(true);
    for (const name of ["commander", "@commander-js/extra-typings", "valibot"])
      expect(text).toContain(`/*\n${name}\n\n`);
    expect(text.match(/Permission is hereby granted/g)?.length).toBeGreaterThanOrEqual(3);
  });
});

describe("docs/cli.md", () => {
  it("equals the commands' help; `npm run docs` generates it", () => {
    expect(readFileSync(pageFile, "utf8") === cliPage()).toBe(true);
  });
});

describe("the installed program", () => {
  const runs = api({
    runs: Array.from({ length: 500 }, (_, index) => ({ ...RUN, run_id: `r${index}`, title: "x".repeat(2000) })),
    page_info: { has_next_page: false },
  });

  it("starts by itself, responds and exits", async () => {
    server.play([runs]);
    const { stdout, stderr } = await run(program, ["runs", "list", "--json"], { env: env(), maxBuffer: 2 ** 24 });
    expect(JSON.parse(stdout).runs).toHaveLength(500);
    expect(stderr).toBe("");
  });

  it("ends silently with 141 if the reader of its output closes the pipe", async () => {
    server.play([runs]);
    const line = `"${process.execPath}" "${program}" runs list 2>err | head -n 1; echo "\${PIPESTATUS[0]}"`;
    const { stdout } = await run("bash", ["-c", line], { env: env(), cwd: folder });
    expect(stdout).toMatch(/^RUN .*\n141\n$/);
    expect(readFileSync(path.join(folder, "err"), "utf8")).toBe("");
  });

  it("says in one line that the output cannot be written", async () => {
    server.play([runs]);
    const line = `"${process.execPath}" "${program}" runs list 2>&1 >/dev/full; echo "$?"`;
    const { stdout } = await run("bash", ["-c", line], { env: env(), cwd: folder });
    expect(stdout).toMatch(/^error: The output cannot be written: ENOSPC.*\n1\n$/);
  });

  it("reads a prompt from a pipe", async () => {
    server.play([api({ run_id: "r1", task_id: "r1", state: "QUEUED" })]);
    const child = spawn(process.execPath, [program, "run", "-"], { env: env(), stdio: ["pipe", "ignore", "ignore"] });
    child.stdin.end("From a pipe");
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
    expect(JSON.parse(server.seen[0]?.body ?? "")).toEqual({ prompt: "From a pipe" });
  });

  it("leaves a run running on SIGTERM, and cancels it with --on-interrupt cancel", async () => {
    const script = [
      api({ run_id: "r1", task_id: "r1", state: "QUEUED" }),
      { ...api({ events: [], next: 0, ended: false }), delay_ms: 30_000 },
    ];
    const cancelled = [
      api("r1"),
      api({ events: [], next: 1, ended: true }),
      api({ ...RUN, state: "CANCELLED" }),
      api({ text: "", state: "CANCELLED", artifacts: [] }),
    ];
    for (const [more, responses, requestCount] of [
      [[], [], 2],
      [["--on-interrupt", "cancel"], cancelled, 6],
    ] as const) {
      server.play([...script, ...responses]);
      const args = [program, "run", "x", "--follow", ...more];
      const child = spawn(process.execPath, args, { env: env(), stdio: "ignore" });
      while (server.seen.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
      child.kill("SIGTERM");
      expect(await new Promise((resolve) => child.on("close", resolve))).toBe(130);
      expect(server.seen).toHaveLength(requestCount);
    }
  });

  it("is packed, installed from its tarball into an empty folder, and used there", async () => {
    const place = mkdtempSync(path.join(tmpdir(), "runyard-cli-user-"));
    try {
      const { stdout: packed } = await run("npm", ["pack", "--silent", "--pack-destination", place], {
        cwd: path.join(root, "cli"),
      });
      const tarball = path.join(place, packed.trim().split("\n").at(-1) ?? "");
      await run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball], {
        cwd: place,
      });
      server.play([runs]);
      const installed = path.join(place, "node_modules/.bin/runyard");
      const { stdout } = await run(installed, ["runs", "list", "--json"], { env: env(), maxBuffer: 2 ** 24 });
      expect(JSON.parse(stdout).runs).toHaveLength(500);
    } finally {
      rmSync(place, { recursive: true });
    }
  });

  it("runs the installed server, and prints the command that installs it", async () => {
    const tools = path.join(folder, "tools");
    mkdirSync(tools, { recursive: true });
    const alone = await run(process.execPath, [program, "serve"], { env: { PATH: tools } }).catch((error) => error);
    expect(alone).toMatchObject({ code: 1, stderr: expect.stringContaining("npm install --global ./runyard-server-") });

    writeFileSync(path.join(tools, "runyard-server"), '#!/bin/sh\necho "on the path: $*"; exit 3\n', { mode: 0o755 });
    const onPath = await run(process.execPath, [program, "doctor", "--port", "1", "--json"], {
      env: { PATH: `${tools}:/bin` },
    }).catch((error) => error);
    expect(onPath).toMatchObject({ code: 3, stdout: "on the path: doctor --port 1 --json\n" });

    const serverFolder = path.join(folder, "node_modules/runyard-server/dist/bin");
    mkdirSync(serverFolder, { recursive: true });
    writeFileSync(path.join(serverFolder, "runyard-server.mjs"), 'console.log("beside:", ...process.argv.slice(2));\n');
    const { stdout } = await run(process.execPath, [program, "serve", "--help"], { env: { PATH: tools } });
    expect(stdout).toBe("beside: serve --help\n");
  });

  it("completes in bash", async () => {
    const line = `runyard() { "${process.execPath}" "${program}" "$@"; }; source <(runyard completion bash)
      COMP_WORDS=(runyard runs list --so); COMP_CWORD=3; _runyard; echo "\${COMPREPLY[@]}"`;
    const { stdout } = await run("bash", ["-c", line], { env: env() });
    expect(stdout).toBe("--source --sort\n");
  });
});
