import { once } from "node:events";
import { PassThrough, type Writable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Budget, parseBudget } from "#shared/budgets/budget-store.ts";
import { streamed } from "#shared/http/streamed.ts";
import { keys } from "#shared/table/keys.ts";
import { eventually } from "../server/support/eventually.ts";
import { createClient } from "../support/client.ts";
import { createTestControlPlane, httpEvent, type TestControlPlane } from "../support/control-plane.ts";
import { type Harness, workingRun } from "../support/execution.ts";
import { createGateway, type Gateway, SONNET, stubModelSettings } from "../support/gateway.ts";
import { ModelStandIn } from "../support/model-stand-in.ts";
import { BASE64_PDF, PNG } from "./model-requests.ts";

/** Billionths of a dollar. */
const CENT = 10_000_000;

let plane: TestControlPlane;
let standIn: ModelStandIn;
let gateway: Gateway;
let run: Harness;
beforeEach(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  gateway = createGateway(plane, standIn);
  run = await runWith(1);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  await standIn[Symbol.asyncDispose]();
});

const runWith = (budget_usd: number) =>
  workingRun(plane, { prompt: "hello", config: { model_id: SONNET, budget_usd } });
const readBudget = async ({ run_id }: Harness = run): Promise<Budget> =>
  parseBudget(await plane.table.get(keys.budget(run_id)));
const untilSettled = () => eventually(async () => expect((await readBudget()).open).toBe(0));
const user = (...content: unknown[]) => [{ role: "user", content }];
type Api = "messages" | "chat" | "responses";
const call = (api: Api, body: object) => gateway[api](run.key, body);

/** Returns the reservation of the budget for the one call that the provider receives. */
async function reservationFor(request: () => Promise<Response>): Promise<number> {
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  const seen = standIn.seen.length;
  standIn.turns.push({ after: promise });
  const response = request();
  await eventually(() => expect(standIn.seen).toHaveLength(seen + 1));
  const [hold] = Object.values((await readBudget()).holds);
  finish();
  await (await response).text();
  return hold?.amount ?? 0;
}

describe("an output limit or a number of responses", () => {
  const wrong = [-1, 0, -281_000_000, 1.5, 1e12, "50", "-1", true, [], {}, [100]];
  const members: readonly [Api, string][] = [
    ["messages", "max_tokens"],
    ["chat", "max_tokens"],
    ["chat", "max_completion_tokens"],
    ["chat", "n"],
    ["responses", "max_output_tokens"],
  ];
  const cases = members.flatMap(([api, member]) => wrong.map((value) => [api, member, value] as const));

  it.each(cases)("of %s with %s = %j is refused with 400 and not sent", async (api, member, value) => {
    const response = await call(api, { [member]: value });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`${member}: must be a whole number from 1 to `);
    expect(standIn.seen).toEqual([]);
    expect(await readBudget()).toMatchObject({ left: 100 * CENT, spent: 0, open: 0 });
  });

  it("of thinking is also refused if it is not a whole number", async () => {
    for (const budget_tokens of [-100_000, 0, "9"]) {
      const { status } = await call("messages", { thinking: { type: "enabled", budget_tokens } });
      expect([budget_tokens, status]).toEqual([budget_tokens, 400]);
    }
  });

  it("is also refused without a budget, in the API's format", async () => {
    const free = await workingRun(plane);
    const response = await gateway.messages(free.key, { max_tokens: -5 });
    expect(await response.json()).toMatchObject({ type: "error", error: { type: "invalid_request_error" } });
  });

  it("reaches the provider in one member only, with the reserved value", async () => {
    await call("chat", { max_tokens: 1, max_completion_tokens: 500 });
    expect(standIn.seen[0]?.body).toMatchObject({ max_completion_tokens: 500 });
    expect(standIn.seen[0]?.body).not.toHaveProperty("max_tokens");
  });
});

