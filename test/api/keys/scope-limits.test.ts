import { beforeEach, describe, expect, it } from "vitest";
import { keys, type Owner } from "#shared/table/keys.ts";
import type { Key } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import { nightly } from "../../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});
const team = (): Owner => ({ type: "Team", uid: plane.team });

/** Stores items as if this many resources already existed. */
async function fill(count: number, keyOf: (number: number) => Key): Promise<void> {
  for (let number = 0; number < count; number++) {
    await plane.table.write({ kind: "put", item: { ...keyOf(number), v: 1 } });
  }
}
const full = { status: 409, body: { error_code: "conflict", retryable: false } };

describe("POST /agent/environments", () => {
  it("returns 409 above 200 per scope, without affecting other scopes", async () => {
    await fill(199, (number) => keys.environmentEntry(team(), `e${number}`));
    const headers = { "idempotency-key": "last" };
    const last = await user.post("/agent/environments", { name: "last" }, { headers });
    expect(last.status).toBe(201);
    const refused = await user.post("/agent/environments", { name: "one more" });
    expect(refused).toMatchObject(full);
    expect(refused.body.detail).toMatch(/200 environments.*delete one/);
    expect((await user.post("/agent/environments", { name: "mine", team: false })).status).toBe(201);
    expect((await user.post("/agent/environments", { name: "last" }, { headers })).body.uid, "a repeat").toBe(
      last.body.uid,
    );
    expect((await user.delete(`/agent/environments/${last.body.uid}`)).status).toBe(204);
    expect((await user.post("/agent/environments", { name: "one more" })).status).toBe(201);
  });
});

describe("POST /agent/schedules", () => {
  it("returns 409 above 500 per scope, until one is deleted", async () => {
    await fill(499, (number) => keys.scheduleName(team(), `s${number}`, `${number}`));
    const last = await user.post("/agent/schedules", nightly);
    expect(last.status).toBe(201);
    const refused = await user.post("/agent/schedules", { ...nightly, name: "one more" });
    expect(refused).toMatchObject(full);
    expect(refused.body.detail).toMatch(/500 schedules/);
    expect(plane.timers.size).toBe(1);
    await user.delete(`/agent/schedules/${last.body.id}`);
    expect((await user.post("/agent/schedules", { ...nightly, name: "one more" })).status).toBe(201);
  });
});

describe("POST /agent/teams/{teamUid}/invitations", () => {
  it("returns 409 above 100, until one is accepted, deleted or expired", async () => {
    const invite = (number: number): Promise<ResponseBody> =>
      user.post(`/agent/teams/${plane.team}/invitations`, { email: `p${number}@runyard.test` });
    const made: ResponseBody[] = [];
    for (let number = 0; number < 100; number++) made.push(await invite(number));
    expect(made.every(({ status }) => status === 201)).toBe(true);
    expect(await invite(100)).toMatchObject(full);
    await user.delete(`/agent/teams/${plane.team}/invitations/${made[0]?.body.id}`);
    expect((await invite(100)).status).toBe(201);
    expect((await invite(101)).status).toBe(409);
    plane.clock.now += 7 * 24 * 3_600_000;
    expect((await invite(101)).status).toBe(201);
  });
});

describe("members of a team", () => {
  it("are limited to 1,000, regardless of how they are added", async () => {
    const mia = await plane.person("Mia", []);
    const members = (set: number) =>
      plane.table.write({ kind: "update", key: keys.team(plane.team), set: { members: set } });
    const { body } = await user.post(`/agent/teams/${plane.team}/invitations`, { email: "mia@runyard.test" });
    const token = body.link.split("/").at(-1);
    await members(1_000);
    const accept = `/agent/invitations/${token}/accept`;
    expect(await createClient(plane, mia.key).post(accept)).toMatchObject(full);
    expect(await user.post(accept, undefined, { key: undefined })).toMatchObject(full);
    await members(999);
    expect((await createClient(plane, mia.key).post(accept)).status).toBe(200);
    expect(await plane.table.get(keys.team(plane.team))).toMatchObject({ members: 1_000, admins: 1 });
    expect((await user.delete(`/agent/teams/${plane.team}/members/${mia.uid}`)).status).toBe(200);
    expect(await plane.table.get(keys.team(plane.team))).toMatchObject({ members: 999, admins: 1 });
  });

  it("are not added while the team is being deleted", async () => {
    const mia = await plane.person("Mia", []);
    const { body } = await user.post(`/agent/teams/${plane.team}/invitations`, { email: "mia@runyard.test" });
    const accept = `/agent/invitations/${body.link.split("/").at(-1)}/accept`;
    await plane.table.write({ kind: "update", key: keys.team(plane.team), set: { closed: true } });
    const refused = await createClient(plane, mia.key).post(accept);
    expect(refused).toMatchObject({ status: 404, body: { detail: "there is no such team" } });
    expect((await createClient(plane, mia.key).get("/agent/me")).body.teams).toEqual([]);
  });
});
