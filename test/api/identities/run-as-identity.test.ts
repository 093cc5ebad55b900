import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { keys } from "#shared/table/keys.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, deliver, startedRun, workingRun } from "../../support/execution.ts";
import { readState } from "../../support/look.ts";
import { makeSchedule, readSchedule } from "../../support/schedules.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const identity = async (body: Record<string, unknown> = {}): Promise<string> => {
  plane.clock.now += 1;
  const made = await user.post("/agent/identities", { name: `Reviewer ${randomUUID()}`, ...body });
  expect(made.status).toBe(201);
  return made.body.uid;
};
const agentKey = async (uid: string): Promise<string> =>
  (await user.post(`/agent/identities/${uid}/keys`, { name: "key" })).body.key;
const run = async (body: Record<string, unknown>, client = user) => {
  const made = await client.post("/agent/runs", { prompt: "hello", ...body });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return (await user.get(`/agent/runs/${made.body.run_id}`)).body;
};
const planned = (identity_limit: number) =>
  plane.table.write({ kind: "update", key: keys.identities(plane.team), set: { identity_limit } });

const server = { url: "https://tracker.test/mcp", headers: { authorization: "Bearer secret" } };

describe("agent_identity_uid", () => {
  // @contract general.creator.principal
  // @contract general.executor.identity: The executor is the run's identity, else its schedule's, else its creator.
  // @contract runs.request.identity: agent_identity_uid names the principal that executes.
  // @contract runs.profile.type: A person's profile is of type user, an identity's service_account.
  // @contract runs.list.executor: executor finds runs by their executor.
  it("makes the identity the executor and the caller the creator", async () => {
    const uid = await identity({ name: "Critic" });
    expect(await run({ agent_identity_uid: uid })).toMatchObject({
      creator: { type: "user", uid: plane.user },
      executor: { type: "service_account", uid, display_name: "Critic" },
      scope: { type: "Team", uid: plane.team },
    });
    const byExecutor = await user.get(`/agent/runs?executor=${uid}`);
    expect(byExecutor.body.runs).toHaveLength(1);
    expect((await user.get(`/agent/runs?creator=${uid}`)).body.runs).toEqual([]);
  });

  it("names its person to the harness, and nobody if the identity created it", async () => {
    const uid = await identity();
    const own = createClient(plane, await agentKey(uid));
    const byPerson = await startedRun(plane, { prompt: "x", agent_identity_uid: uid });
    expect((await byPerson.resolve()).body.context.creator).toEqual({ name: "Ada", email: "ada@runyard.test" });
    const { run_id } = (await own.post("/agent/runs", { prompt: "x" })).body;
    const byIdentity = createHarness(plane, await plane.dispatch(run_id));
    expect((await byIdentity.resolve()).body.context).not.toHaveProperty("creator");
  });

  // @contract runs.config.resolved: A run returns its resolved configuration: its own, then its identity's, its environment's, the team's.
  // @contract identities.defaults.used: Its runs use them for members that they do not set.
  it("applies the identity's defaults to each member that the run's configuration omits", async () => {
    const uid = await identity({
      prompt: "Be kind.",
      base_model: "local/runbook",
      skills: ["acme/skills:review", "acme/skills:test"],
      mcp_servers: { tracker: server },
      credential_strategy: "EXECUTOR",
    });
    const resolved = (await run({ agent_identity_uid: uid })).agent_config;
    expect(resolved).toEqual({
      name: "review",
      base_prompt: "Be kind.",
      model_id: "local/runbook",
      skill_spec: "acme/skills:review",
      skills: ["acme/skills:review", "acme/skills:test"],
      mcp_servers: { tracker: { url: server.url, headers: { authorization: "***" } } },
      credential_strategy: "EXECUTOR",
      computer_use_enabled: false,
      idle_timeout_minutes: 10,
    });
    const config = { base_prompt: "Be quick.", mcp_servers: { other: { command: "serve" } } };
    expect((await run({ agent_identity_uid: uid, config })).agent_config).toMatchObject({
      base_prompt: "Be quick.",
      mcp_servers: { other: { command: "serve" } },
      skill_spec: "acme/skills:review",
      credential_strategy: "EXECUTOR",
    });
    const earlier = await workingRun(plane);
    await earlier.finish();
    const continued = { agent_identity_uid: uid, prompt: "", conversation_id: earlier.run_id };
    expect((await run(continued)).title, "without a prompt").toBe("acme/skills:review");
    const skilled = (await run({ agent_identity_uid: uid, skill: "acme/other:build" })).agent_config;
    expect(skilled).toMatchObject({ skill_spec: "acme/other:build", skills: ["acme/other:build"], name: "build" });
  });

  it("passes the identity's prompt and the values of its MCP servers to the harness", async () => {
    const uid = await identity({ prompt: "Be kind.", mcp_servers: { tracker: server } });
    const harness = await startedRun(plane, { prompt: "hello", agent_identity_uid: uid });
    const { body } = await harness.resolve();
    expect(body).toMatchObject({ system_prompt: "Be kind.", context: { agent_config: { base_prompt: "Be kind." } } });
  });

  it("passes no prompt to the harness if the request replaces the identity's with an empty one", async () => {
    const config = { base_prompt: "" };
    const uid = await identity({ prompt: "Be kind." });
    const harness = await startedRun(plane, { prompt: "hello", agent_identity_uid: uid, config });
    const { body } = await harness.resolve();
    expect(body).not.toHaveProperty("system_prompt");
    expect(body.context.agent_config).not.toHaveProperty("base_prompt");
  });

  it.each([
    ["an unknown one", () => randomUUID()],
    ["a malformed one", () => "none"],
    ["another team's", async () => (await plane.agent("theirs", plane.otherTeam)).uid],
  ])("returns 400 with the field for %s", async (_, uid) => {
    const before = structuredClone(plane.table.all());
    const response = await user.post("/agent/runs", { prompt: "a", agent_identity_uid: await uid() });
    expect(response).toMatchObject({ status: 400, body: { errors: [{ path: "agent_identity_uid" }] } });
    expect(plane.table.all().filter(({ pk }) => pk.startsWith("RUN#"))).toEqual(
      before.filter(({ pk }) => pk.startsWith("RUN#")),
    );
  });

  // @contract runs.request.identity-team: It is for team runs only.
  it("is accepted for team runs only", async () => {
    const uid = await identity();
    const personal = await createRun(plane, { prompt: "p", team: false });
    for (const body of [{ team: false }, { parent_run_id: personal }]) {
      const response = await user.post("/agent/runs", { prompt: "a", agent_identity_uid: uid, ...body });
      expect(response, JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { errors: [{ path: "agent_identity_uid", message: "is for team runs only" }] },
      });
    }
  });

  // @contract runs.request.identity-available: An identity beyond the plan is 403 feature_not_available.
  it("returns 403 for an identity beyond the plan's limit", async () => {
    const uid = await identity();
    await planned(1);
    const response = await user.post("/agent/runs", { prompt: "a", agent_identity_uid: uid });
    expect(response).toMatchObject({
      status: 403,
      body: {
        error_code: "feature_not_available",
        retryable: false,
        detail: expect.stringMatching(/^agent_identity_uid: /),
      },
    });
  });

  it("refuses unsupported defaults of the identity like those of the run", async () => {
    const uid = await identity({ harness: { type: "claude" } });
    const response = await user.post("/agent/runs", { prompt: "a", agent_identity_uid: uid });
    expect(response).toMatchObject({ status: 422, body: { error_code: "operation_not_supported" } });
    expect(
      (
        await user.post("/agent/runs", {
          prompt: "a",
          agent_identity_uid: uid,
          config: { harness: { type: "default" } },
        })
      ).status,
    ).toBe(200);
  });
});

