import type { ToolContext } from "@strands-agents/sdk";
import { describe, expect, it } from "vitest";
import { AgentTool, createMissingTool } from "#harness/agent/agent-tool.ts";
import { parseToolInput } from "#harness/agent/dialects/tool-input.ts";
import { createImageViewer } from "#harness/agent/shown-images.ts";
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
      startCommand: () => Promise.reject(new Error("runs nothing")),
      async use(it: Tool, use: ToolUse) {
        noted.push(["use", it.name, use]);
        if (fails !== undefined) throw fails;
        return it.run(use.input, { id: use.id, signal: new AbortController().signal, onOutput: () => {} });
      },
    },
    images: createImageViewer(true),
    begin: () => said,
    ended: (name: string, result: ToolResult) => void noted.push(["ended", name, result]),
    broke: (error: unknown) => void noted.push(["broke", error]),
  });
  const context: ToolContext = Object.create({ toolUse: { name: tool.name, toolUseId: "t1", input } });
  const { done, value } = await used.stream(context).next();
  const { toolUseId, status, content } = value;
  const texts = content.map((block) => (block.type === "textBlock" ? block.text : block.type));
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
    expect(result).toEqual({ done: true, toolUseId: "t1", status: "success", texts: ["found: 1"] });
    expect((await call({})).noted[0]).toStrictEqual(["use", "look", { id: "t1", input: {} }]);
  });

  it("is used by the tool that carries out its calls, with that tool's input", async () => {
    const toInput = (input: unknown) => ({ server: "box", arguments: input });
    const own: Tool = { ...LOOK, name: "mcp__box__look", via: { tool: { ...LOOK, name: "call_mcp_tool" }, toInput } };
    const { noted, spec } = await call({ a: 1 }, { tool: own });
    expect(spec.name).toBe("mcp__box__look");
    const use = { id: "t1", input: { server: "box", arguments: { a: 1 } } };
    expect(noted).toStrictEqual([
      ["use", "call_mcp_tool", use],
      ["ended", "call_mcp_tool", { output: { found: 1 } }],
    ]);
  });

  it.each([
    [true, "error"],
    [false, "success"],
  ])("returns a result with isError: %j as %s", async (isError, status) => {
    const tool = { ...LOOK, run: async () => ({ isError, output: {} }) };
    expect((await call({}, { tool })).result).toMatchObject({ status, texts: ["no result"] });
  });

  it("does not run the tool if its input is not a JSON object", async () => {
    const { noted, result } = await call(parseToolInput("[1]"));
    const error = "the input of this call is not a JSON object, so nothing was done; it starts with: [1]";
    expect(noted.slice(1)).toEqual([["ended", "look", { isError: true, output: { error } }]]);
    expect(result).toMatchObject({ status: "error", texts: [`error: ${error}`] });
  });

  it("reports a failure that ends the turn", async () => {
    const fails = new Error("over");
    const { noted, result } = await call({}, { fails });
    expect(noted.slice(1)).toEqual([["broke", fails]]);
    expect(result).toMatchObject({ status: "error", texts: ["error: the turn has ended"] });
  });
});

describe("createMissingTool", () => {
  it.each([
    ["mcp__box__look", ["call_mcp_tool"], 'use call_mcp_tool with {"server":"box","tool":"look"}; available'],
    ["mcp__box__look", ["read"], 'no tool "mcp__box__look"; available'],
    ["look", ["call_mcp_tool"], 'no tool "look"; available'],
  ])("says how a tool of an MCP server is called instead: %s with %j", async (name, names, error) => {
    const signal = new AbortController().signal;
    const result = await createMissingTool(name, names).run({}, { id: "1", signal, onOutput: () => {} });
    expect(result).toMatchObject({ isError: true, output: { error: expect.stringContaining(error) } });
  });

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
