import type { StoredNetwork } from "#shared/wire/network/stored-network.ts";

/** What of a run may call which hosts, as its environment's `network` says. */
export interface Egress {
  readonly mode: StoredNetwork["mode"];
  /**
   * Checks a host that the harness is about to call for the run.
   * @throws an Error that names the host and the remedy
   */
  check(host: string): void;
  /** Gets the text of each refusal from now on, and of those before. A host is named once. */
  watch(report: (text: string) => void): void;
}

/** Refusals that the timeline of an execution names. */
const MAX_REPORTS = 50;

/** @param network of the run's environment. @default open */
export function createEgress(network: StoredNetwork = { mode: "open" }): Egress {
  const { mode } = network;
  const texts = new Set<string>();
  let report: ((text: string) => void) | undefined;
  const refuse = (host: string): never => {
    const text = `blocked: ${host}, ${describeRemedy()}`;
    if (!texts.has(text) && texts.size < MAX_REPORTS) {
      texts.add(text);
      report?.(text);
    }
    throw new Error(text);
  };
  return {
    mode,
    check: (host) => (mode === "open" ? undefined : refuse(host)),
    watch(watcher) {
      for (const text of texts) watcher(text);
      report = watcher;
    },
  };
}

const describeRemedy = (): string =>
  "the environment's network.mode is none; set it to open to let its runs call other machines";
