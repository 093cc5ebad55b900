import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { storeArtifactReport } from "#shared/artifacts/artifacts.ts";
import { setLogOutput } from "#shared/log/log.ts";
import { isExecutingHead } from "#shared/records/run-head.ts";
import { keys } from "#shared/table/keys.ts";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane, type TestControlPlane } from "../../support/control-plane.ts";
import {
  createHarness,
  createRun,
  deliver,
  nextExecution,
  said,
  startedRun,
  workingRun,
} from "../../support/execution.ts";
import { readState, readTimeline } from "../../support/look.ts";

const file = (more: Record<string, unknown> = {}) => ({
  artifact_type: "FILE" as const,
  data: {
    filepath: "a.txt",
    filename: "a.txt",
    mime_type: "text/plain",
    size_bytes: 3,
    sha256: "0".repeat(64),
    ...more,
  },
});
const event = (more: Record<string, unknown> = {}) => ({
  event_uuid: randomUUID(),
  event_name: "agent_started",
  timestamp: "2026-05-18T19:00:00Z",
  ...more,
});

describe("POST /harness-support/resolve-prompt", () => {
  // @contract harness.instance: The first harness of an execution binds it; another is 409.
  it("accepts one of several concurrent harnesses, and refuses the others permanently", async () => {
    const plane = await createTestControlPlane();
    const envelope = await plane.dispatch(await createRun(plane));
    const harnesses = Array.from({ length: 5 }, () => createHarness(plane, envelope));
    const responses = await Promise.all(harnesses.map((harness) => harness.resolve()));
    expect(responses.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409]);
    const loser = harnesses[responses.findIndex(({ status }) => status === 409)];
    expect((await loser?.finish())?.status).toBe(409);
    expect(
      (await readTimeline(plane, envelope.run_id)).filter((type) => type === "worker_container_ready"),
    ).toHaveLength(1);
  });

  it("returns the prompt and the whole context of a plain run", async () => {
    const plane = await createTestControlPlane();
    const harness = await startedRun(plane, { prompt: "Say hello.", title: "Hello" });
    expect((await harness.resolve()).body).toEqual({
      prompt: "Say hello.",
      context: {
        run_id: harness.run_id,
        execution_id: harness.execution_id,
        conversation_id: harness.run_id,
        title: "Hello",
        creator: { name: "Ada", email: "ada@runyard.test" },
        mode: "normal",
        agent_config: { model_id: "local/runbook", computer_use_enabled: false, idle_timeout_minutes: 10 },
        attachments: [],
        messages: [],
        own_messages: 0,
        next_sequence: 1,
        followups: [],
        next_heartbeat_seconds: 9,
        finish_takes_messages: true,
      },
    });
  });

  // @contract harness.protocol: A harness with a protocol that is too old is 426.
  it("returns 426 to a harness with an older protocol", async () => {
    const plane = await createTestControlPlane();
    const harness = await startedRun(plane);
    for (const spoken of ["-1", "old"]) {
      const response = await harness.client.post(
        "/harness-support/resolve-prompt",
        {},
        { headers: { "runyard-protocol": spoken } },
      );
      expect(response).toMatchObject({ status: 426, body: { error_code: "invalid_request" } });
    }
    expect(await readState(plane, harness.run_id)).toBe("PENDING");
    for (const spoken of ["0", "2"]) {
      const headers = { "runyard-protocol": spoken };
      expect((await harness.client.post("/harness-support/resolve-prompt", {}, { headers })).status).toBe(200);
    }
  });
});

describe("POST /harness-support/heartbeat", () => {
  it("returns 409 before the first call, and the interval afterwards", async () => {
    const plane = await createTestControlPlane();
    const harness = await startedRun(plane);
    expect(await harness.beat()).toMatchObject({ status: 409, body: { retryable: false } });
    await harness.resolve();
    expect((await harness.beat()).body).toEqual({
      followups: [],
      cancel: false,
      watched: false,
      next_heartbeat_seconds: 9,
    });
  });
});

describe("the interval of heartbeats", () => {
  it("is shorter while a reader watches the run", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    expect((await harness.beat()).body).toMatchObject({ watched: false, next_heartbeat_seconds: 9 });
    await createClient(plane).get(`/agent/runs/${harness.run_id}/events?live=true`);
    expect((await harness.beat()).body).toMatchObject({ watched: true, next_heartbeat_seconds: 5 });
  });
});

