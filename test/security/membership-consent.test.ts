import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient, request } from "../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../support/control-plane.ts";

let plane: TestControlPlane;
let user: Client;
let bo: Client;
let boUid: string;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  bo = createClient(plane, plane.otherKey);
  boUid = (await bo.get("/agent/me")).body.uid;
});

const invite = async (email: string, role = "member", client = user): Promise<string> => {
  const response = await client.post(`/agent/teams/${plane.team}/invitations`, { email, role });
  expect(response.status).toBe(201);
  return response.body.link.split("/").at(-1);
};
const acceptWithoutKey = (token: string, headers: Record<string, string> = {}) =>
  request(plane, "POST", `/agent/invitations/${token}/accept`, { key: undefined, headers });

/** Removes the parts of a response that differ between any two requests. */
const comparable = ({ status, body }: ResponseBody) => {
  const { id: _, link: __, instance: ___, ...rest } = body;
  return { status, ...rest };
};

describe("membership of a team", () => {
  // @contract members.consent: A person becomes a member only by accepting an invitation.
  it.each([
    ["by email", () => ({ email: "bo@runyard.test" })],
    ["by uid", () => ({ uid: boUid })],
    ["as an admin", () => ({ email: "bo@runyard.test", role: "admin" })],
  ])("cannot be imposed on a user %s", async (_, body) => {
    const before = structuredClone(plane.table.all());
    const response = await user.post(`/agent/teams/${plane.team}/members`, body());
    expect(response).toMatchObject({ status: 405, headers: { allow: "GET" } });
    expect(plane.table.all()).toEqual(before);
    const run = await bo.post("/agent/runs", { prompt: "private plans" });
    expect((await user.get(`/agent/runs/${run.body.run_id}`)).status).toBe(404);
  });

  it("cannot be imposed by changing the role of a person who is not a member", async () => {
    expect((await user.put(`/agent/teams/${plane.team}/members/${boUid}`, { role: "admin" })).status).toBe(404);
    expect((await bo.get("/agent/me")).body.teams).toMatchObject([{ uid: plane.otherTeam }]);
  });

  // @contract members.consent
  it("begins with the acceptance of the invitation", async () => {
    const token = await invite("bo@runyard.test");
    expect((await bo.get("/agent/me")).body.teams).toHaveLength(1);
    expect((await bo.post(`/agent/invitations/${token}/accept`)).status).toBe(200);
    expect((await bo.get("/agent/me")).body.teams).toHaveLength(2);
  });

  // @contract members.leave: Every member can leave.
  it("can be ended by the member, but not by other members", async () => {
    const mia = await plane.person("Mia");
    const client = createClient(plane, mia.key);
    const members = `/agent/teams/${plane.team}/members`;
    expect((await client.delete(`${members}/${plane.user}`)).status).toBe(403);
    expect((await client.delete(`${members}/${randomUUID()}`)).status).toBe(403);
    expect((await bo.delete(`${members}/${boUid}`)).status).toBe(404);
    const left = await client.delete(`${members}/${mia.uid}`);
    expect(left).toMatchObject({ status: 200, body: { revoked_keys: [], kept_keys: [] } });
    expect((await client.get("/agent/me")).body.teams).toEqual([]);
    expect((await client.delete(`${members}/${mia.uid}`)).status).toBe(404);
    const last = await user.delete(`${members}/${plane.user}`);
    expect(last).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
  });
});

describe("whether an address has an account", () => {
  const addresses = ["bo@runyard.test", "nobody@runyard.test"] as const;

  // @contract members.accounts: No response reveals whether an address has an account.
  it("is not revealed when invitations are created, listed or revoked", async () => {
    const target = `/agent/teams/${plane.team}/invitations`;
    const created = await Promise.all(addresses.map((email) => user.post(target, { email })));
    const [first, second] = created.map((response) => ({ ...comparable(response), email: "" }));
    expect(second).toEqual(first);
    const { invitations } = (await user.get(target)).body;
    expect(Object.keys(invitations[1])).toEqual(Object.keys(invitations[0]));
    const revoked = await Promise.all(created.map(({ body }) => user.delete(`${target}/${body.id}`)));
    expect(revoked.map(({ status }) => status)).toEqual([204, 204]);
  });

  // @contract members.accounts
  it("is not revealed by on_behalf_of", async () => {
    const { uid } = (await user.post("/agent/identities", { name: "Deputy", on_behalf_of_enabled: true })).body;
    const { key } = (await user.post(`/agent/identities/${uid}/keys`, { name: "ci" })).body;
    const agent = createClient(plane, key);
    const responses = await Promise.all(
      addresses.map((email) => agent.post("/agent/runs", { prompt: "a", on_behalf_of: email })),
    );
    expect(responses[0]?.status).toBe(400);
    expect(comparable(responses[1] ?? responses[0] ?? fail())).toEqual(comparable(responses[0] ?? fail()));
  });

  // @contract members.accounts
  it("is not revealed by a change of the caller's address", async () => {
    const [taken, free] = [
      await user.put("/agent/me", { email: addresses[0] }),
      await user.put("/agent/me", { email: addresses[1] }),
    ];
    expect(taken.status).toBe(422);
    expect(comparable(free)).toEqual(comparable(taken));
  });

  // @contract members.accounts
  it("is not revealed by the routes of a member", async () => {
    const target = (uid: string) => `/agent/teams/${plane.team}/members/${uid}`;
    for (const uid of [randomUUID(), "bo@runyard.test", "nobody@runyard.test"]) {
      expect(comparable(await user.delete(target(uid)))).toEqual(comparable(await user.delete(target(boUid))));
      const changed = await user.put(target(uid), { role: "admin" });
      expect(comparable(changed)).toEqual(comparable(await user.put(target(boUid), { role: "admin" })));
    }
  });
});

