import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { memoryTable } from "#shared/table/memory-table.ts";
import type { TransactionWrite } from "#shared/table/table.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import { makeSchedule } from "../../support/schedules.ts";
import { withWriteInBetween } from "../../support/write-conflicts.ts";

let plane: TestControlPlane;
let user: Client;
let bo: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  bo = createClient(plane, plane.otherKey);
});

const DEFAULTS = {
  identity_limit: 20,
  concurrency_limit: 20,
  queue_limit: 1_000,
  default_model_id: null,
  default_environment_id: null,
  commit_author: null,
  budget_usd_month: null,
  retention_days: null,
  sharing_allowed: true,
  provider_keys: {},
};
const path = (more = "") => `/agent/teams/${plane.team}${more}`;
const names = (items: readonly { name: string }[]) => items.map(({ name }) => name);
const set = async (settings: Record<string, unknown>) => {
  const response = await user.put(path(), { settings });
  expect(response.status, JSON.stringify(response.body)).toBe(200);
  return response.body.settings;
};

describe("GET /agent/me", () => {
  // @contract me.get: GET /agent/me returns uid, display_name, email and the teams with uid, name and role.
  it("returns the caller with the role in each team", async () => {
    expect((await user.get("/agent/me")).body).toEqual({
      uid: plane.user,
      display_name: "Ada",
      email: "ada@runyard.test",
      teams: [{ uid: plane.team, name: "Alpha", role: "admin" }],
    });
    const cleo = await plane.person("Cleo", [plane.team, plane.otherTeam]);
    const { teams } = (await createClient(plane, cleo.key).get("/agent/me")).body;
    expect(teams).toHaveLength(2);
    expect(teams).toContainEqual({ uid: plane.otherTeam, name: "Beta", role: "member" });
    expect((await createClient(plane, (await plane.person("Zoe", [])).key).get("/agent/me")).body.teams).toEqual([]);
  });
});

describe("PUT /agent/me", () => {
  // @contract me.put: PUT /agent/me changes it.
  it("changes the display name, also in member lists", async () => {
    const before = (await user.get("/agent/me")).body;
    expect((await user.put("/agent/me", { display_name: "Ada L." })).body).toEqual({
      ...before,
      display_name: "Ada L.",
    });
    expect((await user.get("/agent/me")).body.display_name).toBe("Ada L.");
    expect((await user.get(path("/members"))).body.members).toMatchObject([{ display_name: "Ada L." }]);
    const run = await createRun(plane);
    expect((await user.get(`/agent/runs/${run}`)).body.creator.display_name).toBe("Ada L.");
  });

  // @contract me.put
  it("accepts what GET returned, and refuses another address", async () => {
    const me = (await user.get("/agent/me")).body;
    const { warnings, ...written } = (await user.put("/agent/me", me)).body;
    expect(written).toEqual(me);
    expect(warnings).toMatchObject([{ path: "uid" }, { path: "teams" }]);
    expect((await user.put("/agent/me", { email: "ADA@runyard.test" })).body).toEqual(me);
    expect(await user.put("/agent/me", { email: "other@runyard.test" })).toMatchObject({
      status: 422,
      body: { detail: "email: it belongs to your sign-in; change it there" },
    });
    expect((await user.put("/agent/me", { display_name: "" })).body.errors).toMatchObject([{ path: "display_name" }]);
    expect((await user.put("/agent/me", { email: "none" })).body.errors).toMatchObject([{ path: "email" }]);
    expect((await user.get("/agent/me")).body).toEqual(me);
  });
});

