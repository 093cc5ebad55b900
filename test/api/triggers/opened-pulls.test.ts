import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../support/client.ts";
import type { TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, type Harness, workingRun } from "../../support/execution.ts";
import { type Hooks, signed } from "../../support/hooks.ts";
import { connectPlane, startSystems, type TestSystems } from "../../support/systems-stand-in.ts";
import { deliverEvents } from "../../support/webhooks.ts";

const SECRET = "a-secret-of-the-other-system";
const URL = "https://github.com/acme/shop/pull/7";
const repositories = [{ url: "https://github.com/acme/shop.git" }];

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
  const members = { kind: "github", secret: SECRET, credential: "github", prompt: "Look at {{ event.text }}" };
  return (await hooks.create({ ...members, agent_config: { repositories }, ...body })).body.uid;
};

let count = 0;
const comment = async (uid: string, type = "issue_comment") => {
  plane.clock.now += 1000;
  const about =
    type === "issue_comment"
      ? { issue: { number: 7, pull_request: { html_url: URL } }, comment: { id: ++count, body: "add a test" } }
      : {
          pull_request: { number: 7, html_url: URL, head: { ref: "fix", repo: { id: 1 } }, base: { repo: { id: 1 } } },
        };
  const body = JSON.stringify({
    ...{ action: "created", count: ++count, ...about },
    repository: { id: 1, full_name: "acme/shop", private: true, default_branch: "main" },
    sender: { login: "ada", type: "User" },
  });
  expect((await hooks.send(uid, body, signed.github(SECRET, body, type, `delivery-${count}`))).status).toBe(200);
  return (await hooks.deliveries(uid))[0];
};

/** A run of the API that has opened the pull request. */
async function openPull(body: object = {}, key?: string): Promise<Harness> {
  plane.clock.now += 1000;
  const harness = await workingRun(plane, { prompt: "fix it", team: true, config: { repositories }, ...body }, key);
  const data = { url: URL, branch: "fix", status: "open" };
  const { status } = await harness.support("report-artifact", { artifact_type: "PULL_REQUEST", data });
  expect(status).toBe(200);
  return harness;
}

describe("a comment on a pull request that a run has opened", () => {
  it("continues the newest such run on the branch, with replies in the pull request", async () => {
    await (await openPull()).finish();
    const opener = await openPull();
    await opener.finish();
    const uid = await create({ reply: { to: "thread" } });
    expect(await comment(uid)).toMatchObject({ outcome: "followed_up", run_id: opener.run_id });
    const harness = createHarness(plane, await plane.dispatch(opener.run_id));
    const { context } = (await harness.resolve()).body;
    expect(context.push).toEqual({ url: repositories[0]?.url, branch: "fix" });
    expect(context.agent_config.repositories).toEqual([{ ...repositories[0], ref: "fix" }]);
    await harness.messages(context.next_sequence, "There is a test now.");
    await harness.beat(1);
    await harness.finish();
    await deliverEvents(plane);
    expect(systems.texts("acme/shop#7")).toEqual([expect.stringContaining("There is a test now.")]);
    // The thread is now that of the run.
    expect(await comment(uid, "pull_request_review")).toMatchObject({ outcome: "followed_up", run_id: opener.run_id });
    expect(await hooks.runs()).toHaveLength(2);
  });

  it("continues the latest run of its conversation", async () => {
    const opener = await openPull();
    await opener.finish();
    const { body } = await user.post("/agent/runs", {
      ...{ prompt: "go on", conversation_id: opener.run_id, config: { repositories } },
    });
    expect(await comment(await create())).toMatchObject({ outcome: "followed_up", run_id: body.run_id });
  });

  it("continues the conversation of a run that its caller has executed by a new run", async () => {
    const { body: local } = await user.post("/agent/runs", {
      ...{ prompt: "fix it", team: true, config: { repositories }, execution_location: "LOCAL" },
    });
    const found = await plane.ports.runs.headAndBody(local.run_id);
    const execution_id = found?.head.execution_id ?? "";
    const { run_id, run_key: key } = local;
    const harness = createHarness(plane, { version: 1, base_url: "", model_url: "", run_id, execution_id, key });
    await harness.resolve();
    const data = { url: URL, branch: "fix", status: "open" };
    await harness.support("report-artifact", { artifact_type: "PULL_REQUEST", data });
    await harness.finish();
    const uid = await create();
    const delivery = await comment(uid);
    expect(delivery).toMatchObject({ outcome: "started" });
    expect(delivery.run_id).not.toBe(local.run_id);
    const { body: run } = await user.get(`/agent/runs/${delivery.run_id}`);
    expect(run.conversation_id).toBe(local.run_id);
    expect(run.agent_config.repositories).toEqual([{ ...repositories[0], ref: "fix" }]);
    expect(await comment(uid)).toMatchObject({ outcome: "followed_up", run_id: delivery.run_id });
  });

  it("starts a run where it is of a fork, in no repository of the run, or of another team's run", async () => {
    const others = [{ url: "https://github.com/acme/other" }];
    await (await openPull({ config: { repositories: others } })).finish();
    await (await openPull({}, plane.otherKey)).finish();
    expect(await comment(await create())).toMatchObject({ outcome: "started" });
    await (await openPull()).finish();
    systems.branches.set("acme/shop#7", { ref: "fix", repo: { id: 2 } });
    expect(await comment(await create())).toMatchObject({ outcome: "started" });
  });

  it("starts a run where the trigger has each event start one, and for an event that is no comment", async () => {
    await (await openPull()).finish();
    expect(await comment(await create({ threads: "separate" }))).toMatchObject({ outcome: "started" });
    expect(await comment(await create(), "pull_request")).toMatchObject({ outcome: "started" });
  });
});
