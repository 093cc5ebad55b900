import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import { ensureWebApp } from "../../../host/http/web-app.ts";
import { eventually } from "../../server/support/eventually.ts";

const PROGRAM = path.resolve(import.meta.dirname, "../../../server/command/serve.ts");
const State = v.object({ base_url: v.string(), web_url: v.string(), api_key: v.string() });

export interface SingleMachine {
  /** Where the web app is. */
  readonly origin: string;
  readonly key: string;
  /** Calls the API as a program does, with the first key unless another one is named. */
  call(method: string, at: string, body?: unknown, key?: string): Promise<{ status: number; body: unknown }>;
  stop(): Promise<void>;
}

/** Starts the single machine with a new data directory and a web app that is built of the current sources. */
export async function startSingleMachine(environment: Readonly<Record<string, string>> = {}): Promise<SingleMachine> {
  await ensureWebApp();
  const directory = mkdtempSync(path.join(tmpdir(), "runyard-web-"));
  const child = spawn(process.execPath, [PROGRAM, "--data", directory, "--port", "24700", "--no-sample"], {
    env: { PATH: process.env["PATH"], HOME: directory, RUNYARD_SANDBOX: "none", ...environment },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += String(chunk)));
  await eventually(() => {
    if (!output.includes("Ctrl-C stops it.")) throw new Error(`the server does not serve:\n${output}`);
  });
  const state = v.parse(State, JSON.parse(readFileSync(path.join(directory, "local.json"), "utf8")));
  return {
    origin: state.web_url,
    key: state.api_key,
    call: (method, at, body, key = state.api_key) => callApi(state.base_url, key, method, at, body),
    async stop() {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function callApi(baseUrl: string, key: string, method: string, at: string, body?: unknown) {
  const response = await fetch(`${baseUrl}${at}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed: unknown = text === "" ? undefined : JSON.parse(text);
  return { status: response.status, body: parsed };
}

/** A prompt whose commands the built-in model runs, one after the other. */
const commands = (...scripts: readonly string[]): string =>
  scripts.map((script) => `\`\`\`sh\n${script}\n\`\`\``).join("\n\n");

const Created = v.object({ run_id: v.string() });

/** Creates a run that executes scripts. Returns its id. */
export async function createRun(machine: SingleMachine, title: string, ...scripts: string[]): Promise<string> {
  const body = { title, prompt: commands(...scripts), config: { model_id: "local/runbook" } };
  return v.parse(Created, (await machine.call("POST", "/agent/runs", body)).body).run_id;
}
