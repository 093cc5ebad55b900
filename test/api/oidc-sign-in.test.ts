import { createHash, randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClient, request } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { OidcIssuer } from "../support/oidc-issuer.ts";
import { WEB_ORIGIN } from "../support/web-sessions.ts";

let plane: TestControlPlane;
let issuer: OidcIssuer;
beforeEach(async () => {
  plane = await createTestControlPlane();
  issuer = await OidcIssuer.start();
  issuer.now = () => plane.clock.now;
  plane.ports.signInIssuer = {
    issuer: issuer.url,
    clientId: "runyard",
    clientSecret: async () => undefined,
    issuers: plane.ports.issuers,
  };
});
afterEach(() => issuer[Symbol.asyncDispose]());

const digest = (text: string) => createHash("sha256").update(text).digest("base64url");
const open = (method: string, target: string, body?: unknown, headers: Record<string, string> = {}) =>
  request(plane, method, target, { key: undefined, headers, ...(body === undefined ? {} : { body }) });

/** What the web app does until the issuer redirects to it. */
async function authorize() {
  const { body } = await open("GET", "/session/methods");
  const url = new URL(body.oidc.authorization_url);
  const verifier = randomUUID() + randomUUID();
  url.searchParams.set("state", digest(`state.${verifier}`));
  url.searchParams.set("nonce", digest(`nonce.${verifier}`));
  url.searchParams.set("code_challenge", digest(verifier));
  const back = new URL(issuer.authorize(url.searchParams));
  expect(`${back.origin}${back.pathname}`).toBe(`${WEB_ORIGIN}/sign-in/callback`);
  const { code = "", state = "" } = Object.fromEntries(back.searchParams);
  return { code, state, code_verifier: verifier };
}
const exchange = (body: unknown, headers: Record<string, string> = {}) => open("POST", "/session/oidc", body, headers);
const signIn = async () => exchange(await authorize());
/** The person whom a one-time token signs in. */
async function whoIs(token: string) {
  const answer = await open("POST", "/session", { token }, { origin: WEB_ORIGIN });
  const [cookie = ""] = answer.headers["set-cookie"]?.split(";") ?? [];
  return (await open("GET", "/session", undefined, { cookie })).body;
}
const invite = (email: string) =>
  createClient(plane).post(`/agent/teams/${plane.team}/invitations`, { email, role: "member" });

describe("GET /session/methods", () => {
  it("has the issuer's page with everything but the browser's secrets", async () => {
    const { status, body } = await open("GET", "/session/methods");
    expect(status).toBe(200);
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

  it("is empty where no issuer is configured", async () => {
    plane.ports.signInIssuer = undefined;
    expect((await open("GET", "/session/methods")).body).toEqual({});
    const body = { code: "c", state: "s", code_verifier: "v".repeat(43) };
    expect(await exchange(body)).toMatchObject({ status: 422, body: { error_code: "operation_not_supported" } });
  });
});

describe("POST /session/oidc", () => {
  it("signs in the user with the verified address, once per token", async () => {
    const { status, body, headers } = await signIn();
    expect([status, headers["cache-control"]]).toEqual([201, "no-store"]);
    expect((await whoIs(body.token)).user.uid).toBe(plane.user);
    expect((await open("POST", "/session", { token: body.token })).status).toBe(401);
  });

  it("gives a token that expires after a minute", async () => {
    const { body } = await signIn();
    plane.clock.now += 60_000;
    expect((await open("POST", "/session", { token: body.token })).status).toBe(401);
  });

  it("recognizes a person by sub afterwards, whatever their address", async () => {
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

  it("binds a person once where they sign in twice at the same time", async () => {
    await invite("grace@runyard.test");
    issuer.person = { sub: "user-2", email: "grace@runyard.test", email_verified: true };
    const answers = await Promise.all([signIn(), signIn()]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    const [first, second] = await Promise.all(answers.map(({ body }) => whoIs(body.token)));
    expect(first.user.uid).toBe(second.user.uid);
  });

  it.each([
    ["a person who was not invited", { email: "eve@runyard.test" }, "email"],
    ["an address that is not verified", { email_verified: false }, "email_verified"],
    ["an address that nobody has verified", { email_verified: undefined }, "email_verified"],
    ["a person without an address", { email: undefined }, "email_verified"],
  ])("returns 403 to %s", async (_, person, claim) => {
    issuer.person = { ...issuer.person, ...person };
    const { status, body } = await signIn();
    expect([status, body.detail.split(":")[0]]).toEqual([403, claim]);
  });

  it("returns 403 to another account with the address of a user, as after an address was given to somebody else", async () => {
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
    ["iss", { iss: "https://elsewhere.example.com" }],
    ["exp", { exp: 1 }],
  ])("returns 401 and names %s for an ID token with %o", async (claim, changes) => {
    issuer.changes = changes;
    const { status, body } = await signIn();
    expect([status, body.detail.split(":")[0]]).toEqual([401, claim]);
  });

  it("returns 401 for the state of another sign-in, without asking the issuer", async () => {
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

  it("sends the client's secret in a header, if it has one", async () => {
    const provider = plane.ports.signInIssuer;
    if (provider === undefined) throw new Error("there is no issuer");
    plane.ports.signInIssuer = { ...provider, clientSecret: async () => "hush: hush" };
    expect((await signIn()).status).toBe(201);
    const { authorization, form } = issuer.seen.find(({ path }) => path === "/token") ?? {};
    expect(authorization).toBe(`Basic ${Buffer.from("runyard:hush%3A+hush").toString("base64")}`);
    expect(form?.has("client_secret")).toBe(false);
  });

  it("returns 403 to a page of another origin", async () => {
    const code = await authorize();
    expect((await exchange(code, { origin: "https://evil.example" })).status).toBe(403);
    expect((await exchange(code, { origin: WEB_ORIGIN })).status).toBe(201);
  });

  it("returns 503 where the issuer does not respond", async () => {
    const code = await authorize();
    issuer.failure = 502;
    expect(await exchange(code)).toMatchObject({ status: 503, body: { retryable: true } });
  });

  it("returns 429 above the limit of a minute", async () => {
    plane.rates.session = 1;
    expect((await signIn()).status).toBe(201);
    expect((await signIn()).status).toBe(429);
  });
});
