import { beforeEach, describe, expect, it } from "vitest";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createRun, type Harness, nextExecution, workingRun } from "../../support/execution.ts";
import { createHooks } from "../../support/hooks.ts";

let plane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  plane = await createTestControlPlane();
  user = createClient(plane);
});

const RULES = [{ tool: "run_command", match: "terraform apply" }, { tool: "create_pull_request" }];
const CALL = { action_id: "call-1", tool: "run_command", input: { command: "terraform apply" } };
const ask = (harness: Harness, call: object = CALL, more: object = {}) =>
  harness.support("finish-task", {
    success: false,
    blocked: true,
    summary: "Waiting for approval of run_command: terraform apply",
    approval: call,
    ...more,
  });
const read = async (id: string) => (await user.get(`/agent/runs/${id}`)).body;
const types = async (id: string) =>
  (await user.get(`/agent/runs/${id}/timeline`)).body.events.map((event: { event_type: string }) => event.event_type);
const answer = (id: string, body: object, client = user) => client.post(`/agent/runs/${id}/followups`, body);

/** A run that waits for the approval of its call. */
async function waitingRun() {
  const harness = await workingRun(plane, { prompt: "deploy", config: { approvals: RULES } });
  expect((await ask(harness)).status).toBe(200);
  const { approval } = await read(harness.run_id);
  return { harness, id: harness.run_id, approvalId: approval.approval_id };
}

describe("a run whose call needs an approval", () => {
  it("is BLOCKED, has no execution, and shows the call", async () => {
    const { id } = await waitingRun();
    const { body } = await user.get(`/agent/runs/${id}`);
    expect(body).toMatchObject({
      state: "BLOCKED",
      waiting_for: "approval",
      is_sandbox_running: false,
      approval: {
        approval_id: expect.stringMatching(/^approval-\d+$/),
        tool: "run_command",
        arguments: '{"command":"terraform apply"}',
        action_id: "call-1",
      },
      agent_config: { approvals: RULES },
    });
    expect(body.approval.digest).toBeUndefined();
    expect((await types(id)).slice(-2)).toEqual(["approval_requested", "run_blocked"]);
  });

  it("ends its execution although it is interactive and its sandbox could wait", async () => {
    const harness = await workingRun(plane, { prompt: "deploy", interactive: true, config: { approvals: RULES } });
    expect((await ask(harness, CALL, { followups_stored: 0, waits: true })).body).toEqual({});
    expect(await read(harness.run_id)).toMatchObject({ state: "BLOCKED", waiting_for: "approval" });
  });

  it.each([
    ["approve", true],
    ["deny", false],
  ])("continues after %s with the decision, the person and the digest of the call", async (member, approved) => {
    const { id, approvalId } = await waitingRun();
    const response = await answer(id, { [member]: approvalId, message: "as discussed" });
    expect([response.status, response.body.outcome]).toEqual([200, "handoff_execution"]);
    expect((await read(id)).approval).toBeUndefined();
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups).toMatchObject([
      { message: "as discussed", decision: { approved, by: "Ada", digest: expect.stringMatching(/^[0-9a-f]{64}$/) } },
    ]);
    const { events } = (await user.get(`/agent/runs/${id}/timeline`)).body;
    const type = approved ? "approved" : "denied";
    expect(events.find((event: { event_type: string }) => event.event_type === type).payload).toEqual({
      approval_id: approvalId,
      detail: `${type} by Ada: as discussed`,
    });
  });

  it("takes an answer without a reason", async () => {
    const { id, approvalId } = await waitingRun();
    expect((await answer(id, { approve: approvalId })).status).toBe(200);
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups[0].message).toBe("Approved.");
  });

  it("is denied by a follow-up without an answer", async () => {
    const { id, approvalId } = await waitingRun();
    expect((await answer(id, { message: "use staging" })).status).toBe(200);
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups[0].decision).toBeUndefined();
    expect(await types(id)).toContain("denied");
    const late = await answer(id, { approve: approvalId });
    expect([late.status, late.body.detail]).toEqual([409, expect.stringContaining("was denied already")]);
  });

  it("takes a decision once: the same again changes nothing, another one is refused", async () => {
    const { id, approvalId } = await waitingRun();
    const first = await answer(id, { approve: approvalId });
    const again = await answer(id, { approve: approvalId });
    expect([again.status, again.body]).toEqual([200, first.body]);
    const denied = await answer(id, { deny: approvalId });
    expect([denied.status, denied.body.detail]).toEqual([409, expect.stringContaining("was approved already")]);
    expect((await answer(id, { approve: "approval-999" })).status).toBe(409);
    expect((await read(id)).pending_followups).toBe(1);
  });

  it("asks again for each call", async () => {
    const { id, approvalId } = await waitingRun();
    await answer(id, { approve: approvalId });
    const next = await nextExecution(plane);
    await next.resolve();
    await ask(next, { ...CALL, action_id: "call-2" }, { followups_stored: 1 });
    const { approval } = await read(id);
    expect(approval).toMatchObject({ action_id: "call-2" });
    expect(approval.approval_id).not.toBe(approvalId);
    expect((await answer(id, { deny: approval.approval_id })).status).toBe(200);
  });

  it("refuses both answers at once, and those of others than people", async () => {
    const { id, approvalId } = await waitingRun();
    const both = await answer(id, { approve: approvalId, deny: approvalId });
    expect([both.status, both.body.errors[0].path]).toEqual([400, "deny"]);
    const parent = await workingRun(plane, { prompt: "lead", config: { approvals: RULES } });
    const child = (await parent.client.post("/agent/runs", { prompt: "x" })).body.run_id;
    for (const member of ["approve", "deny"]) {
      const { status, body } = await answer(child, { [member]: "approval-1" }, parent.client);
      expect([status, body.detail]).toEqual([403, expect.stringContaining("use a person's key")]);
    }
    expect((await read(id)).state).toBe("BLOCKED");
  });
});

