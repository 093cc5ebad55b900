import * as v from "valibot";
import { putReceiversMark } from "#shared/notifications/receivers-mark-store.ts";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys, type Owner, ownerPk } from "#shared/table/keys.ts";
import { type Item, type Put, type Table, valueUnchanged } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { Scope } from "#shared/wire/keys/scope.ts";
import { Metadata } from "#shared/wire/metadata.ts";
import { RunMode, UserProfile } from "#shared/wire/run.ts";
import { TriggerAuthors, TriggerItem } from "#shared/wire/triggers/trigger.ts";

/** A trigger as it is stored; its secrets are in the vault, under `secret_id` and `previous_secret.id`. */
const StoredTrigger = v.object({
  uid: v.string(),
  /** The team that it belongs to, or else the person. */
  team_uid: v.exactOptional(v.string()),
  user_uid: v.exactOptional(v.string()),
  name: v.string(),
  kind: TriggerItem.entries.kind,
  preset: TriggerItem.entries.preset,
  enabled: v.boolean(),
  verification: TriggerItem.entries.verification,
  prompt: v.string(),
  /** Empty for all types. */
  events: v.array(v.string()),
  agent_uid: v.exactOptional(v.string()),
  agent_config: TriggerItem.entries.agent_config,
  budget_usd: v.exactOptional(v.number()),
  filter: TriggerItem.entries.filter,
  thread_key: TriggerItem.entries.thread_key,
  mode: RunMode,
  followup_prompt: TriggerItem.entries.followup_prompt,
  threads: TriggerItem.entries.threads,
  busy: TriggerItem.entries.busy,
  allow: v.exactOptional(TriggerAuthors),
  /** The name of the team's secret with which the other system is called. */
  credential: v.exactOptional(v.string()),
  reply: TriggerItem.entries.reply,
  metadata: v.exactOptional(Metadata),
  /** The scopes that its runs have at most; absent where they have all. */
  scopes: v.exactOptional(v.array(Scope)),
  secret_id: v.string(),
  /** The secret before, which is valid as well until it expires, in milliseconds. */
  previous_secret: v.exactOptional(v.object({ id: v.string(), expires_at: v.number() })),
  pause_after_failures: v.exactOptional(v.number()),
  /** Since when its runs have failed without one that has not. */
  failing_since: v.exactOptional(v.number()),
  /** When it was last resumed: earlier failures no longer count towards a pause. */
  failures_from: v.exactOptional(v.number()),
  /** Why it has paused itself. */
  pause_reason: v.exactOptional(v.string()),
  created_by: UserProfile,
  created_at: v.number(),
  updated_at: v.number(),
});

export interface Trigger extends Omit<v.InferOutput<typeof StoredTrigger>, "team_uid" | "user_uid"> {
  readonly owner: Owner;
}

function parseTrigger(item: Item): Trigger {
  const { team_uid, user_uid = "", ...trigger } = v.parse(StoredTrigger, item);
  return {
    ...trigger,
    owner: team_uid === undefined ? { type: "User", uid: user_uid } : { type: "Team", uid: team_uid },
  };
}

const toItem = ({ owner, ...trigger }: Trigger) => ({
  ...keys.trigger(trigger.uid),
  v: 1,
  ...trigger,
  ...(owner.type === "Team" ? { team_uid: owner.uid } : { user_uid: owner.uid }),
});

/** True for a trigger and for whatever is stored about its deliveries. */
export const isOfTriggers = ({ pk, sk }: Item): boolean => {
  const entries = (["Team", "User"] as const).map((type) => keys.triggerEntry({ type, uid: "" }, ""));
  return (
    pk.startsWith(keys.trigger("").pk) || entries.some((entry) => pk.startsWith(entry.pk) && sk.startsWith(entry.sk))
  );
};

const entriesOf = (owner: Owner) => ({ pk: ownerPk(owner), prefix: keys.triggerEntry(owner, "").sk });

/** The write by which events of runs are not ignored, for a trigger whose runs reply. */
const toMark = ({ reply }: Trigger): Put | undefined => (reply?.to === "thread" ? putReceiversMark() : undefined);

/** The condition under which a trigger is as it was read. */
const unchangedSince = ({ updated_at, failing_since }: Trigger): NonNullable<Put["if"]> => ({
  updated_at: { eq: updated_at },
  failing_since: valueUnchanged(failing_since),
});

/** The triggers of teams and people. */
export const triggerStore = (table: Table) => ({
  async get(uid: string): Promise<Trigger | undefined> {
    const item = await table.get(keys.trigger(uid));
    return item === undefined ? undefined : parseTrigger(item);
  },

  /** The triggers of owners, oldest first of each owner. */
  async list(owners: readonly Owner[]): Promise<Trigger[]> {
    const pages = await Promise.all(owners.map((owner) => table.query(entriesOf(owner))));
    const uids = pages.flatMap(({ items }) => items.map(({ sk }) => sk.slice(sk.indexOf("#") + 1)));
    const items = await batchGetAll(uids.map(keys.trigger), table);
    return items.flatMap((item) => (item === undefined ? [] : [parseTrigger(item)]));
  },

  /**
   * Creates a trigger with the idempotency record of its request.
   * @throws ConflictError naming `idempotency`
   */
  async create(trigger: Trigger, idempotency: Put): Promise<void> {
    const { owner, uid } = trigger;
    await transactInScope(
      owner,
      {
        idempotency,
        trigger: { kind: "put", item: toItem(trigger), if: { pk: { exists: false } } },
        entry: { kind: "put", item: { ...keys.triggerEntry(owner, uid), v: 1 } },
        mark: toMark(trigger),
      },
      table,
    );
  },

  /**
   * Replaces a trigger that was read as `before`, together with other writes.
   * @throws ConflictError naming those whose conditions failed, or `trigger` if it was changed or deleted since
   */
  async update(before: Trigger, trigger: Trigger, also: NamedWrites = {}): Promise<void> {
    const item = toItem(trigger);
    await transact(table, {
      ...also,
      trigger: { kind: "put", item, if: unchangedSince(before) },
      mark: toMark(trigger),
    });
  },

  /**
   * Records since when the runs of a trigger fail.
   * @throws ConditionFailed if it was changed or deleted since it was read
   */
  async noteFailing(before: Trigger, failing_since: number | undefined): Promise<void> {
    const change = failing_since === undefined ? { remove: ["failing_since"] } : { set: { failing_since } };
    await table.write({ kind: "update", key: keys.trigger(before.uid), ...change, if: unchangedSince(before) });
  },

  /**
   * Deletes a trigger together with other writes, in a transaction, which can be repeated after a lost response. Its deliveries
   * expire.
   * @throws ConflictError naming those whose conditions failed, or `trigger` if it does not exist, or has another secret since it was read
   */
  async delete({ owner, uid, secret_id }: Trigger, also: NamedWrites = {}): Promise<void> {
    await transact(table, {
      ...also,
      trigger: { kind: "delete", key: keys.trigger(uid), if: { secret_id: { eq: secret_id } } },
      entry: { kind: "delete", key: keys.triggerEntry(owner, uid) },
    });
  },
});
