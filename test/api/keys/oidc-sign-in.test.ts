import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RunyardError } from "#shared/errors.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type ResponseBody, type TestControlPlane } from "../../support/control-plane.ts";
import type { OidcIssuer } from "../../support/oidc-issuer.ts";
import { type OidcSignIn, startOidcSignIn } from "../../support/oidc-sign-in.ts";
import { WEB_ORIGIN } from "../../support/web-sessions.ts";

let plane: TestControlPlane;
let oidc: OidcSignIn;
let issuer: OidcIssuer;
beforeEach(async () => {
  plane = await createTestControlPlane();
  oidc = await startOidcSignIn(plane);
  issuer = oidc.issuer;
});
afterEach(() => issuer[Symbol.asyncDispose]());

const open: OidcSignIn["open"] = (...call) => oidc.open(...call);
const authorize = () => oidc.authorize();
const exchange: OidcSignIn["exchange"] = (...call) => oidc.exchange(...call);
const signIn = () => oidc.signIn();
const whoIs = (token: string) => oidc.whoIs(token);
const invite = (email: string) =>
  createClient(plane).post(`/agent/teams/${plane.team}/invitations`, { email, role: "member" });

// @contract session.oidc
describe("GET /session/methods", () => {
  it("returns the issuer's sign-in page without the browser's secrets", async () => {
    const { status, body } = await open("GET", "/session/methods");
    expect([status, body.oidc.issuer]).toEqual([200, issuer.url]);
    const url = new URL(body.oidc.authorization_url);
    expect(url.origin).toBe(issuer.url);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      response_type: "code",
      client_id: "runyard",
      redirect_uri: `${WEB_ORIGIN}/sign-in/callback`,
      scope: "openid email profile",
      code_challenge_method: "S256",
    });
  });

  it("is empty, and sign-in is not supported, if no web app is configured", async () => {
    plane.ports.webUrl = undefined;
    expect((await open("GET", "/session/methods")).body).toEqual({});
    const body = { code: "c", state: "s", code_verifier: "v".repeat(43) };
    expect((await exchange(body)).status).toBe(422);
  });

  it("is empty if no issuer is configured", async () => {
    plane.ports.signInIssuer = undefined;
    expect((await open("GET", "/session/methods")).body).toEqual({});
    const body = { code: "c", state: "s", code_verifier: "v".repeat(43) };
    expect(await exchange(body)).toMatchObject({ status: 422, body: { error_code: "operation_not_supported" } });
  });
});

