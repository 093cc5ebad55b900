import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { installationStore } from "#shared/github/installation-store.ts";
import { claimInstallation } from "../../support/claim-installation.ts";
import { type Client, request } from "../../support/client.ts";
import type { TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";
import { type Hooks, signed } from "../../support/hooks.ts";
import { connectPlane, startSystems, type TestSystems, TOKENS } from "../../support/systems-stand-in.ts";
import { deliverEvents } from "../../support/webhooks.ts";

const SECRET = "the-secret-of-the-app";
const ID = 2_000_001;
const THREAD = "acme/shop#7";
const SHA = "a".repeat(40);
const NEXT = "b".repeat(40);

let systems: TestSystems;
let plane: TestControlPlane;
let user: Client;
let hooks: Hooks;
/** The tokens that were asked for, as `permissions repository`. */
let asked: string[];
beforeAll(async () => {
  systems = await startSystems();
});
afterAll(async () => systems[Symbol.asyncDispose]());
beforeEach(async () => {
  ({ plane, user, hooks } = await connectPlane(systems));
  systems.permissions.set("acme/shop/ada", "write");
  systems.heads.set(THREAD, SHA);
  asked = [];
  plane.repositories.appWebhookSecret = SECRET;
  plane.repositories.appTokens = async ({ installation, repository, permissions }) => {
    asked.push(`${installation} ${repository} ${Object.entries(permissions).join(" ")}`);
    return TOKENS.github;
  };
  await claimInstallation(plane, plane.team);
});

const create = async (more: object = {}): Promise<string> => {
  const members = { kind: "github", prompt: "Answer {{ event.text }}", reply: { to: "thread" } };
  const { status, body } = await hooks.create({ ...members, ...more });
  expect(status, JSON.stringify(body)).toBe(201);
  return body.uid;
};
let count = 0;
const comment = async (text: string, login = "ada") => {
  plane.clock.now += 1000;
  const body = JSON.stringify({
    action: "created",
    installation: { id: ID },
    issue: { number: 7, pull_request: { url: "https://api.github.com/repos/acme/shop/pulls/7" } },
    comment: { id: ++count, body: text },
    repository: { full_name: "acme/shop", private: true },
    sender: { login, id: 5, type: "User" },
  });
  const headers = signed.github(SECRET, body, "issue_comment", `delivery-${count}`);
  await request(plane, "POST", "/hooks/github-app", { key: undefined, body, headers });
};
const deliver = () => deliverEvents(plane);
const checks = () =>
  [...systems.checks.values()].map((check) => [check["name"], check["head_sha"], check["status"], check["conclusion"]]);

describe("a trigger of the kind github without a credential", () => {
  it("asks with the App's token who may start runs, for the one repository and right of each request", async () => {
    const uid = await create();
    await comment("@agent fix it", "mallory");
    expect(await hooks.deliveries(uid)).toMatchObject([{ outcome: "ignored", reason: "author" }]);
    await comment("@agent fix it");
    expect((await hooks.deliveries(uid))[0]).toMatchObject({ outcome: "started" });
    expect(asked[0]).toBe(`${ID} acme/shop metadata,read`);
    expect(asked.at(-1)).toBe(`${ID} acme/shop issues,write pull_requests,write`);
    expect([...systems.reactions]).toEqual([`acme/shop/issues/comments/${count}`]);
  });

  it("may have replies only where its team has an installation", async () => {
    await installationStore(plane.table).release(plane.team, ID);
    const members = { name: "a", kind: "github", prompt: "Look", reply: { to: "thread" } };
    const refused = await user.post("/agent/triggers", members);
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ path: "reply" }] } });
  });

  it("sends no reply once the installation belongs to another team", async () => {
    await create();
    await comment("@agent fix it");
    await installationStore(plane.table).release(plane.team, ID);
    await claimInstallation(plane, plane.otherTeam);
    await deliver();
    expect(systems.texts(THREAD)).toEqual([]);
    expect(checks()).toEqual([]);
  });
});

describe("the check run of a pull request", () => {
  it("is queued, in progress and completed with the outcome, on the head commit, once", async () => {
    const uid = await create();
    await comment("@agent fix it");
    await deliver();
    expect(checks()).toEqual([["runyard/events", SHA, "queued", undefined]]);
    const [{ run_id }] = await hooks.deliveries(uid);
    const harness = createHarness(plane, await plane.dispatch(run_id));
    await harness.resolve();
    await deliver();
    expect(checks()).toEqual([["runyard/events", SHA, "in_progress", undefined]]);
    systems.heads.set(THREAD, NEXT);
    await harness.finish();
    await deliver();
    expect(checks()).toEqual([
      ["runyard/events", SHA, "completed", "success"],
      ["runyard/events", NEXT, "completed", "success"],
    ]);
    expect(systems.statuses.size).toBe(0);
    expect(asked).toContain(`${ID} acme/shop checks,write pull_requests,read`);
  });

  it("is not created twice where the response of its creation is lost", async () => {
    const uid = await create();
    await comment("@agent fix it");
    await deliver();
    await plane.table.write({ kind: "update", key: replyKey(), remove: ["sha", "posted"] });
    const [{ run_id }] = await hooks.deliveries(uid);
    await createHarness(plane, await plane.dispatch(run_id)).resolve();
    await deliver();
    expect(checks()).toEqual([["runyard/events", SHA, "in_progress", undefined]]);
  });

  it("is not the cause of another run", async () => {
    const uid = await create({ allow: { bots: ["runyard[bot]"] } });
    const check_run = { name: "runyard/events", head_sha: SHA, pull_requests: [] };
    const sender = { login: "runyard[bot]", id: 9, type: "Bot" };
    const repository = { full_name: "acme/shop" };
    const body = JSON.stringify({ action: "completed", installation: { id: ID }, check_run, repository, sender });
    const headers = signed.github(SECRET, body, "check_run", "check-1");
    await request(plane, "POST", "/hooks/github-app", { key: undefined, body, headers });
    expect(await hooks.deliveries(uid)).toMatchObject([{ outcome: "ignored", reason: "own" }]);
  });
});

/** The reply of the only run. */
function replyKey() {
  const reply = plane.table.all().find(({ sk }) => sk === "REPLY");
  if (reply === undefined) throw new Error("there is no reply");
  return { pk: reply.pk, sk: reply.sk };
}
