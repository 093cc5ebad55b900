import { describe, expect, it } from "vitest";
import { createCacheKey, createStructuredOutput, type OptionalMembers } from "#harness/agent/optional-members.ts";
import { createReasoning } from "#harness/agent/reasoning.ts";
import { createTransport } from "#harness/agent/transport.ts";
import { formatOutputRequest } from "#harness/engine/output-request.ts";
import { limitToKnownPrices } from "#shared/model-gateway/budgeted-request.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { chat, responses } from "#shared/model-gateway/openai-dialects.ts";
import { readJsonBody, serveModels } from "../support/model-server.ts";

const DIALECTS = { messages, chat, responses } as const;
const schema = { type: "object", properties: { done: { type: "boolean" } } };
const again = formatOutputRequest(1, 2, ["it is not JSON"]);
const tools = [{ type: "function", function: { name: "run_command" } }];
const request = (content: unknown) => ({ model: "m", messages: [{ role: "user", content }], tools });
const json = { name: "response", schema, strict: false };

describe("the structured output of a run with an output schema", () => {
  const structured = createStructuredOutput(schema);

  it("is sent with each request of the Responses API, together with tools", () => {
    const body = { model: "gpt", input: [], tools, text: { verbosity: "low" } };
    expect(structured.add("responses", body)).toEqual({
      ...body,
      text: { verbosity: "low", format: { type: "json_schema", ...json } },
    });
  });

  it("is sent to other APIs only when the agent is asked for nothing but the JSON, where a grammar allows no tools", () => {
    for (const api of ["chat", "messages"] as const) {
      for (const before of [
        "Fix it.",
        [{ type: "text", text: "Fix it." }],
        [{ type: "tool_result", content: again }],
      ]) {
        expect(structured.add(api, request(before))).toEqual(request(before));
      }
    }
    const { tools: _, ...rest } = request(again);
    expect(structured.add("chat", { ...request(again), tool_choice: "auto" })).toEqual({
      ...rest,
      response_format: { type: "json_schema", json_schema: json },
    });
    const effort = { output_config: { effort: "low" } };
    const blocks = request([{ type: "text", text: again }]);
    expect(structured.add("messages", { ...blocks, ...effort })).toEqual({
      ...blocks,
      output_config: { effort: "low", format: { type: "json_schema", schema } },
    });
  });

  it("is passed on by the model gateway, also in a run with a budget", () => {
    for (const [api, body] of [
      ["responses", { model: "m", input: "x" }],
      ["chat", { model: "m", messages: [{ role: "user", content: again }] }],
      ["messages", { model: "m", messages: [{ role: "user", content: again }] }],
    ] as const) {
      const sent = createCacheKey("run").add(api, structured.add(api, body));
      expect(
        limitToKnownPrices({ ...sent, model: "m" }, {}, DIALECTS[api], api === "messages" ? "anthropic" : "openai"),
      ).toMatchObject({
        request: sent,
        dropped: [],
      });
    }
  });
});

describe("the cache key of a run", () => {
  it("is the same in each request of the Responses API, and in no request of another", () => {
    const key = createCacheKey("run-1");
    expect(key.add("responses", { model: "m" })).toEqual({ model: "m", prompt_cache_key: "run-1" });
    expect(key.add("chat", { model: "m" })).toEqual({ model: "m" });
  });
});

describe("members that a server refuses", () => {
  const end = { id: "1", object: "response", status: "completed", output: [], usage: null };
  const call = async (url: string, optional: readonly OptionalMembers[]) => {
    const transport = createTransport({ api: "responses", key: "k", signal: new AbortController().signal, optional });
    return (await transport(url, { body: JSON.stringify({ model: "m", input: "x" }) })).status;
  };

  it("are left out of the same call and of later ones of the model, each by itself", async () => {
    const refusals = ["Unknown parameter: 'text.format'", "reasoning.effort is not supported", "", ""];
    await using server = await serveModels(() => {
      const error = refusals.shift();
      return error ? { status: 400, body: { error: { message: error } } } : { status: 200, body: end };
    });
    const optional = [createStructuredOutput(schema), createReasoning("high", () => {}), createCacheKey("run-1")];
    expect(await call(server.url, optional)).toBe(200);
    expect(await call(server.url, optional)).toBe(200);
    const members = server.bodies.map((body) => Object.keys(readJsonBody(body)).sort().join(" "));
    expect(members).toEqual([
      "input model prompt_cache_key reasoning text",
      "input model prompt_cache_key reasoning",
      "input model prompt_cache_key",
      "input model prompt_cache_key",
    ]);
  });

  it("are not the reason of other errors, and of errors that come again", async () => {
    await using server = await serveModels(() => ({
      status: 400,
      body: { error: { message: "text.format is broken" } },
    }));
    const optional = [createStructuredOutput(schema)];
    expect(await call(server.url, optional)).toBe(400);
    expect(server.bodies).toHaveLength(2);
    expect(await call(server.url, optional)).toBe(400);
    expect(server.bodies).toHaveLength(3);
  });
});
