import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { createClient } from "../../support/client.ts";
import { createTestControlPlane } from "../../support/control-plane.ts";
import { createRun, deliver, type Harness, said, workingRun } from "../../support/execution.ts";

const MAX_RESPONSE_BYTES = 4 * 1024 * 1024;
const command = (id: string, output: unknown) => [
  {
    role: "assistant",
    content: [{ type: "action", id, category: "command", name: "run_command", input: { command: "make" } }],
  },
  {
    role: "tool",
    content: [
      { type: "action_result", action_id: id, category: "command", name: "run_command", state: "completed", output },
    ],
  },
];
async function append(harness: Harness, first: number, messages: readonly unknown[]): Promise<number> {
  const { status, body } = await harness.support("messages", {
    execution_id: harness.execution_id,
    first_sequence: first,
    messages,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.next_sequence;
}

describe("GET /agent/runs/{runId}/events", () => {
  it("returns one gapless sequence from 1, readable from any number, and reports its end", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await workingRun(plane);
    for (let number = 1; number <= 250; number++) {
      await append(harness, number, [said(`message ${number}`)]);
      if (number % 10 === 0) {
        await harness.event({
          event_uuid: `e${number}`,
          event_name: "setup_commands",
          timestamp: "2026-05-18T19:00:00Z",
        });
      }
    }
    const path = `/agent/runs/${harness.run_id}/events`;
    const sequences: number[] = [];
    let after = 0;
    for (let ended = false; !ended; ) {
      const { body } = await user.get(`${path}?after=${after}`);
      sequences.push(...body.events.map(({ sequence }: { sequence: number }) => sequence));
      after = body.next;
      if (body.events.length === 0) {
        expect(body).toEqual({ events: [], next: 278, ended: false });
        await harness.finish();
      }
      ended = body.ended;
    }
    expect(sequences).toEqual(Array.from({ length: 279 }, (_, index) => index + 1));
    expect((await user.get(`${path}?after=5000`)).body).toEqual({ events: [], next: 5000, ended: true });
  });

  it("waits for the next event, up to the requested time", async () => {
    const plane = await createTestControlPlane();
    const ticking = setInterval(() => {
      plane.clock.now += 20;
    }, 20);
    try {
      const user = createClient(plane);
      const harness = await workingRun(plane);
      const path = `/agent/runs/${harness.run_id}/events`;
      const began = plane.clock.now;
      const waiting = user.get(`${path}?after=3&wait=20`);
      await sleep(200);
      await harness.messages(1, "here");
      expect((await waiting).body).toMatchObject({
        events: [{ sequence: 4, type: "messages" }],
        next: 4,
        ended: false,
      });
      expect(plane.clock.now - began).toBeLessThan(20_000);
      expect((await user.get(`${path}?after=4&wait=1`)).body).toEqual({ events: [], next: 4, ended: false });
      const ending = user.get(`${path}?after=4&wait=20`);
      await harness.finish();
      expect((await ending).body).toMatchObject({ events: [{ sequence: 5, type: "run_succeeded" }], ended: true });
      expect((await user.get(`${path}?after=5&wait=20`)).body, "it does not wait if the run has ended").toEqual({
        events: [],
        next: 5,
        ended: true,
      });
    } finally {
      clearInterval(ticking);
    }
  });

  // @contract general.lists.4mib
  it("never exceeds 4 MiB per response, and omits nothing across responses", async () => {
    const plane = await createTestControlPlane();
    const user = createClient(plane);
    const harness = await workingRun(plane);
    for (let number = 1; number <= 30; number++) await append(harness, number, [said("x".repeat(250_000))]);
    let messages = 0;
    for (let after = 0; ; ) {
      const response = await user.get(`/agent/runs/${harness.run_id}/events?after=${after}`);
      expect(response.status).toBe(200);
      expect(Buffer.byteLength(JSON.stringify(response.body))).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
      if (response.body.events.length === 0) break;
      messages += response.body.events.filter(({ type }: { type: string }) => type === "messages").length;
      after = response.body.next;
    }
    expect(messages).toBe(30);
  });
});

describe("GET /agent/runs/{runId}/events of large batches", () => {
  it("never exceeds 4 MiB either", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const large = Array.from({ length: 10 }, () => said("x".repeat(250_000)));
    for (let batch = 0; batch < 3; batch++) await append(harness, 1 + 10 * batch, large);
    for (let after = 3; after < 6; ) {
      const response = await createClient(plane).get(`/agent/runs/${harness.run_id}/events?after=${after}`);
      expect(Buffer.byteLength(JSON.stringify(response.body))).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
      after = response.body.next;
    }
  });
});

