import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { VERSION } from "#server/command/version.ts";
import { eventually } from "../support/eventually.ts";

const run = promisify(execFile);
const source = path.resolve(import.meta.dirname, "../../../packages/runyard-server");
const place = mkdtempSync(path.join(tmpdir(), "runyard-server-user-"));
const program = path.join(place, "node_modules/.bin/runyard-server");
const environment = { PATH: process.env["PATH"], HOME: path.join(place, "home"), RUNYARD_SANDBOX: "none" };

/** Runs the installed program to its end. */
const execute = (...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> =>
  run(process.execPath, [program, ...args], { cwd: place, env: environment }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );

beforeAll(async () => {
  const { stdout } = await run("npm", ["pack", "--silent", "--pack-destination", place], { cwd: source });
  const tarball = path.join(place, stdout.trim().split("\n").at(-1) ?? "");
  await run("npm", ["install", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", tarball], { cwd: place });
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

/** Starts a self-hosted worker with the installed program, and has it execute a run. */
async function executeOnWorker(state: { readonly base_url: string; readonly api_key: string }): Promise<void> {
  const access = { RUNYARD_BASE_URL: state.base_url, RUNYARD_API_KEY: state.api_key };
  const worker = spawn(process.execPath, [program, "worker", "--id", "packed", "--no-sandbox"], {
    cwd: place,
    env: { ...environment, ...access },
    stdio: "ignore",
  });
  const ended = once(worker, "exit");
  const headers = { authorization: `Bearer ${state.api_key}`, "content-type": "application/json" };
  try {
    const body = JSON.stringify({ prompt: "```sh\necho packed\n```", config: { worker_host: "packed" } });
    const created = await fetch(`${state.base_url}/agent/runs`, { method: "POST", headers, body });
    const { run_id } = v.parse(v.object({ run_id: v.string() }), await created.json());
    await eventually(async () => {
      const response = await fetch(`${state.base_url}/agent/runs/${run_id}`, { headers });
      expect(await response.json()).toMatchObject({ state: "SUCCEEDED", execution_location: "REMOTE" });
    });
  } finally {
    worker.kill();
  }
  expect(await ended).toEqual([0, null]);
}

describe("the package runyard-server", () => {
  it("has no dependencies, and the licenses of what is inside", () => {
    const manifest = JSON.parse(readFileSync(path.join(place, "node_modules/runyard-server/package.json"), "utf8"));
    expect(manifest).not.toHaveProperty("dependencies");
    expect(manifest.version).toBe(VERSION);
    const licenses = readFileSync(
      path.join(place, "node_modules/runyard-server/dist/THIRD-PARTY-LICENSES.txt"),
      "utf8",
    );
    for (const name of ["valibot", "hono", "openai"]) expect(licenses).toContain(`==== ${name} (`);
  });

  it("describes its commands", async () => {
    expect((await execute("--version")).stdout.trim()).toBe(`runyard-server ${VERSION}`);
    const help = await execute("--help");
    const names = ["serve", "doctor", "backup", "restore", "export", "import", "login-link", "stop", "status"];
    expect(help).toMatchObject({ code: 0, stderr: "" });
    for (const name of names) {
      expect(help.stdout).toContain(`  ${name} `);
      expect(await execute(name, "--help")).toMatchObject({
        code: 0,
        stdout: expect.stringContaining(`Usage: runyard-server ${name} `),
      });
    }
    expect(await execute("unknown")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no command "unknown"'),
    });
  });

  it.each([
    ["20.20.2", 1, "runyard-server needs Node 24.2 or newer, and this is Node 20.20.2.\n"],
    ["24.1.0", 1, "runyard-server needs Node 24.2 or newer, and this is Node 24.1.0.\n"],
    ["24.2.0", 0, ""],
    ["26.0.0", 0, ""],
  ])("says which Node it needs on Node %s if that one is older", async (version, code, message) => {
    const node = `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`;
    const result = await run(process.execPath, ["--import", node, program, "--version"], { env: environment }).then(
      ({ stderr }) => ({ code: 0, stderr }),
      ({ code, stderr }) => ({ code, stderr }),
    );
    expect(result).toEqual({ code, stderr: expect.stringContaining(message) });
  });

  it("refuses to execute runs without isolation, which the doctor reports", async () => {
    const refused = await execute("serve", "--port", "24700");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("--no-sandbox") });
    const { stdout } = await execute("doctor", "--json");
    const { checks } = JSON.parse(stdout);
    expect(checks.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(["node", "isolation", "disk"]),
    );
  });

  it("executes the sample run with the files of the package", async () => {
    const { code, stdout } = await execute("serve", "--no-sandbox", "--once", "--port", "24700");
    expect([code, stdout]).toEqual([0, expect.stringContaining("SUCCEEDED")]);
    expect(existsSync(path.join(environment.HOME, ".runyard/data/runyard.db"))).toBe(true);
  });

  it("serves the API and the web page, and executes runs as a worker, until it is stopped", async () => {
    const child: ChildProcess = spawn(process.execPath, [program, "serve", "--no-sandbox", "--port", "24700"], {
      cwd: place,
      env: environment,
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    try {
      const file = path.join(environment.HOME, ".runyard/local.json");
      const state = await eventually(() => {
        const found = JSON.parse(readFileSync(file, "utf8"));
        expect(found.pid).toBe(child.pid);
        return found;
      });
      expect(await (await fetch(state.web_url)).text()).toContain("<html");
      const response = await fetch(`${state.base_url}/agent/runs`, {
        headers: { authorization: `Bearer ${state.api_key}` },
      });
      expect(await response.json()).toMatchObject({ runs: [{ state: "SUCCEEDED" }] });
      expect((await execute("status")).stdout).toContain(`process ${child.pid}`);
      await executeOnWorker(state);
      // The thread that checks expressions is a file of the package.
      const trigger = { name: "events", kind: "webhook", prompt: "Look", filter: "event.title" };
      const refused = await fetch(`${state.base_url}/agent/triggers`, {
        method: "POST",
        headers: { authorization: `Bearer ${state.api_key}`, "content-type": "application/json" },
        body: JSON.stringify(trigger),
      });
      expect(await refused.json()).toMatchObject({
        detail: expect.stringContaining("filter: line 1, column 6: event has no member title"),
      });
      expect((await execute("stop")).code).toBe(0);
    } finally {
      child.kill();
    }
    expect(await ended).toEqual([0, null]);
  });
});
