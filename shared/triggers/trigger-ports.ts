import type { FindOwner } from "#shared/github/installation-store.ts";
import type { RateLimits } from "#shared/limits/token-bucket.ts";
import type { ReceiverRules } from "#shared/notifications/receiver-url.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import type { EventQueue } from "#shared/queue/event-queue.ts";
import type { RunPorts } from "#shared/runs/run-ports.ts";
import type { Table } from "#shared/table/table.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import type { Systems } from "./systems/system-request.ts";

/** Ports of the rules of triggers that need no secret. */
export interface TriggerReadPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
  readonly baseUrl: string;
}

/** Ports of the rules that write the settings of triggers. */
export interface TriggerWritePorts extends TriggerReadPorts {
  /** Whether runs can send replies. */
  readonly webhooks?: ReceiverRules;
}

/** Ports of the rules that create and delete triggers. */
export interface TriggerPorts extends TriggerWritePorts {
  /** The secrets of triggers, with those of webhooks. */
  readonly webhookSecrets: SecretVault;
}

/** Ports of the rule that tells what an event would result in. */
export interface TriggerTestPorts extends TriggerReadPorts {
  readonly hasContainers: boolean;
  readonly networkLimits: RunPorts["networkLimits"];
  readonly ownerOf: FindOwner;
}

/** Ports of the rule that reads a delivery with its event. */
export type DeliveryPorts = Pick<RunPorts, "table" | "files" | "now">;

/** Ports of the rules that store deliveries to be decided on. */
export interface RequestPorts extends DeliveryPorts {
  readonly events: EventQueue;
}

/** Ports of the rule that receives deliveries. */
export interface IngressPorts extends RequestPorts {
  readonly webhookSecrets: SecretVault;
}

/** Ports of the rule that receives the events of the deployment's GitHub App. */
export interface AppIngressPorts extends RequestPorts {
  /** The secret of the App's webhook; undefined where there is no App, or none is set. */
  readonly appWebhookSecret: () => Promise<string | undefined>;
  readonly ownerOf: FindOwner;
}

/** Ports of the rules that decide on deliveries. */
export interface DecisionPorts extends RunPorts {
  readonly events: EventQueue;
  readonly ownerOf: FindOwner;
  readonly systems: Systems;
  /** Each trigger has the rate limits of a caller. */
  readonly rates: RateLimits;
}
