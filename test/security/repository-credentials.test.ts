import { describe, expect, it } from "vitest";
import { chooseToken } from "#harness/git/repository-access.ts";
import { routes } from "#infra/routes.ts";
import { hasCredentials, maskRepositories, maskUrlUsers } from "#shared/wire/repository-url.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../support/control-plane.ts";
import { createHarness, createRun, deliver, startedRun } from "../support/execution.ts";
import { fireAt, listRuns, makeSchedule, nightly } from "../support/schedules.ts";
import { storeEnvironmentRepositories, storeScheduleRepositories } from "../support/stored-repositories.ts";

const SECRET = "hunter2-hunter2";

/** Every way to write a credential into the URL of a repository. */
const withCredentials = [
  `https://${SECRET}@github.com/acme/shop`,
  `https://x-access-token:${SECRET}@github.com/acme/shop`,
  `https://ada:${SECRET}@git.example.com/acme/shop.git`,
  `https://ada%3A${SECRET}@git.example.com/acme/shop`,
  `https://ada:a@b@${SECRET}@git.example.com/acme/shop`,
  `https:///ada:${SECRET}@git.example.com/acme/shop`,
  `https://\\ada:${SECRET}@git.example.com/acme/shop`,
  `https://:${SECRET}@git.example.com/shop`,
  `https://ada:${SECRET}@git.example.com?acme/shop`,
  `https://ada:${SECRET}@git.example.com#acme/shop`,
  `ssh://git:${SECRET}@git.example.com/acme/shop`,
  `ssh://git%3a${SECRET}@git.example.com:22/acme/shop`,
  `https://git.example.com/acme/shop?private_token=${SECRET}`,
  `https://git.example.com/acme/shop?depth=1&access_token=${SECRET}`,
  `https://git.example.com/acme/shop?X-Auth=1;password=${SECRET}`,
];

const withoutCredentials = [
  "https://github.com/acme/shop",
  "https://git.example.com:8443/acme/@scope/shop.git",
  "https://git.example.com/acme/shop?path=@a/b&version=2",
  "ssh://git@github.com/acme/shop",
  "ssh://git@git.example.com:2222/acme/shop@v2",
  "git@github.com:acme/shop.git",
  "file:///srv/git/a@b/shop.git",
];

/** Every place that takes the URL of a repository, with the path of the member. */
const places = (url: string) =>
  [
    ["POST", "/agent/runs", { prompt: "p", config: { repositories: [{ url }] } }, "config.repositories[0].url"],
    ["POST", "/agent/run", { prompt: "p", config: { repositories: [{ url }] } }, "config.repositories[0].url"],
    [
      "POST",
      "/agent/schedules",
      { ...nightly, name: url, agent_config: { repositories: [{ url }] } },
      "agent_config.repositories[0].url",
    ],
    ["POST", "/agent/environments", { name: url, repositories: [{ url }] }, "repositories[0].url"],
  ] as const;

async function changes(plane: TestControlPlane, url: string) {
  const schedule = await makeSchedule(plane);
  const { body: environment } = await createClient(plane).post("/agent/environments", { name: "Shop" });
  const agent_config = { repositories: [{ url: "https://github.com/acme/web" }, { url }] };
  return [
    [
      "PUT",
      `/agent/schedules/${schedule.id}`,
      { ...nightly, enabled: true, agent_config },
      "agent_config.repositories[1].url",
    ],
    ["PUT", `/agent/environments/${environment.uid}`, { repositories: [{ url }] }, "repositories[0].url"],
  ] as const;
}

