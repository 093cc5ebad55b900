import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { parseToolInput } from "#harness/agent/dialects/tool-input.ts";
import { repairInput } from "#harness/engine/repair-input.ts";
import { defineTool } from "#harness/engine/tool.ts";

const SCHEMA = {
  type: "object",
  required: ["files"],
  properties: {
    files: {
      type: "array",
      items: {
        type: "object",
        required: ["path"],
        properties: { path: { type: "string" }, line: { type: "integer" } },
      },
    },
    limit: { type: "number" },
    all: { type: "boolean" },
    name: { type: "string" },
  },
};

describe("repairInput", () => {
  it.each([
    ["an object in a text", '{"limit":1}', { limit: 1 }],
    ["a list in a text", { files: '[{"path":"a","line":"3"}]' }, { files: [{ path: "a", line: 3 }] }],
    ["an item instead of a list", { files: { path: "a" } }, { files: [{ path: "a" }] }],
    ["a text instead of an item with one required member", { files: ["a"] }, { files: [{ path: "a" }] }],
    ["a text instead of a list of such items", { files: "a" }, { files: [{ path: "a" }] }],
    ["the members of an item of the only required list", { path: "a", line: "3" }, { files: [{ path: "a", line: 3 }] }],
    ["items in texts", { files: ['{"path":"a"}'] }, { files: [{ path: "a" }] }],
    ["numbers and booleans in texts", { limit: "2.5", all: "True" }, { limit: 2.5, all: true }],
    ["a number instead of a text", { name: 7 }, { name: "7" }],
    ["null for an optional member", { limit: null, files: [] }, { files: [] }],
  ])("repairs %s", (_, input, repaired) => {
    expect(repairInput(input, SCHEMA)).toEqual(repaired);
  });

  it.each([
    [{ limit: "many", all: "maybe", files: null, other: "1" }],
    [{ name: { a: 1 } }],
    [{ path: "a", limit: 1 }],
    [{ files: [""] }],
    ["not JSON"],
    [null],
  ])("leaves %j as it is", (input) => {
    expect(repairInput(input, SCHEMA)).toEqual(input);
  });
});

describe("defineTool", () => {
  const tool = defineTool({
    ...{ name: "look", description: "Looks.", category: "search", readsOnly: true },
    input: v.object({ text: v.string(), limit: v.optional(v.number()) }),
    run: async (input) => ({ output: input }),
  });
  const call = { id: "1", signal: new AbortController().signal };

  it("gives a tool its input as sent if it is valid, and otherwise as repaired", async () => {
    expect(await tool.run({ text: '{"a":1}', limit: 1 }, call)).toEqual({ output: { text: '{"a":1}', limit: 1 } });
    expect(await tool.run({ text: "a", limit: "1" }, call)).toEqual({ output: { text: "a", limit: 1 } });
  });

  it("names what is wrong with the input that was sent if it cannot be repaired", async () => {
    const result = await tool.run({ text: 1, limit: "many" }, call);
    expect(result).toMatchObject({ isError: true, output: { error: expect.stringMatching(/text: .*; limit: /) } });
  });
});

describe("parseToolInput", () => {
  it("decodes an object that is encoded twice", () => {
    expect(parseToolInput(JSON.stringify(JSON.stringify({ a: 1 })))).toEqual({ a: 1 });
  });
});
