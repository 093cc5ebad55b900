import { describe, expect, it } from "vitest";
import { clientOf } from "../support/client.ts";
import { makeWorld } from "../support/world.ts";

describe("GET /agent/teams", () => {
  it("lists the teams that one is in, and no others", async () => {
    const world = await makeWorld();
    const both = await world.person("Cleo", [world.team, world.otherTeam]);
    const none = await world.person("Zoe", []);
    const uids = async (key: string) =>
      (await clientOf(world, key).get("/agent/teams")).body.teams.map(({ uid }: { uid: string }) => uid);
    expect(await uids(world.key)).toEqual([world.team]);
    expect((await uids(both.key)).toSorted()).toEqual([world.team, world.otherTeam].toSorted());
    expect(await uids(none.key)).toEqual([]);
  });
});
