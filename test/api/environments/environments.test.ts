import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { findOwnEnvironment } from "#shared/environments/write-environment.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";
import { nightly } from "../../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
let bo: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  plane.offered.push("fargate");
  user = createClient(plane);
  bo = createClient(plane, plane.otherKey);
});

const path = "/agent/environments";
const create = async (name = "Shop", body: Record<string, unknown> = {}, client = user) => {
  const response = await client.post(path, { name, ...body });
  expect(response.status).toBe(201);
  return response.body;
};
const names = async (query = "", client = user): Promise<string[]> =>
  (await client.get(`${path}${query}`)).body.environments.map((one: { config: { name: string } }) => one.config.name);
const boUid = async (): Promise<string> => (await bo.get("/agent/me")).body.uid;

const parts = {
  description: "The shop and its tests",
  docker_image: "node:24",
  repositories: [
    { url: "https://github.com/acme/shop.git", ref: "main", path: "shop" },
    { url: "https://git.test/tools" },
  ],
  setup_commands: ["npm ci", "npm run build"],
  variables: { NODE_ENV: "test", GREETING: "a\nb" },
  providers: {
    aws: { role_arn: "arn:aws:iam::123456789012:role/deploy" },
    gcp: {
      project_number: "12345",
      workload_identity_federation_pool_id: "runyard-pool",
      workload_identity_federation_provider_id: "runyard",
      service_account_email: "deploy@acme.iam.gserviceaccount.com",
    },
  },
  secrets: [{ name: "NPM_TOKEN" }],
};

