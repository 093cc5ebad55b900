import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import type { TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, workingRun } from "../../support/execution.ts";
import { type Hooks, signed } from "../../support/hooks.ts";
import { connectPlane, startSystems, type TestSystems } from "../../support/systems-stand-in.ts";

const SECRET = "a-secret-of-the-other-system";
const URL = "https://github.com/acme/shop/pull/7";
const REPOSITORIES = [
  { url: "https://github.com/Acme/shop.git", ref: "main", token_secret: "github" },
  { url: "https://github.com/acme/other" },
];

let systems: TestSystems;
let plane: TestControlPlane;
let user: Client;
let hooks: Hooks;
beforeAll(async () => {
  systems = await startSystems();
});
afterAll(async () => systems[Symbol.asyncDispose]());
beforeEach(async () => {
  ({ plane, user, hooks } = await connectPlane(systems));
  systems.permissions.set("acme/shop/ada", "write");
  systems.heads.set("acme/shop#7", "a".repeat(40));
});

const create = async (body: object = {}): Promise<string> => {
  const agent_config = {
    repositories: REPOSITORIES,
    secrets: [{ name: "slack" }],
    mcp_servers: { docs: { url: "https://mcp.example.com", headers: { Authorization: "Bearer of-the-team" } } },
  };
  const members = { kind: "github", credential: "github", agent_config, prompt: "Look at {{ event.text }}" };
  const created = await hooks.create({ secret: SECRET, ...members, ...body });
  expect(created.status).toBe(201);
  return created.body.uid;
};

let count = 0;
const send = async (uid: string, type: string, payload: object) => {
  plane.clock.now += 1000;
  const common = {
    repository: { id: 1, full_name: "acme/shop", private: true },
    sender: { login: "ada", type: "User" },
  };
  const body = JSON.stringify({ ...common, count: ++count, ...payload });
  expect((await hooks.send(uid, body, signed.github(SECRET, body, type, `delivery-${count}`))).status).toBe(200);
  return (await hooks.deliveries(uid))[0];
};
const pull = (head: object, changes: object = {}) => ({
  action: "opened",
  pull_request: {
    number: 7,
    html_url: URL,
    state: "open",
    draft: false,
    merged: false,
    updated_at: "2026-05-18T19:00:00Z",
    head,
    base: { ref: "main", repo: { id: 1 } },
    ...changes,
  },
});
const comment = () => ({
  action: "created",
  issue: { number: 7, pull_request: { html_url: URL } },
  comment: { id: 3, body: "hi" },
});
const OWN = { ref: "fix", repo: { id: 1 } };
const FORK = { ref: "fix", repo: { id: 2 } };

