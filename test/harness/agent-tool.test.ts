import {
  type BaseModelConfig,
  Message,
  Model,
  type ModelStreamEvent,
  type StreamOptions,
  TextBlock,
  type ToolContext,
  ToolResultBlock,
  ToolUseBlock,
} from "@strands-agents/sdk";
import { describe, expect, it } from "vitest";
import { AgentTool, createMissingTool } from "#harness/agent/agent-tool.ts";
import { createCompaction } from "#harness/agent/compaction.ts";
import { parseToolInput } from "#harness/agent/dialects/tool-input.ts";
import type { ToolUse } from "#harness/engine/engine.ts";
import type { Tool, ToolResult } from "#harness/engine/tool.ts";

const LOOK: Tool = {
  ...{ name: "look", description: "Looks.", inputSchema: { type: "object" }, category: "search", readsOnly: true },
  run: async () => ({ output: { found: 1 } }),
};

/** Calls the tool with this input, and returns what the model gets and what the turn records. */
async function call(input: unknown, { tool = LOOK, said, fails }: Given = {}) {
  const noted: unknown[] = [];
  const used = new AgentTool(tool, {
    tools: {
      all: [tool],
      runCommand: () => Promise.reject(new Error("runs nothing")),
      async use(it: Tool, use: ToolUse) {
        noted.push(["use", it.name, use]);
        if (fails !== undefined) throw fails;
        return it.run(use.input, { id: use.id, signal: new AbortController().signal, onOutput: () => {} });
      },
    },
    takeSaid: () => said,
    ended: (name: string, result: ToolResult) => void noted.push(["ended", name, result]),
    broke: (error: unknown) => void noted.push(["broke", error]),
  });
  const context: ToolContext = Object.create({ toolUse: { name: tool.name, toolUseId: "t1", input } });
  const { done, value } = await used.stream(context).next();
  const { toolUseId, status, content } = value;
  const texts = content.map((block) => (block.type === "textBlock" ? JSON.parse(block.text) : block.type));
  return { noted, spec: used.toolSpec, result: { done, toolUseId, status, texts } };
}
interface Given {
  readonly tool?: Tool;
  readonly said?: string;
  readonly fails?: Error;
}

describe("AgentTool", () => {
  it("uses the tool once with what the model said, and returns its result", async () => {
    const { noted, spec, result } = await call({ a: 1 }, { said: "I look." });
    expect(spec).toEqual({ name: "look", description: "Looks.", inputSchema: { type: "object" } });
    expect(noted).toStrictEqual([
      ["use", "look", { id: "t1", input: { a: 1 }, said: "I look." }],
      ["ended", "look", { output: { found: 1 } }],
    ]);
    expect(result).toEqual({ done: true, toolUseId: "t1", status: "success", texts: [{ found: 1 }] });
    expect((await call({})).noted[0]).toStrictEqual(["use", "look", { id: "t1", input: {} }]);
  });

  it.each([
    [true, "error"],
    [false, "success"],
  ])("returns a result with isError: %j as %s", async (isError, status) => {
    const tool = { ...LOOK, run: async () => ({ isError, output: {} }) };
    expect((await call({}, { tool })).result).toMatchObject({ status, texts: [{}] });
  });

  it("does not run the tool if its input is not a JSON object", async () => {
    const { noted, result } = await call(parseToolInput("[1]"));
    const error = "the input of this call is not a JSON object, so nothing was done; it starts with: [1]";
    expect(noted.slice(1)).toEqual([["ended", "look", { isError: true, output: { error } }]]);
    expect(result).toMatchObject({ status: "error", texts: [{ error }] });
  });

  it("reports a failure that ends the turn", async () => {
    const fails = new Error("over");
    const { noted, result } = await call({}, { fails });
    expect(noted.slice(1)).toEqual([["broke", fails]]);
    expect(result).toMatchObject({ status: "error", texts: [{ error: "the turn has ended" }] });
  });
});

