import { putDefaultIdentity } from "#shared/identities/identity-store.ts";
import { uuidv7 } from "#shared/ids.ts";
import { putRegister } from "#shared/records/identity-register.ts";
import { type Person, putMember } from "#shared/records/member.ts";
import { parseTeam, readTeam, type Team } from "#shared/records/team.ts";
import { addFirstRole } from "#shared/records/user.ts";
import { countParts, divideLimits, partsUnchanged } from "#shared/runs/capacity/counter-parts.ts";
import { parseCounters } from "#shared/runs/capacity/counter-store.ts";
import { keys, RETENTION_SHARD } from "#shared/table/keys.ts";
import {
  type Conditions,
  type Put,
  type Table,
  type TransactionWrite,
  type Update,
  type Value,
  valueUnchanged,
} from "#shared/table/table.ts";
import { ConflictError, type NamedWrites, transact } from "#shared/table/transact.ts";

/** Settings to set in a team, and settings to bring back to their defaults. */
export interface TeamChange {
  readonly set: Readonly<Record<string, Value>>;
  readonly remove: readonly string[];
}

/** Teams and their settings. */
export function teamStore(table: Pick<Table, "get" | "batchGet" | "transact">) {
  return {
    get: (uid: string): Promise<Team | undefined> => readTeam(uid, table),

    /** Teams by uid. At most 100, since they are read in one batch. */
    async getMany(uids: readonly string[]): Promise<Map<string, Team>> {
      const items = await table.batchGet(uids.map(keys.team));
      return new Map(items.filter((item) => item !== undefined).map((item) => [parseTeam(item).uid, parseTeam(item)]));
    },

    /** Number of admins; undefined if there is no such team. */
    async countAdmins(uid: string): Promise<number | undefined> {
      const item = await table.get(keys.team(uid));
      return item === undefined ? undefined : Number(item["admins"]);
    },

    /** Whether the team exists and is not being deleted. */
    async isOpen(uid: string): Promise<boolean> {
      const item = await table.get(keys.team(uid));
      return item !== undefined && item["closed"] === undefined;
    },

    /**
     * Creates a team whose admin is an existing user, with the idempotency record of the request.
     * @throws ConflictError naming `idempotency`
     */
    async create(team: Team, admin: Person, idempotency: Put): Promise<void> {
      await transact(table, { idempotency, role: addFirstRole(team.uid, admin.uid), ...putTeam(team, admin) });
    },

    /**
     * Changes a team, and the copies of settings that conditions of other transactions compare with.
     * @throws ConflictError if there is no such team
     */
    async update(uid: string, change: TeamChange): Promise<void> {
      for (let attempt = 1; ; attempt++) {
        const { counters, set, unchanged } = await toLimitChange(uid, change, table);
        const { set: changed, remove } = withIndexKeys(uid, change);
        try {
          return await transact(table, {
            team: {
              kind: "update",
              key: keys.team(uid),
              set: { ...changed, ...set },
              remove,
              if: { pk: { exists: true }, ...unchanged },
            },
            counters,
            register: copySettings(["identity_limit"], keys.identities(uid), change),
          });
        } catch (error) {
          // The limits may have changed since they were read.
          if (!(error instanceof ConflictError) || attempt === MAX_ATTEMPTS) throw error;
          if (!(await teamStore(table).isOpen(uid))) throw error;
        }
      }
    },
  };
}

/** How often a team is changed whose limits others change at the same time. */
const MAX_ATTEMPTS = 5;
const LIMITS = ["concurrency_limit", "queue_limit"] as const;

interface LimitChange {
  readonly counters: TransactionWrite | readonly TransactionWrite[] | undefined;
  /** How the team names the parts that its counters have from then on. */
  readonly set?: Pick<Team, "counter_parts">;
  /** The condition that the limits are those that were read. */
  readonly unchanged?: Conditions;
}

/** Copies changed limits to the counters, where conditions compare with them; divides them where the counters have several parts. */
async function toLimitChange(uid: string, change: TeamChange, table: Pick<Table, "batchGet">): Promise<LimitChange> {
  const copy = copySettings(LIMITS, countersKey(uid), change);
  if (copy === undefined) return { counters: undefined };
  const [item, counters] = await table.batchGet([keys.team(uid), countersKey(uid)]);
  const { parts } = parseCounters(counters);
  if (item === undefined) return { counters: undefined };
  const before = parseTeam(item);
  const { concurrency_limit, queue_limit } = before;
  const unchanged = Object.fromEntries(Object.entries(before).filter(([name]) => !change.remove.includes(name)));
  const after = parseTeam({ ...unchanged, ...change.set });
  if (parts === undefined && countParts(after) === 1) return { counters: { ...copy, if: partsUnchanged(parts) } };
  return {
    counters: divideLimits(after, parts),
    set: { counter_parts: countParts(after) },
    unchanged: { concurrency_limit: valueUnchanged(concurrency_limit), queue_limit: valueUnchanged(queue_limit) },
  };
}

/** The writes of a new team with its first admin and its default identity; the admin's own item is written by the caller. */
export function putTeam(team: Team, admin: Person): NamedWrites {
  const now = team.created_at;
  // Ids sort by their millisecond; the default identity must be the oldest even where others are created in the same one.
  const identity = uuidv7(now - 1);
  return {
    team: {
      kind: "put",
      item: {
        ...keys.team(team.uid),
        v: 1,
        admins: 1,
        members: 1,
        ...team,
        ...(countParts(team) > 1 ? { counter_parts: countParts(team) } : {}),
        ...(team.retention_days === undefined ? {} : toRetentionKeys(team.uid)),
      },
      if: { pk: { exists: false } },
    },
    member: putMember(team.uid, admin, "admin", now),
    register: putRegister(team.uid, identity, now, team.identity_limit),
    defaultIdentity: putDefaultIdentity(team.uid, identity, now),
    limits: putLimits(team),
  };
}

/** What lists a team among those whose runs are deleted by age. */
const toRetentionKeys = (uid: string) => ({ check_shard: RETENTION_SHARD, check_at: uid });

/** Lists the team there as long as it has a retention. */
function withIndexKeys(uid: string, { set, remove }: TeamChange): TeamChange {
  if (set["retention_days"] !== undefined) return { set: { ...set, ...toRetentionKeys(uid) }, remove };
  if (!remove.includes("retention_days")) return { set, remove };
  return { set, remove: [...remove, ...Object.keys(toRetentionKeys(uid))] };
}

const countersKey = (team: string) => keys.counters({ type: "Team", uid: team });

/** Copies the limits of runs to the counters, whose conditions compare with them. */
function putLimits(team: Team): Update | readonly Update[] | undefined {
  if (countParts(team) > 1) return divideLimits(team, undefined);
  const { uid, concurrency_limit, queue_limit } = team;
  const limits: Record<string, Value> = {
    ...(concurrency_limit === undefined ? {} : { concurrency_limit }),
    ...(queue_limit === undefined ? {} : { queue_limit }),
  };
  return Object.keys(limits).length === 0 ? undefined : { kind: "update", key: countersKey(uid), set: limits };
}

function copySettings(names: readonly string[], key: Update["key"], { set, remove }: TeamChange): Update | undefined {
  const changed = Object.fromEntries(Object.entries(set).filter(([name]) => names.includes(name)));
  const removed = remove.filter((name) => names.includes(name));
  if (Object.keys(changed).length === 0 && removed.length === 0) return undefined;
  return { kind: "update", key, set: changed, remove: removed };
}
