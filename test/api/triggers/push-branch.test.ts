import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../support/client.ts";
import type { TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, type Harness, workingRun } from "../../support/execution.ts";
import { commitFile, type GitServer, git, startGitServer } from "../../support/git-server.ts";
import { type Hooks, signed } from "../../support/hooks.ts";
import { pushCommit, startStorage } from "../../support/push-commit.ts";
import { connectPlane, startSystems, type TestSystems, TOKENS } from "../../support/systems-stand-in.ts";

const SECRET = "a-secret-of-the-other-system";
const REPOSITORY = { url: "https://github.com/acme/shop.git" };

let systems: TestSystems;
let server: GitServer;
let storage: { readonly url: string } & AsyncDisposable;
let plane: TestControlPlane;
let user: Client;
let hooks: Hooks;
let uid: string;
beforeEach(async () => {
  systems = await startSystems();
  ({ plane, user, hooks } = await connectPlane(systems));
  server = await startGitServer(TOKENS.github);
  plane.addresses.github = server.url;
  storage = await startStorage(plane);
  uid = await createTrigger();
});
afterEach(async () => {
  for (const started of [systems, server, storage]) await started[Symbol.asyncDispose]();
});

async function createTrigger(changes: object = {}): Promise<string> {
  const created = await hooks.create({
    ...{ kind: "github", secret: SECRET, credential: "github", allow: { anyone: true }, prompt: "Look" },
    agent_config: { repositories: [REPOSITORY] },
    ...changes,
  });
  expect(created.status).toBe(201);
  return created.body.uid;
}

let count = 0;
/** The run of an event about the pull request. */
async function startRun({ trigger = uid, branch = "fix", head = 1, number = 7 } = {}): Promise<Harness> {
  plane.clock.now += 1000;
  const body = JSON.stringify({
    action: "opened",
    count: ++count,
    repository: { id: 1, full_name: "acme/shop", private: true, default_branch: "main" },
    sender: { login: "ada", type: "User" },
    pull_request: {
      number,
      html_url: `https://github.com/acme/shop/pull/${number}`,
      state: "open",
      updated_at: "2026-05-18T19:00:00Z",
      head: { ref: branch, repo: { id: head } },
      base: { ref: "main", repo: { id: 1 } },
    },
  });
  await hooks.send(trigger, body, signed.github(SECRET, body, "pull_request", `delivery-${count}`));
  const [delivery] = await hooks.deliveries(trigger);
  return createHarness(plane, await plane.dispatch(delivery.run_id));
}

const push = (harness: Harness, commit: string) => pushCommit(harness, commit, server.clone, plane);

const timeline = async ({ run_id }: Harness) =>
  (await user.get(`/agent/runs/${run_id}/timeline`)).body.events.filter(
    (event: { event_type: string }) => event.event_type === "branch_pushed",
  );

describe("POST /harness-support/push-branch", () => {
  it("pushes commits of a run of a pull request to its head branch, with a credential that the run never has", async () => {
    const before = await server.refs();
    const harness = await startRun();
    const resolved = await harness.resolve();
    expect(resolved.body.context.push).toEqual({ url: REPOSITORY.url, branch: "fix" });
    expect(JSON.stringify(resolved.body)).not.toContain(TOKENS.github);
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    expect(await push(harness, commit)).toMatchObject({ status: 200, body: { branch: "fix" } });
    expect(await server.refs()).toEqual({ ...before, "refs/heads/fix": commit });
    const detail = `pushed ${commit.slice(0, 12)} to fix of acme/shop`;
    expect(await timeline(harness)).toMatchObject([
      { payload: { commit, branch: "fix", repository: "acme/shop", detail } },
    ]);
  });

  it("pushes the same commit once, and shows it once", async () => {
    const harness = await startRun();
    await harness.resolve();
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    await push(harness, commit);
    const sent = server.requests.filter(({ path }) => path.endsWith("/git-receive-pack")).length;
    expect((await push(harness, commit)).status).toBe(200);
    expect(server.requests.filter(({ path }) => path.endsWith("/git-receive-pack"))).toHaveLength(sent);
    expect(await timeline(harness)).toHaveLength(1);
  });

  it("returns 409 and says so in the timeline where the branch has changed meanwhile", async () => {
    const harness = await startRun();
    await harness.resolve();
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    await git(server.clone, "checkout", "--quiet", "-b", "theirs", "HEAD~1");
    const theirs = await commitFile(server.clone, "other.txt", "three\n");
    await git(server.clone, "push", "--quiet", "origin", "theirs:fix");
    const refused = await push(harness, commit);
    expect(refused).toMatchObject({ status: 409, body: { retryable: false } });
    expect(refused.body.detail).toContain("a push is never forced");
    await push(harness, commit);
    expect(await timeline(harness)).toMatchObject([{ payload: { is_error: true, commit } }]);
    expect((await server.refs())["refs/heads/fix"]).toBe(theirs);
  });

  it("returns 409 to runs that work on no branch of their repository", async () => {
    const commit = await commitFile(server.clone, "shop.txt", "two\n");
    const bare = await createTrigger({ credential: "" });
    const elsewhere = await createTrigger({
      agent_config: { repositories: [{ url: "https://github.com/acme/other" }] },
    });
    for (const harness of [
      await workingRun(plane, { prompt: "push", team: true, config: { repositories: [REPOSITORY] } }),
      await startRun({ head: 2, number: 8 }),
      await startRun({ branch: "main", number: 9 }),
      await startRun({ branch: "a..b", number: 10 }),
      await startRun({ trigger: bare, number: 11 }),
      await startRun({ trigger: elsewhere, number: 12 }),
    ]) {
      expect((await harness.resolve()).body.context).not.toHaveProperty("push");
      expect(await push(harness, commit)).toMatchObject({
        status: 409,
        body: { detail: "this run has no branch that it may push to" },
      });
    }
    expect(server.requests).toEqual([]);
  });

  it("returns 409 after the trigger was deleted, whose credential it would use", async () => {
    const harness = await startRun();
    await harness.resolve();
    await user.delete(`/agent/triggers/${uid}`);
    const refused = await push(harness, await commitFile(server.clone, "shop.txt", "two\n"));
    expect(refused).toMatchObject({
      status: 409,
      body: { detail: "the trigger of the run was deleted, or has no credential" },
    });
  });

  it("says in the timeline of a fork's run that it can push nowhere", async () => {
    const first = async ({ run_id }: Harness) =>
      (await user.get(`/agent/runs/${run_id}/timeline`)).body.events[0].payload.detail;
    expect(await first(await startRun({ head: 2, number: 8 }))).toBe(
      "The pull request is of a fork: the run has no secrets, and can push nowhere.",
    );
    expect(await first(await startRun())).toBe(
      "Commits on the branch fix of acme/shop are pushed at the end of each turn.",
    );
  });
});