// @contract session.oidc: OIDC: any issuer by discovery, code flow with PKCE, sub bound to a user by a verified address that was invited.
describe("POST /session/oidc", () => {
  it("signs in the user with the verified address, once per token", async () => {
    const { status, body, headers } = await signIn();
    expect([status, headers["cache-control"]]).toEqual([201, "no-store"]);
    expect((await whoIs(body.token)).user.uid).toBe(plane.user);
    expect((await open("POST", "/session", { token: body.token })).status).toBe(401);
  });

  it("returns a token that expires after a minute", async () => {
    const [first, second] = [await signIn(), await signIn()];
    expect(first.body).toEqual({ token: expect.stringMatching(/^ryl_/), expires_at: "2026-05-18T19:01:00.000Z" });
    plane.clock.now += 59_999;
    expect((await open("POST", "/session", { token: first.body.token })).status).toBe(204);
    plane.clock.now += 1;
    expect((await open("POST", "/session", { token: second.body.token })).status).toBe(401);
  });

  it("starts sessions that do not depend on an API key", async () => {
    const { body } = await signIn();
    await open("POST", "/session", { token: body.token });
    const [session] = plane.table.all().filter(({ sk }) => sk.startsWith("SESSION#"));
    expect(session).toMatchObject({ user_uid: plane.user, team_uid: plane.team });
    expect(session).not.toHaveProperty("key_hash");
  });

  it("signs in a person without a team, who can create a link for another browser", async () => {
    await invite("zoe@runyard.test");
    issuer.person = { sub: "user-2", email: "zoe@runyard.test", email_verified: true };
    const { user } = await whoIs((await signIn()).body.token);
    await createClient(plane).delete(`/agent/teams/${plane.team}/members/${user.uid}`);
    const signedIn = await open("POST", "/session", { token: (await signIn()).body.token }, { origin: WEB_ORIGIN });
    const [cookie = ""] = signedIn.headers["set-cookie"]?.split(";") ?? [];
    const link = await open("POST", "/session/link", undefined, { cookie, origin: WEB_ORIGIN });
    expect(link.status).toBe(201);
    expect(await whoIs(link.body.token)).toMatchObject({ user: { email: "zoe@runyard.test" }, teams: [] });
    const stored = plane.table.all().filter(({ sk }) => sk.startsWith("SESSION#"));
    const members = (session: object) => ["team_uid", "key_hash"].filter((name) => name in session);
    expect(stored.map(members).toSorted()).toEqual([[], [], ["team_uid"]]);
  });

  it("recognizes a person by sub afterwards, with any address", async () => {
    await signIn();
    issuer.person = { sub: "user-1", email: "new@elsewhere.example", email_verified: false };
    expect((await whoIs((await signIn()).body.token)).user.uid).toBe(plane.user);
  });

  it("creates the account of an invited address, and uses the invitation", async () => {
    await invite("Grace@runyard.test");
    issuer.person = { sub: "user-2", email: "grace@runyard.test", email_verified: true, name: "Grace Hopper" };
    const { user, teams } = await whoIs((await signIn()).body.token);
    expect(user).toMatchObject({ email: "Grace@runyard.test" });
    expect(teams).toMatchObject([{ uid: plane.team, role: "member" }]);
    const left = await createClient(plane).get(`/agent/teams/${plane.team}/invitations`);
    expect(left.body.invitations).toEqual([]);
    expect((await whoIs((await signIn()).body.token)).user.uid).toBe(user.uid);
  });

  it("uses the oldest of several open invitations", async () => {
    const grace = "grace@runyard.test";
    const invitations = `/agent/teams/${plane.otherTeam}/invitations`;
    await createClient(plane, plane.otherKey).post(invitations, { email: grace, role: "member" });
    plane.clock.now += 7 * 24 * 3_600_000 - 1;
    await invite(grace);
    issuer.person = { sub: "user-2", email: grace, email_verified: true };
    const first = await whoIs((await signIn()).body.token);
    expect(first.teams).toMatchObject([{ uid: plane.otherTeam, role: "member" }]);
    // Bo's invitation for Ida expires, and Ada's does not.
    const ida = "ida@runyard.test";
    await createClient(plane, plane.otherKey).post(invitations, { email: ida, role: "member" });
    plane.clock.now += 1;
    await invite(ida);
    plane.clock.now += 7 * 24 * 3_600_000 - 1;
    issuer.person = { sub: "user-3", email: ida, email_verified: "true" };
    expect((await whoIs((await signIn()).body.token)).teams).toMatchObject([{ uid: plane.team, role: "member" }]);
  });

  describe("with an oldest invitation that cannot be accepted", () => {
    const grace = "grace@runyard.test";
    const others = () => `/agent/teams/${plane.otherTeam}`;
    beforeEach(async () => {
      issuer.person = { sub: "user-2", email: grace, email_verified: true };
    });

    /** Makes another admin of Bo's team, who invites the address there. */
    async function inviteByAnotherAdmin() {
      const bo = createClient(plane, plane.otherKey);
      const rob = await plane.person("Rob", [plane.otherTeam]);
      const member = `${others()}/members/${rob.uid}`;
      await bo.put(member, { role: "admin" });
      await createClient(plane, rob.key).post(`${others()}/invitations`, { email: grace, role: "member" });
      return { bo, member };
    }
    const unacceptable: [string, () => Promise<unknown>][] = [
      [
        "the inviter was removed",
        async () => {
          const { bo, member } = await inviteByAnotherAdmin();
          await bo.delete(member);
        },
      ],
      [
        "the inviter lost the role",
        async () => {
          const { bo, member } = await inviteByAnotherAdmin();
          await bo.put(member, { role: "member" });
        },
      ],
      [
        "the team is full",
        async () => {
          await inviteByAnotherAdmin();
          await plane.table.write({ kind: "update", key: keys.team(plane.otherTeam), set: { members: 1000 } });
        },
      ],
      [
        "the team is deleted",
        async () => {
          await inviteByAnotherAdmin();
          await plane.table.write({ kind: "delete", key: keys.team(plane.otherTeam) });
        },
      ],
      [
        "the invitation was used by its link",
        async () => {
          await inviteByAnotherAdmin();
          const used = plane.table.all().find(({ pk }) => pk.startsWith("INVITATION#"));
          await plane.table.write({ kind: "delete", key: used ?? { pk: "", sk: "" } });
        },
      ],
    ];

    it.each(unacceptable)("accepts the next one where %s", async (_, prepare) => {
      await prepare();
      plane.clock.now += 1;
      await invite(grace);
      expect((await whoIs((await signIn()).body.token)).teams).toMatchObject([{ uid: plane.team, role: "member" }]);
    });

    it("returns 503 where the disk of the table is full, and accepts it later", async () => {
      await invite(grace);
      const { transact } = plane.table;
      Object.assign(plane.table, {
        async transact(writes: Parameters<typeof transact>[0]) {
          const binds = writes.some((write) => write.kind === "put" && write.item.pk.startsWith("OIDC#"));
          if (binds) throw new RunyardError("resource_unavailable");
          return transact(writes);
        },
      });
      expect(await signIn()).toMatchObject({ status: 503, body: { error_code: "resource_unavailable" } });
      Object.assign(plane.table, { transact });
      expect((await whoIs((await signIn()).body.token)).teams).toMatchObject([{ uid: plane.team }]);
    });

    it.each(unacceptable)("returns 403 with the reason where %s and there is no other", async (_, prepare) => {
      await prepare();
      const { status, body } = await signIn();
      expect([status, body.detail]).toEqual([
        403,
        "email: the invitation of this address can no longer be accepted; ask an admin of a team for another one",
      ]);
      expect(await plane.table.get(keys.userByEmail(grace))).toBeUndefined();
    });
  });

  it("signs in the person whose invitation is accepted by its link between two reads", async () => {
    const { body } = await invite("grace@runyard.test");
    issuer.person = { sub: "user-2", email: "grace@runyard.test", email_verified: true };
    const { transact } = plane.table;
    let accepted: ResponseBody | undefined;
    Object.assign(plane.table, {
      async transact(writes: Parameters<typeof transact>[0]) {
        Object.assign(plane.table, { transact });
        accepted = await open("POST", `/agent/invitations/${body.link.split("/").at(-1)}/accept`);
        return transact(writes);
      },
    });
    expect((await whoIs((await signIn()).body.token)).user.uid).toBe(accepted?.body.user_uid);
  });

  it("refuses a person whose account was deleted, and creates no other", async () => {
    await signIn();
    await plane.table.write({ kind: "delete", key: keys.user(plane.user) });
    expect(await signIn()).toMatchObject({ status: 403, body: { error_code: "not_authorized" } });
  });

  it("links a person once if they sign in twice concurrently", async () => {
    await invite("grace@runyard.test");
    issuer.person = { sub: "user-2", email: "grace@runyard.test", email_verified: true };
    const responses = await Promise.all([signIn(), signIn()]);
    expect(responses.map(({ status }) => status)).toEqual([201, 201]);
    const [first, second] = await Promise.all(responses.map(({ body }) => whoIs(body.token)));
    expect(first.user.uid).toBe(second.user.uid);
  });

  it.each([
    ["a person who was not invited", { email: "eve@runyard.test" }, "email"],
    ["an address that is not verified", { email_verified: false }, "email_verified"],
    ["an address without email_verified", { email_verified: undefined }, "email_verified"],
    ["a person without an address", { email: undefined }, "email_verified"],
    ["an address that is empty", { email: "" }, "email_verified"],
    ["an address with a letter that is compared as another", { email: "\u00aada@runyard.test" }, "email_verified"],
    ["an address with the sign for kelvin", { email: "mi\u212ae@runyard.test" }, "email_verified"],
    ["an address with a zero-width space", { email: "ada\u200b@runyard.test" }, "email_verified"],
    ["an address in Cyrillic letters", { email: "\u0430\u0441\u0435@runyard.test" }, "email_verified"],
    ["an address with a space", { email: "ada@runyard.test " }, "email_verified"],
    ["an address that is not text", { email: ["ada@runyard.test"] }, "email_verified"],
    ["an email_verified that is not a boolean", { email_verified: "yes" }, "email_verified"],
  ])("returns 403 to %s", async (_, person, claim) => {
    issuer.person = { ...issuer.person, ...person };
    const { status, body } = await signIn();
    expect([status, body.detail.split(":")[0]]).toEqual([403, claim]);
    expect(plane.table.all().filter(({ pk }) => pk.startsWith("SIGN_IN#"))).toEqual([]);
  });

  it("returns 403 to another account with a user's address, as after an address was reassigned", async () => {
    await signIn();
    issuer.person = { ...issuer.person, sub: "user-9" };
    const { status, body } = await signIn();
    expect([status, body.detail.split(":")[0]]).toEqual([403, "sub"]);
  });

  it("returns 403 to an address whose invitation was revoked or has expired", async () => {
    const { body } = await invite("grace@runyard.test");
    issuer.person = { sub: "user-2", email: "grace@runyard.test", email_verified: true };
    await createClient(plane).delete(`/agent/teams/${plane.team}/invitations/${body.id}`);
    expect((await signIn()).status).toBe(403);
    await invite("grace@runyard.test");
    plane.clock.now += 8 * 24 * 3_600_000;
    expect((await signIn()).status).toBe(403);
  });

  it.each([
    ["nonce", { nonce: "of another sign-in" }],
    ["nonce", { nonce: undefined }],
    ["aud", { aud: "another-client" }],
    ["azp", { azp: "another-client" }],
    ["sub", { sub: "" }],
    ["iss", { iss: "https://elsewhere.example.com" }],
    ["exp", { exp: 1 }],
  ])("returns 401 and names %s for an ID token with %o", async (claim, changes) => {
    issuer.changes = changes;
    const { status, body, headers } = await signIn();
    expect([status, body.detail.split(":")[0]]).toEqual([401, claim]);
    expect(headers["www-authenticate"]).toBe("Bearer");
  });

  it("accepts an ID token that names the client as the authorized party", async () => {
    issuer.changes = { azp: "runyard", aud: ["runyard", "another-client"] };
    expect((await signIn()).status).toBe(201);
  });

  it("returns 401 for the state of another sign-in, without a request to the issuer", async () => {
    const [mine, other] = [await authorize(), await authorize()];
    const { status, body } = await exchange({ ...mine, state: other.state });
    expect([status, body.detail.split(":")[0]]).toEqual([401, "state"]);
    expect(issuer.countOf("/token")).toBe(0);
  });

  it("returns 401 for a code that was used, is unknown, or belongs to another verifier", async () => {
    const used = await authorize();
    expect((await exchange(used)).status).toBe(201);
    expect(await exchange(used)).toMatchObject({ status: 401, body: { detail: expect.stringMatching(/^code: /) } });
    const other = await authorize();
    expect((await exchange({ ...(await authorize()), code: other.code })).status).toBe(401);
    expect((await exchange({ ...other, code: "unknown" })).status).toBe(401);
  });

  it("accepts new keys of the issuer", async () => {
    await signIn();
    await issuer.rotate();
    expect((await signIn()).status).toBe(201);
  });

  it.each([
    ["in a header by default", undefined, true],
    ["in a header if the issuer accepts both", ["client_secret_post", "client_secret_basic"], true],
    ["in the form if the issuer accepts only that", ["client_secret_post"], false],
  ])("sends the client's secret %s", async (_, methods, isInHeader) => {
    const provider = plane.ports.signInIssuer;
    if (provider === undefined) throw new Error("there is no issuer");
    plane.ports.signInIssuer = { ...provider, clientSecret: async () => "hush: hush" };
    issuer.metadataChanges = { token_endpoint_auth_methods_supported: methods };
    expect((await signIn()).status).toBe(201);
    const { authorization, form } = issuer.seen.find(({ path }) => path === "/token") ?? {};
    const basic = `Basic ${Buffer.from("runyard:hush%3A+hush").toString("base64")}`;
    expect(authorization).toBe(isInHeader ? basic : undefined);
    const client = [form?.get("client_id"), form?.get("client_secret")];
    expect(client).toEqual(isInHeader ? [null, null] : ["runyard", "hush: hush"]);
  });

  it("sends the client id in the form if the client has no secret", async () => {
    expect((await signIn()).status).toBe(201);
    const { authorization, form } = issuer.seen.find(({ path }) => path === "/token") ?? {};
    expect(authorization).toBeUndefined();
    expect(Object.fromEntries(form ?? [])).toEqual({
      grant_type: "authorization_code",
      code: expect.any(String),
      code_verifier: expect.any(String),
      redirect_uri: `${WEB_ORIGIN}/sign-in/callback`,
      client_id: "runyard",
    });
  });

  it.each([
    ["no object", "hello"],
    ["no ID token", { access_token: "a" }],
    ["an ID token that is not text", { id_token: 7 }],
  ])("returns 401 if the token endpoint sends %s", async (_, response) => {
    issuer.tokenResponse = response;
    expect(await signIn()).toMatchObject({ status: 401, body: { detail: expect.stringMatching(/^code: /) } });
  });

  it("returns 503 if the issuer has no authorization or token endpoint", async () => {
    const code = await authorize();
    plane.clock.now += 10 * 60_000;
    issuer.metadataChanges = { token_endpoint: undefined, authorization_endpoint: undefined };
    expect(await exchange(code)).toMatchObject({ status: 503, body: { retryable: true } });
    expect(await open("GET", "/session/methods")).toMatchObject({ status: 503, body: { retryable: true } });
  });

  it("returns 403 to a page of another origin", async () => {
    const code = await authorize();
    expect((await exchange(code, { origin: "https://evil.example" })).status).toBe(403);
    expect((await exchange(code, { origin: WEB_ORIGIN })).status).toBe(201);
  });

  it.each([500, 502])("returns 503 if the issuer's token endpoint fails with %i", async (status) => {
    const code = await authorize();
    issuer.failure = status;
    expect(await exchange(code)).toMatchObject({ status: 503, body: { retryable: true } });
  });

  it("returns 429 above the limit of a minute", async () => {
    plane.rates.session = 1;
    expect((await signIn()).status).toBe(201);
    expect((await signIn()).status).toBe(429);
    issuer.person = { sub: "user-2", email: "bo@runyard.test", email_verified: true };
    expect((await signIn()).status, "another person").toBe(201);
  });
});