describe("the log", () => {
  const lines: string[] = [];
  beforeEach(() => setLogOutput((line) => void lines.push(line)));
  afterEach(() => {
    setLogOutput((line) => void process.stdout.write(line));
    lines.length = 0;
  });

  it("has no line for a successful heartbeat, and one for a refused heartbeat", async () => {
    const plane = await createTestControlPlane();
    const harness = await startedRun(plane);
    const countLines = () => lines.filter((line) => line.includes("/harness-support/heartbeat")).length;
    expect((await harness.beat()).status).toBe(409);
    expect(countLines()).toBe(1);
    await harness.resolve();
    expect((await harness.beat()).status).toBe(200);
    expect(countLines()).toBe(1);
  });
});

describe("POST /harness-support/messages", () => {
  it("stores one of two different batches with the same number, and reports the next number", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const responses = await Promise.all([
      harness.messages(1, "a"),
      harness.messages(1, "b", "c"),
      harness.messages(1, "d"),
    ]);
    const stored = (await harness.resolve()).body.context.messages.length;
    for (const { status, body } of responses)
      expect([status, body]).toEqual([200, { next_sequence: stored + 1, watched: false }]);
  });

  // @contract harness.messages.once: A batch of messages that is sent again gets the same response and is stored once.
  it("stores twenty equal concurrent batches once", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await Promise.all(Array.from({ length: 20 }, () => harness.messages(1, "one", "two")));
    expect((await harness.resolve()).body.context).toMatchObject({
      next_sequence: 3,
      messages: [said("one"), said("two")],
    });
  });

  it("keeps batches of every size in order, including those too large for the table", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const texts = [1, 40_000, 10, 250_000, 32_768, 5].map((size, index) => `${index}${"é".repeat(size / 2)}`);
    for (const [index, text] of texts.entries())
      expect((await harness.messages(index + 1, text)).body).toEqual({ next_sequence: index + 2, watched: false });
    await harness.finish();
    await deliver(plane);
    const transcript = await createClient(plane).get(`/agent/runs/${harness.run_id}/transcript`);
    const lines = (await plane.download(transcript.headers["location"] ?? ""))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.filter(({ role }) => role === "assistant").map(({ content }) => content[0].text)).toEqual(texts);
  });

  it.each([
    { most: "20,000 messages", set: { messages: 19_999 }, last: 20_000 },
    { most: "100 MB of them", set: { message_bytes: 100 * 1024 * 1024 - 100 }, last: 1 },
  ])("accepts $most, and ends a run that exceeds it", async ({ set, last }) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set });
    expect((await harness.messages(last, "the last")).status).toBe(200);
    expect(await harness.messages(last + 1, "more")).toMatchObject({
      status: 429,
      body: { error_code: "resource_unavailable", retryable: false },
    });
    expect((await harness.messages(last + 1, "more")).status).toBe(401);
    expect((await createClient(plane).get(`/agent/runs/${harness.run_id}`)).body).toMatchObject({
      state: "FAILED",
      status_message: {
        error_code: "operation_not_supported",
        message: expect.stringContaining("exceeded its message limit"),
      },
    });
  });
});

describe("POST /agent/runs/{runId}/client-events", () => {
  // @contract harness.client-events.once: A client event feeds the timeline once per event_uuid.
  it("stores an event once for repeated and concurrent requests", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const one = event();
    const responses = await Promise.all(Array.from({ length: 10 }, () => harness.event(one)));
    for (const { status, body } of responses) expect(status === 200 || body.retryable, JSON.stringify(body)).toBe(true);
    expect((await harness.event(one)).status).toBe(200);
    expect((await readTimeline(plane, harness.run_id)).filter((type) => type === "agent_started")).toHaveLength(1);
  });

  it("uses the service's time, and keeps the sandbox's measurements", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    plane.clock.now += 1_500;
    const payload = {
      start_ts: "2020-01-01T00:00:00Z",
      finish_ts: "2020-01-01T00:00:01.5Z",
      latency_ms: 1_500.4,
      is_error: true,
    };
    await harness.event(event({ timestamp: "2020-01-01T00:00:00Z", event_name: "setup_commands", payload }));
    const { events } = (await createClient(plane).get(`/agent/runs/${harness.run_id}/timeline`)).body;
    expect(events.at(-1)).toMatchObject({
      occurred_at: "2026-05-18T19:00:01.500Z",
      payload: {
        duration_ms: 1_500,
        is_error: true,
        start_ts: "2020-01-01T00:00:00Z",
        finish_ts: "2020-01-01T00:00:01.5Z",
      },
    });
  });

  it("accepts only events of its own run", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const other = await createRun(plane);
    for (const id of [other, randomUUID()]) {
      expect((await harness.client.post(`/agent/runs/${id}/client-events`, event())).status).toBe(403);
    }
  });

  it("accepts 2,000 events and returns 429 above", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    await plane.table.write({ kind: "update", key: keys.head(harness.run_id), set: { client_events: 2_000 } });
    expect((await harness.event(event())).status).toBe(429);
  });
});

