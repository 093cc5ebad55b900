import type { FileStore } from "#shared/files/file-store.ts";
import type { ReceiverRules } from "#shared/notifications/receiver-url.ts";
import type { RunQueue } from "#shared/queue/run-queue.ts";
import type { RunSearch } from "#shared/table/run-search.ts";
import type { Table } from "#shared/table/table.ts";
import type { StoredNetwork } from "#shared/wire/network/stored-network.ts";
import type { RunStore } from "./run-store.ts";

/** What the rules of runs need from their infrastructure. */
export interface RunPorts {
  readonly table: Table;
  readonly runs: RunStore;
  /** @default lists read the indexes of the table */
  readonly search?: RunSearch;
  readonly files: FileStore;
  readonly queue: RunQueue;
  readonly now: () => number;
  /** Whether the deployment has sandboxes that are containers of an environment's own image. */
  readonly hasContainers: boolean;
  /**
   * Says why sandboxes that are no containers cannot execute a run in the image of its environment, and what to do; undefined if they can.
   * @param harness the harness that the run names
   * @default they cannot
   */
  readonly findImageProblem?: (harness: string | undefined) => string | undefined;
  /** The modes of a limited network that the deployment's sandboxes keep. */
  readonly networkLimits: () => readonly StoredNetwork["mode"][];
  /** Executions that the whole deployment may have at the same time; runs beyond them wait. @default any number */
  readonly maxExecutions?: number | undefined;
  /** US dollars of an hour in a sandbox of the service. @default not known */
  readonly sandboxUsdPerHour?: number | undefined;
  readonly baseUrl: string;
  readonly webUrl: string | undefined;
  /** Which URLs the `notify_url` of a new run may name. @default none */
  readonly webhooks?: ReceiverRules;
  /** Address of the model gateway. @default below the API's own address */
  readonly modelUrl?: string | undefined;
}
