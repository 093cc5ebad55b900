import { describe, expect, it } from "vitest";
import { createRedactor } from "#harness/redaction/redactor.ts";
import { createSlice } from "#harness/support/time-slice.ts";
import type { McpConnection, McpTool } from "#harness/tools/remote/mcp-connection.ts";
import { createMcpTools } from "#harness/tools/remote/mcp-tools.ts";

const signal = new AbortController().signal;

const toolOf = (name: string, more: Partial<McpTool> = {}): McpTool => ({
  name,
  description: `Does ${name} for s3cret-value.`,
  inputSchema: {
    type: "object",
    properties: { count: { type: "integer" }, tags: { type: "array", items: { type: "string" } } },
  },
  ...more,
});

/** The tools of a run with the servers `box` and `gone`, and the calls that reach `box`. */
function create(listed: readonly McpTool[], more: Partial<McpConnection> = {}, readsOnly = false) {
  const calls: unknown[] = [];
  const connection: McpConnection = {
    tools: listed,
    listTools: async () => listed,
    call: async (tool, input) => {
      calls.push([tool, input]);
      return { content: [{ type: "text", text: "done" }] };
    },
    close: async () => {},
    ...more,
  };
  const tools = createMcpTools(
    [
      { name: "box", connection },
      { name: "gone", unavailable: "it is down" },
    ],
    {
      ...{ redactor: createRedactor(["s3cret-value"]), readsOnly, slice: createSlice(undefined) },
    },
  );
  const find = (name: string) => {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`there is no ${name}`);
    return tool;
  };
  const use = (name: string, input: object) => find(name).run(input, { id: "1", signal });
  return { names: tools.map(({ name }) => name), find, use, calls };
}
const many = (count: number) => Array.from({ length: count }, (_, index) => toolOf(`tool_${index}`));