describe("POST /agent/environments", () => {
  // @contract environments.list: GET /agent/environments returns environments with uid, config, last_updated and setup_failed.
  // @contract environments.last-run: last_task_run_timestamp is null, or the creation time of its latest run.
  // @contract environments.profiles: scope, creator and last_editor state its owner, creator and last editor.
  // @contract environments.body: POST and PUT accept the members of config flat.
  // @contract environments.routes: Environments can be created, read, changed and deleted.
  // @contract secrets.names
  it("creates an environment of the team with all its members", async () => {
    const made = await create("Shop", parts);
    const profile = { type: "user", uid: plane.user, display_name: "Ada", email: "ada@runyard.test" };
    const shown = {
      uid: made.uid,
      config: { name: "Shop", ...parts, github_repos: [{ owner: "acme", repo: "shop" }] },
      last_updated: "2026-05-18T19:00:00.000Z",
      setup_failed: false,
      last_task_run_timestamp: null,
      scope: { type: "Team", uid: plane.team },
      creator: profile,
      last_editor: profile,
    };
    expect(made).toEqual(shown);
    expect((await user.get(`${path}/${made.uid}`)).body).toEqual(shown);
    expect((await user.get(path)).body).toEqual({ environments: [shown] });
  });

  // @contract general.format.optional
  // @contract environments.repos: config has github_repos of owner and repo, and setup_commands, possibly empty.
  it("requires only a name; null equals an absent member", async () => {
    const { config } = await create("Plain", { description: null, github_repos: null, setup_commands: null });
    expect(config).toEqual({ name: "Plain", github_repos: [], setup_commands: [] });
  });

  // @contract runs.config.environment-repos: An environment's repositories are included; those on GitHub are listed as github_repos too.
  // @contract environments.repos
  it("creates repositories from github_repos, each once", async () => {
    const { config } = await create("Shop", {
      github_repos: [
        { owner: "Acme", repo: "shop" },
        { owner: "acme", repo: "web" },
      ],
      repositories: [{ url: "git@github.com:acme/shop.git", ref: "next" }],
    });
    expect(config.repositories).toEqual([
      { url: "git@github.com:acme/shop.git", ref: "next" },
      { url: "https://github.com/acme/web" },
    ]);
    expect(config.github_repos).toEqual([
      { owner: "acme", repo: "shop" },
      { owner: "acme", repo: "web" },
    ]);
  });

  it.each([
    ["no name", {}, "name"],
    ["a name that is not text", { name: 7 }, "name"],
    [
      "an owner that GitHub does not allow",
      { name: "a", github_repos: [{ owner: "a/b", repo: "c" }] },
      "github_repos[0].owner",
    ],
    ["a repository without a URL", { name: "a", repositories: [{ ref: "main" }] }, "repositories[0].url"],
    ["an empty setup command", { name: "a", setup_commands: ["true", ""] }, "setup_commands[1]"],
    ["a secret without a name", { name: "a", secrets: [{}] }, "secrets[0].name"],
    ["a team that is not a boolean", { name: "a", team: "no" }, "team"],
    ["more than 64 KiB", { name: "a", setup_commands: Array(9).fill("x".repeat(8000)) }, "body"],
    [
      "more than ten repositories of both kinds",
      {
        name: "a",
        repositories: Array.from({ length: 10 }, (_, index) => ({ url: `https://git.test/${index}` })),
        github_repos: [{ owner: "a", repo: "b" }],
      },
      "github_repos",
    ],
  ])("returns 400 naming the field, and stores nothing, for %s", async (_, body, field) => {
    const before = structuredClone(plane.table.all());
    const response = await user.post(path, body);
    expect(response).toMatchObject({ status: 400, body: { error_code: "invalid_request", errors: [{ path: field }] } });
    expect(plane.table.all()).toEqual(before);
  });

  it.each([
    ...["UPPER case", "Node:24", "node:", "node:24 ", "node:24\n", ":24", "/node", "a//b", "a/-b", "a__-b", "node:-1"],
    ...[
      `node:${"x".repeat(129)}`,
      "https://ghcr.io/acme/build",
      "-a.io/b",
      "a.io:port/b",
      "node@24",
      "node@sha256:abc",
    ],
  ])("returns 400 naming docker_image for %j, also in an update", async (docker_image) => {
    const { uid } = await create("Image", { docker_image: "node:24" });
    const refused = { status: 400, body: { errors: [{ path: "docker_image" }] } };
    expect(await user.post(path, { name: "Other", docker_image })).toMatchObject(refused);
    expect(await user.put(`${path}/${uid}`, { docker_image })).toMatchObject(refused);
    expect((await user.get(`${path}/${uid}`)).body.config.docker_image).toBe("node:24");
  });

  it.each([
    "node",
    "node:24",
    "library/node:24-bookworm_slim.1",
    "ghcr.io/acme/build",
    "ghcr.io/acme/build-tools__x.y/z:1.2",
    "localhost:5000/a",
    "UPPER/case",
    "[2001:db8::1]:5000/a:1",
    `node@sha256:${"a1".repeat(32)}`,
    `registry.example.com:443/a/b:24@sha256:${"A1".repeat(32)}`,
  ])("accepts the image %s", async (docker_image) => {
    expect((await create("Image", { docker_image })).config.docker_image).toBe(docker_image);
  });

  it("accepts 64 KiB and refuses one more byte, also in an update", async () => {
    const { uid } = await create("Shop");
    const stored = plane.table.all().find(({ sk }) => sk === "ENVIRONMENT");
    const { pk: _, sk: __, ...environment } = stored ?? { pk: "", sk: "" };
    const setup = (count: number) => Array(8).fill("x".repeat(8_000)).concat("x".repeat(count));
    const room =
      64 * 1024 -
      Buffer.byteLength(JSON.stringify({ ...environment, v: undefined, guests: {}, setup_commands: setup(0) }));
    const change = (count: number) => user.put(`${path}/${uid}`, { setup_commands: setup(count) });
    expect((await change(room + 1)).body.errors?.map(({ path }: { path: string }) => path)).toEqual(["body"]);
    expect((await change(room)).status).toBe(200);
  });

  // @contract errors.conflict.name
  // @contract environments.names: A name is unique in its scope: 409.
  it("requires a unique name per scope regardless of case, but not across scopes", async () => {
    await create("Shop");
    const again = await user.post(path, { name: " shop" });
    expect(again).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
    await create("Shop", { team: false });
    await create("Shop", {}, bo);
  });

  it("rejects the name of another personal environment", async () => {
    const mine = { name: "Workshop", team: false };
    expect((await user.post(path, mine)).status).toBe(201);
    expect((await user.post(path, { ...mine, description: "another" })).status).toBe(409);
    expect((await user.post(path, { ...mine, team: true })).status).toBe(201);
  });

  it("gives a name to exactly one of twenty concurrent requests", async () => {
    const responses = await Promise.all(Array.from({ length: 20 }, () => user.post(path, { name: "Shop" })));
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
    expect(await names()).toEqual(["Shop"]);
  });

  it("returns the first response to a repeated Idempotency-Key", async () => {
    const headers = { "idempotency-key": "one" };
    const first = await user.post(path, { name: "Shop" }, { headers });
    const second = await user.post(path, { name: "Shop" }, { headers });
    expect(second.body).toEqual(first.body);
    expect(second.headers["idempotent-replay"]).toBe("true");
  });
});

