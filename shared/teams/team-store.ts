import { putDefaultIdentity } from "#shared/identities/identity-store.ts";
import { uuidv7 } from "#shared/ids.ts";
import { putRegister } from "#shared/records/identity-register.ts";
import { type Person, putMember } from "#shared/records/member.ts";
import { parseTeam, readTeam, type Team } from "#shared/records/team.ts";
import { addFirstRole } from "#shared/records/user.ts";
import { keys, RETENTION_SHARD } from "#shared/table/keys.ts";
import type { Put, Table, TransactionWrite, Update, Value } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";

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
      await transact(table, {
        team: { kind: "update", key: keys.team(uid), ...withIndexKeys(uid, change), if: { pk: { exists: true } } },
        counters: copySettings(["concurrency_limit", "queue_limit"], countersKey(uid), change),
        register: copySettings(["identity_limit"], keys.identities(uid), change),
      });
    },
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

/** Copies the limits of runs to the item of the counters, whose conditions compare with them. */
function putLimits({ uid, concurrency_limit, queue_limit }: Team): Update | undefined {
  const limits: Record<string, Value> = {
    ...(concurrency_limit === undefined ? {} : { concurrency_limit }),
    ...(queue_limit === undefined ? {} : { queue_limit }),
  };
  return Object.keys(limits).length === 0 ? undefined : { kind: "update", key: countersKey(uid), set: limits };
}

function copySettings(
  names: readonly string[],
  key: Update["key"],
  { set, remove }: TeamChange,
): TransactionWrite | undefined {
  const changed = Object.fromEntries(Object.entries(set).filter(([name]) => names.includes(name)));
  const removed = remove.filter((name) => names.includes(name));
  if (Object.keys(changed).length === 0 && removed.length === 0) return undefined;
  return { kind: "update", key, set: changed, remove: removed };
}
