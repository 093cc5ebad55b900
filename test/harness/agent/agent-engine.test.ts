import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createAgentEngine, type EngineWork } from "#harness/agent/agent.ts";
import { type Brief, writeBriefing } from "#harness/agent/briefing.ts";
import { createModel } from "#harness/agent/model.ts";
import type { AgentTools, Turn as EngineTurn, ToolUse, TurnOutcome } from "#harness/engine/engine.ts";
import type { Tool, ToolResult } from "#harness/engine/tool.ts";
import { Stop } from "#harness/support/stop.ts";
import { SliceEnd } from "#harness/support/time-slice.ts";
import type { Message } from "#shared/wire/conversation.ts";
import type { Turn } from "../../support/model-shapes.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";

let models: ModelStandIn;
beforeEach(async () => {
  models = await ModelStandIn.start();
});
afterEach(async () => {
  await models[Symbol.asyncDispose]();
});

interface Given extends Partial<EngineWork> {
  readonly mode?: EngineWork["context"]["mode"];
  /** The result of each tool use. */
  readonly result?: ToolResult | Error;
  readonly systemPrompt?: string;
  readonly maxResponses?: number;
}

const TURN: EngineTurn = { instructions: ["Go."], conversation: [] };

/** An engine whose model returns these responses. */
function start(turns: readonly Turn[], { mode = "normal", result = { output: { found: 1 } }, ...given }: Given = {}) {
  models.turns.push(...turns);
  const uses: [name: string, use: ToolUse][] = [];
  const calls: string[] = [];
  const events: unknown[] = [];
  const texts: string[] = [];
  const messages: unknown[] = [];
  const toolOf = (name: string): Tool => ({
    name,
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: {} },
    category: "search",
    readsOnly: true,
    run: () => Promise.reject(new Error("the engine does not run tools itself")),
  });
  const tools: AgentTools = {
    all: ["look", "create_plan"].map(toolOf),
    runCommand: () => Promise.reject(new Error("not used")),
    startCommand: () => Promise.reject(new Error("not used")),
    async use(tool, use) {
      uses.push([tool.name, use]);
      if (result instanceof Error) throw result;
      work.slice.afterStep();
      return result;
    },
  };
  const work: EngineWork = {
    envelope: { model_url: models.anthropicUrl, key: "ryr_key" },
    context: { mode, messages: [] },
    opening: ["Go."],
    outbox: {
      event: (name, payload) => void events.push([name, payload]),
      message: (message) => void messages.push(message),
      flush: async () => {},
    },
    live: { text: (text) => void texts.push(text) },
    slice: {
      deadlineAt: Number.POSITIVE_INFINITY,
      stepsEndAt: Number.POSITIVE_INFINITY,
      cutAt: Number.POSITIVE_INFINITY,
      beforeStep: () => void calls.push("before"),
      afterStep: () => void calls.push("after"),
    },
    signal: new AbortController().signal,
    turn: () => new AbortController().signal,
    ...given,
  };
  const { systemPrompt = "Be brief.", maxResponses } = given;
  const engine = createAgentEngine("anthropic/some", systemPrompt, work, createModel, maxResponses);
  return {
    uses,
    calls,
    events,
    texts,
    messages,
    take: (turn = TURN): Promise<TurnOutcome> => engine.takeTurn(turn, tools),
  };
}

const raw = (message: string) => JSON.stringify({ type: "error", error: { type: "error", message } });
const use = (name: string, input: unknown = { a: 1 }) => ({ name, input });
/** A raw response of the Messages API with this stop reason. */
const ended = (stop_reason: string, text: string): Turn => ({
  raw: JSON.stringify({
    id: "m",
    type: "message",
    role: "assistant",
    model: "some",
    content: text === "" ? [] : [{ type: "text", text }],
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }),
});