describe("GET /agent/environments", () => {
  // @contract general.lists.environments
  // @contract environments.sort: They are sorted by last_updated, or by name.
  it("sorts by the latest change, or by name, in pages", async () => {
    for (const name of ["beta", "Alpha", "gamma"]) {
      await create(name);
      plane.clock.now += 1000;
    }
    expect(await names()).toEqual(["gamma", "Alpha", "beta"]);
    expect(await names("?sort_by=name")).toEqual(["Alpha", "beta", "gamma"]);
    const { body } = await user.get(`${path}?sort_by=name&limit=2`);
    expect(body.page_info.has_next_page).toBe(true);
    expect(await names(`?sort_by=name&limit=2&cursor=${body.page_info.next_cursor}`)).toEqual(["gamma"]);
    expect((await user.get(`${path}?sort_by=last_updated&cursor=${body.page_info.next_cursor}`)).status).toBe(400);
  });

  // @contract environments.owned: The list contains the caller's environments.
  // @contract environments.team: team: false makes it personal.
  it("shows a personal environment only to its owner, and a team's to its members and agents", async () => {
    await create("Mine", { team: false });
    await create("Ours");
    const mia = createClient(plane, (await plane.person("Mia")).key);
    const agent = createClient(plane, (await plane.agent()).key);
    expect(await names("?sort_by=name")).toEqual(["Mine", "Ours"]);
    expect(await names("", mia)).toEqual(["Ours"]);
    expect(await names("", agent)).toEqual(["Ours"]);
    expect(await names("", bo)).toEqual([]);
  });
});

describe("PUT /agent/environments/{environmentUid}", () => {
  // @contract environments.profiles
  // @contract environments.body
  // @contract environments.put: PUT keeps absent members and clears empty ones.
  // @contract environments.routes
  it("changes members in the body, clears empty ones, and keeps the rest", async () => {
    const { uid } = await create("Shop", parts);
    plane.clock.now += 1000;
    const mia = await plane.person("Mia");
    const { status, body } = await createClient(plane, mia.key).put(`${path}/${uid}`, {
      name: "Store",
      description: "",
      docker_image: null,
      github_repos: [],
      secrets: [],
    });
    expect(status).toBe(200);
    expect(body.config).toEqual({
      name: "Store",
      variables: parts.variables,
      providers: parts.providers,
      docker_image: "node:24",
      github_repos: [],
      repositories: [{ url: "https://git.test/tools" }],
      setup_commands: parts.setup_commands,
    });
    expect(body).toMatchObject({
      last_updated: "2026-05-18T19:00:01.000Z",
      creator: { uid: plane.user },
      last_editor: { uid: mia.uid },
    });
  });

  // @contract environments.names
  it("frees the old name, and refuses a taken one", async () => {
    const { uid } = await create("Shop");
    await create("Other");
    expect((await user.put(`${path}/${uid}`, { name: "OTHER" })).status).toBe(409);
    expect((await user.put(`${path}/${uid}`, { name: "Store" })).status).toBe(200);
    await create("Shop");
  });
});

