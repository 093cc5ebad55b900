import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { matchesSubject } from "#shared/identities/subject-pattern.ts";
import { createIssuers } from "#shared/oidc/issuers.ts";
import { hashKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { SCOPES } from "#shared/wire/keys/scopes.ts";
import { createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { stubModelSettings } from "../../support/gateway.ts";
import { OidcIssuer } from "../../support/oidc-issuer.ts";
import { withFailingWrites, withWriteInBetween } from "../../support/write-conflicts.ts";

const AUDIENCE = "https://runyard.test";
const SUBJECT = "repo:acme/shop:ref:refs/heads/main";

let plane: TestControlPlane;
let issuer: OidcIssuer;
let agent: { uid: string; key: string };
let bob: string;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  issuer = await OidcIssuer.start();
  issuer.now = () => plane.clock.now;
  agent = await plane.agent();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await issuer[Symbol.asyncDispose]();
});

const rules = () => `/agent/identities/${agent.uid}/trust-rules`;
const rule = (changes: object = {}) => ({
  issuer: issuer.url,
  audience: AUDIENCE,
  subject_pattern: "repo:acme/shop:*",
  ...changes,
});
const addRule = async (changes: object = {}, uid = agent.uid, key = plane.key) => {
  const { status, body } = await createClient(plane, key).post(`/agent/identities/${uid}/trust-rules`, rule(changes));
  expect(status).toBe(201);
  return body;
};
const listRules = async () => (await createClient(plane).get(rules())).body.trust_rules;
const makeToken = (changes: object = {}) => issuer.sign({ aud: AUDIENCE, sub: SUBJECT, ...changes });
const exchange = (token: string, identity_uid?: string) =>
  request(plane, "POST", "/agent/token", {
    key: undefined,
    body: { token, ...(identity_uid === undefined ? {} : { identity_uid }) },
  });
const callWith = async (key: string) => (await createClient(plane, key).get("/agent/models")).status;

