import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import * as v from "valibot";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { newMark, sleepers } from "../support/processes.ts";

const Module = v.object({ runSandbox: v.function(), runSandboxAndExit: v.function() });
const sh = (command: string) => `\`\`\`sh\n${command}\n\`\`\`\n`;
const context = { getRemainingTimeInMillis: () => 120_000 };
let folder: string;
let invoke: (event: unknown, remainingMs?: number) => Promise<unknown>;
/** Invokes the handler for environments that executions share, on the runtime of Node. */
let invokeShared: (event: unknown) => Promise<unknown>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "harness-test-"));
  await build({
    entryPoints: { index: "functions/executions/run-sandbox.ts", harness: "harness/main.ts" },
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    banner: {
      js: 'import { createRequire as nodeRequire } from "node:module"; const require = nodeRequire(import.meta.url);',
    },
  });
  const module = v.parse(Module, await import(pathToFileURL(join(folder, "index.mjs")).href));
  const { runSandbox, runSandboxAndExit } = module;
  invokeShared = async (event) => runSandboxAndExit(event, context);
  invoke = async (event, remainingMs) =>
    runSandbox(event, remainingMs === undefined ? context : { getRemainingTimeInMillis: () => remainingMs });
});
beforeEach(() => {
  mkdirSync(join(folder, "tmp"), { recursive: true });
  vi.stubEnv("TMPDIR", join(folder, "tmp"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** Invokes the function as the dispatcher does: without a deadline. */
async function start(plane: FakeControlPlane, remainingMs?: number) {
  const { deadline_at: _, ...event } = plane.envelope;
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
  await invoke(event, remainingMs);
  return lines;
}

const leftovers = () => readdirSync(join(folder, "tmp"));

function harnessPid(): number {
  const lines = execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" }).split("\n");
  return Number.parseInt(lines.find((line) => line.includes(join(folder, "harness.mjs"))) ?? "", 10);
}

describe("run-sandbox", () => {
  it("runs the harness to its end and passes its lines on", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("echo hello") });
    const lines = await start(plane);
    expect(plane.outcome).toEqual({ success: true, summary: "Ran one command." });
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { message: "resolved" },
      { message: "finished" },
    ]);
    expect(plane.callsTo("report-shutdown")).toEqual([]);
    expect(leftovers()).toEqual([]);
  });

  it("gives the harness none of its own environment", async () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "the-cloud-credential");
    vi.stubEnv("RUNYARD_SANDBOX", "none");
    await using plane = await FakeControlPlane.start({ prompt: sh("tr '\\0' '\\n' < /proc/$PPID/environ; env") });
    await start(plane);
    expect(plane.outputs[0]).toContain("RUNYARD_EXECUTION=");
    expect(plane.outputs[0]).not.toMatch(/AWS_|the-cloud-credential/);
  });

  it("gives commands in bubblewrap none of its or the harness's environment, except for limits", async () => {
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "the-cloud-credential");
    vi.stubEnv("AWS_LAMBDA_RUNTIME_API", "127.0.0.1:9001");
    vi.stubEnv("RUNYARD_SANDBOX", "bubblewrap");
    vi.stubEnv("RUNYARD_COMMAND_PROCESSES", "77");
    const look = "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; env; ulimit -u";
    await using plane = await FakeControlPlane.start({ prompt: sh(look) });
    await start(plane);
    expect(plane.outputs[0]).toMatch(/RUNYARD_RUN_ID=[\s\S]*\n77\n$/);
    expect(plane.outputs[0]).not.toMatch(/AWS_|the-cloud-credential|127\.0\.0\.1|RUNYARD_SANDBOX/);
    expect(leftovers()).toEqual([]);
  });

  it("removes the files of a killed function, and none of a running one", async () => {
    const killed = spawnSync("true").pid;
    mkdirSync(join(folder, `tmp/runyard-sandbox-${killed}-abc/files`), { recursive: true, mode: 0o700 });
    mkdirSync(join(folder, `tmp/runyard-sandbox-${process.pid}-abc/files`), { recursive: true, mode: 0o700 });
    await using plane = await FakeControlPlane.start({ prompt: sh("true") });
    await start(plane);
    expect(leftovers()).toEqual([`runyard-sandbox-${process.pid}-abc`]);
    rmSync(join(folder, "tmp"), { recursive: true });
  });

  it("leaves the directory of a killed function to a harness that is still running", async () => {
    const { pid } = spawnSync("true");
    const scratch = join(folder, "tmp", `runyard-sandbox-${pid}-orphan`);
    mkdirSync(scratch, { mode: 0o700 });
    const harness = spawn("sleep", ["60"], { env: { TMPDIR: scratch } });
    await once(harness, "spawn");
    await using first = await FakeControlPlane.start({ prompt: sh("true") });
    await start(first);
    expect(leftovers()).toEqual([basename(scratch)]);
    harness.kill("SIGKILL");
    await once(harness, "exit");
    await using second = await FakeControlPlane.start({ prompt: sh("true") });
    await start(second);
    expect(leftovers()).toEqual([]);
  });

  it("exits after an execution in a shared environment, whose temporary files it removes before, but not after a scan", async () => {
    const exits: unknown[] = [];
    vi.spyOn(process, "exit").mockImplementation((code) => {
      exits.push([code, leftovers()]);
      throw new Error("exited");
    });
    writeFileSync(join(folder, "tmp", "left-by-another-run"), "");
    const scan = { kind: "scan", v: 1, url: "https://github.com/acme/shop", time_limit_ms: 1_000 };
    await expect(invokeShared(scan)).resolves.toMatchObject({ outcome: "failed" });
    expect([exits, leftovers()]).toEqual([[], ["left-by-another-run"]]);
    await using plane = await FakeControlPlane.start({ prompt: sh("true") });
    const { deadline_at: _, ...event } = plane.envelope;
    vi.spyOn(console, "log").mockReturnValue();
    await expect(invokeShared(event)).rejects.toThrow("exited");
    expect(plane.outcome?.success).toBe(true);
    expect(exits).toEqual([[0, []]]);
  });

  it("rejects an invalid envelope", async () => {
    await expect(invoke({ version: 2 })).rejects.toThrow();
  });

  it.each(["bubblewrap", "none"])("reports a killed harness and removes its files (%s)", async (sandbox) => {
    vi.stubEnv("RUNYARD_SANDBOX", sandbox);
    const mark = newMark();
    await using plane = await FakeControlPlane.start({ prompt: sh(`setsid sleep ${mark} & sleep ${mark}`) });
    const ended = start(plane);
    await expect.poll(() => sleepers(mark)).toBe(2);
    process.kill(harnessPid(), "SIGKILL");
    await ended;
    expect(plane.shutdown).toEqual({ error: { category: "harness_died", message: "the harness ended with SIGKILL" } });
    expect(plane.callsTo("report-shutdown")[0]?.headers["runyard-instance"]).toBeUndefined();
    await expect.poll(() => sleepers(mark)).toBe(0);
    expect(leftovers()).toEqual([]);
  });

  it("lets the harness end its run before the function times out", async () => {
    await using plane = await FakeControlPlane.start({ prompt: sh("sleep 60") });
    await start(plane, 11_000);
    expect(plane.results).toMatchObject([{ timed_out: true }]);
    expect(plane.outcome?.success).toBe(false);
  });
});
