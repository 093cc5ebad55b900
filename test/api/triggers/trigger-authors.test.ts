import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Client } from "../../support/client.ts";
import type { TestControlPlane } from "../../support/control-plane.ts";
import { type Hooks, signed } from "../../support/hooks.ts";
import { connectPlane, startSystems, type TestSystems, TOKENS } from "../../support/systems-stand-in.ts";

const SECRET = "a-secret-of-the-other-system";

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
});

const create = async (body: object): Promise<string> => {
  const created = await hooks.create({ secret: SECRET, prompt: "Answer {{ event.text }}", ...body });
  expect(created.status).toBe(201);
  return created.body.uid;
};

let count = 0;
const comment = async (uid: string, login: string, type = "User", repository = "acme/shop") => {
  plane.clock.now += 1000;
  const body = JSON.stringify({
    action: "created",
    issue: { number: 7, user: { login: "ada" }, author_association: "OWNER" },
    comment: { id: ++count, body: "@agent please", author_association: "OWNER" },
    repository: { full_name: repository, private: true },
    sender: { login, id: 5, type },
  });
  await hooks.send(uid, body, signed.github(SECRET, body, "issue_comment", `delivery-${count}`));
  return (await hooks.deliveries(uid))[0];
};
const note = async (uid: string, id: number) => {
  plane.clock.now += 1000;
  const body = JSON.stringify({
    object_kind: "note",
    user: { id, username: "grace" },
    project: { id: 42, path_with_namespace: "acme/shop" },
    object_attributes: { id: ++count, note: "@agent please" },
    issue: { iid: 3 },
  });
  await hooks.send(uid, body, { "x-gitlab-token": SECRET, "idempotency-key": `key-${count}` });
  return (await hooks.deliveries(uid))[0];
};
const mention = async (uid: string, id: string, isShared = false) => {
  plane.clock.now += 1000;
  const body = JSON.stringify({
    type: "event_callback",
    team_id: "T1",
    is_ext_shared_channel: isShared,
    event: { type: "app_mention", user: id, text: "please", ts: `${++count}.0001`, channel: "C1" },
  });
  const seconds = Math.floor(plane.clock.now / 1000);
  expect((await hooks.send(uid, body, signed.slack(SECRET, body, seconds))).status).toBe(200);
  return (await hooks.deliveries(uid))[0];
};

describe("the author of an event of GitHub", () => {
  it.each([
    ["admin", "started"],
    ["write", "started"],
    ["maintain", "started"],
    ["triage", "ignored"],
    ["read", "ignored"],
    ["none", "ignored"],
    [undefined, "ignored"],
  ])("with the permission %s gets the outcome %s", async (permission, outcome) => {
    systems.permissions.clear();
    if (permission !== undefined) systems.permissions.set("acme/shop/mallory", permission);
    const uid = await create({ kind: "github", credential: "github" });
    const delivery = await comment(uid, "mallory");
    expect(delivery).toMatchObject({ outcome, attempts: 1 });
    if (outcome === "ignored") {
      expect(delivery).toMatchObject({ reason: "author", detail: "mallory has no write access" });
      expect(await hooks.runs()).toEqual([]);
    }
    expect(systems.calls.map(({ path }) => path)).toEqual(["/repos/acme/shop/collaborators/mallory/permission"]);
  });

  it("is checked again after a minute only, and not where the filter ignores the event", async () => {
    systems.permissions.set("acme/shop/ada", "write");
    const uid = await create({ kind: "github", credential: "github", filter: 'event.text.contains("@agent")' });
    await comment(uid, "ada");
    await comment(uid, "ada");
    expect(systems.calls).toHaveLength(1);
    plane.clock.now += 60_000;
    await comment(uid, "ada");
    expect(systems.calls).toHaveLength(2);
    await user.put(`/agent/triggers/${uid}`, { filter: "false" });
    expect(await comment(uid, "grace")).toMatchObject({ outcome: "ignored", reason: "filter" });
    expect(systems.calls).toHaveLength(2);
  });

  it.each([503, 429, 403, 401])("who cannot be looked up because of a %i is checked again later", async (status) => {
    systems.permissions.set("acme/shop/ada", "write");
    systems.failures.github.push(status);
    const uid = await create({ kind: "github", credential: "github" });
    const pending = await comment(uid, "ada");
    expect(pending).toMatchObject({ will_retry: true, detail: expect.stringContaining(String(status)) });
    expect(pending).not.toHaveProperty("outcome");
    expect(await hooks.runs()).toEqual([]);
    await hooks.passMinutes(2);
    expect(await hooks.deliveries(uid)).toMatchObject([{ outcome: "started", attempts: 2 }]);
  });

  it("is not checked where anyone may start runs, or where it is a bot that the trigger names", async () => {
    const uid = await create({ kind: "github", credential: "github", allow: { bots: ["renovate[bot]"] } });
    expect(await comment(uid, "renovate[bot]", "Bot")).toMatchObject({ outcome: "started" });
    expect(await comment(uid, "other[bot]", "Bot")).toMatchObject({ outcome: "ignored", reason: "author" });
    await user.put(`/agent/triggers/${uid}`, { allow: { anyone: true } });
    expect(await comment(uid, "mallory")).toMatchObject({ outcome: "followed_up" });
    expect(systems.calls).toEqual([]);
  });

  it("of an event without a usable repository is refused and never checked", async () => {
    const uid = await create({ kind: "github", credential: "github" });
    for (const repository of ["", "acme/shop/../../user", "acme"]) {
      expect(await comment(uid, "ada", "User", repository)).toMatchObject({ outcome: "ignored", reason: "author" });
    }
    expect(systems.calls).toEqual([]);
  });

  it("is checked again while the team lacks the secret", async () => {
    systems.permissions.set("acme/shop/ada", "write");
    const uid = await create({ kind: "github", credential: "github" });
    await user.delete("/agent/secrets/github");
    expect(await comment(uid, "ada")).toMatchObject({
      will_retry: true,
      detail: expect.stringContaining("secret github"),
    });
    await user.post("/agent/secrets", { name: "github", value: TOKENS.github });
    await hooks.passMinutes(2);
    expect(await hooks.deliveries(uid)).toMatchObject([{ outcome: "started" }]);
  });
});

