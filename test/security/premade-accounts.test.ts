import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import type { Item } from "#shared/table/table.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { OidcIssuer } from "../support/oidc-issuer.ts";
import { type OidcSignIn, startOidcSignIn, useIssuer } from "../support/oidc-sign-in.ts";
import { startSession, WEB_ORIGIN } from "../support/web-sessions.ts";

const VICTIM = "victim@corp.example";

let plane: TestControlPlane;
let oidc: OidcSignIn;
beforeEach(async () => {
  plane = await createTestControlPlane();
  oidc = await startOidcSignIn(plane);
  oidc.issuer.person = { sub: "victim", email: VICTIM, email_verified: true };
});
afterEach(() => oidc.issuer[Symbol.asyncDispose]());

const invite = async (key: string, team: string): Promise<string> => {
  const invitation = { email: VICTIM, role: "member" };
  const { body } = await createClient(plane, key).post(`/agent/teams/${team}/invitations`, invitation);
  return body.link.split("/").at(-1);
};
/** Bo invites the address to their own team and accepts the invitation themselves. */
const makeAccount = async (): Promise<{ user_uid: string; key: string }> => {
  const token = await invite(plane.otherKey, plane.otherTeam);
  const { status, body } = await oidc.open("POST", `/agent/invitations/${token}/accept`);
  expect(status).toBe(201);
  return body;
};
const addKey = (key: string) => createClient(plane, key).post("/agent/keys", { name: "another" });
const readStatus = async (key: string) => (await createClient(plane, key).get("/agent/me")).status;
/** Signs the person in with the issuer. Returns the headers of their browser. */
async function signIn(at?: OidcIssuer) {
  const { status, body } = await oidc.signIn(at);
  expect(status).toBe(201);
  return { cookie: await oidc.startSession(body.token), origin: WEB_ORIGIN };
}
const sessionStatus = async (headers: Record<string, string>) =>
  (await oidc.open("GET", "/session", undefined, headers)).status;

/** Removes what accounts did not have before it was stored how they were created. */
async function forgetOrigin(user: string): Promise<void> {
  const { origin: _, ...item } = (await plane.table.get(keys.user(user))) ?? { pk: "", sk: "" };
  await plane.table.write({ kind: "put", item });
}

/** Lets something happen before the first transaction that `matches`. */
function interrupt(matches: (items: readonly Item[]) => boolean, work: () => Promise<unknown>): void {
  const { transact } = plane.table;
  Object.assign(plane.table, {
    async transact(writes: Parameters<typeof transact>[0]) {
      if (matches(writes.flatMap((write) => (write.kind === "put" ? [write.item] : [])))) {
        Object.assign(plane.table, { transact });
        await work();
      }
      return transact(writes);
    },
  });
}
const binds = (items: readonly Item[]) => items.some(({ pk }) => pk.startsWith("OIDC#"));
const createsKey = (items: readonly Item[]) => items.some(({ pk }) => pk.startsWith("KEY#"));