describe("a turn of an agent", () => {
  it("uses tools with what the model said, and ends with its text", async () => {
    const { take, uses, calls, texts } = start([
      { text: "I look.", tools: [use("look"), use("look", { b: 2 })] },
      { tools: [use("look")] },
      { text: "Found it." },
    ]);
    expect(await take()).toEqual({ success: true, summary: "Found it." });
    expect(uses).toMatchObject([
      ["look", { input: { a: 1 }, said: "I look." }],
      ["look", { input: { b: 2 } }],
      ["look", { input: { a: 1 } }],
    ]);
    expect(uses.map(([, { said }]) => said)).toEqual(["I look.", undefined, undefined]);
    // Only what is recorded is a step: the uses of tools.
    expect(calls.filter((call) => call === "after")).toHaveLength(3);
    expect(texts.join("")).toContain("I look.");
    const [first, second] = models.seen;
    expect(first?.headers["authorization"] ?? first?.headers["x-api-key"]).toContain("ryr_key");
    expect(first?.body.system).toEqual([expect.objectContaining({ text: "Be brief." })]);
    expect(first?.body.tools.map(({ name }: { name: string }) => name)).toEqual(["look", "create_plan"]);
    expect(JSON.stringify(second?.body.messages)).toContain("found: 1");
  });

  it("joins the texts of the last response by line breaks", async () => {
    const content = [
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
    ];
    expect(await start([{ raw: JSON.stringify({ content, stop_reason: "end_turn" }) }]).take()).toEqual({
      ...{ success: true, summary: "One.\nTwo." },
    });
  });

  it("reports to the model that a tool does not exist", async () => {
    const { take, uses } = start([{ tools: [use("missing")] }, { text: "Well." }]);
    expect(await take()).toEqual({ success: true, summary: "Well." });
    expect(uses.map(([name]) => name)).toEqual(["missing"]);
  });

  it("ends with the outcome of a tool, and uses no other", async () => {
    const ends = { success: false, blocked: true, summary: "Which?" };
    const { take, uses } = start([{ tools: [use("look"), use("look")] }, { text: "Unreached." }], {
      result: { output: {}, ends },
    });
    expect(await take()).toEqual(ends);
    expect([uses.length, models.seen.length]).toEqual([1, 1]);
  });

  it("ends with the failure of a tool that ends the turn", async () => {
    const stop = new Stop("cancelled", "it was cancelled");
    const { take, uses } = start([{ tools: [use("look"), use("look")] }, { text: "Unreached." }], { result: stop });
    await expect(take()).rejects.toBe(stop);
    expect([uses.length, models.seen.length]).toEqual([1, 1]);
  });

  it.each([
    ["stop_sequence", "Done.", { success: true, summary: "Done." }],
    ["refusal", "", { success: false, summary: "The model refused to respond." }],
    ["refusal", "No.", { success: false, summary: "The model refused to respond. It said: No." }],
  ])("returns the outcome of a response with the stop reason %s and the text %j", async (reason, text, outcome) => {
    expect(await start([ended(reason, text)]).take()).toEqual(outcome);
  });

  it("asks once more for a response that is empty or has a tool call as text, and then fails with the reason", async () => {
    const asText = '<tool_call>\n{"name": "look", "arguments": {}}\n</tool_call>';
    expect(await start([{ text: "" }, { text: "Done." }]).take()).toEqual({ success: true, summary: "Done." });
    const [first, second] = models.seen.splice(0);
    expect(second?.body.messages).toHaveLength(first?.body.messages.length + 1);
    expect(JSON.stringify(second?.body.messages)).toContain("had no text and no tool call");
    expect(await start([{ text: "" }, { text: " " }]).take()).toEqual({
      success: false,
      summary: "The model returned an empty response twice: neither text nor a tool call.",
    });
    expect(await start([{ text: asText }, { text: asText }]).take()).toMatchObject({
      success: false,
      summary: expect.stringContaining("wrote its tool calls as text twice"),
    });
  });

  it.each([
    "Now I'll create the file:",
    "Let me look at the README first.",
    "I found the cause.\n\nNext, I will fix the import.",
    "Great! Let\u2019s run the tests.",
  ])("asks for the step that a response announces without a tool call: %s", async (announcement) => {
    const { take, uses } = start([{ text: announcement }, { tools: [use("look")] }, { text: "Done." }]);
    expect(await take()).toEqual({ success: true, summary: "Done." });
    expect(uses).toHaveLength(1);
    expect(JSON.stringify(models.seen[1]?.body.messages.at(-1))).toContain("announces a step");
  });

  it("asks for an announced step again after another tool use", async () => {
    const [text, tools] = ["Let me look at the next file.", [use("look")]];
    const { take, uses } = start([{ text }, { tools }, { text }, { tools }, { text: "Done." }]);
    expect(await take()).toEqual({ success: true, summary: "Done." });
    expect(uses).toHaveLength(2);
  });

  it("takes the response after that for the result, whatever it says", async () => {
    const text = "Let me look at the README first.";
    expect(await start([{ text }, { text }]).take()).toEqual({ success: true, summary: text });
    expect(models.seen).toHaveLength(2);
  });

  const REPORT = "The tests pass.\n\nI'll leave the docs as they are.";

  it("keeps a result that ends like an announcement, before the response to the hint", async () => {
    const { take } = start([{ text: REPORT }, { text: "The task is done." }]);
    expect(await take()).toEqual({ success: true, summary: `${REPORT}\n\nThe task is done.` });
    const { take: takeNext, uses } = start([{ text: REPORT }, { tools: [use("look")] }, { text: "Done." }]);
    expect(await takeNext()).toEqual({ success: true, summary: "Done." });
    expect(uses).toMatchObject([["look", { said: expect.stringContaining(REPORT) }]]);
  });

  it("submits a short plan that says what it will do together with the response to the hint", async () => {
    const plan = "I will add a test and repair the import.";
    const { take, uses } = start([{ text: plan }, { text: "This is the whole plan." }], { mode: "plan" });
    const content = `${plan}\n\nThis is the whole plan.`;
    expect(await take()).toEqual({ success: true, summary: content });
    expect(uses).toMatchObject([["create_plan", { input: { title: plan, content } }]]);
  });

  it("takes the response to the hint alone for the result of a run with an output schema", async () => {
    const agent_config = { output_schema: { type: "object" } };
    const context: EngineWork["context"] = { mode: "normal", messages: [], agent_config };
    const { take } = start([{ text: "Let me look at the README first." }, { text: "{}" }], { context });
    expect(await take()).toEqual({ success: true, summary: "{}" });
  });

  it.each([
    "Done. Let me know if something is missing.",
    "Tell me the name, then I will create the file once you have decided.",
    "I will not be able to do this without the key.",
    `I will list the results.\n${"- A result of the analysis.\n".repeat(20)}I will stop here.`,
    "Fixed the import. Should I update the docs?",
  ])("takes a report for the result: %s", async (text) => {
    expect(await start([{ text }]).take()).toEqual({ success: true, summary: text });
    expect(models.seen).toHaveLength(1);
  });

  it.each([
    '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="look">',
    'look:0<|tool_call_argument_begin|>{"at": "x"}<|tool_calls_section_end|>',
    "<|tool_call>call:look{at:x}<tool_call|>",
    '<|tool_call|>[{"name": "look", "arguments": {}}]',
    '<|channel|>commentary to=functions.look<|message|>{"at": "x"}',
  ])("does not take a tool call that the server has not recognized for a result: %s", async (asText) => {
    expect(await start([{ text: asText }, { text: "Done." }]).take()).toEqual({ success: true, summary: "Done." });
    expect(models.seen).toHaveLength(2);
  });

  it("continues a truncated response up to three times in a row", async () => {
    const cut = ended("max_tokens", "Part. ");
    const { take, uses } = start([
      cut,
      ended("max_tokens", " "),
      cut,
      { text: "End.", tools: [use("look")] },
      cut,
      { text: "Done." },
    ]);
    expect(await take()).toEqual({ success: true, summary: "Part. Done." });
    expect(uses.map(([, { said }]) => said)).toEqual(["Part. Part. End."]);
    const goOn =
      "Your response was truncated at the token limit. Continue where it stopped, and send long content in several parts.";
    const last = models.seen[1]?.body.messages.slice(-2);
    expect(last).toMatchObject([
      { role: "assistant", content: [{ text: "Part. " }] },
      { role: "user", content: [{ text: goOn }] },
    ]);
    const often = start([cut, cut, cut, cut, { text: "Unreached." }]);
    expect(await often.take()).toEqual({
      success: false,
      summary: "The model's response was truncated at the token limit 4 times in a row.",
    });
  });

  it.each([
    [4, undefined, 4],
    [4, 6, 6],
    [4, 3, 4],
  ])("ends after %d responses, unless max_steps is higher (%s)", async (maxResponses, max_steps, most) => {
    const agent_config = max_steps === undefined ? {} : { max_steps };
    const { take, uses } = start(
      Array.from({ length: 9 }, (_, index) => ({ tools: [use("look", { index })] })),
      { maxResponses, context: { mode: "normal", messages: [], agent_config } },
    );
    expect(await take()).toEqual({
      success: false,
      summary: `The turn ended after ${most} model responses. Send a follow-up to continue.`,
    });
    expect([uses.length, models.seen.length]).toEqual([most, most]);
  });

  it("has room for 500 commands by default", { timeout: 120_000 }, async () => {
    const commands = Array.from({ length: 500 }, (_, index) => ({ tools: [use("look", { index })] }));
    expect(await start([...commands, { text: "Done." }]).take()).toEqual({ success: true, summary: "Done." });
  });

  it("is told when a tool use repeats with the same result, and ends when it goes on", async () => {
    const same = (timeout_seconds: number): Turn => ({ tools: [use("look", { a: 1, timeout_seconds })] });
    const { take, uses, messages } = start(Array.from({ length: 9 }, (_, index) => same(index + 1)));
    expect(await take()).toEqual({
      success: false,
      summary:
        "The turn was ended because the agent made no progress: the same use of a tool had the same result 8 times in a row. " +
        "Send a follow-up to continue.",
    });
    expect([uses.length, models.seen.length]).toEqual([8, 8]);
    const nudge = "You are repeating yourself: the same use of a tool had the same result 4 times in a row.";
    const told = models.seen.map(({ body }) => JSON.stringify(body.messages).includes(nudge));
    expect(told).toEqual([false, false, false, false, true, true, true, true]);
    expect(messages).toEqual([{ role: "system", content: [{ type: "text", text: expect.stringContaining(nudge) }] }]);
  });

  it("goes on after one response with many calls that repeat each other, since it was not told between them", async () => {
    const same = { tools: Array.from({ length: 20 }, () => use("look", { a: 1 })) };
    const { take, uses, messages } = start([same, { text: "Done." }]);
    expect(await take()).toEqual({ success: true, summary: "Done." });
    expect([uses.length, messages.length]).toEqual([20, 1]);
    const again = start([same, same, { text: "Done." }]);
    expect(await again.take()).toMatchObject({ success: false, summary: expect.stringContaining("21 times in a row") });
  });

  it("counts the uses of the turn's earlier executions, so that a loop does not outlive them", async () => {
    const kind = { category: "search" as const, name: "look" };
    const conversation = Array.from({ length: 7 }, (_, index): Message[] => [
      { role: "assistant", content: [{ type: "action", id: `a${index}`, ...kind, input: { a: 1 } }] },
      {
        role: "tool",
        content: [{ type: "action_result", action_id: `a${index}`, ...kind, state: "completed", output: { found: 1 } }],
      },
    ]).flat();
    const { take, uses } = start([{ tools: [use("look")] }, { text: "Unreached." }]);
    expect(await take({ instructions: ["Go."], conversation })).toMatchObject({
      success: false,
      summary: expect.stringContaining("the same use of a tool had the same result 8 times in a row"),
    });
    expect(uses).toHaveLength(1);
  });

  it("is told once what is left of the run's limits, and again before its last response", async () => {
    const left = (remaining: string, a: number): Turn => ({
      tools: [use("look", { a })],
      headers: { "runyard-remaining": remaining },
    });
    const { take, messages } = start([
      left("3 model responses, 900 tokens", 1),
      left("2 model responses, 500 tokens", 2),
      left("1 model response, 100 tokens", 3),
      { text: "Done." },
    ]);
    expect(await take()).toMatchObject({ success: true });
    const told = models.seen.map(({ body }) => JSON.stringify(body.messages).split("left are: ").length - 1);
    expect(told).toEqual([0, 1, 1, 2]);
    const text = (remaining: string) =>
      `The run ends when its limits are reached; left are: ${remaining}. Finish the most important work now, and say what is not done.`;
    expect(messages).toEqual(
      ["3 model responses, 900 tokens", "1 model response, 100 tokens"].map((remaining) => ({
        role: "system",
        content: [{ type: "text", text: text(remaining) }],
      })),
    );
  });

  it("ends at once if its response repeats a passage until the token limit", async () => {
    const text = "Let me think about the failing test of the parser once more before I go on. ".repeat(60);
    expect(await start([ended("max_tokens", text), { text: "Unreached." }]).take()).toEqual({
      success: false,
      summary: expect.stringContaining("its response repeats the same text until the token limit"),
    });
  });

  it.each([
    [400, "The model request failed: no", "invalid_request"],
    [404, "The model request failed: no", "invalid_request"],
    [422, "The model request failed: no", "invalid_request"],
    [413, "The model request failed: no", undefined],
    [403, "The model request failed: no", undefined],
  ])("fails with status %i of the gateway", async (status, summary, error_code) => {
    const raw = JSON.stringify({ type: "error", error: { type: "error", message: "no" } });
    expect(await start([{ status, raw }]).take()).toEqual({
      success: false,
      summary,
      ...(error_code === undefined ? {} : { error_code }),
    });
  });

  it("fails if the budget is spent, and stops if its key is no longer valid", async () => {
    expect(await start([{ status: 403, raw: raw("budget_exceeded: 1 USD") }]).take()).toEqual({
      success: false,
      summary: "The run's budget is spent: budget_exceeded: 1 USD",
    });
    await expect(start([{ status: 401, raw: raw("expired") }]).take()).rejects.toMatchObject({
      kind: "stale",
      message: "the model gateway returned 401: expired",
    });
    expect(
      await start([{ status: 400, raw: raw("prompt is too long: it returned 400: 9 tokens.") }]).take(),
    ).toMatchObject({
      success: false,
      summary: "The conversation exceeds the model's context window: it returned 400: 9 tokens.",
    });
  });

  it("reports a failed call that it repeats", async () => {
    const { take, events } = start([{ status: 529 }, { text: "Done." }]);
    expect(await take()).toEqual({ success: true, summary: "Done." });
    expect(events).toEqual([
      ["model_retry", { attempt: 1, of: 10, reason: "the stand-in returns 529", next_in_ms: expect.any(Number) }],
    ]);
  });

  it("continues with the next fallback model after an outage, and names it in the timeline", async () => {
    const down: Turn = { status: 503, raw: raw("down for maintenance"), headers: { "retry-after": "0" } };
    const context = {
      mode: "normal" as const,
      messages: [],
      agent_config: { fallback_model_ids: ["anthropic/second", "openai/third"] },
    };
    const before = models.seen.length;
    const { take, events, uses } = start(
      [
        { tools: [use("look")] },
        down,
        down,
        down,
        { status: 500, raw: raw("bad key"), headers: { "x-should-retry": "false" } },
        { text: "Done." },
      ],
      { context },
    );
    expect(await take()).toEqual({ success: true, summary: "Done." });
    expect(uses).toHaveLength(1);
    expect(models.seen.slice(before).map(({ body }) => body.model)).toEqual([
      "anthropic/some",
      ...["anthropic/some", "anthropic/some", "anthropic/some"],
      "anthropic/second",
      "openai/third",
    ]);
    expect(events.slice(2)).toEqual([
      [
        "agent_started",
        {
          model_id: "anthropic/second",
          detail: expect.stringContaining("anthropic/some failed: down for maintenance"),
        },
      ],
      [
        "agent_started",
        { model_id: "openai/third", detail: expect.stringContaining("anthropic/second failed: bad key") },
      ],
    ]);
  });

  it("repeats a call without the reasoning level that its server refuses, remembers it, and says so once", async () => {
    const context = { mode: "normal" as const, messages: [], agent_config: { reasoning_level: "high" as const } };
    const before = models.seen.length;
    const refusal: Turn = { status: 400, raw: raw("output_config: Extra inputs are not permitted") };
    const { take, events } = start([refusal, { tools: [use("look")] }, { text: "Done." }, { text: "Again." }], {
      context,
    });
    expect(await take()).toEqual({ success: true, summary: "Done." });
    expect(await take()).toEqual({ success: true, summary: "Again." });
    expect(models.seen.slice(before).map(({ body }) => body.output_config)).toEqual([
      { effort: "high" },
      ...[undefined, undefined, undefined],
    ]);
    expect(events).toEqual([
      ["agent_started", { model_id: "anthropic/some", detail: expect.stringContaining("its server refuses it") }],
    ]);
  });

  // @contract runs.config.reasoning-sent: The built-in agent sends its reasoning_level to the model.
  it("sends the level of the harness before that of the configuration", async () => {
    const harness = { type: "default" as const, reasoning_level: "low" };
    const agent_config = { reasoning_level: "high" as const, harness };
    const { take, events } = start([{ text: "Done." }], { context: { mode: "normal", messages: [], agent_config } });
    expect(await take()).toMatchObject({ success: true });
    expect([models.seen.at(-1)?.body.output_config, events]).toEqual([{ effort: "low" }, []]);
  });

  it("stays with its model after a refusal that another model would not repair", async () => {
    const context = { mode: "normal" as const, messages: [], agent_config: { fallback_model_ids: ["openai/other"] } };
    const before = models.seen.length;
    const { take, events } = start([{ status: 400, raw: raw("tools are not supported") }], { context });
    expect(await take()).toMatchObject({ success: false, summary: expect.stringContaining("tools are not supported") });
    expect([events, models.seen.length - before]).toEqual([[], 1]);
  });

  // @contract interrupt.model: An interrupt stops the turn's model call.
  it("ends with the reason of the execution or the turn", async () => {
    const reason = new Error("interrupted");
    const never = new Promise<void>(() => {});
    for (const name of ["signal", "turn"] as const) {
      const controller = new AbortController();
      const given = name === "signal" ? { signal: controller.signal } : { turn: () => controller.signal };
      const { take } = start([{ after: never }], given);
      setTimeout(() => controller.abort(reason), 50);
      await expect(take()).rejects.toBe(reason);
      models.turns.length = 0;
    }
  });

  it("ends when the execution has no time for another step", async () => {
    const end = new SliceEnd();
    let steps = 0;
    const slice = {
      deadlineAt: Number.POSITIVE_INFINITY,
      stepsEndAt: Number.POSITIVE_INFINITY,
      cutAt: Number.POSITIVE_INFINITY,
      beforeStep: () => {
        if (steps > 0) throw end;
      },
      afterStep: () => void steps++,
    };
    const { take, uses } = start([{ tools: [use("look")] }, { text: "Unreached." }], { slice });
    await expect(take()).rejects.toBe(end);
    expect([uses.length, models.seen.length]).toEqual([1, 1]);
  });

  it("drops a response that comes too late to save the work, except for the first", async () => {
    const end = new SliceEnd();
    const slice = (beforeStep: () => void) => ({
      deadlineAt: Date.now() + 60_000,
      stepsEndAt: Number.POSITIVE_INFINITY,
      cutAt: Date.now() + 300,
      beforeStep,
      afterStep: () => {},
    });
    const refuse = () => {
      throw end;
    };
    const late = start([{ after: new Promise<void>(() => {}) }], { slice: slice(refuse) });
    await expect(late.take()).rejects.toBe(end);
    models.turns.length = 0;
    const first = start([{ text: "Done.", after: new Promise((resolve) => setTimeout(resolve, 400)) }], {
      slice: slice(() => {}),
    });
    expect(await first.take()).toEqual({ success: true, summary: "Done." });
  });

  it("fails if the model does not respond within the execution", async () => {
    const never = new Promise<void>(() => {});
    const slice = {
      deadlineAt: Date.now() + 100,
      stepsEndAt: Number.POSITIVE_INFINITY,
      cutAt: Number.POSITIVE_INFINITY,
      beforeStep: () => {},
      afterStep: () => {},
    };
    expect(await start([{ after: never }], { slice }).take()).toEqual({
      success: false,
      summary: "The model did not respond within the time of one execution.",
    });
  });

  it("in plan mode submits its final response as the plan, unless it has submitted one", async () => {
    const { take, uses } = start([{ text: "# The plan\n\nDo it." }], { mode: "plan" });
    expect(await take()).toEqual({ success: true, summary: "# The plan\n\nDo it." });
    expect(uses).toMatchObject([["create_plan", { input: { title: "The plan", content: "# The plan\n\nDo it." } }]]);
    const planned = start([{ tools: [use("create_plan")] }, { text: "Done." }], { mode: "plan" });
    await planned.take();
    expect(planned.uses).toHaveLength(1);
    const refused = start([{ tools: [use("create_plan")] }, { text: "Done." }], {
      mode: "plan",
      result: { isError: true, output: { error: "no" } },
    });
    expect(await refused.take()).toMatchObject({
      success: false,
      summary: expect.stringContaining("could not be submitted"),
    });
    expect(refused.uses).toHaveLength(2);
    const normal = start([{ text: "Done." }]);
    await normal.take();
    expect(normal.uses).toEqual([]);
  });
});

