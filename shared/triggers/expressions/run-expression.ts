import { Worker } from "node:worker_threads";
import * as v from "valibot";
import { type ExpressionTask, type Outcome, WorkerMessage } from "./task.ts";

/** The processor's time that one expression may take. */
const MAX_CPU_MS = 100;
/** Memory of the thread that evaluates expressions, with the event. */
const MAX_MEMORY_MB = 64;
/** How often the processor's time is read. */
const WATCH_MS = 25;
/** Time in which a thread starts and evaluates an expression, however busy the machine is. */
const MAX_WAIT_MS = 5000;

/** The thread, which has a file of its own; bundles have it next to them. */
const findWorker = (): URL =>
  new URL(import.meta.url.endsWith(".ts") ? "./worker.ts" : "./expression-worker.mjs", import.meta.url);

let worker: Worker | undefined;
let latest: Promise<unknown> = Promise.resolve();

/** Runs one expression after the other in a thread, which is terminated where an expression exceeds its limits. */
export function runExpression(task: ExpressionTask): Promise<Outcome> {
  const outcome = latest.then(() => runNext(task));
  latest = outcome.catch(() => undefined);
  return outcome;
}

async function runNext(task: ExpressionTask): Promise<Outcome> {
  worker ??= startWorker();
  const running = worker;
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const stop = (error: string) => {
    if (worker === running) worker = undefined;
    resolve({ error });
  };
  let began: number | undefined;
  const watch = setInterval(() => {
    const from = began;
    if (from === undefined) return;
    running.cpuUsage().then(
      ({ user, system }) => user + system - from > MAX_CPU_MS * 1000 && stop(`took more than ${MAX_CPU_MS} ms`),
      // A thread that has ended is reported by its own event.
      () => undefined,
    );
  }, WATCH_MS);
  const timer = setTimeout(() => stop(`took more than ${MAX_WAIT_MS} ms`), MAX_WAIT_MS);
  const onMessage = (received: unknown) => {
    const message = v.parse(WorkerMessage, received);
    if ("began" in message) began = message.began;
    else resolve(message.outcome);
  };
  const onError = ({ code }: Error & { readonly code?: string }) =>
    stop(
      code === "ERR_WORKER_OUT_OF_MEMORY" ? `took more than ${MAX_MEMORY_MB} MB of memory` : "the evaluation failed",
    );
  const onExit = () => stop("the evaluation failed");
  running.on("message", onMessage).on("error", onError).on("exit", onExit);
  try {
    running.ref();
    running.postMessage(task);
    return await promise;
  } finally {
    clearInterval(watch);
    clearTimeout(timer);
    running.off("message", onMessage).off("exit", onExit);
    running.unref();
    if (worker !== running) await running.terminate();
    running.off("error", onError);
  }
}

/** A thread without the process's environment, arguments and output. */
function startWorker(): Worker {
  const started = new Worker(findWorker(), {
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 },
  });
  started.unref();
  return started.on("error", () => {
    if (worker === started) worker = undefined;
  });
}
