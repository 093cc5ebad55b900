import type { Egress } from "./egress.ts";

interface NetworkOfRun {
  /** Whether the sandbox itself lets commands reach the network. */
  readonly sandbox: { readonly network: boolean };
  readonly egress: Pick<Egress, "mode" | "domains">;
}

/** Describes to an agent the network of its commands; empty if it is open. */
export function describeNetwork({ sandbox, egress }: NetworkOfRun): string {
  if (egress.mode === "none")
    return "There is no network: the environment of this run allows none, so do not try to download anything.";
  if (egress.mode === "allowlist")
    return `Commands reach these domains only, by http and https: ${egress.domains.join(", ")}. Other hosts are blocked, so do not try them.`;
  return sandbox.network ? "" : "There is no network.";
}