describe("DELETE /agent/environments/{environmentUid}", () => {
  // @contract environments.routes
  it("deletes the environment with its guests and its name", async () => {
    const before = structuredClone(plane.table.all());
    const { uid } = await create("Shop", parts);
    await user.post(`${path}/${uid}/share`, { user_uid: await boUid() });
    await user.post(`${path}/${uid}/share`, { link: true });
    expect((await user.delete(`${path}/${uid}`)).status).toBe(204);
    expect((await user.get(`${path}/${uid}`)).status).toBe(404);
    const kept = plane.table.all().filter(({ sk }) => sk !== "IDEM" && sk !== "KEY");
    expect(kept).toEqual(before.filter(({ sk }) => sk !== "IDEM" && sk !== "KEY"));
  });

  it("is deleted with its team", async () => {
    const { uid } = await create();
    await user.post(`${path}/${uid}/share`, { user_uid: await boUid() });
    expect((await user.delete(`/agent/teams/${plane.team}`)).status).toBe(204);
    expect((await bo.get(`${path}/${uid}`)).status).toBe(404);
    expect(await names("", bo)).toEqual([]);
  });
});

it("is not found as an own environment by a caller who is not a person", async () => {
  const { uid } = await create();
  const read = async (key: string) => {
    const principal = await plane.ports.principals.authenticate(`Bearer ${key}`, undefined);
    return findOwnEnvironment(uid, principal, plane.ports);
  };
  expect(await read(plane.key)).toMatchObject({ uid, name: "Shop" });
  await expect(read((await plane.agent()).key)).rejects.toMatchObject({ code: "resource_not_found" });
});

describe("another team's environment", () => {
  it("returns the same 404 as a missing one to every request", async () => {
    const { uid } = await create();
    const requestAll = async (id: string) => {
      const responses = [
        await bo.get(`${path}/${id}`),
        await bo.get(`${path}/${id}?link=${id}.x`),
        await bo.put(`${path}/${id}`, { name: "Stolen" }),
        await bo.delete(`${path}/${id}`),
        await bo.post(`${path}/${id}/share`, { link: true }),
        await bo.delete(`${path}/${id}/share`, { body: { link: true } }),
        await bo.post("/agent/runs", { prompt: "hello", config: { environment_id: id } }),
      ];
      return responses.map(({ status, body }) => [status, body.error_code, body.detail?.replace(id, "it")]);
    };
    expect(await requestAll(uid)).toEqual(await requestAll(randomUUID()));
  });
});

