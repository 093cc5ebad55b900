import { describe, expect, it } from "vitest";
import { clientOf } from "../support/client.ts";
import { startedRun } from "../support/execution.ts";
import { makeWorld } from "../support/world.ts";

describe("an environment that a caller sees by its link alone", () => {
  it("shows who made it by uid and display name, and no latest run", async () => {
    const world = await makeWorld();
    const ada = clientOf(world);
    const bo = clientOf(world, world.otherKey);
    const { uid } = (await ada.post("/agent/environments", { name: "Shop" })).body;
    await startedRun(world, { prompt: "p", title: "acquire Initech", config: { environment_id: uid } });
    const { link } = (await ada.post(`/agent/environments/${uid}/share`, { link: true })).body;
    const query = new URL(link).search;
    const person = { uid: world.user, display_name: "Ada" };

    const read = (await bo.get(`/agent/environments/${uid}${query}`)).body;
    const listed = (await bo.get(`/agent/environments${query}`)).body.environments;
    expect(listed).toEqual([read]);
    expect(read).toMatchObject({ uid, config: { name: "Shop" }, setup_failed: false });
    expect(read.creator).toEqual(person);
    expect(read.last_editor).toEqual(person);
    expect(Object.keys(read).filter((name) => name.startsWith("last_task"))).toEqual([]);
    expect(JSON.stringify([read, listed])).not.toMatch(/@runyard\.test|Initech/);
  });

  it("is complete for its owner, its team and its invited guests, with the link or without", async () => {
    const world = await makeWorld();
    const ada = clientOf(world);
    const { uid } = (await ada.post("/agent/environments", { name: "Shop" })).body;
    const harness = await startedRun(world, { prompt: "p", config: { environment_id: uid } });
    const { link } = (await ada.post(`/agent/environments/${uid}/share`, { link: true })).body;
    const guest = await world.person("Gus", [world.otherTeam]);
    await ada.post(`/agent/environments/${uid}/share`, { user_uid: guest.uid });
    const mia = await world.person("Mia");
    for (const key of [world.key, mia.key, guest.key]) {
      for (const query of ["", new URL(link).search]) {
        const { body } = await clientOf(world, key).get(`/agent/environments/${uid}${query}`);
        expect(body).toMatchObject({
          creator: { type: "user", uid: world.user, email: "ada@runyard.test" },
          last_task_created: { id: harness.run_id },
        });
      }
    }
  });
});
