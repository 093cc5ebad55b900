import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Span } from "#shared/tracing/span.ts";
import { traceRun } from "#shared/tracing/trace-run.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import { deliver, workingRun } from "../../support/execution.ts";

let plane: TestControlPlane;
beforeEach(async () => {
  plane = await createTestControlPlane();
});

/** Exports the trace of a run, and returns the names of its spans and the places from which its events were read. */
async function trace(runId: string): Promise<{ spans: readonly Span[]; from: readonly (number | undefined)[] }> {
  const head = await plane.ports.runs.head(runId);
  if (head === undefined) throw new Error("there is no such run");
  const exported: Span[] = [];
  const read = vi.spyOn(plane.ports.runs, "timelineItems");
  await traceRun(head, { ...plane.ports, spans: { export: async (spans) => void exported.push(...spans) } });
  const from = read.mock.calls.map(([, after]) => after);
  read.mockRestore();
  return { spans: exported, from };
}

describe("traceRun", () => {
  it("begins with the request, and reads only the events of a later turn", async () => {
    const run = await workingRun(plane, { prompt: "hello" });
    await run.finish(true);
    await deliver(plane);
    const first = await trace(run.run_id);
    expect(first.from).toEqual([0]);
    const [request, turn, execution] = first.spans;
    expect(first.spans.map(({ name }) => name)).toEqual(["create_run", "invoke_agent", "execution"]);
    const body = await plane.ports.runs.body(run.run_id);
    expect(request?.attributes).toEqual({
      "runyard.request.id": body.origin?.request_id,
      "runyard.request.via": "key",
    });
    expect([turn?.parentSpanId, execution?.parentSpanId]).toEqual([request?.spanId, turn?.spanId]);

    const ended = await plane.ports.runs.head(run.run_id);
    const client = createClient(plane);
    expect((await client.post(`/agent/runs/${run.run_id}/followups`, { message: "more" })).status).toBe(200);
    expect((await client.post(`/agent/runs/${run.run_id}/cancel`)).status).toBe(200);
    await deliver(plane);
    const second = await trace(run.run_id);
    expect(second.from).toEqual([(ended?.next_sequence ?? 0) - 1]);
    expect(second.spans.map(({ name, parentSpanId }) => [name, parentSpanId])).toEqual([
      ["send_followup", request?.spanId],
      ["invoke_agent", second.spans[0]?.spanId],
    ]);
    expect(second.spans[1]?.spanId).not.toBe(turn?.spanId);
  });

  it("has a later turn in the trace of its follow-up's caller, if that has one and records it", async () => {
    const [traceId, caller] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
    const run = await workingRun(plane, { prompt: "hello" });
    await run.finish(true);
    const client = createClient(plane);
    const turn = async (flag: string, path = `/agent/runs/${run.run_id}/followups`) => {
      const headers = { traceparent: `00-${traceId}-${caller}-${flag}` };
      expect((await client.post(path, { message: "more" }, { headers })).status).toBe(200);
      expect((await client.post(`/agent/runs/${run.run_id}/cancel`)).status).toBe(200);
      return (await trace(run.run_id)).spans;
    };
    const [request, later] = await turn("01");
    expect(request).toMatchObject({ name: "send_followup", traceId, parentSpanId: caller });
    expect(request?.attributes).toEqual({ "runyard.request.id": expect.any(String), "runyard.request.via": "key" });
    expect(later).toMatchObject({ name: "invoke_agent", traceId, parentSpanId: request?.spanId });
    expect(await turn("00")).toEqual([]);
    const conversation = (await client.get(`/agent/runs/${run.run_id}`)).body.conversation_id;
    expect(await turn("01", `/agent/conversations/${conversation}/followups`)).toMatchObject([
      { traceId },
      { traceId },
    ]);
  });

  it("ignores the position that a sandbox sends with a follow-up", async () => {
    const parent = await workingRun(plane, { prompt: "hello" });
    const child = (await parent.client.post("/agent/runs", { prompt: "more" })).body.run_id;
    await createClient(plane).post(`/agent/runs/${child}/cancel`);
    const headers = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };
    expect((await parent.client.post(`/agent/runs/${child}/followups`, { message: "x" }, { headers })).status).toBe(
      200,
    );
    await createClient(plane).post(`/agent/runs/${child}/cancel`);
    const traceId = parent.run_id.replaceAll("-", "");
    expect((await trace(child)).spans).toMatchObject([{ traceId }, { traceId }]);
  });

  it("reads all events of a run whose turns an earlier version has not noted", async () => {
    const run = await workingRun(plane, { prompt: "hello" });
    await run.finish(true);
    await createClient(plane).post(`/agent/runs/${run.run_id}/followups`, { message: "more" });
    await createClient(plane).post(`/agent/runs/${run.run_id}/cancel`);
    await deliver(plane);
    const noted = await trace(run.run_id);
    const { pk, sk } = plane.table
      .all()
      .find((item) => item.pk.endsWith(run.run_id) && item["turn_from"] !== undefined) ?? {
      pk: "",
      sk: "",
    };
    await plane.table.write({ kind: "update", key: { pk, sk }, remove: ["turn_from"] });
    const found = await trace(run.run_id);
    expect(found.from).toEqual([0]);
    expect(found.spans).toEqual(noted.spans);
  });
});
