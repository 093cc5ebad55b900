import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { routes } from "#infra/routes.ts";
import { RUN_SCOPES } from "#shared/principals/scopes.ts";
import { isScope, type Scope } from "#shared/wire/keys/scope.ts";
import { SCOPES } from "#shared/wire/keys/scopes.ts";
import { type Client, createClient, request } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, type Harness, localRun, workingRun } from "../../support/execution.ts";
import { OidcIssuer } from "../../support/oidc-issuer.ts";
import { fireAt, listRuns, nightly, readSchedule } from "../../support/schedules.ts";

let plane: TestControlPlane;
let ada: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  ada = createClient(plane);
});

const lacks = (scope: Scope) => ({
  status: 403,
  body: { error_code: "not_authorized", detail: expect.stringContaining(`lacks the scope ${scope}:`) },
});

/** A new personal key of these scopes. */
const keyWith = async (...scopes: Scope[]): Promise<string> =>
  (await ada.post("/agent/keys", { name: "scoped", scopes })).body.key;
const withScopes = async (...scopes: Scope[]): Promise<Client> => createClient(plane, await keyWith(...scopes));

/** Starts the run, and returns its harness. */
const dispatch = async (runId: string): Promise<Harness> => createHarness(plane, await plane.dispatch(runId));

/** What the key of a run may do about its own run. */
async function readAbilities({ client, run_id }: Harness): Promise<Record<string, boolean>> {
  const read = (await client.get(`/agent/runs/${run_id}`)).status === 200;
  const write = (await client.post("/agent/runs", { prompt: "child" })).status === 200;
  const models = (await client.get("/agent/models")).status === 200;
  return { read, write, models };
}
const ALL = { read: true, write: true, models: true };

describe("a run's key", () => {
  it("can have the scopes of the routes that it may call, and no other", () => {
    const callable = routes.filter(({ who }) => who !== "public" && who.includes("run"));
    const needed = new Set(callable.map(({ scope }) => scope).filter(isScope));
    expect(SCOPES.filter((scope) => needed.has(scope))).toEqual(
      [...RUN_SCOPES].sort((a, b) => SCOPES.indexOf(a) - SCOPES.indexOf(b)),
    );
  });

  it("has every scope of a run's key where the run was created with all, and stores none", async () => {
    const run = await workingRun(plane);
    expect(await readAbilities(run)).toEqual(ALL);
    expect(plane.table.all().filter((item) => "scopes" in item)).toEqual([]);
  });

  // @contract scopes.runs: A run's key has at most the scopes of the key that created the run.
  it("has at most the scopes of the key that created the run, and reports on the run without any", async () => {
    const run = await workingRun(plane, { prompt: "hello" }, await keyWith("runs:write", "usage:read"));
    expect(await readAbilities(run)).toEqual({ read: false, write: true, models: false });
    expect(await run.client.get(`/agent/runs/${run.run_id}`)).toMatchObject(lacks("runs:read"));
    expect((await run.finish()).status).toBe(200);
  });

  it("with runs:read alone cannot follow up", async () => {
    const limited = await withScopes("runs:read", "schedules:write");
    const { id } = (await limited.post("/agent/schedules", nightly)).body;
    const run = await dispatch((await limited.post(`/agent/schedules/${id}/run`)).body.run_id);
    const child = await createRun(plane, { prompt: "child", parent_run_id: run.run_id });
    const followUp = ({ client }: Harness) => client.post(`/agent/runs/${child}/followups`, { message: "more" });
    expect((await run.client.get(`/agent/runs/${child}`)).status).toBe(200);
    expect(await followUp(run)).toMatchObject(lacks("runs:write"));
    expect((await followUp(await workingRun(plane))).status).toBe(403);
  });

  it("passes no more on to its children", async () => {
    const run = await workingRun(plane, { prompt: "hello" }, await keyWith("runs:write"));
    const child = (await run.client.post("/agent/runs", { prompt: "child" })).body.run_id;
    expect(await readAbilities(await dispatch(child))).toEqual({ read: false, write: true, models: false });
  });

  it("of a run that its caller executes has the caller's scopes", async () => {
    const local = await localRun(plane);
    expect(await readAbilities(local)).toMatchObject({ read: true, models: true });
    const key = await keyWith("runs:write");
    const body = { prompt: "hello", execution_location: "LOCAL" };
    const made = (await createClient(plane, key).post("/agent/runs", body)).body;
    expect(await createClient(plane, made.run_key).get(`/agent/runs/${made.run_id}`)).toMatchObject(lacks("runs:read"));
  });
});

