import { decodeJwt, decodeProtectedHeader } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient, request } from "../../support/client.ts";
import { BASE_URL, createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, deliver, type Harness, startedRun, workingRun } from "../../support/execution.ts";
import { createHooks } from "../../support/hooks.ts";
import { makeSchedule } from "../../support/schedules.ts";
import { assumeRole, trustPolicy } from "../../support/sts-stand-in.ts";

const AWS = "sts.amazonaws.com";
const DAY_MS = 24 * 60 * 60_000;

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const addEnvironment = async (name: string, body: object = {}): Promise<string> => {
  const made = await user.post("/agent/environments", { name, ...body });
  expect(made.status).toBe(201);
  return made.body.uid;
};
const askToken = (harness: Harness, audience: unknown = AWS) => harness.support("identity-token", { audience });
const issueToken = async (harness: Harness, audience?: string): Promise<string> => {
  const { status, body } = await askToken(harness, audience);
  expect(status).toBe(200);
  return body.token;
};
const readPublicly = async (url: string) => {
  const { status, body } = await request(plane, "GET", url.slice(BASE_URL.length), { key: undefined });
  expect(status).toBe(200);
  return body;
};
const open = (token: string, audience: string, subject: string) =>
  assumeRole(token, trustPolicy(BASE_URL, audience, subject), { read: readPublicly, now: plane.clock.now });
const subject = (environment = "none", identity = "none", team = plane.team) =>
  `team:${team}:identity:${identity}:environment:${environment}`;
const listKids = async () =>
  (await readPublicly(`${BASE_URL}/.well-known/jwks.json`)).keys.map(({ kid }: { kid: string }) => kid);