describe("the account of an address that somebody else created by an invitation", () => {
  it("has none of its keys, sessions and links after the first sign-in of the address's owner", async () => {
    const { user_uid, key } = await makeAccount();
    const second = (await addKey(key)).body.key;
    const browser = await startSession(plane, { key });
    const link = (await createClient(plane, key).post("/session/link")).body.token;
    const headers = await signIn();
    expect([await readStatus(key), await readStatus(second), await sessionStatus(browser.headers)]).toEqual([
      401, 401, 401,
    ]);
    expect((await oidc.open("GET", "/session", undefined, headers)).body.user.uid).toBe(user_uid);
    expect((await oidc.open("GET", "/agent/keys", undefined, headers)).body.keys).toEqual([]);
    expect((await oidc.open("GET", "/sessions", undefined, headers)).body.sessions).toMatchObject([{ current: true }]);
    expect(await sessionStatus({ cookie: await oidc.startSession(link) })).toBe(401);

    const token = await invite(plane.key, plane.team);
    expect((await oidc.open("POST", `/agent/invitations/${token}/accept`, undefined, headers)).status).toBe(200);
    const runs = { ...headers, "x-team-uid": plane.team };
    expect((await oidc.open("GET", "/agent/runs", undefined, runs)).status).toBe(200);
    expect((await createClient(plane, key).get("/agent/runs", { headers: runs })).status).toBe(401);
  });

  it("does not return its first key to a repeated acceptance", async () => {
    const token = await invite(plane.otherKey, plane.otherTeam);
    const accept = () =>
      oidc.open("POST", `/agent/invitations/${token}/accept`, undefined, { "idempotency-key": "once" });
    const { key } = (await accept()).body;
    await signIn();
    expect(await accept()).toMatchObject({ status: 409, body: { error_code: "conflict" } });
    expect(await readStatus(key)).toBe(401);
  });

  it("loses its keys if it was stored before the origin of accounts was", async () => {
    plane.clock.now += 60_000;
    const { user_uid, key } = await makeAccount();
    await forgetOrigin(user_uid);
    await signIn();
    expect(await readStatus(key)).toBe(401);
  });

  it("loses all of 50 keys and 50 sessions, which are more than a transaction writes", async () => {
    plane.rates.key = plane.rates.session = 100;
    const { key } = await makeAccount();
    const made: string[] = [key];
    while (made.length < 50) made.push((await addKey(key)).body.key);
    const browsers = [];
    while (browsers.length < 50) browsers.push(await startSession(plane, { key: made[browsers.length] ?? "" }));
    await signIn();
    for (const one of made) expect(await readStatus(one)).toBe(401);
    for (const { headers } of browsers) expect(await sessionStatus(headers)).toBe(401);
  });

  it("loses a key that is created while its owner signs in", async () => {
    const { key } = await makeAccount();
    const late: string[] = [];
    interrupt(binds, async () => late.push((await addKey(key)).body.key));
    await signIn();
    expect([await readStatus(key), await readStatus(late[0] ?? "")]).toEqual([401, 401]);
  });

  it("gets no key by a request that began before its owner signed in", async () => {
    const { user_uid, key } = await makeAccount();
    interrupt(createsKey, () => signIn());
    expect(await addKey(key)).toMatchObject({ status: 401, body: { error_code: "authentication_required" } });
    expect((await plane.table.get(keys.userKeys(user_uid)))?.["entries"]).toEqual([]);
  });

  it("keeps the keys that its owner creates, at each later sign-in, with another issuer too", async () => {
    await makeAccount();
    const headers = await signIn();
    const { key } = (await oidc.open("POST", "/agent/keys", { name: "mine" }, headers)).body;
    await signIn();
    expect(await readStatus(key)).toBe(200);
    await using other = await OidcIssuer.start();
    other.person = oidc.issuer.person;
    useIssuer(plane, other);
    await signIn(other);
    expect(await readStatus(key)).toBe(200);
  });
});

describe("the first sign-in with an issuer", () => {
  it.each([
    ["was created by the bootstrap", async () => undefined],
    ["was created by the bootstrap, before the origin of accounts was stored", () => forgetOrigin(plane.user)],
  ])("ends no key and no session of an account that %s", async (_, change) => {
    await change();
    oidc.issuer.person = { sub: "ada", email: "ada@runyard.test", email_verified: true };
    const browser = await startSession(plane);
    await signIn();
    expect([await readStatus(plane.key), await sessionStatus(browser.headers)]).toEqual([200, 200]);
  });

  it("ends no key of an account that an earlier sign-in created", async () => {
    await invite(plane.key, plane.team);
    const headers = await signIn();
    const { key } = (await oidc.open("POST", "/agent/keys", { name: "mine" }, headers)).body;
    await signIn();
    expect(await readStatus(key)).toBe(200);
  });

  it("ends nothing if it is refused", async () => {
    const { key } = await makeAccount();
    oidc.issuer.person = { sub: "victim", email: VICTIM, email_verified: false };
    expect((await oidc.signIn()).status).toBe(403);
    expect(await readStatus(key)).toBe(200);
  });
});
