import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import { text as readText } from "node:stream/consumers";
import { getRequestListener } from "@hono/node-server";
import { ContextWindowOverflowError, Message, TextBlock, ToolResultBlock } from "@strands-agents/sdk";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { toFailure } from "#harness/agent/failures.ts";
import { createModel } from "#harness/agent/model.ts";
import { createReasoning } from "#harness/agent/reasoning.ts";
import { createRepairs } from "#harness/agent/repairs.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";
import { createGateway, stubModelSettings } from "../../support/gateway.ts";
import { frameException } from "../../support/model-stand-in.ts";

/** What a server sends, as its documentation or a report of its users has it. */
const Reply = v.object({
  status: v.optional(v.number(), 200),
  headers: v.optional(v.record(v.string(), v.string()), {}),
  /** Events of a stream. */
  sse: v.optional(v.array(v.unknown())),
  body: v.optional(v.unknown()),
  /** The body of a stream as it is. */
  raw: v.optional(v.string()),
  /** The type and the message of an exception in a stream of AWS. */
  exception: v.optional(v.tuple([v.string(), v.string()])),
  /** What it returns to a request that matches the pattern. */
  refuses: v.optional(v.object({ request: v.string(), status: v.number(), body: v.unknown() })),
});
type Reply = v.InferOutput<typeof Reply>;

/** What has to come of it. */
const Right = v.strictObject({
  text: v.optional(v.string()),
  calls: v.optional(v.array(v.object({ name: v.string(), input: v.unknown() }))),
  ids: v.optional(v.array(v.string())),
  reasoning: v.optional(v.string()),
  stop: v.optional(v.string()),
  /** Patterns of the last request for this response. */
  sent: v.optional(v.array(v.string())),
  /** Patterns of the next request. */
  sent_back: v.optional(v.array(v.string())),
  /** A part of the message, in the provider's words. */
  error: v.optional(v.string()),
  retried: v.optional(v.boolean()),
  remedy: v.optional(v.string()),
  overflow: v.optional(v.literal(true)),
});
type Right = v.InferOutput<typeof Right>;

const Behaviors = v.strictObject({
  dialect: v.picklist(["chat", "google", "messages", "responses", "bedrock"]),
  behaviors: v.array(
    v.strictObject({
      name: v.string(),
      source: v.pipe(v.string(), v.url()),
      /** What the request has besides the text of the user, and whether the user says more after the results of tools. */
      asked: v.optional(v.picklist(["tools", "instructions", "more"])),
      reply: Reply,
      right: Right,
    }),
  ),
});

type Asked = "tools" | "instructions" | "more" | undefined;

/** A model whose API has the dialect. Gemini is called through its endpoint with OpenAI's API. */
const MODELS = {
  chat: "compatible/llama",
  google: "compatible/llama",
  messages: "anthropic/claude-sonnet-5-5",
  responses: "openai/gpt-5.4",
  bedrock: "bedrock/global.anthropic.claude-sonnet-5-5",
} as const;

const folder = new URL("../server-behaviors/", import.meta.url);
const files = readdirSync(folder).map((name) =>
  v.parse(Behaviors, JSON.parse(readFileSync(new URL(name, folder), "utf8"))),
);

const seen: string[] = [];
let reply: Reply;
let provider: Server;
let gatewayServer: Server;
let plane: TestControlPlane;
let run: Harness;
let modelUrl: string;

const listen = async (server: Server) => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
};

beforeAll(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  run = await workingRun(plane);
  provider = createServer(async (request, response) => {
    const text = await readText(request);
    seen.push(text);
    const { refuses } = reply;
    const isRefused = refuses !== undefined && new RegExp(refuses.request).test(text);
    send(isRefused ? v.parse(Reply, { status: refuses.status, body: refuses.body }) : reply, response);
  });
  const url = await listen(provider);
  const { serve } = createGateway(plane, { anthropicUrl: url, openaiUrl: `${url}/v1`, bedrockUrl: url });
  gatewayServer = createServer(getRequestListener(async (request) => serve(request), { overrideGlobalObjects: false }));
  modelUrl = await listen(gatewayServer);
});
afterAll(() => {
  vi.unstubAllEnvs();
  for (const server of [provider, gatewayServer]) {
    server.closeAllConnections();
    server.close();
  }
});

function send({ status, headers, sse, body, raw, exception }: Reply, response: ServerResponse): void {
  if (exception !== undefined) {
    response.writeHead(200, { "content-type": "application/vnd.amazon.eventstream" });
    response.end(frameException(...exception));
    return;
  }
  const events = sse?.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("");
  const type = events === undefined && (raw === undefined || status !== 200) ? "application/json" : "text/event-stream";
  response.writeHead(status, { "content-type": type, ...headers }).end(events ?? raw ?? JSON.stringify(body));
}

const user = (content: TextBlock | ToolResultBlock) => new Message({ role: "user", content: [content] });
const ASKED = user(new TextBlock("Go."));

