import { describe, expect, it } from "vitest";
import { toList } from "#harness/agent/dialects/members.ts";
import { createRepairs } from "#harness/agent/repairs.ts";
import { simplifyTools } from "#harness/agent/simple-schemas.ts";

/** The request of the Chat Completions API that follows a refusal. */
function repair(body: Readonly<Record<string, unknown>>, refusal: string): Readonly<Record<string, unknown>> {
  const repairs = createRepairs();
  expect(repairs.filter((one) => one.isRefused(body, 400, refusal))).toHaveLength(1);
  return repairs.reduce((before, { add }) => add("chat", before), body);
}

describe("createRepairs", () => {
  it("keeps each call and each result when it moves the instructions to the user's text", () => {
    const call = (id: string) => ({ id, type: "function", function: { name: "read_files", arguments: "{}" } });
    const steps = [
      { role: "assistant", content: "", tool_calls: [call("a")] },
      { role: "tool", tool_call_id: "a", content: "one" },
      { role: "assistant", content: "", tool_calls: [call("b"), call("c")] },
      { role: "tool", tool_call_id: "b", content: "two" },
      { role: "tool", tool_call_id: "c", content: "three" },
    ];
    const messages = [{ role: "system", content: "Be brief." }, { role: "user", content: "Go." }, ...steps];
    const { messages: repaired } = repair({ model: "gemma", messages }, "System role not supported");
    expect(repaired).toEqual([{ role: "user", content: "Be brief.\n\nGo." }, ...steps]);
  });
});

describe("simplifyTools", () => {
  it("leaves out what a schema refers to within itself", () => {
    const names = Array.from({ length: 12 }, (_, index) => `branch_${index}`);
    const branches = Object.fromEntries(names.map((name) => [name, { $ref: "#/$defs/filter" }]));
    const parameters = {
      type: "object",
      properties: { filter: { $ref: "#/$defs/filter" }, other: { $ref: "#/$defs/filter" } },
      $defs: { filter: { type: "object", properties: { text: { type: "string" }, ...branches } } },
    };
    const body = simplifyTools("chat", { tools: [{ type: "function", function: { name: "find", parameters } }] });
    const object = { type: "object", properties: { text: { type: "string" } } };
    const filter = {
      ...object,
      properties: { ...object.properties, ...Object.fromEntries(names.map((name) => [name, { type: "object" }])) },
    };
    expect(toList(body["tools"])).toEqual([
      {
        type: "function",
        function: { name: "find", parameters: { type: "object", properties: { filter, other: filter } } },
      },
    ]);
  });
});
