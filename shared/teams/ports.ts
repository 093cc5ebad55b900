import type { IdentityPorts } from "#shared/identities/ports.ts";

/** What the rules of teams and people need from the world. */
export interface TeamPorts extends IdentityPorts {
  readonly baseUrl: string;
  readonly webUrl: string | undefined;
}
