import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const create = async (name: string, body: Record<string, unknown> = {}) => {
  const response = await user.post("/agent/identities", { name, ...body });
  expect(response.status).toBe(201);
  return response.body;
};
const getDefault = async (client = user) => (await client.get("/agent/identities")).body.agents[0];
const named = (agents: readonly { name: string }[]) => agents.map(({ name }) => name);
const limit = (identity_limit: number) =>
  plane.table.write({ kind: "update", key: keys.identities(plane.team), set: { identity_limit } });

const defaults = {
  description: "Reviews what others wrote",
  prompt: "Be kind.",
  base_model: "local/runbook",
  skills: ["acme/skills:review"],
  mcp_servers: {
    tracker: { url: "https://tracker.test/mcp", headers: { authorization: "Bearer secret-1" } },
    local: { command: "serve", args: ["-v"], env: { TOKEN: "secret-2" } },
  },
  harness: { type: "claude", model_id: "opus" },
  worker_host: "rack-7",
  secrets: [{ name: "TRACKER_TOKEN" }],
  on_behalf_of_enabled: true,
  credential_strategy: "EXECUTOR",
};

describe("POST /agent/identities", () => {
  // @contract runs.mcp.secrets
  // @contract identities.create: POST /agent/identities returns 201 with the identity.
  // @contract identities.list: GET /agent/identities returns agents.
  // @contract identities.get: GET of an identity returns 200.
  // @contract identities.defaults: An identity has defaults for its runs: description, prompt, base_model, environment_id, skills, mcp_servers, harness, worker_host, secrets, on_behalf_of_enabled, credential_strategy.
  // @contract identities.item: The item has uid, name, whether it is available, its times and scope, and the members that are set.
  // @contract secrets.names: Configurations refer to secrets by name.
  it("creates an identity, and returns every member except masked values", async () => {
    const made = await create("Reviewer", defaults);
    const shown = {
      uid: made.uid,
      name: "Reviewer",
      available: true,
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:00:00.000Z",
      scope: { type: "Team", uid: plane.team },
      ...defaults,
      mcp_servers: {
        tracker: { url: "https://tracker.test/mcp", headers: { authorization: "***" } },
        local: { command: "serve", args: ["-v"], env: { TOKEN: "***" } },
      },
      memory: { auto_memory: { enabled: false }, attached_stores: [] },
      default_runner_uid: "",
    };
    expect(made).toEqual(shown);
    expect((await user.get(`/agent/identities/${made.uid}`)).body).toEqual(shown);
    expect((await user.get("/agent/identities")).body.agents[1]).toEqual(shown);
  });

  // @contract identities.item.always: skills, secrets, memory and default_runner_uid are always present, possibly empty.
  it("requires only a name; null equals an absent member", async () => {
    expect(await create("Plain", { prompt: null, skills: null, harness: null, secrets: null })).toEqual({
      uid: expect.any(String),
      name: "Plain",
      available: true,
      created_at: "2026-05-18T19:00:00.000Z",
      updated_at: "2026-05-18T19:00:00.000Z",
      scope: { type: "Team", uid: plane.team },
      skills: [],
      secrets: [],
      memory: { auto_memory: { enabled: false }, attached_stores: [] },
      default_runner_uid: "",
    });
  });

  // @contract identities.name: name has 1 to 128 characters.
  it.each([
    ["no name", {}, "name"],
    ["an empty name", { name: "" }, "name"],
    ["a name of 129 characters", { name: "x".repeat(129) }, "name"],
    ["a name that is not text", { name: 7 }, "name"],
    ["an unknown model", { name: "a", base_model: "gpt-0" }, "base_model"],
    ["a prompt over 64 KiB", { name: "a", prompt: "x".repeat(65_537) }, "prompt"],
    ["a malformed skill", { name: "a", skills: ["a/b:c", "review"] }, "skills[1]"],
    ["a harness without a type", { name: "a", harness: { model_id: "opus" } }, "harness"],
    ["an unknown harness", { name: "a", harness: { type: "vim" } }, "harness.type"],
    ["a secret without a name", { name: "a", secrets: [{}] }, "secrets[0].name"],
    ["an unknown strategy", { name: "a", credential_strategy: "MIXED" }, "credential_strategy"],
    ["a flag that is not a boolean", { name: "a", on_behalf_of_enabled: "true" }, "on_behalf_of_enabled"],
  ])("returns 400 with the field and stores nothing for %s", async (_, body, path) => {
    const before = structuredClone(plane.table.all());
    const response = await user.post("/agent/identities", body);
    expect(response).toMatchObject({ status: 400, body: { error_code: "invalid_request", errors: [{ path }] } });
    expect(plane.table.all()).toEqual(before);
  });

  // @contract identities.defaults
  // @contract identities.update.clears
  it("accepts an environment of the team only", async () => {
    const { body } = await user.post("/agent/environments", { name: "Node" });
    const made = await create("Reviewer", { environment_id: body.uid });
    expect(made.environment_id).toBe(body.uid);
    const own = await user.post("/agent/environments", { name: "Mine", team: false });
    for (const environment_id of [own.body.uid, randomUUID(), "none"]) {
      const errors = [{ path: "environment_id" }];
      expect((await user.post("/agent/identities", { name: "b", environment_id })).body.errors).toMatchObject(errors);
      expect((await user.put(`/agent/identities/${made.uid}`, { environment_id })).body.errors).toMatchObject(errors);
    }
    expect((await user.put(`/agent/identities/${made.uid}`, { environment_id: "" })).body).not.toHaveProperty(
      "environment_id",
    );
  });

  // @contract errors.conflict.name: The conflict of a taken name is not retryable.
  // @contract identities.name.unique: A name is unique in its team: 409.
  it("requires names to be unique in a team regardless of case, but not across teams", async () => {
    await create("Reviewer");
    const again = await user.post("/agent/identities", { name: " reviewer" });
    expect(again).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
    expect((await createClient(plane, plane.otherKey).post("/agent/identities", { name: "Reviewer" })).status).toBe(
      201,
    );
  });

  // @contract identities.name.unique
  it("gives a name to exactly one of 20 concurrent requests", async () => {
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => user.post("/agent/identities", { name: "Reviewer" })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(responses.filter(({ status }) => status === 409)).toHaveLength(19);
    expect(named((await user.get("/agent/identities")).body.agents)).toEqual(["Default agent", "Reviewer"]);
  });

  // @contract general.identities.default
  // @contract general.defaults.identities: A team has 20 identities by default.
  // @contract identities.limit.create: A create beyond the plan's limit is 403 feature_not_available.
  it("enforces the identity limit for concurrent requests, counting the default identity", async () => {
    const responses = await Promise.all(
      Array.from({ length: 25 }, (_, index) => user.post("/agent/identities", { name: `Agent ${index}` })),
    );
    expect(responses.filter(({ status }) => status === 201)).toHaveLength(19);
    for (const { status, body } of responses.filter(({ status }) => status !== 201)) {
      expect([status, body.error_code]).toEqual([403, "feature_not_available"]);
    }
    expect((await user.get("/agent/identities")).body.agents).toHaveLength(20);
  });

  it("creates one identity per Idempotency-Key, and returns the first response to a repeated request", async () => {
    const headers = { "idempotency-key": "key-1" };
    const first = await user.post("/agent/identities", { name: "Reviewer" }, { headers });
    const second = await user.post("/agent/identities", { name: "Reviewer" }, { headers });
    expect(second).toMatchObject({ status: 201, headers: { "idempotent-replay": "true" } });
    expect(second.body).toEqual(first.body);
    expect(first.headers).not.toHaveProperty("idempotent-replay");
    expect((await user.post("/agent/identities", { name: "Other" }, { headers })).status).toBe(409);
    await user.delete(`/agent/identities/${first.body.uid}`);
    expect((await user.post("/agent/identities", { name: "Reviewer" }, { headers })).status).toBe(409);
  });

  it("returns the identity of the first attempt to an automatic retry", async () => {
    const first = await create("Reviewer");
    const retried = await user.post(
      "/agent/identities",
      { name: "Reviewer" },
      { headers: { "x-stainless-retry-count": "1" } },
    );
    expect(retried).toMatchObject({ status: 201, body: { uid: first.uid } });
  });

  // @contract general.clients.team-header
  // @contract general.team.reads
  // @contract general.team.creates
  it("requires X-Team-Uid from a caller in several teams", async () => {
    const both = await plane.person("Cleo", [plane.team, plane.otherTeam]);
    const cleo = createClient(plane, both.key);
    const unnamed = await cleo.post("/agent/identities", { name: "a" });
    expect(unnamed).toMatchObject({ status: 400, body: { errors: [{ path: "X-Team-Uid" }] } });
    for (const header of ["x-team-uid", "x-warp-team-uid"]) {
      const headers = { [header]: plane.otherTeam };
      const made = await cleo.post("/agent/identities", { name: header }, { headers });
      expect(made).toMatchObject({ status: 201, body: { scope: { uid: plane.otherTeam } } });
      expect((await cleo.get(`/agent/identities/${made.body.uid}`)).body).toEqual(made.body);
    }
    expect((await cleo.get("/agent/identities")).body.agents).toHaveLength(4);
    const ofOne = await cleo.get("/agent/identities", { headers: { "x-team-uid": plane.team } });
    expect(named(ofOne.body.agents)).toEqual(["Default agent"]);
  });

  it("returns 400 to a caller without a team", async () => {
    const loner = await plane.person("Zoe", []);
    const response = await createClient(plane, loner.key).post("/agent/identities", { name: "a" });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "X-Team-Uid" }] } });
  });
});

