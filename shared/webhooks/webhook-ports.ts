import type { ReceiverRules } from "#shared/notifications/receiver-url.ts";
import type { Cursors } from "#shared/pagination/cursor.ts";
import type { Table } from "#shared/table/table.ts";
import type { SecretVault } from "#shared/vault/secret-vault.ts";
import type { AttemptRequest, AttemptResult } from "./send-webhooks.ts";

/** Ports of the rules of webhooks that need no signing secret. */
export interface WebhookReadPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly cursors: Cursors;
  readonly webhooks: ReceiverRules;
}

/** Ports of the rules that create and delete webhooks. */
export interface WebhookPorts extends WebhookReadPorts {
  /** The signing secrets of webhooks, apart from the secrets of runs. */
  readonly webhookSecrets: SecretVault;
}

/** Names an attempt of a delivery: `check_at` changes with each attempt, so that none is made twice. */
export interface DeliveryRef {
  /** True for the delivery of a run's own `notify_url`. The run's id then takes the place of a webhook's. */
  readonly of_run?: true;
  /** True for the reply to the event that started a run, which takes the place of a webhook likewise. */
  readonly is_reply?: true;
  readonly webhook_uid: string;
  readonly sequence: number;
  readonly check_at: string;
}

/** Ports of the consumer that turns events of runs into deliveries. */
export interface DeliveryPlanPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly webUrl: string | undefined;
  readonly attempts: {
    /** Requests an attempt of deliveries of one webhook now. One that is lost is made up for within three minutes. */
    request(deliveries: readonly DeliveryRef[]): Promise<void>;
  };
}

/** Ports of the consumer that attempts deliveries. */
export interface AttemptPorts {
  readonly table: Table;
  readonly now: () => number;
  readonly sender: {
    /** Sends requests to the URLs of webhooks, in a function without rights on the table. */
    send(requests: readonly AttemptRequest[]): Promise<readonly AttemptResult[]>;
  };
}