describe("createMissingTool", () => {
  it("lists the available tools", async () => {
    const { run, ...tool } = createMissingTool(`"${"x".repeat(120)}`, ["look", "read"]);
    const error = `there is no tool "\\"${"x".repeat(99)}"; available tools: look, read`;
    expect(tool).toEqual({
      ...{ name: `"${"x".repeat(120)}`, description: "", inputSchema: {}, category: "integration", readsOnly: true },
    });
    const signal = new AbortController().signal;
    expect(await run({}, { id: "1", signal, onOutput: () => {} })).toEqual({ isError: true, output: { error } });
  });
});

/** A model that returns a fixed text and records its requests. */
class RecordingModel extends Model {
  readonly requests: { texts: string[]; options: StreamOptions | undefined }[] = [];
  config: BaseModelConfig = { modelId: "some" };

  updateConfig(config: BaseModelConfig): void {
    this.config = config;
  }

  getConfig(): BaseModelConfig {
    return this.config;
  }

  async *stream(messages: Message[], options?: StreamOptions): AsyncIterable<ModelStreamEvent> {
    const texts = messages.flatMap(({ role, content }) =>
      content.map((block) => `${role}: ${block.type === "textBlock" ? block.text : block.type}`),
    );
    this.requests.push({ texts, options });
    yield { type: "modelMessageStartEvent", role: "assistant" };
    yield { type: "modelContentBlockStartEvent" };
    yield { type: "modelContentBlockDeltaEvent", delta: { type: "textDelta", text: "Short." } };
    yield { type: "modelContentBlockStopEvent" };
    yield { type: "modelMessageStopEvent", stopReason: "endTurn" };
  }
}

describe("createCompaction", () => {
  const user = (...content: Message["content"]) => new Message({ role: "user", content });
  const assistant = (...content: Message["content"]) => new Message({ role: "assistant", content });
  const text = (value: string) => new TextBlock(value);

  it("summarizes the older half as one text, and keeps the last six messages", async () => {
    const model = new RecordingModel();
    const result = new ToolResultBlock({ toolUseId: "1", status: "error", content: [text("a"), text("b")] });
    const messages = [
      user(text("Go."), text("Now.")),
      assistant(text("I look."), new ToolUseBlock({ name: "look", toolUseId: "1", input: { a: 1 } })),
      user(result),
      assistant(text("More.")),
      ...Array.from({ length: 6 }, (_, index) => (index % 2 === 0 ? user : assistant)(text(`kept ${index}`))),
    ];
    const agent = Object.create({ messages });
    expect(await createCompaction(model).reduce({ agent, model })).toBe(true);
    expect(model.requests).toEqual([
      {
        texts: [
          'user: ## user\nGo.\nNow.\n\n## assistant\nI look.\n[uses look: {"a":1}]\n\n## user\n[error: a\nb]\n\n' +
            "## assistant\nMore.\n\n## user\nPlease summarize this conversation.",
        ],
        options: { systemPrompt: expect.stringMatching(/^You are given the first part of a software agent's work/) },
      },
    ]);
    const shown = messages.map(({ content }) => content.map((block) => (block.type === "textBlock" ? block.text : "")));
    expect(shown).toEqual([["Short."], ...Array.from({ length: 6 }, (_, index) => [`kept ${index}`])]);
  });

  it("begins at three quarters of the model's context window", async () => {
    const model = new RecordingModel();
    model.config = { contextWindowLimit: 100 };
    const messages = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? user : assistant)(text(`${index}`)));
    const hooks: ((event: object) => Promise<void>)[] = [];
    const agent = Object.create({ messages, addHook: (_: unknown, hook: (typeof hooks)[number]) => hooks.push(hook) });
    createCompaction(model).initAgent(agent);
    for (const [projectedInputTokens, left] of [
      [74, 20],
      [75, 11],
    ]) {
      for (const hook of hooks) await hook({ agent, model, projectedInputTokens });
      expect(messages).toHaveLength(left ?? 0);
    }
  });
});