describe("GET /agent/identities", () => {
  // @contract general.lists.identities
  // @contract general.identities.default: A list of identities includes the default one, which counts towards the team's limit.
  it("lists the default identity first, then the others by creation", async () => {
    for (const name of ["c", "a", "b"]) {
      plane.clock.now += 1;
      await create(name);
    }
    const { body } = await user.get("/agent/identities");
    expect(named(body.agents)).toEqual(["Default agent", "c", "a", "b"]);
    expect(body).not.toHaveProperty("page_info");
  });

  it("lists only the caller's team, also for its agents", async () => {
    const agent = await plane.agent();
    expect(named((await createClient(plane, agent.key).get("/agent/identities")).body.agents)).toEqual([
      "Default agent",
      "builder",
    ]);
    expect(named((await createClient(plane, plane.otherKey).get("/agent/identities")).body.agents)).toEqual([
      "Default agent",
    ]);
  });

  // @contract general.lists.identities
  it("returns pages with tamper-evident cursors if the request has a limit", async () => {
    for (const name of ["a", "b", "c", "d"]) {
      plane.clock.now += 1;
      await create(name);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const { status, body } = await user.get(`/agent/identities?limit=2${cursor}`);
      expect(status).toBe(200);
      seen.push(...named(body.agents));
      cursor = body.page_info.has_next_page ? `&cursor=${body.page_info.next_cursor}` : "";
    } while (cursor !== "");
    expect(seen).toEqual(["Default agent", "a", "b", "c", "d"]);
    const { next_cursor } = (await user.get("/agent/identities?limit=2")).body.page_info;
    expect((await user.get(`/agent/identities?cursor=${next_cursor}x`)).status).toBe(400);
    expect((await createClient(plane, plane.otherKey).get(`/agent/identities?cursor=${next_cursor}`)).status).toBe(400);
    for (const query of ["limit=0", "limit=501", "limit=two"]) {
      expect((await user.get(`/agent/identities?${query}`)).body.errors).toMatchObject([{ path: "limit" }]);
    }
  });

  // @contract general.lists.4mib: No list response exceeds 4 MiB; the rest is on the next page.
  it("limits each page to 4 MiB and continues on the next page", async () => {
    await limit(100);
    for (let index = 0; index < 70; index++) await create(`Agent ${index}`, { prompt: "x".repeat(65_536) });
    const first = await user.get("/agent/identities");
    expect(Buffer.byteLength(JSON.stringify(first.body))).toBeLessThan(4 * 1024 * 1024);
    expect(first.body.page_info.has_next_page).toBe(true);
    const second = await user.get(`/agent/identities?cursor=${first.body.page_info.next_cursor}`);
    expect(first.body.agents.length + second.body.agents.length).toBe(71);
    expect(second.body.page_info).toEqual({ has_next_page: false });
  });
});

