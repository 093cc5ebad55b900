import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";

let plane: TestControlPlane;
let user: Client;
let bo: Client;
let invitations: string;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  bo = createClient(plane, plane.otherKey);
  invitations = `/agent/teams/${plane.team}/invitations`;
});

const DAY = 24 * 3_600_000;
const parseToken = (link: string) => link.split("/").at(-1) ?? "";
const invite = async (body: Record<string, unknown> = { email: "bo@runyard.test" }) => {
  const response = await user.post(invitations, body);
  expect(response.status).toBe(201);
  return { ...response.body, token: parseToken(response.body.link) };
};
const accept = (client: Client, token: string, headers = {}) =>
  client.post(`/agent/invitations/${token}/accept`, undefined, { headers });

/** Returns the stored items of invitations to an address: by team, by token and by address. */
const listStored = (email: string) => plane.table.all().filter((item) => item["email"] === email && "hash" in item);

describe("POST /agent/teams/{teamUid}/invitations", () => {
  // @contract teams.shapes.created
  // @contract invitations.create: POST …/invitations returns a link.
  // @contract invitations.list: GET lists them, without the link.
  it("returns a link that is shown once and stored nowhere", async () => {
    const { token, ...made } = await invite({ email: "new@runyard.test", role: "admin" });
    expect(made).toEqual({
      id: expect.any(String),
      email: "new@runyard.test",
      role: "admin",
      created_at: "2026-05-18T19:00:00.000Z",
      expires_at: "2026-05-25T19:00:00.000Z",
      link: `https://runyard.test/invitations/${token}`,
    });
    expect(token).toMatch(/^[\w-]{43}$/);
    const { link: _, ...shown } = made;
    expect((await user.get(invitations)).body).toEqual({ invitations: [shown] });
    expect(JSON.stringify(plane.table.all())).not.toContain(token);
    // It is stored by team, by token and by address, and the table deletes it after it expires.
    const stored = plane.table.all().filter((item) => item["email"] === "new@runyard.test");
    expect(stored.map(({ expires_at }) => expires_at)).toEqual([1, 2, 3].map(() => Date.parse(made.expires_at) / 1000));
  });

  it.each([
    ["no address", {}, "email"],
    ["a malformed address", { email: "none" }, "email"],
    ["an unknown role", { email: "a@b.test", role: "owner" }, "role"],
  ])("returns 400 with the field and stores nothing for %s", async (_, body, field) => {
    const before = structuredClone(plane.table.all());
    expect((await user.post(invitations, body)).body.errors).toMatchObject([{ path: field }]);
    expect(plane.table.all()).toEqual(before);
  });

  it("creates one invitation per Idempotency-Key; a repeated request returns 409 with the id and without the link", async () => {
    const headers = { "idempotency-key": "key-1" };
    const first = await user.post(invitations, { email: "a@b.test" }, { headers });
    const again = await user.post(invitations, { email: "a@b.test" }, { headers });
    expect(again).toMatchObject({ status: 409, body: { retryable: false } });
    expect(again.body.detail).toContain(first.body.id);
    expect((await user.get(invitations)).body.invitations).toHaveLength(1);
  });
});

