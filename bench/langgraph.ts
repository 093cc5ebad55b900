import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import * as v from "valibot";
import { lastLines, runCommand } from "../host/commands.ts";
import { projectRoot } from "../host/paths.ts";
import { firstFreePort } from "../host/ports.ts";
import { Problem } from "../host/terminal.ts";
import { PROMPT_COMMAND, restBefore } from "./latency.ts";
import { type Spread, spreadOf } from "./statistics.ts";

/** What another local agent server takes to the first command, measured as ours is. */
export interface Comparison {
  readonly name: string;
  readonly runs: number;
  readonly firstCommand: Spread;
  readonly firstCommandAtOnce: Spread;
  readonly runsAtOnce: number;
}

/** Pinned, so that a later figure differs by our doing alone. */
const PACKAGES = ["langgraph-cli[inmem]==0.4.40", "langgraph-api==0.16.7", "langgraph==1.2.22"];
const START_MS = 60_000;

/**
 * `langgraph dev` with a graph of one node that runs the same command. It works inside the server's own process: without a
 * sandbox, a queue that outlives it, or a process of the run's own.
 */
export async function measureLanggraph(runs: number, runsAtOnce: number): Promise<Comparison> {
  const programs = await installed();
  const folder = await mkdtemp(path.join(tmpdir(), "runyard-langgraph-"));
  await cp(path.join(import.meta.dirname, "langgraph"), folder, { recursive: true });
  const port = await firstFreePort(18_700);
  const args = ["dev", "--no-browser", "--no-reload", "--n-jobs-per-worker", "16", "--port", String(port)];
  const child = spawn(path.join(programs, "langgraph"), args, {
    cwd: folder,
    env: { ...process.env, LANGGRAPH_CLI_NO_ANALYTICS: "1", LANGSMITH_TRACING: "false" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const said: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => said.push(chunk));
  try {
    const base = `http://127.0.0.1:${port}`;
    if (!(await answers(child, base))) {
      throw new Problem("langgraph dev did not start.", lastLines(Buffer.concat(said).toString(), 8));
    }
    await firstCommand(base);
    const times: number[] = [];
    for (let run = 0; run < runs; run++) {
      await restBefore(run);
      times.push(await firstCommand(base));
    }
    const together = await Promise.all(Array.from({ length: runsAtOnce }, () => firstCommand(base)));
    const name = PACKAGES[0]?.replace(/\[.*==/, " ") ?? "langgraph";
    return { name, runs, firstCommand: spreadOf(times), firstCommandAtOnce: spreadOf(together), runsAtOnce };
  } finally {
    await end(child);
    await rm(folder, { recursive: true, force: true });
  }
}

async function firstCommand(base: string): Promise<number> {
  const since = Date.now();
  const { thread_id } = await post(`${base}/threads`, {}, v.object({ thread_id: v.string() }));
  const input = { assistant_id: "agent", input: { command: PROMPT_COMMAND } };
  const runs = `${base}/threads/${thread_id}/runs`;
  const { run_id } = await post(runs, input, v.object({ run_id: v.string() }));
  const answer = await fetch(`${runs}/${run_id}/join`, { signal: AbortSignal.timeout(60_000) });
  const { output } = v.parse(v.object({ output: v.pipe(v.string(), v.trim(), v.toNumber()) }), await answer.json());
  return output - since;
}

async function post<S extends v.GenericSchema>(url: string, body: unknown, schema: S): Promise<v.InferOutput<S>> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(60_000) };
  return v.parse(schema, await (await fetch(url, init)).json());
}

/** The folder of its programs, in an environment that is made once. */
async function installed(): Promise<string> {
  const venv = path.join(projectRoot, ".runyard", "langgraph");
  const python = path.join(venv, "bin", "python");
  const check = await runCommand(python, ["-m", "pip", "install", "--quiet", "--no-index", ...PACKAGES]);
  if (check.code === 0) return path.join(venv, "bin");
  await rm(venv, { recursive: true, force: true });
  const made = await runCommand(process.env["RUNYARD_PYTHON"] ?? "python3", ["-m", "venv", venv]);
  const filled = made.code === 0 ? await runCommand(python, ["-m", "pip", "install", "--quiet", ...PACKAGES]) : made;
  if (filled.code !== 0) throw new Problem("langgraph could not be installed.", lastLines(filled.output, 5));
  return path.join(venv, "bin");
}

async function answers(child: ChildProcess, base: string): Promise<boolean> {
  for (const deadline = Date.now() + START_MS; Date.now() < deadline; await pause(100)) {
    if (child.exitCode !== null || child.pid === undefined) return false;
    const ok = await fetch(`${base}/ok`, { signal: AbortSignal.timeout(2_000) }).then(
      async (answer) => {
        await answer.body?.cancel();
        return answer.ok;
      },
      () => false,
    );
    if (ok) return true;
  }
  return false;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  await Promise.race([ended, pause(5_000, undefined, { ref: false })]);
  child.kill("SIGKILL");
}
