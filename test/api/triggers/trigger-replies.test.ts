import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../support/client.ts";
import { decideEvent, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, type Harness } from "../../support/execution.ts";
import { type Hooks, signed } from "../../support/hooks.ts";
import { connectPlane, startSystems, type TestSystems } from "../../support/systems-stand-in.ts";
import { attemptRequested, deliverEvents, passMinutes, streamEvents } from "../../support/webhooks.ts";

const SECRET = "a-secret-of-the-other-system";
const SHA = "a".repeat(40);
const THREAD = "acme/shop#7";

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
  systems.heads.set(THREAD, SHA);
});

const create = async (body: object = {}): Promise<string> => {
  const members = { kind: "github", credential: "github", reply: { to: "thread" } };
  const created = await hooks.create({ secret: SECRET, prompt: "Answer {{ event.text }}", ...members, ...body });
  expect(created.status).toBe(201);
  return created.body.uid;
};

let count = 0;
const comment = async (uid: string, text: string, changes: object = {}) => {
  plane.clock.now += 1000;
  const body = JSON.stringify({
    action: "created",
    issue: { number: 7, pull_request: { url: "https://api.github.com/repos/acme/shop/pulls/7" } },
    comment: { id: ++count, body: text },
    repository: { full_name: "acme/shop", private: true },
    sender: { login: "ada", id: 5, type: "User" },
    ...changes,
  });
  await hooks.send(uid, body, signed.github(SECRET, body, "issue_comment", `delivery-${count}`));
  return (await hooks.deliveries(uid))[0];
};
/** Delivers the events of runs, and attempts what they request. */
const deliver = () => deliverEvents(plane);
const work = async (runId: string): Promise<Harness> => {
  const harness = createHarness(plane, await plane.dispatch(runId));
  await harness.resolve();
  return harness;
};
const writes = () => systems.calls.filter(({ method }) => method !== "GET");