describe("GET /agent/runs/{runId}/conversation", () => {
  // @contract runs.conversation.steps: A conversation has steps with messages; each user message begins a step.
  it("starts a step with each user message", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane, { prompt: "first" });
    await append(harness, 1, [
      said("one"),
      { role: "user", content: [{ type: "text", text: "second" }], message_ids: ["followup-1"] },
      said("two"),
    ]);
    const { steps } = (await createClient(plane).get(`/agent/runs/${harness.run_id}/conversation`)).body;
    expect(steps.map(({ messages }: { messages: { role: string }[] }) => messages.map(({ role }) => role))).toEqual([
      ["user", "assistant"],
      ["user", "assistant"],
    ]);
    expect(new Set(steps.map(({ id }: { id: string }) => id)).size).toBe(2);
  });

  // @contract general.responses.outputs: A tool's output above 16 KB is truncated in a conversation, the oldest ones first if the whole is too large, and a note names the transcript.
  // @contract runs.conversation.cut: Content that is too large is truncated and marked.
  it("truncates an output at 16 KB and refers to the transcript, which has the full output", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const output = `begin ${"é".repeat(20_000)} end`;
    await append(harness, 1, [...command("a", output), ...command("b", { stdout: output, exit_code: 0 })]);
    await harness.finish();
    await deliver(plane);
    const user = createClient(plane);
    const { steps } = (await user.get(`/agent/runs/${harness.run_id}/conversation`)).body;
    const [, , first, , second] = steps[0].messages;
    for (const shown of [first.content[0].output, second.content[0].output.stdout]) {
      expect(shown).toMatch(/^begin é+\n\[.*transcript.*\]$/);
      expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(16 * 1024 + 100);
      expect(shown).not.toContain("\ufffd");
    }
    expect(second.content[0].output.exit_code).toBe(0);
    const transcript = await user.get(`/agent/runs/${harness.run_id}/transcript`);
    expect(await plane.download(transcript.headers["location"] ?? "")).toContain(output);
  });

  // @contract general.responses.4mib: A conversation stays within 4 MiB, whatever its content.
  // @contract general.responses.outputs
  it.each<[string, (number: number) => unknown[]]>([
    ["outputs", (number) => command(`c${number}`, "o".repeat(200_000))],
    [
      "outputs in small parts",
      (number) =>
        command(`c${number}`, Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`k${n}`, "o".repeat(400)]))),
    ],
    [
      "outputs that are lists",
      (number) =>
        command(
          `c${number}`,
          Array.from({ length: 2_000 }, () => "o".repeat(100)),
        ),
    ],
    ["long texts", () => [said("t".repeat(250_000))]],
    [
      "many short texts",
      (number) => Array.from({ length: 200 }, (_, n) => said(`text ${number}-${n} ${"w".repeat(900)}`)),
    ],
    [
      "inputs",
      (number) => [
        {
          role: "assistant",
          content: [
            {
              type: "action",
              id: `a${number}`,
              category: "files",
              name: "edit_files",
              input: { text: "i".repeat(250_000) },
            },
          ],
        },
      ],
    ],
    ["events", () => [{ role: "system", content: [{ type: "event", name: "note", data: "d".repeat(250_000) }] }]],
  ])("stays within 4 MiB of %s, with the latest ones complete", async (_, messages) => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    let next = 1;
    for (let number = 0; number < 40; number++) next = await append(harness, next, messages(number));
    await append(harness, next, [said("the final words")]);
    for (const path of [`/agent/runs/${harness.run_id}/conversation`, `/agent/conversations/${harness.run_id}`]) {
      const response = await createClient(plane).get(path);
      expect(response.status).toBe(200);
      const text = JSON.stringify(response.body);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
      expect(text).toContain("the final words");
      expect(text, "it says what is omitted").toMatch(/transcript/);
    }
  });

  it("limits the conversation for a new execution to what a response can contain", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    for (let number = 1; number <= 40; number++)
      await append(harness, number, [said(`${number} ${"t".repeat(250_000)}`)]);
    const again = await harness.resolve();
    expect(again.status).toBe(200);
    expect(Buffer.byteLength(JSON.stringify(again.body))).toBeLessThanOrEqual(MAX_RESPONSE_BYTES + 512 * 1024);
    expect(again.body.context.next_sequence).toBe(41);
  });
});

