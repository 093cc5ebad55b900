import { afterEach, beforeEach, expect, it } from "vitest";
import type { Client } from "../../support/client.ts";
import { type ConnectedApp, connectApp } from "../../support/connect-app.ts";
import type { TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, type Harness } from "../../support/execution.ts";
import { commitFile, type GitServer } from "../../support/git-server.ts";
import type { GithubAppStandIn } from "../../support/github-app-stand-in.ts";
import type { Hooks } from "../../support/hooks.ts";
import { pushCommit } from "../../support/push-commit.ts";
import type { TestSystems } from "../../support/systems-stand-in.ts";
import { deliverEvents } from "../../support/webhooks.ts";

const REPOSITORY = { id: 1, full_name: "acme/shop", private: true, default_branch: "main" };
const PULL_URL = "https://github.com/acme/shop/pull/8";
let github: ConnectedApp;
let systems: TestSystems;
let server: GitServer;
let app: GithubAppStandIn;
let plane: TestControlPlane;
let user: Client;
let hooks: Hooks;
beforeEach(async () => {
  github = await connectApp();
  ({ systems, server, app, plane, user, hooks } = github);
});
afterEach(async () => github[Symbol.asyncDispose]());

let count = 0;
/** Delivers an event of the App. */
const send = (type: string, payload: object, sender: object = { login: "ada", id: 5, type: "User" }) =>
  github.send(type, { repository: REPOSITORY, sender, count: ++count, ...payload });
const comment = (number: number, text: string, issue: object = {}) =>
  send("issue_comment", { action: "created", issue: { number, ...issue }, comment: { id: count + 1, body: text } });
const onPull = { pull_request: { html_url: PULL_URL } };
const pull = (second: number, action: string, changes: object = {}) =>
  send(
    "pull_request",
    {
      action,
      pull_request: {
        ...{ number: 8, html_url: PULL_URL, state: "open", draft: true, merged: false },
        updated_at: `2026-05-18T19:00:0${second}Z`,
        head: { ref: "fix", repo: { id: 1 } },
        base: { ref: "main", repo: { id: 1 } },
        ...changes,
      },
    },
    { login: "runyard-of-acme[bot]", id: 9, type: "Bot" },
  );

const create = async (members: object): Promise<string> => {
  const agent_config = { repositories: [{ url: "https://github.com/acme/shop.git" }] };
  const created = await hooks.create({ kind: "github", agent_config, reply: { to: "thread" }, ...members });
  expect(created.status, JSON.stringify(created.body)).toBe(201);
  return created.body.uid;
};
const mentions = () => create({ name: "mentions", events: ["issue_comment"], prompt: "Answer {{ event.text }}" });
const lastOf = async (uid: string) => (await hooks.deliveries(uid))[0];
async function execute(runId: string): Promise<Harness & { readonly context: Record<string, unknown> }> {
  const harness = createHarness(plane, await plane.dispatch(runId));
  const { status, body } = await harness.resolve();
  expect(status).toBe(200);
  return Object.assign(harness, { context: body.context });
}
const pullStatus = async (runId: string) => (await user.get(`/agent/runs/${runId}`)).body.artifacts[0].data.status;
const checks = () => [...systems.checks.values()].map((one) => [one["name"], one["head_sha"], one["conclusion"]]);