describe("the tools of MCP servers", () => {
  it("are tools of their own with their schemas, redacted, while they are at most 40", () => {
    const { names, find } = create([toolOf("look", { annotations: { readOnlyHint: true } }), toolOf("change")]);
    expect(names).toEqual(["call_mcp_tool", "mcp__box__look", "mcp__box__change"]);
    expect(find("mcp__box__look")).toMatchObject({
      description: "Does look for ***.",
      inputSchema: toolOf("look").inputSchema,
      readsOnly: true,
      parallel: true,
    });
    expect(find("mcp__box__change")).toMatchObject({ readsOnly: false, parallel: false });
    expect(find("call_mcp_tool").description.split("\n\n").slice(1)).toEqual([
      "Server box: all tools begin with mcp__box__",
      "Server gone is not available: it is down",
    ]);
    expect(create(many(40)).names).toHaveLength(41);
    expect(create(many(41)).names).toEqual(["call_mcp_tool"]);
  });

  it("are tools of their own while their definitions have 128 KiB together, and the others are called by call_mcp_tool", () => {
    const large = many(12).map((tool) => ({ ...tool, description: "d".repeat(14 * 1024) }));
    const { names, find } = create(large);
    expect(names.slice(1)).toEqual(many(9).map(({ name }) => `mcp__box__${name}`));
    expect(find("call_mcp_tool").description).toContain("- tool_9:");
    expect(find("call_mcp_tool").description).not.toContain("- tool_8:");
  });

  it("are searched by words where they are more", async () => {
    const { use } = create([...many(60), toolOf("create_issue", { description: "Opens a ticket in the tracker." })]);
    const { output } = await use("call_mcp_tool", { server: "box", query: "open a tracker ticket" });
    expect(output["tools"]).toMatchObject([{ name: "create_issue", inputSchema: { type: "object" } }]);
    expect((await use("call_mcp_tool", { server: "box", query: "nothing like it" })).output["tools"]).toEqual([]);
    const numbered = (await use("call_mcp_tool", { server: "box", query: "tool 57" })).output["tools"];
    expect(JSON.stringify(numbered), "also by a short number").toMatch(/^\[\{"name":"tool_57"/);
    const found = (await use("call_mcp_tool", { server: "box", query: "tool" })).output["tools"];
    expect(found).toHaveLength(10);
  });

  it("are called as call_mcp_tool, whose calls clients know, with arguments repaired by their schema", async () => {
    const { properties } = toolOf("change").inputSchema;
    const inputSchema = { type: "object" as const, properties: { ...properties, note: { type: ["string", "null"] } } };
    const { find, use, calls } = create([toolOf("change", { inputSchema })]);
    const { via } = find("mcp__box__change");
    expect(via?.tool.name).toBe("call_mcp_tool");
    expect(via?.toInput({ count: "3", tags: '["a"]' })).toEqual({
      server: "box",
      tool: "change",
      arguments: { count: 3, tags: ["a"] },
    });
    expect((await use("mcp__box__change", { count: "3", tags: "a", note: null })).output).toEqual({ text: "done" });
    expect(calls).toEqual([["change", { count: 3, tags: ["a"], note: null }]]);
  });

  it.each([
    ["a name that a provider refuses", toolOf("a.b")],
    ["a name that is too long", toolOf("x".repeat(60))],
    ["a member that a provider refuses", toolOf("a", { inputSchema: { type: "object", properties: { "a b": {} } } })],
    ["a large schema", toolOf("a", { description: "d".repeat(17_000) })],
  ])("are called by call_mcp_tool alone if they have %s", (_, tool) => {
    const { names, find } = create([tool, toolOf("look")]);
    expect(names).toEqual(["call_mcp_tool", "mcp__box__look"]);
    expect(find("call_mcp_tool").description).toContain(`- ${tool.name}:`);
  });

  it("have no combination of schemas at the top, which providers refuse", () => {
    const inputSchema = { type: "object" as const, properties: { a: {} }, anyOf: [{ required: ["a"] }], $schema: "x" };
    expect(create([toolOf("look", { inputSchema })]).find("mcp__box__look").inputSchema).toEqual({
      type: "object",
      properties: { a: {} },
    });
  });

  it("are only the reading ones in plan mode", () => {
    const listed = [toolOf("look", { annotations: { readOnlyHint: true } }), toolOf("change")];
    expect(create(listed, {}, true).names).toEqual(["call_mcp_tool", "mcp__box__look"]);
  });
});

describe("the resources and prompts of MCP servers", () => {
  const connected = () =>
    create([], {
      resources: {
        list: async () => ({ resources: [{ uri: "doc://a", name: "a" }] }),
        read: async (uri) => {
          if (uri !== "doc://a") throw new Error("not found");
          return {
            contents: [
              { uri, text: "x".repeat(60_000) },
              { uri, mimeType: "image/png", blob: "AAAA" },
            ],
          };
        },
      },
      prompts: {
        list: async () => ({ prompts: [{ name: "review" }] }),
        get: async (name, input) => ({
          messages: [{ role: "user", content: { type: "text", text: `${name}: ${input["file"]}` } }],
        }),
      },
    });

  it("are offered for servers that have them", () => {
    expect(connected().names).toEqual(["call_mcp_tool", "read_mcp_resource", "get_mcp_prompt"]);
    expect(connected().find("read_mcp_resource").description).toContain("Servers: box.");
    expect(create([]).names).toEqual(["call_mcp_tool"]);
  });

  it("are listed and read, with long texts truncated and without binary content", async () => {
    const { use } = connected();
    expect((await use("read_mcp_resource", { server: "box" })).output).toEqual({
      resources: [{ uri: "doc://a", name: "a" }],
    });
    const { output } = await use("read_mcp_resource", { server: "box", uri: "doc://a" });
    expect(output["contents"]).toEqual([
      { uri: "doc://a", text: `${"x".repeat(48 * 1024)}\n[... truncated ...]` },
      { uri: "doc://a", type: "image/png", size_bytes: 3, left_out: true },
    ]);
    expect((await use("get_mcp_prompt", { server: "box" })).output).toEqual({ prompts: [{ name: "review" }] });
    const filled = await use("get_mcp_prompt", { server: "box", name: "review", arguments: { file: "a.ts" } });
    expect(filled.output).toEqual({ messages: [{ role: "user", text: "review: a.ts" }] });
  });

  it("are listed as far as one result has room, with the number of the others", async () => {
    const entries = Array.from({ length: 100 }, (_, at) => ({ uri: `doc://${at}`, name: "n".repeat(1024) }));
    const resources = {
      list: async () => ({ resources: entries, templates: entries }),
      read: async () => ({ contents: [] }),
    };
    const { output } = await create([], { resources }).use("read_mcp_resource", { server: "box" });
    expect(output).toEqual({ resources: entries.slice(0, 46), templates: [], omitted: 154 });
  });

  it("name the server in errors", async () => {
    const { use } = connected();
    await expect(use("read_mcp_resource", { server: "box", uri: "doc://b" })).rejects.toThrow("box: not found");
    await expect(use("get_mcp_prompt", { server: "gone" })).rejects.toThrow("available servers: box");
  });
});