describe("POST /agent/teams", () => {
  // @contract teams.shapes.created: A create returns 201 with the item.
  // @contract teams.item: A team has uid, name and its settings.
  it("creates a team with its settings, a default identity and the caller as admin", async () => {
    const made = await user.post("/agent/teams", { name: "Gamma", settings: { concurrency_limit: 2 } });
    expect(made).toMatchObject({ status: 201 });
    expect(made.body).toEqual({
      uid: expect.any(String),
      name: "Gamma",
      settings: { ...DEFAULTS, concurrency_limit: 2 },
    });
    const headers = { "x-team-uid": made.body.uid };
    expect((await user.get("/agent/me")).body.teams).toContainEqual({
      uid: made.body.uid,
      name: "Gamma",
      role: "admin",
    });
    expect(names((await user.get("/agent/identities", { headers })).body.agents)).toEqual(["Default agent"]);
    expect((await user.post("/agent/runs", { prompt: "a" }, { headers })).status).toBe(200);
    expect((await user.post("/agent/runs", { prompt: "a" })).body.errors).toMatchObject([{ path: "X-Team-Uid" }]);
    expect((await bo.get(`/agent/teams/${made.body.uid}`)).status).toBe(404);
  });

  // @contract teams.create: Any user can create a team.
  it("creates a team for a person without one, and once per Idempotency-Key", async () => {
    const zoe = createClient(plane, (await plane.person("Zoe", [])).key);
    const headers = { "idempotency-key": "key-1" };
    const first = await zoe.post("/agent/teams", { name: "Gamma" }, { headers });
    const again = await zoe.post("/agent/teams", { name: "Gamma" }, { headers });
    expect(again).toMatchObject({ status: 201, headers: { "idempotent-replay": "true" }, body: first.body });
    expect((await zoe.get("/agent/teams")).body.teams).toEqual([first.body]);
    expect((await zoe.post("/agent/runs", { prompt: "a" })).status).toBe(200);
  });

  it.each([
    ["no name", {}, "name"],
    ["an empty name", { name: "" }, "name"],
    ["a setting of the wrong type", { name: "a", settings: { queue_limit: "10" } }, "settings.queue_limit"],
    ["a limit of 0", { name: "a", settings: { concurrency_limit: 0 } }, "settings.concurrency_limit"],
    ["an unknown model", { name: "a", settings: { default_model_id: "gpt-0" } }, "settings.default_model_id"],
    [
      "an environment, which a new team does not have",
      { name: "a", settings: { default_environment_id: randomUUID() } },
      "settings.default_environment_id",
    ],
  ])("returns 400 with the field and stores nothing for %s", async (_, body, field) => {
    const before = structuredClone(plane.table.all());
    expect((await user.post("/agent/teams", body)).body.errors).toMatchObject([{ path: field }]);
    expect(plane.table.all()).toEqual(before);
  });

  it("limits a person to 50 teams", async () => {
    for (let index = 0; index < 49; index++) {
      expect((await user.post("/agent/teams", { name: `Team ${index}` })).status).toBe(201);
    }
    const full = { status: 409, body: { detail: "a person is in 50 teams at most", retryable: false } };
    expect(await user.post("/agent/teams", { name: "One more" })).toMatchObject(full);
    const invitations = `/agent/teams/${plane.otherTeam}/invitations`;
    const { link } = (await bo.post(invitations, { email: "ada@runyard.test" })).body;
    expect(await user.post(`/agent/invitations/${link.split("/").at(-1)}/accept`)).toMatchObject(full);
    expect((await user.get("/agent/me")).body.teams).toHaveLength(50);
    const uids = (await user.get("/agent/teams")).body.teams.map(({ uid }: { uid: string }) => uid);
    expect(uids).toEqual(uids.toSorted());
    expect((await user.get("/agent/teams?limit=3")).body).toMatchObject({ page_info: { has_next_page: true } });
  });
});

