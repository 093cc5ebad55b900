import { openFiles } from "#shared/aws/files-part.ts";
import { type FunctionCaller, openFunctionCaller } from "#shared/aws/invocation-part.ts";
import { openRunQueue } from "#shared/aws/queue-part.ts";
import { openTimers } from "#shared/aws/timers-part.ts";
import type { FileStore } from "#shared/files/file-store.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";
import { signedUrlSeconds } from "#shared/settings.ts";
import type { Scheduler } from "#shared/timers/scheduler.ts";
import { bucketName, queueUrls, timerSettings } from "./adapter-settings.ts";

/** The deployment's bucket. */
export const createFiles = (): FileStore => openFiles(bucketName, signedUrlSeconds());

/** The queues of runs. */
export const createRunQueue = (): RunQueue => openRunQueue(queueUrls);

/** Calls of other functions. */
export const createFunctionCaller = (): FunctionCaller => openFunctionCaller();

/** The timers of schedules. */
export const createScheduler = (): Scheduler => openTimers(timerSettings);
