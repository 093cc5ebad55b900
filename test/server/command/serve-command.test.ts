import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runCommandLine } from "#server/command/command-line.ts";
import { checkoutProgram, type Program, packageProgram } from "#server/command/program.ts";
import { setLogOutput } from "#shared/log/log.ts";
import { firstFreePort } from "../../../server/host/ports.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const listeners = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));
const environment = { ...process.env };
/** Test files run at the same time, so each begins at another port. */
const PORT = 16_000 + (process.pid % 8_000);

/** Calls the listeners that the command has added for a signal. */
const sendSignal = (signal: (typeof SIGNALS)[number]) => {
  for (const listener of process.listeners(signal)) {
    if (listeners.get(signal)?.includes(listener) !== true) listener(signal);
  }
};
// Vitest starts this process with an IPC channel, so the command would run as a background service.
const { send } = process;
beforeEach(() => void Object.assign(process, { send: undefined }));
afterEach(() => {
  Object.assign(process, { send });
  vi.restoreAllMocks();
  for (const signal of SIGNALS) {
    for (const listener of process.listeners(signal)) {
      if (listeners.get(signal)?.includes(listener) !== true) process.removeListener(signal, listener);
    }
  }
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  setLogOutput((line) => void process.stdout.write(line));
});

/** Runs command lines of a program in this process, and collects what they print. */
function useProgram(program: Program, directory: string) {
  const lines: string[] = [];
  const add = (text: unknown) => void lines.push(...String(text).split("\n"));
  vi.spyOn(console, "log").mockImplementation(add);
  vi.spyOn(console, "error").mockImplementation(add);
  const start = (...args: readonly string[]) => runCommandLine([...args, "--data", directory], () => program);
  return {
    lines,
    start,
    /** Resolves with the exit code and what was printed meanwhile. */
    async run(...args: readonly string[]) {
      const from = lines.length;
      const code = await start(...args);
      return { code, lines: lines.slice(from) };
    },
  };
}
const readState = (directory: string) => JSON.parse(readFileSync(path.join(directory, "local.json"), "utf8"));

