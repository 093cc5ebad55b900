import type { IdentityPorts } from "#shared/identities/ports.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";

/** What the rules of teams and people need from the world. */
export interface TeamPorts extends IdentityPorts {
  readonly baseUrl: string;
  readonly webUrl: string | undefined;
}

/** What changing a team's limits needs besides. */
export interface LimitPorts extends TeamPorts {
  readonly queue: RunQueue;
}
