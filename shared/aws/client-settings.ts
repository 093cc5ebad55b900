// By its full name, since the bundler replaces this module by that name in the local stage.
import { initialHook, type Watch } from "#shared/aws/client-hooks.ts";
import type { AnyClient } from "./middleware.ts";

/** Milliseconds until a connection exists: the default of AWS's SDKs, https://docs.aws.amazon.com/sdkref/latest/guide/feature-smart-config-defaults.html */
const CONNECT_MS = 3_100;

/**
 * The limits of a request: the time for a connection, and the time without a byte on it. The SDK has no limit for connections, and for
 * silence 5 to 15 minutes or none (`defaultSocketTimeout` in its clients), so that a connection whose other end is gone would hold
 * a function until it is stopped.
 */
export const limitSilence = (socketTimeout: number) => ({ connectionTimeout: CONNECT_MS, socketTimeout });

/** Milliseconds of silence for services that only read or write a few records, within milliseconds. */
export const RECORD_SILENCE_MS = 5_000;
/** Milliseconds of silence for services that copy files or start machines before they respond. */
const WORK_SILENCE_MS = 30_000;
/** Milliseconds of silence for calls that wait for the result of a function, which runs for 15 minutes at most. */
export const FUNCTION_SILENCE_MS = 900_000;

/**
 * The settings of all clients. Region, credentials and endpoint come from the environment. Failed calls are retried three times:
 * after up to 1, 2 and 4 seconds if AWS throttled them, else after up to 50, 100 and 200 milliseconds. Each delay is a random
 * part of that.
 */
export const settings = {
  maxAttempts: 4,
  retryMode: "standard",
  requestHandler: limitSilence(RECORD_SILENCE_MS),
};

/** The settings of clients whose services work before they respond. */
export const workSettings = { ...settings, requestHandler: limitSilence(WORK_SILENCE_MS) };

let watch: Watch | undefined = initialHook;

/** Passes each client created from now on to a benchmark or test, which meters or disturbs its calls. Functions do not use it. */
export function setClientHook(watcher: Watch | undefined): void {
  watch = watcher;
}

/** Passes a new client to the hook. */
export function hooked<C extends AnyClient>(client: C): C {
  watch?.(client);
  return client;
}