describe("a team's settings", () => {
  // @contract general.defaults.identities
  it("are returned with their defaults, changed one by one, and reset by null", async () => {
    expect((await user.get(path())).body).toEqual({
      uid: plane.team,
      name: "Alpha",
      settings: DEFAULTS,
      month: { budget_usd: null, spent_usd: 0, renews_at: "2026-06-01T00:00:00.000Z" },
    });
    const all = {
      identity_limit: 5,
      concurrency_limit: 3,
      queue_limit: 7,
      default_model_id: "local/runbook",
      budget_usd_month: 250.5,
    };
    expect(await set(all)).toEqual({ ...DEFAULTS, ...all });
    expect(await set({ queue_limit: 8 })).toEqual({ ...DEFAULTS, ...all, queue_limit: 8 });
    expect(
      await set({ queue_limit: null, budget_usd_month: null, retention_days: null, identity_limit: null }),
    ).toEqual({
      ...DEFAULTS,
      ...all,
      queue_limit: 1_000,
      budget_usd_month: null,
      identity_limit: 20,
    });
    expect((await user.put(path(), { name: "Omega" })).body).toMatchObject({
      name: "Omega",
      settings: { queue_limit: 1_000 },
    });
    expect((await user.put(path(), { name: null, settings: null })).body.name).toBe("Omega");
    expect((await user.get("/agent/teams")).body.teams).toMatchObject([
      { name: "Omega", settings: { concurrency_limit: 3 } },
    ]);
  });

  it.each([
    ["identity_limit", 501],
    ["concurrency_limit", -1],
    ["queue_limit", 1.5],
    ["default_model_id", "gpt-0"],
    ["default_environment_id", "none"],
    ["budget_usd_month", 0],
    ["retention_days", 0],
  ])("return 400 for a wrong %s", async (name, value) => {
    const before = structuredClone(plane.table.all());
    const response = await user.put(path(), { settings: { [name]: value } });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: `settings.${name}` }] } });
    expect(plane.table.all()).toEqual(before);
  });

  // @contract general.defaults.settings: All of these are settings of the team.
  // @contract teams.concurrency-limit: concurrency_limit is the number of runs that execute concurrently.
  it("limit the number of concurrent runs from the next run on", async () => {
    await set({ concurrency_limit: 2 });
    const ids = [await createRun(plane), await createRun(plane)];
    await deliver(plane);
    const third = await user.post("/agent/runs", { prompt: "third" });
    expect(third.body).toMatchObject({ state: "QUEUED", at_capacity: true });
    await deliver(plane);
    expect(await Promise.all(ids.map((id) => readState(plane, id)))).toEqual(["PENDING", "PENDING"]);
    expect(await readState(plane, third.body.run_id)).toBe("QUEUED");
    await set({ concurrency_limit: 3 });
    await deliver(plane);
    expect(await readState(plane, third.body.run_id)).toBe("PENDING");
    expect((await bo.post("/agent/runs", { prompt: "a" })).body).not.toHaveProperty("at_capacity");
  });

  // @contract general.defaults.settings
  // @contract errors.retry-after.429
  // @contract teams.queue-limit: queue_limit is the number of runs that can wait.
  it("limit the number of queued runs from the next run on", async () => {
    await set({ concurrency_limit: 1, queue_limit: 2 });
    for (const prompt of ["a", "b"]) expect((await user.post("/agent/runs", { prompt })).status).toBe(200);
    const full = await user.post("/agent/runs", { prompt: "c" });
    expect(full).toMatchObject({ status: 429, body: { error_code: "resource_unavailable", retryable: true } });
    expect(full.headers["retry-after"]).toMatch(/^\d+$/);
    await set({ queue_limit: null });
    expect((await user.post("/agent/runs", { prompt: "c" })).status).toBe(200);
  });

  // @contract general.defaults.settings
  // @contract identities.limit.create
  // @contract teams.identity-limit: identity_limit is the number of identities that the team can have.
  it("limit the number of identities from the next identity on", async () => {
    await set({ identity_limit: 2 });
    expect((await user.post("/agent/identities", { name: "a" })).status).toBe(201);
    expect((await user.post("/agent/identities", { name: "b" })).status).toBe(403);
    await set({ identity_limit: 1 });
    const available = async () =>
      (await user.get("/agent/identities")).body.agents.map(({ available }: { available: boolean }) => available);
    expect(await available()).toEqual([true, false]);
    await set({ identity_limit: null });
    expect(await available()).toEqual([true, true]);
  });

  // @contract runs.config.resolved
  // @contract teams.default-model: default_model_id is the model of runs that name none.
  it("provide the model of runs if neither the run nor its identity names one", async () => {
    await set({ default_model_id: "local/runbook" });
    const run = await createRun(plane);
    expect((await user.get(`/agent/runs/${run}`)).body.agent_config.model_id).toBe("local/runbook");
  });

  it("need no separate read when a run is created", async () => {
    const { get, batchGet, query, transact } = plane.table;
    let calls = 0;
    const counted = <A extends unknown[], R>(call: (...given: A) => R) => {
      return (...given: A): R => {
        calls++;
        return call(...given);
      };
    };
    await createRun(plane);
    Object.assign(plane.table, {
      get: counted(get),
      batchGet: counted(batchGet),
      query: counted(query),
      transact: counted(transact),
    });
    await createRun(plane, { prompt: "plain" });
    expect(calls).toBe(3);
  });
});