describe("POST /harness-support/identity-token", () => {
  // @contract identity.claims: The claims of an identity token are those that the service has stored.
  // @contract identity.subject: sub names team, identity and environment.
  it("returns a token for the run, with the team, identity and environment that the service has stored", async () => {
    const environment = await addEnvironment("Production", {
      repositories: [{ url: "https://github.com/acme/shop.git" }],
    });
    const agent = await plane.agent();
    const harness = await workingRun(plane, {
      prompt: "hello",
      agent_identity_uid: agent.uid,
      config: { environment_id: environment, repositories: [{ url: "https://github.com/mallory/shop" }] },
    });
    const { status, body, headers } = await askToken(harness);
    expect(status).toBe(200);
    expect(headers["cache-control"]).toBe("no-store");
    expect(body).toEqual({ token: expect.any(String), expires_at: "2026-05-18T19:15:00.000Z" });
    const seconds = plane.clock.now / 1000;
    expect(decodeJwt(body.token)).toEqual({
      iss: BASE_URL,
      aud: AWS,
      sub: subject(environment, agent.uid),
      iat: seconds,
      nbf: seconds,
      exp: seconds + 900,
      run_id: harness.run_id,
      root_run_id: harness.run_id,
      team_uid: plane.team,
      identity_uid: agent.uid,
      environment_uid: environment,
      repository: "acme/shop",
      source: "API",
    });
    expect(decodeProtectedHeader(body.token)).toEqual({ alg: "ES256", typ: "JWT", kid: (await listKids())[0] });
  });

  // @contract identity.claims
  // @contract identity.personal: The token of a personal run has team:none.
  it("names no team for a personal run, and none for an identity and an environment that the run does not have", async () => {
    const token = await issueToken(await workingRun(plane, { prompt: "hello", team: false }));
    expect(decodeJwt(token)).toMatchObject({
      sub: "team:none:identity:none:environment:none",
      team_uid: "none",
      identity_uid: "none",
      environment_uid: "none",
    });
    expect(decodeJwt(token)).not.toHaveProperty("repository");
  });

  // @contract identity.repository: The repository of a token is the environment's, never the request's.
  it("names no repository if the environment has several, or if only the request has one", async () => {
    const urls = ["https://github.com/acme/shop", "https://github.com/acme/site"];
    const several = await addEnvironment("Several", { repositories: urls.map((url) => ({ url })) });
    const none = await addEnvironment("None");
    const repositories = [{ url: "https://github.com/acme/shop" }];
    for (const environment_id of [several, none]) {
      const config = { environment_id, ...(environment_id === none ? { repositories } : {}) };
      expect(decodeJwt(await issueToken(await workingRun(plane, { prompt: "hello", config })))).not.toHaveProperty(
        "repository",
      );
    }
  });

  // @contract identity.claims
  it("names the schedule or the trigger that created the run", async () => {
    const schedule = await makeSchedule(plane);
    const { body } = await user.post(`/agent/schedules/${schedule.id}/run`);
    const scheduled = createHarness(plane, await plane.dispatch(body.run_id));
    await scheduled.resolve();
    await scheduled.beat();
    const claims = decodeJwt(await issueToken(scheduled));
    expect(claims).toMatchObject({ schedule_id: schedule.id, source: "SCHEDULED_AGENT" });
    expect(claims).not.toHaveProperty("trigger_id");
    const hooks = createHooks(plane);
    const trigger = await hooks.createPlain();
    await hooks.sendPlain(trigger, { subject: "down" });
    const run = (await hooks.runs()).find(({ source }: { source: string }) => source === "CUSTOM_WEBHOOK");
    const triggered = createHarness(plane, await plane.dispatch(run.run_id));
    await triggered.resolve();
    await triggered.beat();
    expect(decodeJwt(await issueToken(triggered))).toMatchObject({ trigger_id: trigger, source: "CUSTOM_WEBHOOK" });
    expect(decodeJwt(await issueToken(triggered))).not.toHaveProperty("schedule_id");
  });

  // @contract identity.claims
  it("names the root of a child run", async () => {
    const root = await workingRun(plane);
    const child = await workingRun(plane, { prompt: "hello", parent_run_id: root.run_id }, root.key);
    expect(decodeJwt(await issueToken(child))).toMatchObject({
      run_id: child.run_id,
      root_run_id: root.run_id,
      source: "ORCHESTRATION",
    });
  });

  it("opens a role for exactly one audience, team, identity and environment", async () => {
    const environment = await addEnvironment("Production");
    const other = await addEnvironment("Staging");
    const harness = await workingRun(plane, { prompt: "hello", config: { environment_id: environment } });
    const token = await issueToken(harness);
    expect(await open(token, AWS, subject(environment))).toBeUndefined();
    const refused = "no statement of the trust policy matches";
    expect(await open(token, "sts.example.com", subject(environment))).toBe(refused);
    expect(await open(token, AWS, subject(other))).toBe(refused);
    expect(await open(token, AWS, subject(environment, "none", plane.otherTeam))).toBe(refused);
    expect(await open(token, AWS, subject(environment, plane.user))).toBe(refused);
    expect(await open(await issueToken(harness, "sts.example.com"), AWS, subject(environment))).toBe(refused);
    const elsewhere = await workingRun(plane, { prompt: "hello" }, plane.otherKey);
    expect(await open(await issueToken(elsewhere), AWS, subject(environment))).toBe(refused);
  });

  // @contract identity.time: A token works for at most 15 minutes, and none is issued after the run.
  it("returns tokens that work for 15 minutes and no longer", async () => {
    const token = await issueToken(await workingRun(plane));
    plane.clock.now += 15 * 60_000 - 1_000;
    expect(await open(token, AWS, subject())).toBeUndefined();
    plane.clock.now += 1_000;
    expect(await open(token, AWS, subject())).toMatch(/exp/);
  });

  // @contract identity.time
  // @contract identity.none-after: None is issued after the run.
  it("returns tokens only to the execution of a run that has not ended", async () => {
    const harness = await workingRun(plane);
    expect(
      (await createHarness(plane, harnessEnvelope(harness)).support("identity-token", { audience: AWS })).status,
    ).toBe(409);
    await harness.finish();
    await deliver(plane);
    expect((await askToken(harness)).status).toBe(401);
    const cancelled = await workingRun(plane);
    await user.post(`/agent/runs/${cancelled.run_id}/cancel`);
    expect((await askToken(cancelled)).status).toBe(401);
    expect((await user.post("/harness-support/identity-token", { audience: AWS })).status).toBe(403);
  });

  it("returns the token of the key's own run, whatever else the request names", async () => {
    const victim = await workingRun(plane);
    const harness = await workingRun(plane);
    const { body } = await harness.support("identity-token", {
      audience: AWS,
      run_id: victim.run_id,
      repository: "acme/shop",
      sub: subject("x"),
    });
    expect(decodeJwt(body.token)).toMatchObject({ run_id: harness.run_id, sub: subject() });
    expect(decodeJwt(body.token)).not.toHaveProperty("repository");
  });

  // @contract identity.audience: An audience equal to base_url is refused.
  it.each([BASE_URL, `${BASE_URL}/`, BASE_URL.replace("runyard", "RUNYARD"), "", 7])(
    "returns 400 for the audience %j",
    async (audience) => {
      const { status, body } = await askToken(await workingRun(plane), audience);
      expect([status, body.errors[0].path]).toEqual([400, "audience"]);
    },
  );

  it("returns 409 naming the setting if no public address is configured", async () => {
    plane.ports.issuerUrl = undefined;
    const { status, body } = await askToken(await workingRun(plane));
    expect(status).toBe(409);
    expect(body).toMatchObject({ error_code: "conflict", retryable: false, detail: expect.stringMatching(/--url/) });
  });

  // @contract identity.issuer: The issuer is the configured public URL, never Host.
  it("names the configured issuer whatever the request's Host says", async () => {
    const harness = await startedRun(plane);
    await harness.resolve();
    const issuer = "https://public.runyard.test/api/v1";
    plane.ports.issuerUrl = issuer;
    const headers = { host: "mallory.example", "x-forwarded-host": "mallory.example" };
    const { body } = await request(plane, "GET", "/.well-known/openid-configuration", { key: undefined, headers });
    expect(body).toMatchObject({ issuer, jwks_uri: `${issuer}/.well-known/jwks.json` });
    expect(decodeJwt(await issueToken(harness))).toMatchObject({ iss: issuer });
  });
});