// @contract token.rules: Trust rules name issuer, audience, subject and how long a key lives, an hour at most.
describe("trust rules", () => {
  it("are created once, listed, read, replaced and deleted", async () => {
    const user = createClient(plane);
    const headers = { "idempotency-key": "one" };
    const created = await user.post(rules(), rule({ max_budget_usd: 2, ttl_seconds: 600 }), { headers });
    const profile = { type: "user", uid: plane.user, display_name: "Ada", email: "ada@runyard.test" };
    expect(created.status).toBe(201);
    expect(created.body).toEqual({
      uid: expect.any(String),
      identity_uid: agent.uid,
      issuer: issuer.url,
      audience: AUDIENCE,
      subject_pattern: "repo:acme/shop:*",
      max_budget_usd: 2,
      ttl_seconds: 600,
      scopes: [...SCOPES],
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:00:00.000Z",
      saved_by: profile,
    });
    const again = await user.post(rules(), rule({ max_budget_usd: 2, ttl_seconds: 600 }), { headers });
    expect(again.body.uid).toBe(created.body.uid);
    const one = `${rules()}/${created.body.uid}`;
    expect((await user.get(one)).body).toEqual(created.body);
    expect((await user.get(rules())).body.trust_rules).toEqual([created.body]);
    const bob = await plane.person("Bob");
    const replaced = await createClient(plane, bob.key).put(one, rule({ audience: "other" }));
    const { max_budget_usd: _, ...kept } = created.body;
    expect(replaced.body).toEqual({
      ...kept,
      audience: "other",
      ttl_seconds: 3600,
      updated_at: "2026-05-18T19:00:00.001Z",
      saved_by: { type: "user", uid: bob.uid, display_name: "Bob", email: "bob@runyard.test" },
    });
    plane.clock.now += 60_000;
    expect((await user.put(one, rule({ audience: "other" }))).body).toMatchObject({
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:01:00.000Z",
    });
    expect((await exchange(await makeToken({ aud: AUDIENCE }))).status).toBe(403);
    expect((await exchange(await makeToken({ aud: "other" }))).status).toBe(201);
    expect((await user.put(one, rule({ audience: "other", subject_pattern: "nobody" }))).status).toBe(200);
    expect((await exchange(await makeToken({ aud: "other" }))).body.detail).toMatch(/^sub: /);
    expect((await user.put(one, rule({ audience: "other" }))).status).toBe(200);
    expect((await exchange(await makeToken({ aud: "other" }))).status).toBe(201);
    expect((await user.delete(one)).status).toBe(204);
    expect((await user.get(one)).status).toBe(404);
    expect((await exchange(await makeToken({ aud: "other" }))).status).toBe(403);
  });

  it.each([
    ["an issuer that is not a URL", { issuer: "github" }, "issuer"],
    ["an issuer with a query", { issuer: "https://a.example.com?x=1" }, "issuer"],
    ["an audience that is empty", { audience: "" }, "audience"],
    ["a pattern that matches every subject", { subject_pattern: "**" }, "subject_pattern"],
    ["keys for more than an hour", { ttl_seconds: 3601 }, "ttl_seconds"],
    ["a budget of nothing", { max_budget_usd: 0 }, "max_budget_usd"],
  ])("refuse %s", async (_, change, field) => {
    const { status, body } = await createClient(plane).post(rules(), rule(change));
    expect([status, body.errors?.[0]?.path]).toEqual([400, field]);
  });

  it.each([
    "http://issuer.example.com",
    "https://127.0.0.1",
    "https://10.1.2.3/x",
    "https://[::1]",
    "https://169.254.169.254",
  ])("refuse the issuer %s if private addresses are not allowed", async (address) => {
    const { uid } = await addRule();
    plane.ports.issuers = createIssuers({ now: plane.ports.now, allowsPrivate: false });
    const user = createClient(plane);
    for (const request of [
      user.post(rules(), rule({ issuer: address })),
      user.put(`${rules()}/${uid}`, rule({ issuer: address })),
    ]) {
      const { status, body } = await request;
      expect([status, body.errors?.[0]?.path]).toEqual([400, "issuer"]);
    }
  });

  it("are found only by their latest issuer and audience, also after concurrent changes", async () => {
    const { uid } = await addRule();
    const user = createClient(plane);
    const one = `${rules()}/${uid}`;
    const stored = () => plane.table.all().filter(({ pk, sk }) => `${pk}${sk}`.includes("TRUST#"));
    const replace = (changes: object) => user.put(one, rule(changes));
    await replace({ audience: "b" });
    expect(stored().map(({ audience }) => audience)).toEqual(["b", "b"]);
    await replace({ audience: "b", issuer: "https://issuer.example" });
    expect(stored().map((item) => item["issuer"])).toEqual(["https://issuer.example", "https://issuer.example"]);
    const isRule = (write: TransactionWrite) => write.kind === "put" && write.item["uid"] === uid;
    await withWriteInBetween(
      plane,
      isRule,
      () => replace({ audience: "c" }),
      () => replace({ audience: "d" }),
    );
    expect(stored().map(({ audience }) => audience)).toEqual(["d", "d"]);
    const isDeletion = (write: TransactionWrite) => write.kind === "delete";
    const removed = await withWriteInBetween(
      plane,
      isDeletion,
      () => replace({ audience: "e" }),
      () => user.delete(one),
    );
    expect(removed.status).toBe(204);
    expect(stored()).toEqual([]);
  });

  it("return 404 to another team, for another identity, and for an unknown rule", async () => {
    const { uid } = await addRule();
    const other = await plane.agent("other");
    const bo = createClient(plane, plane.otherKey);
    const user = createClient(plane);
    for (const [client, path, what] of [
      [bo, `${rules()}/${uid}`, "identity"],
      [user, `/agent/identities/${other.uid}/trust-rules/${uid}`, "trust rule"],
      [user, `${rules()}/${randomUUID()}`, "trust rule"],
    ] as const) {
      const responses = [await client.get(path), await client.put(path, rule()), await client.delete(path)];
      expect(responses.map(({ status }) => status)).toEqual([404, 404, 404]);
      for (const { body } of responses) expect(body.detail).toBe(`there is no such ${what}`);
    }
    for (const response of [await bo.post(rules(), rule()), await bo.get(rules())]) expect(response.status).toBe(404);
    expect((await exchange(await makeToken())).status).toBe(201);
  });

  it("can be read, but not changed, with the identity's own key", async () => {
    const { uid } = await addRule();
    const client = createClient(plane, agent.key);
    expect((await client.get(rules())).body.trust_rules).toMatchObject([{ uid }]);
    const responses = [
      await client.post(rules(), rule()),
      await client.put(`${rules()}/${uid}`, rule({ subject_pattern: "x*" })),
      await client.delete(`${rules()}/${uid}`),
    ];
    expect(responses.map(({ status }) => status)).toEqual([403, 403, 403]);
  });

  it("are not created or used for an identity beyond the plan's limit", async () => {
    await addRule();
    await plane.table.write({ kind: "update", key: keys.identities(plane.team), set: { identity_limit: 1 } });
    const refused = { status: 403, body: { error_code: "feature_not_available" } };
    expect(await createClient(plane).post(rules(), rule())).toMatchObject(refused);
    expect(await exchange(await makeToken())).toMatchObject(refused);
  });

  it("are not created for an identity that is deleted meanwhile", async () => {
    const response = await withWriteInBetween(
      plane,
      (write) => write.kind === "check" && write.key.sk === keys.identity("", agent.uid).sk,
      () => createClient(plane).delete(`/agent/identities/${agent.uid}`),
      () => createClient(plane).post(rules(), rule()),
    );
    expect(response).toMatchObject({ status: 404, body: { detail: "there is no such identity" } });
    expect(plane.table.all().filter(({ pk, sk }) => `${pk}${sk}`.includes("TRUST#"))).toEqual([]);
  });

  it("are at most 20 per identity, and deleted with it", async () => {
    for (let index = 0; index < 20; index++) await addRule({ audience: `a${index}` });
    expect(await createClient(plane).post(rules(), rule())).toMatchObject({
      status: 409,
      body: { detail: expect.stringContaining("20 trust rules of this identity"), retryable: false },
    });
    expect((await createClient(plane).delete(`/agent/identities/${agent.uid}`)).status).toBe(204);
    expect(plane.table.all().filter(({ pk, sk }) => `${pk}${sk}`.includes("TRUST#"))).toEqual([]);
  });
});