describe("an agent key", () => {
  it("creates team runs with its identity as creator and executor and with the identity's defaults", async () => {
    const uid = await identity({ prompt: "Be kind." });
    const agent = createClient(plane, await agentKey(uid));
    expect(await run({}, agent)).toMatchObject({
      creator: { type: "service_account", uid },
      executor: { type: "service_account", uid },
      agent_config: { base_prompt: "Be kind." },
    });
    expect((await agent.post("/agent/runs", { prompt: "a", team: false })).status).toBe(400);
  });

  it("can name another identity of the team as executor", async () => {
    const uid = await identity();
    const other = await identity({ prompt: "Be quick." });
    const agent = createClient(plane, await agentKey(uid));
    expect(await run({ agent_identity_uid: other }, agent)).toMatchObject({
      creator: { uid },
      executor: { uid: other },
      agent_config: { base_prompt: "Be quick." },
    });
  });

  // @contract runs.request.identity-available
  it("creates no runs for an identity beyond the plan's limit", async () => {
    const uid = await identity();
    const agent = createClient(plane, await agentKey(uid));
    await planned(1);
    expect(await agent.post("/agent/runs", { prompt: "a" })).toMatchObject({
      status: 403,
      body: { error_code: "feature_not_available", detail: expect.stringMatching(/^the identity is beyond/) },
    });
  });
});