describe("accepting an invitation without a key", () => {
  // @contract invitations.accept.keyless: Without a key the invited address gets an account, and the response has user_uid, team_uid and key, once.
  it("creates the account of the invited address with a key that is shown once", async () => {
    const token = await invite("new.person@runyard.test", "admin");
    const response = await acceptWithoutKey(token);
    expect(response).toMatchObject({ status: 201, headers: { "cache-control": "no-store" } });
    expect(response.body).toEqual({
      user_uid: expect.any(String),
      team_uid: plane.team,
      key: expect.stringMatching(/^ryp_[0-9A-Za-z]{43}$/),
    });
    expect(JSON.stringify(plane.table.all())).not.toContain(response.body.key);
    const client = createClient(plane, response.body.key);
    expect((await client.get("/agent/me")).body).toEqual({
      uid: response.body.user_uid,
      display_name: "new.person",
      email: "new.person@runyard.test",
      teams: [{ uid: plane.team, name: "Alpha", role: "admin" }],
    });
    expect((await client.get(`/agent/teams/${plane.team}`)).status).toBe(200);
    expect((await client.get("/agent/keys")).body.keys).toMatchObject([
      { created_by: { type: "user", uid: response.body.user_uid } },
    ]);
    expect((await acceptWithoutKey(token)).status).toBe(404);
  });

  // @contract invitations.accept.account: If that address already has an account: 401.
  it.each(["bo@runyard.test", "BO@Runyard.test"])(
    "returns 401 for %s, which has an account, stores nothing and keeps the invitation",
    async (email) => {
      const token = await invite(email, "admin");
      const before = structuredClone(plane.table.all());
      const response = await acceptWithoutKey(token);
      expect(response).toMatchObject({
        status: 401,
        headers: { "www-authenticate": "Bearer" },
        body: { error_code: "authentication_required", retryable: false },
      });
      expect(JSON.stringify(response.body)).not.toContain('runyard.test"');
      expect(plane.table.all()).toEqual(before);
      expect((await bo.post(`/agent/invitations/${token}/accept`)).status).toBe(200);
    },
  );

  it.each(["Bearer none", "Bearer", "Basic YTpi"])(
    "returns 401 for the invalid credential %j",
    async (authorization) => {
      const token = await invite("new@runyard.test");
      expect((await acceptWithoutKey(token, { authorization })).status).toBe(401);
      expect((await acceptWithoutKey(token)).status).toBe(201);
    },
  );

  // @contract invitations.once: A link works once, for a week.
  it("creates one account per link for concurrent requests", async () => {
    const token = await invite("new@runyard.test");
    const responses = await Promise.all(Array.from({ length: 5 }, () => acceptWithoutKey(token)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404, 404]);
    const details = responses.flatMap(({ status, body }) => (status === 404 ? [body.detail] : []));
    expect(new Set(details)).toEqual(new Set(["there is no such invitation"]));
  });

  it("creates one account per address for several links", async () => {
    const tokens = [await invite("new@runyard.test"), await invite("New@runyard.test")];
    const responses = await Promise.all(tokens.map((token) => acceptWithoutKey(token)));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, 401]);
  });

  const once = { "idempotency-key": "0193a4b0-4d2c-7000-8000-0d0f4b8e9a70" };

  // @contract invitations.accept.keyless
  it("returns the same account and key to a repeat with the same Idempotency-Key, and stores neither of the two keys", async () => {
    const token = await invite("new@runyard.test");
    const first = await acceptWithoutKey(token, once);
    expect(first.headers).not.toHaveProperty("idempotent-replay");
    plane.clock.now += 24 * 3_600_000 - 1;
    const before = structuredClone(plane.table.all());
    const repeated = await acceptWithoutKey(token, once);
    expect(repeated).toMatchObject({ status: 201, headers: { "idempotent-replay": "true" } });
    expect(repeated.body).toEqual(first.body);
    expect((await createClient(plane, first.body.key).get("/agent/me")).body.uid).toBe(first.body.user_uid);
    expect(plane.table.all()).toEqual(before);
    for (const secret of [first.body.key, token, once["idempotency-key"]]) {
      expect(JSON.stringify(before)).not.toContain(secret);
    }
    plane.clock.now += 1000;
    expect((await acceptWithoutKey(token, once)).status).toBe(404);
  });

  it("returns one key to concurrent requests with one Idempotency-Key", async () => {
    const token = await invite("new@runyard.test");
    const responses = await Promise.all(Array.from({ length: 5 }, () => acceptWithoutKey(token, once)));
    expect(responses.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201]);
    expect(new Set(responses.map(({ body }) => body.key)).size).toBe(1);
  });

  // @contract invitations.accept.keyless
  it.each<[string, Record<string, string>]>([
    ["another Idempotency-Key", { "idempotency-key": "another" }],
    ["no Idempotency-Key", {}],
    ["the mark of a retry", { "x-stainless-retry-count": "1" }],
  ])("returns the key to no other request with the link: %s", async (_, headers) => {
    const keyed = await invite("new@runyard.test");
    expect((await acceptWithoutKey(keyed, once)).status).toBe(201);
    expect((await acceptWithoutKey(keyed, headers)).status).toBe(404);
    const keyless = await invite("other@runyard.test");
    expect((await acceptWithoutKey(keyless)).status).toBe(201);
    expect((await acceptWithoutKey(keyless, headers)).status).toBe(404);
  });

  it("returns another key for another link with the same Idempotency-Key", async () => {
    const tokens = [await invite("new@runyard.test"), await invite("other@runyard.test")];
    const [first, second] = await Promise.all(tokens.map((token) => acceptWithoutKey(token, once)));
    expect([first?.status, second?.status]).toEqual([201, 201]);
    expect(first?.body.key).not.toBe(second?.body.key);
  });

  it("returns 409 to a repeat after the key was revoked", async () => {
    const token = await invite("new@runyard.test");
    const { body } = await acceptWithoutKey(token, once);
    const client = createClient(plane, body.key);
    const [{ uid }] = (await client.get("/agent/keys")).body.keys;
    expect((await client.delete(`/agent/keys/${uid}`)).status).toBe(204);
    expect(await acceptWithoutKey(token, once)).toMatchObject({ status: 409, body: { retryable: false } });
  });

  it("returns 401 for an address that has an account, with an Idempotency-Key too", async () => {
    const token = await invite("bo@runyard.test");
    expect((await acceptWithoutKey(token, once)).status).toBe(401);
    expect((await acceptWithoutKey(token, once)).status).toBe(401);
  });

  // @contract invitations.once
  it("returns 404 and stores nothing for a link that is unknown, expired or revoked", async () => {
    const expired = await invite("new@runyard.test");
    plane.clock.now += 7 * 24 * 3_600_000;
    const { body } = await user.post(`/agent/teams/${plane.team}/invitations`, { email: "new@runyard.test" });
    await user.delete(`/agent/teams/${plane.team}/invitations/${body.id}`);
    const before = structuredClone(plane.table.all());
    for (const token of [expired, body.link.split("/").at(-1), "none"]) {
      expect((await acceptWithoutKey(token)).status).toBe(404);
    }
    expect(plane.table.all()).toEqual(before);
  });
});

describe("an invitation by an admin who has lost the role", () => {
  it.each([
    ["was removed", (path: string) => user.delete(path)],
    ["was made a member", (path: string) => user.put(path, { role: "member" })],
  ])("is refused when the admin %s", async (_, change) => {
    const rob = await plane.person("Rob");
    const member = `/agent/teams/${plane.team}/members/${rob.uid}`;
    await user.put(member, { role: "admin" });
    const client = createClient(plane, rob.key);
    const [own, other] = [await invite("rob@x.test", "admin", client), await invite("x@x.test", "admin", client)];
    expect((await change(member)).status).toBe(200);
    expect((await acceptWithoutKey(other)).status).toBe(404);
    expect((await bo.post(`/agent/invitations/${other}/accept`)).status).toBe(404);
    expect([404, 409]).toContain((await client.post(`/agent/invitations/${own}/accept`)).status);
    expect((await client.get(`/agent/teams/${plane.team}`)).status).not.toBe(200);
  });
});

function fail(): never {
  throw new Error("there was no response");
}