describe("PUT /agent/identities/{identityUid}", () => {
  // @contract identities.put: PUT of an identity returns 200 with the identity.
  // @contract identities.update.some: An update may contain any of them.
  // @contract identities.update.leaves: Absent and null members stay unchanged.
  it("changes the members in the body, and keeps absent and null ones", async () => {
    const { uid, created_at } = await create("Reviewer", defaults);
    const before = (await user.get(`/agent/identities/${uid}`)).body;
    plane.clock.now += 5_000;
    const response = await user.put(`/agent/identities/${uid}`, { description: "Changed", prompt: null, skills: null });
    expect(response.status).toBe(200);
    expect(response.body).toEqual({ ...before, description: "Changed", updated_at: "2026-05-18T19:00:05.000Z" });
    expect(response.body.created_at).toBe(created_at);
    expect((await user.get(`/agent/identities/${uid}`)).body).toEqual(response.body);
  });

  // @contract identities.update.clears: An empty text, list or object clears.
  it("clears members given as an empty string, list or object, and stores false", async () => {
    const { uid } = await create("Reviewer", defaults);
    const { body } = await user.put(`/agent/identities/${uid}`, {
      description: "",
      prompt: "",
      base_model: "",
      environment_id: "",
      skills: [],
      mcp_servers: {},
      harness: {},
      worker_host: "",
      secrets: [],
      on_behalf_of_enabled: false,
      credential_strategy: "",
    });
    expect(body).toMatchObject({ name: "Reviewer", skills: [], secrets: [], on_behalf_of_enabled: false });
    const gone = [
      "description",
      "prompt",
      "base_model",
      "mcp_servers",
      "harness",
      "worker_host",
      "credential_strategy",
    ];
    for (const name of gone) expect(body).not.toHaveProperty(name);
  });

  it("keeps stored values if the body contains their masks", async () => {
    const { uid, mcp_servers } = await create("Reviewer", defaults);
    await user.put(`/agent/identities/${uid}`, {
      mcp_servers: { ...mcp_servers, local: { command: "serve", env: { TOKEN: "secret-3" } } },
    });
    const item = await plane.table.get(keys.identity(plane.team, uid));
    expect(item?.["mcp_servers"]).toEqual({
      tracker: { url: "https://tracker.test/mcp", headers: { authorization: "Bearer secret-1" } },
      local: { command: "serve", env: { TOKEN: "secret-3" } },
    });
  });

  it("frees the old name and claims the new one", async () => {
    const { uid } = await create("Reviewer");
    await create("Builder");
    expect((await user.put(`/agent/identities/${uid}`, { name: "BUILDER" })).status).toBe(409);
    expect((await user.get(`/agent/identities/${uid}`)).body.name).toBe("Reviewer");
    expect((await user.put(`/agent/identities/${uid}`, { name: "REVIEWER" })).body.name).toBe("REVIEWER");
    expect((await user.put(`/agent/identities/${uid}`, { name: "Critic" })).body.name).toBe("Critic");
    await create("Reviewer");
    expect((await user.post("/agent/identities", { name: "critic" })).status).toBe(409);
  });

  it("returns 400 for wrong values and changes nothing", async () => {
    const { uid } = await create("Reviewer", defaults);
    const before = structuredClone(plane.table.all());
    for (const body of [{ name: "" }, { base_model: "gpt-0" }, { skills: ["x"] }, { harness: { type: 1 } }]) {
      expect((await user.put(`/agent/identities/${uid}`, body)).status).toBe(400);
    }
    expect(plane.table.all()).toEqual(before);
  });
});

