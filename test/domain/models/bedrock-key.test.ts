import { afterEach, beforeEach, expect, it } from "vitest";
import { parseEvents } from "#harness/agent/dialects/events.ts";
import { assembleMessage } from "#harness/agent/dialects/messages.ts";
import { createProvider } from "#shared/model-gateway/create-provider.ts";
import { messages } from "#shared/model-gateway/messages-dialect.ts";
import { NotConfigured, REMEDY_HEADER } from "#shared/model-provider/model-provider.ts";
import { startServer } from "../../support/http-server.ts";

let seen: { readonly path: string; readonly headers: Readonly<Record<string, unknown>>; readonly body: unknown }[];
let reply: { readonly status: number; readonly headers?: Record<string, string>; readonly body: object };
let server: Awaited<ReturnType<typeof startServer>>;
beforeEach(async () => {
  [seen, reply] = [[], { status: 200, body: { type: "message" } }];
  server = await startServer(async (request, response) => {
    let text = "";
    for await (const chunk of request.setEncoding("utf8")) text += chunk;
    seen.push({ path: request.url ?? "", headers: request.headers, body: JSON.parse(text) });
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(JSON.stringify(reply.body));
  });
});
afterEach(() => server[Symbol.asyncDispose]());

const connect = (key: string | undefined = "bedrock-api-key-1") =>
  createProvider({ kind: "bedrock", base_url: `${server.url}/` }, async () => key);
const call = () => ({
  dialect: messages,
  request: { model: "global.anthropic.claude-opus-5-5", stream: true, max_tokens: 9, messages: [] },
  headers: { "anthropic-version": "2023-06-01", "anthropic-beta": "effort-2025-11-24, a" },
  signal: new AbortController().signal,
});

it("Bedrock is called with an API key, whole, with the model in the path", async () => {
  const provider = connect();
  expect(await (await provider(call())).json()).toEqual({ type: "message" });
  await provider({ ...call(), request: { model: "arn:aws:bedrock:us-east-1::x/y" }, headers: {}, key: "key-of-team" });
  expect(seen.map(({ path, body }) => ({ path, body }))).toEqual([
    {
      path: "/model/global.anthropic.claude-opus-5-5/invoke",
      body: {
        anthropic_version: "bedrock-2023-05-31",
        anthropic_beta: ["effort-2025-11-24", "a"],
        max_tokens: 9,
        messages: [],
      },
    },
    {
      path: "/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Ax%2Fy/invoke",
      body: { anthropic_version: "bedrock-2023-05-31" },
    },
  ]);
  expect(seen.map(({ headers }) => headers["authorization"])).toEqual([
    "Bearer bedrock-api-key-1",
    "Bearer key-of-team",
  ]);
  expect(provider.hide?.("bedrock-api-key-1 and key-of-team")).toBe("[redacted] and [redacted]");
  expect(provider.timeouts?.firstByteMs, "a response begins when it is complete").toBe(780_000);
});

it("a response of Bedrock is streamed to a caller who requests that", async () => {
  const thinking = { type: "thinking", thinking: "look first", signature: "c2ln" };
  const use = { type: "tool_use", id: "toolu_1", name: "look", input: { at: "x" } };
  const content = [thinking, { type: "redacted_thinking", data: "ZGF0YQ" }, { type: "text", text: "Done." }, use];
  const usage = { input_tokens: 3, output_tokens: 4, cache_read_input_tokens: 2 };
  reply = {
    status: 200,
    body: { type: "message", id: "m", role: "assistant", content, stop_reason: "tool_use", usage },
  };
  const response = await connect()(call());
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const stream = await response.text();
  const meter = messages.meter({ model: "m" });
  for (const line of stream.split("\n")) if (line.startsWith("data: ")) meter.see(line.slice("data: ".length));
  expect([meter.usage(), meter.complete()]).toEqual([
    { input: 3, output: 4, cacheRead: 2, cacheWrite: 0, cacheWriteLong: 0 },
    true,
  ]);
  expect(assembleMessage(parseEvents(stream))).toEqual({
    content: content.map((block) => (block === use ? { ...use, input: '{"at":"x"}' } : block)),
    stop_reason: "tool_use",
    usage,
  });
  const whole = await connect()({ ...call(), request: { model: "m" } });
  expect(await whole.json()).toEqual(reply.body);
});

it.each([
  [403, "AccessDeniedException", "You don't have access to the model with the specified model ID.", "Enable the model"],
  [429, "ThrottlingException:http://internal", "Too many tokens, please wait.", "Service Quotas"],
  [400, "ValidationException", "Malformed input request", undefined],
] as const)("an error of Bedrock with the status %i has what to do about it, if that is known", async (...error) => {
  const [status, name, message, remedy] = error;
  reply = { status, headers: { "x-amzn-errortype": name }, body: { message } };
  const response = await connect()(call());
  expect([response.status, await response.json()]).toEqual([status, { message }]);
  const shown = response.headers.get(REMEDY_HEADER);
  expect(shown).toEqual(remedy === undefined ? null : expect.stringContaining(remedy));
});

it("Bedrock without its key is not called", async () => {
  const provider = createProvider({ kind: "bedrock", base_url: server.url }, async () => undefined);
  await expect(provider(call())).rejects.toThrow(NotConfigured);
  expect(seen).toEqual([]);
});
