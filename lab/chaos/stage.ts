import type { Api } from "../../server/host/api.ts";
import type { EvidenceStore } from "./evidence.ts";
import type { Strike } from "./plan.ts";
import type { Targets } from "./targets.ts";

/** A service of the test's own, whose processes may be killed. */
export interface Stage {
  readonly api: Api;
  /** The id of its self-hosted workers. @default it has none */
  readonly workerId?: string;
  readonly targets: Targets;
  readonly store: EvidenceStore;
  strikes(seed: number): Generator<Strike, never>;
  /** Maximum number of kills per accepted run: beyond it, everything would be killed before it made progress. */
  readonly killsPerRun: number;
  /** How often each fault was injected into its calls; undefined if none is. */
  countFaults(): Promise<Record<string, number> | undefined>;
  /** Ends what is idle, so that only leftovers of executions remain. */
  quiesce(): Promise<void>;
  /** Ends it and removes what it has stored. */
  stop(): Promise<void>;
}
