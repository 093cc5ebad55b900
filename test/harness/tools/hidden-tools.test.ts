import { Message, TextBlock, type ToolChoice, ToolResultBlock, type ToolSpec, ToolUseBlock } from "@strands-agents/sdk";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHiddenTools } from "#harness/agent/hidden-tools.ts";
import { createModel } from "#harness/agent/model.ts";
import type { Turn } from "../../support/model-shapes.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { agentRun } from "../support/agent-run.ts";

const refusal = (message: string): Turn => ({ status: 400, raw: JSON.stringify({ error: { message } }) });
const HIDDEN = refusal("m is not shown the tools of a request");
const json = (value: unknown): Turn => ({ text: JSON.stringify(value) });

let standIn: ModelStandIn;
beforeEach(async () => {
  standIn = await ModelStandIn.start();
});
afterEach(() => standIn[Symbol.asyncDispose]());

const input: ToolSpec["inputSchema"] = {
  type: "object",
  properties: { command: { type: "string" } },
  required: ["command"],
};
const toolSpecs = [
  { name: "run_command", description: "Runs a command.", inputSchema: input },
  { name: "todo", description: "Writes a list.", inputSchema: { type: "object" } },
] satisfies ToolSpec[];
const user = (...content: (TextBlock | ToolResultBlock)[]) => new Message({ role: "user", content });
const START = [user(new TextBlock("Go."))];

/** Makes calls as the agent does: of one execution, and so with one memory of refusals. */
function start(modelId = "compatible/m") {
  const shown: string[] = [];
  const signal = new AbortController().signal;
  const optional = [createHiddenTools()];
  const onText = (text: string) => void shown.push(text);
  const model = createModel({
    modelId,
    modelUrl: standIn.openaiUrl.replace("/v1", ""),
    key: "k",
    signal,
    optional,
    onText,
  });
  const call = async (messages: Message[] = START, specs: ToolSpec[] = toolSpecs, toolChoice?: ToolChoice) => {
    const events = model.streamAggregated(messages, {
      systemPrompt: "Be good.",
      toolSpecs: specs,
      ...(toolChoice && { toolChoice }),
    });
    for (;;) {
      const next = await events.next();
      if (!next.done) continue;
      const { message, stopReason } = next.value;
      const texts = message.content.flatMap((block) => (block.type === "textBlock" ? [block.text] : []));
      const calls = message.content.flatMap((block) => (block.type === "toolUseBlock" ? [block] : []));
      return { text: texts.join(""), calls: calls.map(({ name, input: sent }) => ({ name, input: sent })), stopReason };
    }
  };
  return { call, shown };
}