describe("a repository URL with a credential", () => {
  // @contract runs.config.repository-credentials: A repository URL with a credential is 400 and names token_secret.
  it.each(withCredentials)("is refused with 400 in every request, and stored nowhere: %s", async (url) => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    for (const [method, target, body, path] of [...places(url), ...(await changes(plane, url))]) {
      const response = await (method === "PUT" ? user.put(target, body) : user.post(target, body));
      expect(response, `${method} ${target}`).toMatchObject({
        status: 400,
        body: { errors: [{ path, message: expect.stringContaining("token_secret") }] },
      });
      expect(JSON.stringify(response)).not.toContain(SECRET);
    }
    const listed = await user.get(`/agent?repo=${encodeURIComponent(url)}`);
    expect(listed).toMatchObject({ status: 400, body: { errors: [{ path: "repo" }] } });
    expect(JSON.stringify([listed, plane.table.all()])).not.toContain(SECRET);
  });

  it.each(["owner", "repo"])("is refused in github_repos, written as the %s", async (member) => {
    const plane = await createTestControlPlane();
    const github_repos = [{ owner: "acme", repo: "shop", [member]: `x:${SECRET}@acme` }];
    const response = await createClient(plane).post("/agent/environments", { name: "Shop", github_repos });
    expect(response).toMatchObject({
      status: 400,
      body: { errors: [{ path: `github_repos[0].${member}`, message: expect.stringContaining("token_secret") }] },
    });
    expect(JSON.stringify(response)).not.toContain(SECRET);
  });

  it.each(withoutCredentials)("is not recognized in a URL without one: %s", async (url) => {
    const plane = await createTestControlPlane();
    for (const [, target, body] of places(url)) {
      const { status, body: made } = await createClient(plane).post(target, body);
      expect([200, 201], `${target}: ${JSON.stringify(made)}`).toContain(status);
    }
    const run = await createRun(plane, { prompt: "p", config: { repositories: [{ url }] } });
    expect((await createClient(plane).get(`/agent/runs/${run}`)).body.agent_config.repositories).toEqual([{ url }]);
  });

  it("is recognized in time proportional to the URL's length", async () => {
    const plane = await createTestControlPlane();
    const started = process.cpuUsage();
    for (const text of ["https:///////", "https://a:a@", "https://a/?token", "ssh://a%3a", "https://\\\\"]) {
      const url = text.repeat(Math.floor(1_000_000 / text.length));
      const body = { prompt: "p", config: { repositories: [{ url }] } };
      expect((await createClient(plane).post("/agent/runs", body)).status).toBe(400);
    }
    expect(process.cpuUsage(started).user).toBeLessThan(10_000_000);
  });
});

