import * as v from "valibot";
import { keys, shardOfDelivery, sortableTime } from "#shared/table/keys.ts";
import { type Item, type Put, type Table, type Update, valueUnchanged } from "#shared/table/table.ts";
import { writeIf } from "#shared/table/write-if.ts";
import type { DeliveryRef } from "#shared/webhooks/webhook-ports.ts";
import type { TriggerReply } from "#shared/wire/triggers/trigger.ts";
import type { CredentialName } from "../systems/credential.ts";
import { Place } from "../systems/system-request.ts";

/** Milliseconds after which a reply is attempted if the request for its attempt is lost. */
const FIRST_CHECK_MS = 90_000;

/** The reply to the event that started a run: one comment, which shows what became of the run. */
const Reply = v.object({
  run_id: v.string(),
  team_uid: v.string(),
  trigger_uid: v.string(),
  /** The name of the secret with which the system is called, or the installation of the GitHub App. */
  credential: v.exactOptional(v.string()),
  installation_id: v.exactOptional(v.number()),
  place: Place,
  /** What the comment is found by after a post whose response was lost. */
  nonce: v.string(),
  shows: v.array(v.picklist(["cost", "link"])),
  /** The number of the pull request whose head commit gets a status. */
  pull: v.exactOptional(v.string()),
  /** The number of the latest event of the run that the comment has to show; -1 before the first one. */
  wanted: v.number(),
  /** Attempts since then that have failed, and why the last one has. */
  tries: v.number(),
  failure: v.exactOptional(v.string()),
  /** The comment, the commit with the status, and a digest of what both show. */
  post_id: v.exactOptional(v.string()),
  sha: v.exactOptional(v.string()),
  posted: v.exactOptional(v.string()),
  /** When the first post began, until its response is known, in milliseconds. */
  posted_since: v.exactOptional(v.number()),
  /** Until when an attempt has the reply, in milliseconds. */
  claimed_until: v.exactOptional(v.number()),
  /** When it is attempted next; absent where the comment shows what it has to. */
  check_at: v.exactOptional(v.string()),
});
export type Reply = v.InferOutput<typeof Reply>;
export type NewReply = Pick<Reply, "run_id" | "team_uid" | "trigger_uid" | "place" | "nonce" | "pull"> &
  CredentialName & {
    readonly shows: NonNullable<TriggerReply["show"]>;
  };

const dueAt = (runId: string, at: number) => ({ check_shard: shardOfDelivery(runId, 0), check_at: sortableTime(at) });
const IDLE = ["check_shard", "check_at", "claimed_until"] as const;

const toRef = (runId: string, check_at: string): DeliveryRef => ({
  is_reply: true,
  webhook_uid: runId,
  sequence: 0,
  check_at,
});

/** The write of the reply of a new run, which is attempted after the run's first event. */
export const putReply = ({ pull, credential, installation_id, ...reply }: NewReply, now: number): Put => ({
  kind: "put",
  item: {
    ...keys.runReply(reply.run_id),
    v: 1,
    ...reply,
    ...(credential === undefined ? {} : { credential }),
    ...(installation_id === undefined ? {} : { installation_id }),
    ...(pull === undefined ? {} : { pull }),
    wanted: -1,
    tries: 0,
    ...dueAt(reply.run_id, now + FIRST_CHECK_MS),
  },
});

const parseReply = (item: Item): Reply => v.parse(Reply, item);

/** The replies of runs. */
export const replyStore = (table: Table) => ({
  /** The replies of runs that have one. */
  async getMany(runIds: readonly string[]): Promise<Reply[]> {
    const items = runIds.length === 0 ? [] : await table.batchGet([...new Set(runIds)].map(keys.runReply));
    return items.flatMap((item) => (item === undefined ? [] : [parseReply(item)]));
  },

  /**
   * Has a reply show an event of its run. Returns what names the attempt to request; undefined where it shows the event, or
   * an attempt has it that will.
   * @throws ConditionFailed if it was changed since it was read
   */
  async want(reply: Reply, sequence: number, now: number): Promise<DeliveryRef | undefined> {
    if (sequence <= reply.wanted) return undefined;
    const isClaimed = (reply.claimed_until ?? 0) > now;
    // An attempt that is under way sees the new number, and attempts again.
    const due = isClaimed ? {} : dueAt(reply.run_id, now + FIRST_CHECK_MS);
    await table.write(change(reply, { set: { wanted: sequence, tries: 0, ...due } }));
    return isClaimed ? undefined : toRef(reply.run_id, sortableTime(now + FIRST_CHECK_MS));
  },

  /** Claims a reply for an attempt whose result comes until `until`; undefined where another attempt has it. */
  async claim(
    reply: Reply,
    { now, until }: { readonly now: number; readonly until: number },
  ): Promise<Reply | undefined> {
    const isFirst = reply.post_id === undefined && reply.posted_since === undefined;
    const set = { claimed_until: until, ...dueAt(reply.run_id, until), ...(isFirst ? { posted_since: now } : {}) };
    if (!(await writeIf(table, change(reply, { set })))) return undefined;
    return { ...reply, ...set };
  },

  /** Records what an attempt has posted. Returns false where the run has new events, which the attempt then has to show. */
  async record(claimed: Reply, posted: Pick<Reply, "post_id" | "sha" | "posted">): Promise<boolean> {
    const set = Object.fromEntries(Object.entries(posted).filter(([, value]) => value !== undefined));
    const done = { set, remove: [...IDLE, "posted_since", "failure"] };
    if (await writeIf(table, change(claimed, done))) return true;
    const only = { check_at: { eq: claimed.check_at ?? "" } };
    await writeIf(table, { ...change(claimed, { set, remove: ["posted_since"] }), if: only });
    return false;
  },

  /** Records that an attempt has failed: the next one is at `nextAt`, or with the run's next event. */
  async postpone(claimed: Reply, failure: string, nextAt: number | undefined): Promise<void> {
    const set = { tries: claimed.tries + 1, failure };
    const later =
      nextAt === undefined
        ? { set, remove: [...IDLE] }
        : { set: { ...set, ...dueAt(claimed.run_id, nextAt) }, remove: ["claimed_until"] };
    // Where the run has new events, the attempt is due when the claim ends.
    await writeIf(table, change(claimed, later));
  },
});

/** A change under the condition that neither the wanted event nor the attempt is another one since the reply was read. */
const change = (reply: Reply, { set, remove }: Pick<Update, "set" | "remove">): Update => ({
  kind: "update",
  key: keys.runReply(reply.run_id),
  ...(set === undefined ? {} : { set }),
  ...(remove === undefined ? {} : { remove }),
  if: {
    wanted: { eq: reply.wanted },
    check_at: valueUnchanged(reply.check_at),
  },
});
