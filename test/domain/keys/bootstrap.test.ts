import { describe, expect, it } from "vitest";
import { principalStore } from "#shared/principals/principal-store.ts";
import { userByEmailKey } from "#shared/records/user.ts";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import { bootstrap } from "#shared/teams/bootstrap.ts";

const NOW = 1_800_000_000_000;
const request = (name: string) => ({ teamName: `Team of ${name}`, displayName: name, email: "Ada@Example.com" });

describe("bootstrap", () => {
  it("creates a team with its admin, whose key is valid, and gives the address to the admin", async () => {
    const table = memoryTable();
    const { api_key, team_uid, user_uid } = await bootstrap(table, NOW, request("Ada"));
    const principal = await principalStore(table, () => NOW).authenticate(`Bearer ${api_key}`, undefined);
    expect(principal).toMatchObject({
      kind: "personal",
      user: { uid: user_uid, displayName: "Ada", email: "Ada@Example.com" },
      teams: [{ uid: team_uid, role: "admin" }],
    });
    expect(await table.get(userByEmailKey("ada@example.com"))).toMatchObject({ user_uid });
    expect(await table.get(keys.team(team_uid))).toMatchObject({ name: "Team of Ada", admins: 1, members: 1 });
  });

  it("keeps the key that signs cursors, and the owner of an address, when it creates another team", async () => {
    const table = memoryTable();
    const first = await bootstrap(table, NOW, request("Ada"));
    const signing = await table.get(keys.signing("1"));
    expect(Buffer.from(String(signing?.["secret"]), "base64")).toHaveLength(32);
    const second = await bootstrap(table, NOW + 1, request("Bob"));
    expect(second.team_uid).not.toBe(first.team_uid);
    expect(await table.get(keys.signing("1"))).toEqual(signing);
    expect(await table.get(userByEmailKey("ada@example.com"))).toMatchObject({ user_uid: first.user_uid });
  });
});