describe("an answer to an approval", () => {
  it("is refused with 403 to the key of an agent identity, which sees the run", async () => {
    const { id, approvalId } = await waitingRun();
    const identity = (await user.post("/agent/identities", { name: "bot" })).body.uid;
    const { key } = (await user.post(`/agent/identities/${identity}/keys`, { name: "ci" })).body;
    const agent = createClient(plane, key);
    expect((await agent.get(`/agent/runs/${id}`)).body.approval.approval_id).toBe(approvalId);
    for (const member of ["approve", "deny"]) {
      const { status, body } = await answer(id, { [member]: approvalId }, agent);
      expect([status, body.error_code, body.detail]).toEqual([
        403,
        "not_authorized",
        `${member}: the key of an agent identity decides about no approval; use a person's key, or the web app`,
      ]);
    }
    expect(await read(id)).toMatchObject({ state: "BLOCKED", waiting_for: "approval", pending_followups: 0 });
  });

  it("is refused with 403 to the key of the run's own parent", async () => {
    const parent = await workingRun(plane, { prompt: "lead", config: { approvals: RULES } });
    const { run_id } = (await parent.client.post("/agent/runs", { prompt: "x" })).body;
    const child = await nextExecution(plane);
    await child.resolve();
    await ask(child);
    const { approval } = await read(run_id);
    const { status } = await answer(run_id, { approve: approval.approval_id }, parent.client);
    expect([status, (await read(run_id)).waiting_for]).toEqual([403, "approval"]);
  });

  it("cannot come from an event of a trigger, whose text is no answer and denies", async () => {
    const hooks = createHooks(plane);
    const agent_uid = (await user.post("/agent/identities", { name: "deployer", approvals: RULES })).body.uid;
    const trigger = await hooks.createPlain({
      agent_uid,
      thread_key: "event.payload.id",
      followup_prompt: "{{ event.payload.text }}",
    });
    await hooks.sendPlain(trigger, { id: "one", text: "deploy" });
    const harness = await nextExecution(plane);
    await harness.resolve();
    await ask(harness);
    const { approval } = await read(harness.run_id);
    const sent = JSON.stringify({ approve: approval.approval_id });
    await hooks.sendPlain(trigger, { id: "one", text: sent, approve: approval.approval_id });
    expect((await hooks.deliveries(trigger))[0]).toMatchObject({ outcome: "followed_up", run_id: harness.run_id });
    const { context } = (await (await nextExecution(plane)).resolve()).body;
    expect(context.followups).toMatchObject([{ message: expect.stringContaining(approval.approval_id) }]);
    expect(context.followups[0].decision).toBeUndefined();
    expect(await types(harness.run_id)).toContain("denied");
    expect(await types(harness.run_id)).not.toContain("approved");
  });
});

describe("rules of approvals", () => {
  const start = (body: object) => user.post("/agent/runs", { prompt: "x", ...body });

  // @contract runs.config.approvals: approvals has at most 20 rules of a tool.
  it("name a known tool, and are at most 20", async () => {
    const unknown = await start({ config: { approvals: [{ tool: "rm" }] } });
    expect([unknown.status, unknown.body.errors[0]]).toMatchObject([
      400,
      { path: "config.approvals[0].tool", message: expect.stringContaining("create_pull_request") },
    ]);
    expect((await start({ config: { approvals: Array(21).fill({ tool: "glob" }) } })).status).toBe(400);
  });

  it("are refused where nothing would ask", async () => {
    for (const body of [
      { config: { approvals: RULES, harness: { type: "claude" } } },
      { config: { approvals: RULES }, execution_location: "LOCAL" },
    ]) {
      const { status, body: problem } = await start(body);
      expect([status, problem.detail]).toEqual([422, expect.stringMatching(/^config\.approvals: .*built-in agent/)]);
    }
  });

  // @contract runs.config.child-approvals: The approvals of a parent hold for its children.
  it("hold for children too, which may add some", async () => {
    const parent = await workingRun(plane, { prompt: "lead", config: { approvals: RULES } });
    const own = { tool: "edit_files" };
    const { body } = await parent.client.post("/agent/runs", { prompt: "x", config: { approvals: [own, RULES[0]] } });
    expect((await read(body.run_id)).agent_config.approvals).toEqual([...RULES, own]);
    const many = Array.from({ length: 19 }, (_, index) => ({ tool: "glob", match: `${index}` }));
    const refused = await parent.client.post("/agent/runs", { prompt: "x", config: { approvals: many } });
    expect([refused.status, refused.body.errors[0].path]).toEqual([400, "config.approvals"]);
  });

  it("come from the environment and the identity where the run has none", async () => {
    const approvals = [{ tool: "create_pull_request" }];
    const environment_id = (await user.post("/agent/environments", { name: "e", approvals })).body.uid;
    const agent_identity_uid = (await user.post("/agent/identities", { name: "i", approvals: RULES })).body.uid;
    const of = async (body: object) =>
      (await read(await createRun(plane, { prompt: "x", ...body }))).agent_config.approvals;
    expect(await of({ config: { environment_id } })).toEqual(approvals);
    expect(await of({ config: { environment_id }, agent_identity_uid })).toEqual(RULES);
    await user.put(`/agent/identities/${agent_identity_uid}`, { approvals: [] });
    expect(await of({ agent_identity_uid })).toBeUndefined();
  });
});
