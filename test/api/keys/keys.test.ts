import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { toPersonalKeyOwner } from "#shared/keys/key-owner.ts";
import { issueRecoveryKey } from "#shared/keys/manage-keys.ts";
import { hashKey, parseKey } from "#shared/principals/api-key.ts";
import { keys } from "#shared/table/keys.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { SCOPES } from "#shared/wire/keys/scopes.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { withFailingWrites, withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
let identity: string;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  identity = (await user.post("/agent/identities", { name: "Reviewer" })).body.uid;
});

const HOUR = 3_600_000;
const uids = (response: { body: { keys: { uid: string }[] } }) => response.body.keys.map(({ uid }) => uid);

// @contract identities.keys.own: The same routes exist for the caller's own keys under /agent/keys.
describe.each([
  { whose: "a person", path: () => "/agent/keys", form: /^ryp_[0-9A-Za-z]{43}$/, before: 1, kind: "user" },
  {
    whose: "an identity",
    path: () => `/agent/identities/${identity}/keys`,
    form: /^rya_[0-9A-Za-z]{43}$/,
    before: 0,
    kind: "service_account",
  },
])("API keys of $whose", ({ path, form, before, kind }) => {
  // @contract identities.keys.create: POST …/keys returns 201 with uid, name, key, suffix, created_at and, if it expires, expires_at.
  // @contract identities.keys.list: GET lists the keys without the key itself.
  // @contract identities.keys.creator
  // @contract identities.keys.once: The raw key is shown there and never again.
  // @contract identities.keys.prefixes: The prefixes are ryp_ for personal keys, rya_ for agent keys, ryr_ for run keys.
  // @contract identities.keys.hashed: Only the SHA-256 of a key is stored.
  it("are returned once, authenticate their owner, and are listed without the key", async () => {
    plane.clock.now += 1_000;
    const made = await user.post(path(), { name: "laptop" });
    expect(made).toMatchObject({ status: 201, headers: { "cache-control": "no-store" } });
    expect(made.body).toEqual({
      uid: expect.any(String),
      name: "laptop",
      key: expect.stringMatching(form),
      suffix: made.body.key.slice(-4),
      scopes: [...SCOPES],
      created_at: "2026-05-18T19:00:01.000Z",
      created_by: { type: "user", uid: plane.user, display_name: "Ada", email: "ada@runyard.test" },
    });
    expect(parseKey(made.body.key)).toBeDefined();
    const run = await createClient(plane, made.body.key).post("/agent/runs", { prompt: "hello" });
    expect(run.status).toBe(200);
    expect((await user.get(`/agent/runs/${run.body.run_id}`)).body.creator.type).toBe(kind);

    const listed = await user.get(path());
    expect(listed.body.keys).toHaveLength(before + 1);
    const { key, ...shown } = made.body;
    expect(listed.body.keys.at(-1)).toEqual({ ...shown, last_used_at: "2026-05-18T19:00:01.000Z" });
    expect(JSON.stringify(plane.table.all())).not.toContain(key);
  });

  // @contract general.clients.micros
  // @contract identities.keys.create
  it("are refused after expires_at", async () => {
    const expires_at = "2026-05-18T20:00:00.500000+00:00";
    const { body } = await user.post(path(), { name: "short", expires_at });
    expect(body.expires_at).toBe("2026-05-18T20:00:00.500Z");
    plane.clock.now += HOUR;
    expect((await createClient(plane, body.key).get("/agent/runs")).status).toBe(200);
    plane.clock.now += 500;
    expect((await createClient(plane, body.key).get("/agent/runs")).status).toBe(401);
    expect(uids(await user.get(path()))).toContain(body.uid);
  });

  // @contract identities.keys.delete: DELETE of a key returns 204.
  it("are refused by the next request after their deletion; a second deletion returns 404", async () => {
    const { body } = await user.post(path(), { name: "laptop" });
    const other = await user.post(path(), { name: "other" });
    expect((await createClient(plane, body.key).get("/agent/runs")).status).toBe(200);
    expect(await user.delete(`${path()}/${body.uid}`)).toMatchObject({ status: 204, body: "" });
    expect((await createClient(plane, body.key).get("/agent/runs")).status).toBe(401);
    expect((await createClient(plane, other.body.key).get("/agent/runs")).status).toBe(200);
    expect(uids(await user.get(path()))).toHaveLength(before + 1);
    const gone = await user.delete(`${path()}/${body.uid}`);
    const unknown = await user.delete(`${path()}/${randomUUID()}`);
    expect(gone.status).toBe(404);
    expect(unknown.body.detail).toBe(gone.body.detail);
    expect((await user.delete(`${path()}/none`)).body.detail).toBe(gone.body.detail);
  });

  // @contract general.limits.names
  it.each([
    ["no name", {}, "name"],
    ["an empty name", { name: "" }, "name"],
    ["a name of 257 characters", { name: "x".repeat(257) }, "name"],
    ["an expires_at that is not a time", { name: "a", expires_at: "tomorrow" }, "expires_at"],
    ["an expires_at that has passed", { name: "a", expires_at: "2026-05-18T19:00:00Z" }, "expires_at"],
  ])("return 400 with the field and store nothing for %s", async (_, body, field) => {
    const stored = structuredClone(plane.table.all());
    const response = await user.post(path(), body);
    expect(response).toMatchObject({ status: 400, body: { error_code: "invalid_request" } });
    for (const { path } of response.body.errors) expect(path).toBe(field);
    expect(plane.table.all()).toEqual(stored);
  });

  it("are limited to 50, also for concurrent requests", async () => {
    for (let index = before; index < 45; index++) await user.post(path(), { name: `key ${index}` });
    const responses = await Promise.all(
      Array.from({ length: 10 }, (_, index) => user.post(path(), { name: `late ${index}` })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(5);
    for (const { status, body } of responses.filter(({ status }) => status !== 201)) {
      expect([status, body.error_code, body.retryable]).toEqual([409, "conflict", false]);
      expect(body.detail).toBe("the limit of 50 keys is reached: delete one first");
    }
    const listed = await user.get(path());
    expect(listed.body.keys).toHaveLength(50);
    // Keys created at the same time have no defined order, and pages need one.
    expect(uids(listed)).toEqual(uids(listed).toSorted());
    // The key of these calls is excluded: it may be anywhere among the keys of the same time.
    const spare = listed.body.keys.find(({ name }: { name: string }) => name.startsWith("late "));
    await user.delete(`${path()}/${spare.uid}`);
    expect((await user.post(path(), { name: "again" })).status).toBe(201);
  });

  // @contract identities.keys.once
  it("are created once per Idempotency-Key; a repeated request returns 409 with the uid and without the key", async () => {
    const headers = { "idempotency-key": "key-1" };
    const { body } = await user.post(path(), { name: "laptop" }, { headers });
    for (const again of [
      await user.post(path(), { name: "laptop" }, { headers }),
      await user.post(path(), { name: "laptop" }, { headers: { ...headers, "x-stainless-retry-count": "1" } }),
    ]) {
      expect(again).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
      expect(again.body.detail).toContain(body.uid);
      expect(JSON.stringify(again.body)).not.toContain(body.key);
    }
    expect(uids(await user.get(path()))).toHaveLength(before + 1);
  });

  // @contract general.lists.keys
  // @contract identities.keys.list
  it("are listed in pages if the request has a limit", async () => {
    for (const name of ["a", "b", "c"]) {
      plane.clock.now += 1;
      await user.post(path(), { name });
    }
    const all = uids(await user.get(path()));
    const first = await user.get(`${path()}?limit=2`);
    const second = await user.get(`${path()}?cursor=${first.body.page_info.next_cursor}`);
    expect([...uids(first), ...uids(second)]).toEqual(all);
  });

  it("record the hour of their last write request, and no read requests", async () => {
    const { body } = await user.post(path(), { name: "laptop" });
    const client = createClient(plane, body.key);
    const used = async () =>
      (await user.get(path())).body.keys.find(({ uid }: { uid: string }) => uid === body.uid).last_used_at;
    await client.get("/agent/runs");
    expect(await used()).toBeUndefined();
    await client.post("/agent/runs", {});
    expect(await used(), "a refused call").toBeUndefined();
    await client.post("/agent/runs", { prompt: "a" });
    expect(await used()).toBe("2026-05-18T19:00:00.000Z");
    plane.clock.now += HOUR - 1;
    await client.post("/agent/runs", { prompt: "b" });
    expect(await used()).toBe("2026-05-18T19:00:00.000Z");
    plane.clock.now += 1;
    await client.post("/agent/runs", { prompt: "c" });
    expect(await used()).toBe("2026-05-18T20:00:00.000Z");
  });
});

describe("personal keys", () => {
  it("are for the request's team, or else for the person's first team, if any", async () => {
    const cleo = await plane.person("Cleo", [plane.team, plane.otherTeam]);
    const { teams } = (await createClient(plane, cleo.key).get("/agent/me")).body;
    const zoe = await plane.person("Zoe", []);
    const create = async (key: string, team?: string) => {
      const options = team === undefined ? {} : { headers: { "x-team-uid": team } };
      const { status, body } = await createClient(plane, key).post("/agent/keys", { name: "a" }, options);
      expect(status).toBe(201);
      return (await plane.table.get(keys.apiKey(hashKey(body.key))))?.["team_uid"];
    };
    for (const { uid } of teams) expect(await create(cleo.key, uid)).toBe(uid);
    expect(await create(cleo.key)).toBe(teams[0].uid);
    expect(await create(zoe.key)).toBeUndefined();
  });

  it("may end at any later time, and null sets no end", async () => {
    expect((await user.post("/agent/keys", { name: "a", expires_at: "2026-05-18T19:00:00.001Z" })).status).toBe(201);
    const { status, body } = await user.post("/agent/keys", { name: "a", expires_at: null });
    expect(status).toBe(201);
    expect(body).not.toHaveProperty("expires_at");
  });

  it("belong to people: an agent cannot own one", () => {
    const credential = { kind: "key", hash: "", usedAt: undefined, expiresAt: undefined } as const;
    const agent = { kind: "agent", identity: { uid: identity, name: "Reviewer" }, team: plane.team } as const;
    const teamItem = { uid: plane.team, name: "Alpha", created_at: 0 };
    expect(() => toPersonalKeyOwner({ ...agent, teamItem, credential, maxBudgetUsd: undefined })).toThrow(
      expect.objectContaining({ code: "not_authorized", detail: "this call is for personal keys" }),
    );
  });

  it("cannot be listed or deleted by other users", async () => {
    const { body } = await user.post("/agent/keys", { name: "laptop" });
    const mia = createClient(plane, (await plane.person("Mia")).key);
    expect(uids(await mia.get("/agent/keys"))).not.toContain(body.uid);
    expect((await mia.delete(`/agent/keys/${body.uid}`)).status).toBe(404);
    expect((await createClient(plane, body.key).get("/agent/runs")).status).toBe(200);
  });

  it("can delete themselves", async () => {
    const { body } = await user.post("/agent/keys", { name: "laptop" });
    const client = createClient(plane, body.key);
    plane.clock.now += 2 * HOUR;
    expect((await client.delete(`/agent/keys/${body.uid}`)).status).toBe(204);
    expect((await client.get("/agent/runs")).status).toBe(401);
    expect(JSON.stringify(plane.table.all().filter(({ sk }) => sk !== "IDEM"))).not.toContain(body.uid);
  });

  it("are not available to agent keys", async () => {
    const agent = createClient(plane, (await plane.agent()).key);
    expect((await agent.get("/agent/keys")).status).toBe(403);
    expect((await agent.post("/agent/keys", { name: "a" })).status).toBe(403);
    expect((await agent.delete(`/agent/keys/${randomUUID()}`)).status).toBe(403);
  });
});

describe("issueRecoveryKey", () => {
  const owner = () => ({ kind: "personal", user: plane.user, defaultTeam: plane.team }) as const;
  const person = () => ({ uid: plane.user, displayName: "Ada", email: "ada@runyard.test" });
  const issue = () => issueRecoveryKey(owner(), person(), plane.ports);

  it("adds a key even beyond the person's limit, and keeps the other keys valid", async () => {
    for (let index = 1; index < 50; index++) await user.post("/agent/keys", { name: `key ${index}` });
    const key = await issue();
    const { body } = await createClient(plane, key).get("/agent/keys");
    expect(body.keys).toHaveLength(51);
    expect(body.keys.filter(({ name }: { name: string }) => name === "recovery key")).toMatchObject([
      { suffix: key.slice(-4), created_by: { type: "user", uid: plane.user, display_name: "Ada" } },
    ]);
    expect((await user.get("/agent/keys")).status).toBe(200);
  });

  it("adds the key if another is added concurrently, and gives up after 25 attempts", async () => {
    const isList = (write: TransactionWrite) => write.kind === "put" && write.item.sk === keys.userKeys("").sk;
    const key = await withWriteInBetween(plane, isList, () => user.post("/agent/keys", { name: "other" }), issue);
    expect((await createClient(plane, key).get("/agent/keys")).body.keys).toHaveLength(3);
    const failed = await withFailingWrites(plane, keys.userKeys(plane.user), () => issue().catch((error) => error));
    expect(failed).toMatchObject({ attempts: 25, result: { code: "conflict", retryable: true } });
    const outage = new Error("the table does not respond");
    const out = await withFailingWrites(
      plane,
      keys.userKeys(plane.user),
      () => issue().catch((error) => error),
      outage,
    );
    expect(out).toEqual({ attempts: 1, result: outage });
  });
});

describe("identity keys", () => {
  // @contract identities.who.people
  it("are listed by the team's agents and changed only by its members", async () => {
    const path = `/agent/identities/${identity}/keys`;
    const { body } = await user.post(path, { name: "laptop" });
    const agent = createClient(plane, body.key);
    expect(uids(await agent.get(path))).toEqual([body.uid]);
    expect((await agent.post(path, { name: "more" })).status).toBe(403);
    expect((await agent.delete(`${path}/${body.uid}`)).status).toBe(403);
    const mia = createClient(plane, (await plane.person("Mia")).key);
    expect((await mia.post(path, { name: "mine too" })).status).toBe(201);
  });

  it("return 404 to callers of another team", async () => {
    const path = `/agent/identities/${identity}/keys`;
    const { body } = await user.post(path, { name: "laptop" });
    const bo = createClient(plane, plane.otherKey);
    for (const response of [
      await bo.get(path),
      await bo.post(path, { name: "a" }),
      await bo.delete(`${path}/${body.uid}`),
    ]) {
      expect(response).toMatchObject({ status: 404, body: { detail: "there is no such identity" } });
    }
  });

  // @contract identities.limit.keys: It cannot get keys.
  it("are not created beyond the identity limit; existing ones still authenticate and can be deleted", async () => {
    const path = `/agent/identities/${identity}/keys`;
    const { body } = await user.post(path, { name: "laptop" });
    await plane.table.write({ kind: "update", key: keys.identities(plane.team), set: { identity_limit: 1 } });
    expect(await user.post(path, { name: "more" })).toMatchObject({
      status: 403,
      body: { error_code: "feature_not_available" },
    });
    expect((await createClient(plane, body.key).get("/agent/runs")).status).toBe(200);
    expect((await user.delete(`${path}/${body.uid}`)).status).toBe(204);
  });

  // @contract identities.delete.keys: Deleting an identity deletes every key of it in one transaction.
  it("are all deleted with the identity in one transaction", async () => {
    const path = `/agent/identities/${identity}/keys`;
    const made: string[] = [];
    for (let index = 0; index < 50; index++) made.push((await user.post(path, { name: `key ${index}` })).body.key);
    expect((await user.delete(`/agent/identities/${identity}`)).status).toBe(204);
    for (const key of made) expect((await createClient(plane, key).get("/agent/runs")).status).toBe(401);
    expect(JSON.stringify(plane.table.all().filter(({ sk }) => sk !== "IDEM"))).not.toContain(identity);
  });
});
