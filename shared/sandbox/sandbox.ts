import type { SandboxProvider } from "#shared/wire/executions/sandboxes.ts";
import type { Envelope } from "#shared/wire/harness.ts";

/** A start that may succeed later, after throttling or without capacity. The run returns to the queue. */
export class StartDeferred extends Error {}

/** The sandbox of an execution, with the image of its environment, if any. */
export interface SandboxChoice {
  readonly provider: SandboxProvider;
  readonly dockerImage?: string;
}

/** A started sandbox, as its provider identifies it. */
export interface PlacedSandbox {
  readonly provider: SandboxProvider;
  readonly executionId: string;
  /** The provider's id of the sandbox. @default unknown, because the dispatcher stopped before it recorded the id */
  readonly handle?: string | undefined;
}

/** The port of all kinds of sandboxes. */
export interface Sandbox {
  /**
   * Starts the harness with its envelope; idempotent by the envelope's execution. Resolves with the provider's id of the sandbox if
   * it can be stopped by one, at most 64 characters. Throws StartDeferred or another error.
   */
  start(envelope: Envelope, choice: SandboxChoice): Promise<string | undefined>;
  /**
   * Stops a sandbox with all its processes; idempotent. Resolves with true if the provider confirms that it is gone; with false
   * while it is stopping, and always if the provider cannot stop sandboxes. Throws if the request to the provider fails.
   */
  stop(placed: PlacedSandbox): Promise<boolean>;
}
