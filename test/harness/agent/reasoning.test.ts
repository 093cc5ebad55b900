import { describe, expect, it } from "vitest";
import { findReasoning, refusesReasoning } from "#harness/agent/dialects/reasoning.ts";
import { createReasoning } from "#harness/agent/reasoning.ts";
import { toEffort } from "#harness/third-party/agent.ts";
import { limitToKnownPrices } from "#shared/model-gateway/budgeted-request.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { chat, responses } from "#shared/model-gateway/openai-dialects.ts";
import { REASONING_LEVELS } from "#shared/wire/limits/run-limits.ts";

const DIALECTS = { messages, chat, responses } as const;
const budget = (tokens: number) => ({ thinking: { type: "enabled", budget_tokens: tokens } });
const adaptive = (effort: string) => ({ thinking: { type: "adaptive" }, output_config: { effort } });
const chatEffort = (reasoning_effort: string) => ({ reasoning_effort });
const responsesEffort = (effort: string) => ({ reasoning: { effort } });

/** What requests to a model get for none, minimal, low, medium, high and max. */
const TABLE = [
  ["messages", "anthropic/claude-haiku-4-5-20251001", [{}, ...[1_024, 4_096, 8_192, 16_384, 24_576].map(budget)]],
  [
    "messages",
    "anthropic/claude-sonnet-5-5",
    [{ thinking: { type: "between_tools" } }, ...["low", "low", "medium", "high", "max"].map(adaptive)],
  ],
  [
    "messages",
    "anthropic/claude-opus-5",
    [{ thinking: { type: "disabled" } }, ...["low", "low", "medium", "high", "max"].map(adaptive)],
  ],
  ["messages", "anthropic/claude-opus-5-5", ["low", "low", "low", "medium", "high", "max"].map(adaptive)],
  [
    "messages",
    "bedrock/global.anthropic.claude-opus-5-5",
    ["low", "low", "low", "medium", "high", "max"].map(adaptive),
  ],
  ["messages", "bedrock/anthropic.claude-3-5-haiku-20241022-v1:0", [{}, {}, {}, {}, {}, {}]],
  ["responses", "openai/gpt-5.4-mini", ["none", "low", "low", "medium", "high", "xhigh"].map(responsesEffort)],
  ["responses", "openai/gpt-5.1", ["none", "low", "low", "medium", "high", "high"].map(responsesEffort)],
  ["responses", "openai/gpt-5", ["minimal", "minimal", "low", "medium", "high", "high"].map(responsesEffort)],
  ["responses", "openai/gpt-4.1", [{}, {}, {}, {}, {}, {}]],
  ["chat", "compatible/gpt-5.4", ["none", "low", "low", "medium", "high", "xhigh"].map(chatEffort)],
  ["chat", "compatible/openai/gpt-oss-120b", ["low", "low", "low", "medium", "high", "high"].map(chatEffort)],
  ["chat", "compatible/qwen3", ["none", "low", "low", "medium", "high", "high"].map(chatEffort)],
  ["chat", "compatible/gpt-4o", [{}, {}, {}, {}, {}, {}]],
] as const;

