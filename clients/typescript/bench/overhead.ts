/**
 * Measures the overhead of the client over bare `fetch` on a persistent connection: `npm run bench`. The server runs in
 * its own process and returns a run immediately. Both kinds of calls alternate, so that other load affects both equally.
 */
import { fork } from "node:child_process";
import { createServer } from "node:http";
import { Runyard } from "../src/index.ts";

const CALLS = 5000;
const WARM_UP = 1000;

if (process.argv[2] === "server") serve();
else await measure();

function serve(): void {
  const run = JSON.stringify({
    run_id: "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e",
    task_id: "0199a3c4-7b1e-7c52-9d0e-3f6a8b2c4d5e",
    title: "Nightly tests",
    state: "SUCCEEDED",
    prompt: "Run the tests. ".repeat(60),
    created_at: "2026-05-18T19:00:00.000Z",
    updated_at: "2026-05-18T19:00:00.000Z",
  });
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json", "x-request-id": "t-1" }).end(run);
  });
  server.listen(0, "127.0.0.1", () => process.send?.(server.address()));
}

async function measure(): Promise<void> {
  const child = fork(import.meta.filename, ["server"]);
  const { port } = await new Promise<{ port: number }>((resolve) => child.on("message", resolve));
  const baseURL = `http://127.0.0.1:${port}/api/v1`;
  const client = new Runyard({ baseURL, apiKey: "ryp_x" });
  const headers = { authorization: "Bearer ryp_x", accept: "application/json" };
  const bare = async () => (await fetch(`${baseURL}/agent/runs/r1`, { headers })).json();
  const own = () => client.runs.retrieve("r1");
  const took: Record<"bare" | "own", number[]> = { bare: [], own: [] };
  for (let call = 0; call < CALLS + WARM_UP; call++) {
    for (const [name, make] of Object.entries({ bare, own })) {
      const begin = performance.now();
      await make();
      if (call >= WARM_UP) took[name === "own" ? "own" : "bare"].push(performance.now() - begin);
    }
  }
  child.kill();
  for (const percentile of [50, 90, 99]) {
    const [fetched, called] = [at(took.bare, percentile), at(took.own, percentile)];
    const ratio = (called / fetched).toFixed(2);
    console.log(`p${percentile}: fetch ${fetched.toFixed(3)} ms, client ${called.toFixed(3)} ms, ratio ${ratio}`);
  }
}

function at(values: readonly number[], percentile: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length * percentile) / 100)] ?? Number.NaN;
}
