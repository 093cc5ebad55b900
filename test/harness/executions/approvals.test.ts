import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { digestCall, needsApproval } from "#harness/engine/approvals.ts";
import type { Message } from "#shared/wire/conversation.ts";
import { AGENT_TOOLS, type ApprovalCall, type ApprovalRule } from "#shared/wire/executions/approval.ts";
import type { FinishTaskRequest, Followup } from "#shared/wire/harness.ts";
import { FakeControlPlane } from "../../../lab/fake-control-plane.ts";
import { agentRun, command, use } from "../support/agent-run.ts";
import { runInProcess } from "../support/run-in-process.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 20_000 });
beforeEach(() => void vi.spyOn(process.stdout, "write").mockReturnValue(true));
afterEach(() => void vi.restoreAllMocks());

const sh = (...commands: string[]) => commands.map((text) => `\`\`\`sh\n${text}\n\`\`\`\n`).join("\n");
const RULES: ApprovalRule[] = [{ tool: "run_command", match: "deploy" }];

/** What the next execution gets: the conversation, and a follow-up with a decision about the call. */
function afterwards(messages: readonly Message[], decision: Followup["decision"] | undefined, message = "ok") {
  const followup: Followup = { number: 1, message, policy: "enqueue", created_at: "2030-01-01T00:00:00.000Z" };
  return {
    messages: [...messages],
    own_messages: messages.length,
    next_sequence: messages.length + 1,
    followups: [{ ...followup, ...(decision === undefined ? {} : { decision }) }],
  };
}
const decide = (call: ApprovalCall | undefined, approved: boolean) => ({
  approved,
  by: "Ada",
  digest: call === undefined ? "" : digestCall(call),
});
/** What commands have printed; a call that was not carried out has no output. */
const printed = ({ outputs }: FakeControlPlane) => outputs.filter((output) => output !== "undefined");
const outcomeOf = ({ outcome }: FakeControlPlane): Partial<FinishTaskRequest> => outcome ?? {};

describe("a runbook with approvals", () => {
  const prompt = sh("echo one", "echo deploy", "echo three");
  const agent_config = { approvals: RULES };

  /** A run that waits for the approval of its second command. */
  async function wait(text = prompt) {
    await using plane = await FakeControlPlane.start({ prompt: text, context: { agent_config } });
    expect(await runInProcess(plane)).toBe(0);
    return { messages: plane.messages, outcome: outcomeOf(plane), outputs: printed(plane) };
  }
  async function goOn(context: object) {
    await using plane = await FakeControlPlane.start({ prompt, context: { agent_config, ...context } });
    expect(await runInProcess(plane)).toBe(0);
    return { plane, results: plane.results, outputs: printed(plane), outcome: outcomeOf(plane) };
  }

  it("waits before the command, and names it with the place where it would run", async () => {
    const { messages, outcome, outputs } = await wait();
    expect(outputs).toEqual(["one\n"]);
    expect(outcome).toMatchObject({
      success: false,
      blocked: true,
      summary: "Waiting for approval of run_command: echo deploy",
      approval: { tool: "run_command", input: { command: "echo deploy", working_directory: expect.any(String) } },
    });
    const actions = messages.flatMap(({ content }) => content).filter(({ type }) => type === "action");
    expect(actions).toHaveLength(2);
  });

  it("runs the approved command and those after it, and the first one not again", async () => {
    const { messages, outcome } = await wait();
    const next = await goOn(afterwards(messages, decide(outcome.approval, true)));
    expect(next.outputs).toEqual(["deploy\n", "three\n"]);
    expect(next.outcome).toMatchObject({ success: true, summary: "Ran 3 commands." });
  });

  it("ends with a denial and its reason", async () => {
    const { messages, outcome } = await wait();
    const next = await goOn(afterwards(messages, decide(outcome.approval, false), "not on Fridays"));
    expect(next.outputs).toEqual([]);
    expect(next.outcome).toMatchObject({ success: false, summary: "`echo deploy` was denied by Ada: not on Fridays" });
  });

  it("takes other commands instead where the follow-up is no answer", async () => {
    const { messages } = await wait();
    const next = await goOn(afterwards(messages, undefined, sh("echo instead")));
    expect(next.outputs).toEqual(["instead\n"]);
    expect(next.outcome).toMatchObject({ success: true, summary: "Ran one command." });
  });

  it("does not run what was not approved: the digest is of another call", async () => {
    const { messages, outcome } = await wait();
    const other = { action_id: "x", tool: "run_command", ...outcome.approval, input: { command: "echo other" } };
    const next = await goOn(afterwards(messages, decide(other, true)));
    expect(next.outputs).toEqual([]);
    expect(next.outcome.success).toBe(false);
  });

  it("is not run again by an execution that finds that it has begun", async () => {
    const { messages, outcome } = await wait();
    const { approval } = outcome;
    const said: Message[] = [
      {
        role: "user",
        content: [
          { type: "text", text: "ok" },
          { type: "event", name: "call_decided", data: decide(approval, true) },
        ],
      },
      {
        role: "tool",
        content: [
          {
            type: "action_result",
            action_id: approval?.action_id ?? "",
            category: "command",
            name: "run_command",
            state: "running",
            output: {},
          },
        ],
      },
    ];
    const { followups: _, ...begun } = afterwards([...messages, ...said], undefined);
    const next = await goOn(begun);
    expect(next.outputs).toEqual([]);
    expect(next.results.at(-1)).toMatchObject({ error: expect.stringContaining("unknown result") });
    const { followups: __, ...unbegun } = afterwards([...messages, ...said.slice(0, 1)], undefined);
    expect((await goOn(unbegun)).outputs, "one that has not begun is run").toEqual(["deploy\n", "three\n"]);
  });

  it("saves that the approved command begins before it runs, and does not run it otherwise", async () => {
    const { messages, outcome } = await wait();
    const context = { agent_config, ...afterwards(messages, decide(outcome.approval, true)) };
    await using plane = await FakeControlPlane.start({ prompt, context });
    plane.intercept = ({ path }) =>
      path.endsWith("/commit-snapshot") || path.includes("snapshot") ? { status: 400, body: {} } : undefined;
    expect(await runInProcess(plane)).toBe(0);
    expect(printed(plane)).toEqual([]);
    expect(JSON.stringify(plane.messages)).toContain("its start could not be saved");
  });

  it("refuses a command with a secret value, which nobody could see whole", async () => {
    const context = { agent_config, secrets: [{ name: "TOKEN", value: "planted-secret-value" }] };
    const text = sh("echo deploy planted-secret-value");
    await using plane = await FakeControlPlane.start({ prompt: text, context });
    await runInProcess(plane);
    expect(outcomeOf(plane)).toMatchObject({ success: false, summary: expect.stringContaining("secret value") });
    expect(outcomeOf(plane).approval).toBeUndefined();
  });
});