describe("POST /agent/token", () => {
  // @contract token.exchange: POST /agent/token gives a key for an OIDC token that a trust rule takes.
  it("returns a key of the identity that expires", async () => {
    await addRule({ ttl_seconds: 600 });
    const { status, body, headers } = await exchange(await makeToken());
    expect([status, headers["cache-control"]]).toEqual([201, "no-store"]);
    expect(body).toEqual({
      key: expect.stringMatching(/^rya_/),
      expires_at: new Date(plane.clock.now + 600_000).toISOString(),
    });
    const run = await createClient(plane, body.key).post("/agent/runs", { prompt: "x" });
    const shown = await createClient(plane).get(`/agent/runs/${run.body.run_id}`);
    expect(shown.body.creator).toMatchObject({ type: "service_account", uid: agent.uid });
    expect(JSON.stringify(plane.table.all())).not.toContain(body.key);
    // The table deletes the key after it expires, and the identity's key list does not contain it.
    expect(await plane.table.get(keys.apiKey(hashKey(body.key)))).toMatchObject({
      name: "OIDC token",
      created_at: plane.clock.now,
      expires_at: plane.clock.now / 1000 + 600,
    });
    expect((await createClient(plane).get(`/agent/identities/${agent.uid}/keys`)).body.keys).toHaveLength(1);
    plane.clock.now += 599_999;
    expect(await callWith(body.key)).toBe(200);
    plane.clock.now += 1;
    expect(await callWith(body.key)).toBe(401);
  });

  it("finds rules for each of up to ten audiences of a token, and refuses a token with more or none", async () => {
    await addRule();
    const audiences = [...Array.from({ length: 9 }, (_, index) => `a${index}`), AUDIENCE];
    expect((await exchange(await makeToken({ aud: audiences }))).status).toBe(201);
    for (const aud of [["a", ...audiences], []]) {
      expect(await exchange(await makeToken({ aud }))).toMatchObject({
        status: 403,
        body: { detail: "aud: is missing or too long" },
      });
    }
  });

  it.each([
    ["its identity", () => createClient(plane).delete(`/agent/identities/${agent.uid}`)],
    ["the rule", async () => createClient(plane).delete(`${rules()}/${(await listRules())[0].uid}`)],
    ["the member who saved it", () => createClient(plane).delete(`/agent/teams/${plane.team}/members/${bob}`)],
  ])("returns 403 if %s is deleted concurrently, and creates no key", async (_, remove) => {
    const member = await plane.person("Bob");
    bob = member.uid;
    await addRule({}, agent.uid, member.key);
    const isKey = (write: TransactionWrite) => write.kind === "put" && write.item.pk.startsWith("KEY#");
    const token = await makeToken();
    const response = await withWriteInBetween(plane, isKey, remove, () => exchange(token));
    expect(response).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining("the trust rule has ended") },
    });
    expect(plane.table.all().filter((item) => item["name"] === "OIDC token")).toEqual([]);
  });

  it("returns 403 if the identity of a rule was deleted, even if index entries are left", async () => {
    await addRule();
    await plane.table.write({ kind: "delete", key: keys.identity(plane.team, agent.uid) });
    expect(await exchange(await makeToken())).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining("the trust rule has ended") },
    });
  });

  it("returns 500 if the table fails", async () => {
    await addRule();
    const [item = { pk: "", sk: "" }] = plane.table.all().filter(({ sk }) => sk.includes("TRUST#"));
    const token = await makeToken();
    const outage = new Error("the table does not respond");
    expect((await withFailingWrites(plane, item, () => exchange(token), outage)).result.status).toBe(500);
  });

  // @contract token.refusal: A refusal is 403 and names the claim.
  it.each([
    ["iss", { iss: "https://elsewhere.example.com" }],
    ["aud", { aud: "https://other.example.com" }],
    ["aud", { aud: undefined }],
    ["sub", { sub: "repo:acme/other:ref:refs/heads/main" }],
    ["sub", { sub: undefined }],
    ["exp", { exp: 1 }],
    ["exp", { exp: undefined }],
    ["nbf", { nbf: 4_000_000_000 }],
  ])("returns 403 and names %s for a token with %o", async (claim, change) => {
    await addRule();
    const { status, body } = await exchange(await makeToken(change));
    expect(status).toBe(403);
    expect(body).toMatchObject({
      error_code: "not_authorized",
      detail: expect.stringMatching(`^[^:]*\\b${claim}\\b.*: `),
    });
  });

  // @contract token.refusal
  it("returns 403 for signatures that are not the issuer's", async () => {
    await addRule();
    const claims = { aud: AUDIENCE, sub: SUBJECT };
    const forged = await exchange(await issuer.sign(claims, { foreign: true }));
    expect(forged).toMatchObject({ status: 403, body: { detail: expect.stringMatching(/^signature: /) } });
    const [, payload = ""] = (await makeToken()).split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    expect(await exchange(`${none}.${payload}.`)).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/^alg: /) },
    });
    const symmetric = Buffer.from(JSON.stringify({ alg: "HS256" })).toString("base64url");
    expect((await exchange(`${symmetric}.${payload}.AAAA`)).body.detail).toMatch(/^alg: /);
    expect(await exchange("no token")).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/^token: /) },
    });
  });

  it("reads the issuer's keys once, and again when it has new ones", async () => {
    await addRule();
    for (const _ of [1, 2, 3]) expect((await exchange(await makeToken())).status).toBe(201);
    expect([issuer.countOf("/.well-known/openid-configuration"), issuer.countOf("/keys")]).toEqual([1, 1]);
    const old = await makeToken();
    await issuer.rotate();
    expect((await exchange(await makeToken())).status).toBe(201);
    expect((await exchange(old)).body.detail).toMatch(/^kid: /);
  });

  it("accepts a token without the id of its key while the issuer has one key", async () => {
    await addRule();
    const claims = { aud: AUDIENCE, sub: SUBJECT };
    expect((await exchange(await issuer.sign(claims, { anonymous: true }))).status).toBe(201);
    plane.ports.issuers = createIssuers({ now: plane.ports.now, allowsPrivate: true });
    await issuer.addKey();
    expect(await exchange(await issuer.sign(claims, { anonymous: true }))).toMatchObject({
      status: 403,
      body: { detail: "kid: the issuer has no such key" },
    });
  });

  it("sends no request to an issuer that no rule names", async () => {
    expect((await exchange(await makeToken())).status).toBe(403);
    expect(issuer.seen).toEqual([]);
  });

  it("returns 503 if the issuer does not respond", async () => {
    await addRule();
    issuer.failure = 500;
    expect(await exchange(await makeToken())).toMatchObject({ status: 503, body: { retryable: true } });
  });

  it("refuses an issuer that resolves to a private address", async () => {
    await addRule();
    plane.ports.issuers = createIssuers({ now: plane.ports.now, allowsPrivate: false });
    expect(await exchange(await makeToken())).toMatchObject({
      status: 403,
      body: { detail: expect.stringMatching(/^iss: /) },
    });
    expect(issuer.seen).toEqual([]);
  });

  // @contract token.exchange
  it("requires identity_uid if rules of several identities match", async () => {
    await addRule();
    const other = await plane.agent("deployer");
    await addRule({}, other.uid);
    expect((await exchange(await makeToken())).body.errors[0].path).toBe("identity_uid");
    const third = await plane.agent("third");
    await addRule({ subject_pattern: "nobody" }, third.uid);
    expect((await exchange(await makeToken(), third.uid)).body.detail).toMatch(/^sub: /);
    expect((await exchange(await makeToken(), randomUUID())).body.detail).toMatch(/^iss, aud: /);
    const { body } = await exchange(await makeToken(), other.uid);
    const run = await createClient(plane, body.key).post("/agent/runs", { prompt: "x" });
    const { creator } = (await createClient(plane).get(`/agent/runs/${run.body.run_id}`)).body;
    expect(creator.uid).toBe(other.uid);
  });

  it("returns 429 above the limit of a minute", async () => {
    await addRule();
    const other = await plane.agent("deployer");
    await addRule({ audience: "other" }, other.uid);
    plane.rates.key = 1;
    expect((await exchange(await makeToken())).status).toBe(201);
    expect((await exchange(await makeToken())).status).toBe(429);
    expect((await exchange(await makeToken({ aud: "other" }))).status, "another identity").toBe(201);
  });

  it("returns keys that end with their rule, and with the membership of the person who saved it", async () => {
    const first = await addRule();
    const { body } = await exchange(await makeToken());
    expect((await createClient(plane).delete(`${rules()}/${first.uid}`)).status).toBe(204);
    expect(await callWith(body.key)).toBe(401);

    const bob = await plane.person("Bob");
    await addRule({}, agent.uid, bob.key);
    const second = (await exchange(await makeToken())).body.key;
    expect(await callWith(second)).toBe(200);
    await plane.removeMember(bob.uid);
    expect(await callWith(second)).toBe(401);
    expect(await exchange(await makeToken())).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining("left") },
    });
  });
});