describe("GET, PUT and DELETE /agent/teams/{teamUid}", () => {
  // @contract errors.own: A resource that the caller can see but not change is 403.
  // @contract teams.who.admin: Routes for admins are 403 to other members.
  // @contract teams.list: GET /agent/teams lists the caller's own teams.
  // @contract teams.one: GET, PUT and DELETE of a team are for its admins.
  // @contract members.admin: Only admins read and change members.
  it("are limited to admins: other members get 403, other callers 404", async () => {
    const mia = createClient(plane, (await plane.person("Mia")).key);
    for (const [client, status] of [
      [mia, 403],
      [bo, 404],
    ] as const) {
      expect((await client.get(path())).status).toBe(status);
      expect((await client.put(path(), { name: "Mine" })).status).toBe(status);
      expect((await client.delete(path())).status).toBe(status);
      expect((await client.get(path("/members"))).status).toBe(status);
      expect((await client.put(path(`/members/${plane.user}`), { role: "member" })).status).toBe(status);
      expect((await client.delete(path(`/members/${plane.user}`))).status).toBe(status);
      expect((await client.get(path("/invitations"))).status).toBe(status);
      expect((await client.post(path("/invitations"), { email: "new@runyard.test" })).status).toBe(status);
    }
    expect((await mia.get(path())).body.detail).toBe("this call is for admins of the team");
    expect((await mia.get("/agent/teams")).body.teams).toMatchObject([{ uid: plane.team }]);
  });

  it("return the same 404 for another team's, an unknown and a malformed uid", async () => {
    const responses = await Promise.all([plane.team, randomUUID(), "none"].map((uid) => bo.get(`/agent/teams/${uid}`)));
    const problems = responses.map(({ status, body: { instance: _, ...body } }) => ({ status, body }));
    expect(problems[1]).toEqual(problems[0]);
    expect(problems[2]).toEqual(problems[0]);
  });
});