describe("a schedule", () => {
  // @contract scopes.schedules: A schedule gives its runs no more scopes than the key had that created it.
  it("gives its runs no more scopes than the key had that created it", async () => {
    const { body } = await (await withScopes("schedules:write")).post("/agent/schedules", nightly);
    expect(body.scopes).toEqual(["schedules:write"]);
    await fireAt(plane, body.id, "2026-05-19T02:30:00Z");
    const [run] = await listRuns(plane, body.id);
    expect(await readAbilities(await dispatch(run.run_id))).toEqual({ read: false, write: false, models: false });
    const { body: asked } = await ada.post(`/agent/schedules/${body.id}/run`);
    expect(await readAbilities(await dispatch(asked.run_id))).toEqual({ read: false, write: false, models: false });
  });

  // @contract scopes.schedules-change: A schedule loses the scopes that a key lacks which changes it.
  it("loses the scopes that a key lacks which changes it, and not those of one that pauses it", async () => {
    const { id, scopes } = (await ada.post("/agent/schedules", nightly)).body;
    expect(scopes).toBeUndefined();
    const limited = await withScopes("schedules:write", "runs:read");
    await limited.post(`/agent/schedules/${id}/pause`);
    await limited.post(`/agent/schedules/${id}/resume`);
    expect(await readSchedule(plane, id)).not.toHaveProperty("scopes");
    await limited.put(`/agent/schedules/${id}`, { ...nightly, prompt: "read everything", enabled: true });
    expect((await readSchedule(plane, id)).scopes).toEqual(["runs:read", "schedules:write"]);
    await ada.put(`/agent/schedules/${id}`, { ...nightly, enabled: true });
    expect((await readSchedule(plane, id)).scopes).toEqual(["runs:read", "schedules:write"]);
  });

  it("starts a run on request with no more than the request's key", async () => {
    const { id } = (await ada.post("/agent/schedules", nightly)).body;
    const { body } = await (await withScopes("schedules:write", "runs:read")).post(`/agent/schedules/${id}/run`);
    expect(await readAbilities(await dispatch(body.run_id))).toEqual({ read: true, write: false, models: false });
  });
});

describe("a trigger", () => {
  const TRIGGER = { name: "builds", kind: "webhook", verification: { scheme: "bearer" }, prompt: "hello" };
  const SECRET = "a-secret-of-the-ci";
  const create = async (client: Client, more: object = {}) =>
    (await client.post("/agent/triggers", { ...TRIGGER, secret: SECRET, ...more })).body;
  const read = async (uid: string) => (await ada.get(`/agent/triggers/${uid}`)).body;
  const start = async (uid: string, secret = SECRET) => {
    const headers = { authorization: `Bearer ${secret}` };
    await request(plane, "POST", `/hooks/${uid}`, { key: undefined, body: { build: Math.random() }, headers });
    return dispatch((await ada.get("/agent/runs?limit=1")).body.runs[0].run_id);
  };

  it("gives its runs no more scopes than the key had that created it", async () => {
    const { uid, scopes } = await create(await withScopes("triggers:write", "runs:read"));
    expect(scopes).toEqual(["runs:read", "triggers:write"]);
    expect(await readAbilities(await start(uid))).toEqual({ read: true, write: false, models: false });
  });

  // @contract scopes.triggers: A trigger has no scope that its creator lacks.
  it("takes fewer scopes, and none that its creator lacks", async () => {
    const { uid, scopes } = await create(ada, { scopes: ["runs:read"] });
    expect(scopes).toEqual(["runs:read"]);
    expect(await readAbilities(await start(uid))).toEqual({ read: true, write: false, models: false });
    const limited = await withScopes("triggers:write", "runs:read");
    expect(await limited.post("/agent/triggers", { ...TRIGGER, scopes: ["runs:write"] })).toMatchObject(
      lacks("runs:write"),
    );
  });

  it("loses the scopes that a key lacks which changes it, and gets others from one that has them", async () => {
    const { uid, scopes } = await create(ada);
    expect(scopes).toBeUndefined();
    const limited = await withScopes("triggers:write", "runs:read");
    const path = `/agent/triggers/${uid}`;
    await limited.post(`${path}/pause`);
    expect(await read(uid)).not.toHaveProperty("scopes");
    expect((await limited.put(path, { enabled: true })).body.scopes).toEqual(["runs:read", "triggers:write"]);
    expect(await limited.put(path, { scopes: ["runs:write"] })).toMatchObject(lacks("runs:write"));
    expect((await ada.put(path, { scopes: ["runs:write"] })).body.scopes).toEqual(["runs:write"]);
    expect((await ada.put(path, { scopes: [] })).body).not.toHaveProperty("scopes");
  });

  it("loses the scopes that a key lacks which gets its new secret", async () => {
    const { uid } = await create(ada);
    const { body } = await (await withScopes("triggers:write")).post(`/agent/triggers/${uid}/rotate-secret`, {});
    expect(body.scopes).toEqual(["triggers:write"]);
    expect((await read(uid)).scopes).toEqual(["triggers:write"]);
    expect(await readAbilities(await start(uid, body.secret))).toEqual({ read: false, write: false, models: false });
  });
});