// @contract token.rules
describe("max_budget_usd", () => {
  const limited = async () => {
    await addRule({ max_budget_usd: 2 });
    return createClient(plane, (await exchange(await makeToken())).body.key);
  };
  const config = { model_id: "anthropic/claude-sonnet-5-5" };

  it("is the budget of runs without one, and the maximum for other runs", async () => {
    const ci = await limited();
    const { body } = await ci.post("/agent/runs", { prompt: "x", config });
    expect((await ci.get(`/agent/runs/${body.run_id}`)).body.agent_config.budget_usd).toBe(2);
    const less = await ci.post("/agent/runs", { prompt: "x", config: { ...config, budget_usd: 1 } });
    expect((await ci.get(`/agent/runs/${less.body.run_id}`)).body.agent_config.budget_usd).toBe(1);
    const more = await ci.post("/agent/runs", { prompt: "x", config: { ...config, budget_usd: 3 } });
    expect([more.status, more.body.errors[0].path]).toEqual([400, "config.budget_usd"]);
  });

  it("also limits schedules, and which of them the key may run", async () => {
    const ci = await limited();
    const schedule = { name: "n", cron_schedule: "0 9 * * *", prompt: "x", agent_config: config };
    const own = (await ci.post("/agent/schedules", schedule)).body;
    expect(own.agent_config.budget_usd).toBe(2);
    const high = { ...schedule, enabled: true, agent_config: { ...config, budget_usd: 3 } };
    expect((await ci.put(`/agent/schedules/${own.schedule_id ?? own.id}`, high)).status).toBe(400);
    const teams = (await createClient(plane).post("/agent/schedules", { ...schedule, name: "m" })).body;
    expect((await ci.post(`/agent/schedules/${teams.schedule_id ?? teams.id}/run`)).status).toBe(403);
    expect((await ci.post(`/agent/schedules/${own.schedule_id ?? own.id}/run`)).status).toBe(200);
  });
});

it.each([
  ["repo:acme/shop:*", SUBJECT, true],
  ["repo:acme/*:ref:refs/heads/main", SUBJECT, true],
  ["repo:acme/*:ref:refs/heads/main", `${SUBJECT}-evil`, false],
  ["repo:acme/shop", SUBJECT, false],
  ["repo:acme/shop*:ref:*:main", SUBJECT, false],
  ["a*a", "a", false],
  ["a*a", "aa", true],
  ["a*b*c", "a-b-c", true],
  ["a*b*c", "ab-c", true],
  ["a*b*c", "a-c-b", false],
  ["a*b*c", "a-c", false],
  ["a*b*bc", "a-bc", false],
  ["a**c", "abc", true],
  ["*:main", SUBJECT, false],
  ["*/main", SUBJECT, true],
  ["*repo:*", SUBJECT, true],
  ["**main", SUBJECT, true],
  ["REPO:*", SUBJECT, false],
])("matchesSubject compares %s with %s: %s", (pattern, subject, expected) => {
  expect(matchesSubject(pattern, subject)).toBe(expected);
});