describe("findReasoning", () => {
  it.each(TABLE)("adds the members that requests of %s to %s have for each level", (api, model, expected) => {
    const found = REASONING_LEVELS.map((level) => findReasoning(api, { model, max_tokens: 32_000 }, level).members);
    expect(found).toEqual(expected);
  });

  it.each(TABLE)(
    "adds members that the model gateway passes on in requests of %s to %s with a budget",
    (api, model, expected) => {
      for (const added of expected) {
        const { request, dropped } = limitToKnownPrices({ model, ...added }, {}, DIALECTS[api], "openai");
        expect([request, dropped]).toEqual([{ model, ...added }, []]);
      }
    },
  );

  it("says what a model cannot do", () => {
    const gapOf = (api: "messages" | "responses", model: string) =>
      REASONING_LEVELS.map((level) => findReasoning(api, { model }, level).gap);
    const rest = Array(5).fill(undefined);
    expect(gapOf("messages", "claude-opus-5-5")).toEqual(["it always reasons, at least at the level low", ...rest]);
    expect(gapOf("responses", "gpt-5")).toEqual(["it always reasons, at least at the level minimal", ...rest]);
    expect(gapOf("responses", "gpt-4o")).toEqual([undefined, ...Array(5).fill("it does not reason")]);
    expect(gapOf("responses", "gpt-5.4")).toEqual([undefined, ...rest]);
  });

  it("leaves some of the output limit to the response, and does without where nothing is left", () => {
    const haiku = { model: "claude-haiku-4-5" };
    const find = (body: object) => findReasoning("messages", { ...haiku, ...body }, "max").members;
    expect(find({ max_tokens: 10_000 })).toEqual(budget(8_976));
    expect(find({ max_tokens: 2_048 })).toEqual(budget(1_024));
    expect([find({ max_tokens: 2_047 }), find({})]).toEqual([{}, {}]);
  });

  it("sets no budget where tools answer a response whose thinking is not known any more", () => {
    const tool = { type: "tool_use", id: "t", name: "look", input: {} };
    const find = (...content: readonly object[]) =>
      findReasoning(
        "messages",
        { model: "claude-haiku-4-5", max_tokens: 9_000, messages: [{ role: "assistant", content }, { role: "user" }] },
        "minimal",
      ).members;
    expect(find(tool)).toEqual({});
    expect(find({ type: "text", text: "x" }, tool)).toEqual({});
    expect(find({ type: "thinking", thinking: "x", signature: "s" }, tool)).toEqual(budget(1_024));
    expect(find({ type: "redacted_thinking", data: "x" }, tool)).toEqual(budget(1_024));
    expect(find({ type: "text", text: "x" })).toEqual(budget(1_024));
  });
});

describe("refusesReasoning", () => {
  it.each([
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    "Unsupported value: 'minimal' is not supported with the 'gpt-5.4-mini' model. Supported values are: 'none', 'low', and 'high'.",
    "Unrecognized request argument supplied: reasoning_effort",
    "body.reasoning_effort: Extra inputs are not permitted",
    "Unknown parameter: 'reasoning'.",
    '"thinking.type.disabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort".',
    "This model does not support the effort parameter.",
    '"llama3.2" does not support thinking',
  ])("recognizes %s", (text) => {
    expect([400, 422, 500, 200].map((status) => refusesReasoning(status, text))).toEqual([true, true, false, false]);
  });

  it.each([
    "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`",
    "The `thinking` blocks in the latest assistant message cannot be modified",
    "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    "tools are not supported",
  ])("leaves alone %s", (text) => {
    expect(refusesReasoning(400, text)).toBe(false);
  });
});

describe("createReasoning", () => {
  it("reports once per model, and adds nothing after a refusal", () => {
    const reports: unknown[] = [];
    const reasoning = createReasoning("high", (model, detail) => void reports.push([model, detail]));
    const body = { model: "compatible/llama" };
    expect(reasoning.add("chat", body)).toEqual({ ...body, reasoning_effort: "high" });
    expect(reasoning.isRefused(body, 400, "tools are not supported")).toBe(false);
    expect(reasoning.isRefused(body, 400, "unknown field reasoning_effort")).toBe(true);
    expect(reasoning.add("chat", body)).toBe(body);
    expect(reasoning.add("chat", { model: "compatible/other" })).toHaveProperty("reasoning_effort");
    const old = { model: "compatible/gpt-4o" };
    expect([reasoning.add("chat", old), reasoning.add("chat", old)]).toEqual([old, old]);
    const lacks = "does not have the reasoning level high";
    expect(reports).toEqual([
      ["compatible/llama", `compatible/llama ${lacks}: its server refuses it, and decides itself`],
      ["compatible/gpt-4o", `compatible/gpt-4o ${lacks}: it does not reason`],
    ]);
  });
});

describe("toEffort", () => {
  it("chooses the nearest name that a third-party agent has", () => {
    const efforts = ["low", "medium", "xhigh"];
    const levels = [undefined, "none", "minimal", "low", "xhigh", "max", "other"];
    expect(levels.map((level) => toEffort(level, efforts))).toEqual([
      ...[undefined, "low", "low", "low", "xhigh", "xhigh"],
      undefined,
    ]);
  });
});