describe("POST /agent/invitations/{token}/accept", () => {
  // @contract invitations.accept: POST /agent/invitations/{token}/accept makes the caller a member with the role of the invitation.
  it("makes the caller a member with the invited role, and invalidates the link", async () => {
    const { token } = await invite({ email: "bo@runyard.test", role: "admin" });
    expect(await accept(bo, token)).toMatchObject({
      status: 200,
      body: { uid: plane.team, name: "Alpha", role: "admin" },
    });
    expect((await bo.get(`/agent/teams/${plane.team}`)).status).toBe(200);
    expect((await user.get(invitations)).body.invitations).toEqual([]);
    expect(listStored("bo@runyard.test")).toEqual([]);
    const zoe = createClient(plane, (await plane.person("Zoe", [])).key);
    expect((await accept(zoe, token)).status).toBe(404);
    expect((await zoe.get("/agent/me")).body.teams).toEqual([]);
  });

  it("returns the first response to a repeated Idempotency-Key", async () => {
    const { token } = await invite();
    const headers = { "idempotency-key": "key-1" };
    const first = await accept(bo, token, headers);
    expect((await accept(bo, token, headers)).body).toEqual(first.body);
    expect((await accept(bo, token, { "x-stainless-retry-count": "1" })).status).toBe(404);
  });

  // @contract invitations.accept
  it("lets exactly one of several concurrent callers accept", async () => {
    const { token } = await invite();
    const people = await Promise.all(["a", "b", "c", "d"].map((name) => plane.person(name, [])));
    const responses = await Promise.all(people.map(({ key }) => accept(createClient(plane, key), token)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404]);
    expect((await user.get(`/agent/teams/${plane.team}/members`)).body.members).toHaveLength(2);
  });

  it("returns 409 to a member of the team and keeps the invitation", async () => {
    const { token } = await invite();
    expect(await accept(user, token)).toMatchObject({
      status: 409,
      body: { detail: "the user is already a member of the team", retryable: false },
    });
    const mia = createClient(plane, (await plane.person("Mia")).key);
    expect((await accept(mia, token)).body.detail).toBe("the user is already a member of the team");
    expect((await accept(bo, token)).status).toBe(200);
  });

  // @contract invitations.delete
  it("returns 404 for an expired, a revoked and an unknown link", async () => {
    const over = await invite();
    plane.clock.now += 7 * DAY;
    expect((await accept(bo, over.token)).status).toBe(404);
    expect((await user.get(invitations)).body.invitations).toEqual([]);
    const back = await invite();
    expect((await user.delete(`${invitations}/${back.id}`)).status).toBe(204);
    expect((await accept(bo, back.token)).status).toBe(404);
    expect((await accept(bo, "none")).body.detail).toBe((await accept(bo, back.token)).body.detail);
  });

  it("accepts an invitation that was stored without an inviter", async () => {
    const { token } = await invite();
    for (const item of plane.table.all().filter(({ created_by }) => created_by === plane.user)) {
      await plane.table.write({ kind: "update", key: { pk: item.pk, sk: item.sk }, remove: ["created_by"] });
    }
    await plane
      .person("Rob")
      .then(({ uid }) => user.put(`/agent/teams/${plane.team}/members/${uid}`, { role: "admin" }));
    expect((await user.delete(`/agent/teams/${plane.team}/members/${plane.user}`)).status).toBe(200);
    expect((await accept(bo, token)).status).toBe(200);
  });

  it("returns 403 to agent keys", async () => {
    const { token } = await invite();
    expect((await accept(createClient(plane, (await plane.agent()).key), token)).status).toBe(403);
  });

  it("logs no token", async () => {
    const { token } = await invite();
    const lines: string[] = [];
    const write = process.stdout.write;
    process.stdout.write = (line: string | Uint8Array) => lines.push(String(line)) > 0;
    await accept(bo, token);
    process.stdout.write = write;
    expect(lines.join()).toContain("/accept");
    expect(lines.join()).not.toContain(token);
  });
});

describe("DELETE /agent/teams/{teamUid}/invitations/{invitationId}", () => {
  // @contract invitations.delete: DELETE revokes an invitation.
  it("returns 404 for an unknown and a revoked invitation", async () => {
    const { id } = await invite({ email: "new@runyard.test" });
    expect(listStored("new@runyard.test")).toHaveLength(3);
    expect((await user.delete(`${invitations}/${id}`)).status).toBe(204);
    expect(listStored("new@runyard.test")).toEqual([]);
    for (const other of [id, randomUUID(), "none"]) {
      expect((await user.delete(`${invitations}/${other}`)).body.detail).toBe("there is no such invitation");
    }
  });
});