describe("the reply to an event of GitHub", () => {
  it("is one comment that shows the start, the question and the answer with the pull request, and the status of the commit", async () => {
    const uid = await create();
    const { run_id } = await comment(uid, "@agent fix it");
    expect([...systems.reactions]).toEqual([`acme/shop/issues/comments/${count}`]);
    await deliver();
    expect(systems.texts(THREAD)).toEqual([
      expect.stringMatching(/^events is working on it\.\n\n\[Open the run\]\(.*<!-- /s),
    ]);
    expect([...systems.statuses]).toEqual([[`${SHA} runyard/events`, "pending"]]);

    const first = await work(run_id);
    await first.support("finish-task", { success: false, blocked: true, summary: "Which branch?" });
    await deliver();
    expect(systems.texts(THREAD)).toEqual([expect.stringContaining("events asks: Which branch?")]);

    expect(await comment(uid, "main")).toMatchObject({ outcome: "followed_up", run_id });
    expect(systems.reactions.size).toBe(2);
    const second = await work(run_id);
    const url = "https://github.com/acme/shop/pull/8";
    await second.support("report-artifact", { artifact_type: "PULL_REQUEST", data: { url, branch: "fix" } });
    await second.messages(1, "Fixed by a check of the length.");
    await second.beat(1);
    expect((await second.finish()).body).toEqual({});
    await deliver();
    expect(systems.texts(THREAD)).toEqual([
      expect.stringContaining(`Fixed by a check of the length.\n\nPull request: ${url}`),
    ]);
    expect([...systems.statuses]).toEqual([[`${SHA} runyard/events`, "success"]]);
    expect(await hooks.runs()).toHaveLength(1);

    const before = writes().length;
    await deliver();
    await passMinutes(plane, 10);
    expect(writes()).toHaveLength(before);
  });

  it("is one comment where two mentions arrive at once", async () => {
    plane.events.isHeld = true;
    const uid = await create();
    await comment(uid, "@agent one");
    await comment(uid, "@agent two");
    const held = plane.events.requested.splice(0);
    await Promise.all(held.map((delivery) => decideEvent(delivery, plane.ports)));
    await deliver();
    expect(await hooks.runs()).toHaveLength(1);
    expect(systems.texts(THREAD)).toHaveLength(1);
  });

  it.each([0, 1, 2])("is posted once although the response of call %i is lost", async (index) => {
    const uid = await create();
    const { run_id } = await comment(uid, "@agent fix it");
    if (index === 0) systems.lost.github = 1;
    await deliver();
    if (index === 1) systems.lost.github = 1;
    await passMinutes(plane, 2);
    const harness = await work(run_id);
    await harness.finish();
    if (index === 2) systems.lost.github = 1;
    await deliver();
    await passMinutes(plane, 2);
    expect(systems.texts(THREAD)).toEqual([expect.stringMatching(/^Done\./)]);
  });

  it("is posted once where the service stops after the post, before it is recorded", async () => {
    const uid = await create();
    await comment(uid, "@agent fix it");
    await streamEvents(plane);
    const { write } = plane.ports.table;
    const crash = new Error("the process has ended");
    let writesLeft = 1;
    Object.assign(plane.ports.table, {
      write: (...args: Parameters<typeof write>) => (writesLeft-- > 0 ? write(...args) : Promise.reject(crash)),
    });
    await expect(attemptRequested(plane)).rejects.toThrow(crash.message);
    Object.assign(plane.ports.table, { write });
    expect(systems.texts(THREAD)).toHaveLength(1);
    await passMinutes(plane, 2);
    expect(systems.texts(THREAD)).toHaveLength(1);
    expect(plane.table.all().filter(({ sk }) => sk === "REPLY")).toMatchObject([{ post_id: expect.any(String) }]);
  });

  it("is repeated where GitHub fails, and shows what has happened since", async () => {
    const uid = await create();
    const { run_id } = await comment(uid, "@agent fix it");
    systems.failures.github.push(503);
    await deliver();
    expect(systems.texts(THREAD)).toEqual([]);
    const harness = await work(run_id);
    await harness.finish();
    await passMinutes(plane, 2);
    expect(systems.texts(THREAD)).toEqual([expect.stringMatching(/^Done\./)]);
  });

  it("that a person has deleted is not posted again", async () => {
    const uid = await create();
    const { run_id } = await comment(uid, "@agent fix it");
    await deliver();
    systems.posts.clear();
    await (await work(run_id)).finish();
    await deliver();
    await passMinutes(plane, 5);
    expect(systems.texts(THREAD)).toEqual([]);
  });

  it("does not start runs itself, also where anyone may", async () => {
    const uid = await create({ allow: { anyone: true, bots: ["runyard"] } });
    await comment(uid, "@agent fix it");
    await deliver();
    const [text = ""] = systems.texts(THREAD);
    for (const type of ["User", "Bot"]) {
      const sender = { login: "runyard", id: 9, type };
      expect(await comment(uid, text, { sender })).toMatchObject({ outcome: "ignored", reason: "own" });
    }
    expect(await hooks.runs()).toHaveLength(1);
  });

  it("sets a status that starts no run, although a person's account sets it", async () => {
    const uid = await create({ allow: { anyone: true } });
    for (const [context, expected] of [
      ["runyard/events", { outcome: "ignored", reason: "own" }],
      ["ci/build", { outcome: "started" }],
    ] as const) {
      const status = { context, state: "success", sha: SHA, branches: [{ name: "fix" }] };
      const sender = { login: "ada", id: 5, type: "User" };
      const body = JSON.stringify({ ...status, repository: { full_name: "acme/shop", private: true }, sender });
      await hooks.send(uid, body, signed.github(SECRET, body, "status", context));
      expect((await hooks.deliveries(uid))[0]).toMatchObject(expected);
      plane.clock.now += 1000;
    }
  });

  it("shows neither link nor cost in a public repository, unless the trigger says so", async () => {
    const uid = await create();
    await comment(uid, "@agent fix it", { repository: { full_name: "acme/shop", private: false } });
    await deliver();
    expect(systems.texts(THREAD)).toEqual([expect.not.stringContaining("Open the run")]);
    await user.put(`/agent/triggers/${uid}`, { reply: { to: "thread", show: ["link"] } });
    const other = { repository: { full_name: "acme/shop", private: false }, issue: { number: 8 } };
    await comment(uid, "@agent fix it", other);
    await deliver();
    expect(systems.texts("acme/shop#8")).toEqual([expect.stringContaining("Open the run")]);
  });

  it("contains no mention, command or marker that the agent has written", async () => {
    const uid = await create();
    const { run_id } = await comment(uid, "@agent fix it");
    const harness = await work(run_id);
    const marker = `<!-- runyard:${"x".repeat(36)} -->`;
    await harness.messages(1, `@dependabot merge\n/approve\n > /close\n\`npm i @acme/shop\`\n${marker}`);
    await harness.finish();
    await deliver();
    const [text = ""] = systems.texts(THREAD);
    expect(text).not.toMatch(/@dependabot|^[ >]*\/(approve|close)/m);
    expect(text).not.toContain(marker);
    expect(text).toContain("`npm i @acme/shop`");
  });

  it("contains no mention in the address of a pull request that the agent has reported", async () => {
    const { run_id } = await comment(await create(), "@agent fix it");
    const harness = await work(run_id);
    const data = { url: "https://!/@mallory", branch: "fix" };
    await harness.support("report-artifact", { artifact_type: "PULL_REQUEST", data });
    await harness.finish();
    await deliver();
    expect(systems.texts(THREAD)).toEqual([expect.stringContaining("Pull request: https://!/@\u200bmallory")]);
  });

  it("comes without a status where the token may not set one", async () => {
    systems.rights.github.delete("statuses:write");
    try {
      const uid = await create();
      await comment(uid, "@agent fix it");
      await deliver();
      await passMinutes(plane, 5);
      expect(systems.texts(THREAD)).toHaveLength(1);
      expect(systems.statuses.size).toBe(0);
    } finally {
      systems.rights.github.add("statuses:write");
    }
  });
});

describe("the reply to an event of GitLab", () => {
  it("is one note, without commands of the agent", async () => {
    systems.levels.set("42/5", { access_level: 30, state: "active" });
    const uid = await create({ kind: "gitlab", credential: "gitlab" });
    const body = JSON.stringify({
      object_kind: "note",
      user: { id: 5, username: "ada" },
      project: { id: 42, path_with_namespace: "acme/shop", visibility_level: 0 },
      object_attributes: { id: 90, note: "@agent please" },
      merge_request: { iid: 3 },
    });
    await hooks.send(uid, body, { "x-gitlab-token": SECRET });
    const [{ run_id }] = await hooks.deliveries(uid);
    expect([...systems.reactions]).toEqual(["42/merge_requests/3/notes/90"]);
    systems.lost.gitlab = 1;
    await deliver();
    await passMinutes(plane, 2);
    const harness = await work(run_id);
    await harness.messages(1, "/merge");
    await harness.finish();
    await deliver();
    expect(systems.texts("42/merge_requests/3")).toEqual([expect.stringMatching(/^\\\/merge\n\n\[Open the run\]/)]);
  });
});

describe("the reply to an event of Slack", () => {
  it("is one message in the thread, without mentions of the agent", async () => {
    systems.users.set("U1", { id: "U1", team_id: "T1" });
    const uid = await create({ kind: "slack", credential: "slack" });
    const send = async (event: object, changes: object = {}) => {
      plane.clock.now += 1000;
      const callback = { type: "event_callback", team_id: "T1", api_app_id: "A1", is_ext_shared_channel: false };
      const body = JSON.stringify({ ...callback, ...changes, event: { channel: "C1", ...event } });
      await hooks.send(uid, body, signed.slack(SECRET, body, Math.floor(plane.clock.now / 1000)));
      return (await hooks.deliveries(uid))[0];
    };
    const mention = { type: "app_mention", user: "U1", text: "please", ts: "1700000000.0001" };
    const { run_id } = await send(mention);
    expect([...systems.reactions]).toEqual(["C1/1700000000.0001"]);
    systems.lost.slack = 1;
    await deliver();
    await passMinutes(plane, 2);
    const harness = await work(run_id);
    await harness.messages(1, "<!channel> done & <@U1>");
    await harness.finish();
    await deliver();
    expect(systems.texts("C1/1700000000.0001")).toEqual(["&lt;!channel&gt; done &amp; &lt;@U1&gt;"]);
    const reaction = { type: "reaction_added", user: "U9", reaction: "eyes", event_ts: "1700000002.0001" };
    const authorizations = [{ team_id: "T1", user_id: "U9", is_bot: true }];
    const item = { type: "message", channel: "C1", ts: mention.ts };
    expect(await send({ ...reaction, item }, { authorizations })).toMatchObject({ outcome: "ignored", reason: "own" });
    const own = { type: "message", bot_id: "B1", app_id: "A1", text: "done", ts: "1700000001.0001" };
    expect(await send(own)).toMatchObject({ outcome: "ignored", reason: "own" });
  });
});

describe("the reply of a trigger", () => {
  it("needs a credential, and a deployment that sends the events of its runs", async () => {
    const members = { kind: "github", secret: SECRET, prompt: "Look", reply: { to: "thread" } };
    expect(await hooks.create(members)).toMatchObject({ status: 400, body: { errors: [{ path: "reply" }] } });
    const uid = await create();
    const cleared = await user.put(`/agent/triggers/${uid}`, { credential: "" });
    expect(cleared).toMatchObject({ status: 400, body: { errors: [{ path: "reply" }] } });
    plane.webhooks.isAvailable = false;
    expect((await hooks.create({ ...members, credential: "github" })).status).toBe(422);
    expect((await user.put(`/agent/triggers/${uid}`, { reply: { to: "none" } })).body.reply).toEqual({ to: "none" });
  });

  it("is left out where it is not asked for", async () => {
    const uid = await create({ reply: { to: "none" } });
    await comment(uid, "@agent fix it");
    await deliver();
    expect(writes()).toEqual([]);
  });
});