describe("GET /agent/runs/{runId}/timeline", () => {
  // @contract general.lists.timeline
  it("stays within 4 MiB, page by page", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const detail = "d".repeat(4_000);
    for (let number = 1; number <= 1_200; number++) {
      await harness.event({
        event_uuid: `e${number}`,
        event_name: "setup_commands",
        timestamp: "2026-05-18T19:00:00Z",
        payload: { detail },
      });
    }
    const uuids: string[] = [];
    for (let cursor: string | undefined = ""; cursor !== undefined; ) {
      const response = await createClient(plane).get(`/agent/runs/${harness.run_id}/timeline?cursor=${cursor}`);
      expect(response.status, JSON.stringify(response.body).slice(0, 300)).toBe(200);
      expect(Buffer.byteLength(JSON.stringify(response.body))).toBeLessThanOrEqual(MAX_RESPONSE_BYTES);
      uuids.push(...response.body.events.map(({ event_uuid }: { event_uuid: string }) => event_uuid));
      cursor = response.body.page_info?.next_cursor;
    }
    expect(uuids.slice(3)).toEqual(Array.from({ length: 1_200 }, (_, index) => `e${index + 1}`));
  });
});

describe("GET /agent/runs/{runId}", () => {
  // @contract general.format.times: Responses have times in UTC with milliseconds.
  // @contract general.format.optional: An optional member without a value is left out, not sent as an empty string.
  it("returns times in UTC with milliseconds, and omits members without a value", async () => {
    const plane = await createTestControlPlane();
    const id = await createRun(plane);
    const { body } = await createClient(plane).get(`/agent/runs/${id}`);
    for (const name of ["status_message", "run_time", "parent_run_id", "metadata", "agent_skill", "schedule"]) {
      expect(body).not.toHaveProperty(name);
    }
    for (const name of ["created_at", "updated_at"])
      expect(body[name]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  // @contract runs.list.updated-at: A state transition, a follow-up and an artifact change updated_at; a heartbeat and a message do not.
  it("changes updated_at with state, follow-ups and artifacts, not with heartbeats, messages or setup events", async () => {
    const plane = await createTestControlPlane();
    const harness = await workingRun(plane);
    const updated = async () => (await createClient(plane).get(`/agent/runs/${harness.run_id}`)).body.updated_at;
    const before = await updated();
    plane.clock.now += 5_000;
    await harness.beat();
    await harness.messages(1, "a");
    await harness.event({ event_uuid: "e", event_name: "agent_started", timestamp: "2026-05-18T19:00:00Z" });
    expect(await updated()).toBe(before);
    await createClient(plane).post(`/agent/runs/${harness.run_id}/followups`, { message: "m" });
    expect(await updated()).toBe("2026-05-18T19:00:05.000Z");
  });
});
