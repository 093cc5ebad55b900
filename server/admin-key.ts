import * as v from "valibot";
import { issueRecoveryKey } from "#shared/keys/manage-keys.ts";
import { listMembers } from "#shared/records/member.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { bootstrap } from "#shared/teams/bootstrap.ts";
import type { Database } from "./database/database.ts";
import { decodeItem } from "./table/item-text.ts";

const FIRST_TEAM = { teamName: "Local team", displayName: "Local user", email: "local@example.com" };

interface AdminKey {
  readonly api_key: string;
  readonly team_uid: string;
}

/** Creates a key for an admin of the oldest team. If there is no team yet, creates one with its admin. */
export async function createAdminKey(database: Database, table: Table): Promise<AdminKey> {
  for (const team of await listTeams(database)) {
    const members = await listMembers(team, table);
    const admin = members.toSorted((a, b) => a.created_at - b.created_at).find(({ role }) => role === "admin");
    if (admin === undefined) continue;
    const owner = { kind: "personal", user: admin.user_uid, defaultTeam: team } as const;
    const createdBy = { uid: admin.user_uid, displayName: admin.display_name, email: admin.email };
    return { api_key: await issueRecoveryKey(owner, createdBy, { table, now: Date.now }), team_uid: team };
  }
  return bootstrap(table, Date.now(), FIRST_TEAM);
}

const TEAMS = "SELECT item, tagged FROM items WHERE sk = ?";
const Team = v.object({ uid: v.string(), created_at: v.number(), closed: v.optional(v.unknown()) });

/** The teams that are not being deleted, oldest first. */
async function listTeams(database: Database): Promise<string[]> {
  const rows = await database.read(() => database.statement(TEAMS).all(keys.team("").sk));
  const teams = rows.map((row) => v.parse(Team, decodeItem(row))).filter(({ closed }) => closed === undefined);
  return teams.toSorted((a, b) => a.created_at - b.created_at).map(({ uid }) => uid);
}