/** A tool whose schema has what not every server understands. */
const TOOL = {
  name: "run_command",
  description: "Runs a command.",
  inputSchema: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object" as const,
    properties: {
      command: { type: "string" as const, description: "The command.", minLength: 1, maxLength: 100_000 },
      seconds: { anyOf: [{ type: "integer" as const, exclusiveMinimum: 0 }, { type: "null" as const }] },
      where: { $ref: "#/$defs/where" },
    },
    required: ["command"],
    additionalProperties: false,
    $defs: { where: { const: "here" } },
  },
};

/** Calls the model through the gateway, as an agent does. */
function start(dialect: keyof typeof MODELS, reasoning?: ReturnType<typeof createReasoning>) {
  const reasonings: string[] = [];
  const model = createModel({
    modelId: MODELS[dialect],
    modelUrl,
    key: run.key,
    signal: new AbortController().signal,
    optional: [...(reasoning === undefined ? [] : [reasoning]), ...createRepairs()],
    onReasoning: (reasoning) => void reasonings.push(reasoning),
  });
  const call = async (messages: Message[], asked?: Asked) => {
    const events = model.streamAggregated(messages, {
      ...(asked === "tools" ? { toolSpecs: [TOOL] } : {}),
      ...(asked === "instructions" ? { systemPrompt: "Be brief." } : {}),
    });
    for (;;) {
      const next = await events.next();
      if (next.done) return next.value;
    }
  };
  return { reasonings, call };
}

async function check(
  dialect: keyof typeof MODELS,
  { error, overflow, retried, remedy, sent = [], ...right }: Right,
  asked: Asked,
) {
  const { call, reasonings } = start(dialect);
  const outcome = await call([ASKED], asked).catch((thrown: unknown) => thrown);
  for (const pattern of sent) expect(seen.at(-1)).toMatch(new RegExp(pattern));
  if (overflow === true) return expect(outcome).toBeInstanceOf(ContextWindowOverflowError);
  if (error !== undefined) {
    const failure = toFailure(outcome);
    expect(failure.message).toContain(error);
    expect(failure.message).toContain(remedy ?? "");
    return expect(failure.isRetryable).toBe(retried);
  }
  if (outcome instanceof Error) throw outcome;
  const result = v.parse(v.object({ message: v.instance(Message), stopReason: v.string() }), outcome);
  const uses = result.message.content.flatMap((block) => (block.type === "toolUseBlock" ? [block] : []));
  const found = {
    text: result.message.content.flatMap((block) => (block.type === "textBlock" ? [block.text] : [])).join(""),
    calls: uses.map(({ name, input }) => ({ name, input })),
    ids: uses.map(({ toolUseId }) => toolUseId),
    reasoning: reasonings[0],
    stop: result.stopReason,
  };
  const { sent_back = [], ...expected } = right;
  expect(found).toMatchObject(expected);
  expect(new Set(found.ids).size, "each call has an id of its own").toBe(uses.length);
  if (sent_back.length === 0) return undefined;
  const results = uses.map(({ toolUseId }) =>
    user(new ToolResultBlock({ toolUseId, status: "success", content: [new TextBlock("one")] })),
  );
  await call([ASKED, result.message, ...results, ...(asked === "more" ? [ASKED] : [])]);
  for (const pattern of sent_back) expect(seen.at(-1)).toMatch(new RegExp(pattern));
  return undefined;
}

for (const { dialect, behaviors } of files) {
  describe(`a provider with the dialect ${dialect}`, () => {
    it.each(behaviors.map((behavior) => [behavior.name, behavior] as const))("%s", async (_, behavior) => {
      reply = behavior.reply;
      await check(dialect, behavior.right, behavior.asked);
    });
  });
}

it.each([
  ["chat", "reasoning_effort", "Unrecognized request argument supplied: reasoning_effort"],
  ["responses", "reasoning", "Unsupported parameter: 'reasoning.effort' is not supported with this model."],
  ["messages", "output_config", "This model does not support the effort parameter."],
] as const)(
  "a server with the dialect %s that refuses the member %s is called without it",
  async (dialect, member, message) => {
    const reports: string[] = [];
    const { call } = start(
      dialect,
      createReasoning("high", (_, detail) => void reports.push(detail)),
    );
    const error = { message, type: "invalid_request_error" };
    reply = v.parse(Reply, { status: 400, body: { type: "error", error } });
    const before = seen.length;
    for (const _ of [1, 2]) await expect(call([ASKED])).rejects.toThrow();
    const sent = seen.slice(before).map((text) => member in JSON.parse(text));
    expect(sent).toEqual([true, false, false]);
    expect(reports).toEqual([expect.stringContaining("its server refuses it")]);
  },
);

it("the behaviors are at least 80, each with a name of its own, over five dialects", () => {
  const names = files.flatMap(({ dialect, behaviors }) => behaviors.map(({ name }) => `${dialect}: ${name}`));
  expect(names.length).toBeGreaterThanOrEqual(80);
  expect(new Set(names).size).toBe(names.length);
  expect(new Set(files.map(({ dialect }) => dialect)).size).toBe(5);
});