describe("runyard-server serve", () => {
  it("serves until a signal, with a key, a link and the other commands, and keeps key and port for the next start", async () => {
    const directory = data.directory();
    const { lines, run, start } = useProgram(packageProgram({ HOME: directory }), directory);
    const port = await firstFreePort(PORT);
    const url = `http://127.0.0.1:${port}`;
    const served = start("serve", "--no-sandbox", "--port", String(port), "--concurrency", "3", "--max-disk", "1GiB");
    await expect.poll(() => lines).toContain("Ctrl-C stops it.");
    try {
      const state = readState(directory);
      expect(state).toEqual({
        ...{
          base_url: `${url}/api/v1`,
          web_url: url,
          ws_url: `ws://127.0.0.1:${port}/workers`,
          port,
          pid: process.pid,
        },
        ...{ api_key: expect.stringMatching(/^ryp_/), team_uid: expect.any(String) },
      });
      expect(lines).toContainEqual(
        expect.stringMatching(/^✓ server +\S+ s {2}http:\S+, up to 3 runs at the same time$/),
      );
      expect(lines).toContainEqual(expect.stringMatching(/^ {2}ready after \d+\.\d s$/));
      expect(lines).toContain(`Key         api_key in ${directory}/local.json`);
      expect(lines.join("\n"), "there is no terminal").not.toMatch(/ryp_|works once/);
      const next = await run("login-link");
      expect(next).toEqual({ code: 0, lines: [expect.stringMatching(new RegExp(`^${url}/`))] });

      const headers = { authorization: `Bearer ${state.api_key}` };
      const runs = await fetch(`${state.base_url}/agent/runs`, { headers });
      expect([runs.status, await runs.json()]).toMatchObject([200, { runs: [] }]);

      const status = await run("status", "--json");
      expect([status.code, JSON.parse(status.lines.join(""))]).toMatchObject([
        0,
        {
          ...{ state: "running", pid: process.pid, base_url: state.base_url, web_url: url, local_url: url },
          ...{ isolation: "none", concurrency: 3, max_disk_bytes: 1024 ** 3, disk: { limit: 1024 ** 3 } },
        },
      ]);
      const shown = await run("status");
      expect([shown.code, shown.lines.slice(0, 2)]).toEqual([
        0,
        [expect.stringMatching(`^Runyard is running: process ${process.pid}, since `), `API         ${url}/api/v1`],
      ]);
      const again = await run("serve", "--no-sandbox");
      const refusal = `Runyard is already running on ${directory} at ${url}: stop process ${process.pid} first.`;
      expect(again).toEqual({ code: 1, lines: [refusal] });
      const healthy = await run("doctor", "--json", "--no-sandbox");
      const { ok, checks } = JSON.parse(healthy.lines.join(""));
      expect([healthy.code, ok]).toEqual([0, true]);
      expect(checks).toContainEqual({ name: "port", status: "ok", detail: `this service runs at ${url}` });
      const statusOf = (name: string) => checks.find((check: { name: string }) => check.name === name)?.status;
      expect(["node", "data", "key", "models"].map(statusOf)).toEqual(["ok", "ok", "ok", "warning"]);
    } finally {
      sendSignal("SIGTERM");
    }
    expect([await served, lines.at(-1)]).toEqual([0, "Stopping …"]);
    expect(await run("status", "--json")).toMatchObject({ code: 3 });
    await expect(fetch(url)).rejects.toThrow("fetch failed");

    const key = readState(directory).api_key;
    const other = useProgram(checkoutProgram({ HOME: directory }), directory);
    const busy = createServer();
    await new Promise<void>((resolve) => busy.listen(port, "127.0.0.1", resolve));
    try {
      expect(await other.run("serve", "--no-sandbox", "--once", "--no-sample", "--port", String(port))).toEqual({
        code: 1,
        lines: expect.arrayContaining([
          `Port ${port} is in use on 127.0.0.1.`,
          "  End the program that uses it, name another port, or omit --port to use the next free one.",
        ]),
      });
      expect(readState(directory), "the last start's").toMatchObject({ port, web_url: url });
      const code = await other.start("--no-sandbox", "--once", "--no-sample", "--url", "https://runyard.example");
      expect([code, readState(directory)]).toMatchObject([
        0,
        { api_key: key, web_url: "https://runyard.example", ws_url: "wss://runyard.example/workers" },
      ]);
      const used = readState(directory).port;
      expect(used).toBeGreaterThan(port);
      expect(other.lines).toContain(`! Port ${port} is busy: ${used} is used instead.`);
      expect(other.lines).not.toContain("Ctrl-C stops it.");
      await other.start("--no-sandbox", "--once", "--no-sample", "--url", "https://runyard.example:8443");
      expect(readState(directory).port).toBe(used);
      const { lines: checks } = await other.run("doctor", "--no-sandbox");
      expect(checks).toContain(`✓ port             ${used} is free`);
    } finally {
      busy.close();
    }
  });

  it.each([
    {
      ...{ kind: "a service", program: packageProgram({}), args: [] },
      message: "A service does not execute runs without isolation.",
    },
    {
      ...{ kind: "a server for other machines", program: checkoutProgram({}), args: ["--host", "127.0.0.2"] },
      message: "Runs are not executed for other machines (--host 127.0.0.2) without isolation.",
    },
  ])("refuses to execute runs of $kind without isolation", async ({ program, args, message }) => {
    const directory = data.directory();
    vi.stubEnv("RUNYARD_SANDBOX", "none");
    const { run } = useProgram(program, directory);
    const port = String(await firstFreePort(PORT));
    const { code, lines } = await run("serve", "--port", port, ...args);
    expect([code, lines.slice(-2)]).toEqual([1, [message, expect.stringMatching(/^ {2}Install bubblewrap, or use/)]]);
    expect(() => readState(directory)).toThrow("ENOENT");
  });

  it("says that the data directory cannot be written", async () => {
    const file = path.join(data.directory(), "file");
    writeFileSync(file, "");
    const { run } = useProgram(packageProgram({}), path.join(file, "data"));
    for (const args of [[], ["--detach"]]) {
      const { code, lines } = await run("serve", "--no-sandbox", ...args);
      expect([code, lines.slice(-2)]).toEqual([
        1,
        [
          expect.stringContaining(`The data directory ${file}/data cannot be written: `),
          "  Choose another directory with --data, or change who may write to this one.",
        ],
      ]);
    }
    expect(statSync(file).size).toBe(0);
  });
});

describe("runyard-server doctor", () => {
  it("prints each check with its mark and its remedy, and fails where one prevents runs", async () => {
    const directory = data.directory();
    const { run } = useProgram(packageProgram({}), directory);
    const [port, used] = [String(await firstFreePort(PORT)), createServer()];
    const usual = await run("doctor", "--no-sandbox", "--port", port);
    expect(usual.code).toBe(0);
    expect(usual.lines).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^✓ node {13}Node \d/),
        `✓ data             ${directory} is accessible to its owner only`,
        `✓ port             ${port} is free`,
        "! models           no model provider is configured: only fenced shell blocks run",
        "                   Set RUNYARD_ANTHROPIC_API_KEY or another one of docs/models.md.",
      ]),
    );
    await new Promise<void>((resolve) => used.listen(Number(port), "127.0.0.1", resolve));
    try {
      writeFileSync(path.join(directory, "runyard.db"), "");
      writeFileSync(
        path.join(directory, "local.json"),
        JSON.stringify({
          ...{ base_url: "", web_url: `http://127.0.0.1:${port}`, api_key: "", team_uid: "", pid: 1 },
        }),
      );
      const failed = await run("doctor", "--no-sandbox");
      expect(failed.code).toBe(1);
      expect(failed.lines).toEqual(
        expect.arrayContaining([
          `✗ key              ${directory}/runyard.key is missing, so secrets cannot be read`,
          "                   Put it back from a backup.",
          `! port             ${port} is used by another program`,
        ]),
      );
      const json = await run("doctor", "--no-sandbox", "--json");
      expect([json.code, JSON.parse(json.lines.join("")).ok]).toEqual([1, false]);
    } finally {
      used.close();
    }
  });
});
