import type { StoredNetwork } from "#shared/wire/network/stored-network.ts";
import type { AllowedDomains } from "./domains.ts";

/** What of a run may call which hosts, as its environment's `network` says. */
export interface Egress {
  readonly mode: StoredNetwork["mode"];
  /** The domains of the mode `allowlist`, with those of its presets. */
  readonly domains: readonly string[];
  /**
   * Checks a host that is about to be called for the run.
   * @param port where the agent or its commands choose it. @default it is that of a URL of the run's configuration
   * @throws an Error that names the host and the remedy
   */
  check(host: string, port?: number): void;
  /** The proxy by which programs of the harness call hosts. @default they call them directly */
  readonly proxyUrl?: string;
  /** Reports the refusal of a host, and returns an error that names it. */
  refuse(host: string, why: string): Error;
  /** Gets the text of each refusal from now on, and of those before. A host is named once. */
  watch(report: (text: string) => void): void;
}

/** Refusals that the timeline of an execution names. */
const MAX_REPORTS = 50;

/**
 * @param mode of the run's environment. @default open
 * @param allowed the hosts of the mode `allowlist`
 */
export function createEgress(mode: StoredNetwork["mode"] = "open", allowed?: AllowedDomains): Egress {
  const texts = new Map<string, string>();
  let report: ((text: string) => void) | undefined;
  const refuse = (host: string, why: string) => {
    const text = `blocked: ${host}, ${why}`;
    if (!texts.has(host) && texts.size < MAX_REPORTS) {
      texts.set(host, text);
      report?.(text);
    }
    return new Error(text);
  };
  return {
    mode,
    domains: allowed?.names ?? [],
    check(host, port) {
      if (mode === "open" || allowed?.includes(host, port) === true) return;
      throw refuse(host, allowed?.includes(host) === true ? ONLY_WEB_PORTS : REMEDIES[mode]);
    },
    refuse,
    watch(watcher) {
      for (const text of texts.values()) watcher(text);
      report = watcher;
    },
  };
}

const ONLY_WEB_PORTS = "commands and web_fetch may call the ports 80 and 443 only";

const REMEDIES = {
  none: "the environment's network.mode is none; set it to open to let its runs call other machines",
  allowlist: "add it to the environment's network.domains",
};
