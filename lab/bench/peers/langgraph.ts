import { cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import * as v from "valibot";
import { lastLines } from "../../../server/host/commands.ts";
import { firstFreePort } from "../../../server/host/ports.ts";
import { Problem } from "../../../server/host/terminal.ts";
import { PROMPT_COMMAND, restBefore } from "../latency.ts";
import { calculateSpread, type Spread } from "../statistics.ts";
import { installPeer, respondsWithin, startPeer } from "./peer.ts";

/** What another local agent server takes to the first command, measured as ours is. */
export interface Comparison {
  readonly name: string;
  readonly runs: number;
  readonly firstCommand: Spread;
  readonly firstCommandAtOnce: Spread;
  readonly runsAtOnce: number;
}

const NAME = "langgraph-cli 0.4.40";
const START_MS = 60_000;

/**
 * `langgraph dev` with a graph of one node that runs the same command. It works inside the server's own process: without a
 * sandbox, a queue that outlives it, or a process of the run's own.
 */
export async function measureLanggraph(runs: number, runsAtOnce: number): Promise<Comparison> {
  const programs = await installPeer("langgraph");
  const folder = await mkdtemp(path.join(tmpdir(), "runyard-langgraph-"));
  await cp(path.join(import.meta.dirname, "langgraph-graph"), folder, { recursive: true });
  const port = await firstFreePort(18_700);
  const args = ["dev", "--no-browser", "--no-reload", "--n-jobs-per-worker", "16", "--port", String(port)];
  const env = { ...process.env, LANGGRAPH_CLI_NO_ANALYTICS: "1", LANGSMITH_TRACING: "false" };
  const peer = startPeer(path.join(programs, "langgraph"), args, folder, env);
  try {
    const base = `http://127.0.0.1:${port}`;
    if (!(await respondsWithin(peer.child, `${base}/ok`, START_MS))) {
      throw new Problem("langgraph dev did not start.", lastLines(peer.output(), 8));
    }
    await firstCommand(base);
    const times: number[] = [];
    for (let run = 0; run < runs; run++) {
      await restBefore(run);
      times.push(await firstCommand(base));
    }
    const together = await Promise.all(Array.from({ length: runsAtOnce }, () => firstCommand(base)));
    return {
      name: NAME,
      runs,
      firstCommand: calculateSpread(times),
      firstCommandAtOnce: calculateSpread(together),
      runsAtOnce,
    };
  } finally {
    await peer.end();
  }
}

async function firstCommand(base: string): Promise<number> {
  const since = Date.now();
  const { thread_id } = await post(`${base}/threads`, {}, v.object({ thread_id: v.string() }));
  const input = { assistant_id: "agent", input: { command: PROMPT_COMMAND } };
  const runs = `${base}/threads/${thread_id}/runs`;
  const { run_id } = await post(runs, input, v.object({ run_id: v.string() }));
  const response = await fetch(`${runs}/${run_id}/join`, { signal: AbortSignal.timeout(60_000) });
  const { output } = v.parse(v.object({ output: v.pipe(v.string(), v.trim(), v.toNumber()) }), await response.json());
  return output - since;
}

async function post<S extends v.GenericSchema>(url: string, body: unknown, schema: S): Promise<v.InferOutput<S>> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(60_000) };
  return v.parse(schema, await (await fetch(url, init)).json());
}
