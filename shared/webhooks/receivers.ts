import { readNotifySecrets } from "#shared/notifications/notify-secret.ts";
import { readBodies } from "#shared/records/run-body.ts";
import type { Delivery } from "./delivery-store.ts";
import type { AttemptPorts } from "./webhook-ports.ts";
import { type Webhook, webhookStore } from "./webhook-store.ts";

/** Where a delivery goes, and what signs it. */
export interface Receiver {
  readonly url: string;
  readonly signing:
    | { readonly team_uid: string; readonly secret_id: string; readonly previous_secret_id?: string }
    | { readonly secret: string };
  /** Absent for the URL of a run. */
  readonly webhook?: Webhook;
}

/** Finds the receiver of a delivery, or why there is none. */
type FindReceiver = (delivery: Delivery) => Receiver | string;

/** Reads the receivers of deliveries as they are now: webhooks by their uid, and the `notify_url`s of runs. */
export async function readReceivers(deliveries: readonly Delivery[], ports: AttemptPorts): Promise<FindReceiver> {
  const ofRuns = deliveries.filter(({ of_run }) => of_run === true);
  const [webhooks, runs] = await Promise.all([readWebhooks(deliveries, ports), readRuns(ofRuns, ports)]);
  return ({ of_run, webhook_uid: uid }) => {
    if (of_run === true) return runs.get(uid) ?? "the run is deleted";
    const webhook = webhooks.get(uid);
    if (webhook === undefined) return "the webhook is deleted";
    return webhook.enabled ? toReceiver(webhook, ports.now()) : "the webhook is disabled";
  };
}

async function readWebhooks(
  deliveries: readonly Delivery[],
  { table }: AttemptPorts,
): Promise<ReadonlyMap<string, Webhook>> {
  const ids = deliveries.flatMap(({ webhook_uid: uid, team_uid }) =>
    team_uid === undefined ? [] : [{ uid, team_uid }],
  );
  const byUid = new Map(ids.map((id) => [id.uid, id]));
  const webhooks = await webhookStore(table).getMany([...byUid.values()]);
  return new Map(webhooks.flatMap((webhook) => (webhook === undefined ? [] : [[webhook.uid, webhook]])));
}

function toReceiver(webhook: Webhook, now: number): Receiver {
  const { url, team_uid, secret_id, previous_secret: previous } = webhook;
  const more = previous === undefined || previous.expires_at <= now ? {} : { previous_secret_id: previous.id };
  return { url, signing: { team_uid, secret_id, ...more }, webhook };
}

async function readRuns(
  deliveries: readonly Delivery[],
  { table }: AttemptPorts,
): Promise<ReadonlyMap<string, Receiver>> {
  const ids = [...new Set(deliveries.map(({ webhook_uid }) => webhook_uid))];
  const bodies = await readBodies(ids, table);
  const urls = ids.flatMap((id, index) => {
    const url = bodies[index]?.notify_url;
    return url === undefined ? [] : [{ id, url }];
  });
  if (urls.length === 0) return new Map();
  const deriveSecret = await readNotifySecrets(table);
  return new Map(urls.map(({ id, url }) => [id, { url, signing: { secret: deriveSecret(id) } }]));
}
