import { sandboxStartSeconds } from "#shared/settings.ts";
import { SANDBOX_PROVIDERS } from "#shared/wire/executions/sandboxes.ts";

export const PROVIDER_NAMES = [...SANDBOX_PROVIDERS, "worker"] as const;
/** Who executes a run that its caller does not execute: a provider of sandboxes, or a self-hosted worker. */
export type Provider = (typeof PROVIDER_NAMES)[number];

/** What a provider can do, which the rules of runs ask for instead of its name. */
interface Traits {
  /** Seconds within which a started sandbox must send its first request, where the deployment does not say. */
  readonly startSeconds: number;
  /** Seconds within which a cancelled run's sandbox must report that it has stopped, or its provider that it no longer exists. */
  readonly stopSeconds: number;
  /**
   * Seconds for which stopping the sandbox of an ended execution is retried, until its provider reports that it no longer exists. What can
   * be stopped is identified by its execution, which thus cannot be started again with another key.
   * @default nothing can stop the sandbox but its harness, and its execution can be started again
   */
  readonly stopTriesSeconds?: number;
  /** True if the provider also finds a sandbox whose handle the dispatcher has not recorded. */
  readonly needsNoHandle?: true;
  /** True if nothing has to be stopped of an execution that has ended by itself. */
  readonly endsByItself?: true;
  /** True if a sandbox lasts for hours, also while its run waits for a follow-up: a function is billed for that, and is too short. */
  readonly lasts?: true;
  /** True if a sandbox is a container of an environment's image, so that it starts only with one. */
  readonly takesImage?: true;
  /** True if the price of a sandbox, which the deployment may know, is that of this provider. */
  readonly isPriced?: true;
  /** True if the timeline of a run names the provider. */
  readonly isNamed?: true;
}

/** Seconds for which stopping a sandbox is retried, until its provider reports that it no longer exists. */
const STOP_TRIES_SECONDS = 600;

export const PROVIDERS: Readonly<Record<Provider, Traits>> = {
  lambda: { startSeconds: 20, stopSeconds: 30, isPriced: true },
  process: { startSeconds: 20, stopSeconds: 30, lasts: true, isPriced: true },
  microvm: { startSeconds: 60, stopSeconds: 60, stopTriesSeconds: STOP_TRIES_SECONDS, lasts: true, isNamed: true },
  fargate: {
    startSeconds: 180,
    stopSeconds: 120,
    stopTriesSeconds: STOP_TRIES_SECONDS,
    needsNoHandle: true,
    lasts: true,
    takesImage: true,
    isNamed: true,
  },
  worker: { startSeconds: 30, stopSeconds: 60, stopTriesSeconds: 60, endsByItself: true },
};

/** True if a sandbox can be stopped from outside. */
export const isStoppable = (provider: Provider): boolean => PROVIDERS[provider].stopTriesSeconds !== undefined;

/** Seconds within which a started sandbox must send its first request. Deployments set those of their functions. */
export function startSeconds(provider: Provider): number {
  const seconds = PROVIDERS[provider].startSeconds;
  return provider === "lambda" ? sandboxStartSeconds(seconds) : seconds;
}

export const isWorker = (provider: Provider): provider is "worker" => provider === "worker";
