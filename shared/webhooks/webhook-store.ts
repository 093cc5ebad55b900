import * as v from "valibot";
import { putReceiversMark } from "#shared/notifications/receivers-mark-store.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Key, Put, Table, Update } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { UserProfile } from "#shared/wire/run.ts";
import { WebhookEventType, WebhookFilter } from "#shared/wire/webhooks/webhook.ts";

/** A webhook as it is stored; its signing secrets are in the vault, under `secret_id` and `previous_secret.id`. */
const Webhook = v.object({
  uid: v.string(),
  team_uid: v.string(),
  name: v.exactOptional(v.string()),
  url: v.string(),
  /** @default `json` */
  format: v.exactOptional(v.literal("slack")),
  /** Empty for all types. */
  event_types: v.array(WebhookEventType),
  filter: v.exactOptional(WebhookFilter),
  enabled: v.boolean(),
  secret_id: v.string(),
  /** The secret before, with which deliveries are signed as well until it expires, in milliseconds. */
  previous_secret: v.exactOptional(v.object({ id: v.string(), expires_at: v.number() })),
  created_by: UserProfile,
  created_at: v.number(),
  updated_at: v.number(),
  /** The number of the next delivery. */
  next_sequence: v.number(),
  /** Until when its receiver counts as slow, in milliseconds. */
  slow_until: v.exactOptional(v.number()),
});
export type Webhook = v.InferOutput<typeof Webhook>;

const parseWebhook = (item: Item): Webhook => v.parse(Webhook, item);

const keyOf = ({ team_uid, uid }: Pick<Webhook, "team_uid" | "uid">): Key => keys.webhook(team_uid, uid);

/** True for a webhook, and for whatever is stored about the deliveries of webhooks and of `notify_url`s. */
export const isOfWebhooks = ({ pk, sk }: Item): boolean => {
  const [team, any] = [keys.webhook("", ""), keys.webhooksExist()];
  const [{ pk: deliveries }, ofRun] = [keys.delivery("", 0), keys.runDelivery("", 0)];
  return (
    (pk.startsWith(team.pk) && sk.startsWith(team.sk)) ||
    pk.startsWith(deliveries) ||
    pk.startsWith(keys.teamEvent("", "").pk) ||
    (pk.startsWith(ofRun.pk) && sk.startsWith(ofRun.sk.slice(0, ofRun.sk.indexOf("#") + 1))) ||
    (pk.startsWith(ofRun.pk) && sk === keys.runReply("").sk) ||
    pk === any.pk
  );
};

/** The webhooks of teams. */
export function webhookStore(table: Table) {
  return {
    /** The webhooks of teams, oldest first in each team. */
    async list(teams: readonly string[]): Promise<Webhook[]> {
      const pages = await Promise.all(
        teams.map((team) => {
          const { pk, sk: prefix } = keys.webhook(team, "");
          return table.query({ pk, prefix });
        }),
      );
      return pages.flatMap(({ items }) => items.map(parseWebhook));
    },

    /** The webhook with this uid, if one of the teams has it. */
    async find(teams: readonly string[], uid: string): Promise<Webhook | undefined> {
      const items = teams.length === 0 ? [] : await table.batchGet(teams.map((team) => keys.webhook(team, uid)));
      const item = items.find((one) => one !== undefined);
      return item === undefined ? undefined : parseWebhook(item);
    },

    /** Webhooks by their team and uid, in this order; undefined where one does not exist. */
    async getMany(ids: readonly Pick<Webhook, "team_uid" | "uid">[]): Promise<(Webhook | undefined)[]> {
      const items = ids.length === 0 ? [] : await table.batchGet(ids.map(keyOf));
      return items.map((item) => (item === undefined ? undefined : parseWebhook(item)));
    },

    /**
     * Creates a webhook with the idempotency record of its request.
     * @throws ConflictError naming `idempotency`
     */
    async create(webhook: Webhook, idempotency: Put): Promise<void> {
      const writes = {
        idempotency,
        webhook: { kind: "put", item: { ...keyOf(webhook), v: 1, ...webhook }, if: { pk: { exists: false } } },
        mark: putReceiversMark(),
      } as const;
      await transactInScope({ type: "Team", uid: webhook.team_uid }, writes, table);
    },

    /**
     * Replaces what a request may change of a webhook that was read as `before`.
     * @throws ConditionFailed if it was changed or deleted since
     */
    async update(before: Webhook, webhook: Webhook): Promise<void> {
      const { name, url, format, event_types, filter, enabled, updated_at } = webhook;
      const set = { url, event_types, enabled, updated_at };
      const optional = Object.entries({ name, format, filter });
      const update: Update = {
        kind: "update",
        key: keyOf(before),
        set: { ...set, ...Object.fromEntries(optional.filter(([, value]) => value !== undefined)) },
        remove: optional.filter(([, value]) => value === undefined).map(([member]) => member),
        if: { updated_at: { eq: before.updated_at } },
      };
      await table.write(update);
    },

    /**
     * In a transaction, which can be repeated after a lost response: its secrets are deleted afterwards.
     * @throws ConflictError if it does not exist, or has another secret since it was read
     */
    async delete(webhook: Webhook): Promise<void> {
      const { secret_id } = webhook;
      await transact(table, { webhook: { kind: "delete", key: keyOf(webhook), if: { secret_id: { eq: secret_id } } } });
    },
  };
}

/** Counts new deliveries; its condition fails where others were counted since the webhook was read. */
export const countDeliveries = ({ next_sequence, ...webhook }: Webhook, count: number): Update => ({
  kind: "update",
  key: keyOf(webhook),
  set: { next_sequence: next_sequence + count },
  if: { next_sequence: { eq: next_sequence } },
});

/**
 * Replaces the secret of a webhook that was read as `before`, with the idempotency record of the request.
 * @throws ConflictError naming `idempotency`, or `webhook` if it was changed or deleted since
 */
export async function replaceSecret(before: Webhook, webhook: Webhook, idempotency: Put, table: Table): Promise<void> {
  const { secret_id, previous_secret, updated_at } = webhook;
  const set = { secret_id, updated_at, ...(previous_secret === undefined ? {} : { previous_secret }) };
  const unchanged = { updated_at: { eq: before.updated_at } };
  await transact(table, { idempotency, webhook: { kind: "update", key: keyOf(before), set, if: unchanged } });
}

/** Records that the receiver of a webhook is slow, unless this was recorded less than a minute ago. */
export async function markSlow(webhook: Webhook, until: number, table: Table): Promise<void> {
  if ((webhook.slow_until ?? 0) > until - 60_000) return;
  // It may be deleted meanwhile.
  await writeIf(table, {
    kind: "update",
    key: keyOf(webhook),
    set: { slow_until: until },
    if: { pk: { exists: true } },
  });
}