it("leads from a mention to a merged pull request, with a question, a review, a failed build and pushes of the service", async () => {
  const uid = await mentions();
  const failed = 'event.payload.workflow_run.conclusion == "failure"';
  const fixer = await create({
    name: "ci",
    events: ["workflow_run.completed"],
    filter: failed,
    prompt: "Fix the build.",
  });

  await comment(7, "@runyard the shop is slow");
  const { run_id, outcome } = await lastOf(uid);
  expect(outcome).toBe("started");
  expect([...systems.reactions]).toEqual([`acme/shop/issues/comments/${count}`]);
  const first = await execute(run_id);
  expect(first.context).not.toHaveProperty("push");
  await deliverEvents(plane);
  expect(systems.texts("acme/shop#7")).toEqual([expect.stringContaining("mentions is working on it.")]);

  await first.support("finish-task", { success: false, summary: "Which page?", blocked: true });
  await deliverEvents(plane);
  expect(systems.texts("acme/shop#7")).toEqual([expect.stringContaining("mentions asks: Which page?")]);
  await comment(7, "The cart.");
  expect(await lastOf(uid)).toMatchObject({ outcome: "followed_up", run_id });

  const second = await execute(run_id);
  expect(JSON.stringify(second.context["followups"])).toContain("The cart.");
  const data = { url: PULL_URL, branch: "fix", status: "draft" };
  await second.support("report-artifact", { artifact_type: "PULL_REQUEST", data });
  await second.finish(true, "I have opened a pull request.");
  await deliverEvents(plane);
  expect(systems.texts("acme/shop#7")).toEqual([expect.stringContaining(`Pull request: ${PULL_URL}`)]);
  expect(await pullStatus(run_id)).toBe("draft");
  await pull(1, "ready_for_review", { draft: false });
  expect(await pullStatus(run_id)).toBe("open");

  // The comment on the pull request continues the run that has opened it, on its branch.
  const opened = await commitFile(server.clone, "shop.txt", "two\n");
  systems.heads.set("acme/shop#8", opened);
  await comment(8, "@runyard add a test", onPull);
  expect(await lastOf(uid)).toMatchObject({ outcome: "followed_up", run_id });
  const third = await execute(run_id);
  expect(third.context["push"]).toEqual({ url: "https://github.com/acme/shop.git", branch: "fix" });
  expect(third.context["agent_config"]).toMatchObject({ repositories: [{ ref: "fix" }] });
  const tested = await commitFile(server.clone, "shop.test.txt", "it works\n");
  expect(await pushCommit(third, tested, server.clone, plane)).toMatchObject({ status: 200, body: { branch: "fix" } });
  expect((await server.refs())["refs/heads/fix"]).toBe(tested);
  systems.heads.set("acme/shop#8", tested);
  await third.messages(Number(third.context["next_sequence"]), "There is a test now.");
  await third.finish();
  await deliverEvents(plane);
  expect(systems.texts("acme/shop#8")).toEqual([expect.stringMatching(/There is a test now\.\s+Pull request: /)]);
  expect(systems.texts("acme/shop#7")).toHaveLength(1);
  expect(checks()).toEqual([["runyard/mentions", tested, "success"]]);
  await comment(8, "Thanks!", onPull);
  expect(await lastOf(uid)).toMatchObject({ outcome: "followed_up", run_id });
  await (await execute(run_id)).finish(true, "You are welcome.");

  // A failed build of the branch.
  const workflow_run = {
    ...{ conclusion: "failure", head_branch: "fix", head_sha: tested, head_repository: { id: 1 } },
    pull_requests: [{ number: 8, head: { repo: { id: 1 } }, base: { repo: { id: 1 } } }],
  };
  await send("workflow_run", { action: "completed", workflow_run });
  const build = await lastOf(fixer);
  expect(build).toMatchObject({ outcome: "started" });
  const fix = await execute(build.run_id);
  expect(fix.context["push"]).toEqual({ url: "https://github.com/acme/shop.git", branch: "fix" });
  const fixed = await commitFile(server.clone, "shop.test.txt", "it works again\n");
  expect(await pushCommit(fix, fixed, server.clone, plane)).toMatchObject({ status: 200 });
  systems.heads.set("acme/shop#8", fixed);
  await fix.finish();
  await deliverEvents(plane);
  expect((await server.refs())["refs/heads/fix"]).toBe(fixed);
  expect(checks()).toContainEqual(["runyard/ci", fixed, "success"]);

  await pull(2, "closed", { draft: false, state: "closed", merged: true });
  expect(await pullStatus(run_id)).toBe("merged");
  // Each token is for one repository and one use, and none was refused.
  expect(new Set(app.issued.flatMap(({ repositories }) => repositories))).toEqual(new Set(["acme/shop"]));
  expect(app.issued.map(({ permissions }) => Object.keys(permissions).join())).toContain("contents");
  expect(await hooks.runs()).toHaveLength(2);
});

it("makes one conversation of two mentions that come at once", async () => {
  const uid = await mentions();
  await Promise.all([comment(9, "@runyard one"), comment(9, "@runyard two")]);
  const deliveries = await hooks.deliveries(uid);
  expect(deliveries.map(({ outcome }: { outcome: string }) => outcome).sort()).toEqual(["followed_up", "started"]);
  expect(new Set(deliveries.map((one: { run_id: string }) => one.run_id)).size).toBe(1);
});