describe("DELETE /agent/teams/{teamUid}", () => {
  const listRemaining = ({ table, team }: TestControlPlane) => table.all().filter(({ pk }) => pk === `TEAM#${team}`);
  /** For a day, so that no run is created meanwhile. */
  const expires_at = Date.parse("2026-05-19T19:00:00Z") / 1000;
  const closed = expect.objectContaining({ sk: "COUNTERS", queue_limit: 0, expires_at });

  it("returns 409 while runs have not ended", async () => {
    const refused = { status: 409, body: { error_code: "conflict", retryable: false } };
    const id = await createRun(plane);
    expect(await user.delete(path()), "a waiting run").toMatchObject(refused);
    await plane.dispatch(id);
    expect(await user.delete(path()), "an executing run").toMatchObject(refused);
    await user.post(`/agent/runs/${id}/cancel?force=true`);
    expect((await user.delete(path())).status).toBe(204);
  });

  // @contract teams.shapes.deleted: A deletion returns 204.
  it("returns 409 while there are schedules", async () => {
    const { id } = await makeSchedule(plane);
    const before = structuredClone(plane.table.all());
    expect(await user.delete(path())).toMatchObject({
      status: 409,
      body: { detail: "the team has schedules: delete them first", retryable: false },
    });
    expect(plane.table.all()).toEqual(before);
    await user.delete(`/agent/schedules/${id}`);
    expect((await user.delete(path())).status).toBe(204);
  });

  it("deletes everything in the team, and refuses its keys and members", async () => {
    const mia = await plane.person("Mia");
    const agent = await plane.agent();
    await user.post("/agent/secrets", { name: "TOKEN", value: "hush" });
    const environment = await user.post("/agent/environments", { name: "Node" });
    expect(environment.status).toBe(201);
    const { link } = (await user.post(path("/invitations"), { email: "new@runyard.test" })).body;
    const headers = { "x-team-uid": plane.team };
    expect((await user.delete(path())).status).toBe(204);

    expect((await createClient(plane, agent.key).get("/agent/runs")).status).toBe(401);
    for (const key of [plane.key, mia.key]) {
      const client = createClient(plane, key);
      expect((await client.get("/agent/me")).body.teams).toEqual([]);
      expect((await client.get("/agent/runs", { headers })).status).toBe(403);
      expect((await client.get(path())).status).toBe(404);
    }
    expect((await bo.post(`/agent/invitations/${link.split("/").at(-1)}/accept`)).status).toBe(404);
    expect(listRemaining(plane)).toEqual([closed]);
    expect(plane.vault.values.size).toBe(0);
    expect(JSON.stringify(plane.table.all().filter(({ sk }) => sk !== "IDEM"))).not.toContain(environment.body.uid);
    expect((await bo.get("/agent/runs")).status).toBe(200);
  });

  it("leaves no item that names the team, of any kind, in use or not", async () => {
    const entry = keys.environmentEntry({ type: "Team", uid: plane.team }, randomUUID());
    const others = [entry, { pk: keys.team(plane.team).pk, sk: "NEW#1" }];
    for (const key of others) await plane.table.write({ kind: "put", item: { ...key, v: 1, uid: "u" } });
    await user.post(path("/invitations"), { email: "new@runyard.test" });
    await user.post("/agent/environments", { name: "Node" });
    const known = plane.table.all().filter(({ sk }) => sk.includes(plane.team));
    expect(known.map(({ sk }) => sk.split("#")[0]).sort(), "the invitations by address").toContain("INVITATION");
    expect((await user.delete(path())).status).toBe(204);
    expect(listRemaining(plane)).toEqual([closed]);
    expect(plane.table.all().filter(({ sk }) => sk.includes(plane.team))).toEqual([]);
  });

  it.each([undefined, 5])(
    "is undone if a schedule is created meanwhile, also with a queue limit of %s",
    async (limit) => {
      const bare = memoryTable();
      plane = await createTestControlPlane(bare);
      user = createClient(plane);
      if (limit !== undefined) await set({ queue_limit: limit });
      const counters = keys.counters({ type: "Team", uid: plane.team });
      const read = async () => [
        await plane.table.get(keys.team(plane.team)),
        (await plane.table.get(counters))?.["queue_limit"],
      ];
      const before = await read();
      const { transact } = plane.table;
      vi.spyOn(plane.table, "transact").mockImplementationOnce(async (writes) => {
        await transact(writes);
        await bare.write({ kind: "put", item: { pk: counters.pk, sk: "SCHEDULE#1", v: 1 } });
      });
      expect(await user.delete(path())).toMatchObject({
        status: 409,
        body: { detail: "the team has schedules: delete them first", retryable: false },
      });
      expect(await read()).toEqual(before);
    },
  );

  it.each([
    ["a deletion", () => user.delete(path())],
    ["a change", () => user.put(path(), { name: "Omega" })],
    ["a member who leaves", (mia: Client, uid: string) => mia.delete(path(`/members/${uid}`))],
  ])("makes concurrent %s return 404, and restores nothing", async (_, send) => {
    const { uid, key } = await plane.person("Mia");
    const mia = createClient(plane, key);
    const isOfTeam = (write: TransactionWrite) => {
      const { pk, sk } = write.kind === "put" ? write.item : write.key;
      const isClosing = write.kind === "update" && write.set?.["closed"] === true;
      return pk === keys.team(plane.team).pk && sk === keys.team(plane.team).sk && !isClosing;
    };
    const late = await withWriteInBetween(
      plane,
      isOfTeam,
      () => user.delete(path()),
      () => send(mia, uid),
    );
    expect(late.status).toBe(404);
    expect(listRemaining(plane)).toEqual([closed]);
    expect((await mia.get("/agent/me")).body.teams).toEqual([]);
  });

  it("removes the team from its members' lists once its own item is gone", async () => {
    await plane.table.write({ kind: "delete", key: keys.team(plane.team) });
    expect((await user.get("/agent/me")).body.teams).toEqual([]);
    expect((await user.get("/agent/teams")).body.teams).toEqual([]);
  });

  it("continues an interrupted deletion", async () => {
    await plane.person("Mia");
    const agent = await plane.agent();
    const { transact } = plane.table;
    let left = 2;
    Object.assign(plane.table, {
      transact: async (writes: Parameters<typeof transact>[0]) => {
        if (left-- === 0) throw new Error("process crashed");
        await transact(writes);
      },
    });
    expect((await user.delete(path())).status).toBe(500);
    Object.assign(plane.table, { transact });
    expect((await user.post("/agent/runs", { prompt: "a" })).status, "no run is created in between").toBe(429);
    expect(await user.post("/agent/secrets", { name: "LATE", value: "hush" }), "nor anything else").toMatchObject({
      status: 409,
      body: { retryable: true },
    });
    expect((await user.delete(path())).status).toBe(204);
    expect(listRemaining(plane)).toEqual([closed]);
    expect((await createClient(plane, agent.key).get("/agent/runs")).status).toBe(401);
  });
});