describe("on_behalf_of", () => {
  // @contract general.on-behalf.roles: With on_behalf_of, by uid or email, the member is the creator and the identity the executor.
  it.each(["uid", "email", "EMAIL", "ｅｍａｉｌ"])(
    "makes the member the creator and the identity the executor, by %s",
    async (by) => {
      const uid = await identity({ on_behalf_of_enabled: true });
      const agent = createClient(plane, await agentKey(uid));
      const mia = await plane.person("Mia");
      const emails = { email: "mia@runyard.test", EMAIL: "Mia@Runyard.test", ｅｍａｉｌ: "ｍｉａ@runyard.test" };
      const names: Record<string, string> = { uid: mia.uid, ...emails };
      expect(await run({ on_behalf_of: names[by] }, agent)).toMatchObject({
        creator: { type: "user", uid: mia.uid, display_name: "Mia", email: "mia@runyard.test" },
        executor: { type: "service_account", uid },
      });
    },
  );

  // @contract runs.request.on-behalf: on_behalf_of is for agent keys, and only if their identity has on_behalf_of_enabled.
  it("returns 403 if the identity lacks on_behalf_of_enabled", async () => {
    const agent = createClient(plane, await agentKey(await identity()));
    expect(await agent.post("/agent/runs", { prompt: "a", on_behalf_of: plane.user })).toMatchObject({
      status: 403,
      body: { error_code: "not_authorized", detail: expect.stringMatching(/^on_behalf_of: /) },
    });
  });

  // @contract runs.request.on-behalf
  it("depends on the calling identity, not on the executor", async () => {
    const may = await identity({ on_behalf_of_enabled: true });
    const mayNot = await identity();
    const body = { prompt: "a", on_behalf_of: plane.user };
    const calling = createClient(plane, await agentKey(mayNot));
    expect((await calling.post("/agent/runs", { ...body, agent_identity_uid: may })).status).toBe(403);
    expect(
      await run({ on_behalf_of: plane.user, agent_identity_uid: mayNot }, createClient(plane, await agentKey(may))),
    ).toMatchObject({ creator: { uid: plane.user }, executor: { uid: mayNot } });
  });

  // @contract runs.request.on-behalf
  it("returns 400 for keys other than agent keys, and for people who are not members", async () => {
    const agent = createClient(plane, await agentKey(await identity({ on_behalf_of_enabled: true })));
    const removed = await plane.person("Rob");
    await plane.removeMember(removed.uid);
    const path = [{ path: "on_behalf_of" }];
    expect((await user.post("/agent/runs", { prompt: "a", on_behalf_of: plane.user })).body.errors).toMatchObject(path);
    for (const name of [randomUUID(), "bo@runyard.test", "nobody", removed.uid]) {
      const response = await agent.post("/agent/runs", { prompt: "a", on_behalf_of: name });
      expect(response).toMatchObject({ status: 400, body: { errors: path } });
    }
  });
});

