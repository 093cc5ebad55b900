import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { removeAbandoned } from "#shared/sandbox/scratch.ts";
import type { WorkerFrame } from "#shared/wire/worker.ts";
import { isLoopbackHost } from "../host/http/request-checks.ts";
import { Problem, say, step } from "../host/terminal.ts";
import { repeat } from "../repeat.ts";
import { expireImages, readImageLimits } from "../sandbox/images.ts";
import { prepareHarness } from "./harness-program.ts";
import type { WorkerOptions } from "./options.ts";
import { describeRefusal } from "./refusal.ts";
import { Tasks } from "./tasks.ts";
import { tryConnection, WorkerConnection } from "./worker-connection.ts";

const HOUR_MS = 3_600_000;

const Workers = v.object({ ws_url: v.optional(v.string()) });

/** Connects as a worker and executes runs until `stop`, then waits for the running ones. Returns the exit code. */
export async function runWorker(options: WorkerOptions, stop: AbortSignal): Promise<number> {
  const imageLimits = readImageLimits(process.env);
  const url = await step("service", async (note) => {
    const found = options.socketUrl ?? (await findSocketUrl(options));
    note(`${options.baseUrl}, socket ${found}`);
    return found;
  });
  const { programs, program, images, findProblem } = await prepareHarness(options.isolates, options.directory);
  const headers = toHeaders(options);
  if (options.dryRun) {
    await step("socket", async () => tryConnection({ url, workerId: options.id, headers }));
    say(`A worker with the id ${options.id} can connect. Nothing was executed.`);
    return 0;
  }
  await removeAbandoned();
  const log = (line: string) => say(`${new Date().toISOString()} ${line}`);
  // Executions that start before it is made use the sources.
  void programs.bundle().catch((error: unknown) => log(`the harness was not bundled: ${String(error)}`));
  const connection = new WorkerConnection({
    url,
    workerId: options.id,
    headers,
    log,
    onFrame: (frame) => {
      if (frame.type === "task_cancellation") tasks.cancel(frame);
      else void tasks.assign(frame);
    },
  });
  const stopExpiring =
    images === undefined
      ? () => {}
      : repeat("expire images", HOUR_MS, () => expireImages(images, Date.now(), imageLimits));
  const { id, maxTasks, baseUrl } = options;
  const send = (frame: WorkerFrame) => connection.send(frame);
  const tasks = new Tasks({ workerId: id, maxTasks, baseUrl, program, findProblem, log, send });
  connection.start();
  await aborted(stop);
  // Before any task ends: the service would offer its run to this connection again.
  connection.drain();
  log(`stopping: ${tasks.count} tasks have ${options.drainSeconds} s to end`);
  const drained = new AbortController();
  const limit = AbortSignal.any([AbortSignal.timeout(options.drainSeconds * 1000), drained.signal]);
  await tasks.drain(limit);
  stopExpiring();
  drained.abort();
  await sleep(100);
  await connection.close();
  log("stopped");
  return 0;
}

const toHeaders = ({ key, team }: WorkerOptions): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  ...(team === undefined ? {} : { "x-team-uid": team }),
});

/** Asks the service where its socket is, which also shows whether address and key are right. @throws Problem */
async function findSocketUrl(options: WorkerOptions): Promise<string> {
  const { baseUrl } = options;
  const response = await fetch(`${baseUrl}/agent/connected-self-hosted-workers`, { headers: toHeaders(options) }).catch(
    (error: unknown) => {
      throw new Problem(`${baseUrl} cannot be reached: ${error instanceof Error ? error.message : String(error)}`);
    },
  );
  const text = await response.text();
  if (!response.ok) throw new Problem(`${baseUrl} returned ${describeRefusal(response.status, text)}`);
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), Workers), text);
  const own = new URL(baseUrl);
  const derived = `${own.protocol === "https:" ? "wss" : "ws"}://${own.host}/workers`;
  const named = parsed.success ? parsed.output.ws_url : undefined;
  // A server that does not know its public address names that of its own machine.
  const isElsewhere = named !== undefined && isLoopbackHost(new URL(named).host) && !isLoopbackHost(own.host);
  return named === undefined || isElsewhere ? derived : named;
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
