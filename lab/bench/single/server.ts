import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import type { Api } from "../../../server/host/api.ts";
import { readJson } from "../../../server/host/files.ts";
import { projectRoot } from "../../../server/host/paths.ts";
import { firstFreePort } from "../../../server/host/ports.ts";
import { Problem } from "../../../server/host/terminal.ts";
import { endCloud, untilReady } from "../cloud.ts";
import { onInterrupt } from "../interruption.ts";

/** A single-machine server of a measurement's own. */
export interface BenchServer {
  readonly api: Api;
  readonly pid: number;
  /** Milliseconds until it was ready. */
  readonly readyMs: number;
  stop(): Promise<void>;
}

const LocalState = v.object({ base_url: v.string(), api_key: v.string() });

/** Creates a state directory for servers, which is deleted at the end, or when the benchmark is interrupted. */
export async function stateDirectory(): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const state = await mkdtemp(path.join(tmpdir(), "runyard-bench-"));
  const remove = () => rm(state, { recursive: true, force: true, maxRetries: 3 });
  const cancel = onInterrupt(remove);
  return { path: state, remove: () => remove().finally(cancel) };
}

/** Starts `npm start` without its sample run. An interruption stops it. */
export async function startServer(state: string, environment: NodeJS.ProcessEnv = process.env): Promise<BenchServer> {
  const port = await firstFreePort(4900);
  const began = performance.now();
  const program = path.join(projectRoot, "server/command/serve.ts");
  const child = spawn(process.execPath, [program, "--no-sample", "--port", String(port)], {
    cwd: projectRoot,
    env: { ...environment, RUNYARD_STATE: state },
    stdio: ["ignore", "pipe", "pipe"],
    // Ctrl-C reaches the benchmark alone, which then stops the server.
    detached: true,
  });
  const cancel = onInterrupt(() => endCloud(child));
  const stop = () => endCloud(child).finally(cancel);
  try {
    await untilReady(child);
    const readyMs = performance.now() - began;
    const local = await readJson(path.join(state, "local.json"), LocalState);
    if (local === undefined || child.pid === undefined) throw new Problem("The server left no address.");
    return {
      api: { baseUrl: local.base_url, key: local.api_key },
      pid: child.pid,
      readyMs,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