describe("…/share", () => {
  // @contract errors.own
  // @contract environments.guest: It contains environments that were shared with the caller.
  // @contract environments.share-user: POST …/share with user_uid makes that person a guest, and DELETE revokes it.
  it("makes a person a guest, who can read it and run in it, but not change it", async () => {
    const { uid } = await create("Shop", { ...parts, team: false });
    const guest = await boUid();
    expect(await user.post(`${path}/${uid}/share`, { user_uid: guest })).toMatchObject({ status: 200, body: {} });
    expect((await user.post(`${path}/${uid}/share`, { user_uid: guest })).status).toBe(200);
    expect(await names("", bo)).toEqual(["Shop"]);
    expect((await bo.get(`${path}/${uid}`)).status).toBe(200);
    expect((await bo.put(`${path}/${uid}`, { name: "Mine" })).status).toBe(403);
    expect((await bo.delete(`${path}/${uid}`)).status).toBe(403);
    expect((await bo.post(`${path}/${uid}/share`, { link: true })).status).toBe(403);
    const run = await bo.post("/agent/runs", { prompt: "hello", config: { environment_id: uid } });
    expect(run.status).toBe(200);
    // A guest's run is not visible to everyone who sees the environment.
    expect((await user.get(`${path}/${uid}`)).body).not.toHaveProperty("last_task_created");

    expect((await user.delete(`${path}/${uid}/share`, { body: { user_uid: guest } })).status).toBe(200);
    expect((await user.delete(`${path}/${uid}/share`, { body: { user_uid: guest } })).status).toBe(200);
    expect((await bo.get(`${path}/${uid}`)).status).toBe(404);
    expect(await names("", bo)).toEqual([]);
  });

  it("gives a guest in another team no right to change a team's environment", async () => {
    const { uid } = await create();
    await user.post(`${path}/${uid}/share`, { user_uid: await boUid() });
    const changes = [
      await bo.put(`${path}/${uid}`, { name: "Mine" }),
      await bo.delete(`${path}/${uid}`),
      await bo.post(`${path}/${uid}/share`, { link: true }),
    ];
    expect(changes.map(({ status }) => status)).toEqual([403, 403, 403]);
    expect(await names("", bo)).toEqual(["Shop"]);
  });

  // @contract environments.link: It contains environments that the caller's link opens.
  // @contract environments.share-link: POST …/share with link: true returns a link, and DELETE revokes it.
  // @contract environments.link.read: GET with link=TOKEN returns it.
  it("shows it to everyone with the link, until the link is revoked or replaced", async () => {
    const { uid } = await create();
    const share = async (): Promise<string> => (await user.post(`${path}/${uid}/share`, { link: true })).body.link;
    const target = (link: string) => link.slice(plane.ports.baseUrl.length);
    const first = await share();
    expect((await bo.get(target(first))).status).toBe(200);
    expect(await names(new URL(first).search, bo)).toEqual(["Shop"]);
    expect((await bo.get(`${path}/${uid}`)).status).toBe(404);
    const second = await share();
    expect((await bo.get(target(first))).status).toBe(404);
    expect((await bo.get(target(second))).status).toBe(200);
    expect((await user.delete(`${path}/${uid}/share`, { body: { link: true } })).status).toBe(200);
    expect((await bo.get(target(second))).status).toBe(404);
    expect(await names(new URL(second).search, bo)).toEqual([]);
  });

  // @contract environments.share-one: A share is for one person or for a link, not for both.
  it.each([
    ["neither", {}],
    ["both", { link: true, user_uid: randomUUID() }],
    ["a link that is false", { link: false }],
    ["nobody", { user_uid: randomUUID() }],
    ["a malformed user_uid", { user_uid: "mia" }],
  ])("returns 400 for %s", async (_, body) => {
    const { uid } = await create();
    expect((await user.post(`${path}/${uid}/share`, body)).status).toBe(400);
  });

  it("accepts 50 guests and refuses one more, also if the last place is taken concurrently", async () => {
    const { uid } = await create();
    const people = await Promise.all(Array.from({ length: 52 }, (_, index) => plane.person(`Gus${index}`, [])));
    const share = async () => user.post(`${path}/${uid}/share`, { user_uid: people.pop()?.uid });
    while (people.length > 3) expect((await share()).status).toBe(200);
    const { transact } = plane.table;
    vi.spyOn(plane.table, "transact").mockImplementationOnce(async (writes) => {
      expect((await share()).status).toBe(200);
      return transact(writes);
    });
    expect(await share()).toMatchObject({ status: 409, body: { retryable: true } });
    expect(await share()).toMatchObject({ status: 409, body: { error_code: "conflict", retryable: false } });
  });

  it("rejects the owner as a guest", async () => {
    const { uid } = await create("Shop", { team: false });
    expect((await user.post(`${path}/${uid}/share`, { user_uid: plane.user })).status).toBe(400);
  });
});

