import type { FunctionCaller } from "#shared/aws/invocation-part.ts";
import type { FileStore } from "#shared/files/file-store.ts";
import type { EventQueue } from "#shared/queue/event-queue.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";
import { signedUrlSeconds } from "#shared/settings.ts";
import { type Scheduler, TimerRefused } from "#shared/timers/scheduler.ts";
import { bucketName, eventQueueUrl, queueUrls, timerSettings } from "./adapter-settings.ts";

/**
 * As adapters.ts, which the bundler replaces by this module in functions that seldom need these adapters: their first call loads the
 * adapter and its client of AWS.
 */
export function createFiles(): FileStore {
  const files = loadOnce(async () =>
    (await import("#shared/aws/files-part.ts")).openFiles(bucketName, signedUrlSeconds()),
  );
  return {
    put: async (key, content, contentType) => (await files()).put(key, content, contentType),
    get: async (key) => (await files()).get(key),
    copy: async (from, to) => (await files()).copy(from, to),
    size: async (key) => (await files()).size(key),
    downloadUrl: async (key, file) => (await files()).downloadUrl(key, file),
    uploadTarget: async (key, file) => (await files()).uploadTarget(key, file),
    uploadUrl: async (key, file) => (await files()).uploadUrl(key, file),
    uploadForm: async (key, file) => (await files()).uploadForm(key, file),
  };
}

export function createRunQueue(): RunQueue {
  const queue = loadOnce(async () => (await import("#shared/aws/queue-part.ts")).openRunQueue(queueUrls));
  return {
    sendRun: async (runId, owner, delaySeconds) => (await queue()).sendRun(runId, owner, delaySeconds),
    sendEnd: async (runId, owner) => (await queue()).sendEnd(runId, owner),
  };
}

export function createEventQueue(): EventQueue {
  const queue = loadOnce(async () => (await import("#shared/aws/queue-part.ts")).openEventQueue(eventQueueUrl));
  return { sendDelivery: async (delivery) => (await queue()).sendDelivery(delivery) };
}

export function createFunctionCaller(): FunctionCaller {
  const caller = loadOnce(async () => (await import("#shared/aws/invocation-part.ts")).openFunctionCaller());
  return async (functionName, event, options) => (await caller())(functionName, event, options);
}

export function createScheduler(): Scheduler {
  const timers = loadOnce(async () => (await import("#shared/aws/timers-part.ts")).openTimers(timerSettings));
  return {
    put: async (timer) => (await timers()).put(timer).catch(toOwnError),
    remove: async (id) => (await timers()).remove(id),
  };
}

/** The part has a class of its own for this error. */
function toOwnError(error: unknown): never {
  if (error instanceof Error && error.name === "TimerRefused") throw new TimerRefused(error.message, { cause: error });
  throw error;
}

function loadOnce<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}
