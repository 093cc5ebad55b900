import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness } from "../../support/execution.ts";
import { createHooks, sign } from "../../support/hooks.ts";

let plane: TestControlPlane;
let user: Client;
let hooks: ReturnType<typeof createHooks>;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
  hooks = createHooks(plane);
});

const create = (body: object) =>
  user.post("/agent/triggers", { name: "events", kind: "webhook", prompt: "Look into it.", ...body });
const runOf = async (uid: string) => {
  await hooks.sendPlain(uid, { build: plane.clock.now });
  const [{ run_id }] = await hooks.deliveries(uid);
  return (await user.get(`/agent/runs/${run_id}`)).body;
};

describe("agent_config of a trigger", () => {
  it("configures its runs over the defaults of its identity and its environment", async () => {
    const { body: environment } = await user.post("/agent/environments", { name: "shop", config: {} });
    const { body: agent } = await user.post("/agent/identities", { name: "builder", base_model: "local/runbook" });
    const agent_config = { environment_id: environment.uid, max_steps: 7, name: "triage" };
    const uid = await hooks.createPlain({ agent_uid: agent.uid, agent_config });
    expect((await user.get(`/agent/triggers/${uid}`)).body).toMatchObject({ agent_config });
    expect((await runOf(uid)).agent_config).toMatchObject({ ...agent_config, model_id: "local/runbook" });
  });

  it("hides the secrets of MCP servers, keeps them where they are sent back, and is cleared by an empty one", async () => {
    const server = { url: "https://tools.runyard.test/mcp", headers: { authorization: "Bearer hush" } };
    const uid = await hooks.createPlain({ agent_config: { mcp_servers: { tools: server } } });
    const { body } = await user.get(`/agent/triggers/${uid}`);
    expect(JSON.stringify(body)).not.toContain("hush");
    const changed = { ...body.agent_config, max_steps: 3 };
    const { body: after } = await user.put(`/agent/triggers/${uid}`, { agent_config: changed });
    expect(after.agent_config).toEqual(changed);
    expect(plane.table.all().find(({ pk, sk }) => pk === `TRIGGER#${uid}` && sk === "TRIGGER")).toMatchObject({
      agent_config: { max_steps: 3, mcp_servers: { tools: server } },
    });
    expect((await user.put(`/agent/triggers/${uid}`, { name: "other" })).body.agent_config).toEqual(changed);
    const { body: cleared } = await user.put(`/agent/triggers/${uid}`, { agent_config: {} });
    expect(cleared).not.toHaveProperty("agent_config");
  });

  it.each([
    [{ environment_id: "nowhere" }, "agent_config.environment_id"],
    [{ secrets: [{ name: "UNKNOWN" }] }, "agent_config.secrets[0].name"],
    [{ model_id: "nobody/nothing" }, "agent_config.model_id"],
    [{ skill_spec: "no skill" }, "agent_config.skill_spec"],
  ])("returns 400 for %j, naming the member", async (agent_config, path) => {
    const { status, body } = await create({ agent_config });
    expect([status, body.errors?.[0]?.path ?? body.detail]).toEqual([400, path]);
    const uid = await hooks.createPlain();
    expect((await user.put(`/agent/triggers/${uid}`, { agent_config })).status).toBe(400);
  });

  it("returns 422 for options that are not carried out", async () => {
    const { status, body } = await create({ agent_config: { computer_use_model_id: "a/model" } });
    expect([status, body.errors[0].path]).toEqual([422, "agent_config.computer_use_model_id"]);
    expect((await create({ notify_url: "https://hooks.runyard.test/" })).status).toBe(422);
  });
});

describe("budget_usd of a trigger", () => {
  it("limits what each of its runs may spend, below a higher budget of the configuration", async () => {
    const uid = await hooks.createPlain({ budget_usd: 2, agent_config: { budget_usd: 5 } });
    expect((await user.get(`/agent/triggers/${uid}`)).body).toMatchObject({ budget_usd: 2 });
    expect((await runOf(uid)).agent_config).toMatchObject({ budget_usd: 2 });
    await user.put(`/agent/triggers/${uid}`, { budget_usd: 9 });
    expect((await runOf(uid)).agent_config).toMatchObject({ budget_usd: 5 });
    expect((await user.put(`/agent/triggers/${uid}`, { budget_usd: null, agent_config: {} })).body).not.toHaveProperty(
      "budget_usd",
    );
    expect((await runOf(uid)).agent_config ?? {}).not.toHaveProperty("budget_usd");
  });

  it.each([0, -1, 10_001, "5"])("returns 400 for %j", async (budget_usd) => {
    const { status, body } = await create({ budget_usd });
    expect([status, body.errors[0].path]).toEqual([400, "budget_usd"]);
  });
});

