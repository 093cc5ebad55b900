import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import * as v from "valibot";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startServer } from "../../support/http-server.ts";
import { ModelStandIn } from "../../support/model-stand-in.ts";
import { commands, useServers, waitForState } from "../support/served.ts";

const Value = v.union([
  v.pipe(
    v.object({ stringValue: v.string() }),
    v.transform(({ stringValue }) => stringValue),
  ),
  v.pipe(
    v.object({ intValue: v.number() }),
    v.transform(({ intValue }) => intValue),
  ),
]);
const Attributes = v.pipe(
  v.array(v.object({ key: v.string(), value: Value })),
  v.transform((pairs) => Object.fromEntries(pairs.map(({ key, value }) => [key, value]))),
);
const Span = v.object({
  traceId: v.string(),
  spanId: v.string(),
  parentSpanId: v.optional(v.string()),
  name: v.string(),
  kind: v.number(),
  startTimeUnixNano: v.string(),
  endTimeUnixNano: v.string(),
  attributes: Attributes,
  status: v.object({ code: v.number() }),
});
type Span = v.InferOutput<typeof Span>;
/** The request of OTLP in its encoding as JSON. */
const TraceRequest = v.object({
  resourceSpans: v.array(
    v.object({
      resource: v.looseObject({ attributes: Attributes }),
      scopeSpans: v.array(v.object({ scope: v.object({ name: v.string() }), spans: v.array(Span) })),
    }),
  ),
});

const servers = useServers();
const TRACE = "0af7651916cd43dd8448eb211c80319c";
const CALLER = "b7ad6b7169203331";
const requests: { url: string; type: string; authorization: string | undefined; body: Buffer }[] = [];
let collector: Awaited<ReturnType<typeof startServer>>;
let refuses = false;

beforeEach(async () => {
  requests.length = 0;
  refuses = false;
  collector = await startServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const raw = Buffer.concat(chunks);
    const body = request.headers["content-encoding"] === "gzip" ? gunzipSync(raw) : raw;
    const { "content-type": type = "", authorization } = request.headers;
    requests.push({ url: request.url ?? "", type, authorization, body });
    response.writeHead(refuses ? 400 : 200, { "content-type": type }).end();
  });
});
afterEach(() => collector[Symbol.asyncDispose]());

const Events = v.object({ events: v.array(v.object({ sequence: v.number(), type: v.string() })) });

const spans = (): Span[] =>
  requests.flatMap(({ body }) => {
    const { resourceSpans } = v.parse(TraceRequest, JSON.parse(body.toString()));
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  });

const named = (name: string): Span[] => spans().filter((span) => span.name === name);
const json = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" });

async function finish(served: Awaited<ReturnType<typeof servers.start>>, body: object, headers = {}) {
  const created = await served.call("POST", "/agent/runs", body, headers);
  expect(created.status, JSON.stringify(created.body)).toBe(200);
  await waitForState(served, created.body.run_id, "SUCCEEDED");
  return String(created.body.run_id);
}