describe("children of a run that an identity executes", () => {
  // @contract general.creator.child: The creator of a child is the executor of its parent.
  it("are executed by the same identity with its defaults, and by no other identity with the run's key", async () => {
    const uid = await identity({ prompt: "Be kind." });
    const other = await identity();
    const parent = await workingRun(plane, { prompt: "parent", agent_identity_uid: uid });
    const child = await parent.client.post("/agent/runs", { prompt: "child" });
    expect((await user.get(`/agent/runs/${child.body.run_id}`)).body).toMatchObject({
      creator: { type: "service_account", uid },
      executor: { type: "service_account", uid },
      agent_config: { base_prompt: "Be kind." },
    });
    expect((await parent.client.post("/agent/runs", { prompt: "a", agent_identity_uid: uid })).status).toBe(200);
    expect(await parent.client.post("/agent/runs", { prompt: "a", agent_identity_uid: other })).toMatchObject({
      status: 403,
      body: { error_code: "not_authorized" },
    });
  });

  it("are executed by it even beyond the plan's limit, but not after it was deleted", async () => {
    const uid = await identity();
    const parent = await workingRun(plane, { prompt: "parent", agent_identity_uid: uid });
    await planned(1);
    const child = await parent.client.post("/agent/runs", { prompt: "child" });
    expect((await user.get(`/agent/runs/${child.body.run_id}`)).body).toMatchObject({ executor: { uid } });
    expect((await user.delete(`/agent/identities/${uid}`)).status).toBe(204);
    expect(await parent.client.post("/agent/runs", { prompt: "late" })).toMatchObject({
      status: 403,
      body: { error_code: "not_authorized", detail: expect.stringContaining(`the identity ${uid}`) },
    });
  });

  // @contract general.creator.child
  it("keep the creator of a person's run, even if an agent key creates them", async () => {
    const agent = createClient(plane, await agentKey(await identity()));
    const parent_run_id = await createRun(plane);
    expect(await run({ parent_run_id }, agent)).toMatchObject({
      creator: { uid: plane.user },
      executor: { uid: plane.user },
    });
  });

  it("are executed by the calling identity if it acts on behalf of a member, also below a person's run", async () => {
    const uid = await identity({ on_behalf_of_enabled: true });
    const agent = createClient(plane, await agentKey(uid));
    const { uid: member } = await plane.person("Mia");
    const parent_run_id = await createRun(plane);
    expect(await run({ parent_run_id, on_behalf_of: member }, agent)).toMatchObject({
      parent_run_id,
      creator: { type: "user", uid: member },
      executor: { type: "service_account", uid },
    });
  });
});

describe("deleting the identity of runs and schedules", () => {
  // @contract general.identity-gone.waiting: When an identity is deleted, its waiting and PENDING runs end: FAILED, not_authorized.
  // @contract general.identity-gone.running: Its executing runs finish.
  // @contract errors.ends.failed
  it("fails runs that have not started with not_authorized, and lets running ones finish", async () => {
    const uid = await identity();
    const body = { prompt: "hello", agent_identity_uid: uid };
    const working = await workingRun(plane, body);
    const pending = await startedRun(plane, body);
    const queued = await createRun(plane, body);
    const byItself = await createClient(plane, await agentKey(uid)).post("/agent/runs", { prompt: "own" });
    const bystander = await createRun(plane);
    expect((await user.delete(`/agent/identities/${uid}`)).status).toBe(204);
    for (const id of [pending.run_id, queued, byItself.body.run_id]) {
      expect((await user.get(`/agent/runs/${id}`)).body).toMatchObject({
        state: "FAILED",
        status_message: { error_code: "not_authorized", retryable: false, message: expect.stringMatching(/deleted/) },
      });
    }
    expect((await pending.resolve()).status).toBe(401);
    expect(await readState(plane, bystander)).toBe("QUEUED");
    expect(await readState(plane, working.run_id)).toBe("INPROGRESS");
    expect((await working.finish()).status).toBe(200);
    await deliver(plane);
    expect(await readState(plane, working.run_id)).toBe("SUCCEEDED");
    expect(await plane.table.get(keys.counters({ type: "Team", uid: plane.team }))).toMatchObject({ running: 1 });
  });

  // @contract general.identity-gone.schedules: Its schedules are paused with the reason in last_spawn_error.
  it("pauses the schedules with a reason", async () => {
    const uid = await identity({ name: "Critic" });
    const { id } = await makeSchedule(plane, { agent_uid: uid });
    const { id: other } = await makeSchedule(plane);
    await user.delete(`/agent/identities/${uid}`);
    expect(await readSchedule(plane, id)).toMatchObject({
      enabled: false,
      last_spawn_error: "the identity Critic is deleted",
    });
    expect(await readSchedule(plane, other)).toMatchObject({ enabled: true, last_spawn_error: null });
  });

  // @contract general.identity-gone.waiting
  it("fails a run that the deletion missed when that run is dispatched", async () => {
    const uid = await identity();
    const id = await createRun(plane, { prompt: "hello", agent_identity_uid: uid });
    await plane.table.write({ kind: "delete", key: keys.identity(plane.team, uid) });
    await deliver(plane);
    expect(plane.started).toEqual([]);
    expect((await user.get(`/agent/runs/${id}`)).body).toMatchObject({
      state: "FAILED",
      status_message: { error_code: "not_authorized" },
    });
  });
});
