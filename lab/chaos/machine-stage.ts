import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { lastLines } from "../../server/host/commands.ts";
import { readJson } from "../../server/host/files.ts";
import { projectRoot } from "../../server/host/paths.ts";
import { firstFreePort } from "../../server/host/ports.ts";
import { Problem } from "../../server/host/terminal.ts";
import { MachineStore } from "./machine-store.ts";
import { generateStrikes, MACHINE_WEIGHTS } from "./plan.ts";
import type { Stage } from "./stage.ts";
import { classifyService, Targets } from "./targets.ts";

const LocalState = v.object({ base_url: v.string(), api_key: v.string() });
/** Two processes share an id, so that one can take over what the other leaves. */
const WORKER_ID = "chaos";
const WORKERS = 2;
const START_MS = 120_000;
const LOOK_MS = 50;

/** The service in one process, and workers that execute the runs that name them. */
export async function startMachine(): Promise<Stage> {
  const home = await mkdtemp(path.join(tmpdir(), "runyard-chaos-"));
  const [data, scratch] = [path.join(home, "data"), path.join(home, "tmp")];
  await mkdir(scratch);
  const port = await firstFreePort(4700);
  const serve = ["server/command/serve.ts", "--data", data, "--port", String(port), "--no-sample"];
  const service = new Program(serve, { TMPDIR: scratch }, path.join(home, "output"));
  const workers: Program[] = [];
  const quiesce = async () => {
    await Promise.all(workers.map((worker) => worker.stop()));
    await service.stop();
  };
  const stop = async () => {
    await quiesce();
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    service.start();
    const api = await waitForService(service, data);
    const server = api.baseUrl.replace(/\/api\/v1$/, "");
    const work = ["--id", WORKER_ID, "--server", server, "--max-tasks", "4", "--drain-seconds", "3"];
    for (let number = 1; number <= WORKERS; number++) {
      const variables = { TMPDIR: scratch, RUNYARD_API_KEY: api.key };
      const output = path.join(home, `worker-${number}`);
      const worker = new Program(["server/command/runyard-server.ts", "worker", ...work], variables, output);
      workers.push(worker);
      worker.start();
    }
    return {
      api,
      workerId: WORKER_ID,
      // The service has the scratch directory, and harnesses have theirs in the data directory.
      targets: new Targets(home, classifyService),
      store: new MachineStore(data),
      strikes: (seed) => generateStrikes(seed, MACHINE_WEIGHTS),
      killsPerRun: 0.3,
      countFaults: async () => undefined,
      quiesce,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Waits until the service serves. */
async function waitForService(service: Program, data: string) {
  for (const deadline = Date.now() + START_MS; Date.now() < deadline && service.isRunning; await pause(LOOK_MS)) {
    const state = await readJson(path.join(data, "local.json"), LocalState);
    if (state !== undefined) return { baseUrl: state.base_url, key: state.api_key };
  }
  throw new Problem("The service did not start.", lastLines(await service.readOutput(), 20));
}

/** A program that is started again whenever it has ended, as a service manager does. */
class Program {
  readonly #args: readonly string[];
  readonly #variables: Readonly<Record<string, string>>;
  readonly #output: string;
  #child: ChildProcess | undefined;
  #isStopping = false;

  /** @param output the file of its output */
  constructor(args: readonly string[], variables: Readonly<Record<string, string>>, output: string) {
    this.#args = args;
    this.#variables = variables;
    this.#output = output;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  start(): void {
    const output = openSync(this.#output, "a");
    const [file = "", ...args] = this.#args;
    const child = spawn(process.execPath, [path.join(projectRoot, file), ...args], {
      env: { ...process.env, ...this.#variables },
      stdio: ["ignore", output, output],
      // Ctrl-C reaches the test alone, which then ends the program.
      detached: true,
    });
    closeSync(output);
    this.#child = child;
    child.once("exit", (code, signal) => {
      // A signal may come before the program handles it.
      if ((signal !== null || code === 0) && !this.#isStopping) this.start();
    });
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === undefined || !this.isRunning) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }

  readOutput = (): Promise<string> => readFile(this.#output, "utf8").catch(() => "");
}
