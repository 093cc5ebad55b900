import type { Envelope } from "#shared/wire/harness.ts";

/** A start that a later one may succeed at: throttling, no capacity. The run goes back to the queue. */
export class StartDeferred extends Error {}

/** The one port to every kind of sandbox. */
export interface Sandbox {
  /** Starts the harness with its envelope; idempotent by the envelope's execution. Throws StartDeferred, or what is broken. */
  start(envelope: Envelope): Promise<void>;
}
