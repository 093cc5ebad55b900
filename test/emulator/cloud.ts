import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import type { EmulatorAccess } from "../../emulator/emulator-access.ts";
import { callEmulator } from "../../emulator/emulator-calls.ts";
import type { ServiceAddress } from "../support/api-client.ts";
import { freePort } from "../support/free-port.ts";

const root = path.resolve(import.meta.dirname, "../..");

/** `npm run emulator`: the deployment on an AWS emulator. */
export interface CloudProcess extends ServiceAddress {
  readonly process: ChildProcess;
  readonly state: string;
  readonly emulator: EmulatorAccess;
  /** Everything that it has printed so far. */
  readonly printed: () => string;
  readonly stop: () => Promise<number | null>;
}

export const makeState = (): Promise<string> => mkdtemp(path.join(tmpdir(), "runyard-emulator-"));
export const dropState = (state: string): Promise<void> => rm(state, { recursive: true, force: true });

/** The time of the deployment in which the execution of a run that a worker claimed must begin. */
export const CLAIM_SECONDS = 20;

/** Starts it with a state of its own and further settings, and waits until its sample run has ended. */
export async function startCloud(
  state: string,
  args: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<CloudProcess> {
  const port = args.includes("--port") ? [] : ["--port", String(await freePort())];
  const child = spawn(process.execPath, [path.join(root, "emulator/start.ts"), ...port, ...args], {
    cwd: root,
    env: { ...process.env, RUNYARD_STATE: state, WORKER_CLAIM_SECONDS: String(CLAIM_SECONDS), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("Ctrl-C stops it.")) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.on("exit", (code) => reject(new Error(`npm run emulator ended with ${code}:\n${text}`)));
  });
  const exited = new Promise<number | null>((resolve) => child.on("exit", (code) => resolve(code)));
  await ready;
  const local: unknown = JSON.parse(await readFile(path.join(state, "local.json"), "utf8"));
  return {
    process: child,
    state,
    baseUrl: member(local, "base_url"),
    apiKey: member(local, "api_key"),
    emulator: { endpoint: member(local, "emulator_url"), secretKey: member(local, "emulator_key") },
    printed: () => text,
    stop: () => {
      child.kill("SIGINT");
      return exited;
    },
  };
}

const LogEvents = v.object({ events: v.array(v.object({ message: v.string() })) });

/** The lines of a function's log that contain a text. */
export async function readLog(cloud: Pick<CloudProcess, "emulator">, name: string, text: string): Promise<string[]> {
  const input = { logGroupName: `/runyard/functions/${name}` };
  const { body } = await callEmulator(cloud.emulator, "logs", "Logs_20140328.FilterLogEvents", input);
  const { events } = v.parse(LogEvents, body);
  return events.map(({ message }) => message).filter((line) => line.includes(text));
}

function member(value: unknown, name: string): string {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof found !== "string") throw new Error(`local.json has no ${name}`);
  return found;
}
