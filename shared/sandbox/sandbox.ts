import type { SandboxProvider } from "#shared/settings.ts";
import type { Envelope } from "#shared/wire/harness.ts";

/** A start that a later one may succeed at: throttling, no capacity. The run goes back to the queue. */
export class StartDeferred extends Error {}

/** Which sandbox an execution gets, and out of which image where that is its environment's. */
export type SandboxChoice =
  | { readonly provider: "lambda" | "microvm" }
  | { readonly provider: "fargate"; readonly dockerImage: string };

/** A sandbox that was started, as its provider finds it again. */
export interface PlacedSandbox {
  readonly provider: SandboxProvider;
  readonly executionId: string;
  /** The provider's own name for it. @default not known: whoever started it died before it could be noted */
  readonly handle?: string | undefined;
}

/** The one port to every kind of sandbox. */
export interface Sandbox {
  /**
   * Starts the harness with its envelope; idempotent by the envelope's execution. Answers the provider's name for the sandbox
   * where it can be stopped by one, at most 64 characters. Throws StartDeferred, or what is broken.
   */
  start(envelope: Envelope, choice: SandboxChoice): Promise<string | undefined>;
  /**
   * Stops a sandbox with all that runs in it; any number of times. True once the provider's answer says that it is gone; false
   * while it goes, and always where the provider cannot stop one. Throws where the provider could not be asked.
   */
  stop(placed: PlacedSandbox): Promise<boolean>;
}
