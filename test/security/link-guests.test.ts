import { describe, expect, it } from "vitest";
import { createClient } from "../support/client.ts";
import { createTestControlPlane } from "../support/control-plane.ts";
import { startedRun } from "../support/execution.ts";

describe("an environment that a caller sees only through its link", () => {
  // @contract environments.link-guest: A caller with only the link sees creator and last_editor as {uid, display_name}, and no last_task_*.
  it("shows its creator by uid and display name, and no latest run", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const bo = createClient(plane, plane.otherKey);
    const { uid } = (await user.post("/agent/environments", { name: "Shop" })).body;
    await startedRun(plane, { prompt: "p", title: "acquire Initech", config: { environment_id: uid } });
    const { link } = (await user.post(`/agent/environments/${uid}/share`, { link: true })).body;
    const query = new URL(link).search;
    const person = { uid: plane.user, display_name: "Ada" };

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
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const { uid } = (await user.post("/agent/environments", { name: "Shop" })).body;
    const harness = await startedRun(plane, { prompt: "p", config: { environment_id: uid } });
    const { link } = (await user.post(`/agent/environments/${uid}/share`, { link: true })).body;
    const guest = await plane.person("Gus", [plane.otherTeam]);
    await user.post(`/agent/environments/${uid}/share`, { user_uid: guest.uid });
    const mia = await plane.person("Mia");
    for (const key of [plane.key, mia.key, guest.key]) {
      for (const query of ["", new URL(link).search]) {
        const { body } = await createClient(plane, key).get(`/agent/environments/${uid}${query}`);
        expect(body).toMatchObject({
          creator: { type: "user", uid: plane.user, email: "ada@runyard.test" },
          last_task_created: { id: harness.run_id },
        });
      }
    }
  });
});
