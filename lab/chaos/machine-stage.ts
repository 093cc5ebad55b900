import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
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
const START_MS = 120_000;
const LOOK_MS = 50;

/** The service in one process, which is started again whenever it is killed, as a service manager does. */
export async function startMachine(): Promise<Stage> {
  const home = await mkdtemp(path.join(tmpdir(), "runyard-chaos-"));
  const [data, scratch] = [path.join(home, "data"), path.join(home, "tmp")];
  await mkdir(scratch);
  const service = new Service(data, scratch, await firstFreePort(4700));
  const stop = async () => {
    await service.stop();
    await rm(home, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const api = await service.start();
    return {
      api,
      // The service has the scratch directory, and harnesses have theirs in the data directory.
      targets: new Targets(home, classifyService),
      store: new MachineStore(data),
      strikes: (seed) => generateStrikes(seed, MACHINE_WEIGHTS),
      killsPerRun: 0.3,
      countFaults: async () => undefined,
      quiesce: () => service.stop(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

class Service {
  readonly #data: string;
  readonly #scratch: string;
  readonly #port: number;
  #child: ChildProcess | undefined;
  #isStopping = false;

  constructor(data: string, scratch: string, port: number) {
    this.#data = data;
    this.#scratch = scratch;
    this.#port = port;
  }

  /** Starts it, and waits until it serves. */
  async start() {
    this.#spawn();
    for (const deadline = Date.now() + START_MS; Date.now() < deadline; await pause(LOOK_MS)) {
      const state = await readJson(path.join(this.#data, "local.json"), LocalState);
      if (state !== undefined) return { baseUrl: state.base_url, key: state.api_key };
      if (this.#child?.exitCode !== null) break;
    }
    const output = await readFile(this.#output(), "utf8").catch(() => "");
    throw new Problem("The service did not start.", lastLines(output, 20));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }

  #output = (): string => path.join(path.dirname(this.#data), "output");

  #spawn(): void {
    const output = openSync(this.#output(), "a");
    const options = ["--data", this.#data, "--port", String(this.#port), "--no-sample"];
    const child = spawn(process.execPath, [path.join(projectRoot, "server/command/serve.ts"), ...options], {
      env: { ...process.env, TMPDIR: this.#scratch },
      stdio: ["ignore", output, output],
      // Ctrl-C reaches the test alone, which then ends the service.
      detached: true,
    });
    this.#child = child;
    child.once("exit", (code, signal) => {
      if ((signal === "SIGKILL" || code === 0) && !this.#isStopping) this.#spawn();
    });
  }
}