describe("writeBriefing", () => {
  const BRIEF: Brief = {
    modelId: "anthropic/claude",
    mode: "normal",
    basePrompt: undefined,
    workspace: "/workspace",
    workingDirectory: "/workspace/shop",
    repositories: [],
    attachments: [],
    skills: [],
    unusableSkills: [],
    instructions: [],
    network: "",
    computerUse: false,
  };
  const parts = (brief: Partial<Brief>, ...tools: string[]) =>
    writeBriefing(
      { ...BRIEF, ...brief },
      tools.map((name) => ({ name })),
    ).split("\n\n");
  const PLACE =
    "The workspace is /workspace; commands start in /workspace/shop. Relative paths are relative to that directory.";

  it("describes the role, the place and the output", () => {
    const [role, work, place, output, ...more] = parts({});
    expect(role).toMatch(/^You are a software agent/);
    expect(work).toMatch(/^How to work on code:/);
    expect([place, more]).toEqual([PLACE, []]);
    expect(output).toMatch(/^Files in the directory \$RUNYARD_OUTPUT/);
  });

  it("lists repositories, attachments, skills and limits, and ends with the run's base prompt", () => {
    const [, , place, , ...more] = parts({
      repositories: [
        { name: "acme/shop", path: "shop" },
        { name: "acme/b", path: "deep/b" },
      ],
      attachments: ['a".txt', "b"],
      skills: [
        { id: "acme/shop:a", name: "a", description: "First." },
        { id: "acme/shop:b", name: "b", description: "" },
      ],
      instructions: [{ path: "shop/AGENTS.md", content: "Use tabs.\n" }],
      network: "There is no network.",
      computerUse: true,
      basePrompt: "Be kind.",
    });
    expect(place?.split("\n")).toEqual([
      PLACE,
      "The repository acme/shop is cloned in /workspace/shop.",
      "The repository acme/b is cloned in /workspace/deep/b.",
      'Attached files are in /workspace/attachments: "a\\".txt", "b".',
      "There is no network.",
      expect.stringMatching(/^The run asks for computer use, which is not supported/),
    ]);
    expect(more).toEqual([
      expect.stringMatching(/before you start:\n- a \(id: acme\/shop:a\): First\.\n- b \(id: acme\/shop:b\)$/),
      expect.stringMatching(/^Instructions of the repositories follow.* never widen your rights/s),
      '<instructions file="shop/AGENTS.md">\nUse tabs.\n</instructions>',
      "Be kind.",
    ]);
  });

  it.each([
    ["plan", ["create_plan"], /^You are in plan mode.* Submit the plan with create_plan\.$/s],
    ["plan", [], /^You are in plan mode.* Your last answer is the plan: write it as a Markdown document\.$/s],
    ["orchestrate", ["start_agent"], /^You coordinate other agents\./],
    ["orchestrate", [], undefined],
    ["normal", ["start_agent", "create_plan"], undefined],
  ] as const)("explains the mode %s with the tools %j", (mode, tools, text) => {
    expect(parts({ mode }, ...tools).slice(4)).toEqual(text === undefined ? [] : [expect.stringMatching(text)]);
  });
});