describe("POST /harness-support/report-artifact", () => {
  it("returns one location for concurrent reports of the same file", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const responses = await Promise.all(Array.from({ length: 5 }, () => harness.support("report-artifact", file())));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(new Set(responses.map(({ body }) => body.artifact_uid)).size).toBe(1);
    await plane.upload(responses[0]?.body.upload.url, "abc");
    const commits = await Promise.all(Array.from({ length: 5 }, () => harness.support("report-artifact", file())));
    for (const { status, body } of commits) expect(status === 200 || body.retryable).toBe(true);
    expect((await readTimeline(plane, harness.run_id)).filter((type) => type === "artifact_created")).toHaveLength(1);
    expect((await createClient(plane).get(`/agent/runs/${harness.run_id}`)).body.artifacts).toHaveLength(1);
  });

  it("keeps a committed file visible after a late report", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const head = await plane.ports.runs.head(harness.run_id);
    if (head === undefined || !isExecutingHead(head)) throw new Error("the run is not executing");
    // The late report reads before the artifact exists, and writes after the artifact is committed.
    const { get, ...table } = plane.table;
    let looked = false;
    const late = {
      ...plane.ports,
      table: {
        ...table,
        get: async (key: Parameters<typeof get>[0]) => {
          if (looked) return get(key);
          looked = true;
          await commitFile(plane, harness);
          return undefined;
        },
      },
    };
    await storeArtifactReport(head, file(), late);
    expect((await createClient(plane).get(`/agent/runs/${harness.run_id}`)).body.artifacts).toHaveLength(1);
  });

  it("waits for the whole file: a shorter one stays invisible and can be uploaded again", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const target = await harness.support("report-artifact", file());
    await plane.upload(target.body.upload.url, "ab");
    expect((await harness.support("report-artifact", file())).body).toHaveProperty("upload");
    expect((await createClient(plane).get(`/agent/runs/${harness.run_id}`)).body.artifacts).toEqual([]);
  });

  it("shows uploaded files at the end of the run even if they were not reported again", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const target = await harness.support("report-artifact", file());
    await harness.support("report-artifact", file({ filepath: "never-uploaded" }));
    await plane.upload(target.body.upload.url, "abc");
    await harness.finish();
    const { artifacts } = (await createClient(plane).get(`/agent/runs/${harness.run_id}`)).body;
    expect(artifacts).toMatchObject([{ data: { filepath: "a.txt" } }]);
    expect((await readTimeline(plane, harness.run_id)).slice(-2)).toEqual(["artifact_created", "run_succeeded"]);
  });

  it("refuses an execution that expired in the meantime, and stores nothing", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const head = await plane.ports.runs.head(harness.run_id);
    if (head === undefined || !isExecutingHead(head)) throw new Error("the run is not executing");
    await harness.shutDown();
    await (await nextExecution(plane)).resolve();
    const before = structuredClone(plane.table.all());
    await expect(storeArtifactReport(head, file(), plane.ports)).rejects.toMatchObject({
      code: "authentication_required",
    });
    expect(plane.table.all()).toEqual(before);
  });

  it("accepts 1,000 files of 5 GiB in total, and returns 429 above", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const size = 5 * 1024 ** 3;
    expect((await harness.support("report-artifact", file({ filepath: "large", size_bytes: size - 3 }))).status).toBe(
      200,
    );
    expect((await harness.support("report-artifact", file())).status).toBe(200);
    expect(await harness.support("report-artifact", file({ filepath: "one byte more", size_bytes: 1 }))).toMatchObject({
      status: 429,
    });
    expect(
      (await harness.support("report-artifact", file())).status,
      "a file that is already placed stays accepted",
    ).toBe(200);
    await plane.table.write({
      kind: "update",
      key: keys.head(harness.run_id),
      set: { placed_artifacts: 1_000, placed_bytes: 0 },
    });
    expect(await harness.support("report-artifact", file({ filepath: "the 1,001st", size_bytes: 0 }))).toMatchObject({
      status: 429,
    });
  });
});

async function commitFile(plane: TestControlPlane, harness: Awaited<ReturnType<typeof workingRun>>): Promise<void> {
  const target = await harness.support("report-artifact", file());
  await plane.upload(target.body.upload.url, "abc");
  await harness.support("report-artifact", file());
}
