import { beforeEach, describe, expect, it } from "vitest";
import { createAdminKey } from "#server/admin-key.ts";
import type { Database } from "#server/database/database.ts";
import { sqliteTable } from "#server/table/sqlite-table.ts";
import { principalStore } from "#shared/principals/principal-store.ts";
import { putMember } from "#shared/records/member.ts";
import { putUser } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import type { Table } from "#shared/table/table.ts";
import { useDataDirectory } from "../support/data-directory.ts";

const data = useDataDirectory();
let database: Database;
let table: Table;
beforeEach(() => {
  database = data.open();
  table = sqliteTable(database);
});

const person = (uid: string) => ({ uid, displayName: `Name of ${uid}`, email: `${uid}@example.com` });
const addTeam = (uid: string, created_at: number, more: object = {}) =>
  table.write({ kind: "put", item: { ...keys.team(uid), v: 1, uid, name: uid, created_at, admins: 1, ...more } });
async function addMember(team: string, uid: string, role: "admin" | "member", now: number): Promise<void> {
  await table.write(putMember(team, person(uid), role, now));
  await table.write(putUser(person(uid), { [team]: role }, now, "bootstrap"));
}
async function identify(key: string) {
  const principal = await principalStore(table, Date.now).authenticate(`Bearer ${key}`, undefined);
  return principal.kind === "personal" ? [principal.user.uid, principal.teams] : principal.kind;
}

describe("createAdminKey", () => {
  it("creates a team with its admin where there is none, and then keys for this admin", async () => {
    const first = await createAdminKey(database, table);
    const second = await createAdminKey(database, table);
    expect([second.team_uid, second.api_key === first.api_key]).toEqual([first.team_uid, false]);
    const admin = await identify(first.api_key);
    expect(admin).toEqual([expect.any(String), [{ uid: first.team_uid, role: "admin" }]]);
    expect(await identify(second.api_key)).toEqual(admin);
  });

  it("takes the oldest admin of the oldest team that has one and is not being deleted", async () => {
    await addTeam("late", 40);
    await addMember("late", "late-admin", "admin", 40);
    await addTeam("oldest", 10, { closed: true });
    await addMember("oldest", "closed-admin", "admin", 10);
    await addTeam("old", 20);
    await addMember("old", "member", "member", 20);
    await addTeam("used", 30);
    await addMember("used", "a-later", "admin", 33);
    await addMember("used", "b-first", "admin", 32);
    await addMember("used", "c-member", "member", 31);
    const { api_key, team_uid } = await createAdminKey(database, table);
    expect([team_uid, await identify(api_key)]).toEqual(["used", ["b-first", [{ uid: "used", role: "admin" }]]]);
  });
});
