import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sendMessage } from "#functions/mcp/send-message.ts";
import { createRun } from "#functions/runs/create-run.ts";
import { createAdminKey } from "#server/admin-key.ts";
import { endpointServer } from "#server/http/serve-endpoint.ts";
import { startServer } from "../../support/http-server.ts";
import { type Installation, openInstallation } from "../support/in-process.ts";

/** The program of `runyard`. */
const CLI = path.resolve(import.meta.dirname, "../../../cli/src/main.ts");

vi.spyOn(process.stdout, "write").mockReturnValue(true);

let installation: Installation;
let server: Awaited<ReturnType<typeof startServer>>;
let url: string;
let key: string;
let runId: string;
/** How often the head of the run was read, and how many tools wait for its changes. */
let reads: () => number;
let waiting: number;

beforeEach(async () => {
  installation = await openInstallation();
  const { adapters, ports } = installation;
  key = (await createAdminKey(adapters.database, adapters.table)).api_key;
  waiting = 0;
  const signals: typeof ports.signals = {
    subscribe(...about) {
      const subscription = ports.signals.subscribe(...about);
      waiting++;
      const close = () => {
        waiting--;
        subscription.close();
      };
      return { ...subscription, close: onceOnly(close) };
    },
  };
  const serve = endpointServer();
  server = await startServer((incoming, outgoing) => {
    const isMcp = incoming.url === "/api/v1/mcp";
    const routeKey = isMcp ? "POST /mcp" : "POST /agent/runs";
    const served = { ...ports, signals, who: ["personal" as const] };
    void serve({ incoming, outgoing, routeKey, pathParameters: {} }, isMcp ? sendMessage : createRun, served);
  });
  url = `${server.url}/api/v1`;
  const created = await fetch(`${url}/agent/runs`, { method: "POST", headers: headers(), body: '{"prompt":"wait"}' });
  runId = v.parse(v.object({ run_id: v.string() }), await created.json()).run_id;
  const head = vi.spyOn(ports.runs, "head");
  reads = () => head.mock.calls.length;
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await installation.close();
});

const headers = () => ({ authorization: `Bearer ${key}`, "content-type": "application/json" });
const call = () =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "wait_for_run", arguments: { run_id: runId } },
  });

/** Wakes whatever waits for the run. */
async function changeRun(): Promise<void> {
  installation.adapters.signals.notify(runId);
  await new Promise((resolve) => setImmediate(resolve));
}

function onceOnly(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

/** Waits until the tool has ended its wait, and expects that it has not read the run again, nor reads later changes. */
async function expectNoReads(before: number): Promise<void> {
  await expect.poll(() => waiting).toBe(0);
  for (let change = 0; change < 3; change++) await changeRun();
  expect(reads()).toBe(before);
}

describe("wait_for_run", () => {
  it("reads the run no more once its client has disconnected", async () => {
    const client = new AbortController();
    const response = fetch(`${url}/mcp`, { method: "POST", headers: headers(), body: call(), signal: client.signal });
    const outcome = response.catch(() => "aborted");
    await expect.poll(() => waiting).toBe(1);
    await changeRun();
    await expect.poll(reads).toBe(2);
    client.abort();
    expect(await outcome).toBe("aborted");
    await expectNoReads(2);
  });

  it("reads the run no more once a client of `runyard mcp` has cancelled the call", async () => {
    const environment = { RUNYARD_BASE_URL: url, RUNYARD_API_KEY: key, HOME: installation.directory };
    const program = spawn(process.execPath, [CLI, "mcp"], { env: environment, stdio: ["pipe", "pipe", "inherit"] });
    let printed = "";
    program.stdout.on("data", (chunk: Buffer) => {
      printed += chunk.toString();
    });
    program.stdin.write(`${call()}\n`);
    await expect.poll(reads, { timeout: 30_000 }).toBe(1);
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    program.stdin.write(`${JSON.stringify(cancelled)}\n`);
    await expectNoReads(1);
    program.stdin.end();
    await once(program, "exit");
    expect(printed).toBe("");
  });
});