describe("a run of an event", () => {
  // @contract runs.item.trigger-url: trigger_url leads to what caused the run.
  it("links to the thread of the event, is found by its URL, and has the ticket among its labels", async () => {
    const url = "https://acme.sentry.io/issues/1/";
    const secret = "the-client-secret-of-sentry";
    const body = JSON.stringify({ data: { issue: { id: "1", shortId: "SHOP-1A", web_url: url, title: "it fails" } } });
    const { body: trigger } = await create({ preset: "sentry", secret, metadata: { app: "shop", ticket_id: "own" } });
    const headers = { "sentry-hook-signature": sign(secret, body), "sentry-hook-resource": "issue" };
    expect((await hooks.send(trigger.uid, body, headers)).status).toBe(200);
    const [{ run_id }] = await hooks.deliveries(trigger.uid);
    expect((await user.get(`/agent/runs/${run_id}`)).body).toMatchObject({
      trigger_url: url,
      metadata: { app: "shop", ticket_id: "SHOP-1A", ticket_source: "sentry" },
    });
    const found = await user.get(`/agent/run-by-external-reference?url=${encodeURIComponent(url)}`);
    expect(found.body).toEqual({ run_id });
  });
});

describe("the event of a run", () => {
  const readFile = async (key: string) => JSON.parse(Buffer.from((await plane.ports.files.get(key)) ?? "").toString());

  it("is the attachment event.json of the run that it starts, with its payload", async () => {
    const uid = await hooks.createPlain();
    await hooks.sendPlain(uid, { type: "build", build: 7, log: "a\nb" });
    const [{ run_id, delivery_id }] = await hooks.deliveries(uid);
    const harness = createHarness(plane, await plane.dispatch(run_id));
    const { context } = (await harness.resolve()).body;
    expect(context.attachments).toMatchObject([{ filename: "event.json", mime_type: "application/json" }]);
    expect(await readFile(`runs/${run_id.slice(-4)}/${run_id}/attachments/${delivery_id}`)).toMatchObject({
      type: "build",
      author: { kind: "application" },
      payload: { type: "build", build: 7, log: "a\nb" },
    });
  });

  it("is an attachment of its own name of the follow-up that it sends", async () => {
    const uid = await hooks.createPlain({ thread_key: "event.payload.ticket" });
    await hooks.sendPlain(uid, { ticket: "T-1", text: "first" });
    await hooks.sendPlain(uid, { ticket: "T-1", text: "second" });
    const [{ run_id, delivery_id }] = await hooks.deliveries(uid);
    const { body } = await user.get(`/agent/runs/${run_id}/followups`);
    const file_name = `event-${delivery_id}.json`;
    expect(body.followups).toMatchObject([{ message: "second", attachments: [{ file_name }] }]);
    expect(await readFile(`runs/${run_id.slice(-4)}/${run_id}/attachments/${delivery_id}`)).toMatchObject({
      text: "second",
      thread: "T-1",
    });
  });
});

describe("a trigger", () => {
  it("pauses itself with the reason where its identity is deleted, and others stay enabled", async () => {
    const agent = await plane.agent();
    const [own, other] = [await hooks.createPlain({ agent_uid: agent.uid }), await hooks.createPlain()];
    await user.delete(`/agent/identities/${agent.uid}`);
    expect((await user.get(`/agent/triggers/${own}`)).body).toMatchObject({
      enabled: false,
      pause_reason: "the identity builder is deleted",
    });
    expect((await user.get(`/agent/triggers/${other}`)).body).toMatchObject({ enabled: true });
    await hooks.sendPlain(own, { build: 1 });
    expect(await hooks.deliveries(own)).toMatchObject([{ outcome: "ignored", reason: "paused" }]);
  });

  it("pauses itself where the member who created it leaves the team", async () => {
    const grace = await plane.person("Grace");
    await user.put(`/agent/teams/${plane.team}/members/${grace.uid}`, { role: "admin" });
    const body = { name: "events", kind: "webhook", prompt: "Look into it." };
    const { body: trigger } = await createClient(plane, grace.key).post("/agent/triggers", body);
    expect((await user.delete(`/agent/teams/${plane.team}/members/${grace.uid}`)).status).toBe(200);
    expect((await user.get(`/agent/triggers/${trigger.uid}`)).body).toMatchObject({
      enabled: false,
      pause_reason: "the member who created the trigger has left the team",
    });
  });
});