describe("a repository URL that was stored with a credential", () => {
  const stored = withCredentials.slice(0, 10).map((url) => ({ url }));

  it("is masked in every response about its environment and the environment's runs", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const mia = createClient(plane, (await plane.person("Mia")).key);
    const { uid } = (await user.post("/agent/environments", { name: "Shop" })).body;
    await storeEnvironmentRepositories(plane, uid, stored);
    const schedule = await makeSchedule(plane, { agent_config: { environment_id: uid } });
    const harness = await startedRun(plane, { prompt: "p", config: { environment_id: uid } });
    const resolved = await harness.resolve();
    expect(resolved.body.context.agent_config.repositories, "the URL that the sandbox clones").toEqual(stored);
    await harness.finish();
    await deliver(plane);
    const link = (await user.post(`/agent/environments/${uid}/share`, { link: true })).body.link;
    const query = new URL(link).search;
    const bo = createClient(plane, plane.otherKey);
    const responses = [
      ...(await Promise.all(listReads(harness.run_id).map((target) => user.get(target)))),
      await user.get(`/agent/environments/${uid}`),
      await mia.get("/agent/environments"),
      await bo.get(`/agent/environments/${uid}${query}`),
      await bo.get(`/agent/environments${query}`),
      await user.get(`/agent/schedules/${schedule.id}`),
      await user.get("/agent/schedules"),
      await user.put(`/agent/environments/${uid}`, { description: "the shop" }),
      await user.put(`/agent/schedules/${schedule.id}`, {
        ...nightly,
        enabled: true,
        agent_config: { environment_id: uid },
      }),
      await user.get("/agent"),
      await bo.get(`/agent${query}`),
    ];
    for (const response of responses) expect(response.status).toBeLessThan(400);
    expect(JSON.stringify(responses)).not.toContain(SECRET);
    const shown = (await user.get(`/agent/environments/${uid}`)).body.config.repositories;
    expect(shown[1]).toEqual({ url: "https://***@github.com/acme/shop" });
    const files = [...plane.files.files].filter(([name]) => name.includes("transcript"));
    expect(files).not.toHaveLength(0);
    expect(files.map(([, bytes]) => Buffer.from(bytes).toString()).join("")).not.toContain(SECRET);
  });

  it("is masked in every response about its schedule and the schedule's runs", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const { id } = await makeSchedule(plane);
    await storeScheduleRepositories(plane, id, stored.slice(0, 3));
    await fireAt(plane, id, "2026-05-19T02:30:00.000Z");
    const [run] = await listRuns(plane, id);
    const responses = await Promise.all(
      [`/agent/schedules/${id}`, "/agent/schedules", `/agent/schedules/${id}/ticks`, ...listReads(run.run_id)].map(
        (target) => user.get(target),
      ),
    );
    expect(JSON.stringify(responses)).not.toContain(SECRET);
    expect(run.agent_config.repositories[0]).toEqual({ url: "https://***@github.com/acme/shop" });
    const harness = createHarness(plane, await plane.dispatch(run.run_id));
    const { body } = await harness.resolve();
    expect(body.context.agent_config.repositories).toEqual(stored.slice(0, 3));
  });

  it("stays masked for a guest of the environment who executes a run locally", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const { uid } = (await user.post("/agent/environments", { name: "Shop" })).body;
    await storeEnvironmentRepositories(plane, uid, stored);
    const guest = await plane.person("Gus", [plane.otherTeam]);
    await user.post(`/agent/environments/${uid}/share`, { user_uid: guest.uid });
    const request = { prompt: "p", execution_location: "LOCAL", config: { environment_id: uid } };
    const { body } = await createClient(plane, guest.key).post("/agent/runs", request);
    const own = createClient(plane, body.run_key);
    const resolved = await own.post("/harness-support/resolve-prompt", {});
    expect(resolved.status).toBe(200);
    expect(resolved.body.context.agent_config.repositories).toHaveLength(stored.length);
    expect(JSON.stringify(resolved)).not.toContain(SECRET);
  });

  it("is refused when it is sent back masked, so that no mask replaces a credential", async () => {
    const plane = await createTestControlPlane();
    const { uid } = (await createClient(plane).post("/agent/environments", { name: "Shop" })).body;
    await storeEnvironmentRepositories(plane, uid, stored.slice(0, 1));
    const { config } = (await createClient(plane).get(`/agent/environments/${uid}`)).body;
    const response = await createClient(plane).put(`/agent/environments/${uid}`, { repositories: config.repositories });
    expect(response).toMatchObject({ status: 400, body: { detail: expect.stringContaining("token_secret") } });
  });
});

describe("a path that looks like a parameter", () => {
  it("is not a credential, and stays readable before actual credentials", () => {
    const url = "https://git.example/acme/token=1";
    expect(hasCredentials(url)).toBe(false);
    expect(maskRepositories([{ url: `${url}?token=2;auth=3` }])).toEqual([{ url: `${url}?token=***;auth=***` }]);
  });
});

describe("the harness", () => {
  it.each(withCredentials.slice(0, 10))("does not repeat the credential of %s in an error", (url) => {
    expect(() => chooseToken({ url, token_secret: "TOKEN" }, {})).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(SECRET) }),
    );
    expect(maskUrlUsers(`fatal: unable to access '${url}/': 403`)).not.toContain(SECRET);
  });
});

/** All routes that read a run. */
const listReads = (run: string): string[] => [
  "/agent/runs",
  ...routes
    .filter(({ method, path }) => method === "GET" && path.startsWith("/agent/runs/{runId}"))
    .map(({ path }) => path.replace("{runId}", run)),
];
