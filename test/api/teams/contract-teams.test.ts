import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";

describe("GET /agent/teams", () => {
  // @contract teams.list
  it("lists only the teams of the caller", async () => {
    const plane = await createTestControlPlane();
    const both = await plane.person("Cleo", [plane.team, plane.otherTeam]);
    const none = await plane.person("Zoe", []);
    const uids = async (key: string) =>
      (await createClient(plane, key).get("/agent/teams")).body.teams.map(({ uid }: { uid: string }) => uid);
    expect(await uids(plane.key)).toEqual([plane.team]);
    expect((await uids(both.key)).toSorted()).toEqual([plane.team, plane.otherTeam].toSorted());
    expect(await uids(none.key)).toEqual([]);
  });
});
