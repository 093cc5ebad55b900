// By its full name, since the bundler replaces this module by that name in the local stage.
import { initialHook, type Watch } from "#shared/aws/client-hooks.ts";
import type { AnyClient } from "./middleware.ts";

/**
 * The settings of all clients. Region, credentials and endpoint come from the environment. Failed calls are retried three times:
 * after up to 1, 2 and 4 seconds if AWS throttled them, else after up to 50, 100 and 200 milliseconds. Each delay is a random
 * part of that.
 */
export const settings = { maxAttempts: 4, retryMode: "standard" };

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
