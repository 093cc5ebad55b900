import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import type { EmulatorAccess } from "../../local/emulator-access.ts";
import { callEmulator } from "../../local/emulator-calls.ts";

const root = path.resolve(import.meta.dirname, "../..");

export interface CloudProcess {
  readonly process: ChildProcess;
  readonly state: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly emulator: EmulatorAccess;
  /** All that it has printed so far. */
  readonly printed: () => string;
  readonly stop: () => Promise<number | null>;
}

export const makeState = (): Promise<string> => mkdtemp(path.join(tmpdir(), "runyard-e2e-"));
export const dropState = (state: string): Promise<void> => rm(state, { recursive: true, force: true });

/** `npm run emulator` with a state of its own, up and ready, its sample run done. */
export async function startCloud(state: string, args: readonly string[] = []): Promise<CloudProcess> {
  const port = args.includes("--port") ? [] : ["--port", String(await freePort())];
  const child = spawn(process.execPath, [path.join(root, "local/start.ts"), ...port, ...args], {
    cwd: root,
    env: { ...process.env, RUNYARD_STATE: state },
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

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  readonly body: any;
}

/** A call of the API as a stranger's client makes it. */
export function client(cloud: Pick<CloudProcess, "baseUrl" | "apiKey">) {
  async function call(
    method: string,
    target: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await fetch(`${cloud.baseUrl}${target}`, {
      method,
      redirect: "manual",
      headers: {
        authorization: `Bearer ${cloud.apiKey}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
  }

  const create = async (prompt: string, more: Record<string, unknown> = {}): Promise<string> => {
    const reply = await call("POST", "/agent/runs", { prompt, ...more });
    if (reply.status !== 200) throw new Error(`create: ${reply.status} ${JSON.stringify(reply.body)}`);
    return reply.body.run_id;
  };

  /** Waits until the run is as wanted, and answers it. */
  async function until(runId: string, wanted: (run: Reply["body"]) => boolean, seconds = 60): Promise<Reply["body"]> {
    const deadline = Date.now() + seconds * 1000;
    while (true) {
      const { body } = await call("GET", `/agent/runs/${runId}`);
      if (wanted(body)) return body;
      if (Date.now() > deadline) throw new Error(`run ${runId} is still ${body.state} after ${seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  const ended = (runId: string, seconds = 60) =>
    until(runId, ({ state }) => ["SUCCEEDED", "FAILED", "ERROR", "BLOCKED", "CANCELLED"].includes(state), seconds);

  /** The text of every command's output in the run, in order. */
  async function outputs(runId: string): Promise<string[]> {
    const { body } = await call("GET", `/agent/runs/${runId}/conversation`);
    return body.steps
      .flatMap((step: Reply["body"]) => step.messages)
      .flatMap((message: Reply["body"]) => message.content)
      .filter((block: Reply["body"]) => block.type === "action_result")
      .map((block: Reply["body"]) => (typeof block.output === "string" ? block.output : block.output.stdout));
  }

  const timeline = async (runId: string): Promise<Reply["body"][]> =>
    (await call("GET", `/agent/runs/${runId}/timeline`)).body.events;

  return { call, create, until, ended, outputs, timeline };
}

const LogEvents = v.object({ events: v.array(v.object({ message: v.string() })) });

/** Lines of a function's log that hold each of the words, once the function has ended that wrote them. */
export async function logOf(cloud: Pick<CloudProcess, "emulator">, name: string, words: readonly string[]) {
  const input = { logGroupName: `/runyard/functions/${name}` };
  const { body } = await callEmulator(cloud.emulator, "logs", "Logs_20140328.FilterLogEvents", input);
  const { events } = v.parse(LogEvents, body);
  return events.map(({ message }) => message).filter((line) => words.every((word) => line.includes(word)));
}

/** A prompt of one or more fenced shell blocks. */
export const commands = (...blocks: readonly string[]): string =>
  blocks.map((block) => `\`\`\`sh\n${block}\n\`\`\``).join("\n\n");

async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() =>
        typeof address === "object" && address !== null ? resolve(address.port) : reject(new Error("no port")),
      );
    });
  });
}

function member(value: unknown, name: string): string {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  if (typeof found !== "string") throw new Error(`local.json has no ${name}`);
  return found;
}
