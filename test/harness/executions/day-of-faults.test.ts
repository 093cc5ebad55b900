import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { Message, TextBlock } from "@strands-agents/sdk";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { toFailure } from "#harness/agent/failures.ts";
import { createModel } from "#harness/agent/model.ts";
import type { GatewayPorts } from "#shared/model-gateway/gateway.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { type Harness, workingRun } from "../../support/execution.ts";
import { createGateway, SONNET, stubModelSettings } from "../../support/gateway.ts";
import type { Turn } from "../../support/model-shapes.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";

vi.setConfig({ testTimeout: 120_000 });

const PROVIDERS = {
  anthropic: SONNET,
  openai: "openai/gpt-5.4",
  compatible: "compatible/llama",
} as const;

let plane: TestControlPlane;
let standIn: ModelStandIn;
let run: Harness;
let modelUrl: string;
/** The time-outs of the gateway: short ones only for faults that nothing but a time-out ends. */
let times: GatewayPorts["times"];
const server = createServer();
beforeAll(async () => {
  stubModelSettings();
  plane = await createTestControlPlane();
  standIn = await ModelStandIn.start();
  const serve = (request: Request) => createGateway(plane, standIn, times).serve(request);
  server.on("request", getRequestListener(serve, { overrideGlobalObjects: false }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  modelUrl = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  run = await workingRun(plane);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  server.closeAllConnections();
  server.close();
  await standIn[Symbol.asyncDispose]();
});
beforeEach(() => {
  standIn.turns.length = 0;
});

/** What the status_message of a run quotes of a failed call of the model. */
async function failWith(modelId: string, fault: Turn): Promise<string> {
  standIn.otherwise = fault;
  const signal = new AbortController().signal;
  const model = createModel({ modelId, modelUrl: `${modelUrl}/model`, key: run.key, signal });
  const events = model.streamAggregated([new Message({ role: "user", content: [new TextBlock("Hello.")] })]);
  try {
    for (;;) if ((await events.next()).done) return "no failure";
  } catch (error) {
    return toFailure(error).message;
  }
}

interface Fault {
  readonly fault: Turn;
  readonly times?: GatewayPorts["times"];
  /** The provider's status, or what there is instead. */
  readonly status: string;
  readonly words: string;
  readonly remedy: string;
}

const never = new Promise<never>(() => undefined);
const text = { text: "a long story of which the end is missing" };
const withStatus = (status: number, raw: string, headers: Record<string, string> = {}) => ({ status, raw, headers });
const body = (error: unknown) => JSON.stringify({ error });
const LATER = "Continue the run later, or choose another model.";
const UNFINISHED = { status: "200", words: "did not finish its response", remedy: LATER };
/** The connection may be gone before the gateway has read the beginning of the response. */
const CUT = {
  status: "returned 200|could not be reached \\(\\w+\\)",
  words: "did not finish its response|could not be reached",
  remedy: `${LATER}|Check that its server runs`,
};
const html = "<!DOCTYPE html><html><head><title>500 Oops</title></head><body><h1>Internal error 7</h1></body></html>";
const eventStream = { "content-type": "text/event-stream" };

const FAULTS: Readonly<Record<string, Fault>> = {
  "a connection that is cut before a response": {
    fault: { dead: true },
    status: "could not be reached",
    words: "UND_ERR_SOCKET|ECONNRESET",
    remedy: "Check that its server runs",
  },
  "a connection that is cut in a stream": { fault: { ...text, cutAfter: 2 }, ...CUT },
  "a stream that ends within a tool call": {
    fault: { tools: [{ name: "run_command", input: { command: "ls -la" } }], cutAfter: 3 },
    ...CUT,
  },
  "a stream that stalls": {
    fault: { ...text, textHeldUntil: never },
    times: { silenceMs: 500 },
    ...UNFINISHED,
    words: "nothing came for",
  },
  "a provider that does not respond": {
    fault: { after: never },
    times: { firstByteMs: 500 },
    status: "returned nothing",
    words: "did not begin to respond in time",
    remedy: "continue the run later",
  },
  "429 with a date to wait for": {
    fault: withStatus(429, body({ message: "slow down", type: "rate_limit_error" }), {
      "retry-after": new Date(Date.now() + 3_600_000).toUTCString(),
    }),
    status: "429",
    words: "slow down",
    remedy: "raise the account's limit",
  },
  "429 with a unit": {
    fault: withStatus(429, body({ message: "tokens per minute" }), {
      "retry-after": "90s",
      "x-ratelimit-reset": "soon",
    }),
    status: "429",
    words: "tokens per minute",
    remedy: "raise the account's limit",
  },
  "429 with a negative delay": {
    fault: withStatus(429, body({ message: "concurrency limit" }), { "retry-after": "-5", "retry-after-ms": "NaN" }),
    status: "429",
    words: "concurrency limit",
    remedy: "raise the account's limit",
  },
  "429 with a delay beyond any date": {
    fault: withStatus(429, body({ message: "come back never" }), { "retry-after": "99999999999999999999" }),
    status: "429",
    words: "come back never",
    remedy: "raise the account's limit",
  },
  "429 of a spent quota": {
    fault: withStatus(429, body({ message: "You exceeded your current quota", type: "insufficient_quota" })),
    status: "429",
    words: "You exceeded your current quota",
    remedy: "Add credit",
  },
  "500 with a page": {
    fault: withStatus(500, html, { "content-type": "text/html" }),
    status: "500",
    words: "Internal error 7",
    remedy: LATER,
  },
  "502 without a body": { fault: withStatus(502, ""), status: "502", words: "no reason was given", remedy: LATER },
  "503 with a text": {
    fault: withStatus(503, "no healthy upstream"),
    status: "503",
    words: "no healthy upstream",
    remedy: LATER,
  },
  "529 of an overloaded provider": {
    fault: withStatus(
      529,
      JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }),
    ),
    status: "529",
    words: "Overloaded",
    remedy: LATER,
  },
  "401 that echoes the key": {
    fault: withStatus(401, body({ message: "Incorrect API key provided: sk-abcdefghijkl" })),
    status: "401",
    words: "Incorrect API key provided: \\[redacted\\]",
    remedy: "The operator of this deployment has to check the provider's key",
  },
  "402 without credit": {
    fault: withStatus(402, body("Payment required")),
    status: "402",
    words: "Payment required",
    remedy: "Add credit",
  },
  "403 of a blocked region": {
    fault: withStatus(403, JSON.stringify({ detail: "Country not supported" })),
    status: "403",
    words: "Country not supported",
    remedy: "its rights",
  },
  "404 of an unknown model": {
    fault: withStatus(404, body({ message: "The model does not exist", code: "model_not_found" })),
    status: "404",
    words: "The model does not exist",
    remedy: "Check the model's name",
  },
  "400 for a feature that the model lacks": {
    fault: withStatus(400, JSON.stringify({ object: "error", message: "tools are not supported", code: 40_001 })),
    status: "400",
    words: "tools are not supported",
    remedy: "Check that the model supports the request",
  },
  "a redirect, which would send the key elsewhere": {
    fault: withStatus(307, "", { location: "http://127.0.0.1:9/elsewhere" }),
    status: "redirected",
    words: "which would send its key elsewhere",
    remedy: "the operator has to set the base URL",
  },
  "413 of a proxy": {
    fault: withStatus(413, "<html><body>Request Entity Too Large</body></html>"),
    status: "413",
    words: "Request Entity Too Large",
    remedy: "Send fewer or smaller files",
  },
  "an error in a response of status 200": {
    fault: { raw: body({ message: "backend exploded", code: 503 }) },
    status: "503",
    words: "backend exploded",
    remedy: LATER,
  },
  "an error in a stream": {
    fault: { raw: `data: ${body({ message: "worker died", code: 500 })}\n\n`, headers: eventStream },
    status: "500",
    words: "worker died",
    remedy: LATER,
  },
  "an error as a text in a stream": {
    fault: { raw: `data: ${JSON.stringify({ error: "CUDA out of memory" })}\n\n`, headers: eventStream },
    status: "200",
    words: "CUDA out of memory",
    remedy: LATER,
  },
  "402 in a response of status 200": {
    fault: { raw: body({ message: "insufficient credits", code: 402 }) },
    status: "402",
    words: "insufficient credits",
    remedy: "Add credit",
  },
  "a page in a response of status 200": {
    fault: { raw: html, headers: { "content-type": "text/html" } },
    status: "200",
    words: "Internal error 7",
    remedy: LATER,
  },
  "a response that is not JSON": {
    fault: { raw: "I am a teapot" },
    status: "200",
    words: "I am a teapot",
    remedy: LATER,
  },
};

describe.each(Object.entries(PROVIDERS))(
  "a failed call of %s names provider, status, reason and remedy",
  (provider, modelId) => {
    it.each(Object.entries(FAULTS))("after %s", async (_, { fault, status, words, remedy, ...short }) => {
      times = short.times;
      const message = await failWith(modelId, fault);
      expect(message).toContain(provider);
      for (const part of [status, words, remedy]) expect(message).toMatch(new RegExp(part));
    });
  },
);
