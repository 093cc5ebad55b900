import { parseEnvironment } from "#shared/environments/environment.ts";
import { environmentRemoval } from "#shared/environments/environment-store.ts";
import { type Identity, parseIdentity } from "#shared/records/identity.ts";
import { readTeam } from "#shared/records/team.ts";
import { divideLimits, partsUnchanged } from "#shared/runs/capacity/counter-parts.ts";
import { keys, teamPk } from "#shared/table/keys.ts";
import type { Item, Key, Table, TransactionWrite } from "#shared/table/table.ts";
import { transact } from "#shared/table/transact.ts";
import { deleteByEmail } from "./invitation-store.ts";
import { deleteMember } from "./member-store.ts";

/** An item of a team, by what its deletion needs. */
export type TeamPart =
  | { readonly kind: "identity"; readonly identity: Identity }
  | { readonly kind: "environment"; readonly uid: string; readonly entry: Key }
  | { readonly kind: "secret"; readonly name: string }
  | { readonly kind: "webhook"; readonly uid: string }
  | { readonly kind: "trigger"; readonly uid: string }
  | { readonly kind: "installation"; readonly id: number }
  | { readonly kind: "invitation"; readonly key: Key; readonly hash: string; readonly email: string }
  | { readonly kind: "member"; readonly user: string }
  | { readonly kind: "schedule" }
  | { readonly kind: "counters"; readonly queueLimit: number | undefined; readonly parts: number | undefined }
  /** Deleted last, or with the items that it belongs to. */
  | { readonly kind: "deleted-later" }
  | { readonly kind: "other"; readonly key: Key };

type CountersPart = Extract<TeamPart, { readonly kind: "counters" }>;
type InvitationPart = Extract<TeamPart, { readonly kind: "invitation" }>;

/** The steps that delete a team with everything in it. */
export function teamDeletionStore(table: Table) {
  return {
    async list(team: string): Promise<TeamPart[]> {
      const { items } = await table.query({ pk: teamPk(team) });
      return [...items, ...(await listDivided(team, items, table))].map(toPart);
    },

    /**
     * Closes a team: from then on nothing is created in it (`transactInScope`), and no run.
     * @throws ConflictError naming `team` where it does not exist, `counters` where it has runs that have not ended
     */
    async close(team: string, parts: number | undefined): Promise<void> {
      const [first, ...others] = countersKeys(team, parts).map((key) => ({
        kind: "update" as const,
        key,
        set: { queued: 0, queue_limit: 0 },
        if: { queued: { absentOr: { below: 1 } }, running: { absentOr: { below: 1 } } },
      }));
      await transact(table, {
        team: { kind: "update", key: keys.team(team), set: { closed: true }, if: { pk: { exists: true } } },
        counters: first && [{ ...first, if: { ...first.if, ...partsUnchanged(parts) } }, ...others],
      });
    },

    /** Undoes `close`. */
    async reopen(team: string, { queueLimit, parts }: Pick<CountersPart, "queueLimit" | "parts">): Promise<void> {
      const counters = { kind: "update", key: countersKey(team) } as const;
      const stored = parts === undefined ? undefined : await readTeam(team, table);
      await transact(table, {
        team: { kind: "update", key: keys.team(team), remove: ["closed"] },
        counters: stored
          ? divideLimits(stored, parts)
          : queueLimit === undefined
            ? { ...counters, remove: ["queue_limit"] }
            : { ...counters, set: { queue_limit: queueLimit } },
      });
    },

    /** @throws ConflictError if the environment changed meanwhile */
    async deleteEnvironment(uid: string, { pk, sk }: Key): Promise<void> {
      const item = await table.get(keys.environment(uid));
      const entry: TransactionWrite = { kind: "delete", key: { pk, sk } };
      await transact(table, {
        environment: item === undefined ? entry : environmentRemoval(parseEnvironment(item)),
      });
    },

    async deleteInvitation(team: string, { key, hash, email }: InvitationPart): Promise<void> {
      await transact(table, {
        byId: { kind: "delete", key },
        byToken: { kind: "delete", key: keys.invitationByToken(hash) },
        byEmail: deleteByEmail({ team_uid: team, id: key.sk.slice(key.sk.indexOf("#") + 1), email }),
      });
    },

    async deleteMember(team: string, user: string): Promise<void> {
      await transact(table, { member: deleteMember(team, user) });
    },

    deleteOther: (key: Key): Promise<void> => table.write({ kind: "delete", key }),

    /**
     * Deletes the team itself and its last member. The counters, which are closed, stay until `closedUntil` (epoch
     * seconds): a request that was authenticated before may still try to create a run.
     * @throws ConflictError if the team does not exist
     */
    async deleteTeam(
      team: string,
      admin: string,
      { closedUntil, parts }: { readonly closedUntil: number; readonly parts: number | undefined },
    ): Promise<void> {
      await transact(table, {
        team: { kind: "delete", key: keys.team(team), if: { pk: { exists: true } } },
        register: { kind: "delete", key: keys.identities(team) },
        counters: countersKeys(team, parts).map((key) => ({ kind: "update", key, set: { expires_at: closedUntil } })),
        admin: deleteMember(team, admin),
      });
    },
  };
}

const countersKey = (team: string, part?: number): Key => keys.counterPart({ type: "Team", uid: team }, part);
const countersKeys = (team: string, parts = 1): Key[] =>
  Array.from({ length: parts }, (_, part) => countersKey(team, part));

/** Reads what is counted in the parts of a team's counters. These themselves belong to the first ones. */
async function listDivided(team: string, items: readonly Item[], table: Table): Promise<Item[]> {
  const counters = items.find(({ sk }) => sk === countersKey(team).sk);
  const [, ...others] = countersKeys(team, toNumber(counters?.["parts"]));
  const divided = await Promise.all(others.map(async ({ pk }) => (await table.query({ pk })).items));
  return divided.flat().filter(({ sk }) => sk !== counters?.sk);
}

function toPart(item: Item): TeamPart {
  const [kind, rest = ""] = item.sk.split(/#(.*)/s);
  const key = { pk: item.pk, sk: item.sk };
  switch (kind) {
    case "IDENTITY":
      return { kind: "identity", identity: parseIdentity(item) };
    case "ENVIRONMENT":
      return { kind: "environment", uid: rest, entry: key };
    case "SECRET":
      return { kind: "secret", name: rest };
    case "WEBHOOK":
      return { kind: "webhook", uid: rest };
    case "TRIGGER":
      return { kind: "trigger", uid: rest };
    case "GITHUB_INSTALLATION":
      return { kind: "installation", id: Number(rest) };
    case "INVITATION":
      return { kind: "invitation", key, hash: String(item["hash"]), email: String(item["email"]) };
    case "MEMBER":
      return { kind: "member", user: rest };
    case "SCHEDULE":
      return { kind: "schedule" };
    case "COUNTERS":
      return { kind: "counters", queueLimit: toNumber(item["queue_limit"]), parts: toNumber(item["parts"]) };
    case "TEAM":
    case "IDENTITIES":
    case "KEYS":
      return { kind: "deleted-later" };
    default:
      return { kind: "other", key };
  }
}

const toNumber = (value: Item[string] | undefined): number | undefined =>
  typeof value === "number" ? value : undefined;