/** The envelope of an execution, for a second harness. */
const harnessEnvelope = ({ run_id, execution_id, key }: Harness) => {
  const urls = { base_url: BASE_URL, model_url: `${BASE_URL}/model` };
  return { version: 1 as const, ...urls, run_id, execution_id, key };
};

describe("GET /.well-known", () => {
  // @contract identity.keys: The issuer publishes discovery and rotating keys.
  it("returns the metadata and keys of the issuer, which proxies may cache", async () => {
    const empty = await request(plane, "GET", "/.well-known/jwks.json", { key: undefined });
    expect([empty.body, empty.headers["cache-control"]]).toEqual([{ keys: [] }, "no-store"]);
    await issueToken(await workingRun(plane));
    const { body, headers } = await request(plane, "GET", "/.well-known/jwks.json", { key: undefined });
    const text = expect.any(String);
    expect(body).toEqual({
      keys: [{ kty: "EC", crv: "P-256", x: text, y: text, kid: text, use: "sig", alg: "ES256" }],
    });
    expect(headers["cache-control"]).toBe("public, max-age=300");
    const metadata = await request(plane, "GET", "/.well-known/openid-configuration", { key: undefined });
    expect(metadata.headers["cache-control"]).toBe("public, max-age=300");
    expect(metadata.body).toMatchObject({ id_token_signing_alg_values_supported: ["ES256"] });
  });

  it.each(["openid-configuration", "jwks.json"])(
    "returns 404 for %s if no public address is configured",
    async (file) => {
      plane.ports.issuerUrl = undefined;
      expect((await request(plane, "GET", `/.well-known/${file}`, { key: undefined })).status).toBe(404);
    },
  );
});

describe("signing keys", () => {
  // @contract identity.keys
  it("rotate: each is published a day before it signs, and a day after the next one signs", async () => {
    const harness = await workingRun(plane);
    const signingKid = async () => decodeProtectedHeader(await issueToken(harness)).kid;
    /** The execution stays alive without its heartbeats; only the time of the keys moves. */
    const advance = (milliseconds: number) => {
      plane.clock.now += milliseconds;
    };
    const first = await signingKid();
    advance(30 * DAY_MS - 1);
    expect(await signingKid()).toBe(first);
    expect(await listKids()).toEqual([first]);
    advance(1);
    expect(await signingKid()).toBe(first);
    const [, second] = await listKids();
    expect(second).not.toBe(first);
    advance(DAY_MS - 1);
    expect(await signingKid()).toBe(first);
    advance(1);
    expect(await signingKid()).toBe(second);
    expect(await listKids()).toEqual([first, second]);
    advance(29 * DAY_MS);
    expect(await signingKid()).toBe(second);
    const kids = await listKids();
    expect([kids.length, kids[0]]).toEqual([2, second]);
  });
});

describe("POST /agent/token", () => {
  // @contract identity.self: POST /agent/token refuses the own issuer.
  it("refuses tokens of this service, and trust rules refuse it as an issuer", async () => {
    const agent = await plane.agent();
    const rule = { audience: AWS, subject_pattern: "team:*" };
    const rules = `/agent/identities/${agent.uid}/trust-rules`;
    for (const issuer of [BASE_URL, `${BASE_URL}/`, BASE_URL.replace("runyard", "Runyard")]) {
      const { status, body } = await user.post(rules, { ...rule, issuer });
      expect([status, body.errors[0].path]).toEqual([400, "issuer"]);
    }
    const token = await issueToken(await workingRun(plane));
    const { status, body } = await request(plane, "POST", "/agent/token", { key: undefined, body: { token } });
    expect([status, body.detail]).toEqual([403, "iss: tokens of this service itself are not accepted"]);
  });
});