describe("POST /agent/runs in an environment", () => {
  const run = (config: Record<string, unknown>, client = user) =>
    client.post("/agent/runs", { prompt: "hello", config });
  const getConfig = async (id: string) => (await user.get(`/agent/runs/${id}`)).body.agent_config;

  // @contract runs.config.environment-repos
  // @contract runs.config.resolved
  it("uses its repositories, unless the run names some", async () => {
    const { uid } = await create("Shop", parts);
    const { body } = await run({ environment_id: uid });
    expect(await getConfig(body.run_id)).toMatchObject({ environment_id: uid, repositories: parts.repositories });
    const own = await run({ environment_id: uid, repositories: [{ url: "https://git.test/own" }] });
    expect((await getConfig(own.body.run_id)).repositories).toEqual([{ url: "https://git.test/own" }]);
  });

  it("passes the setup commands as of the run's creation to the sandbox", async () => {
    const { uid } = await create("Shop", parts);
    const { body } = await run({ environment_id: uid });
    await user.put(`${path}/${uid}`, { setup_commands: [] });
    const resolved = await createHarness(plane, await plane.dispatch(body.run_id)).resolve();
    expect(resolved.body.context.setup_commands).toEqual(parts.setup_commands);
  });

  it("passes the variables as of the run's creation to the sandbox", async () => {
    const { uid } = await create("Shop", parts);
    const { body } = await run({ environment_id: uid });
    await user.put(`${path}/${uid}`, { variables: {} });
    expect((await user.get(`${path}/${uid}`)).body.config).not.toHaveProperty("variables");
    const resolved = await createHarness(plane, await plane.dispatch(body.run_id)).resolve();
    expect(resolved.body.context.variables).toEqual(parts.variables);
  });

  // @contract environments.providers: config.providers names the cloud providers that commands sign in to.
  it("passes the providers as of the run's creation to the sandbox", async () => {
    const { uid } = await create("Shop", parts);
    const { body } = await run({ environment_id: uid });
    await user.put(`${path}/${uid}`, { providers: {} });
    expect((await user.get(`${path}/${uid}`)).body.config).not.toHaveProperty("providers");
    const resolved = await createHarness(plane, await plane.dispatch(body.run_id)).resolve();
    expect(resolved.body.context.providers).toEqual(parts.providers);
  });

  it("refuses providers whose names a cloud does not have", async () => {
    const gcp = { ...parts.providers.gcp, project_number: "acme", service_account_email: "deploy@example.com" };
    const { status, body } = await user.post(path, { name: "Shop", providers: { aws: { role_arn: "deploy" }, gcp } });
    expect(status).toBe(400);
    expect(body.errors).toEqual([
      { path: "providers.aws.role_arn", message: "must be the ARN of a role of IAM" },
      { path: "providers.gcp.project_number", message: "must be the number of a project" },
      { path: "providers.gcp.service_account_email", message: "must be the address of a service account" },
    ]);
  });

  it("has no name as a variable and as a secret", async () => {
    const variables = { A: "1", B: "2" };
    const both = await user.post(path, { name: "Both", variables, secrets: [{ name: "C" }, { name: "B" }] });
    expect([both.status, both.body.errors]).toEqual([
      400,
      [{ path: "variables.B", message: "is also the name of a secret of the environment" }],
    ]);
    const { uid } = await create("One", { variables });
    const added = await user.put(`${path}/${uid}`, { secrets: [{ name: "C" }, { name: "A" }] });
    expect([added.status, added.body.errors]).toEqual([
      400,
      [{ path: "secrets[1].name", message: "is also the name of a variable of the environment" }],
    ]);
    const exchanged = await user.put(`${path}/${uid}`, { variables: { B: "3" }, secrets: [{ name: "A" }] });
    expect([exchanged.status, exchanged.body.config.variables]).toEqual([200, { B: "3" }]);
  });

  it.each([
    [{ "A-B": "1" }],
    [{ "1A": "1" }],
    [{ PATH: "/tmp" }],
    [{ LD_PRELOAD: "x.so" }],
    [{ RUNYARD_OUTPUT: "/tmp" }],
    [{ A: "\0" }],
    [{ A: "x".repeat(8193) }],
    [Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`A${index}`, ""]))],
  ])("refuses the variables %.60j", async (variables) => {
    const { status, body } = await user.post(path, { name: "Wrong", variables });
    expect([status, body.errors[0].path]).toEqual([400, expect.stringMatching(/^variables/)]);
  });

  // @contract environments.last-run
  // @contract environments.last-task: last_task_created has id, title, state and times of that run in its current state.
  // @contract environments.setup-failed: setup_failed shows that the latest run's setup failed.
  it("records the run with the environment", async () => {
    const { uid } = await create();
    plane.clock.now += 1000;
    const { body } = await user.post("/agent/runs", {
      prompt: "hello",
      title: "Build",
      config: { environment_id: uid },
    });
    const shown = (await user.get(`${path}/${uid}`)).body;
    expect(shown).toMatchObject({
      last_updated: "2026-05-18T19:00:00.000Z",
      last_task_run_timestamp: "2026-05-18T19:00:01.000Z",
      last_task_created: { id: body.run_id, title: "Build", state: "QUEUED" },
      setup_failed: false,
    });
    const harness = createHarness(plane, await plane.dispatch(body.run_id));
    await harness.resolve();
    await harness.support("finish-task", { success: false, summary: "no", error_code: "environment_setup_failed" });
    const failed = { setup_failed: true, last_task_created: { state: "FAILED" } };
    expect((await user.get(`${path}/${uid}`)).body).toMatchObject(failed);
  });

  // @contract runs.list.environment: environment_id finds runs by environment; empty-environment those without one.
  it("is found by environment_id, and a run without one by empty-environment", async () => {
    const { uid } = await create();
    const inside = (await run({ environment_id: uid })).body.run_id;
    const outside = (await run({})).body.run_id;
    const found = async (filter: string) =>
      (await user.get(`/agent/runs?environment_id=${filter}`)).body.runs.map((one: { run_id: string }) => one.run_id);
    expect(await found(uid)).toEqual([inside]);
    expect(await found("empty-environment")).toEqual([outside]);
  });

  it.each(["none", randomUUID()])("returns 400 naming config.environment_id for %s", async (environment_id) => {
    const response = await run({ environment_id });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "config.environment_id" }] } });
  });

  // @contract runs.config.resolved
  // @contract identities.defaults.used
  it("uses the identity's environment if the run names none, and is refused once it is deleted", async () => {
    const { uid } = await create("Shop", parts);
    const identity = (await user.post("/agent/identities", { name: "Bot", environment_id: uid })).body.uid;
    const send = () => user.post("/agent/runs", { prompt: "hello", agent_identity_uid: identity });
    expect(await getConfig((await send()).body.run_id)).toMatchObject({ environment_id: uid });
    await user.delete(`${path}/${uid}`);
    expect(await send()).toMatchObject({ status: 400, body: { errors: [{ path: "config.environment_id" }] } });
  });

  // @contract runs.config.resolved
  // @contract teams.default-environment: default_environment_id is the environment of runs that name none.
  it("uses the team's default environment if none is named; it must be the team's own", async () => {
    const { uid } = await create("Shop", parts);
    const mine = await create("Mine", { team: false });
    const set = (default_environment_id: string) =>
      user.put(`/agent/teams/${plane.team}`, { settings: { default_environment_id } });
    expect(await set(mine.uid)).toMatchObject({
      status: 400,
      body: { errors: [{ path: "settings.default_environment_id" }] },
    });
    expect((await set(uid)).status).toBe(200);
    expect(await getConfig((await run({})).body.run_id)).toMatchObject({
      environment_id: uid,
      repositories: parts.repositories,
    });
  });

  it("creates no run if the environment is deleted concurrently", async () => {
    const { uid } = await create();
    const { transact } = plane.table;
    vi.spyOn(plane.table, "transact").mockImplementationOnce(async (writes) => {
      await user.delete(`${path}/${uid}`);
      return transact(writes);
    });
    const response = await run({ environment_id: uid });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "config.environment_id" }] } });
    expect((await user.get("/agent/runs")).body.runs).toEqual([]);
  });

  it("gives children created with the run's key the run's environment and no other of its owner", async () => {
    const [own, other, mine] = [await create("Own"), await create("Other"), await create("Mine", { team: false })];
    const { body } = await run({ environment_id: own.uid });
    const harness = createHarness(plane, await plane.dispatch(body.run_id));
    await harness.resolve();
    const child = (environment_id: string) =>
      createClient(plane, harness.key).post("/agent/runs", {
        prompt: "child",
        parent_run_id: body.run_id,
        config: { environment_id },
      });
    expect((await child(own.uid)).status).toBe(200);
    expect((await child(other.uid)).status).toBe(403);
    expect((await child(mine.uid)).status).toBe(403);
  });
});

describe("a schedule in an environment", () => {
  const schedule = (environment_id: string) =>
    user.post("/agent/schedules", { ...nightly, agent_config: { environment_id } });

  it("requires an existing environment", async () => {
    const response = await schedule(randomUUID());
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "agent_config.environment_id" }] } });
  });

  it("creates runs in it, and none once it is deleted", async () => {
    const { uid } = await create("Shop", parts);
    const { id } = (await schedule(uid)).body;
    const run = await user.post(`/agent/schedules/${id}/run`);
    const { agent_config } = (await user.get(`/agent/runs/${run.body.run_id}`)).body;
    expect(agent_config).toMatchObject({ environment_id: uid, repositories: parts.repositories });
    expect((await user.get(`${path}/${uid}`)).body.last_task_created.id).toBe(run.body.run_id);
    await user.delete(`${path}/${uid}`);
    const refused = await user.post(`/agent/schedules/${id}/run`);
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: "agent_config.environment_id" }] } });
  });
});