describe("an identity beyond the plan's limit", () => {
  // @contract identities.limit.edit: An identity beyond the limit cannot be changed.
  // @contract identities.limit.oldest: The limit includes the oldest identities first.
  // @contract identities.limit.room: Deleting an identity makes the next one available.
  it("is listed as unavailable, cannot be changed, and becomes available when an older one is deleted", async () => {
    const made = [];
    for (const name of ["a", "b", "c"]) {
      plane.clock.now += 1;
      made.push(await create(name));
    }
    await limit(3);
    const shown = async () =>
      (await user.get("/agent/identities")).body.agents.map(({ available }: { available: boolean }) => available);
    expect(await shown()).toEqual([true, true, true, false]);
    const youngest = `/agent/identities/${made[2].uid}`;
    expect((await user.get(youngest)).body.available).toBe(false);
    expect(await user.put(youngest, { name: "d" })).toMatchObject({
      status: 403,
      body: { error_code: "feature_not_available" },
    });
    expect((await user.post("/agent/identities", { name: "e" })).status).toBe(403);
    expect((await user.delete(`/agent/identities/${made[0].uid}`)).status).toBe(204);
    expect(await shown()).toEqual([true, true, true]);
    expect((await user.put(youngest, { name: "d" })).status).toBe(200);
  });
});

