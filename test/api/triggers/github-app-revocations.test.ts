import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { installationStore } from "#shared/github/installation-store.ts";
import { type ConnectedApp, connectApp } from "../../support/connect-app.ts";
import { createHarness, type Harness } from "../../support/execution.ts";
import { commitFile } from "../../support/git-server.ts";
import { pushCommit } from "../../support/push-commit.ts";
import { deliverEvents, passMinutes } from "../../support/webhooks.ts";

const THREAD = "acme/shop#7";

let github: ConnectedApp;
let uid: string;
beforeEach(async () => {
  github = await connectApp();
  const { body } = await github.hooks.create({
    ...{ kind: "github", prompt: "Answer {{ event.text }}", reply: { to: "thread" } },
    agent_config: { repositories: [{ url: "https://github.com/acme/shop.git" }] },
  });
  uid = body.uid;
  github.systems.heads.set(THREAD, "a".repeat(40));
});
afterEach(async () => github[Symbol.asyncDispose]());

/** A run that a comment on a pull request has started, and that has replied. */
async function startRun(): Promise<Harness> {
  const { plane, send, hooks } = github;
  await send("issue_comment", {
    action: "created",
    issue: { number: 7, pull_request: { html_url: "https://github.com/acme/shop/pull/7" } },
    comment: { id: 3, body: "fix it" },
    repository: { id: 1, full_name: "acme/shop", private: true, default_branch: "main" },
    sender: { login: "ada", id: 5, type: "User" },
  });
  const [{ run_id }] = await hooks.deliveries(uid);
  const harness = createHarness(plane, await plane.dispatch(run_id));
  await harness.resolve();
  await deliverEvents(plane);
  return harness;
}
const push = async (harness: Harness, content: string) => {
  const { server, plane } = github;
  return pushCommit(harness, await commitFile(server.clone, "shop.txt", content), server.clone, plane);
};
const sendAboutInstallation = (action: string, type = "installation") =>
  github.send(type, {
    action,
    installation: { id: 2_000_001, account: { id: 7, login: "acme", type: "Organization" } },
  });
const texts = () => github.systems.texts(THREAD);

describe("a cached token of the GitHub App", () => {
  it("is replaced once where GitHub has revoked it", async () => {
    const harness = await startRun();
    expect(await push(harness, "two\n")).toMatchObject({ status: 200 });
    github.app.issued.length = 0;
    expect(await push(harness, "three\n")).toMatchObject({ status: 200 });
    expect(github.app.issued).toHaveLength(1);
    await harness.finish();
    await deliverEvents(github.plane);
    expect(texts()).toEqual([expect.stringContaining("Done.")]);
  });

  it("is not used after its installation was suspended, and a new one is when that has ended", async () => {
    const harness = await startRun();
    expect(await push(harness, "two\n")).toMatchObject({ status: 200 });
    github.app.suspend(true);
    await sendAboutInstallation("suspend");
    const requests = github.server.requests.length;
    const detail = "the installation of the GitHub App is suspended on GitHub";
    expect(await push(harness, "three\n")).toMatchObject({ status: 409, body: { detail } });
    expect(github.server.requests).toHaveLength(requests);
    await harness.finish();
    await deliverEvents(github.plane);
    expect(texts()).toEqual([expect.stringContaining("is working on it")]);
    github.app.suspend(false);
    await sendAboutInstallation("unsuspend");
    await passMinutes(github.plane, 10);
    expect(texts()).toEqual([expect.stringContaining("Done.")]);
  });

  it("is not used after the installation was deleted, and the run can no longer push", async () => {
    const harness = await startRun();
    expect(await push(harness, "two\n")).toMatchObject({ status: 200 });
    await sendAboutInstallation("deleted");
    const requests = github.server.requests.length;
    expect(await push(harness, "three\n")).toMatchObject({ status: 409 });
    expect(github.server.requests).toHaveLength(requests);
  });

  it("is not used after repositories were removed from its installation", async () => {
    const harness = await startRun();
    expect(await push(harness, "two\n")).toMatchObject({ status: 200 });
    const before = github.app.issued.length;
    await sendAboutInstallation("removed", "installation_repositories");
    expect(await push(harness, "three\n")).toMatchObject({ status: 200 });
    expect(github.app.issued).toHaveLength(before + 1);
    expect(await installationStore(github.plane.table).get(2_000_001)).toMatchObject({
      tokens_from: github.plane.clock.now,
    });
  });
});