describe("the trace of a run", () => {
  it("leads from the caller's request to the executions, model calls and tools, and has no content", async () => {
    await using models = await ModelStandIn.start();
    const environment = {
      ...json(),
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20collector-key",
      OTEL_SERVICE_NAME: "agents",
      RUNYARD_COMPATIBLE_BASE_URL: models.openaiUrl,
      RUNYARD_COMPATIBLE_MODELS: "tiny",
    };
    const served = await servers.start(servers.directory(), { environment });
    const prompt = "Say the word xylophone.";
    const id = await finish(
      served,
      { prompt, config: { name: "greeter", model_id: "compatible/tiny" } },
      { traceparent: `00-${TRACE}-${CALLER}-01` },
    );
    await expect.poll(() => named("invoke_agent greeter").length).toBe(1);

    const [request] = named("create_run");
    expect(request).toMatchObject({ traceId: TRACE, parentSpanId: CALLER, kind: 2 });
    expect(request?.attributes["runyard.request.id"]).toMatch(/./);
    const [turn] = named("invoke_agent greeter");
    expect(turn).toMatchObject({
      traceId: TRACE,
      parentSpanId: request?.spanId,
      kind: 2,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "greeter",
        "gen_ai.conversation.id": id,
        "gen_ai.request.model": "compatible/tiny",
        "runyard.run.id": id,
        "runyard.run.state": "SUCCEEDED",
      },
    });
    const [execution] = named("execution");
    expect(execution).toMatchObject({ traceId: TRACE, parentSpanId: turn?.spanId });
    const [chat] = named("chat compatible/tiny");
    expect(chat).toMatchObject({
      parentSpanId: execution?.spanId,
      kind: 3,
      attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "compatible/tiny" },
    });
    expect(Number(chat?.attributes["gen_ai.usage.input_tokens"])).toBeGreaterThan(0);
    for (const { startTimeUnixNano: start, endTimeUnixNano: end } of spans()) {
      expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start));
    }
    expect(requests[0]).toMatchObject({ url: "/v1/traces", authorization: "Bearer collector-key" });
    const sent = requests.map(({ body }) => body.toString()).join();
    expect(sent).toContain('"agents"');
    expect(sent).not.toContain("xylophone");
  }, 120_000);

  it("has a span for each call of a tool, one trace for turns without a caller's, and the same ids when a turn is exported again", async () => {
    const served = await servers.start(servers.directory(), { environment: json() });
    const prompt = `${commands("echo one")}\n\n${commands("sleep 0.3; echo secret-output")}`;
    const id = await finish(served, { prompt, config: { model_id: "local/runbook" } });
    await expect.poll(() => named("execute_tool run_command").length).toBe(2);
    const [first] = named("invoke_agent");
    const followup = await served.call("POST", `/agent/runs/${id}/followups`, { message: commands("echo two") });
    expect(followup.status).toBe(200);
    await expect.poll(() => named("invoke_agent").length).toBe(2);
    const [, second] = named("invoke_agent");
    expect(named("execute_tool run_command")).toHaveLength(3);
    expect(new Set(spans().map(({ traceId }) => traceId))).toEqual(new Set([id.replaceAll("-", "")]));
    const creations = named("create_run");
    expect(creations).toHaveLength(1);
    expect(creations[0]).not.toHaveProperty("parentSpanId");
    const [sent] = named("send_followup");
    expect([first, sent, second].map((span) => span?.parentSpanId)).toEqual([
      creations[0]?.spanId,
      creations[0]?.spanId,
      sent?.spanId,
    ]);
    expect(second?.spanId).not.toBe(first?.spanId);
    const { events } = v.parse(Events, (await served.call("GET", `/agent/runs/${id}/events`)).body);
    const derived = createHash("sha256")
      .update(JSON.stringify([id, "turn", events.find(({ type }) => type === "followup_received")?.sequence]))
      .digest("hex")
      .slice(0, 16);
    expect(second?.spanId).toBe(derived);
    expect(requests.map(({ body }) => body.toString()).join()).not.toContain("secret-output");
    const slow = named("execute_tool run_command").map(
      ({ startTimeUnixNano: start, endTimeUnixNano: end }) => BigInt(end) - BigInt(start),
    );
    expect(slow.some((nanoseconds) => nanoseconds >= 300_000_000n)).toBe(true);
  }, 120_000);

  it("is not sent where its caller does not record it, and is sent as protobuf by default", async () => {
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const served = await servers.start(servers.directory(), { environment });
    const body = { prompt: commands("true"), config: { model_id: "local/runbook" } };
    const unrecorded = await finish(served, body, { traceparent: `00-${TRACE}-${CALLER}-00` });
    const id = await finish(served, { ...body, title: "recorded" });
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    await served.stop();
    const sent = Buffer.concat(requests.map((request) => request.body));
    expect(requests.map(({ type }) => type)).toContain("application/x-protobuf");
    expect(sent.includes(id)).toBe(true);
    expect(sent.includes(unrecorded)).toBe(false);
  }, 120_000);

  it("is lost without harm where the collector refuses it", async () => {
    refuses = true;
    const directory = servers.directory();
    const served = await servers.start(directory, { environment: json() });
    const body = { prompt: commands("true"), config: { model_id: "local/runbook" } };
    const id = await finish(served, body);
    await expect.poll(() => requests.length).toBeGreaterThan(0);
    await expect.poll(async () => (await served.call("GET", `/agent/runs/${id}/transcript`)).status).not.toBe(404);
    await expect
      .poll(() => readFileSync(path.join(directory, "logs/server.log"), "utf8"))
      .toContain("the trace of a run was not exported");
  }, 120_000);

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4318" }, "OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address"],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4317", OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" },
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json, not "grpc"',
    ],
  ])("is refused at start with %o", async (environment, message) => {
    const { code, output } = await servers.run(servers.directory(), { args: ["--no-sample"], environment });
    expect(code).toBe(1);
    expect(output).toContain(message);
  });
});