describe("an agent with approvals", () => {
  const agent_config = { approvals: RULES };

  it("gets the result of the approved call, and is asked again for another one", async () => {
    await using first = await agentRun({
      prompt: "Deploy.",
      context: { agent_config },
      turns: [
        command("mkdir -p infra && cd infra"),
        { tools: [use("run_command", { command: "echo deploy a" }), use("run_command", { command: "echo never" })] },
      ],
    });
    const { code, log } = await first.run();
    expect(code, log).toBe(0);
    const { approval } = outcomeOf(first.plane);
    expect(approval?.input).toMatchObject({
      command: "echo deploy a",
      working_directory: expect.stringMatching(/infra$/),
    });
    expect(first.plane.outputs).not.toContain("never\n");
    const context = { agent_config, ...afterwards(first.plane.messages, decide(approval, true)) };
    await using second = await agentRun({
      prompt: "Deploy.",
      context,
      turns: [command("echo deploy b")],
    });
    second.plane.checkpoint = undefined;
    const ended = await second.run();
    expect(ended.code, ended.log).toBe(0);
    expect(JSON.stringify(second.asked(0))).toContain(`"tool_use_id":"${approval?.action_id}"`);
    expect(outcomeOf(second.plane).approval).toMatchObject({ input: { command: "echo deploy b" } });
  });

  it("learns who denied a call and why, and continues", async () => {
    await using first = await agentRun({
      prompt: "Deploy.",
      context: { agent_config },
      turns: [command("echo deploy")],
    });
    await first.run();
    const context = {
      agent_config,
      ...afterwards(first.plane.messages, decide(outcomeOf(first.plane).approval, false), "no"),
    };
    await using second = await agentRun({ prompt: "Deploy.", context, turns: [{ text: "I did not deploy." }] });
    await second.run();
    expect(JSON.stringify(second.asked(0))).toContain("denied by Ada: no");
    expect(outcomeOf(second.plane)).toMatchObject({ success: true, summary: "I did not deploy." });
    const states = second.plane.messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "action_result" ? [block.state] : [])),
    );
    expect(states).toEqual(["denied"]);
  });
});

describe("needsApproval", () => {
  const run = (text: string) => ({ command: text });
  it.each<[string, ApprovalRule, unknown, boolean]>([
    ["every call without a text", { tool: "run_command" }, run("ls"), true],
    [
      "a part of the command",
      { tool: "run_command", match: "terraform apply" },
      run("cd x && terraform apply -y"),
      true,
    ],
    [
      "any spaces and line breaks",
      { tool: "run_command", match: "terraform apply" },
      run("terraform \\\n   apply"),
      true,
    ],
    ["parts in their order", { tool: "run_command", match: "git push*--force" }, run("git push origin --force"), true],
    ["no other order", { tool: "run_command", match: "git push*--force" }, run("x --force git push"), false],
    ["nothing but the text itself", { tool: "run_command", match: "a.c" }, run("abc"), false],
    ["the arguments of another tool", { tool: "call_mcp_tool", match: '"tool":"drop"' }, { tool: "drop" }, true],
    ["no other tool", { tool: "edit_files" }, run("ls"), false],
  ])("finds %s", (_, rule, input, found) => {
    const tool = rule.tool === "edit_files" ? "run_command" : rule.tool;
    expect(needsApproval([rule], tool, input)).toBe(found);
  });

  it("takes time in proportion to the text", () => {
    const match = "a*".repeat(500);
    expect(needsApproval([{ tool: "run_command", match: `${match}b` }], "run_command", run("a".repeat(200_000)))).toBe(
      false,
    );
  });
});

describe("digestCall", () => {
  const call = { action_id: "1", tool: "run_command", input: { command: "x", timeout_seconds: 1 } };
  it("is equal for equal calls only", () => {
    expect(digestCall({ ...call, input: { timeout_seconds: 1, command: "x" } })).toBe(digestCall(call));
    for (const other of [
      { ...call, action_id: "2" },
      { ...call, tool: "edit_files" },
      { ...call, input: { command: "y", timeout_seconds: 1 } },
    ])
      expect(digestCall(other)).not.toBe(digestCall(call));
  });
});

it("names every tool of the agent", async () => {
  await using it = await agentRun({ prompt: "x", turns: [{ text: "Done." }] });
  await it.run();
  const names: string[] = it.standIn.seen[0]?.body.tools.map((tool: { name: string }) => tool.name) ?? [];
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) expect(AGENT_TOOLS).toContain(name);
});
