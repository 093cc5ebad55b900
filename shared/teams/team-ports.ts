import type { IdentityPorts } from "#shared/identities/identity-ports.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";

/** Ports of the rules of teams, members, invitations and users. */
export interface TeamPorts extends IdentityPorts {
  readonly baseUrl: string;
  readonly webUrl: string | undefined;
}

/** As TeamPorts, for changes of limits, which may start waiting runs. */
export interface LimitPorts extends TeamPorts {
  readonly queue: RunQueue;
}
