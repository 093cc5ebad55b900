import { beforeEach, describe, expect, it } from "vitest";
import { createControlPlane } from "#harness/control-plane/control-plane.ts";
import type { Tool } from "#harness/engine/tool.ts";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { askUserTool } from "#harness/tools/remote/ask-user.ts";
import { createPlanTool } from "#harness/tools/remote/create-plan.ts";
import { createNotifyUserTool } from "#harness/tools/remote/notify-user.ts";
import { createRunsApi } from "#harness/tools/remote/runs-api.ts";
import { createAgentTools } from "#harness/tools/remote/start-agent.ts";
import { ControlPlaneServer } from "../../agents/support/control-plane-server.ts";
import { type Client, createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { createHarness, createRun, type Harness, nextExecution } from "../../support/execution.ts";

let controlPlane: TestControlPlane;
let user: Client;
beforeEach(async () => {
  controlPlane = await createTestControlPlane();
  user = createClient(controlPlane);
});

const REPOSITORY = { url: "https://github.com/acme/things.git" };
const SECRET = "planted-value-0001";

interface Given {
  readonly config?: Record<string, unknown>;
  readonly waitUntil?: number;
}

/** The tools of a running execution, with the real service over HTTP. */
async function createStage({
  config = { repositories: [REPOSITORY] },
  waitUntil = Number.POSITIVE_INFINITY,
}: Given = {}) {
  const server = await ControlPlaneServer.start(controlPlane, () => Promise.reject(new Error("there is no model")));
  const envelope = server.prepareEnvelope(
    await controlPlane.dispatch(await createRun(controlPlane, { prompt: "parent", config })),
  );
  const instance = crypto.randomUUID();
  const stop = new AbortController();
  const plane = createControlPlane(envelope, instance, stop.signal);
  const { context } = await plane.resolvePrompt();
  if (context === undefined) throw new Error("there is no context");
  const redactor = createRedactor([SECRET]);
  const all: readonly Tool[] = [
    ...createAgentTools({ runs: createRunsApi(envelope, stop.signal), context, waitUntil, pollMs: 5 }),
    createPlanTool({ plane, redactor, runId: envelope.run_id }),
    createNotifyUserTool({ plane, redactor }),
    askUserTool,
  ];
  let calls = 0;
  return {
    server,
    stop,
    plane,
    runId: envelope.run_id,
    harness: createHarness(controlPlane, envelope, instance),
    async use(name: string, input: unknown, signal: AbortSignal = stop.signal) {
      const tool = all.find((one) => one.name === name);
      if (tool === undefined) throw new Error(`there is no tool ${name}`);
      return await tool.run(input, { id: `call-${++calls}`, signal });
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Resolves with the children that are not executed yet, once there are this many. */
async function children(parent: string, count: number): Promise<string[]> {
  let ids: string[] = [];
  await expect
    .poll(async () => {
      const { body } = await user.get(`/agent/runs?ancestor_run_id=${parent}&sort_by=created_at&sort_order=asc`);
      ids = body.runs.map(({ run_id }: { run_id: string }) => run_id);
      return ids.length;
    })
    .toBe(count);
  return ids;
}

/** Executes a child: it sends a message, reports a pull request, and ends. */
async function execute(
  runId: string,
  words: string,
  end: (child: Harness) => Promise<unknown> = (child) => child.finish(),
) {
  const child = createHarness(controlPlane, await controlPlane.dispatch(runId));
  const { context } = (await child.resolve()).body;
  await child.messages(1, words);
  await child.support("report-artifact", { artifact_type: "PULL_REQUEST", data: PULL_REQUEST });
  await end(child);
  return context;
}

const PULL_REQUEST = { url: "https://github.com/acme/things/pull/7", branch: "fix" };

describe("start_agent", () => {
  it("starts a child run, waits for its end, and returns its state, final message and artifacts", async () => {
    await using stage = await createStage();
    const using = stage.use("start_agent", { prompt: "Fix the test.", title: "Fix" });
    const [child = ""] = await children(stage.runId, 1);
    const context = await execute(child, "It is fixed.");
    expect(context.agent_config.repositories, "on the parent's repositories").toEqual([REPOSITORY]);
    expect(await using).toEqual({
      output: {
        run_id: child,
        title: "Fix",
        state: "SUCCEEDED",
        text: "It is fixed.",
        artifacts: [{ artifact_type: "PULL_REQUEST", ...PULL_REQUEST, status: "unknown" }],
        usage: { tree: { runs: 1, total_tokens: 0, cost_usd: 0 } },
      },
    });
    expect((await user.get(`/agent/runs/${child}`)).body).toMatchObject({
      parent_run_id: stage.runId,
      source: "ORCHESTRATION",
    });
  });

  it("starts several concurrent children, for which wait_for_agents waits", async () => {
    await using stage = await createStage();
    const started = await Promise.all(
      ["a", "b", "c"].map((prompt) => stage.use("start_agent", { prompt, wait: false })),
    );
    expect(started).toEqual(started.map(() => ({ output: { run_id: expect.any(String), state: "QUEUED" } })));
    const run_ids = started.map(({ output }) => output["run_id"]);
    const waiting = stage.use("wait_for_agents", { run_ids });
    const [first = "", second = "", third = ""] = await children(stage.runId, 3);
    await execute(third, "c is done");
    await execute(first, "a is done");
    await execute(second, "b failed", (child) => child.finish(false, "the disk is full"));
    const { agents } = (await waiting).output;
    expect(agents).toMatchObject(
      run_ids.map((run_id) => ({ run_id, state: run_id === second ? "FAILED" : "SUCCEEDED" })),
    );
    expect(agents).toContainEqual(expect.objectContaining({ run_id: second, message: "the disk is full" }));
  });

  it("creates one run even if the response is lost", async () => {
    await using stage = await createStage();
    let losses = 2;
    stage.server.lost = (method, path) => method === "POST" && path === "/agent/runs" && losses-- > 0;
    await stage.use("start_agent", { prompt: "a", wait: false });
    expect(stage.server.seen.filter(({ path }) => path === "/agent/runs")).toHaveLength(3);
    await children(stage.runId, 1);
  });

  it("passes the service's error to the model, and the run continues", async () => {
    await using stage = await createStage();
    const other = { prompt: "a", repositories: [{ url: "https://github.com/acme/other.git" }] };
    await expect(stage.use("start_agent", other)).rejects.toThrow(
      "config.repositories[0]: a run's children have the run's own",
    );
    await expect(stage.use("start_agent", { prompt: "a", model_id: "made-up" })).rejects.toThrow("config.model_id");
    const wrong = await stage.use("start_agent", { prompt: "", timeout_seconds: 0 });
    expect(wrong).toMatchObject({ isError: true, output: { error: expect.stringContaining("prompt:") } });
    expect((await stage.harness.beat()).status).toBe(200);
    await children(stage.runId, 0);
  });

  it("passes on MCP servers by name, with their values, and no others", async () => {
    const mcp_servers = {
      tracker: { url: "https://tracker.test/mcp", headers: { authorization: "Bearer value-of-tracker" } },
    };
    await using stage = await createStage({ config: { mcp_servers } });
    await expect(stage.use("start_agent", { prompt: "a", mcp_servers: ["other"] })).rejects.toThrow("no server other");
    for (const [names, expected] of [
      [["tracker"], mcp_servers],
      [undefined, undefined],
    ] as const) {
      const input = { prompt: "a", wait: false, ...(names === undefined ? {} : { mcp_servers: names }) };
      const { output } = await stage.use("start_agent", input);
      const child = createHarness(controlPlane, await controlPlane.dispatch(String(output["run_id"])));
      expect((await child.resolve()).body.context.mcp_servers).toEqual(expected);
    }
  });

  it("reports an unfinished child as running, also before the execution's own end", async () => {
    for (const given of [{ input: { timeout_seconds: 1 } }, { input: {}, waitUntil: Date.now() + 300 }]) {
      await using stage = await createStage(given);
      const { output } = await stage.use("start_agent", { prompt: "a", ...given.input });
      expect(output).toMatchObject({ state: "QUEUED", note: expect.stringContaining("wait_for_agents") });
    }
  });

  it("ends with the turn at once, and leaves the child running", async () => {
    await using stage = await createStage();
    const turn = new AbortController();
    const ended = expect(stage.use("start_agent", { prompt: "a" }, turn.signal)).rejects.toThrow("broken off");
    const [child] = await children(stage.runId, 1);
    turn.abort(new Error("broken off"));
    await ended;
    expect((await user.get(`/agent/runs/${child}`)).body.state).toBe("QUEUED");
  });
});

describe("message_agent", () => {
  it("answers the question of a child, which continues with it", async () => {
    await using stage = await createStage();
    const asking = stage.use("start_agent", { prompt: "a" });
    const [child = ""] = await children(stage.runId, 1);
    const block = { success: false, blocked: true, summary: "Which one?" };
    await execute(child, "Which one?", (harness) => harness.support("finish-task", block));
    expect((await asking).output).toMatchObject({
      state: "BLOCKED",
      message: "Which one?",
      note: expect.stringContaining("message_agent"),
    });
    controlPlane.sent.length = 0;
    await stage.use("message_agent", { run_id: child, message: "the second" });
    const waiting = stage.use("wait_for_agents", { run_ids: [child] });
    const next = await nextExecution(controlPlane);
    const { followups } = (await next.resolve()).body.context;
    expect(followups).toMatchObject([{ message: "the second" }]);
    await next.beat(1);
    await next.finish();
    expect((await waiting).output).toMatchObject({ agents: [{ run_id: child, state: "SUCCEEDED" }] });
  });

  it("reaches only the run's own descendants", async () => {
    await using stage = await createStage();
    const other = await createRun(controlPlane);
    await expect(stage.use("message_agent", { run_id: other, message: "hello" })).rejects.toThrow();
    const { output } = await stage.use("wait_for_agents", {
      run_ids: [other, "none", stage.runId],
      timeout_seconds: 1,
    });
    expect(output["agents"]).toMatchObject([
      { error: expect.any(String) },
      { error: expect.any(String) },
      { state: "INPROGRESS" },
    ]);
  });
});

describe("create_plan", () => {
  it("keeps the current plan with the run, without secrets", async () => {
    await using stage = await createStage();
    const first = await stage.use("create_plan", { title: "Plan", content: `# One\nuse ${SECRET}` });
    const second = await stage.use("create_plan", { title: "Plan", content: "# Two" });
    expect(first).toEqual(second);
    const uid = String(first.output["artifact_uid"]);
    expect((await user.get(`/agent/artifacts/${uid}`)).body.data).toMatchObject({
      document_uid: stage.runId,
      content: "# Two",
    });
    const other = await stage.use("create_plan", { title: "Tests", content: `with ${SECRET}`, document: "tests" });
    const { body } = await user.get(`/agent/artifacts/${String(other.output["artifact_uid"])}`);
    expect(body.data).toMatchObject({ document_uid: "tests", content: "with ***" });
    expect((await user.get(`/agent/runs/${stage.runId}`)).body.artifacts).toHaveLength(2);
  });

  it("reports to the model that a plan is too long", async () => {
    await using stage = await createStage();
    const result = await stage.use("create_plan", { title: "Plan", content: "x".repeat(262_145) });
    expect(result).toMatchObject({ isError: true, output: { error: expect.stringContaining("262144 bytes") } });
    expect((await stage.harness.finish()).status).toBe(200);
  });
});

describe("notify_user", () => {
  it("notifies the user while the run continues, up to ten times, without secrets", async () => {
    await using stage = await createStage();
    expect(await stage.use("notify_user", { message: `found ${SECRET}` })).toEqual({ output: { told: true } });
    for (let count = 2; count <= 10; count++) await stage.use("notify_user", { message: `word ${count}` });
    const refused = await stage.use("notify_user", { message: "one more" });
    expect(refused).toEqual({ isError: true, output: { error: "a run notifies its user at most 10 times" } });
    const { events } = (await user.get(`/agent/runs/${stage.runId}/events?after=0`)).body;
    const notified = events.filter(({ type }: { type: string }) => type === "user_notified");
    expect(notified).toHaveLength(10);
    expect(notified[0].data.message).toBe("found ***");
  });
});

describe("ask_user", () => {
  it("ends the turn with the question, and the run waits for the answer", async () => {
    await using stage = await createStage();
    const { output, ends } = await stage.use("ask_user", {
      question: "Which one?",
      options: ["the first", "the second"],
    });
    expect(output).toEqual({ asked: true });
    expect(ends).toEqual({ success: false, blocked: true, summary: "Which one? (the first / the second)" });
    if (ends !== undefined) await stage.plane.finishTask(ends);
    expect((await user.get(`/agent/runs/${stage.runId}`)).body).toMatchObject({
      state: "BLOCKED",
      status_message: { message: "Which one? (the first / the second)" },
    });
  });

  it.each([
    [undefined, "Which one?"],
    [[], "Which one?"],
    [["this"], "Which one? (this)"],
  ])("asks with the options %j", async (options, summary) => {
    await using stage = await createStage();
    const given = options === undefined ? {} : { options };
    expect((await stage.use("ask_user", { question: "Which one?", ...given })).ends?.summary).toBe(summary);
  });

  it("is refused without a question", async () => {
    await using stage = await createStage();
    expect(await stage.use("ask_user", { question: "" })).toMatchObject({ isError: true });
  });
});