describe("DELETE /agent/identities/{identityUid}", () => {
  // @contract identities.delete: DELETE returns 204.
  it("deletes the identity, its name and its place in the limit", async () => {
    const before = structuredClone(plane.table.all()).filter(({ sk }) => sk !== "IDEM");
    const { uid } = await create("Reviewer");
    const response = await user.delete(`/agent/identities/${uid}`);
    expect(response).toMatchObject({ status: 204, body: "" });
    expect(response.headers).not.toHaveProperty("content-type");
    expect((await user.get(`/agent/identities/${uid}`)).status).toBe(404);
    expect((await user.delete(`/agent/identities/${uid}`)).status).toBe(404);
    const noted = plane.table.all().map(({ last_used_at: _, ...item }) => item);
    expect(noted.filter(({ sk }) => sk !== "IDEM")).toEqual(before);
  });

  // @contract identities.delete.default: Deleting the default identity is 400.
  it("returns 400 for the default identity", async () => {
    const { uid } = await getDefault();
    expect(await user.delete(`/agent/identities/${uid}`)).toMatchObject({
      status: 400,
      body: { error_code: "invalid_request" },
    });
    expect((await user.put(`/agent/identities/${uid}`, { name: "Ours" })).status).toBe(200);
  });

  // @contract identities.delete.at-once: The next request with such a key is refused.
  it("deletes the identity's keys, which the next request refuses", async () => {
    const agent = await plane.agent();
    expect((await createClient(plane, agent.key).get("/agent/runs")).status).toBe(200);
    await user.delete(`/agent/identities/${agent.uid}`);
    expect((await createClient(plane, agent.key).get("/agent/runs")).status).toBe(401);
    expect(plane.table.all().filter((item) => JSON.stringify(item).includes(agent.uid))).toEqual([]);
  });

  // @contract errors.conflict.race: The conflict of concurrent changes is retryable.
  // @contract identities.delete.keys
  it("deletes everything or nothing", async () => {
    const agent = await plane.agent();
    const before = structuredClone(plane.table.all());
    const { transact } = plane.table;
    for (const failing of [0, 1, 2, 3, 4]) {
      Object.assign(plane.table, {
        transact: (writes: Parameters<typeof transact>[0]) =>
          transact(
            writes.map((write, index) => (index === failing ? { ...write, if: { never: { eq: true } } } : write)),
          ),
      });
      const response = await user.delete(`/agent/identities/${agent.uid}`);
      Object.assign(plane.table, { transact });
      expect(response).toMatchObject({ status: 409, body: { retryable: true } });
      expect(plane.table.all()).toEqual(before);
    }
    expect((await createClient(plane, agent.key).get("/agent/runs")).status).toBe(200);
  });
});

describe("rights to identities", () => {
  // @contract general.agent-key.identities: An agent key reads identities; its writes are 403.
  // @contract identities.who.people: People change identities and keys; agents can read them, and get 403 otherwise.
  it("allow agent keys to read only", async () => {
    const agent = await plane.agent();
    const client = createClient(plane, agent.key);
    const path = `/agent/identities/${agent.uid}`;
    expect((await client.get(path)).status).toBe(200);
    const before = structuredClone(plane.table.all());
    for (const response of [
      await client.post("/agent/identities", { name: "a" }),
      await client.put(path, { name: "a" }),
      await client.delete(path),
    ]) {
      expect(response).toMatchObject({ status: 403, body: { error_code: "not_authorized" } });
    }
    expect(plane.table.all()).toEqual(before);
  });

  it("return the same 404 for another team's, an unknown and a malformed uid", async () => {
    const { uid } = await create("Reviewer");
    const bo = createClient(plane, plane.otherKey);
    for (const call of [
      (path: string) => bo.get(path),
      (path: string) => bo.put(path, { name: "a" }),
      (path: string) => bo.delete(path),
    ]) {
      const responses = await Promise.all([uid, randomUUID(), "none"].map((id) => call(`/agent/identities/${id}`)));
      const problems = responses.map(({ status, body: { instance: _, ...body } }) => ({ status, body }));
      expect(problems[0]).toMatchObject({ status: 404 });
      expect(problems[1]).toEqual(problems[0]);
      expect(problems[2]).toEqual(problems[0]);
    }
  });
});
