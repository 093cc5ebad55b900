import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import { type afterAll, afterEach } from "vitest";
import { compileCache } from "../../support/compile-cache.ts";
import { eventually } from "./eventually.ts";

const PROGRAM = path.resolve(import.meta.dirname, "../../../server/command/serve.ts");
/** Test files run at the same time, so each begins at another port. */
const PORT = 24_000 + (process.pid % 8_000);
const State = v.object({ base_url: v.string(), web_url: v.string(), api_key: v.string(), pid: v.number() });

export interface StartOptions {
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether the server has a process group of its own, which `signalGroup` needs. @default false */
  readonly hasOwnGroup?: boolean;
}

interface LaunchOptions extends StartOptions {
  /** @default "serve" */
  readonly command?: string;
}

/** Data directories and servers of the tests of one file; servers are stopped after each test, or with `afterAll` after all. */
export function useServers(after: typeof afterEach | typeof afterAll = afterEach) {
  const directories: string[] = [];
  const children: ChildProcessWithoutNullStreams[] = [];
  after(async () => {
    for (const child of children.splice(0)) await end(child, "SIGTERM");
    for (const made of directories.splice(0)) rmSync(made, { recursive: true, force: true });
  });

  const launch = (
    directory: string,
    { command = "serve", args = [], environment = {}, hasOwnGroup = false }: LaunchOptions,
  ) => {
    const own = ["--data", directory];
    if (command === "serve") choosePort(directory);
    const child = spawn(process.execPath, [PROGRAM, command, ...own, ...args], {
      env: { PATH: process.env["PATH"], HOME: directory, RUNYARD_SANDBOX: "none", ...compileCache(), ...environment },
      detached: hasOwnGroup,
    });
    children.push(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
    return { child, output: () => output };
  };

  return {
    directory(): string {
      const made = mkdtempSync(path.join(tmpdir(), "runyard-serve-"));
      directories.push(made);
      return made;
    },
    /** Starts a server on a directory, without the sample run, and waits until it serves. */
    async start(directory: string, options: StartOptions = {}) {
      const { child, output } = launch(directory, { ...options, args: ["--no-sample", ...(options.args ?? [])] });
      await eventually(() => {
        if (child.exitCode !== null) throw new Error(`the server ended:\n${output()}`);
        if (!output().includes("Ctrl-C stops it.")) throw new Error(`the server does not serve:\n${output()}`);
      });
      const state = v.parse(State, JSON.parse(readFileSync(path.join(directory, "local.json"), "utf8")));
      return {
        state,
        output,
        call: caller(state),
        kill: () => end(child, "SIGKILL"),
        stop: () => end(child, "SIGTERM"),
        /** Sends a signal to the server and its harnesses, as a terminal does, and waits until the server has ended. */
        signalGroup: (signal: NodeJS.Signals) => end(child, signal, -1),
      };
    },
    /** Runs the command to its end. */
    async run(directory: string, options: LaunchOptions = {}) {
      const { child, output } = launch(directory, options);
      const [code] = await once(child, "close");
      return { code, output: output() };
    },
  };
}

/**
 * Lets the first start on a directory prefer the port of this file. Unlike --port, a port of the last start is left to a program that
 * uses it already, such as another server of this file.
 */
function choosePort(directory: string): void {
  const file = path.join(directory, "local.json");
  if (!existsSync(directory) || existsSync(file)) return;
  const state = { base_url: "", web_url: "", port: PORT, api_key: "", team_uid: "", pid: 0 };
  writeFileSync(file, JSON.stringify(state), { mode: 0o600 });
}

export type Served = Awaited<ReturnType<ReturnType<typeof useServers>["start"]>>;

function caller({ base_url, api_key }: v.InferOutput<typeof State>) {
  return async (method: string, at: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(`${base_url}${at}`, {
      method,
      headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json", ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      redirect: "manual",
    });
    const text = await response.text();
    const isJson = response.headers.get("content-type")?.includes("json") ?? false;
    // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
    const parsed: any = isJson && text !== "" ? JSON.parse(text) : text;
    return { status: response.status, headers: response.headers, body: parsed };
  };
}

/** @param sign -1 signals the process group of the child */
async function end(child: ChildProcessWithoutNullStreams, signal: NodeJS.Signals, sign: 1 | -1 = 1): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  process.kill(sign * child.pid, signal);
  await ended;
}

/** A prompt whose commands are executed. */
export const commands = (script: string): string => `\`\`\`sh\n${script}\n\`\`\``;

/** Creates a run that executes a script. Returns its id. */
export async function createRun({ call }: Served, script: string): Promise<string> {
  const { status, body } = await call("POST", "/agent/runs", {
    prompt: commands(script),
    config: { model_id: "local/runbook" },
  });
  if (status !== 200) throw new Error(`the run was not created: ${JSON.stringify(body)}`);
  return body.run_id;
}

/** Waits until a run is in a state; a run can take long on a busy machine. */
export async function waitForState({ call }: Served, run: string, state: string) {
  const deadline = Date.now() + 150_000;
  while (true) {
    const { body } = await call("GET", `/agent/runs/${run}`);
    if (body.state === state) return body;
    if (Date.now() > deadline) throw new Error(`the run is ${body.state}: ${JSON.stringify(body.status_message)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
