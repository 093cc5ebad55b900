import { homedir, hostname } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { UsageError } from "#server/command/usage.ts";
import { parseAgentOptions, parseWorkerOptions } from "#server/worker/options.ts";

const ONLY_KEY = { RUNYARD_API_KEY: "ryp_key" };
const KEY = { ...ONLY_KEY, RUNYARD_BASE_URL: "http://127.0.0.1:4500" };
const DEFAULTS = {
  id: hostname(),
  maxTasks: 1,
  baseUrl: "http://127.0.0.1:4500/api/v1",
  key: "ryp_key",
  team: undefined,
  socketUrl: undefined,
  dryRun: false,
  isolates: true,
  drainSeconds: 300,
  directory: path.join(homedir(), ".runyard", "worker"),
};

describe("the options of a worker", () => {
  it("isolate commands and execute one run at a time by default", () => {
    expect(parseWorkerOptions([], KEY)).toEqual(DEFAULTS);
  });

  it.each<[string[], object]>([
    [["--id", "rack-7"], { id: "rack-7" }],
    [["--max-tasks", "1000"], { maxTasks: 1_000 }],
    [["--server", "https://a.example"], { baseUrl: "https://a.example/api/v1" }],
    [["--server", "https://a.example:8443/api/v1/"], { baseUrl: "https://a.example:8443/api/v1" }],
    [["--server", "https://a.example/runyard/"], { baseUrl: "https://a.example/runyard/api/v1" }],
    [["--ws-url", "wss://a.example/workers"], { socketUrl: "wss://a.example/workers" }],
    [["--ws-url", "ws://127.0.0.1:4500/workers"], { socketUrl: "ws://127.0.0.1:4500/workers" }],
    [["--drain-seconds", "86400"], { drainSeconds: 86_400 }],
    [["--data", "/srv/images"], { directory: "/srv/images" }],
    [["--dry-run"], { dryRun: true }],
    [["--no-sandbox"], { isolates: false }],
  ])("are parsed: %j", (args, expected) => {
    expect(parseWorkerOptions(args, KEY)).toEqual({ ...DEFAULTS, ...expected });
  });

  it("take address and team from the environment, and an option before it", () => {
    const environment = { ...KEY, RUNYARD_BASE_URL: "https://a.example/api/v1", RUNYARD_TEAM: "team-1" };
    const named = { ...DEFAULTS, baseUrl: "https://a.example/api/v1", team: "team-1" };
    expect(parseWorkerOptions([], environment)).toEqual(named);
    const other = { ...named, baseUrl: "https://b.example/api/v1" };
    expect(parseWorkerOptions(["--server", "https://b.example"], environment)).toEqual(other);
    expect(parseWorkerOptions([], { ...KEY, RUNYARD_TEAM: "" })).toEqual(DEFAULTS);
  });

  it.each([ONLY_KEY, { ...ONLY_KEY, RUNYARD_BASE_URL: "" }])(
    "are refused without an address, since the key would go to whatever listens at a preset one: %j",
    (environment) => {
      expect(() => parseWorkerOptions([], environment)).toThrow(UsageError);
      expect(() => parseWorkerOptions([], environment)).toThrow(
        "set --server or RUNYARD_BASE_URL, or use `runyard worker`",
      );
      expect(parseWorkerOptions(["--server", "https://a.example"], environment)?.baseUrl).toBe(
        "https://a.example/api/v1",
      );
    },
  );

  it.each<[string[], string]>([
    [["--max-tasks", "0"], "--max-tasks takes a number from 1 to 1000"],
    [["--max-tasks", "1001"], "--max-tasks takes a number from 1 to 1000"],
    [["--drain-seconds", "86401"], "--drain-seconds takes a number from 1 to 86400"],
    [["--server", "a.example"], "--server takes an address such as https://runyard.example.com"],
    [["--server", "ftp://a.example"], "--server takes an address such as https://runyard.example.com"],
    [["--ws-url", "https://a.example"], "--ws-url takes an address such as wss://runyard.example.com/workers"],
    [["word"], 'Unexpected argument "word".'],
  ])("are refused if they are not valid: %j", (args, message) => {
    expect(() => parseWorkerOptions(args, KEY)).toThrow(UsageError);
    expect(() => parseWorkerOptions(args, KEY)).toThrow(message);
  });

  it("need a key, except for help", () => {
    expect(() => parseWorkerOptions([], {})).toThrow("RUNYARD_API_KEY is missing");
    expect([parseWorkerOptions(["--help"], {}), parseWorkerOptions(["-h"], {})]).toEqual([undefined, undefined]);
  });
});

describe("the options of agent run", () => {
  const args = ["run", "--task-id", "run-1", "--server-root-url", "https://a.example"];
  const { directory } = DEFAULTS;
  const options = { runId: "run-1", baseUrl: "https://a.example/api/v1", key: "ryp_key", isolates: true, directory };

  it.each<[string[], object]>([
    [args, {}],
    [
      ["run", "--share", "--task-id=run-2", "--server-root-url=https://b.example", "--sandboxed"],
      { runId: "run-2", baseUrl: "https://b.example/api/v1" },
    ],
    [[...args, "--no-sandbox"], { isolates: false }],
  ])("are parsed, in both spellings, and those of other programs are ignored: %j", (given, expected) => {
    expect(parseAgentOptions(given, KEY)).toEqual({ ...options, ...expected });
  });

  it("prefer WARP_API_KEY, and take the address from the environment where none is given", () => {
    const environment = { ...KEY, WARP_API_KEY: "ryr_run", RUNYARD_BASE_URL: "https://c.example" };
    expect(parseAgentOptions(args, environment)).toEqual({ ...options, key: "ryr_run" });
    expect(parseAgentOptions(args.slice(0, 3), environment)).toMatchObject({ baseUrl: "https://c.example/api/v1" });
  });

  it.each<[string[], NodeJS.ProcessEnv, string]>([
    [[], KEY, "the only command is agent run"],
    [["start"], KEY, "agent start: the only command is agent run"],
    [["run", "--server-root-url", "https://a.example"], KEY, "--task-id is missing"],
    [["run", "--task-id", "run-1"], ONLY_KEY, "--server-root-url is missing"],
    [args, {}, "WARP_API_KEY is missing"],
    [["run", "--task-id", "run-1", "--server-root-url", "a"], KEY, "--server-root-url takes an address"],
  ])("are refused if something is missing or wrong: %j", (given, environment, message) => {
    expect(() => parseAgentOptions(given, environment)).toThrow(UsageError);
    expect(() => parseAgentOptions(given, environment)).toThrow(message);
  });

  it.each([[["--help"]], [["-h"]], [["run", "--help"]]])("ask for help with %j", (given) => {
    expect(parseAgentOptions(given, {})).toBeUndefined();
  });
});
