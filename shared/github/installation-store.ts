import * as v from "valibot";
import { transactInScope } from "#shared/records/scope-transaction.ts";
import { batchGetAll } from "#shared/table/batch-get.ts";
import { keys } from "#shared/table/keys.ts";
import type { Item, Table, Test } from "#shared/table/table.ts";
import { type NamedWrites, transact } from "#shared/table/transact.ts";
import { writeIf } from "#shared/table/write-if.ts";
import { GithubAccount, RepositorySelection } from "#shared/wire/github/installation.ts";
import { UserProfile } from "#shared/wire/run.ts";
import { installationsOf } from "./team-installation-store.ts";

/** An installation of the deployment's GitHub App that a team has claimed. */
const Installation = v.object({
  installation_id: v.number(),
  team_uid: v.string(),
  account: GithubAccount,
  repository_selection: RepositorySelection,
  claimed_by: UserProfile,
  claimed_at: v.number(),
  /** True while its owner has suspended it on GitHub. */
  suspended: v.exactOptional(v.literal(true)),
  /** When GitHub last reported that it has lost rights, in milliseconds: tokens that were issued before are not used. */
  tokens_from: v.exactOptional(v.number()),
});
export type Installation = v.InferOutput<typeof Installation>;

/** What an event says about an installation. */
export interface InstallationChange
  extends Partial<Pick<Installation, "account" | "repository_selection" | "tokens_from">> {
  readonly isSuspended?: boolean;
}

/** The installations that teams have claimed. Each belongs to one team at most. */
export const installationStore = (table: Table) => ({
  async get(id: number): Promise<Installation | undefined> {
    const item = await table.get(keys.githubInstallation(id));
    return item === undefined ? undefined : v.parse(Installation, item);
  },

  /** The installations of teams, in the order of their ids in each team. */
  async list(teams: readonly string[]): Promise<Installation[]> {
    const pages = await Promise.all(teams.map((team) => table.query(installationsOf(team))));
    const ids = pages.flatMap(({ items }) => items.map(({ sk }: Item) => Number(sk.slice(sk.indexOf("#") + 1))));
    const items = await batchGetAll(ids.map(keys.githubInstallation), table);
    return items.flatMap((item) => (item === undefined ? [] : [v.parse(Installation, item)]));
  },

  /**
   * Records the team that has an installation, together with other writes.
   * @throws ConflictError naming `installation` if a team has it, and the other writes whose conditions failed
   */
  async claim(installation: Installation, also: NamedWrites = {}): Promise<void> {
    const { installation_id: id, team_uid } = installation;
    const key = keys.githubInstallation(id);
    await transactInScope(
      { type: "Team", uid: team_uid },
      {
        ...also,
        installation: { kind: "put", item: { ...key, v: 1, ...installation }, if: { pk: { exists: false } } },
        entry: { kind: "put", item: { ...keys.githubInstallationEntry(team_uid, id), v: 1 } },
      },
      table,
    );
  },

  /** Records what GitHub reports about an installation; does nothing where no team has it. */
  async refresh(id: number, { isSuspended, ...set }: InstallationChange): Promise<void> {
    await writeIf(table, {
      kind: "update",
      key: keys.githubInstallation(id),
      set: isSuspended === true ? { ...set, suspended: true } : set,
      remove: isSuspended === false ? ["suspended"] : [],
      if: { pk: { exists: true } },
    });
  },

  /**
   * Removes an installation from its team. With `mayBeReleased`, which is for work that is repeated, an installation without a team is no
   * conflict, and its entry in the team's list is deleted.
   * @throws ConflictError if the team does not have it
   */
  async release(team: string, id: number, { mayBeReleased = false } = {}): Promise<void> {
    const isOwner: Test = mayBeReleased ? { absentOr: { eq: team } } : { eq: team };
    await transact(table, {
      installation: { kind: "delete", key: keys.githubInstallation(id), if: { team_uid: isOwner } },
      entry: { kind: "delete", key: keys.githubInstallationEntry(team, id) },
    });
  },
});

/** The team that may use an installation, and what GitHub has reported about it. */
type InstallationOwner = Pick<Installation, "team_uid" | "suspended" | "tokens_from">;

/** Finds the team that may use an installation; undefined if none may. */
export type FindOwner = (installation: number) => Promise<InstallationOwner | undefined>;

/** The team that has claimed an installation, else the one that the operator has set, if any. */
export const findOwner =
  (table: Pick<Table, "batchGet">, defaultTeam: string | undefined): FindOwner =>
  async (id: number) => {
    const [item] = await table.batchGet([keys.githubInstallation(id)]);
    if (item !== undefined) return v.parse(Installation, item);
    return defaultTeam === undefined ? undefined : { team_uid: defaultTeam };
  };