describe("members of a team", () => {
  // @contract members.list: GET …/members lists uid, email and role.
  it("are listed with their roles, in pages if the request has a limit", async () => {
    const mia = await plane.person("Mia");
    const { members } = (await user.get(path("/members"))).body;
    expect(members).toHaveLength(2);
    expect(members).toContainEqual({ uid: plane.user, email: "ada@runyard.test", display_name: "Ada", role: "admin" });
    expect(members).toContainEqual({ uid: mia.uid, email: "mia@runyard.test", display_name: "Mia", role: "member" });
    const first = (await user.get(path("/members?limit=1"))).body;
    const second = (await user.get(path(`/members?limit=1&cursor=${first.page_info.next_cursor}`))).body;
    expect([...first.members, ...second.members]).toEqual(members);
  });

  // @contract members.role: PUT …/members/{uid} changes a role from the next request on.
  it("get another role that applies from the next request on", async () => {
    const mia = await plane.person("Mia");
    const client = createClient(plane, mia.key);
    expect((await client.get(path())).status).toBe(403);
    const member = path(`/members/${mia.uid}`);
    expect(await user.put(member, { role: "admin" })).toMatchObject({
      status: 200,
      body: { uid: mia.uid, role: "admin" },
    });
    expect((await client.get(path())).status).toBe(200);
    expect((await user.put(member, { role: "admin" })).status).toBe(200);
    expect((await user.put(member, { role: "member" })).status).toBe(200);
    expect((await client.get(path())).status).toBe(403);
    expect((await user.put(member, { role: "owner" })).body.errors).toMatchObject([{ path: "role" }]);
  });

  // @contract teams.shapes.deleted
  // @contract members.remove: DELETE of a member takes effect with that person's next request.
  it("are refused by the next request after their removal", async () => {
    const mia = await plane.person("Mia");
    const client = createClient(plane, mia.key);
    const id = await createRun(plane, { prompt: "hers" }, mia.key);
    expect((await client.get(`/agent/runs/${id}`)).status).toBe(200);
    expect(await user.delete(path(`/members/${mia.uid}`))).toMatchObject({
      status: 200,
      body: { revoked_keys: [], kept_keys: [] },
    });
    expect((await client.get(`/agent/runs/${id}`)).status).toBe(404);
    expect((await client.get("/agent/runs", { headers: { "x-team-uid": plane.team } })).status).toBe(403);
    expect((await client.get("/agent/identities")).body.agents).toEqual([]);
    expect((await client.get(path())).status).toBe(404);
    expect((await user.delete(path(`/members/${mia.uid}`))).status).toBe(404);
    expect((await user.put(path(`/members/${mia.uid}`), { role: "admin" })).status).toBe(404);
    const { link } = (await user.post(path("/invitations"), { email: "mia@runyard.test" })).body;
    expect((await client.post(`/agent/invitations/${link.split("/").at(-1)}/accept`)).status).toBe(200);
    expect((await client.get(`/agent/runs/${id}`)).status).toBe(200);
  });

  // @contract members.last-admin: The last admin cannot be removed: 409.
  it("always include an admin, also if two leave concurrently", async () => {
    const own = path(`/members/${plane.user}`);
    for (const response of [await user.delete(own), await user.put(own, { role: "member" })]) {
      const detail = expect.stringContaining("the team's last admin stays");
      expect(response).toMatchObject({ status: 409, body: { error_code: "conflict", detail, retryable: false } });
    }
    const mia = await plane.person("Mia");
    await user.put(path(`/members/${mia.uid}`), { role: "admin" });
    const client = createClient(plane, mia.key);
    const responses = await Promise.all([
      user.put(path(`/members/${plane.user}`), { role: "member" }),
      client.delete(path(`/members/${mia.uid}`)),
    ]);
    expect(responses.map(({ status }) => status).sort()).toEqual([expect.any(Number), 409]);
    const admins = plane.table.all().filter((item) => item.sk.startsWith("MEMBER#") && item["role"] === "admin");
    expect(admins.filter(({ pk }) => pk === `TEAM#${plane.team}`)).toHaveLength(1);
    expect(await plane.table.get(keys.team(plane.team))).toMatchObject({ admins: 1 });
  });
});