describe("input by reference or of unknown size", () => {
  const url = "https://example.com/large";
  const cases: readonly [Api, string, object][] = [
    ["messages", "an image URL", { messages: user({ type: "image", source: { type: "url", url } }) }],
    ["messages", "an image file", { messages: user({ type: "image", source: { type: "file", file_id: "file_1" } }) }],
    ["messages", "a document URL", { messages: user({ type: "document", source: { type: "url", url } }) }],
    ["messages", "a document file", { messages: user({ type: "document", source: { type: "file", file_id: "f" } }) }],
    [
      "messages",
      "a base64 PDF",
      {
        messages: user({
          type: "document",
          source: { type: "base64", media_type: "application/pdf", data: BASE64_PDF },
        }),
      },
    ],
    [
      "messages",
      "a PDF in the result of a tool",
      {
        messages: user({
          type: "tool_result",
          tool_use_id: "t",
          content: [{ type: "document", source: { type: "base64", media_type: "application/pdf", data: BASE64_PDF } }],
        }),
      },
    ],
    ["messages", "a container upload", { messages: user({ type: "container_upload", file_id: "file_1" }) }],
    ["messages", "a part of an unknown type", { messages: user({ type: "hologram", data: "x" }) }],
    ["chat", "an image URL", { messages: user({ type: "image_url", image_url: { url } }) }],
    ["chat", "a file", { messages: user({ type: "file", file: { file_id: "file-1" } }) }],
    [
      "chat",
      "file data",
      { messages: user({ type: "file", file: { file_data: `data:application/pdf;base64,${BASE64_PDF}` } }) },
    ],
    ["chat", "audio", { messages: user({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }) }],
    ["responses", "a file URL", { input: user({ type: "input_file", file_url: url }) }],
    ["responses", "a file id", { input: user({ type: "input_file", file_id: "file-1" }) }],
    [
      "responses",
      "file data",
      { input: user({ type: "input_file", file_data: `data:application/pdf;base64,${BASE64_PDF}` }) },
    ],
    ["responses", "an image URL", { input: user({ type: "input_image", image_url: url }) }],
    ["responses", "an image file", { input: user({ type: "input_image", file_id: "file-1" }) }],
    ["responses", "an item reference", { input: [{ type: "item_reference", id: "msg_1" }] }],
    ["responses", "a previous response", { previous_response_id: "resp_1" }],
    ["responses", "a previous response of a wrong type", { previous_response_id: 5 }],
    ["responses", "a conversation", { conversation: { id: "conv_1" } }],
    ["responses", "a stored prompt", { prompt: { id: "pmpt_1" } }],
    ["responses", "background mode", { background: true }],
    ["responses", "background mode of a wrong type", { background: "true" }],
  ];

  it.each(cases)("is refused by %s for %s, and nothing is sent", async (api, _, body) => {
    const response = await call(api, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error" } });
    expect(standIn.seen).toEqual([]);
    expect(await readBudget()).toMatchObject({ left: 100 * CENT, open: 0 });
  });
});

describe("an image", () => {
  const text = "x".repeat(600_000);
  const cases: readonly [Api, string, object][] = [
    ["messages", "a text that looks like an image", { system: `data:image/png;base64,${text}` }],
    ["messages", "an image of text", { messages: user({ type: "text", text: `data:image/${text}` }) }],
    [
      "messages",
      "a tool's input",
      {
        messages: [
          {
            role: "assistant",
            content: [{ type: "tool_use", id: "t", name: "n", input: { media_type: "image/png", data: text } }],
          },
        ],
      },
    ],
    [
      "chat",
      "a text that looks like an image",
      { messages: [{ role: "user", content: `data:image/png;base64,${text}` }] },
    ],
    ["responses", "instructions that look like an image", { instructions: `data:image/png;base64,${text}` }],
    [
      "responses",
      "an output that looks like an image",
      { input: [{ type: "function_call_output", call_id: "c", output: `data:image/${text}` }] },
    ],
  ];

  it.each(cases)("is not recognized by %s in %s, which is counted by its bytes", async (api, _, body) => {
    run = await runWith(5);
    const reserved = await reservationFor(() =>
      call(api, { ...body, ...(api === "messages" ? { max_tokens: 100 } : {}) }),
    );
    // At least $1.50 per million tokens.
    expect(reserved).toBeGreaterThan(600_000 * 1_500);
  });

  const source = (data: unknown, media_type: unknown = "image/png") => ({ type: "base64", media_type, data });
  const broken: readonly [Api, string, object][] = [
    ["messages", "text", { messages: user({ type: "image", source: source("not base64!") }) }],
    [
      "messages",
      "base64 of text",
      { messages: user({ type: "image", source: source(Buffer.from(text).toString("base64")) }) },
    ],
    ["messages", "another type", { messages: user({ type: "image", source: source(PNG, "image/jpeg") }) }],
    ["messages", "no type of image", { messages: user({ type: "image", source: source(PNG, "text/plain") }) }],
    ["messages", "no text at all", { messages: user({ type: "image", source: source([PNG]) }) }],
    ["messages", "base64 with a wrong end", { messages: user({ type: "image", source: source(`${PNG}A`) }) }],
    ["chat", "text", { messages: user({ type: "image_url", image_url: { url: `data:image/png;base64,${text}!` } }) }],
    ["chat", "a list", { messages: user({ type: "image_url", image_url: { url: [`data:image/png;base64,${PNG}`] } }) }],
    ["responses", "text", { input: user({ type: "input_image", image_url: `data:image/png,${text}` }) }],
  ];

  it.each(broken)("is refused by %s if its data is %s", async (api, _, body) => {
    expect((await call(api, body)).status).toBe(400);
    expect(standIn.seen).toEqual([]);
  });

  it("of valid base64 counts as one, whatever its size", async () => {
    const image = { type: "image", source: source(PNG) };
    const reserved = await reservationFor(() => call("messages", { max_tokens: 100, messages: user(image, image) }));
    // Two images of 5,000 tokens each, at $2 per million.
    expect(reserved).toBeGreaterThan(10_000 * 2_000);
    expect(reserved).toBeLessThan(14_000 * 2_000);
    expect(standIn.seen[0]?.body.messages[0].content[0]).toEqual(image);
  });
});

describe("members without a known price", () => {
  it("are dropped with the tools that the provider executes, and a header lists them", async () => {
    const response = await gateway.messages(
      run.key,
      {
        mcp_servers: [{ type: "url", url: "https://example.com" }],
        container: { skills: [] },
        brand_new_member: 1,
        tools: [
          { name: "read_files", input_schema: { type: "object" } },
          { type: "web_search_20250305", name: "web_search" },
          { type: "code_execution_20250825", name: "code_execution" },
        ],
        context_management: { edits: [{ type: "compact_20260112" }, { type: "clear_thinking_20251015" }] },
        messages: user({ type: "text", text: "hi", cache_control: { type: "ephemeral", ttl: "1h" } }),
      },
      { "anthropic-beta": "claude-code-20250219,fast-mode-2026-02-01,context-1m-2025-08-07" },
    );
    expect(response.status).toBe(200);
    const [seen] = standIn.seen;
    expect(seen?.body).toEqual({
      model: "claude-sonnet-5-5",
      max_tokens: 1_000,
      service_tier: "standard_only",
      tools: [{ name: "read_files", input_schema: { type: "object" } }],
      context_management: { edits: [{ type: "clear_thinking_20251015" }] },
      messages: user({ type: "text", text: "hi", cache_control: { type: "ephemeral" } }),
    });
    expect(seen?.headers["anthropic-beta"]).toBe("claude-code-20250219");
    const dropped = response.headers.get("runyard-dropped")?.split(", ");
    expect(dropped).toEqual(
      expect.arrayContaining([
        "mcp_servers",
        "container",
        "brand_new_member",
        'tools[]("web_search_20250305")',
        'tools[]("code_execution_20250825")',
        "messages[].content[].cache_control.ttl",
        "anthropic-beta(fast-mode-2026-02-01)",
        "anthropic-beta(context-1m-2025-08-07)",
      ]),
    );
  });

  it("are also dropped in OpenAI's APIs, with the choice of a dropped tool", async () => {
    const chat = await call("chat", {
      web_search_options: {},
      prediction: { type: "content", content: "x" },
      modalities: ["audio"],
    });
    expect(chat.headers.get("runyard-dropped")).toBe("web_search_options, prediction, modalities");
    const responses = await call("responses", {
      tools: [{ type: "web_search" }, { type: "mcp", server_url: "https://example.com" }],
      tool_choice: "required",
      input: [
        { type: "reasoning", id: "rs_1", summary: [] },
        { type: "message", id: "msg_1", role: "user", content: "hi" },
      ],
    });
    expect(responses.status).toBe(200);
    expect(standIn.seen[1]?.body).toEqual({
      model: "gpt-5.4",
      service_tier: "default",
      max_output_tokens: expect.any(Number),
      input: [{ type: "message", role: "user", content: "hi" }],
    });
  });

  it("are kept without a budget, and no header is sent", async () => {
    const free = await workingRun(plane);
    const response = await gateway.messages(free.key, { brand_new_member: 1 });
    expect(standIn.seen[0]?.body).toMatchObject({ brand_new_member: 1 });
    expect(response.headers.get("runyard-dropped")).toBeNull();
  });
});

describe("options that determine a price", () => {
  const premium = [
    { speed: "fast" },
    { service_tier: "priority" },
    { service_tier: ["priority"] },
    { inference_geo: "us" },
  ];
  const apis: readonly Api[] = ["messages", "chat", "responses"];

  it.each(apis.flatMap((api) => premium.map((body) => [api, body] as const)))(
    "of %s are refused: %j",
    async (api, body) => {
      expect((await call(api, body)).status).toBe(400);
      const free = await workingRun(plane);
      expect((await gateway[api](free.key, body)).status).toBe(400);
      expect(standIn.seen).toEqual([]);
    },
  );

  it("are sent with standard values if the request leaves them to the provider", async () => {
    const response = await call("responses", { service_tier: "auto" });
    expect(standIn.seen[0]?.body.service_tier).toBe("default");
    expect(response.headers.get("runyard-dropped")).toBe("service_tier");
  });
});

describe("a sent model call", () => {
  const apis: readonly Api[] = ["messages", "chat", "responses"];

  it.each(apis)("by %s is settled by its usage if the caller disconnects", async (api) => {
    standIn.turns.push({ pauseMs: 20, usage: { input: 10_000, output: 900 } });
    const response = await call(api, { stream: true });
    await response.body?.cancel();
    await untilSettled();
    // $2 and $10 per million tokens, and $1.50 and $6.
    expect((await readBudget()).spent).toBe(api === "messages" ? 29_000_000 : 20_400_000);
    expect(standIn.hungUp).toBe(0);
  });

  it.each(apis)("by %s is settled by its usage if the caller disconnects before the response", async (api) => {
    const { promise, resolve: finish } = Promise.withResolvers<void>();
    standIn.turns.push({ after: promise, usage: { input: 10_000, output: 900 } });
    const aborter = new AbortController();
    const path = {
      messages: "anthropic/v1/messages",
      chat: "openai/v1/chat/completions",
      responses: "openai/v1/responses",
    };
    const model = api === "messages" ? SONNET : "openai/gpt-5.4";
    const request = new Request(`${plane.ports.baseUrl}/model/${path[api]}`, {
      method: "POST",
      headers: { "x-api-key": run.key },
      body: JSON.stringify({ model, messages: [], input: "x", max_tokens: 1_000 }),
      signal: aborter.signal,
    });
    const work: Promise<unknown>[] = [];
    const response = gateway.serve(request, (promise) => void work.push(promise));
    await eventually(() => expect(standIn.seen).toHaveLength(1));
    aborter.abort();
    finish();
    await response;
    await Promise.all(work);
    expect(await readBudget()).toMatchObject({ open: 0, spent: api === "messages" ? 29_000_000 : 20_400_000 });
  });

  it("is settled by its usage if the run is cancelled, and the function continues until then", async () => {
    const watchful = createGateway(plane, standIn, { watchMs: 10 });
    standIn.turns.push({ pauseMs: 300, usage: { input: 10_000, output: 900 } });
    const response = watchful.messages(run.key);
    await eventually(() => expect(standIn.seen).toHaveLength(1));
    await createClient(plane).post(`/agent/runs/${run.run_id}/cancel`);
    expect((await response).status).toBe(401);
    expect((await readBudget()).open).toBe(1);
    await untilSettled();
    expect((await readBudget()).spent).toBe(29_000_000);
  });

  it("keeps the Lambda function running until it is settled, even if its caller has disconnected", async () => {
    vi.stubGlobal("awslambda", {
      streamifyResponse: (handler: unknown) => handler,
      HttpResponseStream: { from: (stream: Writable) => stream },
    });
    standIn.turns.push({ pauseMs: 50, usage: { input: 10_000, output: 900 } });
    const handler: unknown = streamed(() => gateway.serve).lambda(() => undefined);
    if (typeof handler !== "function") throw new TypeError("no handler");
    const out = new PassThrough();
    const body = { model: SONNET, messages: [], max_tokens: 1_000, stream: true };
    const rawPath = "/anthropic/v1/messages";
    const ended = handler(httpEvent({ method: "POST", rawPath, body, headers: { "x-api-key": run.key } }), out);
    await once(out, "data");
    out.destroy(new Error("gone"));
    await expect(ended).rejects.toThrow();
    expect(await readBudget()).toMatchObject({ open: 0, spent: 29_000_000 });
  });

  it("is settled in full if its response does not begin in time", async () => {
    const impatient = createGateway(plane, standIn, { firstByteMs: 30 });
    standIn.turns.push({ pauseMs: 1_000 });
    expect((await impatient.messages(run.key)).status).toBe(504);
    // 1,000 output tokens at $10 per million, and some input.
    expect((await readBudget()).spent).toBeGreaterThan(CENT);
  });

  it.each([{ dead: true }, { raw: '{"type":"message"}' }])(
    "is settled in full if its response has no usage: %j",
    async (turn) => {
      standIn.turns.push(turn);
      await call("messages", {});
      expect((await readBudget()).spent).toBeGreaterThan(CENT);
      expect(standIn.seen).toHaveLength(1);
    },
  );

  it.each(apis)("by %s is settled in full if its response breaks off or stalls", async (api) => {
    const impatient = createGateway(plane, standIn, { silenceMs: 30 });
    standIn.turns.push({ cutAfter: 2, pauseMs: 5 }, { pauseMs: 500 });
    for (const _ of [1, 2]) {
      const before = (await readBudget()).spent;
      await (await impatient[api](run.key, { stream: true })).text();
      expect((await readBudget()).spent - before).toBeGreaterThan(CENT / 2);
    }
  });

  it("is settled at zero if the provider refuses it", async () => {
    for (const status of [400, 401, 413, 429, 500, 529]) {
      standIn.otherwise = { status };
      await call("messages", {});
    }
    expect(await readBudget()).toMatchObject({ left: 100 * CENT, spent: 0, open: 0 });
  });
});

describe("an unsent model call", () => {
  it("is settled at zero if the provider cannot be reached", async () => {
    await standIn[Symbol.asyncDispose]();
    expect((await call("chat", {})).status).toBe(502);
    expect(await readBudget()).toMatchObject({ left: 100 * CENT, spent: 0, open: 0 });
    standIn = await ModelStandIn.start();
  });

  it("is not retried after its caller has disconnected", async () => {
    const aborter = new AbortController();
    standIn.turns.push(() => {
      aborter.abort();
      return { status: 529 };
    });
    const request = new Request(`${plane.ports.baseUrl}/model/anthropic/v1/messages`, {
      method: "POST",
      headers: { "x-api-key": run.key },
      body: JSON.stringify({ model: SONNET, messages: [], max_tokens: 1_000 }),
      signal: aborter.signal,
    });
    await gateway.serve(request);
    expect(standIn.seen).toHaveLength(1);
    expect(await readBudget()).toMatchObject({ left: 100 * CENT, spent: 0, open: 0 });
  });
});