describe("the author of an event of GitLab", () => {
  it.each([
    [{ access_level: 30, state: "active" }, "started"],
    [{ access_level: 50, state: "active" }, "started"],
    [{ access_level: 20, state: "active" }, "ignored"],
    [{ access_level: 40, state: "blocked" }, "ignored"],
    [undefined, "ignored"],
  ])("with %j gets the outcome %s", async (level, outcome) => {
    systems.levels.clear();
    if (level !== undefined) systems.levels.set("42/5", level);
    const uid = await create({ kind: "gitlab", credential: "gitlab" });
    expect(await note(uid, 5)).toMatchObject({ outcome });
    expect(systems.calls.map(({ path }) => path)).toEqual(["/projects/42/members/all/5"]);
  });
});

describe("the author of an event of Slack", () => {
  it.each([
    [{ team_id: "T1" }, "started"],
    [{ team_id: "T2" }, "ignored"],
    [{ team_id: "T1", is_restricted: true }, "ignored"],
    [{ team_id: "T1", is_ultra_restricted: true }, "ignored"],
    [{ team_id: "T1", is_bot: true }, "ignored"],
    [{ team_id: "T1", deleted: true }, "ignored"],
    [{ team_id: "T1", is_stranger: true }, "ignored"],
    [undefined, "ignored"],
  ])("who is %j gets the outcome %s", async (info, outcome) => {
    systems.users.clear();
    if (info !== undefined) systems.users.set("U1", { id: "U1", ...info });
    const uid = await create({ kind: "slack", credential: "slack" });
    expect(await mention(uid, "U1")).toMatchObject({ outcome });
    expect(systems.calls.map(({ path, query }) => [path, query])).toEqual([["/users.info", { user: "U1" }]]);
  });

  it("may start runs in a shared channel only where a credential shows that they are of the workspace", async () => {
    systems.users.set("U1", { id: "U1", team_id: "T1" });
    const uid = await create({ kind: "slack" });
    expect(await mention(uid, "U1", true)).toMatchObject({ outcome: "ignored", reason: "author" });
    await user.put(`/agent/triggers/${uid}`, { credential: "slack" });
    expect(await mention(uid, "U1", true)).toMatchObject({ outcome: "started" });
  });
});

describe("the credential of a trigger", () => {
  it("must be a secret of the team, is for GitHub, GitLab and Slack, and can be cleared", async () => {
    const github = { secret: SECRET, prompt: "Look", kind: "github" };
    for (const [body, message] of [
      [{ ...github, credential: "missing" }, "must be the name of a secret of the team"],
      [{ ...github, kind: "webhook", verification: { scheme: "bearer" }, credential: "github" }, "is for the kinds"],
    ] as const) {
      const { status, body: problem } = await hooks.create(body);
      expect(status).toBe(400);
      expect(problem.errors).toEqual([{ path: "credential", message: expect.stringContaining(message) }]);
    }
    const { body } = await hooks.create({ ...github, credential: "github" });
    expect(body.credential).toBe("github");
    expect((await user.put(`/agent/triggers/${body.uid}`, { name: "other" })).body.credential).toBe("github");
    expect((await user.put(`/agent/triggers/${body.uid}`, { credential: "" })).body).not.toHaveProperty("credential");
  });

  it("is stored in the vault only", async () => {
    systems.permissions.set("acme/shop/ada", "write");
    const uid = await create({ kind: "github", credential: "github" });
    await comment(uid, "ada");
    const stored = JSON.stringify([plane.table.all(), [...plane.files.files.values()].map(String), plane.sent]);
    expect(stored).not.toContain(TOKENS.github);
  });
});
