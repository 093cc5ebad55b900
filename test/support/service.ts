import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import type { ServiceAddress } from "./api-client.ts";
import { compileCache } from "./compile-cache.ts";

const PROGRAM = path.resolve(import.meta.dirname, "../../server/command/serve.ts");
const LocalState = v.object({ base_url: v.string(), api_key: v.string() });

/** A service on this machine, in one process, as `npm start` starts it. */
export interface TestService extends ServiceAddress, AsyncDisposable {
  readonly pid: number;
  /** The data directory; local.json is in it. */
  readonly directory: string;
  /** Everything that it has printed so far. */
  readonly printed: () => string;
  /** Ends it as Ctrl-C does. Returns its exit code. */
  readonly stop: () => Promise<number | null>;
  /** Kills it with SIGKILL. */
  readonly kill: () => Promise<void>;
}

export interface ServiceOptions {
  /** @default a temporary directory that is removed when the service is disposed */
  readonly directory?: string;
  /** Further arguments of `npm start`. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a service on the next free port and waits until it serves. Commands of its runs are isolated as on any other machine. */
export async function startService({
  directory,
  args = [],
  environment = {},
}: ServiceOptions = {}): Promise<TestService> {
  const data = directory ?? (await mkdtemp(path.join(tmpdir(), "runyard-service-")));
  const options = ["--data", data, "--no-sample", ...args];
  const child = spawn(process.execPath, [PROGRAM, ...options], {
    env: { PATH: process.env["PATH"], HOME: data, TMPDIR: tmpdir(), ...compileCache(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    return exited;
  };
  const printed = await untilReady(child);
  const state = v.parse(LocalState, JSON.parse(await readFile(path.join(data, "local.json"), "utf8")));
  return {
    baseUrl: state.base_url,
    apiKey: state.api_key,
    pid: child.pid ?? 0,
    directory: data,
    printed,
    stop: () => end("SIGINT"),
    kill: async () => void (await end("SIGKILL")),
    async [Symbol.asyncDispose]() {
      await end("SIGTERM");
      if (directory === undefined) await rm(data, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

async function untilReady(child: ChildProcess): Promise<() => string> {
  let text = "";
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("Ctrl-C stops it.")) resolve();
    };
    child.stdout?.on("data", read);
    child.stderr?.on("data", read);
    child.on("exit", (code) => reject(new Error(`the service ended with ${code}:\n${text}`)));
  });
  return () => text;
}