describe("a model that is not shown tools", () => {
  it.each([
    "box returned 400: m is not shown the tools of a request: its chat template has no place for them",
    "registry.ollama.ai/library/phi:latest does not support tools",
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "No endpoints found that support tool use.",
    "tools param requires --jinja flag",
  ])("calls tools by JSON after the refusal: %s", async (words) => {
    standIn.turns.push(
      refusal(words),
      json({ tool: "run_command", input: { command: "ls" } }),
      json({ answer: "Done." }),
    );
    const { call, shown } = start();
    expect(await call()).toEqual({
      text: "",
      calls: [{ name: "run_command", input: { command: "ls" } }],
      stopReason: "toolUse",
    });
    expect(await call()).toEqual({ text: "Done.", calls: [], stopReason: "endTurn" });
    expect(standIn.seen, "the refusal is remembered").toHaveLength(3);
    expect(shown, "JSON is no text to show").toEqual([]);
  });

  it("gets the tools in its instructions, and a format that is a call or an answer", async () => {
    standIn.turns.push(HIDDEN, json({ answer: "Done." }));
    await start().call();
    const { tools, messages, response_format } = standIn.seen.at(-1)?.body ?? {};
    expect(tools).toBeUndefined();
    expect(messages).toHaveLength(2);
    const [system] = messages;
    for (const part of ["Be good.", "## run_command", "Runs a command.", JSON.stringify(input), "## todo"])
      expect(JSON.stringify([system.role, system.content])).toContain(JSON.stringify(part).slice(1, -1));
    const { anyOf } = response_format.json_schema.schema;
    expect(anyOf.map(({ required }: { required: string[] }) => required)).toEqual([
      ["tool", "input"],
      ["tool", "input"],
      ["answer"],
    ]);
    expect(anyOf[0].properties).toEqual({ tool: { const: "run_command" }, input });
  });

  it("may only call if the request demands it", async () => {
    standIn.turns.push(HIDDEN, json({ tool: "todo", input: {} }));
    await start().call(START, toolSpecs, { any: {} });
    const { anyOf } = standIn.seen.at(-1)?.body.response_format.json_schema.schema ?? {};
    expect(JSON.stringify(anyOf)).not.toContain("answer");
  });

  it("gets its calls and their results as texts of alternating roles", async () => {
    standIn.turns.push(HIDDEN, json({ answer: "Done." }), json({ answer: "Summed up." }));
    const use = (toolUseId: string) =>
      new ToolUseBlock({ name: "run_command", toolUseId, input: { command: toolUseId } });
    const result = (toolUseId: string) =>
      user(
        new ToolResultBlock({ toolUseId, status: "success", content: [new TextBlock(`exit code 0 of ${toolUseId}`)] }),
      );
    const said = new Message({ role: "assistant", content: [new TextBlock("I look."), use("one"), use("two")] });
    const { call } = start();
    await call([...START, said, result("one"), result("two"), user(new TextBlock("Hurry."))]);
    await call([...START, said, result("one"), result("two")], []);
    const [, , { content: calls }, { content: results }] = standIn.seen[1]?.body.messages ?? [];
    expect(standIn.seen[1]?.body.messages.map(({ role }: { role: string }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
    ]);
    expect(calls).toBe(
      'I look.\n{"tool": "run_command", "input": {"command":"one"}}\n{"tool": "run_command", "input": {"command":"two"}}',
    );
    for (const part of ["Result of run_command:", "exit code 0 of one", "exit code 0 of two", "Hurry."])
      expect(JSON.stringify(results)).toContain(part);
    expect(JSON.stringify(standIn.seen[2]?.body), "also in a request without tools").not.toMatch(
      /tool_calls|response_format/,
    );
  });

  it("is called without the format if its server refuses that, and may write the JSON as Markdown after its reasoning", async () => {
    standIn.turns.push(HIDDEN, refusal("response_format json_schema is not supported"), {
      text: '<think>Which one?</think>\n```json\n{"tool": "todo", "input": {}}\n```',
    });
    const { call } = start();
    expect(await call()).toMatchObject({ text: "", calls: [{ name: "todo", input: {} }] });
    expect(standIn.seen.map(({ body }) => ["tools" in body, "response_format" in body])).toEqual([
      [true, false],
      [false, true],
      [false, false],
    ]);
  });

  it.each([
    ["text that is no JSON", { text: "I would run ls." }, { text: "I would run ls.", calls: [] }],
    ["JSON of another form", { text: '{"a":1}' }, { text: '{"a":1}', calls: [] }],
    ["a block of Markdown that does not end", { text: `\`\`\`json${"\n".repeat(1_000_000)}` }, { calls: [] }],
    ["a call without an input", json({ tool: "todo" }), { text: "", calls: [{ name: "todo", input: {} }] }],
  ])("may respond with %s", async (_, turn, outcome) => {
    standIn.turns.push(HIDDEN, turn);
    expect(await start().call()).toMatchObject(outcome);
  });

  it.each([
    ["an answer", '{"answer": "The first half', "The first half"],
    ["a call", '{"tool": "run_command", "input": {"comm', ""],
  ])("is cut at its token limit within %s, of which only text is kept", async (_, text, kept) => {
    standIn.turns.push(HIDDEN, { text, stop: "length" });
    const error = await start()
      .call()
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "MaxTokensError" });
    expect(JSON.stringify(error)).not.toContain("comm");
    expect(JSON.stringify(error).includes("The first half")).toBe(kept !== "");
  });

  it("of another API, and other refusals, are not concerned", async () => {
    standIn.otherwise = HIDDEN;
    await expect(start("openai/gpt").call()).rejects.toThrow("not shown the tools");
    standIn.otherwise = refusal("tools[0].function.name is too long");
    await expect(start().call()).rejects.toThrow("too long");
  });
});

it("an agent's run works with a model that is not shown tools", async () => {
  await using agent = await agentRun({
    prompt: "What is in the file?",
    model: "compatible/m",
    turns: [
      HIDDEN,
      json({ tool: "run_command", input: { command: "echo found > a.txt; cat a.txt" } }),
      json({ answer: "It says found." }),
    ],
  });
  await agent.run();
  expect(agent.plane.outcome).toMatchObject({ success: true, summary: "It says found." });
  expect(JSON.stringify(agent.standIn.seen[2]?.body.messages)).toContain("found");
});

it("may give JSON with a member like those of calls and answers, if the output schema of the run has it", async () => {
  const output_schema = {
    type: "object",
    properties: { answer: { type: "string" } },
    required: ["answer"],
    additionalProperties: false,
  };
  await using agent = await agentRun({
    prompt: "What is in the file?",
    model: "compatible/m",
    context: { mode: "normal", agent_config: { output_schema } },
    turns: [HIDDEN, json({ answer: "It says found." }), json({ answer: "found" })],
  });
  await agent.run();
  expect(agent.plane.outcome).toMatchObject({ success: true, summary: '{"answer":"found"}' });
});
