import { openFiles } from "#shared/aws/files-part.ts";
import { type FunctionCaller, openFunctionCaller } from "#shared/aws/invocation-part.ts";
import { openEventQueue, openRunQueue } from "#shared/aws/queue-part.ts";
import { openTimers } from "#shared/aws/timers-part.ts";
import type { FileStore } from "#shared/files/file-store.ts";
import type { EventQueue } from "#shared/queue/event-queue.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";
import { signedUrlSeconds } from "#shared/settings.ts";
import type { Scheduler } from "#shared/timers/scheduler.ts";
import { bucketName, eventQueueUrl, queueUrls, timerSettings } from "./adapter-settings.ts";

/** The deployment's bucket. */
export const createFiles = (): FileStore => openFiles(bucketName, signedUrlSeconds());

/** The queues of runs. */
export const createRunQueue = (): RunQueue => openRunQueue(queueUrls);

/** The queue of events for triggers. */
export const createEventQueue = (): EventQueue => openEventQueue(eventQueueUrl);

/** Calls of other functions. */
export const createFunctionCaller = (): FunctionCaller => openFunctionCaller();

/** The timers of schedules. */
export const createScheduler = (): Scheduler => openTimers(timerSettings);
