import { describe, expect, it } from "vitest";
import { uuidv7 } from "#shared/ids.ts";
import { deriveTraceId, findTraceParent, parseTraceParent, turnSpanId } from "#shared/records/trace-parent.ts";
import { RunSpans, type TracedRun } from "#shared/tracing/run-spans.ts";
import { parseOtlpHeaders, readOtlpProtocol } from "#shared/tracing/tracing-settings.ts";
import type { RunEvent } from "#shared/wire/event.ts";

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";

describe("the header traceparent", () => {
  it("is parsed as the standard says, also that of a later version", () => {
    const position = { traceId: TRACE, spanId: SPAN, isSampled: true };
    expect(parseTraceParent(`00-${TRACE}-${SPAN}-01`)).toEqual(position);
    expect(parseTraceParent(` 00-${TRACE}-${SPAN}-00 `)).toEqual({ ...position, isSampled: false });
    expect(parseTraceParent(`cc-${TRACE}-${SPAN}-03-what-is-new`)).toEqual(position);
  });

  it.each([
    undefined,
    "",
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01-more`,
    `ff-${TRACE}-${SPAN}-01`,
    `00-${"0".repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${"0".repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`.repeat(2),
  ])("is ignored where it is %j", (header) => {
    expect(parseTraceParent(header)).toBeUndefined();
  });

  it("is the position of the caller, of the parent's first turn for a child, and never the one that a sandbox sends", () => {
    const header = `00-${TRACE}-${SPAN}-01`;
    const parent = { runId: uuidv7(1), traceparent: `00-${"a".repeat(32)}-${"b".repeat(16)}-00` };
    const inherited = `00-${"a".repeat(32)}-${turnSpanId(parent.runId, 1)}-00`;
    expect(findTraceParent(header, undefined, false)).toBe(header);
    expect(findTraceParent(header, parent, false)).toBe(header);
    expect(findTraceParent(undefined, parent, false)).toBe(inherited);
    expect(findTraceParent(header, parent, true)).toBe(inherited);
    expect(findTraceParent(header, { runId: parent.runId }, true)).toBeUndefined();
    expect(findTraceParent("00-bad", undefined, false)).toBeUndefined();
  });
});

describe("the spans of a run", () => {
  const runId = uuidv7(1_000);
  const traced: TracedRun = {
    runId,
    body: { config: {}, conversation_id: runId, source: "API", ancestors: [] },
  };

  it("have one execution for each attempt, and an error for a lost execution and a failed run", () => {
    const spans = spansOf({ ...traced, errorCode: "budget_exceeded" }, [
      [1_010, "run_created", { state: "QUEUED" }],
      [2_000, "run_pending", { state: "PENDING", execution_id: "one" }],
      [3_000, "worker_container_ready", { state: "INPROGRESS" }],
      [4_000, "execution_lost", {}],
      [5_000, "run_pending", { state: "PENDING", execution_id: "two" }],
      [6_000, "setup_commands", { duration_ms: 400, is_error: true, detail: "npm install failed" }],
      [6_500, "setup_skill_loading", { duration_ms: Number.MAX_SAFE_INTEGER }],
      [7_000, "run_failed", { state: "FAILED", detail: "why it failed" }],
      [8_000, "artifact_created", {}],
    ]);
    expect(spans.map(({ name, startedAt, endedAt, errorType }) => [name, startedAt, endedAt, errorType])).toEqual([
      ["invoke_agent", 1_000, 7_000, "budget_exceeded"],
      ["execution", 2_000, 4_000, "execution_lost"],
      ["execution", 5_000, 7_000, undefined],
      ["setup_commands", 5_600, 6_000, "setup_failed"],
      ["setup_skill_loading", 5_000, 6_500, undefined],
    ]);
    const [turn, , second, setup] = spans;
    expect(turn).toMatchObject({
      traceId: deriveTraceId(runId),
      spanId: turnSpanId(runId, 1),
      parentSpanId: undefined,
    });
    expect([second?.parentSpanId, setup?.parentSpanId]).toEqual([turn?.spanId, second?.spanId]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(JSON.stringify(spans)).not.toMatch(/npm install|why it failed/);
  });

  it("are those of the last turn that has ended, with the sums of its tokens", () => {
    const call = { model_id: "m", input_tokens: 5, output_tokens: 2, duration_ms: 100, cache_read_tokens: 3 };
    const spans = spansOf(traced, [
      [1_000, "run_created", { state: "QUEUED" }],
      [2_000, "run_pending", { state: "PENDING", execution_id: "one" }],
      [2_500, "model_called", call],
      [3_000, "run_succeeded", { state: "SUCCEEDED" }],
      [3_500, "followup_received", {}],
      [4_000, "run_queued", { state: "QUEUED" }],
      [5_000, "run_pending", { state: "PENDING", execution_id: "two" }],
      [5_500, "model_called", call],
      [5_600, "model_called", call],
      [6_000, "run_blocked", { state: "BLOCKED" }],
      [7_000, "run_queued", { state: "QUEUED" }],
    ]);
    expect(spans.map(({ name, startedAt }) => [name, startedAt])).toEqual([
      ["invoke_agent", 4_000],
      ["execution", 5_000],
      ["chat m", 5_400],
      ["chat m", 5_500],
    ]);
    expect(spans[0]).toMatchObject({
      spanId: turnSpanId(runId, 6),
      errorType: undefined,
      attributes: { "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 4, "runyard.run.state": "BLOCKED" },
    });
    expect(spans[2]?.attributes).toMatchObject({ "gen_ai.usage.cache_read.input_tokens": 3 });
  });

  it("are the same where only the events of the last turn are read", () => {
    const later = [
      [3_500, "followup_received", { state: "QUEUED" }],
      [5_000, "run_pending", { state: "PENDING", execution_id: "two" }],
      [6_000, "run_blocked", { state: "BLOCKED" }],
    ] as const;
    const all = spansOf(traced, [
      [1_000, "run_created", { state: "QUEUED" }],
      [2_000, "run_cancelled", { state: "CANCELLED" }],
      ...later,
    ]);
    expect(spansOf({ ...traced, isContinued: true }, later, 3)).toEqual(all);
    expect(all.map(({ name, startedAt }) => [name, startedAt])).toEqual([
      ["invoke_agent", 3_500],
      ["execution", 5_000],
    ]);
  });

  it("begin with the request that created the run, below which all turns are", () => {
    const origin = { via: "key", key_suffix: "abcd", request_id: "1-67891233-abcdef012345678912345678" } as const;
    const requested = { ...traced, body: { ...traced.body, origin, traceparent: `00-${TRACE}-${SPAN}-01` } };
    const created = [1_000, "run_created", { state: "QUEUED" }] as const;
    const cancelled = [2_000, "run_cancelled", { state: "CANCELLED" }] as const;
    const [request, turn, ...others] = spansOf(requested, [created, cancelled]);
    expect(request).toMatchObject({
      name: "create_run",
      kind: "server",
      traceId: TRACE,
      parentSpanId: SPAN,
      startedAt: 1_000,
      endedAt: 1_000,
      attributes: { "runyard.request.id": origin.request_id, "runyard.request.via": "key" },
    });
    expect(turn).toMatchObject({ name: "invoke_agent", traceId: TRACE, parentSpanId: request?.spanId });
    expect(others).toEqual([]);
    const [second, ...rest] = spansOf(requested, [
      created,
      cancelled,
      [3_000, "run_queued", { state: "QUEUED" }],
      [4_000, "run_cancelled", { state: "CANCELLED" }],
    ]);
    expect(second).toMatchObject({ name: "invoke_agent", startedAt: 3_000, parentSpanId: request?.spanId });
    expect(rest).toEqual([]);
    // A run of a schedule or a trigger has no request of its own.
    const [only] = spansOf({ ...requested, body: { ...requested.body, origin: { via: "trigger" } } }, [
      created,
      cancelled,
    ]);
    expect(only).toMatchObject({ name: "invoke_agent", parentSpanId: SPAN });
  });

  it("are below the first turn of the parent, in the trace of the root", () => {
    const [root, parent] = [uuidv7(1), uuidv7(2)];
    const child = { ...traced.body, ancestors: [root, parent], parent_run_id: parent };
    const [turn] = spansOf({ runId, body: child }, [
      [1_000, "run_created", { state: "QUEUED" }],
      [2_000, "run_cancelled", { state: "CANCELLED" }],
    ]);
    expect(turn).toMatchObject({ traceId: deriveTraceId(root), parentSpanId: turnSpanId(parent, 1) });
  });

  it("have the names and errors of tools without their inputs and outputs, and are limited in number", () => {
    const action = (id: string) => ({ type: "action", id, category: "command", name: "run_command", input: "private" });
    const result = (id: string, state: string) => ({
      ...{ type: "action_result", action_id: id, category: "command", name: "run_command", state, output: "private" },
    });
    const many = Array.from({ length: 5_003 }, (_, index) => `call-${index}`);
    const spans = spansOf(traced, [
      [1_000, "run_created", { state: "QUEUED" }],
      [2_000, "run_pending", { state: "PENDING", execution_id: "one" }],
      [3_000, "messages", { messages: [{ role: "assistant", content: [action("call-0")] }] }],
      [
        4_000,
        "messages",
        {
          messages: many.map((id) => ({
            role: "tool",
            content: [result(id, id === "call-0" ? "denied" : "completed")],
          })),
        },
      ],
      [5_000, "run_succeeded", { state: "SUCCEEDED" }],
    ]);
    expect(spans[2]).toMatchObject({
      name: "execute_tool run_command",
      startedAt: 3_000,
      endedAt: 4_000,
      errorType: "denied",
      attributes: { "gen_ai.tool.name": "run_command", "gen_ai.tool.call.id": "call-0" },
    });
    expect(spans).toHaveLength(2 + 5_000);
    expect(spans[0]?.attributes["runyard.spans_dropped"]).toBe(3);
    expect(JSON.stringify(spans)).not.toContain("private");
  });
});

describe("the variables of OpenTelemetry", () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };

  it("name no collector by default, or where they disable traces", () => {
    expect(readOtlpProtocol({})).toBeUndefined();
    expect(readOtlpProtocol({ OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBeUndefined();
    expect(readOtlpProtocol({ ...endpoint, OTEL_SDK_DISABLED: "true" })).toBeUndefined();
    expect(readOtlpProtocol({ ...endpoint, OTEL_TRACES_EXPORTER: "none" })).toBeUndefined();
    expect(readOtlpProtocol(endpoint)).toBe("http/protobuf");
    expect(readOtlpProtocol({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://a.example/v1/traces" })).toBe(
      "http/protobuf",
    );
  });

  it("apply to traces first where they name them, and must name a supported protocol", () => {
    const both = { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "grpc", OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "http/json" };
    expect(readOtlpProtocol(both)).toBe("http/json");
    expect(() => readOtlpProtocol({ ...both, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: "" })).toThrow(
      'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json, not "grpc"',
    );
    expect(() => readOtlpProtocol({ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" })).toThrow(
      "OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address",
    );
  });

  it("have headers with commas, in percent-encoding", () => {
    expect(parseOtlpHeaders("authorization=Bearer%20a%2Cb, x-team = 50%,, nothing")).toEqual({
      authorization: "Bearer a,b",
      "x-team": "50%",
    });
  });
});

function spansOf(
  run: TracedRun,
  events: readonly (readonly [number, RunEvent["type"], Record<string, unknown>])[],
  first = 1,
) {
  const spans = new RunSpans(run);
  for (const [index, [at, type, data]] of events.entries()) {
    spans.add({ sequence: index + first, type, occurred_at: new Date(at).toISOString(), data });
  }
  return spans.describeLast();
}