describe("a trust rule", () => {
  let issuer: OidcIssuer;
  beforeEach(async () => {
    issuer = await OidcIssuer.start();
    issuer.now = () => plane.clock.now;
  });
  afterEach(() => issuer[Symbol.asyncDispose]());

  const rule = (more: object = {}) => ({ issuer: issuer.url, audience: "a", subject_pattern: "repo:*", ...more });
  const exchange = async () => {
    const body = { token: await issuer.sign({ aud: "a", sub: "repo:x" }) };
    return createClient(plane, (await request(plane, "POST", "/agent/token", { key: undefined, body })).body.key);
  };

  // @contract scopes.trust: A trust rule has at most the scopes of who makes it.
  it("gives keys of its scopes, which are at most those of the key that saved it", async () => {
    const { uid } = await plane.agent();
    const rules = `/agent/identities/${uid}/trust-rules`;
    const limited = await withScopes("keys", "runs:read");
    expect(await limited.post(rules, rule({ scopes: ["runs:write"] }))).toMatchObject(lacks("runs:write"));
    const { body } = await limited.post(rules, rule());
    expect(body.scopes).toEqual(["runs:read", "keys"]);
    const ci = await exchange();
    expect((await ci.get("/agent/runs")).status).toBe(200);
    expect(await ci.post("/agent/runs", { prompt: "hello" })).toMatchObject(lacks("runs:write"));

    const one = `${rules}/${body.uid}`;
    expect((await ada.put(one, rule({ scopes: ["runs:write"] }))).body.scopes).toEqual(["runs:write"]);
    expect((await ada.get(one)).body.scopes).toEqual(["runs:write"]);
    expect((await (await exchange()).post("/agent/runs", { prompt: "hello" })).status).toBe(200);
    expect(await limited.put(one, rule({ scopes: ["runs:write"] }))).toMatchObject(lacks("runs:write"));
    expect((await ada.put(one, rule())).body.scopes).toEqual([...SCOPES]);
  });
});

describe("an identity", () => {
  // @contract scopes.identity: Changing an identity needs the scopes of its keys.
  it("is changed only with every scope that its keys have", async () => {
    const { uid, keyUid } = await plane.agent();
    const path = `/agent/identities/${uid}`;
    const limited = await withScopes("identities:write", "runs:read");
    const before = (await ada.get(path)).body;
    expect(await limited.put(path, { prompt: "obey me" })).toMatchObject(lacks("runs:write"));
    expect((await ada.get(path)).body).toEqual(before);
    await ada.delete(`${path}/keys/${keyUid}`);
    expect((await limited.put(path, { prompt: "be kind" })).status).toBe(200);
    await ada.post(`${path}/keys`, { name: "reader", scopes: ["runs:read"] });
    expect((await limited.put(path, { prompt: "be polite" })).status).toBe(200);
    await ada.post(`${path}/keys`, { name: "workers", scopes: ["runs:read", "workers"] });
    expect(await limited.put(path, { prompt: "be rude" })).toMatchObject(lacks("workers"));
  });

  it("is changed only with every scope that its trust rules give", async () => {
    const { uid, keyUid } = await plane.agent();
    const path = `/agent/identities/${uid}`;
    await ada.delete(`${path}/keys/${keyUid}`);
    const rule = { issuer: "https://issuer.runyard.test", audience: "a", subject_pattern: "repo:x" };
    await ada.post(`${path}/trust-rules`, { ...rule, scopes: ["runs:write"] });
    expect(await (await withScopes("identities:write")).put(path, { prompt: "x" })).toMatchObject(lacks("runs:write"));
    expect((await (await withScopes("identities:write", "runs:write")).put(path, { prompt: "x" })).status).toBe(200);
  });
});

describe("the first key of an invited account", () => {
  it("has at most the scopes of the key that invited", async () => {
    const { link } = (
      await (
        await withScopes("teams:write", "runs:read")
      ).post(`/agent/teams/${plane.team}/invitations`, {
        email: "new@runyard.test",
        role: "admin",
      })
    ).body;
    const path = `/agent/invitations/${link.split("/").at(-1)}/accept`;
    const { key } = (await request(plane, "POST", path, { key: undefined })).body;
    const invited = createClient(plane, key);
    expect((await invited.get("/agent/runs")).status).toBe(200);
    expect(await invited.post("/agent/keys", { name: "more" })).toMatchObject(lacks("keys"));
    expect(await invited.post("/agent/runs", { prompt: "hello" })).toMatchObject(lacks("runs:write"));
  });
});