describe("a run of a pull request", () => {
  const readBody = async (delivery: { run_id: string }) => (await plane.ports.runs.headAndBody(delivery.run_id))?.body;

  it("works on its head branch, and leaves other repositories as they are", async () => {
    const body = await readBody(await send(await create(), "pull_request", pull(OWN)));
    expect(body?.config.repositories).toEqual([{ ...REPOSITORIES[0], ref: "fix" }, REPOSITORIES[1]]);
    expect(body?.secrets).toEqual(expect.arrayContaining([{ name: "slack" }]));
  });

  it("is shown with that branch by a test of the trigger", async () => {
    const tested = await user.post(`/agent/triggers/${await create()}/test`, {
      headers: { "x-github-event": "pull_request" },
      payload: { ...pull(OWN), repository: { id: 1, full_name: "acme/shop" }, sender: { login: "ada", type: "User" } },
    });
    expect(tested.body.run_request.config.repositories[0]).toMatchObject({ ref: "fix" });
  });

  it.each([
    ["of a fork", FORK],
    ["of a deleted fork", { ref: "fix", repo: null }],
  ])("%s has no secrets, no servers and no token of a repository", async (_, head) => {
    const body = await readBody(await send(await create(), "pull_request", pull(head)));
    expect(body?.config.repositories).toEqual([
      { url: REPOSITORIES[0]?.url, ref: "refs/pull/7/head" },
      REPOSITORIES[1],
    ]);
    expect(body).not.toHaveProperty("secrets");
    expect(body?.config).not.toHaveProperty("secrets");
    expect(body?.config).not.toHaveProperty("mcp_servers");
  });

  it("of a fork gets no identity token and creates no children, which would have servers and tokens again", async () => {
    const agent = await plane.agent();
    const mcp_servers = { docs: { url: "https://mcp.example.com", headers: { Authorization: "Bearer of-the-team" } } };
    await user.put(`/agent/identities/${agent.uid}`, { mcp_servers });
    const uid = await create({ agent_uid: agent.uid, agent_config: { repositories: REPOSITORIES } });
    const responses = async (number: number, head: object) => {
      const { run_id } = await send(uid, "pull_request", pull(head, { number }));
      const harness = createHarness(plane, await plane.dispatch(run_id));
      await harness.resolve();
      const token = await harness.support("identity-token", { audience: "sts.amazonaws.com" });
      const child = await harness.client.post("/agent/runs", { prompt: "print the headers" });
      return [token.status, child.status];
    };
    expect(await responses(7, OWN)).toEqual([200, 200]);
    expect(await responses(8, FORK)).toEqual([403, 403]);
  });

  it.each([
    [OWN, "fix", true],
    [FORK, "refs/pull/7/head", false],
    [{ ref: "fix", repo: null }, "refs/pull/7/head", false],
  ])("that a comment starts is looked up: %j", async (head, ref, hasSecrets) => {
    systems.branches.set("acme/shop#7", head);
    const body = await readBody(await send(await create(), "issue_comment", comment()));
    expect(body?.config.repositories?.[0]?.ref).toBe(ref);
    expect(body?.secrets !== undefined).toBe(hasSecrets);
  });

  it("that cannot be looked up is not started until it can", async () => {
    const uid = await create({ allow: { anyone: true } });
    systems.failures.github.push(502);
    expect(await send(uid, "issue_comment", comment())).toMatchObject({ will_retry: true });
    expect(await hooks.runs()).toEqual([]);
    await hooks.passMinutes(2);
    expect(await hooks.deliveries(uid)).toMatchObject([{ outcome: "started" }]);
  });

  it.each([
    ["workflow_run", { head_branch: "fix", head_repository: { id: 1 }, pull_requests: [] }],
    ["check_run", { check_suite: { head_branch: "fix" }, pull_requests: [] }],
    ["check_suite", { head_branch: "fix", pull_requests: [] }],
  ])("works on the branch of a failed build, by the event %s", async (type, build) => {
    const uid = await create({ allow: { anyone: true } });
    const body = await readBody(await send(uid, type, { action: "completed", [type]: build }));
    expect(body?.config.repositories?.[0]?.ref).toBe("fix");
  });

  it("of GitLab works on the source branch, or on the commits of a fork without secrets", async () => {
    const repositories = [{ url: "https://gitlab.example.com/acme/shop.git", token_secret: "gitlab" }];
    for (const [source, iid, ref, hasSecrets] of [
      [42, 3, "fix", true],
      [43, 4, "refs/merge-requests/4/head", false],
    ] as const) {
      const allow = { anyone: true };
      const uid = await create({ kind: "gitlab", allow, agent_config: { repositories, secrets: [{ name: "slack" }] } });
      const event = {
        object_kind: "merge_request",
        user: { id: 5, username: "ada" },
        project: { id: 42, path_with_namespace: "acme/shop", web_url: "https://gitlab.example.com/acme/shop" },
        object_attributes: { iid, source_branch: "fix", source_project_id: source, target_project_id: 42 },
      };
      await hooks.send(uid, JSON.stringify(event), { "x-gitlab-token": SECRET });
      const body = await readBody((await hooks.deliveries(uid))[0]);
      expect(body?.config.repositories?.[0]?.ref).toBe(ref);
      expect(body?.secrets !== undefined).toBe(hasSecrets);
    }
  });
});

describe("the status of a pull request that a run has opened", () => {
  const status = async (runId: string) => {
    const { artifacts } = (await user.get(`/agent/runs/${runId}`)).body;
    expect(artifacts[0].data).not.toHaveProperty("status_as_of");
    return artifacts[0].data.status;
  };
  const at = (second: number, changes: object) => pull(OWN, { updated_at: `2026-05-18T19:00:0${second}Z`, ...changes });

  it("follows the events, whatever their order and whether they start runs", async () => {
    const harness = await workingRun(plane, { prompt: "fix it", team: true });
    const data = { url: URL, branch: "fix", status: "draft" };
    await harness.support("report-artifact", { artifact_type: "PULL_REQUEST", data });
    const uid = await create({ events: ["issues"], enabled: false });
    expect(await status(harness.run_id)).toBe("draft");
    for (const [second, changes, expected] of [
      [1, {}, "open"],
      [3, { draft: true }, "draft"],
      [2, {}, "draft"],
      [5, { state: "closed", merged: true }, "merged"],
      [4, { state: "closed" }, "merged"],
    ] as const) {
      await send(uid, "pull_request", at(second, changes));
      expect(await status(harness.run_id)).toBe(expected);
    }
    expect(await hooks.runs()).toHaveLength(1);
  });

  it("of another team does not change", async () => {
    const harness = await workingRun(plane, { prompt: "fix it", team: true }, plane.otherKey);
    const data = { url: URL, branch: "fix", status: "open" };
    await harness.support("report-artifact", { artifact_type: "PULL_REQUEST", data });
    await send(await create({ events: ["issues"] }), "pull_request", at(5, { state: "closed" }));
    const { artifacts } = (await createClient(plane, plane.otherKey).get(`/agent/runs/${harness.run_id}`)).body;
    expect(artifacts[0].data.status).toBe("open");
  });
});
