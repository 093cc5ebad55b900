import { keys, teamPk } from "#shared/table/keys.ts";
import type { Query, Table } from "#shared/table/table.ts";

/** The query for the entries of a team's installations, in the order of their ids. */
export const installationsOf = (team: string): Query => ({
  pk: teamPk(team),
  prefix: keys.githubInstallationEntry(team, 0).sk.slice(0, -1),
});

/** Whether a team has claimed an installation of the GitHub App. */
export async function hasInstallation(team: string, table: Pick<Table, "query">): Promise<boolean> {
  const { items } = await table.query({ ...installationsOf(team), limit: 1 });
  return items.length > 0;
}
